"""Who stands in a shift, and who is asked for a case."""

from datetime import UTC, date, datetime, timedelta

from cases.vocabulary.rosters import (
    Away,
    Crewed,
    Position,
    Watch,
    chain_for,
    crew_of,
    first_available,
    is_away,
)
from cases.vocabulary.shifts import Shift

MARTA, LEO, DANA, KIM, RUTH = 1, 2, 3, 4, 5
EIGHT = datetime(2026, 11, 24, 14, 0, tzinfo=UTC)
DAY = Shift(
    name="Day",
    day=date(2026, 11, 24),
    starts_at=EIGHT,
    ends_at=EIGHT + timedelta(hours=9),
    overlap_until=EIGHT,
)
EVERY_DAY = frozenset(range(7))


def watch(entry_id: int, person: int | None, **changes: object) -> Watch:
    """Somebody is primary of the day shift from November on."""
    given: dict[str, object] = {
        "shift": "Day",
        "position": Position.PRIMARY,
        "first_day": date(2026, 11, 1),
        "last_day": None,
        "days": EVERY_DAY,
    }
    return Watch(entry_id=entry_id, person=person, **{**given, **changes})  # type: ignore[arg-type]


def primary(*watches: Watch) -> int | None:
    """Who is primary of the day shift on 24 November."""
    return crew_of(DAY, watches=watches).primary


def test_the_newest_entry_counts_whatever_order_they_come_in() -> None:
    assert primary(watch(2, LEO), watch(1, MARTA)) == LEO


def test_a_swap_for_one_day_leaves_the_other_days_alone() -> None:
    swap = watch(2, LEO, first_day=date(2026, 11, 24), last_day=date(2026, 11, 24))
    assert primary(watch(1, MARTA), swap) == LEO
    later = watch(2, LEO, first_day=date(2026, 11, 25), last_day=date(2026, 11, 25))
    assert primary(watch(1, MARTA), later) == MARTA


def test_an_entry_counts_only_on_its_days_and_for_its_shift() -> None:
    assert primary(watch(1, MARTA, days=frozenset({0}))) is None
    assert primary(watch(1, MARTA, shift="Night")) is None
    assert primary(watch(1, MARTA, last_day=date(2026, 11, 23))) is None


def test_an_entry_can_say_that_nobody_stands_there() -> None:
    assert primary(watch(1, MARTA), watch(2, None)) is None


def asked(absences: dict[int, str], first: Position | int = Position.PRIMARY) -> list[int | None]:
    """The chain of people, with Marta primary, Leo backup, Dana lead of shift and desk."""
    chain = chain_for(
        first=first,
        crew=Crewed(primary=MARTA, backup=LEO, lead=DANA),
        desk_lead=DANA,
        desk_manager=KIM,
        absences=absences,
    )
    return [link.person for link in chain]


def test_the_chain_goes_from_primary_to_manager_and_asks_nobody_twice() -> None:
    assert asked({}) == [MARTA, LEO, DANA, KIM]


def test_a_rule_puts_a_person_or_a_position_first() -> None:
    assert asked({}, first=RUTH) == [RUTH, MARTA, LEO, DANA, KIM]
    assert asked({}, first=Position.BACKUP) == [LEO, MARTA, DANA, KIM]


def test_the_first_available_one_is_asked_and_the_chain_says_why_not_the_others() -> None:
    chain = chain_for(
        first=Position.PRIMARY,
        crew=Crewed(primary=MARTA, backup=None, lead=None),
        desk_lead=DANA,
        desk_manager=KIM,
        absences={MARTA: "on leave until Wed 08:00 CST"},
    )
    chosen = first_available(chain)
    assert chosen is not None and (chosen.person, chosen.why) == (DANA, "lead of the desk")
    assert [(link.why, link.person, link.absence) for link in chain[:3]] == [
        ("primary of the shift", MARTA, "on leave until Wed 08:00 CST"),
        ("backup of the shift", None, ""),
        ("lead of the shift", None, ""),
    ]


def test_nobody_is_available_when_all_are_away() -> None:
    chain = chain_for(
        first=Position.PRIMARY,
        crew=Crewed(primary=None, backup=None, lead=None),
        desk_lead=DANA,
        desk_manager=None,
        absences={DANA: "not active"},
    )
    assert first_available(chain) is None


def test_leave_is_half_open() -> None:
    leave = Away(person=MARTA, starts_at=EIGHT, ends_at=EIGHT + timedelta(hours=1))
    assert is_away(MARTA, at=EIGHT, leaves=[leave])
    assert not is_away(MARTA, at=leave.ends_at, leaves=[leave])
    assert not is_away(LEO, at=EIGHT, leaves=[leave])
