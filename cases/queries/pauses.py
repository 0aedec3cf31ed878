"""What is paused, by whom and why, and what is still in flight."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from cases import policies
from cases.clock import business_now
from cases.models import Attempt, Case, Desk, Pause, Person, Run
from cases.queries.values import counted
from cases.vocabulary.clocks import local_text
from cases.vocabulary.lanes import Lane, lane_of
from cases.vocabulary.playbooks import PLAYBOOKS

LATEST = 10
EVERYTHING = str(Pause())
AFTER_RESUME = (
    "What arrived meanwhile is processed first; then facts are read again, and every release is "
    "checked anew before anything is sent."
)


@dataclass(frozen=True, kw_only=True)
class PauseRow:
    """One pause: its scope in words, who set it when and why, and who lifted it."""

    pause_id: int
    scope: str
    set_by: str
    set_at: datetime
    reason: str
    lifted_by: str
    lifted_at: datetime | None
    lift_reason: str


@dataclass(frozen=True, kw_only=True)
class InFlight:
    """What began before a pause and has not ended: no new call follows it.

    `visits` are claims still held in what is paused, `calls` those of them with a call under way
    that changes something, the oldest begun at `since`. All end by themselves, at the latest when
    the last claim runs out, in `seconds`. `abandoned` are calls whose worker is gone: they are
    looked up after the pause. `paused` says whether anything is paused at all.
    """

    paused: bool
    visits: int
    calls: int
    since: datetime | None
    seconds: int
    abandoned: int


@dataclass(frozen=True, kw_only=True)
class PausesPage:
    """The page of the kill switch.

    `against` is the sentence against pausing for this person, empty when they may.
    """

    standing: Sequence[PauseRow]
    lifted: Sequence[PauseRow]
    in_flight: InFlight
    lanes: Sequence[str]
    kinds: Sequence[tuple[str, str]]
    after_resume: str
    is_all_paused: bool
    against: str


def pause_row(pause: Pause) -> PauseRow:
    """A pause as pages show it."""
    return PauseRow(
        pause_id=pause.pk,
        scope=str(pause),
        set_by=pause.set_by,
        set_at=pause.set_at,
        reason=pause.reason,
        lifted_by=pause.lifted_by,
        lifted_at=pause.lifted_at,
        lift_reason=pause.lift_reason,
    )


def in_flight(*, at: datetime) -> InFlight:
    """What is still under way in everything that is paused; everywhere when nothing is."""
    standing = list(Pause.objects.filter(lifted_at=None))
    open_attempts = {
        attempt.effect.decision.case_id: attempt
        for attempt in Attempt.objects.filter(outcome=Attempt.Outcome.OPEN).select_related(
            "effect__decision"
        )
    }
    held = [
        run
        for run in Run.objects.filter(lease_until__gt=at).select_related("case")
        if not standing or any(_covers(pause, run.case) for pause in standing)
    ]
    calls = [
        attempt
        for run in held
        if (attempt := open_attempts.get(run.case_id)) is not None
        and attempt.fencing_token == run.fencing_token
    ]
    alive = set(Run.objects.filter(lease_until__gt=at).values_list("fencing_token", flat=True))
    ends = max((run.lease_until for run in held if run.lease_until is not None), default=at)
    return InFlight(
        paused=bool(standing),
        visits=len(held),
        calls=len(calls),
        since=min((attempt.started_at for attempt in calls), default=None),
        seconds=math.ceil((ends - at).total_seconds()),
        abandoned=sum(1 for left in open_attempts.values() if left.fencing_token not in alive),
    )


def _covers(pause: Pause, case: Case) -> bool:
    """Whether a case's work is in a pause's scope; a claim does not say which agent holds it."""
    lane = lane_of(case.current_stage).value
    return pause.lane in {"", lane} and pause.kind in {"", case.kind}


def in_flight_now() -> str:
    """What is under way now, as a sentence for a terminal; times are the desk's."""
    desk = Desk.objects.order_by("id").first()
    return _in_words(in_flight(at=business_now()), zone="UTC" if desk is None else desk.zone)


def _in_words(flight: InFlight, *, zone: str) -> str:
    if not flight.visits:
        words = "Nothing is in flight."
    else:
        begun = "" if flight.since is None else f", begun {local_text(flight.since, zone=zone)}"
        words = (
            f"{counted(flight.visits, 'visit')} still in flight, "
            f"{flight.calls or 'none'} with a call that changes something{begun}; "
            f"the last ends within {flight.seconds} s."
        )
    if flight.abandoned:
        left = counted(flight.abandoned, "call")
        words += f" {left} lost their worker and will be looked up."
    return words


def pauses_page(*, person: Person, at: datetime) -> PausesPage:
    """The page for this person, with what is in flight at `at`."""
    lifted = Pause.objects.filter(lifted_at__isnull=False).order_by("-lifted_at", "-id")[:LATEST]
    standing = [pause_row(pause) for pause in Pause.objects.filter(lifted_at=None)]
    return PausesPage(
        standing=standing,
        lifted=[pause_row(pause) for pause in lifted],
        in_flight=in_flight(at=at),
        lanes=[lane.value for lane in Lane],
        kinds=[(playbook.kind, playbook.label) for playbook in PLAYBOOKS.values()],
        after_resume=AFTER_RESUME,
        is_all_paused=any(pause.scope == EVERYTHING for pause in standing),
        against=policies.reason_against(policies.check_may_pause, person=person),
    )
