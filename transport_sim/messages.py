"""Messages to customers and carriers, sent by the transport system."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from transport_sim import clock, journal, leases, preconditions, record_locks, shipments
from transport_sim.fields import Fields
from transport_sim.idempotency import Accepted
from transport_sim.models import OutgoingMessage, World
from transport_sim.preconditions import Writer
from transport_sim.problems import Problem

LONGEST_BODY = 10_000


@dataclass(frozen=True)
class MessageRequest:
    """The body of POST /v1/messages."""

    shipment_id: str
    recipient: str
    channel: str
    template: str
    about: str
    body: str
    client_reference: str


def read_request(body: Fields) -> MessageRequest:
    """Read and check the form of a message request."""
    wanted = MessageRequest(
        shipment_id=body.identifier("shipment_id"),
        recipient=body.text("recipient"),
        channel=body.text("channel", longest=32),
        template=body.text("template", longest=64),
        about=body.text("about"),
        body=body.text("body", longest=LONGEST_BODY),
        client_reference=body.text("client_reference"),
    )
    body.done()
    return wanted


def send(wanted: MessageRequest, *, writer: Writer) -> Accepted:
    """Check every rule under the shipment's lock, then queue. Needs a transaction.

    The shipment keeps its version: a message is a record of its own.
    """
    shipment = shipments.lock(wanted.shipment_id)
    record_locks.require_closed(shipment.pk)
    resource = leases.shipment_resource(shipment.pk)
    token = preconditions.require_fence(writer, resource=resource)
    preconditions.require_version(writer, shipment)
    message = enter(
        wanted,
        by=writer.principal,
        at=clock.now(),
        key=writer.idempotency_key,
        token=token,
        shipment_version=shipment.version,
    )
    return Accepted(location=f"/v1/messages/{message.pk}", body=as_json(message))


def enter(
    wanted: MessageRequest,
    *,
    by: str,
    at: datetime,
    shipment_version: int,
    key: str | None = None,
    token: int | None = None,
) -> OutgoingMessage:
    """Queue a message and enter it in the ledger; the shipment is locked by the caller."""
    message = _create(wanted, by=by, at=at)
    effect = journal.Effect(
        kind="message",
        principal=by,
        record_id=message.pk,
        shipment_id=wanted.shipment_id,
        client_reference=wanted.client_reference or None,
        idempotency_key=key,
        fencing_token=token,
        details={
            "recipient": message.recipient,
            "channel": message.channel,
            "template": message.template,
            "about": message.about,
            "body": message.body,
            "shipment_version": shipment_version,
        },
    )
    journal.record_effect(effect, at=at)
    return message


def _create(wanted: MessageRequest, *, by: str, at: datetime) -> OutgoingMessage:
    number = journal.next_number("messages")
    message = OutgoingMessage.objects.create(
        id=f"M-{9000 + number}",
        shipment_id=wanted.shipment_id,
        recipient=wanted.recipient,
        channel=wanted.channel,
        template=wanted.template,
        about=wanted.about,
        sent_by=by,
        body=wanted.body,
        client_reference=wanted.client_reference,
        created_at=at,
        deliver_due_at=at + timedelta(seconds=World.objects.get().message_deliver_seconds),
    )
    journal.record_change(
        record_type="message",
        record_id=message.pk,
        shipment_id=message.shipment_id,
        version=message.version,
        at=at,
        by=by,
    )
    return message


def find(message_id: str) -> OutgoingMessage:
    """Read a message, or refuse with 404."""
    message = OutgoingMessage.objects.filter(pk=message_id).first()
    if message is None:
        raise Problem(
            status=404, code="message_not_found", detail=f"There is no message {message_id}."
        )
    return message


def of_shipments(shipment_ids: Sequence[str]) -> list[dict[str, object]]:
    """All messages about these shipments, oldest first."""
    found = OutgoingMessage.objects.filter(shipment_id__in=shipment_ids)
    return [as_json(message) for message in found.order_by("created_at", "pk")]


def of_reference(client_reference: str) -> list[dict[str, object]]:
    """All messages sent under the caller's own reference, oldest first."""
    found = OutgoingMessage.objects.filter(client_reference=client_reference)
    return [as_json(message) for message in found.order_by("created_at", "pk")]


def as_json(message: OutgoingMessage) -> dict[str, object]:
    """A message as the API shows it."""
    return {
        "id": message.pk,
        "version": message.version,
        "shipment_id": message.shipment_id,
        "recipient": message.recipient,
        "channel": message.channel,
        "template": message.template,
        "about": message.about,
        "sent_by": message.sent_by,
        "body": message.body,
        "client_reference": message.client_reference,
        "status": message.status,
        "created_at": clock.as_text(message.created_at),
        "delivered_at": clock.as_optional_text(message.delivered_at),
    }
