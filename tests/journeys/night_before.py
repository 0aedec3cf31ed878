"""The night before a morning with 14 open cases: what people, carriers and the agent did.

Everything happens by real actions, a real worker and the simulator; only clocks are moved. When it
is over, the sheet of 08:00 has a case in each of its sections.
"""

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from cases.actions import closing, decisions, intake, people, roster
from cases.actions.conditions import NewCondition, open_condition
from cases.actions.lines import NewLine, write_line
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
from cases.vocabulary.freight_plans import promise_about
from cases.vocabulary.rosters import Position
from cases.vocabulary.shifts import WallTime
from tests.cases.builders import MORNING, an_answer
from tests.cases.mornings import a_roster, stands
from tests.crashes.night_desk import END_OF_SHIFT, NightDesk

CHICAGO = "America/Chicago"
MINUTE = timedelta(minutes=1)
REFRESHED = MORNING - 29 * MINUTE
TUESDAY_EVENING = "2026-11-25T00:00:00Z"  # 18:00 in Chicago
MOVED = {"start_local": "2026-11-25T14:00", "end_local": "2026-11-25T16:00"}
PROMISED = {
    "start": "2026-11-25T15:00:00Z",
    "end": "2026-11-25T17:00:00Z",
    "zone": "America/New_York",
}
CARRIERS = (("NRDX", "Nordline Express"), ("BLUX", "Bluewater Express"), ("SWFT", "Swift Line"))

UNOWNED, IN_DOUBT, AWAY, AWAY_TOO = "W-01", "W-02", "W-03", "W-04"
MOVED_AND_COVERED, LOADED_LATER, DEARER = "W-05", "W-06", "W-07"
URGENT, READY, READY_TOO = "W-08", "W-09", "W-10"
NO_RATE, CONFIRMING, DONE, DONE_BY_STAFF = "W-11", "W-12", "W-13", "W-14"
TITLES = {
    UNOWNED: "Carrier fell off after accepting",
    IN_DOUBT: "Tender timed out, rebook",
    AWAY: "Carrier declined, rebook",
    AWAY_TOO: "Tender timed out, rebook",
    MOVED_AND_COVERED: "Carrier fell off, rebook",
    LOADED_LATER: "Truck broke down before pickup",
    DEARER: "Carrier declined, rebook",
    URGENT: "Carrier fell off, loads at noon",
    READY: "Booking cancelled by carrier",
    READY_TOO: "Carrier out of hours, rebook",
    NO_RATE: "No carrier wants the lane",
    CONFIRMING: "Tender declined twice",
    DONE: "Carrier fell off, rebook",
    DONE_BY_STAFF: "Tender declined, covered by hand",
}
SOON_OVER = (DEARER, NO_RATE)
"""Without a rate that lasts over the night."""

LINES = {
    URGENT: NewLine(
        sort="promise",
        party="Harbor Foods",
        text="Call with the truck's number.",
        due=WallTime(wall=datetime(2026, 11, 24, 8, 45), zone=CHICAGO),
    ),
    READY: NewLine(
        sort="do_not",
        text="Do not call the driver, he sleeps.",
        due=WallTime(wall=datetime(2026, 11, 24, 8, 30), zone=CHICAGO),
    ),
    LOADED_LATER: NewLine(sort="if_then", text="If the dock asks for a number, then give QW-06."),
    NO_RATE: NewLine(
        sort="waiting_on",
        party="Bo at Swift Line",
        text="A rate for a second reefer.",
        due=WallTime(wall=datetime(2026, 11, 24, 10, 30), zone=CHICAGO),
    ),
    AWAY: NewLine(
        sort="next_step",
        text="Ask the dock whether it takes a truck after 18:00.",
        due=WallTime(wall=datetime(2026, 11, 24, 11, 0), zone=CHICAGO),
    ),
}


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
        self._world_at_five()
        for subject in TITLES:
            self._open(subject)
        for subject, line in LINES.items():
            case_id = self.case_of(subject).pk
            write_line(case_id=case_id, line=line, by=self.cast.owner, at=business_now())
        self.start_worker("evening")
        self._wait_for_stage("waiting_for_review", *(s for s in TITLES if s != NO_RATE))
        self._wait_for_stage("escalated", NO_RATE)
        self._release(DONE)
        self._wait_for_stage("waiting_for_acceptance", DONE)

    def overnight(self) -> None:
        """02:40: employees and carriers change four shipments, before the agent looks again."""
        at = datetime.fromisoformat("2026-11-24T02:40:00-06:00")
        self.control.set_clock(at)
        self.control.batch(
            [
                _window(MOVED_AND_COVERED, stop=2, **MOVED),
                _carrier(MOVED_AND_COVERED),
                _window(
                    LOADED_LATER,
                    stop=1,
                    start_local="2026-11-24T19:00",
                    end_local="2026-11-24T21:00",
                ),
                _rate(DEARER, number=2, amount_minor=191_000),
                _carrier(DONE_BY_STAFF),
                _told(DONE_BY_STAFF),
            ]
        )
        self.set_clocks(at)

    def refresh(self) -> None:
        """07:31: the refresh has begun; what went stale overnight has a revised proposal."""
        self.set_clocks(REFRESHED)
        self.wait_for(
            lambda: Handover.objects.filter(refreshed_at__isnull=False).exists(),
            "the handover is refreshed",
        )
        for subject in (MOVED_AND_COVERED, LOADED_LATER, DEARER):
            self._wait_for_revision(subject)
        self._wait_for_stage("waiting_for_acceptance", DONE_BY_STAFF)

    def before_the_boundary(self) -> None:
        """07:42 to 07:55: two releases, a source that goes away, and a worker that is stopped."""
        self.control.settings(booking_confirm_seconds=3600)
        self.set_clocks(MORNING - 18 * MINUTE)
        self._release(CONFIRMING)
        self._wait_for_stage("verifying", CONFIRMING)
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
        self._release(IN_DOUBT)
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
        for subject in (AWAY, AWAY_TOO):
            case_id = self.case_of(subject).pk
            closing.refresh_now(case_id=case_id, by=self.cast.owner, at=business_now())
        self._wait_for_stage("blocked", AWAY, AWAY_TOO)

    def source_comes_back(self) -> None:
        """The source answers again; a new worker has read what waited for it."""
        self.control.clear_faults()
        tries = [self.case_of(subject).next_try_at for subject in (AWAY, AWAY_TOO)]
        self.set_clocks(max(business_now(), *(at for at in tries if at is not None)) + MINUTE)
        self.start_worker("morning")
        self._wait_for_stage("waiting_for_review", AWAY, AWAY_TOO)

    def _crew(self) -> None:
        cast = self.cast
        a_roster(cast)
        self.lee = people.enrol_person(
            username="lee",
            name="Lee Park",
            role=Role.OPERATOR,
            password=None,
            zone=CHICAGO,
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

    def _world_at_five(self) -> None:
        """All but one load in the late afternoon; all but two have a rate over the night."""
        for place, subject in enumerate(TITLES):
            scac, name = CARRIERS[place % len(CARRIERS)]
            steps = [
                _rate(subject, number=1, amount_minor=150_000 + 2_500 * place, scac=scac, name=name)
            ]
            if subject in SOON_OVER:
                steps = []
            if subject != URGENT:
                hour = 16 + place % 3
                steps.append(
                    _window(
                        subject,
                        stop=1,
                        start_local=f"2026-11-24T{hour}:00",
                        end_local=f"2026-11-24T{hour + 2}:00",
                    )
                )
            self.control.batch(steps)
        self.control.actor("quote_withdrawn", quote_id="QW-11")

    def _open(self, subject: str) -> None:
        wanted = intake.NewCase(
            kind="freight_exception",
            case_type="E02",
            subject=subject,
            title=TITLES[subject],
            system="transport",
            desk=self.cast.desk,
            owner=self.lee if subject == UNOWNED else self.cast.owner,
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


def _rate(
    subject: str,
    *,
    number: int,
    amount_minor: int,
    scac: str = "NRDX",
    name: str = "Nordline Express",
) -> dict[str, Any]:
    return {
        "actor": "carrier_offers_quote",
        "shipment_id": subject,
        "quote_id": f"Q{number}-{subject[2:]}",
        "scac": scac,
        "name": name,
        "amount_minor": amount_minor,
        "currency": "USD",
        "expires_at": TUESDAY_EVENING,
        "expires_zone": CHICAGO,
    }


def _window(subject: str, *, stop: int, start_local: str, end_local: str) -> dict[str, Any]:
    return {
        "actor": "employee_moves_window",
        "shipment_id": subject,
        "stop_id": f"{subject}-{stop}",
        "start_local": start_local,
        "end_local": end_local,
        "employee": "J. Ortiz",
    }


def _carrier(subject: str) -> dict[str, Any]:
    return {
        "actor": "employee_assigns_carrier",
        "shipment_id": subject,
        "scac": "OAKX",
        "name": "Oakline Freight",
        "employee": "J. Ortiz",
    }


def _told(subject: str) -> dict[str, Any]:
    """J. Ortiz has told the customer what still holds."""
    return {
        "actor": "employee_sends_message",
        "shipment_id": subject,
        "employee": "J. Ortiz",
        "recipient": "receiving@harborfoods.example",
        "channel": "e-mail",
        "template": "delivery_update",
        "about": promise_about(window=PROMISED, scac="OAKX"),
        "body": f"{subject} comes on Wednesday at ten with Oakline.",
    }
