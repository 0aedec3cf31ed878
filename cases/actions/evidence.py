"""What was read of the outside, and what that means for the proposal that stands."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from cases.actions.attempts import doubt_open_attempts
from cases.actions.change import Change, working
from cases.actions.releases import effects_in_force, plan_anew, release_in_force
from cases.models import Case, CaseSource, Effect, Evidence, Observation, Proposal, SourceRecord
from cases.queries.sheets import sheet_of
from cases.vocabulary.actors import Actor
from cases.vocabulary.clocks import next_boundary
from cases.vocabulary.digest import digest_of
from cases.vocabulary.facts import (
    FactChange,
    FactSheet,
    compare,
    material_fact_from,
    went_back,
)
from cases.vocabulary.playbook import Playbook
from cases.vocabulary.playbooks import playbook_of, type_of
from cases.vocabulary.stages import Stage
from cases.vocabulary.work import Comparison, Grant, ReadOutcome, SourceReading

FIRST_RETRY = timedelta(seconds=30)
LONGEST_RETRY = timedelta(minutes=10)


def record_readings(*, grant: Grant, by: Actor, readings: Sequence[SourceReading]) -> None:
    """Keep every reading, failures included; a record seen for the first time is linked."""
    with working(grant=grant, by=by) as change:
        for reading in readings:
            record, _ = SourceRecord.objects.get_or_create(
                system=reading.system,
                record_type=reading.record_type,
                record_id=reading.record_id,
            )
            CaseSource.objects.get_or_create(case=change.case, record=record)
            _observe(change, record, reading)
        if all(reading.outcome is not ReadOutcome.FAILED for reading in readings):
            change.case.refreshed_at = change.at
        if not readings:
            change.nothing_to_do()


def _observe(change: Change, record: SourceRecord, reading: SourceReading) -> None:
    observation = Observation.objects.create(
        record=record,
        outcome=reading.outcome.value,
        observed_at=change.at,
        source_time=reading.source_time,
        version=reading.version,
        fingerprint=(
            digest_of(dict(reading.fields)) if reading.outcome is ReadOutcome.READ else ""
        ),
        fields=dict(reading.fields),
        failure=reading.failure,
    )
    record.last_attempt = observation
    if reading.outcome is ReadOutcome.FAILED:
        record.save(update_fields=("last_attempt",))
        change.record("source_failed", record=str(record), reason=reading.failure)
        return
    before = record.latest
    record.latest = observation
    if reading.version is not None:
        record.highest_version = max(reading.version, record.highest_version or 0)
    record.save(update_fields=("latest", "last_attempt", "highest_version"))
    change.record(
        "source_read",
        record=str(record),
        outcome=reading.outcome.value,
        version=reading.version,
        version_before=None if before is None else before.version,
        changed=before is None or before.fingerprint != observation.fingerprint,
    )


def compare_with_now(*, grant: Grant, by: Actor) -> Comparison:
    """Weigh the newest readings against what stands: retain, replace, clear, plan, act or block.

    Anything unreadable blocks the case; a saved value is never taken for a fresh one.
    """
    with working(grant=grant, by=by) as change:
        case = change.case
        failure = unreadable(case)
        if failure is not None:
            block_unread(change, failure)
            return Comparison.BLOCKED
        playbook = playbook_of(case.kind)
        sheet = sheet_of(case)
        if release_in_force(case) is not None:
            return _go_on_with_release(change)
        ready = case.proposals.filter(state=Proposal.State.READY).first()
        if ready is None:
            return _without_proposal(change)
        return _weigh(change, playbook, sheet, ready)


def _go_on_with_release(change: Change) -> Comparison:
    """Back to where the release was: unsettled attempts are looked up before new ones start."""
    doubt_open_attempts(change)
    states = set(effects_in_force(change.case).values_list("state", flat=True))
    change.record("source_compared", reason="Facts are readable; the release goes on.")
    change.due(change.at, reason="A release is to be carried out.")
    if Effect.State.UNKNOWN in states:
        change.enter(Stage.RECONCILING, reason="An attempt's outcome is unknown.")
        return Comparison.RETAIN
    if states & {Effect.State.ANSWERED, Effect.State.CONFIRMED}:
        change.enter(Stage.VERIFYING, reason="The target is read again.")
        return Comparison.RETAIN
    change.enter(Stage.EXECUTING, reason="The release is in force and facts are readable.")
    return Comparison.ACT


def _without_proposal(change: Change) -> Comparison:
    if change.case.current_stage in {Stage.ESCALATED, Stage.WAITING_FOR_ACCEPTANCE}:
        change.record("source_compared", reason="Read again; a person decides what happens next.")
        set_next_refresh(change)
        return Comparison.RETAIN
    change.enter(Stage.INVESTIGATING, reason="No proposal stands; a plan is prepared.")
    change.record("planning_due", reason="No proposal stands.", round=change.case.planning_round)
    return Comparison.PLAN


def _weigh(change: Change, playbook: Playbook, sheet: FactSheet, ready: Proposal) -> Comparison:
    changes = material_changes(case=change.case, proposal=ready, sheet=sheet)
    goals = type_of(kind=change.case.kind, code=change.case.case_type).goals
    specs = [playbook.goals[key] for key in goals]
    if all(goal.achieved(sheet) for goal in specs):
        credit = "; ".join(goal.credit(sheet) for goal in specs)
        _withdraw(change, ready, changes, credit)
        return Comparison.CLEAR
    expired = ready.valid_until is not None and ready.valid_until <= change.at
    if changes or expired:
        plan_anew(change, proposal=ready, changes=changes, expired=expired)
        return Comparison.REPLACE
    _retain(change, ready, sheet)
    return Comparison.RETAIN


def _withdraw(change: Change, ready: Proposal, changes: Sequence[FactChange], credit: str) -> None:
    ready.state, ready.state_since = Proposal.State.WITHDRAWN, change.at
    ready.state_reason = f"Nothing is left to do: {credit}."
    ready.save(update_fields=("state", "state_since", "state_reason"))
    change.record(
        "proposal_withdrawn",
        number=ready.number,
        reason=ready.state_reason,
        changes=[item.as_value() for item in changes],
    )
    change.enter(Stage.WAITING_FOR_ACCEPTANCE, reason=ready.state_reason)
    set_next_refresh(change)


def _retain(change: Change, ready: Proposal, sheet: FactSheet) -> None:
    for reading in sheet.readings:
        Evidence.objects.get_or_create(
            proposal=ready,
            observation_id=reading.observation_id,
            defaults={"bound_at": change.at},
        )
    subject = sheet.reading(sheet.subject_type, sheet.subject_id)
    change.record(
        "proposal_retained",
        number=ready.number,
        reason="Nothing material changed; the evidence is bound anew.",
        version_before=ready.subject_version,
        version=None if subject is None else subject.version,
    )
    change.enter(Stage.WAITING_FOR_REVIEW, reason=f"Proposal {ready.number} still holds.")
    set_next_refresh(change)
    wake_for_review(change, ready)


def material_changes(*, case: Case, proposal: Proposal, sheet: FactSheet) -> tuple[FactChange, ...]:
    """Material facts of the proposal that differ now; a source that went back counts as changed."""
    playbook = playbook_of(case.kind)
    material = [material_fact_from(value) for value in proposal.facts]
    changes = compare(specs=playbook.facts, material=material, sheet=sheet)
    subject = sheet.reading(sheet.subject_type, sheet.subject_id)
    if subject is not None and went_back(then=proposal.subject_version, now=subject.version):
        changes += (
            FactChange(
                key="source_version",
                label="Version of the source",
                record_type=sheet.subject_type,
                record_id=sheet.subject_id,
                then=str(proposal.subject_version),
                now=str(subject.version),
                material=True,
                why="The source went back to an older version, so nothing about it is certain.",
            ),
        )
    return changes


def unreadable(case: Case) -> Observation | None:
    """The failed reading of a record this case needs, if its newest attempt failed."""
    for record in case.sources.select_related("last_attempt").order_by("id"):
        attempt = record.last_attempt
        if attempt is not None and attempt.outcome == Observation.Outcome.FAILED:
            return attempt
    return None


def block_unread(change: Change, failure: Observation) -> None:
    """Block the case because a record cannot be read; tries are spaced out up to ten minutes."""
    tries = change.case.blocked_tries if change.case.current_stage is Stage.BLOCKED else 0
    record_type, record_id = failure.record.record_type, failure.record.record_id
    delay = min(FIRST_RETRY * 2 ** min(tries, 8), LONGEST_RETRY)
    change.block(
        reason=f"{record_type.capitalize()} {record_id} cannot be read: {failure.failure}.",
        next_try_at=change.at + delay,
    )


def set_next_refresh(change: Change, *, since: datetime | None = None) -> None:
    """The next reading is due at the first shift boundary after `since` (usually: after now)."""
    desk = change.case.desk
    change.case.refresh_due_at = next_boundary(
        after=since or change.at, zone=desk.zone, starts=tuple(desk.shift_starts)
    )
    change.due(change.case.refresh_due_at, reason="Shift handover: facts are read again.")


def wake_for_review(change: Change, proposal: Proposal) -> None:
    """Wake at the next shift boundary, or already when the proposal's own time runs out."""
    boundary: datetime = change.case.refresh_due_at or change.at
    if proposal.valid_until is not None and proposal.valid_until < boundary:
        change.due(proposal.valid_until, reason="The proposal's own time is over.")
