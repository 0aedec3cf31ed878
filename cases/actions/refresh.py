"""What was read for a handover, written for many cases at once, and what follows for each.

Each call is one transaction: readings, comparison, audit and what is due next. A refresh that dies
is continued by the next one, which finds the cases of finished calls read.
"""

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.db.models import Q, prefetch_related_objects

from cases.actions.batch import ChangeOfMany, changing_many, save_many
from cases.actions.evidence import (
    observation_of,
    outran_among,
    stand_at,
    tell_reading,
    untrusted_among,
    weigh,
    without_proposal,
)
from cases.actions.feeds import held_feed
from cases.models import Case, CaseSource, Observation, Proposal, Run, SourceRecord
from cases.models.case import open_cases
from cases.queries.refreshing import AT_REST, UNDER_WAY, rests_until
from cases.queries.sheets import sheet_among
from cases.vocabulary.actors import Actor
from cases.vocabulary.errors import Conflict
from cases.vocabulary.refreshing import CaseToRead, FeedGrant, NotRead, ReadingsBySubject
from cases.vocabulary.stages import Stage
from cases.vocabulary.work import Comparison, ReadOutcome, SourceReading

LEFT_TO_THE_REFRESH = timedelta(minutes=2)
"""So much later than the refresh would, a blocked case is tried on its own."""

type Key = tuple[str, str]
type Locked = list[tuple[Case, Run]]


@dataclass(frozen=True, kw_only=True)
class Seen:
    """A reading just written down, and the one before it."""

    observation: Observation
    before: Observation | None


@dataclass(kw_only=True)
class World:
    """What the locked cases rest on, loaded together: records, ready proposals, and what is new of
    the `system` that was read.
    """

    system: str
    seen: dict[int, Seen]
    records: dict[int, list[SourceRecord]] = field(default_factory=lambda: defaultdict(list))
    ready: dict[int, Proposal] = field(default_factory=dict)
    outrun: dict[int, str] = field(default_factory=dict)


def take_in(
    *,
    grant: FeedGrant,
    by: Actor,
    cases: Sequence[CaseToRead],
    told: ReadingsBySubject | NotRead,
    asked_at: datetime,
) -> int:
    """Keep what was read of these cases and weigh it, in one transaction; says of how many.

    `asked_at` is when the source was asked: a case is as fresh as that. What a worker holds is left
    to that worker, and comes again as long as it was not read.
    """
    with held_feed(grant=grant) as (_, at):
        rows = _locked([case.case_id for case in cases], at)
        world = World(system=grant.system, seen=_observe(grant.system, rows, told, asked_at))
        _load(rows, world)
        wait = told.retry_after if isinstance(told, NotRead) else timedelta(0)
        rests = rests_until(grant.handovers, now=at)
        with changing_many(cases=[case for case, _ in rows], by=by, at=at) as batch:
            for case, run in rows:
                rest = rests.get(case.desk_id)
                with batch.changing(case=case, run=run, rest_until=rest) as change:
                    _follow(change, world, asked_at=asked_at, wait=wait)
        _leave_to_the_agent(batch.failed, at)
    return len(rows) - len(batch.failed)


def _leave_to_the_agent(case_ids: Sequence[int], at: datetime) -> None:
    """A visit of its own finds out what is wrong with such a case, and says so on it."""
    Case.objects.filter(pk__in=case_ids).update(refresh_due_at=at)
    Run.objects.filter(case__in=case_ids).update(
        due_at=at, due_reason="It could not be refreshed with the others."
    )


def _locked(case_ids: Sequence[int], at: datetime) -> Locked:
    """Those of the cases that are refreshed here, locked with their runs; nobody holds them."""
    at_rest = [stage.value for stage in AT_REST]
    cases = Case.objects.filter(pk__in=case_ids).filter(
        Q(stage__in=[*at_rest, *(stage.value for stage in UNDER_WAY)])
        | Q(stage=Stage.BLOCKED.value, blocked_from__in=at_rest)
    )
    locked = list(
        cases.select_for_update(of=("self",), skip_locked=True)
        .select_related("desk__lead")
        .order_by("pk")
    )
    # After the lock: a join to an owner who just changed would show that there is none.
    prefetch_related_objects(locked, "owner", "goals")
    found = {case.pk: case for case in locked}
    free = Run.objects.filter(case__in=found).filter(Q(lease_until=None) | Q(lease_until__lte=at))
    runs = free.select_for_update(skip_locked=True).order_by("pk")
    return [(found[run.case_id], run) for run in runs]


def _observe(
    system: str, rows: Locked, told: ReadingsBySubject | NotRead, asked_at: datetime
) -> dict[int, Seen]:
    """Write the readings down, each record once; gives them by record."""
    by_subject = _failed(system, rows, told) if isinstance(told, NotRead) else told
    readings = {
        (reading.record_type, reading.record_id): reading
        for case, _ in rows
        for reading in by_subject[case.subject]
    }
    records = _records(system, readings)
    CaseSource.objects.bulk_create(
        [
            CaseSource(case=case, record=records[reading.record_type, reading.record_id])
            for case, _ in rows
            for reading in by_subject[case.subject]
            if reading.outcome is ReadOutcome.READ
        ],
        ignore_conflicts=True,
    )
    observations = Observation.objects.bulk_create(
        observation_of(record=record, reading=readings[key], at=asked_at)
        for key, record in records.items()
    )
    seen = {}
    for observation in observations:
        record = observation.record
        seen[record.pk] = Seen(observation=observation, before=record.latest)
        stand_at(record, observation)
    _unmark(list(records.values()), rows)
    fields = ("latest", "last_attempt", "highest_version", "named_at")
    save_many(SourceRecord, list(records.values()), fields)
    return seen


def _failed(system: str, rows: Locked, why: NotRead) -> dict[str, list[SourceReading]]:
    """Every record of the cases as one that could not be read."""
    found: dict[str, list[SourceReading]] = {case.subject: [] for case, _ in rows}
    links = CaseSource.objects.filter(case__in=[case for case, _ in rows], record__system=system)
    for subject, record_type, record_id in links.values_list(
        "case__subject", "record__record_type", "record__record_id"
    ):
        found[subject].append(
            SourceReading(
                system=system,
                record_type=record_type,
                record_id=record_id,
                outcome=ReadOutcome.FAILED,
                failure=why.reason,
            )
        )
    return found


def _records(system: str, keys: Collection[Key]) -> dict[Key, SourceRecord]:
    """The records of these types and ids, locked; made where they were never seen before."""
    SourceRecord.objects.bulk_create(
        [SourceRecord(system=system, record_type=kind, record_id=name) for kind, name in keys],
        ignore_conflicts=True,
    )
    found = list(
        SourceRecord.objects.filter(system=system, record_id__in=[name for _, name in keys])
        .select_for_update(of=("self",))
        .order_by("pk")
    )
    prefetch_related_objects(found, "latest", "last_attempt")  # after the lock, as above
    named = {(record.record_type, record.record_id): record for record in found}
    return {key: record for key, record in named.items() if key in keys}


def _unmark(records: Sequence[SourceRecord], rows: Locked) -> None:
    """What the feed named is read, unless a case was left out that rests on it: it comes again."""
    left_out = set(
        CaseSource.objects.filter(record__in=[item for item in records if item.named_at])
        .filter(case__in=open_cases(Case.objects.exclude(pk__in=[case.pk for case, _ in rows])))
        .filter(case__stage__in=[stage.value for stage in (*AT_REST, *UNDER_WAY)])
        .values_list("record_id", flat=True)
    )
    for record in records:
        was_read = record.last_attempt_id == record.latest_id
        if was_read and record.pk not in left_out:
            record.named_at = None


def _load(rows: Locked, world: World) -> None:
    cases = [case for case, _ in rows]
    links = CaseSource.objects.filter(case__in=cases).select_related(
        "record__latest", "record__last_attempt"
    )
    for link in links.order_by("record_id"):
        world.records[link.case_id].append(link.record)
    ready = Proposal.objects.filter(case__in=cases, state=Proposal.State.READY)
    world.ready = {proposal.case_id: proposal for proposal in ready}
    world.outrun = outran_among([proposal.pk for proposal in world.ready.values()])


def _follow(change: ChangeOfMany, world: World, *, asked_at: datetime, wait: timedelta) -> None:
    """What the readings mean for one case: it goes on, is blocked, or the agent has work again.

    Raises `Conflict` where one of its records was left out of what was told.
    """
    case, records = change.case, world.records[change.case.pk]
    for record in records:
        if new := world.seen.get(record.pk):
            tell_reading(change, new.observation, before=new.before)
    if reason := untrusted_among(records):
        _block(change, reason, wait)
        return
    for record in records:
        if record.system == world.system and record.pk not in world.seen:
            raise Conflict(f"{record} was left out of what the {world.system} system told.")
    case.refreshed_at = asked_at
    if case.current_stage in UNDER_WAY or case.is_out_of_budget:
        return
    sheet, ready = sheet_among(case, records), world.ready.get(case.pk)
    if ready is not None:
        outrun = world.outrun.get(ready.pk, "")
        weigh(change, sheet=sheet, ready=ready, outrun=outrun)
    elif without_proposal(change, sheet=sheet) is Comparison.PLAN:
        change.due(change.at, reason="A plan is to be prepared.")


def _block(change: ChangeOfMany, reason: str, wait: timedelta) -> None:
    """Blocked until the refresh tries again; should there be none by then, the agent tries."""
    case = change.case
    if case.current_stage in UNDER_WAY or case.is_out_of_budget:
        return
    change.block(reason=reason, at_least=wait)
    if case.next_try_at is not None:
        change.due(case.next_try_at + LEFT_TO_THE_REFRESH, reason="The source is tried again.")
