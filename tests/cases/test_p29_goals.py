"""P29: a case cannot close while a goal is neither achieved nor dropped by a person."""

import pytest

from cases.actions import closing, goals, lines
from cases.actions.withdrawal import withdraw_release
from cases.clock import business_now
from cases.models import Case, Goal
from cases.queries.goals import goals_of, uncarried_goals
from cases.queries.sheets import sheet_of
from cases.vocabulary.errors import Conflict, InvalidInput, NotFound, Refused
from cases.vocabulary.freight_plans import promise_about
from tests.cases.builders import (
    EVENING,
    EVENING_WORLD,
    OAKLINE,
    TEN_O_CLOCK,
    Cast,
    a_case_waiting_for_review,
    a_person_closes,
    a_quote,
    a_released_case,
    a_shipment,
    agent_reads,
    agent_starts_attempt,
    an_open_case,
    at_business_time,
    audit_of,
    current_proposal,
    drops_of,
    stage_of,
    target_answers,
    target_shows,
    unreadable,
)

CARRIER, TOLD = "The shipment has a carrier", "The customer knows the delivery time"
NOTICE = {
    "about": promise_about(window=TEN_O_CLOCK, scac="OAKX"),
    "sent_at": "2026-11-24T02:00:00Z",
    "sent_by": "J. Ortiz",
}
DONE_BY_HAND = a_shipment(42, carrier_assignment=OAKLINE, customer_notice=NOTICE)


def add(case: Case, cast: Cast, label: str = "Damage report filed") -> str:
    """The owner adds a goal; its reference."""
    goals.add_goal(case_id=case.pk, label=label, by=cast.owner, at=business_now())
    return str(Goal.objects.get(case=case, label=label).pk)


def settle(case: Case, cast: Cast, reference: str, state: Goal.State, why: str = "As told") -> None:
    """The owner settles a goal."""
    goals.settle_goal(
        case_id=case.pk,
        reference=reference,
        state=state,
        reason=why,
        by=cast.owner,
        at=business_now(),
    )


def accept(case: Case, cast: Cast, **drops: str) -> None:
    """The owner accepts the outcome."""
    closing.accept_outcome(case_id=case.pk, by=cast.owner, at=business_now(), drops=drops)


def words(case: Case) -> dict[str, tuple[str, bool]]:
    """Label to what people said and whether facts or effects show it."""
    found = goals_of(Case.objects.get(pk=case.pk), sheet_of(case))
    return {goal.label: (goal.state.value, bool(goal.shown)) for goal in found}


@pytest.fixture
def done(cast: Cast) -> Case:
    """Somebody did it all by hand; the agent saw that nothing is left to do."""
    case = a_case_waiting_for_review(cast)
    agent_reads(case, (DONE_BY_HAND,))
    assert stage_of(case) == "waiting_for_acceptance"
    return case


def test_p29_a_new_case_has_the_goals_of_its_type(cast: Cast) -> None:
    case = an_open_case(cast)
    rows = case.goals.values_list("key", "label", "state")
    assert list(rows) == [("carrier", CARRIER, "open"), ("customer_told", TOLD, "open")]


def test_p29_goals_count_on_a_case_from_before_they_were_written_down(cast: Cast) -> None:
    """Opened by an older release, or the playbook gained a goal since."""
    case = a_case_waiting_for_review(cast)
    case.goals.all().delete()
    assert list(words(case)) == [CARRIER, TOLD]
    with pytest.raises(Conflict, match=f"{CARRIER}.*{TOLD}"):
        closing.close_without_action(
            case_id=case.pk, by=cast.owner, at=business_now(), reason="Enough"
        )
    settle(case, cast, "carrier", Goal.State.DROPPED)
    assert case.goals.get().state == "dropped"


def test_p29_a_case_cannot_close_with_an_open_goal_and_the_refusal_names_it(cast: Cast) -> None:
    case = a_case_waiting_for_review(cast)
    with pytest.raises(Conflict, match=f"Still open: “{CARRIER}”, “{TOLD}”"):
        closing.close_without_action(
            case_id=case.pk, by=cast.owner, at=business_now(), reason="Enough"
        )
    assert stage_of(case) == "waiting_for_review"
    assert current_proposal(case).state == "ready"


def test_p29_one_act_drops_what_is_open_and_closes(cast: Cast) -> None:
    """Each with its own reason, by the person who closes, in the audit."""
    case = a_case_waiting_for_review(cast)
    a_person_closes(case, by=cast.owner)
    assert stage_of(case) == "closed"
    settled = list(case.goals.values_list("state", "settled_by", "reason"))
    assert settled == [("dropped", "Marta Ortega", "Not wanted any more.")] * 2
    dropped = [row.data["goal"] for row in audit_of(case) if row.event == "goal_dropped"]
    assert dropped == [CARRIER, TOLD]


def test_p29_a_refused_closing_drops_nothing(cast: Cast) -> None:
    """One reason of two: neither is dropped."""
    case = a_case_waiting_for_review(cast)
    with pytest.raises(Conflict, match=f"Still open: “{TOLD}”"):
        closing.close_without_action(
            case_id=case.pk,
            by=cast.owner,
            at=business_now(),
            reason="Enough",
            drops={"carrier": "Cancelled"},
        )
    assert set(case.goals.values_list("state", flat=True)) == {"open"}


@pytest.mark.parametrize("drops", [{"carrier": " "}, {"nonsense": "x"}, {"999": "x"}])
def test_p29_a_goal_is_dropped_with_a_reason_and_only_if_it_is_there(
    cast: Cast, drops: dict[str, str]
) -> None:
    case = a_case_waiting_for_review(cast)
    with pytest.raises((InvalidInput, NotFound)):
        closing.close_without_action(
            case_id=case.pk, by=cast.owner, at=business_now(), reason="x", drops=drops
        )
    assert stage_of(case) == "waiting_for_review"


def test_p29_what_the_facts_show_needs_nobody(cast: Cast, done: Case) -> None:
    assert words(done) == {CARRIER: ("open", True), TOLD: ("open", True)}
    accept(done, cast)
    assert stage_of(done) == "closed"


def test_p29_a_goal_of_ones_own_keeps_a_case_open_that_the_facts_would_let_close(
    cast: Cast, done: Case
) -> None:
    """The agent has nothing left to do; the person still has."""
    reference = add(done, cast)
    with pytest.raises(Conflict, match="Damage report filed"):
        accept(done, cast)
    settle(done, cast, reference, Goal.State.ACHIEVED, "Claim 4711")
    accept(done, cast)
    assert stage_of(done) == "closed"
    assert done.goals.get(pk=reference).reason == "Claim 4711"


def test_p29_a_goal_is_dropped_by_the_act_that_accepts(cast: Cast, done: Case) -> None:
    reference = add(done, cast)
    accept(done, cast, **{reference: "Receiver signed without remarks"})
    assert stage_of(done) == "closed"


def test_p29_facts_that_cannot_be_read_show_no_goal(cast: Cast) -> None:
    """Yesterday's carrier closes nothing today (P12)."""
    case = a_case_waiting_for_review(cast)
    agent_reads(case, (DONE_BY_HAND,))
    agent_reads(case, (unreadable(DONE_BY_HAND),))
    assert stage_of(case) == "blocked"
    assert set(drops_of(case)) == {"carrier", "customer_told"}
    with pytest.raises(Conflict, match="Still open"):
        closing.close_without_action(
            case_id=case.pk, by=cast.owner, at=business_now(), reason="It was done"
        )


def test_p29_the_next_shift_inherits_the_goals(cast: Cast) -> None:
    """A goal belongs to the case, not to whoever added it."""
    case = a_case_waiting_for_review(cast)
    reference = add(case, cast)
    goals.settle_goal(
        case_id=case.pk,
        reference=reference,
        state=Goal.State.DROPPED,
        reason="No damage after all",
        by=cast.colleague,
        at=business_now(),
    )
    row = Goal.objects.get(pk=reference)
    assert (row.added_by, row.settled_by) == ("Marta Ortega", "Dana Wu")
    with pytest.raises(Conflict, match="dropped by Dana Wu"):
        settle(case, cast, reference, Goal.State.ACHIEVED)


@pytest.mark.parametrize("who", ["admin", "auditor", "gone"])
def test_p29_only_operators_and_leads_keep_goals(cast: Cast, who: str) -> None:
    case = an_open_case(cast)
    with pytest.raises(Refused):
        goals.add_goal(case_id=case.pk, label="x", by=getattr(cast, who), at=business_now())
    with pytest.raises(Refused):
        lines.write_line(
            case_id=case.pk,
            line=lines.NewLine(sort="note", text="x"),
            by=getattr(cast, who),
            at=business_now(),
        )
    assert [row.event for row in audit_of(case)[-2:]] == ["act_refused"] * 2


def test_p29_the_agent_plans_nothing_for_goals_that_people_settled(cast: Cast) -> None:
    """Dropped both: the proposal is withdrawn, and the owner says that the job is done."""
    case = a_case_waiting_for_review(cast)
    settle(case, cast, "carrier", Goal.State.DROPPED, "Load cancelled")
    settle(case, cast, "customer_told", Goal.State.ACHIEVED, "By phone")
    agent_reads(case, (a_shipment(),))
    assert stage_of(case) == "waiting_for_acceptance"
    assert current_proposal(case).state == "withdrawn"
    assert "was achieved by Marta Ortega: By phone" in Case.objects.get(pk=case.pk).stage_reason


def test_p29_a_plan_for_settled_goals_alone_is_nothing_left_to_do(cast: Cast) -> None:
    """Settled before the first plan: none is proposed."""
    at_business_time(EVENING)
    case = an_open_case(cast)
    settle(case, cast, "carrier", Goal.State.DROPPED)
    settle(case, cast, "customer_told", Goal.State.DROPPED)
    agent_reads(case, EVENING_WORLD)
    assert stage_of(case) == "waiting_for_acceptance"
    assert not case.proposals.exists()


def test_p29_uncarried_goals_are_named_for_many_cases_at_once(
    cast: Cast, django_assert_num_queries: object
) -> None:
    """Carried by the ready proposal, shown by facts, or a person's: one answer for all."""
    carried = a_case_waiting_for_review(cast)
    own = a_case_waiting_for_review(cast, subject="S-319")
    add(own, cast)
    fresh = an_open_case(cast, subject="S-320")
    found = uncarried_goals([carried.pk, own.pk, fresh.pk])
    assert found == {own.pk: ("Damage report filed",), fresh.pk: (CARRIER, TOLD)}
    with django_assert_num_queries(5):  # type: ignore[operator]
        uncarried_goals([carried.pk, own.pk, fresh.pk])


def test_p29_an_adopted_effect_counts_only_until_the_facts_are_read_again(cast: Cast) -> None:
    """The carrier confirmed; then somebody took the carrier off, and the goal is open again."""
    case = a_released_case(cast)
    grant, order = agent_starts_attempt(case, EVENING_WORLD)
    assert order is not None
    target_answers(grant, order)
    target_shows(grant, order, state="confirmed")
    assert words(case)[CARRIER] == ("open", True)
    withdraw_release(case_id=case.pk, by=cast.owner, at=business_now(), reason="Stop")
    agent_reads(case, (a_shipment(43), a_quote(state="used")))
    assert words(case)[CARRIER] == ("open", False)
    assert set(drops_of(case)) == {"carrier", "customer_told"}
