"""What of a release is still to be done, and whether its facts still hold."""

from cases.models import Case, Decision, Effect
from cases.vocabulary.facts import FactChange, FactSheet, Value, compare, material_fact_from
from cases.vocabulary.playbooks import playbook_of


def changes_for_open_actions(
    *, case: Case, decision: Decision, sheet: FactSheet, supposing: Effect | None = None
) -> tuple[FactChange, ...]:
    """Changed material facts of actions still open, apart from what our own effects changed.

    `supposing` is an effect of unknown outcome that is supposed to have happened.
    """
    playbook = playbook_of(case.kind)
    done: set[int] = set()
    expected: dict[str, Value] = {}
    for effect in decision.effects.select_related("proposed_action"):
        if effect == supposing or effect.state in {Effect.State.CONFIRMED, Effect.State.ADOPTED}:
            planned = effect.proposed_action
            done.add(planned.position)
            for key, leaves in playbook.action(planned.action).leaves_behind.items():
                expected[key] = leaves(planned.parameters)
    open_facts = [
        fact
        for fact in map(material_fact_from, decision.proposal.facts)
        if not done.issuperset(fact.positions)
    ]
    return compare(specs=playbook.facts, material=open_facts, sheet=sheet, expected=expected)
