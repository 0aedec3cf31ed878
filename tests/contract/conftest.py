"""The clauses live in a module of their own; their failures are explained like those of tests."""

import pytest

pytest.register_assert_rewrite("tests.contract.clauses")
