"""Effects whose outcome is unknown: what is known of each, what comes next, who answers for it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from cases.models import Attempt, AuditEvent, Case, Effect, ReadBack
from cases.queries.catalogue import action_spec
from cases.queries.event_words import sentence_for
from cases.queries.loading import Loaded
from cases.queries.reports import reports_about, reports_to
from cases.queries.values import parameters_text, plain_text, said
from cases.vocabulary.playbook import ActionSpec
from cases.vocabulary.stages import Stage
from cases.vocabulary.work import SETTLE_WITHIN

ENDED = {
    Attempt.Outcome.OPEN: "under way",
    Attempt.Outcome.ANSWERED: "accepted by the target",
    Attempt.Outcome.UNKNOWN: "ended without a usable answer",
    Attempt.Outcome.REFUSED: "refused by the target",
    Attempt.Outcome.NO_EFFECT: "without effect",
    Attempt.Outcome.NOT_SENT: "never left Watchbill",
    Attempt.Outcome.REPEATED: "ended without a usable answer, then repeated under its key",
}


@dataclass(frozen=True, kw_only=True)
class AttemptLine:
    """One try: when, by which worker, how it ended and in whose words."""

    number: int
    started_at: datetime
    ended_at: datetime | None
    worker: str
    ended: str
    detail: str


@dataclass(frozen=True, kw_only=True)
class LookLine:
    """One fresh look at the target: found or not, and what the target said."""

    at: datetime
    word: str
    tone: str
    said: str


@dataclass(frozen=True, kw_only=True)
class ReportLine:
    """What an outside system reported about it, in words; a hint, never a proof."""

    at: datetime
    said: str


@dataclass(frozen=True, kw_only=True)
class UnknownOutcome:
    """One effect nobody knows the outcome of.

    `settle_by` is its deadline; `next_step` what the agent does and `next_at` when. `gave_up`: the
    agent looks no more, and a person finds out.
    """

    effect_id: int
    describes: str
    label: str
    reference: str
    key: str
    parameters: Sequence[tuple[str, str]]
    attempts: Sequence[AttemptLine]
    looks: Sequence[LookLine]
    reports: Sequence[ReportLine]
    since: datetime
    settle_by: datetime
    is_overdue: bool
    next_step: str
    next_at: datetime | None
    gave_up: bool


@dataclass(frozen=True, kw_only=True)
class Finding:
    """What a person found out last, while the case still waits for a word on how it goes on."""

    at: datetime
    by: str
    reference: str
    happened: bool
    note: str


def unknown_outcomes(loaded: Loaded, *, at: datetime) -> tuple[UnknownOutcome, ...]:
    """Every effect of the case whose outcome is unknown, oldest first.

    One query for what was reported about them; none when no outcome is unknown.
    """
    unknown = [effect for effect in loaded.effects if effect.state == Effect.State.UNKNOWN]
    if not unknown:
        return ()
    first = min(effect.decision.at for effect in unknown)
    reports = list(reports_to(loaded.case.pk).filter(at__gte=first))
    return tuple(_outcome(loaded, effect, reports, at) for effect in unknown)


def unsettled(outcomes: Sequence[UnknownOutcome]) -> str:
    """The reference of the oldest unknown outcome, or empty."""
    return outcomes[0].reference if outcomes else ""


def finding_of(case: Case) -> Finding | None:
    """The newest finding since the case was handed to a person; none elsewhere. One query."""
    if case.underlying_stage is not Stage.ESCALATED:
        return None
    event = (
        AuditEvent.objects.filter(
            case_id=case.pk, event="finding_recorded", at__gte=case.stage_since
        )
        .order_by("-sequence")
        .first()
    )
    if event is None:
        return None
    return Finding(
        at=event.at,
        by=event.actor_name,
        reference=str(event.data["reference"]),
        happened=bool(event.data["happened"]),
        note=str(event.data["reason"]),
    )


def _outcome(
    loaded: Loaded, effect: Effect, reports: Sequence[AuditEvent], at: datetime
) -> UnknownOutcome:
    case, planned = loaded.case, effect.proposed_action
    spec = action_spec(loaded.playbook, planned.action, parameters=planned.parameters)
    # A late report makes the agent look once more, and gives it the same time again.
    looked_since = effect.state_since if effect.decision.ended_at is None else case.stage_since
    settle_by = looked_since + SETTLE_WITHIN
    gave_up = case.underlying_stage is Stage.ESCALATED
    next_step, next_at = ("", None) if gave_up else _next(case, at)
    return UnknownOutcome(
        effect_id=effect.pk,
        describes=said(lambda: spec.describe(planned.parameters), otherwise=spec.label),
        label=spec.label,
        reference=effect.reference,
        key=str(effect.key),
        parameters=parameters_text(spec=spec, parameters=planned.parameters),
        attempts=tuple(_attempt(attempt) for attempt in effect.attempts.all()),
        looks=tuple(_look(spec, planned.parameters, look) for look in effect.read_backs.all()),
        reports=tuple(map(_report, reports_about(effect, among=reports))),
        since=effect.state_since,
        settle_by=settle_by,
        is_overdue=settle_by <= at,
        next_step=next_step,
        next_at=next_at,
        gave_up=gave_up,
    )


def _next(case: Case, at: datetime) -> tuple[str, datetime | None]:
    """What the agent does about it next, and when."""
    run = case.run
    if run.lease_until is not None and run.lease_until > at:
        return f"A worker is at it now ({run.worker}); its claim ends", run.lease_until
    if case.is_out_of_budget:
        return f"It is not looked up now. {case.blocked_reason}", None
    if case.current_stage is Stage.BLOCKED:
        return f"It cannot be looked up now. {case.blocked_reason} Next try", case.next_try_at
    if run.due_at is None:
        return "Nothing is planned. Read the sources again.", None
    return f"{run.due_reason} Next look", run.due_at


def _attempt(attempt: Attempt) -> AttemptLine:
    return AttemptLine(
        number=attempt.number,
        started_at=attempt.started_at,
        ended_at=attempt.ended_at,
        worker=attempt.worker,
        ended=ENDED[Attempt.Outcome(attempt.outcome)],
        detail=attempt.detail,
    )


def _look(spec: ActionSpec, parameters: Mapping[str, Any], look: ReadBack) -> LookLine:
    state = f"state {look.target_state}" if look.target_state else ""
    if not look.found:
        word, tone, heard = "not found", "none", look.detail
    elif look.matches:
        word, tone, heard = "found, as released", "done", look.detail
    else:
        word, tone = "found, but not as released", "changed"
        heard = "; ".join([*_differences(spec, parameters, look.fields), look.detail])
    return LookLine(
        at=look.at,
        word=word,
        tone=tone,
        said=" · ".join(part for part in (state, heard.strip("; ")) if part),
    )


def _report(row: AuditEvent) -> ReportLine:
    return ReportLine(at=row.at, said=sentence_for(event=row.event, data=row.data))


def _differences(
    spec: ActionSpec, parameters: Mapping[str, Any], fields: Mapping[str, Any]
) -> list[str]:
    """What the target's record says otherwise than it was released."""
    found = []
    for check in spec.reads_back:
        wanted, now = parameters.get(check.parameter), fields.get(check.field)
        if now == wanted:
            continue
        ours, theirs = (
            _in_words(spec, check.parameter, wanted),
            _in_words(spec, check.parameter, now),
        )
        found.append(f"{ours[0]} {theirs[1]} instead of {ours[1]}")
    return found


def _in_words(spec: ActionSpec, name: str, value: Any) -> tuple[str, str]:
    """A parameter's label with a value in words."""
    words = parameters_text(spec=spec, parameters={name: value})
    return words[0] if words else (name, plain_text(value))
