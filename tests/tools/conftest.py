"""What the tests of the tools share."""

import uuid

import pytest


@pytest.fixture
def word() -> str:
    """A word that appears in the arguments of nothing but this test's processes."""
    return f"word-{uuid.uuid4().hex}"
