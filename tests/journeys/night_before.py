"""The night before a morning with 14 open cases: what people, carriers and the agent did.

Everything happens by real actions, a real worker and the simulator; only clocks are moved. When it
is over, the sheet of 08:00 has a case in each of its sections.
"""

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from cases.actions import closing, decisions, intake, people, roster
from cases.actions.conditions import NewCondition, open_condition
from cases.actions.lines import write_line
from cases.actions.pauses import set_pause
from cases.clock import business_now
from cases.models import (
    Case,
    Effect,
    Handover,
    Person,
    Proposal,
    Role,
    Run,
    SourceFeed,
    SourceRecord,
)
from cases.vocabulary.actors import SYSTEM
from cases.vocabulary.rosters import Position
from tests.cases.builders import MORNING, an_answer
from tests.cases.duties import stands
from tests.cases.mornings import a_roster
from tests.crashes.night_desk import END_OF_SHIFT, NightDesk
from tools.stories import wave

MINUTE = timedelta(minutes=1)
REFRESHED = MORNING - 29 * MINUTE


@dataclass(kw_only=True)
class NightBefore(NightDesk):
    """The desk from Monday 17:00 to Tuesday 07:55. Lee Park answers for one case, Marta for 13."""

    lee: Person = field(init=False)

    def case_of(self, subject: str) -> Case:
        """The case about that shipment, read fresh."""
        return Case.objects.get(subject=subject)

    def pass_it(self) -> Handover:
        """All of the night; gives the handover that was opened and refreshed. No worker is left."""
        self.evening()
        self.overnight()
        self.refresh()
        self.before_the_boundary()
        return Handover.objects.get()

    def evening(self) -> None:
        """17:00: 14 cases are opened and planned for, one is released and done at once."""
        self.control.reset(scenario="wave", now=END_OF_SHIFT)
        self.control.settings(booking_confirm_seconds=0, message_deliver_seconds=0)
        self.set_clocks(END_OF_SHIFT)
        self._crew()
        self.control.batch([*wave.until_five(wave.TITLES), wave.WITHDRAWN])
        for subject in wave.TITLES:
            self._open(subject)
        for subject, line in wave.LINES.items():
            case_id = self.case_of(subject).pk
            write_line(case_id=case_id, line=line, by=self.cast.owner, at=business_now())
        self.start_worker("evening")
        self._wait_for_stage("waiting_for_review", *(s for s in wave.TITLES if s != wave.NO_RATE))
        self._wait_for_stage("escalated", wave.NO_RATE)
        self._release(wave.DONE)
        self._wait_for_stage("waiting_for_acceptance", wave.DONE)

    def overnight(self) -> None:
        """02:40: employees and carriers change four shipments, before the agent looks again."""
        self.control.set_clock(wave.EDITED_AT)
        deeds = wave.overnight().values()
        self.control.batch([deed for of_one_load in deeds for deed in of_one_load])
        self.set_clocks(wave.EDITED_AT)

    def refresh(self) -> None:
        """07:31: the refresh has begun; what went stale overnight has a revised proposal."""
        self.set_clocks(REFRESHED)
        self.wait_for(
            lambda: Handover.objects.filter(refreshed_at__isnull=False).exists(),
            "the handover is refreshed",
        )
        for subject in (wave.MOVED_AND_COVERED, wave.LOADED_LATER, wave.DEARER):
            self._wait_for_revision(subject)
        self._wait_for_stage("waiting_for_acceptance", wave.DONE_BY_STAFF)

    def before_the_boundary(self) -> None:
        """07:42 to 07:55: two releases, a source that goes away, and a worker that is stopped."""
        self.control.settings(booking_confirm_seconds=3600)
        self.set_clocks(MORNING - 18 * MINUTE)
        self._release(wave.CONFIRMING)
        self._wait_for_stage("verifying", wave.CONFIRMING)
        set_pause(
            lane="reconciliation",
            kind="",
            agent="",
            reason="The carriers' portal is moved until eight",
            by=self.cast.lead,
            at=business_now(),
        )
        self.control.fault("connection_reset_after_commit", path_prefix="/v1/bookings", times=1)
        self.set_clocks(MORNING - 14 * MINUTE)
        self._release(wave.IN_DOUBT)
        self.wait_for(
            lambda: Effect.objects.filter(state=Effect.State.UNKNOWN).exists(),
            "the booking may or may not have happened",
        )
        self._feed_is_followed(MORNING - 12 * MINUTE)
        self._source_goes_away()
        self.nursery.stop("evening")
        self.set_clocks(MORNING - 5 * MINUTE)

    def _feed_is_followed(self, at: datetime) -> None:
        """What the source's feed named by then was read."""
        self.set_clocks(at)
        self.wait_for(
            lambda: (
                SourceFeed.objects.filter(read_at__gte=at).exists()
                and not SourceRecord.objects.exclude(named_at=None).exists()
            ),
            "the changes at the source are read",
        )

    def _source_goes_away(self) -> None:
        self.control.fault("503", path_prefix="/v1/shipments")
        self.set_clocks(MORNING - 10 * MINUTE)
        for subject in (wave.AWAY, wave.AWAY_TOO):
            case_id = self.case_of(subject).pk
            closing.refresh_now(case_id=case_id, by=self.cast.owner, at=business_now())
        self._wait_for_stage("blocked", wave.AWAY, wave.AWAY_TOO)

    def source_comes_back(self) -> None:
        """The source answers again; a new worker has read what waited for it."""
        self.control.clear_faults()
        tries = [self.case_of(subject).next_try_at for subject in (wave.AWAY, wave.AWAY_TOO)]
        self.set_clocks(max(business_now(), *(at for at in tries if at is not None)) + MINUTE)
        self.start_worker("morning")
        self._wait_for_stage("waiting_for_review", wave.AWAY, wave.AWAY_TOO)

    def _crew(self) -> None:
        cast = self.cast
        a_roster(cast)
        self.lee = people.enrol_person(
            username="lee",
            name="Lee Park",
            role=Role.OPERATOR,
            password=None,
            zone=wave.CHICAGO,
            by=SYSTEM,
            at=business_now(),
        )
        stands(cast, "Evening", Position.BACKUP, self.lee)
        roster.set_leave(
            person=self.lee,
            starts_at=MORNING - 6 * MINUTE,
            ends_at=MORNING + timedelta(days=3),
            reason="Parental leave",
            by=cast.lead,
            at=business_now(),
        )
        wanted = NewCondition(
            sort="other",
            title="Harbor Foods wants the phone, not mail, before 09:00",
            desk=cast.desk,
            detail="Ask for receiving, extension 4.",
        )
        open_condition(wanted=wanted, by=cast.lead, at=business_now() - timedelta(days=4))

    def _open(self, subject: str) -> None:
        wanted = intake.NewCase(
            kind="freight_exception",
            case_type="E02",
            subject=subject,
            title=wave.TITLES[subject],
            system="transport",
            desk=self.cast.desk,
            owner=self.lee if subject == wave.UNOWNED else self.cast.owner,
        )
        intake.open_case(wanted=wanted, by=SYSTEM, at=business_now())

    def _release(self, subject: str) -> None:
        answer = replace(an_answer(self.case_of(subject)), reason="As proposed.")
        decisions.release(answer=answer, by=self.cast.owner, at=business_now())

    def _wait_for_stage(self, stage: str, *subjects: str) -> None:
        """Wait until each of them stands there and no worker holds it."""
        there = Run.objects.filter(case__subject__in=subjects, case__stage=stage, lease_until=None)
        self.wait_for(lambda: there.count() == len(subjects), f"{', '.join(subjects)}: {stage}")

    def _wait_for_revision(self, subject: str) -> None:
        revised = Proposal.objects.filter(case__subject=subject, number=2, state="ready")
        self.wait_for(revised.exists, f"{subject} is revised")
