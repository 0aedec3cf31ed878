"""P31: what people may not change of the house is kept with who tried what, and why it was not."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from cases.actions import conditions, pauses, people, roster
from cases.actions.house import keeping_refusals
from cases.clock import business_now
from cases.models import AuditEvent, Leave, Person, Role, ShiftPattern
from cases.vocabulary.errors import Busy, Conflict, InvalidInput, Refused
from cases.vocabulary.rosters import Position
from cases.vocabulary.shifts import EVERY_DAY, USUAL_STARTS
from tests.cases.builders import Cast
from tests.cases.duties import FIRST_DAY, NIGHT, with_a_roster
from tests.cases.test_pages_roster import leave_of, posts, saves

TOMORROW = ("2026-11-24T09:00", "2026-11-24T12:00")


@pytest.fixture
def rostered(cast: Cast) -> Cast:
    """Marta works days, Dana evenings; Priya leads, and the clock says Monday 18:00."""
    return with_a_roster(cast)


def put_on_watch(cast: Cast, by: Person, person: Person) -> None:
    """Somebody becomes backup of the day."""
    roster.put_on_watch(
        wanted=roster.NewWatch(
            shift_id=ShiftPattern.objects.get(name="Day").pk,
            position=Position.BACKUP,
            person=person,
            first_day=FIRST_DAY,
            last_day=None,
            days=EVERY_DAY,
        ),
        by=by,
        at=NIGHT,
    )


def become_lead(cast: Cast, by: Person) -> None:
    """Somebody makes Dana a lead."""
    people.set_person(
        person=cast.colleague, role=Role.LEAD, is_active=True, reason="x", by=by, at=NIGHT
    )


def be_away(cast: Cast, by: Person) -> None:
    """Somebody sends Priya on leave."""
    ends_at = business_now() + timedelta(hours=1)
    roster.set_leave(person=cast.lead, starts_at=NIGHT, ends_at=ends_at, reason="", by=by, at=NIGHT)


RULE = roster.NewRule(kind="", case_type="", position=Position.BACKUP, person=None)
ACTS: dict[str, Callable[[Cast, Person], None]] = {
    "watch": lambda cast, by: put_on_watch(cast, by, cast.owner),
    "shifts": lambda cast, by: roster.set_shifts(
        desk=cast.desk, starts=USUAL_STARTS, by=by, at=NIGHT
    ),
    "leave": be_away,
    "cancel": lambda cast, by: roster.cancel_leave(leave_id=1, by=by, at=NIGHT),
    "rule": lambda cast, by: roster.set_ownership_rule(
        desk=cast.desk, wanted=RULE, by=by, at=NIGHT
    ),
    "leads": lambda cast, by: roster.set_desk_leads(
        desk=cast.desk, lead=cast.lead, manager=None, by=by, at=NIGHT
    ),
    "person": become_lead,
}


def kept(cast: Cast) -> list[tuple[str, str, str]]:
    """What the house keeps after the roster was set: event, who, and why."""
    rows = AuditEvent.objects.filter(case_id=0, event__endswith="refused").order_by("sequence")
    return [(row.event, row.actor_name, row.data["reason"]) for row in rows]


@pytest.mark.parametrize("act", ACTS.values(), ids=ACTS.keys())
def test_p31_every_refused_change_of_the_house_is_kept(
    rostered: Cast, act: Callable[[Cast, Person], None]
) -> None:
    with pytest.raises(Refused) as refusal:
        act(rostered, rostered.owner)
    assert kept(rostered) == [("act_refused", "Marta Ortega", str(refusal.value))]


def test_p31_a_change_that_does_not_fit_is_kept_too(rostered: Cast) -> None:
    """A person who may not own cases; a shift with people on it; one's own account."""
    with pytest.raises(Refused):
        put_on_watch(rostered, rostered.lead, rostered.auditor)
    with pytest.raises(Conflict):
        roster.set_shifts(desk=rostered.desk, starts=USUAL_STARTS[:1], by=rostered.lead, at=NIGHT)
    with pytest.raises(Conflict):
        people.set_person(
            person=rostered.admin,
            role=Role.LEAD,
            is_active=True,
            reason="x",
            by=rostered.admin,
            at=NIGHT,
        )
    assert [who for _, who, _ in kept(rostered)] == ["Priya Raman", "Priya Raman", "Alex Stone"]


def test_p31_conditions_and_pauses_are_refused_under_their_own_name(rostered: Cast) -> None:
    new = conditions.NewCondition(sort="other", title="x", desk=None)
    with pytest.raises(Refused):
        conditions.open_condition(wanted=new, by=rostered.owner, at=NIGHT)
    scope: dict[str, Any] = {"lane": "", "kind": "", "agent": "", "reason": "Storm"}
    with pytest.raises(Refused):
        pauses.set_pause(**scope, by=rostered.owner, at=NIGHT)
    pauses.set_pause(**scope, by=rostered.lead, at=NIGHT)
    with pytest.raises(Conflict, match="paused already"):
        pauses.set_pause(**scope, by=rostered.admin, at=NIGHT)
    assert [event for event, _, _ in kept(rostered)] == [
        "condition_refused",
        "pause_refused",
        "pause_refused",
    ]


def test_p31_what_was_only_mistyped_is_no_refusal(rostered: Cast) -> None:
    with pytest.raises(InvalidInput):
        roster.set_leave(
            person=rostered.owner,
            starts_at=NIGHT,
            ends_at=NIGHT,
            reason="",
            by=rostered.lead,
            at=NIGHT,
        )
    assert kept(rostered) == []


def test_p31_a_look_at_what_one_may_not_change_is_kept_once(rostered: Cast) -> None:
    """The change is really made and rolled back; the refusal is not rolled back with it."""
    leave = leave_of(rostered.lead, *TOMORROW)
    assert posts(rostered.owner, rostered, "leave", **leave).status_code == 403
    ((event, who, why),) = kept(rostered)
    assert (event, who) == ("act_refused", "Marta Ortega")
    assert "Ask a lead or an admin" in why
    told = AuditEvent.objects.filter(case_id=0).latest("sequence")
    assert told.data["act"].startswith("change who is on duty: Priya Raman is on leave from")
    assert not Leave.objects.exists()


def test_p31_saving_what_one_may_not_change_is_kept_once(rostered: Cast) -> None:
    leave = leave_of(rostered.lead, *TOMORROW)
    more = {"save": "1", "seen": "x", "reason": "I need it"}
    assert posts(rostered.owner, rostered, "leave", **leave, **more).status_code == 403
    assert len(kept(rostered)) == 1


def test_p31_saving_what_no_longer_moves_the_same_is_kept(rostered: Cast) -> None:
    leave = leave_of(rostered.colleague, *TOMORROW)
    more = {"save": "1", "seen": "x", "reason": "Ill"}
    assert posts(rostered.lead, rostered, "leave", **leave, **more).status_code == 409
    ((_, who, why),) = kept(rostered)
    assert (who, why) == (
        "Priya Raman",
        "What moves is no longer what you saw. Look again, then save.",
    )


def test_p31_a_house_that_was_locked_refused_nobody(rostered: Cast) -> None:
    with pytest.raises(Busy), keeping_refusals(by=rostered.lead, at=NIGHT, act="try"):
        raise Busy("Somebody else is at it.")
    assert kept(rostered) == []


def test_p31_what_counts_leaves_no_refusal(rostered: Cast) -> None:
    saves(rostered.lead, rostered, "leave", **leave_of(rostered.colleague, *TOMORROW))
    assert Leave.objects.exists()
    assert kept(rostered) == []


def test_p31_an_account_is_not_changed_by_a_lead_and_that_is_kept(rostered: Cast) -> None:
    client = Client()
    client.force_login(rostered.lead)
    answer = client.post(f"/people/{rostered.colleague.pk}/", {"role": "admin", "save": "1"})
    assert answer.status_code == 403
    refused = client.post(
        f"/people/{rostered.colleague.pk}/", {"role": "admin", "is_active": "yes"}
    )
    assert refused.status_code == 403
    ((_, who, why),) = kept(rostered)
    assert (who, why) == ("Priya Raman", "Priya Raman cannot change people or roles. Ask an admin.")
