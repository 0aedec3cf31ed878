"""Who works in this process: made on the first task, so that nothing is shared across a fork."""

import os
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import cache

from agent.checkpoints import PostgresCheckpoints
from agent.desk import RecordDesk
from agent.planner.rules import RulePlanner
from agent.refresh import Refresher
from agent.refresh_desk import RecordRefresh
from agent.runner import Runner
from agent.sources.transport import TransportSource
from agent.sources.transport_profiles import PROFILES
from cases.vocabulary.work import Capabilities

AGENT_NAME = "exception-bot"
AGENT_VERSION = "1.0"
DEFAULT_TIMEOUT_SECONDS = 10.0
LONGEST_TIMEOUT_SECONDS = 15.0


class NotConfigured(RuntimeError):
    """An address or setting is missing or unusable; the message names it."""


@dataclass(frozen=True, kw_only=True)
class Crew:
    """The runner of this process and what it holds open."""

    runner: Runner
    refresher: Refresher
    checkpoints: PostgresCheckpoints
    source: TransportSource

    def stand_down(self) -> None:
        """Give connections back."""
        self.source.close()
        self.checkpoints.close()


@cache
def crew() -> Crew:
    """This process's crew. Raises `NotConfigured`."""
    return assemble(os.environ)


def assemble(environment: Mapping[str, str]) -> Crew:
    """Make a crew from the environment's addresses. Raises `NotConfigured`."""
    source = TransportSource(
        address=_required(environment, "TRANSPORT_URL"),
        token=_required(environment, "TRANSPORT_TOKEN"),
        timeout=_timeout(environment),
        capabilities=_capabilities(environment),
    )
    checkpoints = PostgresCheckpoints(address=_required(environment, "DATABASE_URL"))
    checkpoints.open()
    worker = f"{socket.gethostname()}:{os.getpid()}"
    runner = Runner(
        desk=RecordDesk(agent_name=AGENT_NAME, agent_version=AGENT_VERSION),
        source=source,
        planner=RulePlanner(),
        checkpoints=checkpoints,
        worker=worker,
    )
    refresher = Refresher(
        desk=RecordRefresh(agent_name=AGENT_NAME, agent_version=AGENT_VERSION),
        source=source.bulk,
        worker=worker,
    )
    return Crew(runner=runner, refresher=refresher, checkpoints=checkpoints, source=source)


def stand_down() -> None:
    """Close what this process's crew holds open, if it ever had a crew."""
    if crew.cache_info().currsize:
        crew().stand_down()
        crew.cache_clear()


def _required(environment: Mapping[str, str], name: str) -> str:
    value = environment.get(name, "")
    if not value:
        raise NotConfigured(f"Set {name}: the worker does not know where to go without it.")
    return value


def _capabilities(environment: Mapping[str, str]) -> Capabilities:
    """What this installation's transport system can do."""
    name = environment.get("TRANSPORT_PROFILE", "") or "modern"
    if name not in PROFILES:
        known = ", ".join(sorted(PROFILES))
        raise NotConfigured(f"TRANSPORT_PROFILE is {name!r}; use one of {known}.")
    return PROFILES[name]


def _timeout(environment: Mapping[str, str]) -> timedelta:
    """Seconds the transport system may take to answer; steps must end well within a lease."""
    text = environment.get("TRANSPORT_TIMEOUT", "")
    try:
        seconds = float(text) if text else DEFAULT_TIMEOUT_SECONDS
    except ValueError:
        seconds = -1.0
    if not 0 < seconds <= LONGEST_TIMEOUT_SECONDS:
        raise NotConfigured(
            f"TRANSPORT_TIMEOUT is {text!r}; use seconds, above 0 and at most "
            f"{LONGEST_TIMEOUT_SECONDS:.0f}."
        )
    return timedelta(seconds=seconds)
