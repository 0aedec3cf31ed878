"""One play of other people's deeds: what they may touch, and what comes of it."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from transport_sim import journal, shipments
from transport_sim.models import Shipment


@dataclass
class Scene:
    """The locked shipments of one play, and what was done to them so far."""

    now: datetime
    shipments: dict[str, Shipment]
    touched_by: dict[str, str] = field(default_factory=dict)
    effects: list[tuple[str, str, dict[str, object]]] = field(default_factory=list)

    def changed(self, shipment_id: str, *, by: str, details: dict[str, object]) -> None:
        """Note an effect on a shipment; its new version comes at the end of the play."""
        self.touched_by[shipment_id] = by
        self.effects.append((shipment_id, by, details))

    def close(self) -> None:
        """Give every touched shipment one new version and enter the effects."""
        for shipment_id, by in self.touched_by.items():
            shipments.new_version(self.shipments[shipment_id], by=by, at=self.now)
        for shipment_id, by, details in self.effects:
            version = self.shipments[shipment_id].version
            effect = journal.Effect(
                kind="shipment_update",
                principal=by,
                record_id=shipment_id,
                shipment_id=shipment_id,
                details={**details, "shipment_version": version},
            )
            journal.record_effect(effect, at=self.now)


class Step(Protocol):
    """One deed: which shipment it concerns, how it happens, which record shows it."""

    @property
    def shipment_id(self) -> str:
        """The shipment to lock for this step."""

    def play(self, scene: Scene) -> None:
        """Do it, inside the play's transaction."""

    def record(self, scene: Scene) -> dict[str, object]:
        """The record as the play left it."""
