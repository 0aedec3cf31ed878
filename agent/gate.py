"""The gate before a deploy: `python -m agent.gate` lists open cases per flow version.

Exits with 1 when this release knows no flow for some of them: deployed, it would hand each of them
to a person instead of going on.
"""

import sys

import agent.standalone  # noqa: F401 (before the door to the record is imported)

# isort: split
from agent.crew import AGENT_NAME, AGENT_VERSION
from agent.desk import RecordDesk
from agent.flows import FLOWS


def main() -> int:
    """Print a line per version; the exit status says whether the deploy may go on."""
    unknown = 0
    for flow in RecordDesk(agent_name=AGENT_NAME, agent_version=AGENT_VERSION).flows_in_use():
        known = flow.flow_version in FLOWS
        unknown += 0 if known else flow.cases
        word = "goes on" if known else "UNKNOWN to this release"
        oldest = f"oldest case {flow.oldest_case_id}"
        print(f"flow {flow.flow_version}: {flow.cases} open, {oldest}, {word}")
    if unknown:
        print(
            f"{unknown} open cases would be handed to people. Keep the release that knows their"
            " flow, or add a migration for it.",
            file=sys.stderr,
        )
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
