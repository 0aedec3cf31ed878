"""Scenarios 6 and 9 at the record: the night clocks go back, and a job that is half done."""

from datetime import UTC, date, datetime, time, timedelta

import pytest

from cases.actions import decisions, roster
from cases.actions.handovers import open_handovers
from cases.clock import business_now
from cases.models import Case, Decision, Desk, Effect, Handover, Person
from cases.queries.duty import duty_at
from cases.queries.handover import find_handover, sheet_of
from cases.vocabulary.clocks import local_text
from cases.vocabulary.freight import FREIGHT
from cases.vocabulary.rosters import Position
from cases.vocabulary.shifts import EVERY_DAY, ShiftStart
from cases.vocabulary.wording import say
from tests.cases.builders import (
    OAKLINE,
    TWO_O_CLOCK,
    Cast,
    a_quote,
    a_released_case,
    a_shipment,
    agent_reads,
    agent_starts_attempt,
    an_answer,
    an_open_case,
    at_business_time,
    current_proposal,
)
from tests.cases.duties import stands

DENVER = "America/Denver"
TEN_PM = datetime(2026, 11, 1, 4, 1, tzinfo=UTC)  # Sat 31 Oct 22:01 MDT, a minute into the night
SIX_AM = datetime(2026, 11, 1, 13, 0, tzinfo=UTC)  # Sun 1 Nov 06:00 MST
END_OF_SATURDAY = datetime(2026, 11, 1, 5, 0, tzinfo=UTC)  # in Chicago; 23:00 in Denver
HALF_PAST_ONE = {"start": "2026-11-01T07:30:00Z", "end": "2026-11-01T10:00:00Z", "zone": DENVER}
REEFER = a_shipment(pickup_window=HALF_PAST_ONE)
AN_HOUR, A_MINUTE = timedelta(hours=1), timedelta(minutes=1)


@pytest.fixture
def denver(cast: Cast) -> Cast:
    """Saturday night in Denver: Marta stands from 22:00 to 06:00, then Dana."""
    at_business_time(TEN_PM)
    Desk.objects.filter(pk=cast.desk.pk).update(zone=DENVER)
    cast.desk.refresh_from_db()
    starts = (
        ShiftStart(name="Day", at=time(6), days=EVERY_DAY),
        ShiftStart(name="Night", at=time(22), days=EVERY_DAY),
    )
    roster.set_shifts(desk=cast.desk, starts=starts, by=cast.lead, at=TEN_PM)
    stands(cast, "Night", Position.PRIMARY, cast.owner, first=date(2026, 10, 1))
    stands(cast, "Day", Position.PRIMARY, cast.colleague, first=date(2026, 10, 1))
    return cast


def waits_for_release(cast: Cast, expires_at: str) -> Case:
    """A reefer that is loaded from 01:30 on, with a rate until then."""
    case = an_open_case(cast)
    agent_reads(case, (REEFER, a_quote(expires_at=expires_at)))
    case.refresh_from_db()
    return case


def release(case: Case, by: Person) -> Decision:
    """Somebody releases what is proposed now."""
    case.refresh_from_db()
    decisions.release(answer=an_answer(case), by=by, at=business_now())
    return Decision.objects.latest("pk")


def test_scenario_06_a_rate_valid_through_saturday_ends_at_midnight_in_chicago(
    denver: Cast,
) -> None:
    """Chicago still has summer time then, and Denver's clocks show 23:00."""
    case = waits_for_release(denver, "2026-11-01T05:00:00Z")
    rate = a_quote(expires_at="2026-11-01T05:00:00Z")
    shown = say(FREIGHT.facts["rate_expiry"], rate.fields["rate_expiry"])
    assert shown == "open until Sun 1 Nov 00:00 CDT"
    assert current_proposal(case).valid_until == END_OF_SATURDAY
    at_business_time(END_OF_SATURDAY - 5 * A_MINUTE)
    assert release(case, denver.owner).valid_until == END_OF_SATURDAY
    at_business_time(END_OF_SATURDAY)
    _, order = agent_starts_attempt(case, (REEFER, rate))
    assert order is None
    assert current_proposal(case).state == "expired"


def test_scenario_06_the_night_lasts_nine_hours_and_is_handed_over_at_six(denver: Cast) -> None:
    waits_for_release(denver, "2026-11-02T05:00:00Z")
    assert duty_at(desk=denver.desk, at=TEN_PM).shift.length == 9 * AN_HOUR
    at_business_time(SIX_AM - 31 * A_MINUTE)
    assert open_handovers() == 0
    at_business_time(SIX_AM - 30 * A_MINUTE)
    assert open_handovers() == 1
    found = Handover.objects.get()
    assert local_text(found.boundary, zone=DENVER) == "Sun 1 Nov 06:00 MST"
    shown = sheet_of(handover=find_handover(found.pk), at=business_now())
    assert (shown.outgoing, shown.incoming) == ("Marta Ortega", "Dana Wu")


def test_scenario_06_what_lasts_an_hour_lasts_an_hour_though_clocks_show_the_same(
    denver: Cast,
) -> None:
    """Released at 01:15 for 60 minutes: until it is 01:15 once more."""
    case = waits_for_release(denver, "2026-11-02T05:00:00Z")
    at_business_time(datetime(2026, 11, 1, 7, 15, tzinfo=UTC))
    decision = release(case, denver.owner)
    assert decision.valid_until == decision.at + AN_HOUR
    assert local_text(decision.at, zone=DENVER) == "Sun 1 Nov 01:15 MDT"
    assert local_text(decision.valid_until, zone=DENVER) == "Sun 1 Nov 01:15 MST"


def test_scenario_09_of_a_job_half_done_only_the_rest_is_proposed_and_the_half_is_credited(
    cast: Cast,
) -> None:
    """Released were a booking and a text that names it; a dispatcher booked Oakline for 14:00."""
    case = a_released_case(cast)
    moved = (
        a_shipment(42, delivery_window=TWO_O_CLOCK, carrier_assignment=OAKLINE),
        a_quote(),
    )
    _, order = agent_starts_attempt(case, moved)
    assert order is None
    assert set(Effect.objects.values_list("state", flat=True)) == {"not_needed"}
    agent_reads(case, moved)
    revised = current_proposal(case)
    assert (revised.number, revised.state) == (2, "ready")
    assert "J. Ortiz assigned Oakline Freight. That is kept" in revised.summary
    decision = release(case, cast.owner)
    (text,) = Effect.objects.filter(decision=decision).select_related("proposed_action")
    assert text.proposed_action.action == "send_customer_update"
    assert (
        "Wed 25 Nov 14:00–16:00 EST by Oakline Freight" in text.proposed_action.parameters["body"]
    )
