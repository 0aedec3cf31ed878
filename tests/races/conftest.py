"""Fixtures of race tests: committed rows, real threads, real PostgreSQL."""

import pytest
from pytest_django import Settings

from tests.cases.builders import Cast, a_cast


@pytest.fixture
def cast(transactional_db: None, settings: Settings) -> Cast:
    """The people and the desk, committed, with a business clock that may move."""
    settings.MOVABLE_CLOCK = True
    return a_cast()
