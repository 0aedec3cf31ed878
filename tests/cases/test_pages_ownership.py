"""Ownership, people, and the acts of owning on a case: who is asked, who gets it, and why (P28)."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from cases.actions import lapses, people, roster
from cases.clock import business_now
from cases.models import AuditEvent, Case, Desk, Escalation, OwnershipRule, Person, Role
from cases.vocabulary.errors import Refused
from cases.vocabulary.rosters import Position
from tests.cases.builders import MORNING, Cast, a_case_waiting_for_review, events_of
from tests.cases.duties import NIGHT, owned_by, stands, with_a_roster
from tests.cases.test_pages_roster import client_of, text_of


@pytest.fixture
def rostered(cast: Cast) -> Cast:
    """Marta works days, Dana evenings; Priya leads, and the clock says Monday 18:00."""
    return with_a_roster(cast)


def looks_then_saves(client: Client, address: str, **values: Any) -> tuple[str, int]:
    """What the look says, and the status of saving it."""
    shown = client.post(address, values)
    seen = re.search(r'name="seen" value="([^"]+)"', shown.content.decode())
    assert seen is not None, text_of(shown)
    saved = client.post(address, values | {"seen": seen[1], "save": "1", "reason": "New plan"})
    return text_of(shown), saved.status_code


def test_who_would_own_it_names_the_chain_and_why_not_those_before(rostered: Cast) -> None:
    roster.set_leave(
        person=rostered.colleague,
        starts_at=NIGHT,
        ends_at=MORNING,
        reason="Ill",
        by=rostered.lead,
        at=NIGHT,
    )
    asked = "/ownership/?scope=freight_exception:E02&time=2026-11-23T22:00"
    page = text_of(client_of(rostered.auditor).get(asked))
    assert "Mon 23 Nov 22:00 CST (Evening): Priya Raman" in page
    assert "primary of the shift Dana Wu on leave until Tue 24 Nov 08:00 CST" in page
    assert "lead of the desk Priya Raman owns it" in page


def test_c04_who_would_own_it_asks_which_time_is_meant(rostered: Cast) -> None:
    asked = "/ownership/?scope=:&time=2026-11-01T01:30"
    answer = client_of(rostered.lead).get(asked)
    assert answer.status_code == 422
    assert "01:30 CST, the later one" in text_of(answer)
    answer = client_of(rostered.lead).get(asked + "&time_which=later")
    assert "Sun 1 Nov 01:30 CST (Evening)" in text_of(answer)


def test_the_most_specific_rule_says_who_is_asked_first(rostered: Cast) -> None:
    client, address = client_of(rostered.lead), f"/ownership/{rostered.desk.pk}/rule/"
    stands(rostered, "Evening", Position.BACKUP, rostered.owner)
    case = owned_by(rostered, None)
    values = {"scope": "freight_exception:E02", "asked": "backup"}
    shown, status = looks_then_saves(client, address, **values)
    assert "nobody Marta Ortega It has no owner; Marta Ortega is backup of the shift." in shown
    assert status == 302
    case.refresh_from_db()
    assert case.owner == rostered.owner
    looks_then_saves(client, address, scope="freight_exception:E02", asked="")
    assert not OwnershipRule.objects.exists()


def test_lead_and_manager_of_the_desk_are_set_with_a_reason(rostered: Cast) -> None:
    address = f"/ownership/{rostered.desk.pk}/leads/"
    values = {"lead": rostered.colleague.pk, "manager": rostered.lead.pk}
    shown, status = looks_then_saves(client_of(rostered.admin), address, **values)
    assert "Dana Wu leads DFW desk; Priya Raman is its manager." in shown
    assert status == 302
    desk = Desk.objects.get()
    assert (desk.lead, desk.manager) == (rostered.colleague, rostered.lead)
    assert AuditEvent.objects.get(event="desk_leads_set").data["reason"] == "New plan"


@pytest.mark.parametrize(
    ("act", "values"),
    [("rule", {"scope": ":", "asked": "backup"}), ("leads", {"lead": "1"})],
)
def test_an_operator_changes_no_rule(rostered: Cast, act: str, values: dict[str, str]) -> None:
    values = {"lead": str(rostered.colleague.pk)} if act == "leads" else values
    client = client_of(rostered.owner)
    assert client.post(f"/ownership/{rostered.desk.pk}/{act}/", values).status_code == 403
    assert "Ask a lead or an admin" in text_of(client.get("/ownership/"))
    assert not OwnershipRule.objects.exists()
    assert Desk.objects.get().lead == rostered.lead


@pytest.mark.parametrize("scope", ["freight_exception:E99", "nonsense:", "nonsense", "", ":E02"])
def test_a_rule_for_cases_that_cannot_be_is_explained(rostered: Cast, scope: str) -> None:
    address = f"/ownership/{rostered.desk.pk}/rule/"
    answer = client_of(rostered.lead).post(address, {"scope": scope, "asked": "backup"})
    assert answer.status_code == 422
    assert "Nothing was changed" in text_of(answer)


def test_e02_deactivating_a_person_shows_their_cases_and_then_moves_them(rostered: Cast) -> None:
    case = owned_by(rostered, rostered.colleague)
    address = f"/people/{rostered.colleague.pk}/"
    shown, status = looks_then_saves(client_of(rostered.admin), address, role="operator")
    assert "Dana Wu is not active." in shown
    assert "1 open case of DFW desk at once" in shown
    assert "1 roster entry at DFW desk still name them" in shown
    assert status == 302
    case.refresh_from_db()
    assert case.owner == rostered.lead
    assert events_of(case)[-1] == "owner_changed"
    said = AuditEvent.objects.get(event="person_changed")
    assert (said.actor_name, said.data["is_active"]) == ("Alex Stone", False)


def test_e02_taking_somebodys_role_moves_their_cases(rostered: Cast) -> None:
    case = owned_by(rostered, rostered.colleague)
    address = f"/people/{rostered.colleague.pk}/"
    values = {"role": "auditor", "is_active": "yes"}
    shown, _ = looks_then_saves(client_of(rostered.admin), address, **values)
    assert "Dana Wu is no longer an operator or lead; Priya Raman is lead of the desk." in shown
    case.refresh_from_db()
    assert case.owner == rostered.lead


def test_p23_deactivating_the_owner_of_an_agent_says_that_it_stops(rostered: Cast) -> None:
    address = f"/people/{rostered.lead.pk}/"
    values = {"role": "lead", "successor": rostered.colleague.pk}
    shown, _ = looks_then_saves(client_of(rostered.admin), address, **values)
    assert "exception-bot@1.0 does nothing any more: Priya Raman answers for it." in shown


def test_p28_who_takes_the_place_of_a_lead_is_asked_before_they_go(rostered: Cast) -> None:
    """Refused in words that say what to do; the choice is on the page, and then it counts."""
    client, address = client_of(rostered.admin), f"/people/{rostered.lead.pk}/"
    refused = client.post(address, {"role": "lead"})
    assert refused.status_code == 409
    assert "Choose who takes their place" in text_of(refused)
    choice = f'<select id="successor-{rostered.lead.pk}" name="successor">'
    offered = refused.content.decode().split(choice)[1].split("</select>")[0]
    assert "Dana Wu (Operator)" in offered and "Priya Raman" not in offered
    assert f"successor-{rostered.owner.pk}" not in refused.content.decode(), "leads no desk"
    values = {"role": "lead", "successor": rostered.colleague.pk}
    shown, status = looks_then_saves(client, address, **values)
    assert "Priya Raman is not active. Dana Wu is lead of DFW desk." in shown
    assert status == 302
    assert Desk.objects.get().lead == rostered.colleague
    assert not Person.objects.get(pk=rostered.lead.pk).is_active


def test_who_would_own_it_names_who_is_called_where_nobody_is_there(rostered: Cast) -> None:
    nora = Person.objects.create_user(username="nora", first_name="Nora", role=Role.LEAD)
    staying = (rostered.admin.pk, nora.pk)
    Person.objects.exclude(pk__in=staying).update(is_active=False)
    page = text_of(client_of(rostered.admin).get("/ownership/?scope=:"))
    assert "nobody is available; Nora is called by name" in page


def test_only_admins_change_people_and_nobody_themselves(rostered: Cast) -> None:
    for person in (rostered.lead, rostered.owner, rostered.auditor):
        client = client_of(person)
        assert client.get("/people/").status_code == 403
        address = f"/people/{rostered.colleague.pk}/"
        assert client.post(address, {"role": "admin", "save": "1"}).status_code == 403
    with pytest.raises(Refused, match="Ask an admin"):
        people.set_person(
            person=rostered.colleague,
            role=Role.ADMIN,
            is_active=True,
            reason="I need it",
            by=rostered.lead,
            at=business_now(),
        )
    own = client_of(rostered.admin).post(f"/people/{rostered.admin.pk}/", {"role": "admin"})
    assert own.status_code == 409
    assert Person.objects.get(pk=rostered.colleague.pk).role == "operator"
    assert Person.objects.get(pk=rostered.admin.pk).is_active


def test_a_deactivated_person_is_signed_out(rostered: Cast) -> None:
    client = client_of(rostered.colleague)
    looks_then_saves(
        client_of(rostered.admin), f"/people/{rostered.colleague.pk}/", role="operator"
    )
    assert client.get("/").status_code == 302


def test_p28_a_claim_from_an_old_page_names_who_was_faster(rostered: Cast) -> None:
    case = owned_by(rostered, None)
    page = client_of(rostered.colleague).get(f"/cases/{case.pk}/").content.decode()
    assert '<input type="hidden" name="seen_owner" value="">' in page
    client_of(rostered.owner).post(f"/cases/{case.pk}/take/", {"seen_owner": ""})
    answer = client_of(rostered.colleague).post(f"/cases/{case.pk}/take/", {"seen_owner": ""})
    assert answer.status_code == 409
    assert "Marta Ortega took this case meanwhile" in text_of(answer)
    case.refresh_from_db()
    assert case.owner == rostered.owner


def test_p28_handing_back_and_escalating_from_the_case_page(rostered: Cast) -> None:
    case = a_case_waiting_for_review(rostered)
    Case.objects.filter(pk=case.pk).update(owner=rostered.colleague)
    client = client_of(rostered.colleague)
    assert client.post(f"/cases/{case.pk}/escalate/", {"reason": ""}).status_code == 422
    client.post(f"/cases/{case.pk}/escalate/", {"reason": "Over my limit"})
    page = text_of(client.get(f"/cases/{case.pk}/"))
    assert "Escalated to Priya Raman since 17:00 CST : Dana Wu: Over my limit" in page
    again = client.post(f"/cases/{case.pk}/escalate/", {"reason": "Still"})
    assert again.status_code == 409
    assert "Still" in text_of(again)
    client.post(f"/cases/{case.pk}/hand-back/", {"reason": "I leave early"})
    case.refresh_from_db()
    assert case.owner == rostered.lead
    assert Escalation.objects.get().ended_at is not None


def test_p28_only_the_owner_is_offered_to_hand_back(rostered: Cast) -> None:
    case = owned_by(rostered, rostered.colleague)
    assert "Hand the case back" in text_of(client_of(rostered.colleague).get(f"/cases/{case.pk}/"))
    other = client_of(rostered.owner)
    assert "Hand the case back" not in text_of(other.get(f"/cases/{case.pk}/"))
    assert other.post(f"/cases/{case.pk}/hand-back/", {"reason": "x"}).status_code == 409


def test_p28_who_is_called_sees_the_case_in_their_turn_with_the_next_name_and_time(
    rostered: Cast,
) -> None:
    owned_by(rostered, rostered.owner)
    lapses.keep_owned()
    page = text_of(client_of(rostered.colleague).get("/"))
    assert "Without an available owner" in page
    assert "owner off shift, escalated to Dana Wu; Priya Raman at 18:15 CST" in page
    assert "Marta Ortega off shift since 17:00 CST" in page


def test_the_most_urgent_escalation_stands_on_the_queue_and_all_on_the_case(
    rostered: Cast,
) -> None:
    case = owned_by(rostered, rostered.owner)
    lapses.keep_owned()
    Escalation.objects.create(
        case=case,
        cause=Escalation.Cause.NOT_DECIDED,
        reason="Proposal 1 was not decided in time.",
        to=rostered.lead,
        started_at=business_now() - timedelta(minutes=1),
    )
    client = client_of(rostered.auditor)
    assert "overdue, escalated to Priya Raman" in text_of(client.get("/?view=all"))
    page = text_of(client.get(f"/cases/{case.pk}/"))
    assert page.index("Escalated to Priya Raman") < page.index("Escalated to Dana Wu")
    assert "Priya Raman is called 18:15 CST" in page


@pytest.mark.parametrize(
    ("person", "words"),
    [
        ("colleague", "Dana Wu on shift"),
        ("lead", "Priya Raman on call"),
        ("gone", "Gil Gone not active"),
        ("auditor", "Audrey Falk no longer an operator or lead"),
    ],
)
def test_the_owners_state_stands_beside_the_name(rostered: Cast, person: str, words: str) -> None:
    case = owned_by(rostered, getattr(rostered, person))
    client = client_of(rostered.admin)
    assert words in text_of(client.get("/?view=all"))
    assert words in text_of(client.get(f"/cases/{case.pk}/"))


def test_e04_a_desk_whose_zone_cannot_be_used_breaks_no_queue(rostered: Cast) -> None:
    owned_by(rostered, rostered.colleague)
    second = Desk.objects.create(name="HOU desk", zone="America/Chicago", lead=rostered.lead)
    Desk.objects.filter(pk=second.pk).update(zone="IST")
    Case.objects.update(desk=second)
    answer = client_of(rostered.admin).get("/?view=all")
    assert answer.status_code == 200
