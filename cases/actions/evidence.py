"""What was read of the outside, and what that means for the proposal that stands."""

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime

from django.db.models import F

from cases.actions.attempts import doubt_open_attempts, give_up_if_overdue
from cases.actions.boundaries import HANDOVER, boundary_after
from cases.actions.change import Change, working
from cases.actions.releases import (
    AT_THE_TARGET,
    effects_in_force,
    plan_anew,
    release_in_force,
    withdraw,
)
from cases.models import Case, CaseSource, Effect, Evidence, Observation, Proposal, SourceRecord
from cases.queries.goals import goal_credit, open_goals
from cases.queries.sheets import absence_in, sheet_of
from cases.vocabulary.actors import Actor
from cases.vocabulary.digest import digest_of
from cases.vocabulary.facts import (
    FactChange,
    FactSheet,
    compare,
    first_expiry,
    material_fact_from,
    went_back,
)
from cases.vocabulary.playbooks import playbook_of
from cases.vocabulary.stages import Stage
from cases.vocabulary.work import Comparison, Grant, ReadOutcome, SourceReading


def record_readings(
    *, grant: Grant, by: Actor, readings: Sequence[SourceReading], asked_at: datetime
) -> None:
    """Keep every reading, failures included; a record seen for the first time is linked.

    `asked_at` is when the source was asked: only what happened before that is surely in them.
    """
    with working(grant=grant, by=by) as change:
        for reading in readings:
            record, _ = SourceRecord.objects.get_or_create(
                system=reading.system,
                record_type=reading.record_type,
                record_id=reading.record_id,
            )
            CaseSource.objects.get_or_create(case=change.case, record=record)
            _observe(change, record, reading, asked_at)
        if all(reading.outcome is not ReadOutcome.FAILED for reading in readings):
            change.case.refreshed_at = asked_at
        if not readings:
            change.nothing_to_do()


def _observe(
    change: Change, record: SourceRecord, reading: SourceReading, asked_at: datetime
) -> None:
    observation = observation_of(record=record, reading=reading, at=asked_at)
    observation.save(force_insert=True)
    before = record.latest
    stand_at(record, observation)
    record.save(update_fields=("latest", "last_attempt", "highest_version"))
    tell_reading(change, observation, before=before)


def observation_of(*, record: SourceRecord, reading: SourceReading, at: datetime) -> Observation:
    """The row, not saved yet, of a reading that was asked for at `at`."""
    fields = dict(reading.fields)
    return Observation(
        record=record,
        outcome=reading.outcome.value,
        observed_at=at,
        source_time=reading.source_time,
        version=reading.version,
        etag=reading.etag,
        fingerprint=digest_of(fields) if reading.outcome is ReadOutcome.READ else "",
        fields=fields,
        failure=reading.failure,
        holds_until=first_expiry(fields.values()),
    )


def stand_at(record: SourceRecord, observation: Observation) -> None:
    """The record stands where it was seen last; where it could not be read, only that is noted."""
    record.last_attempt = observation
    if observation.outcome == Observation.Outcome.FAILED:
        return
    record.latest = observation
    if observation.version is not None:
        record.highest_version = max(observation.version, record.highest_version or 0)


def tell_reading(change: Change, observation: Observation, *, before: Observation | None) -> None:
    """Put a reading on the case's audit, and whether it differs from the one before."""
    record = str(observation.record)
    if observation.outcome == Observation.Outcome.FAILED:
        change.record("source_failed", record=record, reason=observation.failure)
        return
    change.record(
        "source_read",
        record=record,
        outcome=observation.outcome,
        version=observation.version,
        version_before=None if before is None else before.version,
        changed=before is None or before.fingerprint != observation.fingerprint,
    )


def compare_with_now(*, grant: Grant, by: Actor) -> Comparison:
    """Weigh the newest readings against what stands: retain, replace, clear, plan, act or block.

    Anything unreadable blocks the case; a saved value is never taken for a fresh one.
    """
    with working(grant=grant, by=by) as change:
        case = change.case
        if reason := untrusted(case):
            if not give_up_if_overdue(change, reason):
                change.block(reason=reason)
            return Comparison.BLOCKED
        playbook_of(case.kind)  # raises for a kind that is no longer run
        sheet = sheet_of(case)
        if release_in_force(case) is not None:
            return _go_on_with_release(change)
        ready = case.proposals.filter(state=Proposal.State.READY).first()
        if ready is None:
            return without_proposal(change, sheet=sheet)
        return weigh(change, sheet=sheet, ready=ready, outrun=outran(ready))


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


PEOPLE_DECIDE = frozenset({Stage.ESCALATED, Stage.WAITING_FOR_ACCEPTANCE})


def without_proposal(change: Change, *, sheet: FactSheet) -> Comparison:
    """Nothing is proposed: plan, unless a person has the case and the facts leave it so."""
    case = change.case
    stage = case.underlying_stage
    if stage in AT_THE_TARGET:  # a late report is being looked into
        change.record("source_compared", reason="Facts are readable; the target is looked at.")
        change.enter(stage, reason="The target is looked at after a late report.")
        change.due(change.at, reason="The target is read back.")
        return Comparison.RETAIN
    undone = open_goals(case, sheet)
    if stage is Stage.ESCALATED or (stage in PEOPLE_DECIDE and not undone):
        change.record("source_compared", reason="Read again; a person decides what happens next.")
        change.enter(stage, reason=case.stage_reason)
        set_next_refresh(change)
        return Comparison.RETAIN
    if reason := absence_in(sheet):
        change.block(reason=reason)
        return Comparison.BLOCKED
    change.enter(Stage.INVESTIGATING, reason="No proposal stands; a plan is prepared.")
    change.record("planning_due", reason="No proposal stands.", round=case.planning_round)
    return Comparison.PLAN


def weigh(change: Change, *, sheet: FactSheet, ready: Proposal, outrun: str) -> Comparison:
    """Weigh the proposal that is ready: retain, replace or clear. `outrun` as `outran` tells it.

    Where the subject is gone the proposal is stale, and the case blocked.
    """
    if not open_goals(change.case, sheet):
        reason = f"Nothing is left to do: {goal_credit(change.case, sheet)}."
        withdraw(change, proposal=ready, reason=reason)
        change.enter(Stage.WAITING_FOR_ACCEPTANCE, reason=reason)
        set_next_refresh(change)
        return Comparison.CLEAR
    changes = material_changes(case=change.case, proposal=ready, sheet=sheet)
    expired = ready.valid_until is not None and ready.valid_until <= change.at
    absence = absence_in(sheet)
    if changes or expired or outrun or absence:
        said = outrun or absence
        plan_anew(change, proposal=ready, changes=changes, expired=expired, said=said)
        if absence:
            change.block(reason=absence)
            return Comparison.BLOCKED
        return Comparison.REPLACE
    _retain(change, ready, sheet)
    return Comparison.RETAIN


def _retain(change: Change, ready: Proposal, sheet: FactSheet) -> None:
    change.add_missing(
        [
            Evidence(proposal=ready, observation_id=reading.observation_id, bound_at=change.at)
            for reading in sheet.readings
        ]
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
    return compare(specs=playbook.facts, material=material, sheet=sheet)


def outran(proposal: Proposal) -> str:
    """Why a proposal stands on more than its sources still tell, or an empty string.

    A source that went back and was then trusted again has forgotten what the proposal was made on,
    so whatever its facts say now, the proposal does not come back with them (P13).
    """
    return outran_among([proposal.pk]).get(proposal.pk, "")


def outran_among(proposals: Collection[int]) -> dict[int, str]:
    """The same for many proposals by id, where there is something to say; one query."""
    forgotten = Evidence.objects.filter(
        proposal__in=proposals,
        observation__record__cases=F("proposal__case"),
        observation__version__gt=F("observation__record__latest__version"),
    ).select_related("observation__record__latest")
    found: dict[int, str] = {}
    for gone in forgotten.order_by("-id"):
        record = gone.observation.record
        now = "?" if record.latest is None else record.latest.version
        version = gone.observation.version
        found[gone.proposal_id] = f"Made on {record} version {version}, which went back to {now}."
    return found


def untrusted(case: Case) -> str:
    """Why the newest readings cannot be relied on, or an empty string.

    A record that could not be read, or whose source went back to an older version than one already
    seen (a restore, a stale replica): then nothing about it is certain.
    """
    return untrusted_among(case.sources.select_related("last_attempt", "latest").order_by("id"))


def untrusted_among(records: Iterable[SourceRecord]) -> str:
    """The same of records with `latest` and `last_attempt` loaded."""
    for record in records:
        name = f"{record.record_type.capitalize()} {record.record_id}"
        attempt, latest = record.last_attempt, record.latest
        if attempt is not None and attempt.outcome == Observation.Outcome.FAILED:
            return f"{name} cannot be read: {attempt.failure}."
        if latest is not None and went_back(then=record.highest_version, now=latest.version):
            return (
                f"{name} went back to version {latest.version} after {record.highest_version}, "
                "so nothing about it is certain. Look at the source; a lead can trust it again."
            )
    return ""


def set_next_refresh(change: Change) -> None:
    """After a reading: due at the first shift boundary after it.

    A boundary that passed, or a reading somebody asked for, while this one was being weighed stays
    due at once.
    """
    case = change.case
    read_at = case.refreshed_at or change.at
    missed = case.refresh_due_at is not None and read_at < case.refresh_due_at <= change.at
    if not missed:
        case.refresh_due_at = change.rest_until or boundary_after(case, read_at)
    change.due(case.refresh_due_at, reason=HANDOVER)


def wake_for_review(change: Change, proposal: Proposal) -> None:
    """Wake at the next shift boundary, or already when the proposal's own time runs out."""
    boundary: datetime = change.case.refresh_due_at or change.at
    if proposal.valid_until is not None and proposal.valid_until < boundary:
        change.due(proposal.valid_until, reason="The proposal's own time is over.")
