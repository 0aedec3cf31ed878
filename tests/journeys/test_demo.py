"""The demo on real processes: a full desk in the evening, and in the morning a sheet to sign."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import redis
from pytest_django import Settings

from cases import policies
from cases.actions.clock import ask_to_advance, open_clock_request
from cases.actions.sheets import sides_of
from cases.clock import business_now
from cases.models import Case, ClockRequest, Handover
from cases.queries.handover import find_handover, sheet_of
from cases.queries.handover_shapes import Sheet
from tests.crashes.fixtures import broker_of_this_worker, worker_environment
from tests.simulator import Simulator
from tools.processes import ProcessGroup
from tools.stories import wave
from tools.stories.demo import pass_time
from tools.stories.full_desk import FullDesk
from tools.stories.house import House
from tools.stories.s318 import MORNING, SHIPMENT, Night

pytestmark = pytest.mark.processes

SECTIONS = {
    "Outcome unknown": {wave.IN_DOUBT},
    "Source not refreshed": {wave.AWAY, wave.AWAY_TOO},
    "Stale overnight": {SHIPMENT, wave.LOADED_LATER, wave.DEARER},
    "Ready to decide": {wave.UNOWNED, wave.URGENT, wave.READY, wave.READY_TOO},
    "Waking today": {wave.NO_RATE},
    "Under way": {wave.CONFIRMING},
    "Done overnight": {wave.DONE, wave.DONE_BY_STAFF},
}


@pytest.fixture
def desk(
    transactional_db: None, simulator: Simulator, settings: Settings, tmp_path: Path
) -> Iterator[FullDesk]:
    """Its processes run, on empty databases."""
    settings.DEMO = settings.MOVABLE_CLOCK = True
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    with redis.Redis.from_url(broker_of_this_worker()) as client:
        client.flushdb()
    with ProcessGroup(purpose="test", logs=tmp_path / "log") as processes:
        house = House(processes=processes, environment=worker_environment(simulator))
        house.start_worker()
        house.start_beat()
        yield FullDesk(night=Night(house=house, control=simulator.control, scenario="desk"))


def sections_of(sheet: Sheet) -> dict[str, set[str]]:
    """The sections that have cases, and which."""
    return {part.label: {row.subject for row in part.rows} for part in sheet.sections if part.rows}


def test_the_night_of_the_demo_leaves_a_full_sheet_that_the_day_shift_may_sign(
    desk: FullDesk, capsys: pytest.CaptureFixture[str]
) -> None:
    desk.night.evening()
    desk.open()
    assert Case.objects.count() == 14
    marta = desk.night.person("marta")
    ask_to_advance(until=MORNING, by=marta, at=business_now())
    request = open_clock_request()
    assert request is not None
    pass_time(desk, request)
    assert "went differently" not in capsys.readouterr().out
    assert not ClockRequest.objects.filter(done_at=None).exists()
    handover = find_handover(Handover.objects.get(boundary=MORNING).pk)
    sheet = sheet_of(handover=handover, at=business_now())
    assert sections_of(sheet) == SECTIONS
    assert sheet.published_by == "Robin Kim"
    assert Case.objects.get(subject=SHIPMENT).owner == marta
    assert Case.objects.get(subject=wave.UNOWNED).owner == desk.night.person("kim")
    policies.check_may_sign(
        person=marta, handover=handover, sides=sides_of(handover), at=business_now()
    )
