"""P21: after a pause is committed, no call starts at the target later than a second (its clock)."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection

from cases.actions import closing, pauses
from cases.clock import business_now
from cases.vocabulary.errors import Conflict
from tests.conformance.bench import Bench, wait_for
from tests.conformance.table import Form, Tally, Verdict
from tests.conformance.wave import Wave

pytestmark = pytest.mark.processes
SCENARIO = "pause under load: a call later than 1 s"
LATEST_CALL = timedelta(seconds=1)
WATCHED_SECONDS = 2.6
# A visit makes three reads: unless each is asked for, the others start more than a second later.
SLOW_READ_SECONDS = 1.2
CALLS_UNDER_WAY = 4


@contextmanager
def load(bench: Bench, wave: Wave) -> Iterator[None]:
    """People ask for fresh readings of every case, again and again."""
    is_over = threading.Event()

    def ask() -> None:
        try:
            while not is_over.is_set():
                for case_id in wave.case_ids:
                    _ask_once(bench, case_id)
                is_over.wait(0.05)
        finally:
            connection.close()

    asking = threading.Thread(target=ask, daemon=True)
    asking.start()
    try:
        yield
    finally:
        is_over.set()
        asking.join()


def _ask_once(bench: Bench, case_id: int) -> None:
    try:
        closing.refresh_now(case_id=case_id, by=bench.cast.owner, at=business_now())
    except Conflict:  # somebody else is changing the case right now
        return


def lateness(bench: Bench) -> timedelta | None:
    """Pause in the middle of the load; how long after it the last call started, if any did."""
    before = max((call.sequence for call in bench.control.calls()), default=0)
    wait_for(
        lambda: len(bench.control.calls(after=before)) >= CALLS_UNDER_WAY,
        "calls are under way",
        patience=20,
    )
    pause = pauses.set_pause(
        lane="", kind="", agent="", reason="Stop", by=bench.cast.lead, at=business_now()
    )
    committed_at = datetime.now(UTC)
    time.sleep(WATCHED_SECONDS)
    later = [
        call.real_at - committed_at
        for call in bench.control.calls(after=before)
        if call.real_at > committed_at
    ]
    pauses.lift_pause(pause_id=pause.pk, reason="Go on", by=bench.cast.lead, at=business_now())
    return max(later, default=None)


def test_p21_no_call_starts_later_than_a_second_after_a_pause(
    bench: Bench, tally: Tally, form: Form
) -> None:
    """Three workers, many cases, a slow target; the pause comes at any moment of a visit."""
    wave = Wave(bench, size=12 if form is Form.FULL else 6)
    for name in ("first", "second", "third"):
        bench.start_lone(name)
    wait_for(
        lambda: wave.in_stage("waiting_for_review") == len(wave.case_ids),
        "all proposals are ready",
        patience=120,
    )
    bench.control.fault("slow", method="GET", path_prefix="/v1/", seconds=SLOW_READ_SECONDS)
    with load(bench, wave):
        for _ in form.of(full=20, short=2):
            late = lateness(bench)
            is_late = late is not None and late > LATEST_CALL
            tally.watchbill(SCENARIO, Verdict(wrong_effects=int(is_late), said=f"{late}"))
