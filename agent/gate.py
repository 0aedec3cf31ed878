"""The gate before a deploy: `python -m agent.gate` lists open cases per flow version.

Exits with 1 when this release knows no flow for some of them: deployed, it would block each of them
instead of going on.
"""

import sys
from collections.abc import Sequence

import agent.standalone  # noqa: F401 (before the door to the record is imported)

# isort: split
from agent.crew import AGENT_NAME, AGENT_VERSION
from agent.desk import RecordDesk
from agent.flows import FlowMigration, way_to_known_flow


def main() -> int:
    """Print a line per version; the exit status says whether the deploy may go on."""
    unknown = 0
    for flow in RecordDesk(agent_name=AGENT_NAME, agent_version=AGENT_VERSION).flows_in_use():
        way = way_to_known_flow(version=flow.flow_version)
        unknown += flow.cases if way is None else 0
        oldest = f"oldest case {flow.oldest_case_id}"
        print(f"flow {flow.flow_version}: {flow.cases} open, {oldest}, {_word_for(way)}")
    if unknown:
        print(
            f"{unknown} open cases would be blocked. Keep the release that knows their flow, or add"
            " a migration for it to agent/flows.py.",
            file=sys.stderr,
        )
        return 1
    return 0


def _word_for(way: Sequence[FlowMigration] | None) -> str:
    if way is None:
        return "UNKNOWN to this release"
    return f"is migrated to flow {way[-1].to}" if way else "goes on"


if __name__ == "__main__":
    sys.exit(main())
