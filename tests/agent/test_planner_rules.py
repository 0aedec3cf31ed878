"""P20: the rule planner chooses from the catalogue, always alike, and never what was refused."""

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from agent.planner.rules import RulePlanner
from cases.vocabulary.facts import FactSheet, Reading, Value
from cases.vocabulary.freight import FREIGHT
from cases.vocabulary.playbook import PlanKind, PlannedAction, check_plan, plan_from
from cases.vocabulary.work import PlanQuestion, TurnedDown
from tests.agent.world import EVENING, OAKLINE, SHIPMENT, quote_fields, shipment_fields

NEXT_DAY = datetime(2026, 11, 24, 14, 0, tzinfo=UTC)


def reading(record_type: str, record_id: str, fields: dict[str, Value]) -> Reading:
    """A successful reading in the evening."""
    return Reading(
        record_type=record_type, record_id=record_id, version=41, observed_at=EVENING, fields=fields
    )


def question(
    *, amounts: dict[str, int], refused: tuple[TurnedDown, ...] = (), now: datetime = EVENING
) -> PlanQuestion:
    """What the record asks about S-318 with these quotes."""
    return PlanQuestion(
        request_id=1,
        planning_round=1,
        kind="freight_exception",
        case_type="E02",
        sheet=FactSheet(
            subject_type="shipment",
            subject_id=SHIPMENT,
            readings=(
                reading("shipment", SHIPMENT, shipment_fields()),
                *(reading("quote", name, quote_fields(cents)) for name, cents in amounts.items()),
            ),
        ),
        turned_down=refused,
        now=now,
        answer=None,
    )


def turned_down(number: int, actions: tuple[PlannedAction, ...]) -> TurnedDown:
    """A refused proposal with these actions; their parameters come back in another order."""
    return TurnedDown(
        number=number,
        reason="too dear",
        actions=tuple(
            PlannedAction(
                action=planned.action,
                parameters=dict(reversed(list(planned.parameters.items()))),
                depends_on=planned.depends_on,
            )
            for planned in actions
        ),
    )


def quote_of(answer: object) -> str:
    """Which quote an answer books."""
    return str(plan_from(answer).actions[0].parameters["quote_id"])


def test_the_cheapest_rate_that_can_still_be_booked_is_chosen() -> None:
    assert quote_of(RulePlanner().plan(question(amounts={"A": 191_000, "B": 179_000}))) == "B"


def test_after_the_rates_ran_out_a_person_is_asked_instead_of_a_dead_rate_proposed() -> None:
    plan = plan_from(RulePlanner().plan(question(amounts={"A": 1}, now=NEXT_DAY)))
    assert plan.kind is PlanKind.ESCALATE


def test_when_the_only_plan_was_turned_down_a_person_is_asked_and_told_which() -> None:
    asked = question(amounts={})
    shipment = asked.sheet.readings[0]
    kept = {**shipment.fields, "carrier_assignment": OAKLINE}
    sheet = FactSheet(
        subject_type="shipment",
        subject_id=SHIPMENT,
        readings=(reading("shipment", SHIPMENT, kept),),
    )
    actions = FREIGHT.candidates(FREIGHT.types["E02"], sheet, EVENING)[0].actions
    answer = RulePlanner().plan(
        PlanQuestion(
            request_id=1,
            planning_round=2,
            kind=asked.kind,
            case_type=asked.case_type,
            sheet=sheet,
            turned_down=(turned_down(4, actions),),
            now=EVENING,
            answer=None,
        )
    )
    assert answer["kind"] == "escalate"
    assert "version 4" in answer["summary"]


def test_when_every_open_rate_was_turned_down_that_is_said_and_not_that_there_is_none() -> None:
    asked = question(amounts={"A": 191_000})
    actions = FREIGHT.candidates(FREIGHT.types["E02"], asked.sheet, EVENING)[0].actions
    again = question(amounts={"A": 191_000}, refused=(turned_down(3, actions),))
    answer = RulePlanner().plan(again)
    assert answer["kind"] == "escalate"
    assert "turned down" in answer["summary"]
    assert "version 3" in answer["summary"]


@given(
    amounts=st.dictionaries(
        st.text("ABCDEFGH", min_size=1, max_size=3),
        st.integers(min_value=1, max_value=10**9),
        max_size=5,
    ),
    data=st.data(),
)
def test_nothing_refused_comes_back_and_every_answer_is_in_the_catalogue(
    amounts: dict[str, int], data: st.DataObject
) -> None:
    asked = question(amounts=amounts)
    plans = FREIGHT.candidates(FREIGHT.types["E02"], asked.sheet, asked.now)
    proposals = [plan.actions for plan in plans if plan.actions]
    refused = data.draw(
        st.lists(st.sampled_from(proposals), max_size=4) if proposals else st.just([])
    )
    asked = question(
        amounts=amounts,
        refused=tuple(turned_down(n, actions) for n, actions in enumerate(refused, start=1)),
    )
    answer = RulePlanner().plan(asked)
    plan = plan_from(answer)
    check_plan(playbook=FREIGHT, plan=plan)
    assert plan.actions not in refused
    assert (plan.kind is PlanKind.PROPOSE) == any(actions not in refused for actions in proposals)
    assert RulePlanner().plan(asked) == answer
