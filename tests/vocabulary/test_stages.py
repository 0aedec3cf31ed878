"""The stage table: complete, connected, and the only thing that decides."""

import pytest

from cases.vocabulary.errors import ImpossibleTransition
from cases.vocabulary.stages import STAGES, Stage, Turn, check_transition, diagram


def test_every_stage_has_a_rule_and_somebody_whose_turn_it_is() -> None:
    """Only a closed case is nobody's."""
    assert set(STAGES) == set(Stage)
    nobodys = {stage for stage, rule in STAGES.items() if rule.turn is Turn.NOBODY}
    assert nobodys == {Stage.CLOSED}


@pytest.mark.parametrize("present", Stage)
@pytest.mark.parametrize("following", Stage)
def test_only_what_the_table_lists_is_allowed(present: Stage, following: Stage) -> None:
    """The whole matrix, from each stage to each stage."""
    if following in STAGES[present].following:
        check_transition(present=present, following=following)
    else:
        with pytest.raises(ImpossibleTransition):
            check_transition(present=present, following=following)


@pytest.mark.parametrize("stage", [stage for stage in Stage if stage is not Stage.CLOSED])
def test_every_open_stage_leads_to_a_close(stage: Stage) -> None:
    """No stage is a trap."""
    reached, frontier = {stage}, {stage}
    while frontier:
        frontier = {after for at in frontier for after in STAGES[at].following} - reached
        reached |= frontier
    assert Stage.CLOSED in reached


@pytest.mark.parametrize("stage", sorted(set(Stage) - {Stage.CLOSED, Stage.BLOCKED}))
def test_p12_every_stage_in_which_sources_are_read_can_be_blocked(stage: Stage) -> None:
    """A source may fail at any time, also while a person has the case."""
    assert Stage.BLOCKED in STAGES[stage].following


def test_the_diagram_shows_every_arrow() -> None:
    """It is made from the table, so it cannot leave one out."""
    arrows = sum(len(rule.following) for rule in STAGES.values())
    assert diagram().count("-->") == arrows + 2
