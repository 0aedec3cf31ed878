"""The S-318 night in the browser: plays the evening, serves the pages, lets time pass on request.

The page only writes that time should pass; this process moves the world and both clocks, as the
outside world would.
"""

import os
import sys
import time
from collections.abc import Callable, Iterable

import httpx

from tools.oneline import OneLine
from tools.ports import choose_port
from tools.processes import ProcessGroup
from tools.simulator_control import SimulatorRefused
from tools.stories.crew import COLLEAGUES
from tools.stories.full_desk import REFRESHED_BEFORE, FullDesk, Step
from tools.stories.house import House
from tools.stories.record import StoryBroke, leave_database
from tools.stories.s318 import MORNING, Night

# isort: split
from django.conf import settings
from django.core.exceptions import ObjectDoesNotExist

from cases.actions.clock import open_clock_request, report_progress
from cases.clock import business_now
from cases.management.commands.demo_people import PEOPLE
from cases.models import ClockRequest
from cases.vocabulary.errors import WatchbillError

POLL_SECONDS = 0.3
WATCHED = ("simulator", "pages", "worker", "beat")


def say(sentence: str) -> None:
    """Tell the person at the terminal at once."""
    print(sentence, flush=True)


def pass_time(desk: FullDesk, request: ClockRequest) -> None:
    """Carry out one request: the worker ends, the world moves, a new worker begins.

    It begins before the shift changes, as a desk's worker would: the handover is opened and
    refreshed first, and the page shows the morning when that is done.
    """
    night, is_first = desk.night, request.until == MORNING

    def progress(sentence: str) -> None:
        report_progress(request=request, progress=sentence, done_at=None)

    if is_first:
        play(desk.evening(), tell=progress)
    progress("The worker has stopped for the night.")
    night.house.stop("worker", "beat")
    if is_first:
        play(desk.edits(), tell=progress)
    night.set_clocks(request.until - REFRESHED_BEFORE)
    desk.source_comes_back()
    night.house.start_worker()
    night.house.start_beat()
    progress("Half an hour before the shift: a new worker reads the sources again.")
    attempt(lambda: desk.wait_for_refresh(request.until))
    if is_first:
        play(desk.last_half_hour(), tell=progress)
    else:
        night.set_clocks(request.until)
    report_progress(request=request, progress="It is morning.", done_at=business_now())
    say("       It is morning on the page.")


def play(steps: Iterable[tuple[str, Step]], *, tell: Callable[[str], None]) -> None:
    """Tell of each step, then take it."""
    for sentence, step in steps:
        tell(sentence)
        attempt(step)


def attempt(step: Step) -> None:
    """Take a step of the story; whoever is at the page may have made it impossible."""
    try:
        step()
    except (SimulatorRefused, WatchbillError, StoryBroke, ObjectDoesNotExist) as refusal:
        say(f"       The night went differently this time: {refusal}")


def serve(desk: FullDesk) -> None:
    """Let time pass whenever the page asks, until Ctrl-C; says so when a process dies."""
    while True:
        request = open_clock_request()
        if request is not None:
            pass_time(desk, request)
        desk.source_comes_back()
        dead = [name for name in WATCHED if not desk.night.house.is_running(name)]
        if dead:
            raise StoryBroke(f"{', '.join(dead)} ended; see var/demo/log/{dead[0]}.log")
        leave_database()
        time.sleep(POLL_SECONDS)


def introduce(address: str) -> None:
    """Say where the desk is and how to go on."""
    everybody = (*PEOPLE, *COLLEAGUES)
    logins = ", ".join(f"{username} ({role.value})" for username, _, role in everybody)
    say(f"\n  Watchbill is at  {address}")
    say(f"  Log in as        {logins}")
    say(f"  Password         {settings.DEMO_PASSWORD}")
    say("  Then             open S-318, press “Advance to 08:00”, see what became of proposal 3;")
    say("                   then open Handover, answer its rows, and sign.")
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
                night = Night(house=house, control=control, tell=say, scenario="desk")
                desk = FullDesk(night=night)
                night.evening()
                desk.open()
                introduce(address)
                serve(desk)
    except (StoryBroke, OneLine, WatchbillError, httpx.HTTPError) as broken:
        print(f"The demo ended: {broken}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        say("\nStopped. `make demo` begins anew.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
