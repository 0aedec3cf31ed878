"""Where a case stands, for the agent's next step."""

from collections.abc import Collection
from datetime import datetime

from cases.actions.releases import effects_at_the_target
from cases.clock import business_now
from cases.models import Case, Decision, Effect, Proposal
from cases.vocabulary.errors import NotFound
from cases.vocabulary.playbooks import playbook_of
from cases.vocabulary.stages import Stage
from cases.vocabulary.work import EffectState, EffectWork, RecordKey, Situation


def effect_work(effect: Effect, *, kind: str) -> EffectWork:
    """An effect as the agent sees it; its proposed action must be loaded."""
    planned = effect.proposed_action
    spec = playbook_of(kind).action(planned.action)
    return EffectWork(
        effect_id=effect.pk,
        position=planned.position,
        action=planned.action,
        target_record=spec.target_record or "",
        parameters=planned.parameters,
        key=effect.key,
        reference=effect.reference,
        state=EffectState(effect.state),
        target_record_id=effect.target_record_id,
    )


def _refresh_is_due(case: Case, now: datetime) -> bool:
    if case.refresh_due_at is not None and case.refresh_due_at <= now:
        return True
    return case.proposals.filter(state=Proposal.State.READY, valid_until__lte=now).exists()


def situation_of(*, case_id: int) -> Situation:
    """The case's present situation. Raises `NotFound` for an unknown case."""
    case = Case.objects.filter(pk=case_id).first()
    if case is None:
        raise NotFound(f"There is no case {case_id}.")
    now = business_now()
    in_force = case.decisions.filter(kind=Decision.Kind.RELEASE, ended_at=None).first()
    return Situation(
        case_id=case.pk,
        kind=case.kind,
        case_type=case.case_type,
        subject=case.subject,
        stage=case.current_stage,
        records=tuple(
            RecordKey(record_type=record_type, record_id=record_id)
            for record_type, record_id in case.sources.order_by("id").values_list(
                "record_type", "record_id"
            )
        ),
        release_in_force=in_force is not None,
        refresh_is_due=_refresh_is_due(case, now),
        try_is_due=case.next_try_at is not None and case.next_try_at <= now,
        effects=tuple(
            effect_work(effect, kind=case.kind) for effect in effects_at_the_target(case)
        ),
    )


def open_among(*, case_ids: Collection[int]) -> set[int]:
    """Those of the cases that are open. A closed case never opens again."""
    cases = Case.objects.filter(pk__in=case_ids).exclude(stage=Stage.CLOSED.value)
    return set(cases.values_list("pk", flat=True))
