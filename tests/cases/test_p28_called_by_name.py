"""P28: whoever is called by name can come; nobody is called who is not there while others are."""

from datetime import timedelta

import pytest

from cases.actions import lapses, ownership, people, roster
from cases.actions.clock import move_business_clock
from cases.actions.preview import what_moves
from cases.clock import business_now
from cases.models import AuditEvent, Case, Desk, Escalation, Person, Role, ShiftPattern
from cases.queries.calls import calls_from
from cases.queries.duty import roster_of
from cases.vocabulary.errors import Conflict, InvalidInput, Refused
from cases.vocabulary.rosters import Position
from tests.cases.builders import MORNING, Cast
from tests.cases.duties import NIGHT, owned_by, stands, with_a_roster

QUARTER = timedelta(minutes=15)


@pytest.fixture
def rostered(cast: Cast) -> Cast:
    """Marta works days, Dana evenings; Priya leads, and the clock says Monday 18:00."""
    return with_a_roster(cast)


@pytest.fixture
def manager(rostered: Cast) -> Person:
    """Ruth manages the desk."""
    ruth = a_lead("ruth")
    Desk.objects.filter(pk=rostered.desk.pk).update(manager=ruth)
    rostered.desk.refresh_from_db()
    return ruth


def a_lead(username: str) -> Person:
    """Somebody with the role of a lead."""
    name = username.capitalize()
    return Person.objects.create_user(username=username, first_name=name, role=Role.LEAD)


def on_leave(cast: Cast, person: Person) -> None:
    """From now on for two days."""
    roster.set_leave(
        person=person,
        starts_at=NIGHT,
        ends_at=NIGHT + timedelta(days=2),
        reason="Ill",
        by=cast.admin,
        at=business_now(),
    )


def gone(*persons: Person) -> None:
    """People who no longer work here, as old data may have it."""
    Person.objects.filter(pk__in=[person.pk for person in persons]).update(is_active=False)


def running(case: Case) -> Escalation:
    """The one escalation under way."""
    return Escalation.objects.get(case=case, ended_at=None)


def escalated(case: Case, by: Person) -> Escalation:
    """What runs after a person escalated the case."""
    to = ownership.escalate_to_lead(
        case_id=case.pk, by=by, at=business_now(), reason="Over my limit"
    )
    called = running(case)
    assert called.to == to
    return called


def leaves(cast: Cast, person: Person, *, successor: Person | None = None) -> None:
    """The admin deactivates somebody."""
    people.set_person(
        person=person,
        role=Role(person.role),
        is_active=False,
        successor=successor,
        reason="Left the company",
        by=cast.admin,
        at=business_now(),
    )


def calls(cast: Cast) -> list[tuple[str, timedelta]]:
    """Who is called for a case whose owner leaves at 08:00, and how long after."""
    known = roster_of(cast.desk, since=MORNING)
    return [(str(who), at - MORNING) for who, at in calls_from(known, boundary=MORNING)]


def test_p28_the_lead_of_a_desk_is_not_deactivated_without_a_successor(rostered: Cast) -> None:
    with pytest.raises(Conflict, match="lead of DFW desk.*Choose who takes their place"):
        leaves(rostered, rostered.lead)
    assert Person.objects.get(pk=rostered.lead.pk).is_active
    assert AuditEvent.objects.filter(case_id=0).latest("sequence").event == "act_refused"


def test_p28_the_manager_of_a_desk_is_not_deactivated_without_a_successor(
    rostered: Cast, manager: Person
) -> None:
    with pytest.raises(Conflict, match="manager of DFW desk"):
        leaves(rostered, manager)


def test_p28_a_lead_who_becomes_an_auditor_needs_a_successor_too(rostered: Cast) -> None:
    with pytest.raises(Conflict, match="lead of DFW desk"):
        people.set_person(
            person=rostered.lead,
            role=Role.AUDITOR,
            is_active=True,
            reason="New job",
            by=rostered.admin,
            at=business_now(),
        )


def test_p28_the_successor_leads_from_the_moment_the_lead_goes(
    rostered: Cast, manager: Person
) -> None:
    leaves(rostered, rostered.lead, successor=rostered.colleague)
    desk = Desk.objects.get(pk=rostered.desk.pk)
    assert (desk.lead, desk.manager) == (rostered.colleague, manager)
    told = AuditEvent.objects.filter(case_id=0).order_by("sequence")
    assert [row.event for row in told][-2:] == ["desk_leads_set", "person_changed"]
    assert {row.data["reason"] for row in list(told)[-2:]} == {"Left the company"}


@pytest.mark.parametrize("who", ["lead", "auditor", "gone"])
def test_p28_only_somebody_else_who_may_own_cases_succeeds(rostered: Cast, who: str) -> None:
    with pytest.raises((InvalidInput, Refused)):
        leaves(rostered, rostered.lead, successor=getattr(rostered, who))
    desk = Desk.objects.get(pk=rostered.desk.pk)
    assert (desk.lead, desk.lead.is_active) == (rostered.lead, True)


def test_p28_whoever_just_left_is_made_no_lead(rostered: Cast) -> None:
    """The page showed them as active; what counts is who works here when it is saved."""
    shown = Person.objects.get(pk=rostered.colleague.pk)
    gone(shown)
    with pytest.raises(Refused, match="cannot own cases"):
        roster.set_desk_leads(
            desk=rostered.desk, lead=shown, manager=None, by=rostered.lead, at=NIGHT
        )


def test_p28_escalating_while_the_lead_is_on_leave_goes_to_the_manager(
    rostered: Cast, manager: Person
) -> None:
    case = owned_by(rostered, rostered.colleague)
    on_leave(rostered, rostered.lead)
    called = escalated(case, rostered.colleague)
    assert (called.to, called.next_to, called.next_at) == (manager, None, None)


def test_p28_escalating_goes_to_the_lead_and_then_to_the_manager(
    rostered: Cast, manager: Person
) -> None:
    case = owned_by(rostered, rostered.colleague)
    called = escalated(case, rostered.colleague)
    assert (called.to, called.next_to) == (rostered.lead, manager)
    assert called.next_at == called.started_at + QUARTER


def test_p28_where_lead_and_manager_are_gone_another_lead_is_called(
    rostered: Cast, manager: Person
) -> None:
    case = owned_by(rostered, rostered.colleague)
    gone(rostered.lead, manager)
    nora = a_lead("nora")
    assert escalated(case, rostered.colleague).to == nora


def test_p28_whom_nobody_can_own_is_put_before_whoever_can_come(rostered: Cast) -> None:
    """The whole chain is gone or away; a lead of another desk is only off shift here."""
    case = owned_by(rostered, rostered.colleague)
    on_leave(rostered, rostered.lead)
    gone(rostered.colleague, rostered.owner)
    nora = a_lead("nora")
    lapses.keep_owned()
    called = running(case)
    assert (called.cause, called.to) == ("no_owner", nora)


def test_p28_a_lead_on_leave_is_called_where_nobody_else_is_left(rostered: Cast) -> None:
    case = owned_by(rostered, rostered.colleague)
    on_leave(rostered, rostered.lead)
    gone(rostered.colleague, rostered.owner)
    lapses.keep_owned()
    assert running(case).to == rostered.lead


def test_p28_nobody_who_left_is_called_next(rostered: Cast) -> None:
    """Dana does not come; the lead left, and another lead is called instead."""
    case = owned_by(rostered, rostered.owner)
    gone(rostered.lead)
    lapses.keep_owned()
    assert (running(case).to, running(case).next_to) == (rostered.colleague, None)
    nora = a_lead("nora")
    Escalation.objects.filter(case=case).update(next_at=business_now(), next_to=nora)
    move_business_clock(by=QUARTER)
    lapses.keep_owned()
    assert running(case).to == nora


def test_p27_the_sheet_calls_the_lead_and_the_manager_after_the_primary(
    rostered: Cast, manager: Person
) -> None:
    assert calls(rostered) == [("Priya Raman", QUARTER), ("Ruth", 2 * QUARTER)]


def test_p27_without_a_primary_the_lead_is_called_at_once(rostered: Cast, manager: Person) -> None:
    stands(rostered, "Day", Position.PRIMARY, None)
    assert calls(rostered) == [("Priya Raman", timedelta(0)), ("Ruth", QUARTER)]


def test_p27_a_backup_who_takes_the_place_of_the_primary_is_named(
    rostered: Cast, manager: Person
) -> None:
    stands(rostered, "Day", Position.PRIMARY, None)
    stands(rostered, "Day", Position.BACKUP, rostered.colleague)
    names = [who for who, _ in calls(rostered)]
    assert names == ["Dana Wu", "Priya Raman", "Ruth"]


def test_p27_while_the_lead_is_on_leave_the_manager_is_called_instead(
    rostered: Cast, manager: Person
) -> None:
    on_leave(rostered, rostered.lead)
    assert calls(rostered) == [("Ruth", QUARTER)]


def test_p27_nobody_is_called_while_the_shift_before_still_stays(
    rostered: Cast, manager: Person
) -> None:
    ShiftPattern.objects.filter(name="Day").update(overlap_minutes=30)
    assert calls(rostered) == [("Priya Raman", 3 * QUARTER), ("Ruth", 4 * QUARTER)]


def test_p28_what_moves_names_whoever_is_called_then(rostered: Cast) -> None:
    owned_by(rostered, rostered.colleague)
    on_leave(rostered, rostered.lead)
    a_lead("nora")
    (found,) = what_moves(
        lambda: leaves(rostered, rostered.colleague), at=NIGHT, moments=[business_now()]
    )
    assert [(row.to, row.stays) for row in found.moving] == [("Nora", True)]
    assert "nobody of the chain is available" in found.moving[0].why


@pytest.mark.parametrize("with_primary", [True, False])
@pytest.mark.parametrize("lead_is_there", [True, False])
def test_p27_what_the_sheet_says_is_what_happens(
    rostered: Cast, manager: Person, with_primary: bool, lead_is_there: bool
) -> None:
    """Dana's case of the evening; nobody comes until everybody has been called."""
    case = owned_by(rostered, rostered.colleague)
    if not with_primary:
        stands(rostered, "Day", Position.PRIMARY, None)
    if not lead_is_there:
        on_leave(rostered, rostered.lead)
    said = calls(rostered)
    move_business_clock(by=MORNING - business_now())
    happened: list[tuple[str, timedelta]] = []
    for minute in range(35):
        lapses.keep_owned()
        called = str(running(case).to)
        if called != "Marta Ortega" and called not in [who for who, _ in happened]:
            happened.append((called, timedelta(minutes=minute)))
        move_business_clock(by=timedelta(minutes=1))
    assert [who for who, _ in happened] == [who for who, _ in said]
    late = [after - before for (_, after), (_, before) in zip(happened, said, strict=True)]
    assert all(timedelta(0) <= each <= timedelta(minutes=2) for each in late)
