"""The database and the broker: those that are configured, or embedded ones under var/."""

import errno
import fcntl
import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import psycopg
import redis

from tools.oneline import OneLine
from tools.paths import purpose_folder
from tools.postgres import PostgresServer
from tools.processes import ProcessGroup
from tools.valkey import ValkeyServer

# How long the programs of a user that died may take to end before we give up on the folder.
TAKE_OVER_SECONDS = 40.0


@dataclass(frozen=True, kw_only=True)
class Addresses:
    """Where the record, the simulator's own database and the broker are."""

    database_url: str
    simulator_database_url: str
    broker_url: str

    def environment(self) -> dict[str, str]:
        """The same as environment variables."""
        return {key.upper(): value for key, value in asdict(self).items()}


def configured(environment: Mapping[str, str]) -> Addresses | None:
    """The addresses set from outside, or None when none is.

    Raises OneLine when only some are set: a mixture would be a surprise.
    """
    names = [name.upper() for name in Addresses.__dataclass_fields__]
    given = {name.lower(): environment[name] for name in names if environment.get(name)}
    if not given:
        return None
    missing = [name for name in names if name.lower() not in given]
    if missing:
        raise OneLine(
            f"{' and '.join(missing)} not set, but other addresses are: set all of"
            f" {', '.join(names)}, or none to use embedded services."
        )
    return Addresses(**given)


def check_configured(addresses: Addresses) -> None:
    """Refuse configured servers that do not answer, naming the variable to look at."""
    for name in ("DATABASE_URL", "SIMULATOR_DATABASE_URL"):
        try:
            psycopg.connect(addresses.environment()[name], connect_timeout=5).close()
        except psycopg.Error as problem:
            reason = " ".join(str(problem).split())
            raise OneLine(f"The database at {name} does not answer: {reason}") from problem
    try:
        with redis.Redis.from_url(addresses.broker_url, socket_timeout=5) as broker:
            broker.ping()
    except (redis.RedisError, ValueError) as problem:
        raise OneLine(f"The broker at BROKER_URL does not answer: {problem}") from problem


def is_alive(pid: int) -> bool:
    """Whether a process with this id exists."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


@contextmanager
def sole_use(folder: Path, *, purpose: str) -> Iterator[int]:
    """Hold the folder's lock; yields its descriptor, for keepers to hold as long as they live.

    A user that was killed leaves programs that are just ending; those are waited for. A user that
    lives is not: raises OneLine.
    """
    path = folder / "lock"
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        deadline = time.monotonic() + TAKE_OVER_SECONDS
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except OSError:
                owner = path.read_text().strip()
                if (owner.isdecimal() and is_alive(int(owner))) or time.monotonic() > deadline:
                    raise OneLine(
                        f"The services of “{purpose}” are in use by process {owner or 'unknown'}:"
                        " stop that one first, or wait for it."
                    ) from None
                time.sleep(0.1)
        os.truncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def embedded_services(*, purpose: str) -> Iterator[Addresses]:
    """Run PostgreSQL and Valkey with their data under var/<purpose>/ on free loopback ports."""
    folder = purpose_folder(purpose)
    note = folder / "addresses.json"
    with (
        sole_use(folder, purpose=purpose) as lock,
        ProcessGroup(purpose=purpose, held=[lock]) as processes,
    ):
        postgres = PostgresServer(
            folder=folder / "postgres", processes=processes, durable=purpose != "test"
        )
        valkey = ValkeyServer(folder=folder / "valkey", processes=processes)
        valkey.start()
        postgres.start()
        addresses = Addresses(
            database_url=postgres.ensure_database("watchbill"),
            simulator_database_url=postgres.ensure_database("transport_sim"),
            broker_url=valkey.url,
        )
        note.touch(mode=0o600)
        note.write_text(json.dumps(asdict(addresses)))
        try:
            yield addresses
        finally:
            note.unlink(missing_ok=True)


@contextmanager
def running_services(
    *, purpose: str, environment: Mapping[str, str] = os.environ
) -> Iterator[Addresses]:
    """Addresses of a running database and broker, for as long as the block lasts.

    Configured ones (DATABASE_URL, SIMULATOR_DATABASE_URL, BROKER_URL) are used as they are;
    without them embedded ones are started, and stopped at the end.
    Raises OneLine when they cannot be had, or are in use already for the same purpose.
    """
    addresses = configured(environment)
    if addresses is not None:
        check_configured(addresses)
        yield addresses
        return
    try:
        with embedded_services(purpose=purpose) as addresses:
            yield addresses
    except OSError as problem:
        if problem.errno != errno.ENOSPC:
            raise
        raise OneLine("The disk is full: free some space and run the same command again.") from None


@contextmanager
def joined_services(*, purpose: str) -> Iterator[Addresses]:
    """Like running_services, but joins the embedded services that someone else is running."""
    note = purpose_folder(purpose) / "addresses.json"
    owner = purpose_folder(purpose) / "lock"
    if configured(os.environ) is None and note.exists() and owner.exists():
        pid = owner.read_text().strip()
        if pid.isdecimal() and is_alive(int(pid)):
            yield Addresses(**json.loads(note.read_text()))
            return
    with running_services(purpose=purpose) as addresses:
        yield addresses
