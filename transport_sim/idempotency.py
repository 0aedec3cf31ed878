"""One effect per Idempotency-Key, however often the request arrives while the key lives."""

import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from django.db import connection, transaction
from django.http import HttpRequest, HttpResponse

from transport_sim import clock
from transport_sim.models import StoredAnswer, World
from transport_sim.problems import Problem

ACCEPTED = 202
_KEY = re.compile(r"[\x21-\x7e]{1,255}")


@dataclass(frozen=True)
class Accepted:
    """A request that had its effect: where the record lives and how it looked then."""

    location: str
    body: dict[str, object]


def key_of(request: HttpRequest) -> str | None:
    """Give the request's key, None where keys mean nothing, or refuse with 400."""
    if not World.objects.get().idempotency_keys:
        return None
    key = request.headers.get("Idempotency-Key")
    if key is None:
        raise Problem(
            status=400,
            code="idempotency_key_missing",
            detail="Send an Idempotency-Key of your own making, the same for each retry.",
        )
    if not _KEY.fullmatch(key):
        raise Problem(
            status=400,
            code="idempotency_key_malformed",
            detail="Send 1 to 255 visible ASCII characters as Idempotency-Key.",
        )
    return key


@dataclass(frozen=True)
class Keyed:
    """A request under a key: whose key it is and what exactly was asked."""

    principal: str
    key: str
    fingerprint: str


def keyed(
    request: HttpRequest, *, principal: str, key: str | None, payload: dict[str, object]
) -> Keyed | None:
    """Tell requests apart by method, path and payload; headers may differ in a retry.

    Without a key there is nothing to tell: each request is a new one.
    """
    if key is None:
        return None
    canonical = json.dumps([request.method, request.path, payload], sort_keys=True)
    fingerprint = hashlib.sha256(canonical.encode()).hexdigest()
    return Keyed(principal=principal, key=key, fingerprint=fingerprint)


@transaction.atomic
def once(asked: Keyed | None, work: Callable[[], Accepted]) -> HttpResponse:
    """Do ``work`` in a transaction and keep its answer, or give the kept answer again.

    Without a key (``asked`` is None) it is done each time.

    Only what had an effect is kept: a refused request leaves its key unused. Raises Problem
    409 while the first request is still at work and 422 for another payload.
    """
    if asked is None:
        return _render(work())
    _claim(asked)
    now = clock.now()
    stored = StoredAnswer.objects.filter(principal=asked.principal, key=asked.key).first()
    if stored is not None and stored.expires_at > now:
        return _replay(stored, asked)
    accepted = work()
    lifetime = timedelta(seconds=World.objects.get().idempotency_key_seconds)
    StoredAnswer.objects.update_or_create(
        principal=asked.principal,
        key=asked.key,
        defaults={
            "fingerprint": asked.fingerprint,
            "status": ACCEPTED,
            "location": accepted.location,
            "body": json.dumps(accepted.body, ensure_ascii=False),
            "expires_at": now + lifetime,
        },
    )
    return _render(accepted)


def _claim(asked: Keyed) -> None:
    """Hold the key until the transaction ends, without waiting for another holder."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_try_advisory_xact_lock(hashtextextended(%s, 0))",
            [f"{asked.principal} {asked.key}"],
        )
        (granted,) = cursor.fetchone()
    if not granted:
        raise Problem(
            status=409,
            code="idempotency_in_progress",
            detail="A request with this key is still at work. Ask again shortly.",
            retryable=True,
            headers={"Retry-After": "1"},
        )


def _replay(stored: StoredAnswer, asked: Keyed) -> HttpResponse:
    if stored.fingerprint != asked.fingerprint:
        raise Problem(
            status=422,
            code="idempotency_key_reused",
            detail="This key belongs to another request. Use a new key for a new request.",
        )
    response = _answer(stored.body, status=stored.status, location=stored.location)
    response["Idempotent-Replayed"] = "true"
    return response


def _render(accepted: Accepted) -> HttpResponse:
    body = json.dumps(accepted.body, ensure_ascii=False)
    return _answer(body, status=ACCEPTED, location=accepted.location)


def _answer(body: str, *, status: int, location: str) -> HttpResponse:
    return HttpResponse(
        body,
        status=status,
        content_type="application/json",
        headers={"Location": location},
    )
