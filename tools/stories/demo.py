"""The S-318 night in the browser: plays the evening, serves the pages, lets time pass on request.

The page only writes that time should pass; this process moves the world and both clocks, as the
outside world would.
"""

import os
import sys
import time

import httpx

from tools.oneline import OneLine
from tools.ports import choose_port
from tools.processes import ProcessGroup
from tools.simulator_control import SimulatorRefused
from tools.stories.house import House
from tools.stories.record import StoryBroke, leave_database
from tools.stories.s318 import MORNING, Night

# isort: split
from django.conf import settings

from cases.actions.clock import open_clock_request, report_progress
from cases.clock import business_now
from cases.management.commands.demo_people import PEOPLE
from cases.models import ClockRequest

POLL_SECONDS = 0.3
WATCHED = ("simulator", "pages", "worker", "beat")


def say(sentence: str) -> None:
    """Tell the person at the terminal at once."""
    print(sentence, flush=True)


def pass_time(night: Night, request: ClockRequest) -> None:
    """Carry out one request: the worker ends, the world moves, a new worker begins."""
    report_progress(request=request, progress="The worker has stopped for the night.", done_at=None)
    night.house.stop("worker", "beat")
    if request.until == MORNING:
        report_progress(request=request, progress="02:40: an employee edits S-318.", done_at=None)
        try:
            night.world_moves()
            night.hand_over()
        except SimulatorRefused as refusal:
            say(f"       The night went differently this time: {refusal}")
    night.set_clocks(request.until)
    night.house.start_worker()
    night.house.start_beat()
    report_progress(
        request=request,
        progress="A new worker reads the sources again.",
        done_at=business_now(),
    )
    say("       It is morning on the page.")


def serve(night: Night) -> None:
    """Let time pass whenever the page asks, until Ctrl-C; says so when a process dies."""
    while True:
        request = open_clock_request()
        if request is not None:
            pass_time(night, request)
        dead = [name for name in WATCHED if not night.house.is_running(name)]
        if dead:
            raise StoryBroke(f"{', '.join(dead)} ended; see var/demo/log/{dead[0]}.log")
        leave_database()
        time.sleep(POLL_SECONDS)


def introduce(address: str) -> None:
    """Say where the desk is and how to go on."""
    logins = ", ".join(f"{username} ({role.value})" for username, _, role in PEOPLE)
    say(f"\n  Watchbill is at  {address}")
    say(f"  Log in as        {logins}")
    say(f"  Password         {settings.DEMO_PASSWORD}")
    say("  Then             open S-318, press “Advance to 08:00”, see what became of proposal 3.")
    say("  Stop with        Ctrl-C\n")


def main() -> int:
    """Play the demo in the environment given by `tools.demo`."""
    try:
        port, remark = choose_port()
        if remark:
            say(remark)
        with ProcessGroup(purpose="demo") as processes:
            house = House(processes=processes, environment=os.environ)
            house.start_simulator()
            house.start_worker()
            house.start_beat()
            address = house.start_pages(port=port)
            say("The evening of 23 November is being played …")
            with house.control() as control:
                night = Night(house=house, control=control, tell=say)
                night.evening()
                introduce(address)
                serve(night)
    except (StoryBroke, OneLine, httpx.HTTPError) as broken:
        print(f"The demo ended: {broken}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        say("\nStopped. `make demo` begins anew.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
