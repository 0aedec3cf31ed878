"""P28: every open case has an available owner or an escalation under way, with name and time."""

from datetime import timedelta

import pytest

from cases.actions import lapses, ownership, roster
from cases.actions.clock import move_business_clock
from cases.clock import business_now
from cases.models import AuditEvent, Case, Desk, Escalation, Person, ShiftPattern
from cases.queries.duty import duty_at
from cases.vocabulary.errors import Conflict, InvalidInput, Refused
from cases.vocabulary.rosters import Position
from tests.cases.builders import MORNING, Cast, a_person_closes
from tests.cases.duties import NIGHT, owned_by, stands, with_a_roster


@pytest.fixture
def rostered(cast: Cast) -> Cast:
    """Marta works days, Dana evenings; Priya leads, and the clock says Monday 18:00."""
    return with_a_roster(cast)


def running(case: Case) -> Escalation:
    """The one escalation under way."""
    return Escalation.objects.get(case=case, ended_at=None)


def is_kept(case: Case) -> bool:
    """Whether somebody available owns the case, or somebody named is called for it."""
    case.refresh_from_db()
    duty = duty_at(desk=case.desk, at=business_now())
    is_owned = case.owner_id is not None and not duty.absence_of(case.owner_id)
    return is_owned or Escalation.objects.filter(case=case, ended_at=None).exists()


def test_p28_a_case_without_an_owner_goes_to_the_primary_of_the_shift(rostered: Cast) -> None:
    case = owned_by(rostered, None)
    assert lapses.keep_owned() == 1
    case.refresh_from_db()
    assert case.owner == rostered.colleague
    said = AuditEvent.objects.filter(case_id=case.pk, event="owner_changed").latest("sequence")
    assert said.data["reason"] == "It has no owner; Dana Wu is primary of the shift."
    assert said.actor_kind == "system"


def test_e02_a_deactivated_owner_loses_every_case_at_once_and_each_says_so(rostered: Cast) -> None:
    cases = [owned_by(rostered, rostered.colleague, f"S-{number}") for number in (318, 319, 320)]
    Person.objects.filter(pk=rostered.colleague.pk).update(is_active=False)
    lapses.keep_owned()
    for case in cases:
        case.refresh_from_db()
        assert case.owner == rostered.lead
        said = AuditEvent.objects.filter(case_id=case.pk).latest("sequence")
        assert "Dana Wu is not active" in said.data["reason"]
        assert is_kept(case)


def test_p28_leave_moves_a_case_along_the_chain_and_no_further(rostered: Cast) -> None:
    case = owned_by(rostered, rostered.colleague)
    roster.set_leave(
        person=rostered.colleague,
        starts_at=NIGHT,
        ends_at=MORNING,
        reason="Ill",
        by=rostered.lead,
        at=NIGHT,
    )
    lapses.keep_owned()
    case.refresh_from_db()
    assert case.owner == rostered.lead
    assert lapses.keep_owned() == 0


def test_p27_an_owner_who_goes_off_shift_keeps_the_case_until_someone_accepts(
    rostered: Cast,
) -> None:
    case = owned_by(rostered, rostered.owner)
    assert lapses.keep_owned() == 0
    case.refresh_from_db()
    assert case.owner == rostered.owner
    called = running(case)
    assert (called.cause, called.to) == ("off_shift", rostered.colleague)
    assert called.next_to == rostered.lead
    assert called.next_at is not None
    assert timedelta(minutes=14) < called.next_at - business_now() <= timedelta(minutes=15)


def test_p28_whoever_does_not_come_is_followed_by_the_lead(rostered: Cast) -> None:
    case = owned_by(rostered, rostered.owner)
    lapses.keep_owned()
    move_business_clock(by=timedelta(minutes=16))
    lapses.keep_owned()
    called = running(case)
    assert (called.to, called.next_to) == (rostered.lead, None)
    said = AuditEvent.objects.filter(case_id=case.pk, event="escalated").latest("sequence")
    assert said.data["to"] == "Priya Raman"
    assert said.data["reason"] == "Dana Wu did not take it in time."


def test_p28_the_manager_is_called_a_quarter_of_an_hour_after_the_lead(rostered: Cast) -> None:
    manager = Person.objects.create_user(username="ruth", first_name="Ruth", role="lead")
    roster.set_desk_leads(
        desk=rostered.desk, lead=rostered.lead, manager=manager, by=rostered.lead, at=NIGHT
    )
    case = owned_by(rostered, rostered.owner)
    for minutes in (0, 16, 16):
        move_business_clock(by=timedelta(minutes=minutes))
        lapses.keep_owned()
    assert running(case).to == manager


def test_p28_the_escalation_ends_when_the_case_is_taken(rostered: Cast) -> None:
    case = owned_by(rostered, rostered.owner)
    lapses.keep_owned()
    ownership.take_case(case_id=case.pk, by=rostered.colleague, at=business_now())
    ended = Escalation.objects.get(case=case)
    assert ended.ended_at is not None
    assert ended.ended_reason == "Dana Wu owns the case."


def test_e03_a_shift_with_nobody_puts_the_case_before_the_desks_lead(rostered: Cast) -> None:
    stands(rostered, "Evening", Position.PRIMARY, None)
    case = owned_by(rostered, rostered.owner)
    lapses.keep_owned()
    assert running(case).to == rostered.lead


def test_p28_when_nobody_at_all_is_available_the_lead_is_called_by_name(rostered: Cast) -> None:
    Person.objects.all().update(is_active=False)
    case = owned_by(rostered, None)
    lapses.keep_owned()
    called = running(case)
    assert (called.cause, called.to) == ("no_owner", rostered.lead)
    assert "nobody of the chain is available" in called.reason


def test_p28_a_desk_without_a_roster_takes_everybody_for_present(cast: Cast) -> None:
    case = owned_by(cast, cast.owner)
    assert lapses.keep_owned() == 0
    assert not Escalation.objects.filter(case=case).exists()


def test_p28_two_sweeps_at_once_escalate_once(rostered: Cast) -> None:
    case = owned_by(rostered, rostered.owner)
    lapses.keep_owned()
    lapses.keep_owned()
    assert Escalation.objects.filter(case=case).count() == 1


def test_p27_a_claim_from_an_old_screen_names_who_was_faster(rostered: Cast) -> None:
    case = owned_by(rostered, None)
    ownership.take_case(
        case_id=case.pk, by=rostered.colleague, at=business_now(), seen_owner_id=None
    )
    with pytest.raises(Conflict, match="Dana Wu took this case meanwhile"):
        ownership.take_case(
            case_id=case.pk, by=rostered.lead, at=business_now(), seen_owner_id=None
        )
    case.refresh_from_db()
    assert case.owner == rostered.colleague


def test_p28_a_case_handed_back_goes_to_the_next_of_its_chain(rostered: Cast) -> None:
    case = owned_by(rostered, rostered.colleague)
    ownership.hand_back(
        case_id=case.pk, by=rostered.colleague, at=business_now(), reason="Needs the lead"
    )
    case.refresh_from_db()
    assert case.owner == rostered.lead


def test_p28_an_auditor_never_owns_a_case(rostered: Cast) -> None:
    case = owned_by(rostered, rostered.colleague)
    with pytest.raises(Refused):
        ownership.assign_case(
            case_id=case.pk, to=rostered.auditor, by=rostered.lead, at=business_now()
        )


def test_p28_an_escalation_by_a_person_leaves_the_owner_and_names_the_lead(rostered: Cast) -> None:
    case = owned_by(rostered, rostered.colleague)
    ownership.escalate_to_lead(
        case_id=case.pk, by=rostered.colleague, at=business_now(), reason="Over my limit"
    )
    case.refresh_from_db()
    assert case.owner == rostered.colleague
    assert running(case).to == rostered.lead


def test_p28_an_escalation_by_the_system_is_an_event_and_a_new_version(rostered: Cast) -> None:
    case = owned_by(rostered, rostered.owner)
    lapses.keep_owned()
    case.refresh_from_db()
    said = AuditEvent.objects.filter(case_id=case.pk).latest("sequence")
    assert (said.event, said.case_version) == ("escalated", case.version)
    move_business_clock(by=timedelta(hours=14))
    lapses.keep_owned()
    said = AuditEvent.objects.filter(case_id=case.pk).latest("sequence")
    assert (said.event, said.data["reason"]) == ("escalation_ended", "Its owner is available.")


def test_p28_an_absent_lead_is_passed_over_for_the_manager(rostered: Cast) -> None:
    manager = Person.objects.create_user(username="ruth", first_name="Ruth", role="lead")
    roster.set_desk_leads(
        desk=rostered.desk, lead=rostered.lead, manager=manager, by=rostered.lead, at=NIGHT
    )
    case = owned_by(rostered, rostered.owner)
    lapses.keep_owned()
    assert running(case).next_to == rostered.lead
    Person.objects.filter(pk=rostered.lead.pk).update(is_active=False)
    move_business_clock(by=timedelta(minutes=16))
    lapses.keep_owned()
    assert running(case).to == manager


def test_p28_whoever_is_called_and_goes_away_is_followed_at_once(rostered: Cast) -> None:
    case = owned_by(rostered, rostered.owner)
    lapses.keep_owned()
    Person.objects.filter(pk=rostered.colleague.pk).update(is_active=False)
    lapses.keep_owned()
    assert running(case).to == rostered.lead
    said = AuditEvent.objects.filter(case_id=case.pk).latest("sequence")
    assert said.data["reason"] == "Dana Wu is not active."


def test_p28_a_closed_case_calls_nobody_any_more(rostered: Cast) -> None:
    case = owned_by(rostered, rostered.colleague)
    ownership.escalate_to_lead(
        case_id=case.pk, by=rostered.colleague, at=business_now(), reason="Over my limit"
    )
    a_person_closes(case, by=rostered.lead, reason="Cancelled by the customer")
    assert not Escalation.objects.filter(ended_at=None).exists()


def test_p28_those_of_the_shift_before_stay_for_the_overlap(rostered: Cast) -> None:
    ShiftPattern.objects.filter(name="Evening").update(overlap_minutes=90)
    case = owned_by(rostered, rostered.owner)
    lapses.keep_owned()
    assert not Escalation.objects.exists(), "it is 18:00, and days stay until 18:30"
    move_business_clock(by=timedelta(minutes=31))
    lapses.keep_owned()
    assert running(case).to == rostered.colleague


@pytest.fixture
def two_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A run takes two cases."""
    monkeypatch.setattr(lapses, "MOST_AT_ONCE", 2)


def test_p28_cases_for_whom_somebody_is_called_already_hold_up_no_other(
    rostered: Cast, two_at_once: None
) -> None:
    Person.objects.all().update(is_active=False)
    cases = [owned_by(rostered, None, f"S-{number}") for number in range(5)]
    for _ in range(3):
        lapses.keep_owned()
    assert all(is_kept(case) for case in cases)
    assert Escalation.objects.count() == len(cases)


def test_p28_cases_that_wait_to_be_accepted_hold_up_none_that_has_to_move(
    rostered: Cast, two_at_once: None
) -> None:
    lee = Person.objects.create_user(username="lee", first_name="Lee")
    waiting = [owned_by(rostered, rostered.owner, f"S-{number}") for number in range(3)]
    moving = owned_by(rostered, lee, "S-9")
    for _ in range(2):
        lapses.keep_owned()
    assert all(is_kept(case) for case in (*waiting, moving))
    Person.objects.filter(pk=lee.pk).update(is_active=False)
    lapses.keep_owned()
    moving.refresh_from_db()
    assert moving.owner == rostered.colleague


def test_e04_a_desk_whose_zone_cannot_be_used_holds_up_no_other(rostered: Cast) -> None:
    broken = Desk.objects.create(name="BAD desk", zone="UTC", lead=rostered.lead)
    Desk.objects.filter(pk=broken.pk).update(zone="GMT+3")
    behind = Desk.objects.create(name="HOU desk", zone="America/Chicago", lead=rostered.lead)
    case = owned_by(rostered, None)
    Case.objects.filter(pk=case.pk).update(desk=behind)
    with pytest.raises(InvalidInput, match="not an IANA zone"):
        lapses.keep_owned()
    assert is_kept(case)
