"""Pages ask few queries, however much there is to show: a case 20 at most, the queue 12."""

import re
from collections.abc import Callable, Sequence
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings

from cases.actions import budgets, conditions, findings, goals, lines, ownership, pauses
from cases.actions.clock import move_business_clock
from cases.actions.deadlines import escalate_overdue
from cases.actions.decisions import send_back
from cases.actions.events import apply_received_events
from cases.actions.evidence import record_readings
from cases.clock import business_now
from cases.models import Case, CaseLine, Desk, Person
from cases.queries.acts import View, condition_of
from cases.queries.budgets import limits_of
from cases.queries.queue import by_deadline
from cases.vocabulary.budgets import Resource
from tests.cases.builders import (
    AGENT,
    MORNING,
    OAKLINE,
    Cast,
    a_case_waiting_for_review,
    a_grant,
    a_person_closes,
    a_quote,
    a_shipment,
    agent_reads,
    an_answer,
    an_open_case,
    at_business_time,
    target_shows,
    unreadable,
)
from tests.cases.doubts import a_case_given_up, a_case_in_doubt, all_of
from tests.cases.mornings import a_roster
from tests.cases.sender import KEY, Sender, an_event

MOST_ON_A_CASE = 20
MOST_ON_THE_QUEUE = 12


@pytest.fixture
def sender(cast: Cast, settings: Settings) -> Sender:
    """The transport system, whose key is known here."""
    settings.WEBHOOK_KEYS = {"transport": (KEY,)}
    return Sender()


def a_round(case: Case, cast: Cast, number: int) -> None:
    """A version is sent back, and the facts ask for another one."""
    case.refresh_from_db()
    send_back(answer=an_answer(case, reason="No."), by=cast.owner, at=business_now())
    carrier = {**OAKLINE, "code": f"OAK{number}"}
    agent_reads(
        case, (a_shipment(43 + number, carrier_assignment=carrier), a_quote(f"QX-{number}"))
    )


def revised(cast: Cast, sender: Sender) -> Case:
    """Five versions, four of them sent back."""
    case = a_case_waiting_for_review(cast)
    for number in range(1, 5):
        a_round(case, cast, number)
    return case


def in_doubt(cast: Cast, sender: Sender) -> Case:
    """An attempt of unknown outcome, a look that found nothing, and a report from outside."""
    case, grant, order = a_case_in_doubt(cast)
    sender.send(an_event(order.effect.reference))
    apply_received_events(limit=10)
    target_shows(grant, order, state="", found=False)
    return case


def given_up_and_gone_back(cast: Cast, sender: Sender) -> Case:
    """A person finds out about a reported attempt; meanwhile two sources went back."""
    case, effect = a_case_given_up(cast)
    sender.send(an_event(effect.reference))
    apply_received_events(limit=10)
    for version in (43, 41):
        grant = a_grant(case)
        readings = (a_shipment(version), a_quote())
        record_readings(grant=grant, by=AGENT, readings=readings, asked_at=business_now())
        agent_reads(case, readings)
    return case


def found_out(cast: Cast, sender: Sender) -> Case:
    """A person found out that it happened."""
    case, effect = a_case_given_up(cast)
    findings.record_finding(
        case_id=case.pk,
        effect_id=effect.pk,
        happened=True,
        note="Bo at Bluewater has it",
        seen=all_of(effect),
        by=cast.owner,
        at=business_now(),
    )
    return case


def out_of_reach(cast: Cast, sender: Sender) -> Case:
    """Its source cannot be read."""
    case = a_case_waiting_for_review(cast)
    at_business_time(MORNING)
    agent_reads(case, (unreadable(a_shipment()),))
    return case


def surround(cast: Cast) -> None:
    """What stands around every page: shifts with people, conditions, a pause, a closed case."""
    a_roster(cast)
    for number in range(3):
        condition = conditions.NewCondition(
            sort="connector", title=f"TMS slow {number}", desk=cast.desk, blocks_releases=True
        )
        conditions.open_condition(wanted=condition, by=cast.lead, at=business_now())
    pauses.set_pause(
        lane="execution", kind="", agent="", reason="Storm", by=cast.lead, at=business_now()
    )
    a_person_closes(an_open_case(cast, subject="S-900"), by=cast.owner)


def enrich(cast: Cast, case: Case, *, times: int) -> None:
    """What people keep on a case: so many goals, lines of every sort and raised budgets."""
    at, case_id = business_now(), case.pk
    for number in range(times):
        goals.add_goal(case_id=case_id, label=f"Goal {number} of {times}", by=cast.owner, at=at)
        for sort in CaseLine.Sort.values:
            line = lines.NewLine(sort=sort, text=f"{sort} {number}", party="Bo")
            lines.write_line(case_id=case_id, line=line, by=cast.owner, at=at)
        limit = limits_of(case)[Resource.STEPS] + 1
        budgets.raise_budget(
            case_id=case_id, resource="steps", limit=limit, reason="Long", by=cast.lead, at=at
        )
    if not case.escalations.filter(ended_at=None).exists():
        ownership.escalate_to_lead(case_id=case_id, by=cast.owner, at=at, reason="Too dear")


def queries(person: Person, address: str) -> int:
    """How many queries the page takes."""
    client = Client()
    client.force_login(person)
    with CaptureQueriesContext(connection) as asked:
        assert client.get(address).status_code == 200
    return len(asked)


@pytest.mark.parametrize(
    "made", [revised, in_doubt, given_up_and_gone_back, found_out, out_of_reach]
)
def test_a_case_page_asks_at_most_twenty_queries_whatever_the_data(
    cast: Cast, sender: Sender, made: Callable[[Cast, Sender], Case]
) -> None:
    """Ten of each hang on it; a twentieth query is one for the whole page, not for a row."""
    case = made(cast, sender)
    surround(cast)
    enrich(cast, case, times=2)
    few = queries(cast.lead, f"/cases/{case.pk}/")
    enrich(cast, case, times=8)
    assert queries(cast.lead, f"/cases/{case.pk}/") == few <= MOST_ON_A_CASE


def test_a_version_more_is_no_query_more(cast: Cast, sender: Sender) -> None:
    case = revised(cast, sender)
    few = queries(cast.owner, f"/cases/{case.pk}/")
    for number in range(5, 9):
        a_round(case, cast, number)
    assert queries(cast.owner, f"/cases/{case.pk}/") == few


def a_busy_desk(cast: Cast, sender: Sender, *, subjects: Sequence[str]) -> None:
    """Cases that wait for different acts, some overdue, some of another desk."""
    for number, subject in enumerate(subjects):
        case = an_open_case(cast, subject=subject)
        agent_reads(case, (a_shipment(subject=subject), a_quote(f"Q-{number}")))
        enrich(cast, case, times=1)
        if number % 3 == 0:
            desk = Desk.objects.create(name=f"{subject} desk", zone="UTC", lead=cast.lead)
            Case.objects.filter(pk=case.pk).update(desk=desk)
    move_business_clock(by=timedelta(hours=30))
    escalate_overdue()


@pytest.mark.parametrize("view", View)
def test_the_queue_asks_at_most_twelve_queries_whatever_the_data(
    cast: Cast, sender: Sender, view: View
) -> None:
    """Also where nothing stands in the view, and the desk's next deadline is named instead."""
    revised(cast, sender)
    surround(cast)
    address = f"/?view={view.value}"
    assert queries(cast.auditor, address) <= MOST_ON_THE_QUEUE
    a_busy_desk(cast, sender, subjects=[f"S-{number}" for number in range(400, 407)])
    some = queries(cast.owner, address)
    a_busy_desk(cast, sender, subjects=[f"S-{number}" for number in range(500, 514)])
    assert queries(cast.owner, address) == some <= MOST_ON_THE_QUEUE


MANY = """
INSERT INTO cases_case (kind, case_type, subject, title, desk_id, owner_id, stage, stage_since,
    version, planning_round, opened_at, changed_at, decide_by, blocked_reason, blocked_from,
    blocked_tries, stage_reason, closed_by, closed_at)
SELECT 'freight_exception', 'E02', 'B-' || n, '', %(desk)s, %(owner)s, stage, business_now(),
    1, 1, business_now(), business_now(), business_now() + n * interval '1 minute', '', '',
    0, '', CASE stage WHEN 'closed' THEN 'x' ELSE '' END,
    CASE stage WHEN 'closed' THEN business_now() END
FROM generate_series(1, 4000) AS n,
    LATERAL (SELECT CASE WHEN n %% 20 = 0 THEN 'waiting_for_review' ELSE 'closed' END) AS s (stage);
INSERT INTO cases_escalation (case_id, cause, reason, to_id, started_at, ended_at, ended_reason)
SELECT id, 'not_decided', 'x', %(owner)s, business_now(),
    CASE WHEN id %% 20 > 0 THEN business_now() END, CASE WHEN id %% 20 > 0 THEN 'x' ELSE '' END
FROM cases_case;
INSERT INTO cases_proposal (case_id, number, state, state_reason, state_since, author, created_at,
    summary, facts, changes, currency, decide_by, digest)
SELECT id, 1, CASE stage WHEN 'closed' THEN 'released' ELSE 'ready' END, '', business_now(), '',
    business_now(), '', '[]', '[]', '', business_now(), ''
FROM cases_case;
INSERT INTO cases_proposedaction (proposal_id, position, action, parameters, depends_on)
SELECT id, 1, '', '{}', '[]' FROM cases_proposal WHERE state = 'released';
INSERT INTO cases_decision (case_id, proposal_id, kind, by_id, by_name, at, reason, digest,
    seen_case_version, nonce, valid_until, ended_at, ended_reason, carried_out)
SELECT case_id, id, 'release', %(owner)s, '', business_now(), '', '', 1, gen_random_uuid(),
    business_now(), business_now(), 'x', true
FROM cases_proposal WHERE state = 'released';
INSERT INTO cases_effect (decision_id, proposed_action_id, key, reference, state, state_since,
    state_reason, target_record_id, confirmed_at, adopted_at)
SELECT cases_decision.id, cases_proposedaction.id, gen_random_uuid(), 'E-' || cases_decision.id,
    'adopted', business_now(), '', '', business_now(), business_now()
FROM cases_decision JOIN cases_proposedaction USING (proposal_id);
"""


@pytest.mark.parametrize("view", View)
def test_the_queue_looks_at_open_cases_only_and_up_nothing_by_reading_a_table(
    cast: Cast, view: View
) -> None:
    """Nineteen of twenty cases are closed; each of the others finds its rows by an index."""
    with connection.cursor() as cursor:
        cursor.execute(MANY, {"desk": cast.desk.pk, "owner": cast.owner.pk})
        cursor.execute("ANALYZE")
    plan = by_deadline(condition_of(view, person=cast.owner)).explain()
    read_whole = set(re.findall(r"Seq Scan on (\w+)", plan))
    assert read_whole <= {"cases_desk", "cases_person"}
