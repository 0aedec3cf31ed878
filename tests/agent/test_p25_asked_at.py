"""P25: what was read is as old as its first question, however long the answers take."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from agent.sources.base import Permit
from cases.vocabulary.work import Grant, RecordKey, SourceReading
from tests.agent.rig import Rig
from tests.agent.twin import DeskTwin
from tests.agent.world import World, nothing


@dataclass(kw_only=True)
class TwoCalls(World):
    """It is read with two calls, and a while passes between them."""

    between: Callable[[], None] = nothing

    def read(
        self, *, subject: str, records: Sequence[RecordKey], permit: Permit
    ) -> list[SourceReading]:
        """See `Source.read`."""
        permit()
        self.between()
        return super().read(subject=subject, records=records, permit=permit)


@dataclass(kw_only=True)
class Noting(DeskTwin):
    """Notes when it is told of readings, and since when they may hold."""

    told: list[tuple[datetime, datetime]] = field(default_factory=list)

    def record_readings(
        self, *, grant: Grant, readings: Sequence[SourceReading], asked_at: datetime
    ) -> None:
        """See `Desk.record_readings`."""
        self.told.append((self.now, asked_at))
        super().record_readings(grant=grant, readings=readings, asked_at=asked_at)


def test_p25_a_reading_is_as_old_as_its_first_question_not_as_its_record() -> None:
    desk, world = Noting(), TwoCalls()
    world.between = lambda: desk.pass_time(seconds=4)
    world.on_read = lambda: desk.pass_time(seconds=3)
    Rig(desk=desk, world=world).visit()
    told_at, asked_at = desk.told[0]
    assert told_at - asked_at == timedelta(seconds=7)
