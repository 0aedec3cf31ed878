"""P26: what people write down for the next shift, and promises nobody had to write down."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from cases.actions import lines
from cases.actions.clock import move_business_clock
from cases.clock import business_now
from cases.models import Case, CaseLine
from cases.queries.lines import LineView, lines_in_order, promises_made
from cases.vocabulary.errors import Conflict, InvalidInput, NotFound
from cases.vocabulary.shifts import AmbiguousTime, WallTime
from tests.cases.builders import (
    EVENING,
    EVENING_WORLD,
    Cast,
    a_quote,
    a_released_case,
    a_shipment,
    agent_starts_attempt,
    an_open_case,
    at_business_time,
    audit_of,
    target_answers,
    target_shows,
)

CHICAGO, DENVER = "America/Chicago", "America/Denver"


def write(case: Case, cast: Cast, sort: str, text: str = "Ask for Bo", **rest: Any) -> None:
    """The owner writes a line."""
    line = lines.NewLine(sort=sort, text=text, **rest)
    lines.write_line(case_id=case.pk, line=line, by=cast.owner, at=business_now())


def end(case: Case, cast: Cast, line_id: int, reason: str = "") -> None:
    """The colleague ends a line."""
    lines.end_line(
        case_id=case.pk, line_id=line_id, by=cast.colleague, at=business_now(), reason=reason
    )


def standing(case: Case) -> tuple[LineView, ...]:
    """The lines that stand now."""
    return lines_in_order(case.lines.filter(ended_at=None), at=business_now())


def wall(text: str, *, zone: str = CHICAGO, which: str = "") -> WallTime:
    """A typed time."""
    return WallTime(wall=datetime.fromisoformat(text), zone=zone, which=which)


@pytest.fixture
def case(cast: Cast) -> Case:
    """An open case on Monday 17:00 in Chicago."""
    at_business_time(EVENING)
    return an_open_case(cast)


def test_p26_a_line_stands_until_somebody_ends_it_and_stays_in_the_record(
    cast: Cast, case: Case
) -> None:
    write(case, cast, "waiting_on", party="Swift dispatch")
    (line,) = standing(case)
    assert (line.label, line.party, line.text) == ("Waiting on", "Swift dispatch", "Ask for Bo")
    end(case, cast, line.line_id, "Bo called")
    assert standing(case) == ()
    row = CaseLine.objects.get()
    assert (row.ended_by, row.ended_reason) == ("Dana Wu", "Bo called")
    assert [row.event for row in audit_of(case)[-2:]] == ["line_written", "line_ended"]
    with pytest.raises(Conflict, match="Dana Wu ended this line"):
        end(case, cast, line.line_id)


def test_p26_a_line_of_another_case_is_not_ended_here(cast: Cast, case: Case) -> None:
    other = an_open_case(cast, subject="S-319")
    write(other, cast, "note")
    with pytest.raises(NotFound):
        end(case, cast, standing(other)[0].line_id)


@pytest.mark.parametrize(
    ("sort", "rest", "words"),
    [
        ("note", {"text": "  "}, "Write something down"),
        ("rumour", {}, "what kind of line"),
        ("promise", {}, "to whom"),
        ("waiting_on", {}, "on whom"),
        ("note", {"party": "x" * 201}, "200 characters"),
        ("next_step", {"due": wall("0001-01-01T00:00")}, "not a year"),
        ("next_step", {"due": wall("2026-11-24T10:00", zone="CST")}, "not an IANA zone"),
    ],
)
def test_p26_a_line_that_says_too_little_is_refused_with_what_is_missing(
    cast: Cast, case: Case, sort: str, rest: dict[str, Any], words: str
) -> None:
    with pytest.raises(InvalidInput, match=words):
        write(case, cast, sort, **rest)
    assert not CaseLine.objects.exists()


def test_p26_what_must_not_be_done_is_read_first_then_what_is_due_first(
    cast: Cast, case: Case
) -> None:
    write(case, cast, "note", "N")
    write(case, cast, "next_step", "later", due=wall("2026-11-24T10:00"))
    write(case, cast, "next_step", "sooner", due=wall("2026-11-24T08:30"))
    write(case, cast, "do_not", "Call before 06:00")
    assert [line.text for line in standing(case)] == ["Call before 06:00", "sooner", "later", "N"]


def test_p26_a_line_is_overdue_from_its_minute_on_but_a_ban_only_runs_out(
    cast: Cast, case: Case
) -> None:
    write(case, cast, "do_not", due=wall("2026-11-23T18:00"))
    write(case, cast, "next_step", due=wall("2026-11-23T18:00"))
    assert [(line.is_over, line.is_overdue) for line in standing(case)] == [(False, False)] * 2
    move_business_clock(by=timedelta(hours=1))
    assert [(line.is_over, line.is_overdue) for line in standing(case)] == [
        (True, False),
        (True, True),
    ]


def test_scenario_06_a_due_time_that_occurs_twice_is_asked_about(cast: Cast, case: Case) -> None:
    """Denver, 1 November 2026, 01:30: 07:30Z or 08:30Z; nobody guesses which."""
    with pytest.raises(AmbiguousTime) as asked:
        write(case, cast, "next_step", due=wall("2026-11-01T01:30", zone=DENVER))
    assert asked.value.choices == (
        datetime(2026, 11, 1, 7, 30, tzinfo=UTC),
        datetime(2026, 11, 1, 8, 30, tzinfo=UTC),
    )
    assert not CaseLine.objects.exists()
    for which, hour in (("earlier", 7), ("later", 8)):
        write(case, cast, "next_step", due=wall("2026-11-01T01:30", zone=DENVER, which=which))
        line = CaseLine.objects.latest("pk")
        assert line.due_at == datetime(2026, 11, 1, hour, 30, tzinfo=UTC)
        assert line.due_zone == DENVER


def test_scenario_06_a_due_time_that_clocks_skip_is_refused(cast: Cast, case: Case) -> None:
    with pytest.raises(InvalidInput, match=r"02:30 does not exist .* 03:00 MDT"):
        write(case, cast, "next_step", due=wall("2026-03-08T02:30", zone=DENVER, which="later"))


def test_p26_a_message_that_we_sent_is_a_promise_though_nobody_wrote_it_down(cast: Cast) -> None:
    """From the read-back that saw it on; the booking promises nothing to anybody."""
    case = a_released_case(cast)
    grant, order = agent_starts_attempt(case, EVENING_WORLD)
    assert order is not None
    target_answers(grant, order)
    target_shows(grant, order, state="confirmed")
    ours = {"code": "BLUX", "name": "BLUX Lines", "set_by": "watchbill-agent"}
    booked = (a_shipment(42, carrier_assignment=ours), a_quote(state="used"))
    grant, message = agent_starts_attempt(case, booked, position=2)
    assert message is not None
    target_answers(grant, message)
    assert promises_made([case.pk], at=business_now()) == {}
    words = []
    for state in ("sent", "delivered"):
        target_shows(grant, message, state=state)
        (promise,) = promises_made([case.pk], at=business_now())[case.pk]
        words.append(promise.word)
    assert words == ["sent, not yet delivered", "delivered"]
    assert promise.to == "receiving@harborfoods.example"
    assert promise.what == "delivery Wed 25 Nov 10:00–12:00 EST"
    assert (promise.until, promise.zone) == (
        datetime(2026, 11, 25, 17, tzinfo=UTC),
        "America/New_York",
    )
