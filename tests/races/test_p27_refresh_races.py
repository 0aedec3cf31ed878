"""P27: a refresh that runs while people take cases over leaves each case to whoever took it."""

import time
from typing import Any

import pytest

from cases.models import Case
from cases.models.case import CaseQuerySet
from cases.vocabulary.refreshing import NotRead
from tests.cases.builders import Cast, audit_of
from tests.races.together import together
from tests.refresh.outside import Outside, a_night


def test_p27_a_case_taken_while_the_refresh_locks_it_stays_with_its_new_owner(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its source cannot be read, so that it is blocked, for which it must have an owner."""
    outside = Outside()
    case = a_night(cast, outside, ["S-1"])["S-1"]
    outside.is_away = NotRead(reason="transport system answered 503")
    joined = CaseQuerySet.select_related

    def slowly(self: CaseQuerySet, *names: str) -> Any:
        """Between what the lock's statement sees and the lock itself lies a second."""
        found = joined(self, *names)
        if "desk__lead" not in names:
            return found
        return found.extra(where=["(SELECT true FROM pg_sleep(1)) IS NOT NULL"])

    def dana_takes_it() -> None:
        time.sleep(0.5)
        Case.objects.filter(pk=case.pk).update(owner=cast.colleague)

    monkeypatch.setattr(CaseQuerySet, "select_related", slowly)
    results = together([dana_takes_it, outside.refresh])
    assert not any(isinstance(result, Exception) for result in results), results
    monkeypatch.undo()
    case.refresh_from_db()
    assert (case.stage, case.owner) == ("blocked", cast.colleague)
    assert "owner_changed" not in {event.event for event in audit_of(case)}
