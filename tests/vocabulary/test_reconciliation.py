"""P16, P17: what is done about an unknown outcome follows from what the target declares, alone."""

from dataclasses import replace
from datetime import timedelta
from itertools import product
from typing import Any

import pytest

from cases.vocabulary.errors import InvalidInput
from cases.vocabulary.reconciliation import (
    LONGEST_ON_ITS_WAY,
    MOST_TRIES,
    Doubt,
    NextStep,
    next_step,
    why_a_person,
)
from cases.vocabulary.work import Capabilities, VersionKind

DAY, WINDOW = timedelta(hours=24), timedelta(seconds=5)
ALL = Capabilities(
    system="transport",
    versions=VersionKind.NUMBER,
    conditional_writes=True,
    leases=True,
    fencing=True,
    lookup_by_reference=True,
    key_lifetime=DAY,
    consistency_window=WINDOW,
)
ABSENT = Doubt(waited=WINDOW, key_age=timedelta(minutes=1), was_answered=False, tries=1)
TRY_AGAIN, REPEAT, ASK = NextStep.TRY_AGAIN, NextStep.REPEAT, NextStep.ASK_A_PERSON


@pytest.mark.parametrize(
    ("lookup", "fencing", "keys", "step"),
    [
        (True, True, "alive", TRY_AGAIN),
        (True, True, "none", TRY_AGAIN),
        (True, True, "expired", ASK),
        (True, False, "alive", REPEAT),
        (True, False, "none", ASK),
        (True, False, "expired", ASK),
        (False, True, "alive", REPEAT),
        (False, True, "none", ASK),
        (False, True, "expired", ASK),
        (False, False, "alive", REPEAT),
        (False, False, "none", ASK),
        (False, False, "expired", ASK),
    ],
)
def test_p16_each_kind_of_target_has_one_way_out_of_an_unknown_outcome(
    lookup: bool, fencing: bool, keys: str, step: NextStep
) -> None:
    can = replace(
        ALL,
        lookup_by_reference=lookup,
        fencing=fencing,
        leases=fencing,
        key_lifetime=None if keys == "none" else DAY,
    )
    doubt = replace(ABSENT, key_age=DAY if keys == "expired" else ABSENT.key_age)
    assert next_step(can=can, doubt=doubt) is step


@pytest.mark.parametrize("waited", [None, timedelta(0), WINDOW - timedelta(milliseconds=1)])
def test_p16_inside_the_consistency_window_no_target_proves_anything(
    waited: timedelta | None,
) -> None:
    for lookup, fencing, lifetime in product((True, False), (True, False), (DAY, None)):
        can = replace(ALL, lookup_by_reference=lookup, fencing=fencing, key_lifetime=lifetime)
        for tries in (1, MOST_TRIES):
            doubt = replace(ABSENT, waited=waited, tries=tries)
            assert next_step(can=can, doubt=doubt) is NextStep.WAIT


def test_p16_a_key_that_could_expire_on_the_way_is_not_used_again() -> None:
    can = replace(ALL, lookup_by_reference=False)
    just_in_time = DAY - LONGEST_ON_ITS_WAY - timedelta(seconds=1)
    assert next_step(can=can, doubt=replace(ABSENT, key_age=just_in_time)) is REPEAT
    too_late = DAY - LONGEST_ON_ITS_WAY
    assert next_step(can=can, doubt=replace(ABSENT, key_age=too_late)) is ASK


def test_p16_what_was_accepted_and_is_gone_is_sent_again_only_under_a_key() -> None:
    gone = replace(ABSENT, was_answered=True)
    assert next_step(can=ALL, doubt=gone) is TRY_AGAIN
    assert next_step(can=replace(ALL, key_lifetime=None), doubt=gone) is ASK


def test_p16_after_three_tries_a_person_looks_at_the_target() -> None:
    for lookup in (True, False):
        can = replace(ALL, lookup_by_reference=lookup)
        assert next_step(can=can, doubt=replace(ABSENT, tries=MOST_TRIES)) is ASK


@pytest.mark.parametrize(
    ("can", "doubt", "why"),
    [
        ({}, {"tries": 3}, "3 times"),
        ({}, {"key_age": DAY}, "no longer honoured"),
        ({"key_lifetime": None}, {"was_answered": True}, "accepted and is gone"),
        ({"key_lifetime": None, "lookup_by_reference": False}, {}, "cannot be looked up"),
        ({"key_lifetime": None, "fencing": False}, {}, "could still arrive"),
    ],
)
def test_a_person_who_is_asked_is_told_why(
    can: dict[str, Any], doubt: dict[str, Any], why: str
) -> None:
    said = why_a_person(can=replace(ALL, **can), doubt=replace(ABSENT, **doubt))
    assert why in said


@pytest.mark.parametrize(
    "contradiction",
    [
        {"versions": VersionKind.NONE},
        {"leases": False},
        {"consistency_window": timedelta(seconds=-1)},
        {"key_lifetime": timedelta(0)},
        {"calls_per_minute": 0},
    ],
)
def test_p17_a_declaration_that_contradicts_itself_is_refused(
    contradiction: dict[str, Any],
) -> None:
    with pytest.raises(InvalidInput, match="transport"):
        replace(ALL, **contradiction)
