"""P11 and P12: a refresh retains, replaces or clears, each explained; unreadable means blocked."""

from functools import partial

from cases.actions import closing, evidence, runs
from cases.clock import business_now
from cases.models import Case, Proposal, Run
from cases.queries.situation import situation_of
from cases.vocabulary.freight_plans import promise_about
from cases.vocabulary.work import Comparison
from tests.cases.builders import (
    AGENT,
    EVENING_WORLD,
    MORNING,
    MORNING_WORLD,
    OAKLINE,
    TWO_O_CLOCK,
    Cast,
    a_case_waiting_for_review,
    a_grant,
    a_quote,
    a_shipment,
    agent_reads,
    an_open_case,
    at_business_time,
    audit_of,
    current_proposal,
    stage_of,
    unreadable,
)


def test_p11_nothing_material_retains_the_proposal_and_rebinds_the_evidence(cast: Cast) -> None:
    """41 → 43 with a rounded weight: the same digest stays releasable, on newer evidence."""
    case = a_case_waiting_for_review(cast)
    before = current_proposal(case)
    bound = before.evidence.count()
    outcome = agent_reads(case, (a_shipment(43, weight="18300"), a_quote()))
    after = current_proposal(case)
    assert outcome is Comparison.RETAIN
    assert (after.number, after.digest, after.state) == (1, before.digest, "ready")
    assert after.evidence.count() == bound + 2
    retained = next(row for row in audit_of(case) if row.event == "proposal_retained")
    assert (retained.data["version_before"], retained.data["version"]) == (41, 43)


def test_p11_a_material_change_replaces_it_and_lists_each_change(cast: Cast) -> None:
    """The night of S-318: three changes, the employee's carrier kept, the old version on file."""
    case = a_case_waiting_for_review(cast)
    at_business_time(MORNING)
    assert agent_reads(case, MORNING_WORLD) is Comparison.REPLACE
    old, new = case.proposals.get(number=1), case.proposals.get(number=2)
    assert old.state == Proposal.State.STALE
    assert [change["key"] for change in new.changes] == [
        "delivery_window",
        "rate_expiry",
        "carrier_assignment",
    ]
    actions = [row.action for row in new.actions.all()]
    assert actions == ["keep_assigned_carrier", "send_customer_update"]
    assert new.actions.get(position=1).parameters["assigned_by"] == "J. Ortiz"
    assert stage_of(case) == "waiting_for_review"


def test_p11_only_the_clock_ran_out_makes_it_expired_and_asks_for_a_current_rate(
    cast: Cast,
) -> None:
    """An old quote is invalid; the plan uses one that can still be booked."""
    case = a_case_waiting_for_review(cast)
    at_business_time(MORNING)
    current = a_quote("QX-90", amount_minor=195000, expires_at="2026-11-24T20:00:00Z")
    agent_reads(case, (a_shipment(), a_quote(), current))
    assert case.proposals.get(number=1).state == Proposal.State.EXPIRED
    assert current_proposal(case).actions.get(position=1).parameters["quote_id"] == "QX-90"


def test_p11_without_any_rate_a_person_is_asked(cast: Cast) -> None:
    """No carrier and no rate: no plan is invented."""
    case = a_case_waiting_for_review(cast)
    at_business_time(MORNING)
    agent_reads(case, (a_shipment(), a_quote(state="expired")))
    assert stage_of(case) == "escalated"
    assert case.proposals.count() == 1


def test_p11_nothing_left_to_do_clears_it_and_credits_who_did_it(cast: Cast) -> None:
    """A colleague assigned a carrier and told the customer: the proposal is withdrawn."""
    case = a_case_waiting_for_review(cast)
    notice = {
        "about": promise_about(window=TWO_O_CLOCK, scac="OAKX"),
        "sent_at": "2026-11-24T12:00:00Z",
        "sent_by": "J. Ortiz",
    }
    done = a_shipment(
        43,
        delivery_window=TWO_O_CLOCK,
        carrier_assignment=OAKLINE,
        customer_notice=notice,
    )
    assert agent_reads(case, (done, a_quote())) is Comparison.CLEAR
    proposal = current_proposal(case)
    assert proposal.state == Proposal.State.WITHDRAWN
    assert "J. Ortiz" in proposal.state_reason
    assert stage_of(case) == "waiting_for_acceptance"


def test_p11_a_stale_proposal_does_not_come_back_when_the_facts_do(cast: Cast) -> None:
    """Old facts again are a new version, never a revival."""
    case = a_case_waiting_for_review(cast)
    agent_reads(case, (a_shipment(42, delivery_window=TWO_O_CLOCK), a_quote()))
    agent_reads(case, (a_shipment(43), a_quote()))
    states = dict(case.proposals.values_list("number", "state"))
    assert states == {1: "stale", 2: "stale", 3: "ready"}


def test_p13_a_source_that_went_back_is_not_trusted(cast: Cast) -> None:
    """Version 42, then 41 from an old replica: blocked, and no plan is made on it."""
    case = a_case_waiting_for_review(cast)
    agent_reads(case, (a_shipment(42, delivery_window=TWO_O_CLOCK), a_quote()))
    assert agent_reads(case, (a_shipment(41), a_quote())) is Comparison.BLOCKED
    case.refresh_from_db()
    assert "went back to version 41 after 42" in case.blocked_reason
    assert case.proposals.count() == 2


def test_p11_an_escalated_case_blocks_and_comes_back_to_the_person(cast: Cast) -> None:
    """Its source fails at the handover: blocked with the next try, then the lead's again."""
    case = a_case_waiting_for_review(cast)
    agent_reads(case, (a_shipment(42), a_quote(state="withdrawn")))
    assert stage_of(case) == "escalated"
    agent_reads(case, (unreadable(a_shipment(42)), a_quote(state="withdrawn")))
    assert stage_of(case) == "blocked"
    agent_reads(case, (a_shipment(42), a_quote(state="withdrawn")))
    assert stage_of(case) == "escalated"


def test_p29_an_outcome_that_came_undone_is_planned_again(cast: Cast) -> None:
    """The carrier fell off again while the case waited for acceptance."""
    case = a_case_waiting_for_review(cast)
    about = promise_about(window=TWO_O_CLOCK, scac="OAKX")
    notice = {"about": about, "sent_at": "2026-11-24T12:00:00Z", "sent_by": "J. Ortiz"}
    told = partial(a_shipment, delivery_window=TWO_O_CLOCK, customer_notice=notice)
    agent_reads(case, (told(43, carrier_assignment=OAKLINE), a_quote()))
    assert stage_of(case) == "waiting_for_acceptance"
    assert agent_reads(case, (told(44), a_quote())) is Comparison.PLAN
    assert stage_of(case) == "waiting_for_review"


def test_p25_a_reading_asked_for_while_another_is_weighed_is_not_lost(cast: Cast) -> None:
    """The facts being weighed are older than the request, so they are read once more."""
    case = a_case_waiting_for_review(cast)
    grant = a_grant(case)
    evidence.record_readings(grant=grant, by=AGENT, readings=EVENING_WORLD, asked_at=business_now())
    closing.refresh_now(case_id=case.pk, by=cast.owner, at=business_now())
    evidence.compare_with_now(grant=grant, by=AGENT)
    runs.let_go(grant=grant)
    assert situation_of(case_id=case.pk).refresh_is_due
    run = Run.objects.get(case=case)
    assert run.due_at is not None and run.due_at <= business_now()


def test_p12_an_unreadable_source_blocks_with_owner_reason_and_next_try(cast: Cast) -> None:
    """The saved value stays visible as yesterday's; nothing advances."""
    case = a_case_waiting_for_review(cast)
    outcome = agent_reads(case, (unreadable(a_shipment()), a_quote()))
    case.refresh_from_db()
    assert outcome is Comparison.BLOCKED
    assert case.stage == "blocked"
    assert case.owner == cast.owner
    assert "503" in case.blocked_reason
    assert case.next_try_at is not None and case.next_try_at > business_now()
    assert current_proposal(case).state == Proposal.State.READY
    record = case.sources.get(record_type="shipment")
    assert record.latest is not None and record.latest.version == 41
    assert record.last_attempt is not None and record.last_attempt.outcome == "failed"


def test_p12_a_blocked_case_without_an_owner_goes_to_the_desks_lead(cast: Cast) -> None:
    """Blocked is always somebody's."""
    at_business_time(MORNING)
    case = an_open_case(cast)
    Case.objects.filter(pk=case.pk).update(owner=None)
    agent_reads(case, (unreadable(a_shipment()),))
    case.refresh_from_db()
    assert case.owner == cast.lead


def test_p12_tries_are_spaced_out_and_counted(cast: Cast) -> None:
    """Three failures are three tries, each later than the one before."""
    case = a_case_waiting_for_review(cast)
    delays = []
    for _ in range(3):
        agent_reads(case, (unreadable(a_shipment()), a_quote()))
        case.refresh_from_db()
        assert case.next_try_at is not None
        delays.append((case.next_try_at - case.changed_at).total_seconds())
    assert case.blocked_tries == 3
    assert delays == [30.0, 60.0, 120.0]


def test_p12_when_the_source_is_back_the_proposal_is_weighed_again(cast: Cast) -> None:
    """Nothing changed meanwhile: the same version can be released again."""
    case = a_case_waiting_for_review(cast)
    agent_reads(case, (unreadable(a_shipment()), a_quote()))
    assert agent_reads(case, EVENING_WORLD) is Comparison.RETAIN
    case.refresh_from_db()
    assert (case.stage, case.blocked_reason, case.next_try_at) == ("waiting_for_review", "", None)
