"""Flow versions: which graph resumes a case that was started under which version.

A version stays here as long as open cases carry it, or is replaced by a migration to a later one. A
case of a version that has neither is never guessed at: the runner blocks it until a release knows
it. What the graph is about to do is asked from the record, so a migration translates only what the
graph itself remembered, and the case starts at the new graph's first step.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from agent.graph import CaseGraph, build_graph
from agent.state import CaseState

FLOW_VERSION = 1


@dataclass(frozen=True, kw_only=True)
class FlowMigration:
    """How a case comes from a version that is no longer built to version `to`.

    `translate` gets what the old graph remembered, which is nothing when its checkpoint is gone,
    and may run twice.
    """

    to: int
    translate: Callable[[Mapping[str, object]], CaseState]


type Builders = Mapping[int, Callable[[], CaseGraph]]
type Migrations = Mapping[int, FlowMigration]

FLOWS: Builders = {FLOW_VERSION: build_graph}
MIGRATIONS: Migrations = {}


def way_to_known_flow(
    *, version: int, flows: Builders = FLOWS, migrations: Migrations = MIGRATIONS
) -> tuple[FlowMigration, ...] | None:
    """The migrations from `version` to one that is built, in order; None when there is no way."""
    steps: list[FlowMigration] = []
    while version not in flows:
        step = migrations.get(version)
        if step is None or step in steps:
            return None
        steps.append(step)
        version = step.to
    return tuple(steps)
