"""Failures B2, B14 and B15 in one life of a prefork worker: many cases, and one that kills it."""

from functools import partial

import psutil
import pytest
from django.db import connection

from cases.models import Case, Run
from tests.crashes.night_desk import NightDesk

pytestmark = pytest.mark.processes

PROCESSES = 2
MEGABYTE = 1024 * 1024


def work_off(night: NightDesk, *, first: int, count: int) -> None:
    """So many short cases: their shipment does not exist, which one visit finds out."""
    opened = [night.open_another(f"GONE-{number}") for number in range(first, first + count)]
    runs = Run.objects.filter(case_id__in=opened)
    night.wait_for(
        lambda: (
            not runs.filter(case__stage="investigating").exists()
            and not runs.exclude(worker="").exists()
        ),
        f"{count} cases were visited",
    )


def database_sockets(process: psutil.Process) -> int:
    """Open connections to PostgreSQL."""
    port = int(connection.settings_dict["PORT"])
    links = process.net_connections("tcp")
    return [getattr(link.raddr, "port", 0) for link in links].count(port)


def memory(processes: list[psutil.Process]) -> float:
    """Memory of their own, all together, in MB."""
    return sum(process.memory_full_info().uss for process in processes) / MEGABYTE


def has_killed(case_id: int, deaths: int) -> bool:
    """Whether the case killed the worker that holds it, after `deaths` others."""
    run = Run.objects.get(case_id=case_id)
    holder = run.worker.rpartition(":")[2]
    return run.lost_visits == deaths and bool(holder) and not psutil.pid_exists(int(holder))


def test_b02_b14_b15_a_prefork_worker_outlives_a_case_that_kills_its_processes(
    night: NightDesk,
) -> None:
    """A few short cases rather than a thousand: what leaks in each would show in them too."""
    env = {"READING": "KILLS", "DEED": "die"}
    parent = psutil.Process(
        night.start_worker("many", pool="prefork", options=[f"--concurrency={PROCESSES}"], env=env)
    )
    work_off(night, first=0, count=8)
    children = parent.children()
    before = memory(children)
    work_off(night, first=8, count=12)
    assert memory(children) - before < 10, "MB in 12 cases"
    assert parent.children() == children
    assert database_sockets(parent) == 0, "nothing is shared across the fork"
    assert sum(map(database_sockets, children)) >= PROCESSES
    said = (night.nursery.logs / "many.log").read_text()
    assert "Error" not in said, said

    deadly = night.open_another("KILLS-1")
    for death in range(5):
        night.wait_for(partial(has_killed, deadly, death), f"death {death + 1}")
        night.let_lease_run_out()
    night.wait_for(lambda: Case.objects.get(pk=deadly).stage == "blocked", "it is parked")
    parked = Case.objects.get(pk=deadly)
    assert parked.owner == night.cast.owner
    assert parked.blocked_reason.startswith("5 visits in a row never came back")
    work_off(night, first=20, count=4)
