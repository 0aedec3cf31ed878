"""What other people's deeds do to messages: a colleague writes one, a mailbox refuses one."""

from dataclasses import dataclass

from transport_sim import journal, messages, webhooks
from transport_sim.fields import Fields
from transport_sim.models import OutgoingMessage
from transport_sim.problems import Problem
from transport_sim.scene import Scene, Step
from transport_sim.settlement import MAIL


@dataclass(frozen=True)
class EmployeeMessage:
    """A person tells the customer from the transport system's own screens."""

    wanted: messages.MessageRequest
    employee: str

    @property
    def shipment_id(self) -> str:
        """The shipment the message is about."""
        return self.wanted.shipment_id

    def play(self, scene: Scene) -> None:
        """Queue the message."""
        messages.enter(
            self.wanted,
            by=self.employee,
            at=scene.now,
            shipment_version=scene.shipments[self.shipment_id].version,
        )

    def record(self, scene: Scene) -> dict[str, object]:
        """The newest message of the shipment."""
        return messages.of_shipments([self.shipment_id])[-1]


@dataclass(frozen=True)
class MessageBounce:
    """The recipient's mailbox refuses a message, at once or after it seemed delivered."""

    shipment_id: str
    message_id: str

    def play(self, scene: Scene) -> None:
        """Mark the message as bounced, once."""
        message = OutgoingMessage.objects.select_for_update().get(pk=self.message_id)
        if message.status == "bounced":
            raise Problem(
                status=409, code="message_bounced", detail=f"{message.pk} bounced already."
            )
        message.status = "bounced"
        message.delivered_at = None
        message.version += 1
        message.save(update_fields=["status", "delivered_at", "version"])
        journal.record_change(
            record_type="message",
            record_id=message.pk,
            shipment_id=message.shipment_id,
            version=message.version,
            at=scene.now,
            by=MAIL,
        )
        webhooks.announce_message(message, at=scene.now)

    def record(self, scene: Scene) -> dict[str, object]:
        """The message."""
        return messages.as_json(messages.find(self.message_id))


def sends_message(step: Fields) -> Step:
    """Read which employee writes what to whom."""
    return EmployeeMessage(
        employee=step.text("employee", longest=100),
        wanted=messages.MessageRequest(
            shipment_id=step.identifier("shipment_id"),
            recipient=step.text("recipient"),
            channel=step.text("channel", longest=32),
            template=step.text("template", longest=64),
            about=step.text("about"),
            body=step.text("body", longest=messages.LONGEST_BODY),
            client_reference="",
        ),
    )


def bounces(step: Fields) -> Step:
    """Read which message bounces."""
    message = messages.find(step.identifier("message_id"))
    return MessageBounce(shipment_id=message.shipment_id, message_id=message.pk)
