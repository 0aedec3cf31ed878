"""P8: the sweep itself escalates overdue decisions; no agent has to be free for it."""

from types import SimpleNamespace

import pytest
from pytest_django import Settings

from agent import tasks
from agent.desk import RecordDesk
from cases.actions import pauses
from cases.clock import business_now
from cases.models import Case, Escalation
from tests.cases.builders import a_case_waiting_for_review, a_cast


def test_p08_the_sweep_escalates_while_everything_is_paused(
    db: None, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.MOVABLE_CLOCK = True
    cast = a_cast()
    case = a_case_waiting_for_review(cast)
    Case.objects.filter(pk=case.pk).update(decide_by=business_now())
    pauses.set_pause(lane="", kind="", agent="", reason="Storm", by=cast.lead, at=business_now())
    desk = RecordDesk(agent_name="exception-bot", agent_version="1.0")
    monkeypatch.setattr(tasks, "crew", lambda: SimpleNamespace(runner=SimpleNamespace(desk=desk)))
    assert tasks.sweep() == 0, "nobody is nudged"
    assert Escalation.objects.get().to == cast.lead
