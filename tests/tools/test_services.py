"""Database and broker without an installation: started, joined, recovered, and gone afterwards."""

import os
import signal
import stat
import sys
import tempfile
import uuid
from collections.abc import Iterator
from pathlib import Path

import psutil
import psycopg
import pytest
import redis

from tests.tools.watching import first_line, running_with, start_script, wait_for
from tools import paths
from tools.environment import local_environment
from tools.oneline import OneLine
from tools.postgres import PostgresServer
from tools.processes import ProcessGroup
from tools.services import Addresses, embedded_services, running_services
from tools.valkey import ValkeyServer

pytestmark = pytest.mark.processes

OWNER = """
import time
from pathlib import Path
from tools import paths
paths.VAR = Path({var!r})
from tools.services import embedded_services
with embedded_services(purpose="night") as addresses:
    print(addresses.database_url, flush=True)
    time.sleep(600)
"""


@pytest.fixture
def var(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A var/ of this test's own. Its path is too long for a Unix socket, as deep clones have it."""
    with tempfile.TemporaryDirectory(prefix="watchbill-test-") as home:
        Path(home).chmod(0o755)  # open, as a clone usually is: the server runs as another user
        folder = Path(home) / ("deep" * 25)
        folder.mkdir()
        monkeypatch.setattr(paths, "VAR", folder)
        yield folder


@pytest.fixture
def postgres(var: Path) -> Iterator[PostgresServer]:
    """A server of this test's own, not started."""
    with ProcessGroup(purpose="night") as processes:
        yield PostgresServer(folder=var / "night" / "postgres", processes=processes)


@pytest.fixture
def private_umask() -> Iterator[None]:
    """What this test makes is closed to others, as careful users have it."""
    before = os.umask(0o077)
    yield
    os.umask(before)


def count_of(address: str) -> int:
    """Rows of the table `kept`."""
    with psycopg.connect(address) as connection:
        row = connection.execute("SELECT count(*) FROM kept").fetchone()
    assert row is not None
    return int(row[0])


def keep_a_row(address: str) -> None:
    """Write something worth finding again."""
    with psycopg.connect(address) as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS kept (id bigserial PRIMARY KEY)")
        connection.execute("INSERT INTO kept DEFAULT VALUES")


def test_services_start_are_used_and_are_gone_afterwards(var: Path) -> None:
    with embedded_services(purpose="night") as addresses:
        keep_a_row(addresses.database_url)
        psycopg.connect(addresses.simulator_database_url).close()
        with redis.Redis.from_url(addresses.broker_url) as broker:
            assert broker.ping()
        assert running_with(str(var))
    assert not running_with(str(var))


def test_the_record_is_kept_from_one_start_to_the_next(var: Path) -> None:
    for start in (1, 2):
        with embedded_services(purpose="night") as addresses:
            keep_a_row(addresses.database_url)
            assert count_of(addresses.database_url) == start


def test_nobody_gets_in_without_the_password(var: Path) -> None:
    with embedded_services(purpose="night") as addresses:
        parts = psycopg.conninfo.conninfo_to_dict(addresses.database_url)
        with pytest.raises(psycopg.OperationalError, match="password"):
            psycopg.connect(**{**parts, "password": "guess"})  # type: ignore[arg-type]
        bare = "redis://127.0.0.1:" + addresses.broker_url.rpartition(":")[2]
        with redis.Redis.from_url(bare) as broker, pytest.raises(redis.AuthenticationError):
            broker.ping()
        for secret in (var / "night" / "addresses.json", var / "night" / "valkey" / "valkey.conf"):
            assert stat.S_IMODE(secret.stat().st_mode) == 0o600


def test_a_second_use_of_the_same_purpose_is_one_line(var: Path) -> None:
    with (
        embedded_services(purpose="night"),
        pytest.raises(OneLine, match=f"“night” are in use by process {os.getpid()}"),
        embedded_services(purpose="night"),
    ):
        pass


def test_a_clone_that_other_users_cannot_enter_works_too(
    postgres: PostgresServer, var: Path
) -> None:
    var.parent.chmod(0o700)
    link = postgres.folder
    postgres.start()
    keep_a_row(postgres.ensure_database("watchbill"))
    postgres.stop()
    again = PostgresServer(folder=link, processes=postgres.processes)
    again.start()
    assert count_of(again.url(database="watchbill")) == 1
    # Only root hands its server to a user who needs a shelter.
    assert link.is_symlink() == (os.geteuid() == 0)
    again.stop()
    again.remove()
    assert not link.exists()


def test_a_shelter_that_was_cleaned_away_is_made_anew(postgres: PostgresServer, var: Path) -> None:
    postgres.folder.symlink_to(var / "cleaned-away")
    postgres.start()
    assert postgres.ensure_database("watchbill")


def test_two_purposes_do_not_meet(var: Path) -> None:
    with embedded_services(purpose="night") as night, embedded_services(purpose="day") as day:
        keep_a_row(night.database_url)
        with pytest.raises(psycopg.errors.UndefinedTable):
            count_of(day.database_url)


@pytest.mark.parametrize("sig", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_nothing_runs_on_after_the_owner_and_the_next_start_works(
    tmp_path: Path, var: Path, sig: signal.Signals
) -> None:
    with start_script(OWNER.format(var=str(var)), folder=tmp_path) as owner:
        keep_a_row(first_line(owner))
        owner.send_signal(sig)
    with embedded_services(purpose="night") as addresses:  # at once: waits for what still ends
        assert count_of(addresses.database_url) == 1
    assert not running_with(str(var))


def test_a_server_that_outlived_its_keeper_is_ended_before_the_next_start(var: Path) -> None:
    with ProcessGroup(purpose="night") as processes:
        server = PostgresServer(folder=var / "night" / "postgres", processes=processes)
        server.start()
        keep_a_row(server.ensure_database("watchbill"))
        first = psutil.Process(processes.pid("postgres"))
        # Forgotten, as after a crash on a system whose kernel does not end orphans.
        successor = PostgresServer(
            folder=server.folder, processes=ProcessGroup(purpose="night", logs=var / "log")
        )
        with successor.processes:
            successor.start()
            assert not first.is_running()
            assert count_of(successor.url(database="watchbill")) == 1


def test_a_note_of_a_server_that_is_gone_does_not_hinder(postgres: PostgresServer) -> None:
    postgres.start()
    postgres.stop()
    # Its number belongs to another program of the same user by now.
    stranger = postgres.processes.start("stranger", argv=["sleep", "600"], user=postgres.user)
    (postgres.data / "postmaster.pid").write_text(f"{stranger}\n{postgres.data}\n")
    postgres.start()
    assert postgres.ensure_database("watchbill")
    assert postgres.processes.is_running("stranger")


def test_what_was_committed_survives_a_crash_of_the_database(postgres: PostgresServer) -> None:
    postgres.start()
    address = postgres.ensure_database("watchbill")
    keep_a_row(address)
    postgres.crash()
    postgres.start()
    assert count_of(address) == 1  # also: the address is still the same


def test_an_interrupted_first_start_is_begun_again(postgres: PostgresServer) -> None:
    half = postgres.folder / "data.new"
    half.mkdir(parents=True)
    (half / "PG_VERSION").write_text("18\n")
    postgres.start()
    assert not half.exists()


def test_data_of_another_version_is_refused_with_one_line(postgres: PostgresServer) -> None:
    postgres.start()
    postgres.stop()
    (postgres.data / "PG_VERSION").write_text("15\n")
    with pytest.raises(OneLine, match="made by PostgreSQL 15.*make clean"):
        postgres.start()


def test_durability_is_given_up_only_where_asked(postgres: PostgresServer) -> None:
    postgres.start()
    with psycopg.connect(postgres.url(database="postgres")) as connection:
        answer = connection.execute("SHOW fsync").fetchone()
        commit = connection.execute("SHOW synchronous_commit").fetchone()
    assert (answer, commit) == (("on",), ("on",))
    postgres.stop()
    postgres.durable = False
    postgres.start()
    with psycopg.connect(postgres.url(database="postgres")) as connection:
        assert connection.execute("SHOW fsync").fetchone() == ("off",)


def test_the_broker_keeps_nothing(var: Path) -> None:
    with ProcessGroup(purpose="night") as processes:
        valkey = ValkeyServer(folder=var / "night" / "valkey", processes=processes)
        valkey.start()
        with redis.Redis.from_url(valkey.url) as broker:
            broker.set("nudge", "case 1")
        valkey.crash()
        valkey.start()
        with redis.Redis.from_url(valkey.url) as broker:
            assert broker.get("nudge") is None


def test_configured_addresses_are_used_as_they_are(var: Path) -> None:
    given = {
        "DATABASE_URL": os.environ["DATABASE_URL"],
        "SIMULATOR_DATABASE_URL": os.environ["SIMULATOR_DATABASE_URL"],
        "BROKER_URL": os.environ["BROKER_URL"],
    }
    with running_services(purpose="night", environment=given) as addresses:
        assert addresses.environment() == given
        assert not running_with(str(var))


def test_half_configured_addresses_are_one_line() -> None:
    with (
        pytest.raises(OneLine, match="SIMULATOR_DATABASE_URL and BROKER_URL not set"),
        running_services(purpose="night", environment={"DATABASE_URL": "postgresql:///x"}),
    ):
        pass


def test_a_configured_database_that_does_not_answer_is_one_line() -> None:
    nowhere = {
        "DATABASE_URL": "postgresql://nobody@127.0.0.1:1/x",
        "SIMULATOR_DATABASE_URL": "postgresql://nobody@127.0.0.1:1/y",
        "BROKER_URL": "redis://127.0.0.1:1/0",
    }
    with (
        pytest.raises(OneLine, match="database at DATABASE_URL does not answer") as caught,
        running_services(purpose="night", environment=nowhere),
    ):
        pass
    assert "\n" not in str(caught.value)


def test_a_configured_broker_that_does_not_answer_is_one_line() -> None:
    silent = {
        "DATABASE_URL": os.environ["DATABASE_URL"],
        "SIMULATOR_DATABASE_URL": os.environ["SIMULATOR_DATABASE_URL"],
        "BROKER_URL": "redis://127.0.0.1:1/0",
    }
    with (
        pytest.raises(OneLine, match="broker at BROKER_URL does not answer") as caught,
        running_services(purpose="night", environment=silent),
    ):
        pass
    assert "\n" not in str(caught.value)


def test_made_secrets_stay_and_configured_ones_win(var: Path) -> None:
    addresses = Addresses(database_url="a", simulator_database_url="b", broker_url="c")
    first = local_environment(purpose="night", addresses=addresses, environment={})
    token = uuid.uuid4().hex
    given = {"TRANSPORT_TOKEN": token}
    second = local_environment(purpose="night", addresses=addresses, environment=given)
    assert second == {**first, "TRANSPORT_TOKEN": token}
    assert local_environment(purpose="night", addresses=addresses, environment={}) == first
    assert len(first["WATCHBILL_SECRET_KEY"]) >= 32


def test_a_command_joins_services_that_are_running(tmp_path: Path, var: Path) -> None:
    show = "import os; print(os.environ['DATABASE_URL'])"
    join = f"""
from pathlib import Path
from tools import paths
paths.VAR = Path({str(var)!r})
from tools.run import run_command
raise SystemExit(run_command(purpose="night", command=[{sys.executable!r}, "-c", {show!r}]))
"""
    outside = {"PATH": os.environ["PATH"]}
    with embedded_services(purpose="night") as addresses:
        with start_script(join, folder=tmp_path, environment=outside) as joined:
            assert first_line(joined) == addresses.database_url
        assert joined.returncode == 0
        psycopg.connect(addresses.database_url).close()
    with start_script(join, folder=tmp_path, environment=outside) as alone:
        assert first_line(alone).startswith("postgresql://")
    assert wait_for(lambda: not running_with(str(var)))
