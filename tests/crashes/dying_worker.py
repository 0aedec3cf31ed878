"""A worker that ends with SIGKILL, or lets someone else act, at a named point.

Used by the nursery, in the worker's own process: the product has no switches for tests. In the
worker's environment, `POINT` names a method of the door to the record or of the source, with
`before:` or `after:`, such as `after:TransportSource.perform`; `DEED` is what happens there: `die`,
`dawdle` (half a minute), or `employee` (somebody edits the shipment in the transport system).
`READING` lets the deed happen whenever a subject that begins so is read. `PLANNER_LOG` counts the
planner's answers. `BOUNDARIES` numbers every place where it can stop, see
`tests.conformance.boundaries`.
"""

import os
import signal
import time
from collections.abc import Callable, Mapping
from functools import wraps
from pathlib import Path
from typing import Any

import httpx

import tools.stories.record  # noqa: F401 (importing it sets Django up, before the door is imported)

# isort: split
from agent.celery import app
from agent.desk import RecordDesk
from agent.planner.rules import RulePlanner
from agent.sources.transport import TransportSource
from tests.conformance import boundaries

OWNERS: dict[str, type] = {
    "RecordDesk": RecordDesk,
    "TransportSource": TransportSource,
    "RulePlanner": RulePlanner,
}


def die() -> None:
    """End this process at once, as the kernel would."""
    os.kill(os.getpid(), signal.SIGKILL)


def employee_acts() -> None:
    """An employee assigns a carrier in the transport system, at the worst moment."""
    httpx.post(
        f"{os.environ['TRANSPORT_URL']}/sim/actors/employee_assigns_carrier",
        json={
            "shipment_id": "S-318",
            "scac": "OAKX",
            "name": "Oakline Freight",
            "employee": "J. Ortiz",
        },
        headers={"Authorization": f"Bearer {os.environ['SIMULATOR_CONTROL_TOKEN']}"},
        timeout=5,
    ).raise_for_status()


def dawdle() -> None:
    """Take half a minute for what should take a moment."""
    time.sleep(30)


DEEDS: dict[str, Callable[[], None]] = {
    "die": die,
    "dawdle": dawdle,
    "employee": employee_acts,
}


def interrupt_at(point: str, deed: Callable[[], None]) -> None:
    """Wrap the named method so that `deed` happens once, before or after it."""
    moment, _, name = point.partition(":")
    owner_name, _, method_name = name.partition(".")
    owner = OWNERS[owner_name]
    original = getattr(owner, method_name)
    done: list[bool] = []

    @wraps(original)
    def interrupted(*args: Any, **kwargs: Any) -> Any:
        if moment == "before" and not done:
            done.append(True)
            deed()
        result = original(*args, **kwargs)
        if moment == "after" and not done:
            done.append(True)
            deed()
        return result

    setattr(owner, method_name, interrupted)


def interrupt_reading(of: str, deed: Callable[[], None]) -> None:
    """Let `deed` happen every time before a subject whose name begins with `of` is read."""
    original = TransportSource.read

    @wraps(original)
    def interrupted(*args: Any, subject: str, **kwargs: Any) -> Any:
        if subject.startswith(of):
            deed()
        return original(*args, subject=subject, **kwargs)

    setattr(TransportSource, "read", interrupted)  # noqa: B010 (a method is replaced on purpose)


def count_plans(log: Path) -> None:
    """Write one line for every answer the planner gives."""
    original = RulePlanner.plan

    @wraps(original)
    def counted(*args: Any, **kwargs: Any) -> Any:
        answer = original(*args, **kwargs)
        with log.open("a", encoding="utf-8") as lines:
            lines.write("answered\n")
        return answer

    setattr(RulePlanner, "plan", counted)  # noqa: B010 (a method is replaced on purpose)


def arrange(environment: Mapping[str, str]) -> None:
    """Let happen to this process what the environment says."""
    if log_path := environment.get("PLANNER_LOG"):
        count_plans(Path(log_path))
    if point := environment.get("POINT"):
        interrupt_at(point, DEEDS[environment.get("DEED", "die")])
    if of := environment.get("READING"):
        interrupt_reading(of, DEEDS[environment.get("DEED", "die")])
    if folder := environment.get("BOUNDARIES"):
        boundaries.number_all(Path(folder), deeds=environment.get("AT", ""))


__all__ = ["app", "arrange"]
