"""Fixtures of the record's tests: a cast and a movable clock on real PostgreSQL."""

import pytest
from pytest_django import Settings

from tests.cases.builders import Cast, a_cast


@pytest.fixture
def cast(db: None, settings: Settings) -> Cast:
    """The people and the desk of a test, with a business clock that may move."""
    settings.MOVABLE_CLOCK = True
    return a_cast()
