"""The S-318 night on real parts, printed as a table; exit status 1 when a promise breaks."""

import json
import os
import sys
from collections.abc import Sequence

from tools.oneline import OneLine
from tools.processes import ProcessGroup
from tools.simulator_control import LedgerEntry
from tools.stories.house import House
from tools.stories.promises import Check, check_morning, check_outcome, check_refusal
from tools.stories.record import StoryBroke
from tools.stories.s318 import SHIPMENT, Night

# isort: split
from cases.actions import decisions
from cases.clock import business_now
from cases.queries.record import record_of
from cases.vocabulary.errors import DecisionRefused

RULE = "─" * 118


def say(sentence: str) -> None:
    """Tell the reader at once."""
    print(sentence, flush=True)


def play(house: House) -> list[Check]:
    """Play the whole night; returns every promise checked on the way."""
    with house.control() as control:
        night = Night(house=house, control=control, tell=say)
        first = house.start_worker("evening-worker")
        house.start_beat()
        night.evening()
        house.stop("evening-worker", "beat")
        say("17:05  The worker stops. Nothing runs; the case, its owner and proposal 3 remain.")
        night.world_moves()
        night.hand_over()
        second = house.start_worker("morning-worker")
        house.start_beat()
        night.wait_for_revision()
        checks = check_morning(night, workers=(first, second))
        _print_record("The record at 08:00, before anybody decided", night)
        checks.append(_answer_the_old_version(night))
        _release_the_new_version(night)
        checks.extend(check_outcome(night))
        _print_ledger(control.ledger(shipment_id=SHIPMENT))
        _print_record("The record afterwards", night)
        return checks


def _answer_the_old_version(night: Night) -> Check:
    refusal: DecisionRefused | None = None
    try:
        decisions.release(answer=night.answer(3), by=night.person("marta"), at=business_now())
    except DecisionRefused as error:
        refusal = error
        say(f"08:04  M. Ortega releases proposal 3 from an old page. Refused: {error}")
    return check_refusal(night, refusal)


def _release_the_new_version(night: Night) -> None:
    decisions.release(answer=night.answer(4), by=night.person("marta"), at=business_now())
    say("08:05  M. Ortega reviews the three changes and releases proposal 4.")
    night.wait_for_outcome()
    say("08:05  The message was sent, read back from the transport system, and delivered.")


def _print_record(title: str, night: Night) -> None:
    say(f"\n{title}\n{json.dumps(record_of(night.case_id), indent=2)}\n")


def _print_ledger(ledger: Sequence[LedgerEntry]) -> None:
    say("\nThe transport system's own ledger for S-318 (no., effect, by whom, our reference)")
    for entry in ledger:
        reference = entry.client_reference or "–"
        say(f"  {entry.sequence:>3}  {entry.kind:<16} {entry.principal:<16} {reference}")


def print_checks(checks: Sequence[Check]) -> bool:
    """Print the table of promises; says whether all held."""
    say(f"\n{RULE}\n{'':3}{'promise':<9}{'what must be so':<64}what was seen\n{RULE}")
    for check in checks:
        mark = "✓" if check.held else "✗"
        say(f"{mark:<3}{check.promise:<9}{check.sentence:<64}{check.seen}")
    broken = [check for check in checks if not check.held]
    say(RULE)
    verdict = f"{len(broken)} broken." if broken else "all kept."
    say(f"{len(checks)} promises checked, {verdict}")
    return not broken


def main() -> int:
    """Play the night in the environment given by `tools.overnight`."""
    try:
        with ProcessGroup(purpose="overnight") as processes:
            house = House(processes=processes, environment=os.environ)
            house.start_simulator()
            return 0 if print_checks(play(house)) else 1
    except (StoryBroke, OneLine) as broken:
        print(f"The night broke off: {broken}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
