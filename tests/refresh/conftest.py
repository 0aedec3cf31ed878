"""Fixtures of the refresh: a desk in Chicago, and a transport system in memory with a feed."""

from dataclasses import replace

import pytest
from pytest_django import Settings

from cases.vocabulary.freight import FREIGHT
from tests.cases.builders import Cast, a_cast
from tests.refresh.outside import Outside


@pytest.fixture
def cast(db: None, settings: Settings) -> Cast:
    """The people and the desk of a test, with a business clock that may move."""
    settings.MOVABLE_CLOCK = True
    return a_cast()


@pytest.fixture
def outside() -> Outside:
    """A transport system in which nothing has happened yet."""
    return Outside()


@pytest.fixture
def two_types(monkeypatch: pytest.MonkeyPatch) -> None:
    """A second kind of trouble, E07, that a shipment may have beside E02."""
    types = FREIGHT.types
    assert isinstance(types, dict)
    monkeypatch.setitem(types, "E07", replace(types["E02"], code="E07"))
