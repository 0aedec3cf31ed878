"""What people keep on a case for whoever comes after them: goals, lines, promises."""

from dataclasses import dataclass
from datetime import datetime

from cases import policies
from cases.models import Case, Person
from cases.queries.goals import GoalStanding, not_carried, standings, work_in
from cases.queries.lines import ORDER, LineView, PromiseView, lines_in_order, promises_by
from cases.queries.loading import Loaded
from cases.queries.people import reading_zone
from cases.queries.sources import sheet_from
from cases.vocabulary.stages import Stage


@dataclass(frozen=True, kw_only=True)
class Notebook:
    """Goals with where they stand, lines that stand, and promises our effects made.

    `zones` are the IANA zones in which a due time may be typed: the place's, the desk's, the
    reader's. `against` is the sentence against writing, empty when this person may.
    """

    goals: tuple[GoalStanding, ...]
    lines: tuple[LineView, ...]
    promises: tuple[PromiseView, ...]
    sorts: tuple[tuple[str, str], ...]
    zones: tuple[str, ...]
    against: str

    @property
    def open_goals(self) -> tuple[GoalStanding, ...]:
        """What must be achieved or dropped before the case can close."""
        return tuple(goal for goal in self.goals if not goal.is_settled)

    @property
    def not_carried(self) -> tuple[str, ...]:
        """Labels of open goals that no action of the current proposal carries."""
        return not_carried(self.goals)


def notebook_of(loaded: Loaded, *, person: Person, place_zone: str, at: datetime) -> Notebook:
    """The notebook of a case for one reader."""
    case = loaded.case
    return Notebook(
        goals=_goals(loaded),
        lines=lines_in_order(loaded.lines, at=at),
        promises=promises_by(loaded.effects, at=at),
        sorts=tuple((sort.value, str(sort.label)) for sort in ORDER),
        zones=tuple(dict.fromkeys((place_zone, case.desk.zone, reading_zone(person).name))),
        against=_against(case, person),
    )


def _goals(loaded: Loaded) -> tuple[GoalStanding, ...]:
    case, playbook, sources = loaded.case, loaded.playbook, loaded.sources
    unreadable = any(source.is_unreadable for source in sources)
    sheet = sheet_from(case=case, subject_type=playbook.subject_type, sources=sources)
    return standings(
        case=case,
        playbook=playbook,
        sheet=None if unreadable else sheet,
        rows=loaded.goals,
        work=work_in(
            proposals=loaded.proposals, decisions=loaded.decisions, effects=loaded.effects
        ),
    )


def _against(case: Case, person: Person) -> str:
    if case.current_stage is Stage.CLOSED:
        return "The case is closed."
    return policies.reason_against(policies.check_may_write, person=person)
