"""The desk around S-318: its roster, thirteen other cases, and what becomes of them overnight.

Everything happens by real actions, the real agent and the simulator. Somebody at the page may have
done otherwise meanwhile: each step stands for itself, and the night goes on without one that fails.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from uuid import uuid4

from tools.stories import wave
from tools.stories.crew import set_roster
from tools.stories.handing_over import publish, take_over
from tools.stories.record import StoryBroke, wait_until
from tools.stories.s318 import MORNING, SHIPMENT, Night

# isort: split
from cases.actions import closing, decisions, intake, lines, sheets
from cases.actions.feeds import FOLLOW_EVERY
from cases.clock import business_now
from cases.models import (
    Case,
    Desk,
    Effect,
    Handover,
    HandoverRow,
    Proposal,
    Run,
    SourceFeed,
    SourceRecord,
)
from cases.models.case import open_cases
from cases.vocabulary.actors import SYSTEM
from cases.vocabulary.stages import Stage

MINUTE = timedelta(minutes=1)
PATIENCE_SECONDS = 25.0
REFRESHED_BEFORE = 29 * MINUTE
CONFIRMED_AFTER_SECONDS = 3600
USUAL_CONFIRM_SECONDS = 1
PASSES, PASS_SECONDS = 3, 5.0
BACK_AT = MORNING + 9 * MINUTE  # before a person has to find out what became of the booking

# S-318 itself is the load whose window moved while somebody else covered it.
TITLES = {load: title for load, title in wave.TITLES.items() if load != wave.MOVED_AND_COVERED}
NOTES = {
    SHIPMENT: "J. Ortiz covered it with Oakline in the night. Only the customer is left to tell.",
    wave.URGENT: "Their dispatcher rings at half past, ask Bo.",
}

type Step = Callable[[], None]


@dataclass(kw_only=True)
class FullDesk:
    """Robin Kim has the evening, with Lee Park; Marta Ortega the day, with Dana Wu.

    `away_until` is when the transport system answers everything again, None while it does.
    """

    night: Night
    away_until: datetime | None = field(default=None, init=False)

    def open(self) -> None:
        """17:00: the evening shift takes S-318 over and gets thirteen more cases to plan for."""
        set_roster(self.night)
        take_over(self.night)
        control = self.night.control
        control.settings(booking_confirm_seconds=0, message_deliver_seconds=0)
        control.batch([*wave.until_five(TITLES), wave.WITHDRAWN])
        for load, title in TITLES.items():
            self._open(load, title)
        for load, line in wave.LINES.items():
            kim = self.night.person("kim")
            lines.write_line(case_id=_case(load).pk, line=line, by=kim, at=business_now())
        self.night.tell("17:02  R. Kim signs for the desk; the evening brings 13 more cases.")

    def _open(self, load: str, title: str) -> None:
        wanted = intake.NewCase(
            kind="freight_exception",
            case_type="E02",
            subject=load,
            title=title,
            system="transport",
            desk=Desk.objects.get(),
            owner=self.night.person("lee" if load == wave.UNOWNED else "kim"),
        )
        intake.open_case(wanted=wanted, by=SYSTEM, at=business_now())

    def evening(self) -> Iterator[tuple[str, Step]]:
        """What happens before the worker stops for the night: each step with what it is."""
        yield "The agent finishes what it was asked.", self._everything_planned
        yield "R. Kim releases a booking; the carrier takes it at once.", self._done_at_once

    def edits(self) -> Iterator[tuple[str, Step]]:
        """02:40, while no worker runs: employees and carriers change five shipments."""
        self.night.set_clocks(wave.EDITED_AT)
        yield "02:40: an employee edits S-318.", self.night.employee_edits
        for load, deeds in wave.overnight().items():
            if load in TITLES:
                yield f"02:40: {load} changes too.", partial(self._batch, deeds)

    def last_half_hour(self) -> Iterator[tuple[str, Step]]:
        """07:42 to 08:00: two releases, a source that goes away, a leave, and the sheet."""
        self.night.set_clocks(MORNING - 18 * MINUTE)
        yield "07:42: R. Kim releases a booking; the carrier takes its time.", self._confirming
        self.night.set_clocks(MORNING - 12 * MINUTE)
        yield "07:48: the transport system cannot be read for two cases.", self._goes_away
        self.night.set_clocks(MORNING - 5 * MINUTE)
        yield "07:55: an answer is lost, and nobody knows whether it booked.", self._in_doubt
        self.night.set_clocks(MORNING - 3 * MINUTE)
        yield "07:57: what changed at the source is read.", self._feed_is_followed
        yield "07:57: R. Kim leaves notes and publishes the sheet.", self._hand_over
        self.night.set_clocks(MORNING)
        yield "08:00: P. Raman hands S-318 to M. Ortega.", self.night.hand_over

    def wait_for_refresh(self, boundary: datetime) -> None:
        """The handover at the boundary is refreshed, and what went stale has a revised version."""
        if not open_cases(Case.objects.all()).exists():
            return
        refreshed = Handover.objects.filter(boundary=boundary, refreshed_at__isnull=False)
        _wait_until(refreshed.exists, what="the handover is refreshed")
        self._everything_planned()

    def source_comes_back(self) -> None:
        """Once its time has come, the transport system answers everything again."""
        if self.away_until is not None and business_now() >= self.away_until:
            self.away_until = None
            self.night.control.clear_faults()
            self.night.tell("08:09  The transport system answers everything again.")

    def _everything_planned(self) -> None:
        planned_for = Case.objects.filter(stage=Stage.INVESTIGATING.value)
        _wait_until(lambda: not planned_for.exists(), what="the agent has planned for every case")

    def _done_at_once(self) -> None:
        self._release(wave.DONE)
        _wait_for_stage(Stage.WAITING_FOR_ACCEPTANCE, wave.DONE)

    def _batch(self, deeds: Sequence[wave.Deed]) -> None:
        self.night.control.batch(deeds)

    def _confirming(self) -> None:
        control = self.night.control
        control.settings(booking_confirm_seconds=CONFIRMED_AFTER_SECONDS)
        try:
            self._release(wave.CONFIRMING)
            _wait_for_stage(Stage.VERIFYING, wave.CONFIRMING)
        finally:
            control.settings(booking_confirm_seconds=USUAL_CONFIRM_SECONDS)

    def _goes_away(self) -> None:
        self.away_until = BACK_AT
        for load in (wave.AWAY, wave.AWAY_TOO):
            self.night.control.fault("503", path_prefix=f"/v1/shipments/{load}")
            kim = self.night.person("kim")
            closing.refresh_now(case_id=_case(load).pk, by=kim, at=business_now())
        _wait_for_stage(Stage.BLOCKED, wave.AWAY, wave.AWAY_TOO)

    def _in_doubt(self) -> None:
        self.away_until = BACK_AT
        control = self.night.control
        control.fault("connection_reset_after_commit", path_prefix="/v1/bookings", times=1)
        self._release(wave.IN_DOUBT)
        effect = Effect.objects.get(
            decision__case__subject=wave.IN_DOUBT, proposed_action__position=1
        )
        search = f"/v1/bookings?client_reference={effect.reference}"
        control.fault("lookup_down", path_prefix=search)
        unknown = Effect.objects.filter(state=Effect.State.UNKNOWN)
        _wait_until(unknown.exists, what="the booking may or may not have happened")

    def _feed_is_followed(self) -> None:
        """What the feed names is read; what a worker held meanwhile comes again a pass later."""
        named = SourceRecord.objects.exclude(named_at=None)
        named = named.exclude(cases__stage=Stage.BLOCKED.value)  # its own visits read it
        read = SourceFeed.objects.filter(read_at__gte=business_now())

        def is_followed() -> bool:
            return read.exists() and not named.exists()

        for _ in range(PASSES):
            with suppress(StoryBroke):
                wait_until(is_followed, what="all changes are read", patience=PASS_SECONDS)
            if is_followed():
                return
            self.night.set_clocks(business_now() + FOLLOW_EVERY)
        raise StoryBroke(f"Still not read: {', '.join(map(str, named))}.")

    def _hand_over(self) -> None:
        kim, number = self.night.person("kim"), Handover.objects.get(boundary=MORNING).pk
        for row in HandoverRow.objects.filter(handover=number, case__subject__in=NOTES):
            text = NOTES[row.case.subject]
            sheets.write_note(row_id=row.pk, text=text, seen="", by=kim, at=business_now())
        publish(number, by=kim)
        self.night.tell("07:57  R. Kim publishes the sheet of the evening.")

    def _release(self, load: str) -> None:
        case = _case(load)
        ready = case.proposals.get(state=Proposal.State.READY)
        answer = decisions.Answer(
            case_id=case.pk,
            case_version=case.version,
            proposal_number=ready.number,
            digest=ready.digest,
            nonce=uuid4(),
            reason="As proposed.",
        )
        decisions.release(answer=answer, by=self.night.person("kim"), at=business_now())


def _case(load: str) -> Case:
    return Case.objects.get(subject=load)


def _wait_until(holds: Callable[[], bool], *, what: str) -> None:
    wait_until(holds, what=what, patience=PATIENCE_SECONDS)


def _wait_for_stage(stage: Stage, *loads: str) -> None:
    """Wait until each of them stands there and no worker holds it."""
    there = Run.objects.filter(case__subject__in=loads, case__stage=stage.value, lease_until=None)
    _wait_until(lambda: there.count() == len(loads), what=f"{', '.join(loads)}: {stage.value}")
