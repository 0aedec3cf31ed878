"""Brings events to their subscribers: at least once, never inside a transaction.

One thread of the serving process. It sleeps while nobody subscribes. An attempt is counted and
the next one scheduled before the call, so that a process killed in between tries again.
"""

import http.client
import threading
import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from urllib.parse import urlsplit

from django.db import Error, transaction

from transport_sim import clock, settlement, signature
from transport_sim.database import lend
from transport_sim.models import WebhookDelivery, WebhookSubscription

PAUSE_SECONDS = 0.1
PAUSE_WITHOUT_DATABASE_SECONDS = 1.0
ANSWER_WITHIN_SECONDS = 3.0
# Between attempts, on the simulator's clock; after the last attempt the delivery has failed.
RETRY_AFTER_SECONDS = (1, 2, 5, 10, 30, 60, 300)

_bell = threading.Event()


@dataclass(frozen=True)
class Parcel:
    """One attempt, read in a transaction that is over."""

    delivery_id: int
    url: str
    headers: dict[str, str]
    body: bytes
    last: bool


@dataclass(frozen=True)
class Reply:
    """What the subscriber said: a status, or why there is none."""

    status: int | None
    error: str | None

    @property
    def accepted(self) -> bool:
        """True for any 2xx."""
        return self.status is not None and 200 <= self.status < 300


def start() -> None:
    """Deliver from now on, in a thread that ends with the process."""
    wake()
    threading.Thread(target=_work, name="courier", daemon=True).start()


def wake() -> None:
    """Look again whether somebody subscribes."""
    _bell.set()


def _work() -> None:
    while True:
        _bell.wait()
        _bell.clear()
        while (pause := _deliver_due()) is not None:
            time.sleep(pause)


def _deliver_due() -> float | None:
    """Do what is due; seconds to rest after that, or None when nobody subscribes."""
    try:
        if not lend(_catch_up)():
            return None
        while (parcel := lend(_next)()) is not None:
            lend(_note)(parcel, _post(parcel))
    except Error:
        # The database is away or busy. What was claimed is tried again when it is due.
        return PAUSE_WITHOUT_DATABASE_SECONDS
    return PAUSE_SECONDS


def _catch_up() -> bool:
    """Let happen what is due, if anybody wants to be told of it."""
    if not WebhookSubscription.objects.exists():
        return False
    settlement.settle_due()
    return True


@transaction.atomic
def _next() -> Parcel | None:
    now = clock.now()
    due = WebhookDelivery.objects.filter(status="pending", due_at__lte=now)
    delivery = due.select_for_update(skip_locked=True).order_by("due_at", "pk").first()
    if delivery is None:
        return None
    retries = RETRY_AFTER_SECONDS[delivery.attempts :]
    delivery.attempts += 1
    delivery.due_at = now + timedelta(seconds=retries[0] if retries else 0)
    delivery.save(update_fields=["attempts", "due_at"])
    subscription = delivery.subscription
    stamp = datetime.now(UTC) if subscription.clock == "real" else now
    body = delivery.body.encode()
    headers = signature.signed_headers(
        webhook_id=delivery.webhook_id,
        timestamp=int(stamp.timestamp()),
        body=body,
        secret=subscription.secret,
    )
    return Parcel(
        delivery_id=delivery.pk,
        url=subscription.url,
        headers={**headers, "Content-Type": "application/json"},
        body=body,
        last=not retries,
    )


def _post(parcel: Parcel) -> Reply:
    parts = urlsplit(parcel.url)
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    connection = kind(parts.hostname or "", parts.port, timeout=ANSWER_WITHIN_SECONDS)
    target = parts._replace(scheme="", netloc="", fragment="").geturl() or "/"
    try:
        connection.request("POST", target, body=parcel.body, headers=parcel.headers)
        return Reply(status=connection.getresponse().status, error=None)
    except (OSError, http.client.HTTPException) as error:
        return Reply(status=None, error=f"{type(error).__name__}: {error}"[:200])
    finally:
        connection.close()


@transaction.atomic
def _note(parcel: Parcel, reply: Reply) -> None:
    # After a reset the row is gone; then there is nothing left to note.
    delivery = WebhookDelivery.objects.select_for_update().filter(pk=parcel.delivery_id).first()
    if delivery is None:
        return
    delivery.answer_status, delivery.error = reply.status, reply.error
    if reply.accepted:
        delivery.status = "delivered"
        delivery.delivered_at = clock.now()
        _release_held(delivery)
    elif parcel.last:
        delivery.status = "failed"
    delivery.save(update_fields=["answer_status", "error", "status", "delivered_at"])


def _release_held(delivered: WebhookDelivery) -> None:
    """A later event has gone first; what was held back for that follows now."""
    WebhookDelivery.objects.filter(
        subscription_id=delivered.subscription_id,
        status="pending",
        held=True,
        pk__lt=delivered.pk,
    ).update(held=False, due_at=clock.now())
