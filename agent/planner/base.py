"""What a planner is."""

from typing import Any, Protocol

from cases.vocabulary.work import PlanQuestion


class Planner(Protocol):
    """Answers one question with one plan, as the plain JSON form of `Plan`.

    The answer is recorded before it is used and validated against the catalogue by the record, so a
    planner cannot make anything happen that the playbook does not list.
    """

    @property
    def name(self) -> str:
        """Name and version as the audit keeps them, such as `rules@1`."""

    def plan(self, question: PlanQuestion) -> dict[str, Any]:
        """The plan for this question. Called outside any transaction; may take a while."""
