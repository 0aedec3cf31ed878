"""What people keep on a case for whoever comes after them: goals, lines, promises."""

from dataclasses import dataclass
from datetime import datetime

from cases import policies
from cases.models import Case, Person
from cases.queries.goals import GoalStanding, goals_of, not_carried
from cases.queries.lines import ORDER, LineView, PromiseView, lines_of, promises_made
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
    """The notebook of a case for one reader; five queries."""
    case = loaded.case
    sheet = sheet_from(case=case, subject_type=loaded.playbook.subject_type, sources=loaded.sources)
    unreadable = any(source.is_unreadable for source in loaded.sources)
    return Notebook(
        goals=goals_of(case, None if unreadable else sheet),
        lines=lines_of(case, at=at),
        promises=promises_made([case.pk], at=at).get(case.pk, ()),
        sorts=tuple((sort.value, str(sort.label)) for sort in ORDER),
        zones=tuple(dict.fromkeys((place_zone, case.desk.zone, reading_zone(person).name))),
        against=_against(case, person),
    )


def _against(case: Case, person: Person) -> str:
    if case.current_stage is Stage.CLOSED:
        return "The case is closed."
    return policies.reason_against(policies.check_may_write, person=person)
