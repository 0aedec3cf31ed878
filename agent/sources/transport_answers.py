"""What the transport system's answer to a change means for the attempt. Pure.

Whatever leaves a doubt about the effect is `unknown`, never a success or a failure.
"""

from dataclasses import replace
from datetime import timedelta
from http import HTTPStatus

from agent.sources.base import TargetLease
from agent.sources.texts import fit_to_keep
from agent.sources.transport_facts import record_id_of
from agent.sources.transport_gate import Malformed, Record
from cases.vocabulary.work import AttemptOrder, CallOutcome, CallResult, Capabilities

WORLD_MOVED_CODES = frozenset({"shipment_already_covered", "shipment_not_open"})
WORLD_MOVED = frozenset({410, 412})
NOT_SENT = frozenset({423, 429})
REFUSED = frozenset({400, 401, 403, 404, 405, 413, 415, 422, 428})
GONE_CODES = frozenset({"shipment_not_found", "booking_not_found", "message_not_found"})
PROBLEM = "application/problem+json"
# Any other conflict may hide a success, such as "already exists": it is unknown.
CONFLICT_CODES = {
    "stale_fencing_token": CallOutcome.NOT_SENT,
    "idempotency_in_progress": CallOutcome.UNKNOWN,
}


class NotInContract(Exception):  # noqa: N818 (said of an order)
    """The order names an action this system has no call for, or lacks what the call needs."""


def request_for(order: AttemptOrder) -> tuple[str, dict[str, object]]:
    """Path and body of the one call that carries out the order. Raises `NotInContract`."""
    given, reference = order.effect.parameters, order.effect.reference
    match order.effect.action:
        case "book_replacement_carrier":
            return "/v1/bookings", {
                "shipment_id": given["shipment"],
                "quote_id": given["quote_id"],
                "scac": given["scac"],
                "amount_minor": given["amount"]["amount_minor"],
                "currency": given["amount"]["currency"],
                "client_reference": reference,
            }
        case "send_customer_update":
            names = ("recipient", "channel", "template", "about", "body")
            return "/v1/messages", {
                "shipment_id": given["shipment"],
                **{name: given[name] for name in names},
                "client_reference": reference,
            }
        case action:
            raise NotInContract(f"The transport system has no call for {action!r}.")


def headers_for(
    order: AttemptOrder, *, can: Capabilities, fencing_token: int | None
) -> dict[str, str]:
    """Key, version and fence of the call, as far as the system knows such things.

    Raises `NotInContract` when a version is needed and not known.
    """
    headers = {}
    if can.key_lifetime is not None:
        headers["Idempotency-Key"] = str(order.effect.key)
    if can.conditional_writes:
        if order.subject_version is None:
            raise NotInContract("The shipment's version is not known, so it must be read first.")
        headers["If-Match"] = f'"{order.subject_version}"'
    if fencing_token is not None:
        headers["Fencing-Token"] = str(fencing_token)
    return headers


def result_of(*, status: int, body: object, retry_after: timedelta | None) -> CallResult:
    """How an answered call ended."""
    outcome = _outcome(status, code_of(body))
    if outcome is not CallOutcome.ANSWERED:
        return replace(_result(outcome, _said(status, body)), retry_after=retry_after)
    try:
        record_id = record_id_of(body)
    except Malformed as error:
        return _result(CallOutcome.UNKNOWN, f"{answered(status)}, but {error}")
    return _result(outcome, f"transport system accepted it as {record_id}", record_id)


def lease_from(body: object) -> TargetLease:
    """The lease an answer grants. Raises `Malformed`."""
    granted = Record(body, name="answer")
    return TargetLease(
        lease_id=granted.key("lease_id"), fencing_token=granted.whole("fencing_token")
    )


def is_gone(*, status: int, media_type: str, body: object) -> bool:
    """Whether the system itself says that the record asked for does not exist.

    Any other 404 comes from somewhere on the way, and says nothing about the record.
    """
    return status == HTTPStatus.NOT_FOUND and media_type == PROBLEM and code_of(body) in GONE_CODES


def answered(status: int) -> str:
    """`transport system answered 503 (service unavailable)`."""
    try:
        words = f" ({HTTPStatus(status).phrase.lower()})"
    except ValueError:
        words = ""
    return f"transport system answered {status}{words}"


def no_lease_because(*, subject: str, status: int, body: object) -> str:
    """Why no lease was granted, as a sentence for the case."""
    if code_of(body) == "lease_held":
        holder, until = _member(body, "holder"), _member(body, "expires_at")
        kind = _member(body, "holder_kind")
        who = f"{holder} ({kind})" if kind else holder
        return f"{who} is changing {subject} until {until}."
    if code_of(body) == "record_locked":
        return f"{_member(body, 'locked_by')} has {subject} open."
    return f"{subject} could not be reserved: {_said(status, body)}."


def code_of(body: object) -> str:
    """The stable code of a refusal; empty when it carries none."""
    return _member(body, "code")


def _result(outcome: CallOutcome, detail: str, record_id: str = "") -> CallResult:
    return CallResult(outcome=outcome, detail=fit_to_keep(detail), record_id=record_id)


def _said(status: int, body: object) -> str:
    """The answer in plain words, with the system's own sentence when it gave one."""
    words = _member(body, "detail").rstrip(".")
    return f"{answered(status)}: {words}" if words else answered(status)


def _member(body: object, name: str) -> str:
    value = body.get(name) if isinstance(body, dict) else None
    return value if isinstance(value, str) else ""


def _outcome(status: int, code: str) -> CallOutcome:
    if 200 <= status < 300:  # noqa: PLR2004
        return CallOutcome.ANSWERED
    if status in WORLD_MOVED or code in WORLD_MOVED_CODES:
        return CallOutcome.WORLD_MOVED
    if status == HTTPStatus.CONFLICT:
        return CONFLICT_CODES.get(code, CallOutcome.UNKNOWN)
    if status in NOT_SENT:
        return CallOutcome.NOT_SENT
    return CallOutcome.REFUSED if status in REFUSED else CallOutcome.UNKNOWN
