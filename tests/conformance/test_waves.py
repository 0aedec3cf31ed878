"""P1, P21: a pause in the middle of thirty releases; everything killed at once."""

import random
import time

import pytest

from cases.actions import pauses
from cases.clock import business_now
from cases.models import Attempt, Run
from tests.conformance import broker
from tests.conformance.bench import Bench, wait_for
from tests.conformance.table import Form, Tally
from tests.conformance.wave import DONE, Wave
from tools.stories.record import StoryBroke

pytestmark = pytest.mark.processes
PAUSED = "pause during a wave of 30 releases (a run is a case)"
KILLED = "everything killed at once (a run is a case)"
LATEST_CALL_SECONDS = 1.0
TAKEN_UP_WITHIN_SECONDS = 30.0
WAVE_PATIENCE_SECONDS = 120.0
IN_FLIGHT = ("executing", "verifying", "reconciling")


def pause_in_the_middle(bench: Bench, wave: Wave) -> None:
    """Half are released and under way; the other half is released while the pause stands."""
    for name in ("first", "second"):
        bench.start_lone(name)
    half = len(wave.case_ids) // 2
    wait_for(
        lambda: wave.in_stage("waiting_for_review") == len(wave.case_ids),
        "all proposals are ready",
        patience=WAVE_PATIENCE_SECONDS,
    )
    wave.release(wave.case_ids[:half])
    enough = random.randint(0, half // 2)
    wait_for(lambda: wave.in_stage(DONE) >= enough, "some are done", patience=60)
    by, at = bench.cast.lead, business_now()
    pause = pauses.set_pause(lane="", kind="", agent="", reason="Stop", by=by, at=at)
    time.sleep(LATEST_CALL_SECONDS)
    begun, calls = Attempt.objects.count(), len(bench.control.calls())
    wave.release(wave.case_ids[half:])
    time.sleep(LATEST_CALL_SECONDS / 2)
    if Attempt.objects.count() > begun or len(bench.control.calls()) > calls:
        raise StoryBroke("something was called although a pause stands")
    pauses.lift_pause(pause_id=pause.pk, reason="Go on", by=by, at=business_now())
    wait_for(wave.are_done, "all releases are carried out", patience=WAVE_PATIENCE_SECONDS)


def test_p21_a_pause_during_a_wave_loses_and_doubles_nothing(
    bench: Bench, tally: Tally, form: Form
) -> None:
    """No call later than a second after it; everything exactly once when it is lifted."""
    for _ in form.of(full=3):
        wave = Wave(bench, size=30 if form is Form.FULL else 4)
        try:
            pause_in_the_middle(bench, wave)
        except StoryBroke as broke:
            tally.faults.append(str(broke))
        for verdict in wave.verdicts():
            tally.watchbill(PAUSED, verdict)


def everything_dies(bench: Bench, wave: Wave) -> None:
    """All workers end with SIGKILL while cases are in flight, and their messages are gone."""
    names = ("first", "second", "third")
    broker.start_workers(bench.nursery, *names)
    everyone = len(wave.case_ids)
    wait_for(
        lambda: wave.in_stage("waiting_for_review") == everyone,
        "all proposals are ready",
        patience=WAVE_PATIENCE_SECONDS,
    )
    wave.release(wave.case_ids)
    wait_for(lambda: wave.in_stage(*IN_FLIGHT) < everyone, "some are done", patience=60)
    bench.nursery.kill_all()
    broker.empty()
    tokens = dict(Run.objects.values_list("case_id", "fencing_token"))
    left = [run.case_id for run in Run.objects.exclude(case__stage=DONE)]
    broker.start_workers(bench.nursery, *names)
    wait_for(
        lambda: all(
            Run.objects.get(case_id=case_id).fencing_token > tokens[case_id] for case_id in left
        ),
        "every open case was taken up again",
        patience=TAKEN_UP_WITHIN_SECONDS,
    )
    wait_for(
        lambda: wave.in_stage(DONE) == everyone, "all are done", patience=WAVE_PATIENCE_SECONDS
    )


@pytest.mark.long_conformance
def test_p01_everything_killed_at_once_is_taken_up_within_30_seconds(
    bench: Bench, beat: None, tally: Tally, form: Form
) -> None:
    """By the real clock, without a person; nobody moves the desk's clock here."""
    for _ in form.of(full=2):
        wave = Wave(bench, size=12 if form is Form.FULL else 3)
        try:
            everything_dies(bench, wave)
        except StoryBroke as broke:
            tally.faults.append(str(broke))
        for verdict in wave.verdicts():
            tally.watchbill(KILLED, verdict)
