"""P28: the sweep itself lets no case lose its owner; no agent has to be free for it."""

from types import SimpleNamespace

import pytest
from pytest_django import Settings

from agent import tasks
from agent.desk import RecordDesk
from cases.actions import pauses
from cases.clock import business_now
from cases.models import Case
from tests.cases.builders import a_cast, an_open_case


def test_p28_the_sweep_keeps_cases_owned_while_everything_is_paused(
    db: None, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.MOVABLE_CLOCK = True
    cast = a_cast()
    case = an_open_case(cast)
    Case.objects.filter(pk=case.pk).update(owner=cast.gone)
    pauses.set_pause(lane="", kind="", agent="", reason="Storm", by=cast.lead, at=business_now())
    desk = RecordDesk(agent_name="exception-bot", agent_version="1.0")
    monkeypatch.setattr(tasks, "crew", lambda: SimpleNamespace(runner=SimpleNamespace(desk=desk)))
    assert tasks.sweep() == 0, "nobody is nudged"
    case.refresh_from_db()
    assert case.owner == cast.lead
