"""Programs end with those who started them, however that happens."""

import fcntl
import os
import signal
import sys
from pathlib import Path

import psutil
import pytest

from tests.tools.watching import first_line, running_with, start_script, wait_for
from tools.oneline import OneLine
from tools.ports import free_port
from tools.processes import Ending, ProcessGroup, watch_parent

pytestmark = pytest.mark.processes

# A program with children of its own, one of which left for a session of its own.
FAMILY = """
import subprocess, sys, time
sleeper = [sys.executable, "-c", "import time; time.sleep(600)", sys.argv[1]]
subprocess.Popen(sleeper)
subprocess.Popen(sleeper, start_new_session=True)
time.sleep(600)
"""
OWNER = """
import time
from pathlib import Path
from tools.processes import ProcessGroup
with ProcessGroup(purpose="unused", logs=Path({logs!r})) as group:
    group.start("family", argv=[sys.executable, "-c", {family!r}, {word!r}])
    print("started", flush=True)
    time.sleep(600)
"""


def serve(port: int, status: int) -> str:
    """A program that answers every request on a port with one status."""
    return f"""
from http.server import BaseHTTPRequestHandler, HTTPServer
class Answer(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response({status})
        self.end_headers()
HTTPServer(("127.0.0.1", {port}), Answer).serve_forever()
"""


@pytest.mark.parametrize("sig", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_whole_families_end_when_their_owner_does(
    tmp_path: Path, word: str, sig: signal.Signals
) -> None:
    owner = start_script(
        OWNER.format(logs=str(tmp_path), family=FAMILY, word=word), folder=tmp_path
    )
    with owner:
        assert first_line(owner) == "started"
        assert wait_for(lambda: len(running_with(word)) >= 4)  # keeper, program and two children
        owner.send_signal(sig)
    assert wait_for(lambda: not running_with(word))


def test_an_owner_ends_when_its_own_parent_was_killed(tmp_path: Path, word: str) -> None:
    owner = tmp_path / "owner.py"
    owner.write_text(
        f"import sys\nsys.path.insert(0, {str(Path.cwd())!r})\n"
        + OWNER.format(logs=str(tmp_path), family=FAMILY, word=word)
    )
    make = start_script(
        f"import subprocess\nsubprocess.run([sys.executable, {str(owner)!r}])", folder=tmp_path
    )
    with make:
        assert first_line(make) == "started"
        assert wait_for(lambda: len(running_with(word)) >= 4)
        make.kill()
    assert wait_for(lambda: not running_with(word) and not running_with(str(owner)))


def test_where_the_kernel_does_not_tell_the_owner_looks_for_its_parent_itself(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sent: list[tuple[int, int]] = []
    monkeypatch.setattr(os, "kill", lambda *signalled: sent.append(signalled))
    watch_parent(os.getppid() + 1)  # as if the parent had changed since
    assert sent == [(os.getpid(), signal.SIGTERM)]


def test_a_lock_stays_held_until_the_programs_of_a_killed_owner_ended(
    tmp_path: Path, word: str
) -> None:
    slow = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); "
    slow += f"open({str(tmp_path / 'deaf')!r}, 'w'); time.sleep(600)"
    text = f"""
import fcntl, time
from pathlib import Path
from tools.processes import Ending, ProcessGroup
lock = open({str(tmp_path / "lock")!r}, "w")
fcntl.flock(lock, fcntl.LOCK_EX)
with ProcessGroup(purpose="unused", logs=Path({str(tmp_path)!r}), held=[lock.fileno()]) as group:
    argv = [sys.executable, "-c", {slow!r}, {word!r}]
    ready = Path({str(tmp_path / "deaf")!r}).exists
    group.start("slow", argv=argv, ready=ready, ending=Ending(grace_seconds=2))
    print("started", flush=True)
    time.sleep(600)
"""
    with start_script(text, folder=tmp_path) as owner:
        assert first_line(owner) == "started"
        owner.kill()
    with (tmp_path / "lock").open() as lock:
        with pytest.raises(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        fcntl.flock(lock, fcntl.LOCK_EX)  # waits
    assert wait_for(lambda: not running_with(word), seconds=2)


def test_a_program_does_not_survive_its_keeper(tmp_path: Path, word: str) -> None:
    with ProcessGroup(purpose="unused", logs=tmp_path) as group:
        pid = group.start(
            "sleeper", argv=[sys.executable, "-c", "import time; time.sleep(600)", word]
        )
        psutil.Process(pid).parent().kill()  # type: ignore[union-attr]
        assert wait_for(lambda: not running_with(word))


def test_kill_takes_the_children_too_and_reports_the_signal(tmp_path: Path, word: str) -> None:
    with ProcessGroup(purpose="unused", logs=tmp_path) as group:
        group.start("family", argv=[sys.executable, "-c", FAMILY, word])
        assert wait_for(lambda: len(running_with(word)) >= 4)
        assert group.kill("family") == 128 + signal.SIGKILL
        assert not running_with(word)
        assert not group.is_running("family")


def test_a_program_that_will_not_stop_is_made_to(tmp_path: Path, word: str) -> None:
    stubborn = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); "
    stubborn += "print('deaf', flush=True); time.sleep(600)"
    with ProcessGroup(purpose="unused", logs=tmp_path) as group:
        group.start(
            "stubborn",
            argv=[sys.executable, "-c", stubborn, word],
            ready=lambda: "deaf" in (tmp_path / "stubborn.log").read_text(),
            ending=Ending(grace_seconds=0.3),
        )
        assert group.stop("stubborn") == 128 + signal.SIGKILL
        assert not running_with(word)


def test_a_chosen_signal_arrives_and_the_exit_status_comes_back(tmp_path: Path) -> None:
    polite = "import signal, sys, time; signal.signal(signal.SIGUSR1, lambda *_: sys.exit(7)); "
    polite += "print('ready', flush=True); time.sleep(600)"
    with ProcessGroup(purpose="unused", logs=tmp_path) as group:
        log = tmp_path / "polite.log"
        argv = [sys.executable, "-c", polite]
        group.start("polite", argv=argv, ready=lambda: "ready" in log.read_text())
        assert group.stop("polite", sig=signal.SIGUSR1) == 7


def test_a_name_can_be_started_again_after_its_end(tmp_path: Path) -> None:
    with ProcessGroup(purpose="unused", logs=tmp_path) as group:
        argv = [sys.executable, "-c", "import time; time.sleep(600)"]
        first = group.start("again", argv=argv)
        with pytest.raises(ValueError, match="running already"):
            group.start("again", argv=argv)
        group.kill("again")
        assert group.start("again", argv=argv) != first


def test_an_early_end_is_one_line_with_the_end_of_the_log(tmp_path: Path) -> None:
    failing = "print('first'); print('no such table'); raise SystemExit(3)"
    with (
        ProcessGroup(purpose="unused", logs=tmp_path) as group,
        pytest.raises(OneLine, match=r"web ended at once \(status 3\): .*no such table") as caught,
    ):
        group.start("web", argv=[sys.executable, "-c", failing], ready=lambda: False)
    assert "\n" not in str(caught.value)


def test_a_program_that_does_not_exist_is_one_line(tmp_path: Path) -> None:
    with (
        ProcessGroup(purpose="unused", logs=tmp_path) as group,
        pytest.raises(OneLine, match="web ended at once .*no-such-program could not be started"),
    ):
        group.start("web", argv=["no-such-program"], ready=lambda: False)


def test_a_program_that_is_never_ready_is_given_up_and_ended(tmp_path: Path, word: str) -> None:
    with (
        ProcessGroup(purpose="unused", logs=tmp_path) as group,
        pytest.raises(OneLine, match="slow was not ready after 0 s"),
    ):
        argv = [sys.executable, "-c", "import time; time.sleep(600)", word]
        group.start("slow", argv=argv, ready=lambda: False, timeout=0.3)
    assert not running_with(word)


@pytest.mark.parametrize("status", [200, 404])
def test_a_url_is_ready_when_it_answers(tmp_path: Path, status: int) -> None:
    port = free_port()
    with ProcessGroup(purpose="unused", logs=tmp_path) as group:
        argv = [sys.executable, "-c", serve(port, status)]
        group.start("web", argv=argv, ready=f"http://127.0.0.1:{port}/")
        assert group.is_running("web")


def test_a_url_is_not_ready_while_it_answers_with_a_server_error(tmp_path: Path) -> None:
    port = free_port()
    with (
        ProcessGroup(purpose="unused", logs=tmp_path) as group,
        pytest.raises(OneLine, match="web was not ready after 2 s.* 503 "),
    ):
        argv = [sys.executable, "-c", serve(port, 503)]
        group.start("web", argv=argv, ready=f"http://127.0.0.1:{port}/", timeout=2)


def test_environment_is_added_and_the_rest_is_kept(tmp_path: Path) -> None:
    show = "import os; print(os.environ['ADDED'], os.environ['PATH'])"
    with ProcessGroup(purpose="unused", logs=tmp_path) as group:
        group.start("show", argv=[sys.executable, "-c", show], env={"ADDED": "yes"})
        assert group.wait("show", timeout=10) == 0
    assert (tmp_path / "show.log").read_text().strip() == f"yes {os.environ['PATH']}"
