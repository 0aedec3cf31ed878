"""P34: numbers a lead can act on, counted from the record exactly as their words say."""

from datetime import datetime, timedelta

from django.db import connection
from django.test.utils import CaptureQueriesContext

from cases.actions import decisions, runs, withdrawal
from cases.actions.handovers import open_handovers
from cases.clock import business_now
from cases.models import Case, Desk, Run
from cases.queries.numbers import numbers_page, period_of
from cases.queries.numbers_decisions import decisions_in
from cases.queries.numbers_shapes import Number, NumbersPage
from cases.queries.numbers_unread import UNREAD_SPANS, parameters, unread_spans
from cases.vocabulary.numbers import Span
from tests.cases.builders import (
    AGENT,
    EVENING,
    EVENING_WORLD,
    LEASE,
    MORNING,
    MORNING_WORLD,
    TWO_O_CLOCK,
    Cast,
    a_case_waiting_for_review,
    a_grant,
    a_person_closes,
    a_shipment,
    agent_reads,
    agent_starts_attempt,
    an_answer,
    an_open_case,
    at_business_time,
    stage_of,
    unreadable,
)
from tests.cases.doubts import a_case_in_doubt
from tests.cases.mornings import (
    Kind,
    a_night_case,
    a_roster,
    answer,
    looked_at,
    morning_of,
    opened,
    read_again,
)

MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)
MOST_QUERIES = 10


def page_now(cast: Cast, *, days: int = 7, by: str = "day") -> NumbersPage:
    """The numbers as they stand now."""
    return numbers_page(desk=cast.desk, days=days, by=by, at=business_now())


def number(page: NumbersPage, key: str) -> Number:
    """One of them."""
    return next(one for one in page.numbers if one.key == key)


def cells(page: NumbersPage, key: str) -> dict[str, tuple[str, ...]]:
    """Its parts in which anything counts: label to cells."""
    lines = number(page, key).lines
    return {line.label: tuple(line.cells) for line in lines if line.bar}


def released(case: Case, cast: Cast) -> None:
    """The owner releases what stands now."""
    case.refresh_from_db()
    decisions.release(answer=an_answer(case), by=cast.owner, at=business_now())


def unread(case: Case, *, at: datetime) -> None:
    """The source of the case cannot be read."""
    at_business_time(at)
    agent_reads(case, (unreadable(a_shipment(subject=case.subject)),))


def test_p34_a_proposal_that_no_longer_held_when_its_row_was_taken_over_is_stale_at_resume(
    cast: Cast,
) -> None:
    a_roster(cast)
    stale, held, decided, later = (
        a_night_case(cast, subject) for subject in ("S-318", "S-319", "S-320", "S-321")
    )
    released(decided, cast)  # before the sheet was opened: it waited for nobody
    opened(cast)
    read_again(stale, 44, delivery_window=TWO_O_CLOCK)
    agent_starts_attempt(decided, morning_of(decided, 44, delivery_window=TWO_O_CLOCK))
    for case in (held, later):
        read_again(case)
    at_business_time(MORNING + 10 * MINUTE)
    for case in (held, later):
        answer(looked_at(case), Kind.ACCEPT, cast.colleague)
    read_again(later, 45, delivery_window=TWO_O_CLOCK)  # moved when its new owner had it
    page = page_now(cast)
    found = number(page, "stale")
    assert (found.value, cells(page, "stale")) == ("33 %", {"Tue 24 Nov": ("1", "3", "33 %")})
    assert [one.subject for one in found.behind] == ["S-318"]
    assert "proposal 2 stale: Changed since it was made" in found.behind[0].says


def test_p34_what_went_stale_after_its_release_was_not_resumed_stale(cast: Cast) -> None:
    a_roster(cast)
    case = a_night_case(cast)
    opened(cast)
    released(case, cast)
    at_business_time(MORNING + MINUTE)
    assert number(page_now(cast), "stale").value == "0 %"
    agent_starts_attempt(case, morning_of(case, 46, delivery_window=TWO_O_CLOCK))
    assert case.proposals.get(number=2).state == "stale"
    assert number(page_now(cast), "stale").value == "0 %"


def test_p34_an_untaken_row_counts_until_the_next_handover(cast: Cast) -> None:
    a_roster(cast)
    case = a_night_case(cast)
    opened(cast)
    read_again(case)
    at_business_time(MORNING + 9 * HOUR)
    assert open_handovers() == 1  # nobody took the row over by day
    read_again(case, 44, delivery_window=TWO_O_CLOCK)
    page = page_now(cast, by="shift")
    assert number(page, "stale").says == "1 of 2 proposals that one shift left to the next."
    assert cells(page, "stale") == {"Tue 24 Nov, Evening": ("1", "1", "100 %")}


def test_p34_time_with_refresh_failed_is_what_cases_stood_blocked_for_it(cast: Cast) -> None:
    one, other = (a_case_waiting_for_review(cast, subject=name) for name in ("S-318", "S-319"))
    unread(one, at=EVENING + HOUR)
    unread(one, at=EVENING + 2 * HOUR)  # the next try failed too: still the same stay
    unread(other, at=EVENING + 2 * HOUR)
    at_business_time(EVENING + 3 * HOUR)
    agent_reads(one, EVENING_WORLD)
    at_business_time(EVENING + 4 * HOUR)
    page = page_now(cast, by="shift")
    found = number(page, "unread")
    assert found.says == "2 cases stood blocked 2 times."
    assert cells(page, "unread") == {"Mon 23 Nov, Evening": (found.value, "2")}
    assert found.value in {"3 h 59 min", "4 h"}
    assert {span.subject: round(span.length / HOUR, 1) for span in spans(cast)} == {
        "S-318": 2.0,
        "S-319": 2.0,
    }


def spans(cast: Cast) -> list[Span]:
    """The stays of the last 7 days."""
    period = period_of(desk=cast.desk, days=7, by="day", at=business_now())
    return unread_spans(desk=cast.desk, period=period)


def test_p34_blocked_for_something_else_is_no_failed_refresh(cast: Cast) -> None:
    visit, went_back, budget = (
        a_case_waiting_for_review(cast, subject=name) for name in ("S-318", "S-319", "S-320")
    )
    at_business_time(EVENING + HOUR)
    runs.block(grant=a_grant(visit), by=AGENT, reason="The agent's visit failed.")
    agent_reads(went_back, (a_shipment(40, subject="S-319"),))
    unread(budget, at=EVENING + HOUR)
    at_business_time(EVENING + 2 * HOUR)
    Run.objects.filter(case=budget).update(steps=2_000)
    runs.renew(grant=a_grant(budget), agent=AGENT, lease=LEASE)
    at_business_time(EVENING + 5 * HOUR)
    assert {stage_of(case) for case in (visit, went_back, budget)} == {"blocked"}
    found = [(span.subject, round(span.length / HOUR, 1)) for span in spans(cast)]
    assert found == [("S-320", 1.0)]


def test_p34_a_case_blocked_since_before_the_period_counts_from_its_beginning(cast: Cast) -> None:
    unread(a_case_waiting_for_review(cast), at=EVENING + HOUR)
    at_business_time(EVENING + timedelta(days=9))
    period = period_of(desk=cast.desk, days=7, by="day", at=business_now())
    (span,) = unread_spans(desk=cast.desk, period=period)
    assert (span.starts_at, span.ends_at) == (period.since, period.at)
    assert number(page_now(cast), "unread").value.startswith("6 days 17 h")


def test_p34_corrections_are_what_people_turned_down_or_took_back(cast: Cast) -> None:
    case = a_case_waiting_for_review(cast)
    at_business_time(EVENING + 30.5 * MINUTE)
    decisions.send_back(
        answer=an_answer(case, reason="Too dear."), by=cast.owner, at=business_now()
    )
    at_business_time(EVENING + 40 * MINUTE)
    agent_reads(case, MORNING_WORLD)
    at_business_time(EVENING + 100.5 * MINUTE)
    released(case, cast)
    assert number(page_now(cast), "corrections").value == "1.00"
    withdrawal.withdraw_release(
        case_id=case.pk, by=cast.owner, at=business_now(), reason="Not yet."
    )
    page = page_now(cast)
    found = number(page, "corrections")
    assert cells(page, "corrections") == {"Mon 23 Nov": ("1", "0", "1", "1", "2.00")}
    assert [one.says for one in found.behind] == [
        "proposal 2 released, then withdrawn",
        "proposal 1 sent back",
    ]
    assert cells(page, "decision") == {"Mon 23 Nov": ("2", "45 min", "1 h")}


def test_p34_a_version_that_the_agent_replaced_is_no_correction(cast: Cast) -> None:
    case = a_case_waiting_for_review(cast)
    agent_reads(case, MORNING_WORLD)
    assert case.proposals.count() == 2
    found = number(page_now(cast), "corrections")
    assert (found.value, found.is_empty) == ("–", True)


def test_p34_handover_latency_counts_from_the_boundary_to_each_rows_first_taking(
    cast: Cast,
) -> None:
    a_roster(cast)
    cases = [a_night_case(cast, f"S-31{number}") for number in range(4)]
    opened(cast)
    for case in cases:
        read_again(case)
    for case, after in zip(cases[:3], (10, 20, 40), strict=True):
        at_business_time(MORNING + after * MINUTE)
        answer(looked_at(case), Kind.ACCEPT, cast.colleague)
    at_business_time(MORNING + HOUR)
    answer(looked_at(cases[2]), Kind.ACCEPT, cast.lead)  # again: the first time counts
    answer(looked_at(cases[3]), Kind.REFUSE, cast.lead, reason="Unknown to us.")
    page = page_now(cast)
    assert cells(page, "latency") == {"Tue 24 Nov": ("3", "20 min", "40 min")}
    found = number(page, "latency")
    assert found.says.endswith("the last after 40 min. 1 row was not taken over.")
    assert [one.subject for one in found.behind] == ["S-312", "S-311", "S-310"]


def test_p34_done_is_counted_apart_from_waiting_for_a_decision_and_for_confirmation(
    cast: Cast,
) -> None:
    _, grant, _ = a_case_in_doubt(cast)
    runs.block(grant=grant, by=AGENT, reason="The target cannot be asked.")
    waits, rejected, closed, blocked = (
        a_case_waiting_for_review(cast, subject=f"S-32{number}") for number in range(4)
    )
    an_open_case(cast, subject="S-330")
    decisions.reject(answer=an_answer(rejected, reason="No."), by=cast.owner, at=business_now())
    a_person_closes(closed, by=cast.owner)
    unread(blocked, at=EVENING + MINUTE)
    page = page_now(cast)
    assert {place.key: place.count for place in page.standing} == {
        "done": 1,
        "waiting_for_review": 1,
        "confirmation": 1,
        "waiting_for_acceptance": 0,
        "blocked": 1,
        "escalated": 1,
        "agent": 1,
    }
    assert stage_of(waits) == "waiting_for_review"
    assert [one.subject for one in number(page, "done").behind] == ["S-322"]


def test_p34_each_desk_is_counted_alone(cast: Cast) -> None:
    unread(a_case_waiting_for_review(cast), at=EVENING + HOUR)
    other = Desk.objects.create(name="LHR desk", zone="Europe/London", lead=cast.lead)
    assert numbers_page(desk=other, days=30, by="shift", at=business_now()).is_empty
    assert not page_now(cast).is_empty


def test_p34_the_numbers_take_the_same_few_queries_for_any_number_of_cases(cast: Cast) -> None:
    a_roster(cast)
    counts = []
    for subjects in (("S-318",), ("S-319", "S-320", "S-321")):
        for subject in subjects:
            case = a_night_case(cast, subject)
            unread(case, at=EVENING + HOUR)
            read_again(case, 44)
            released(case, cast)
        at = business_now()
        with CaptureQueriesContext(connection) as queries:
            numbers_page(desk=cast.desk, days=30, by="shift", at=at)
        counts.append(len(queries))
    assert counts[0] == counts[1] <= MOST_QUERIES


MANY_EVENTS = """
INSERT INTO cases_auditevent (case_id, sequence, at, actor_kind, actor_name, actor_id, event,
    case_version, data, request_id, previous_digest, digest)
SELECT 1000000 + n / 20, n % 20 + 1, business_now() - n * interval '10 minutes', 'agent', 'bot', '',
    CASE WHEN n % 2000 = 0 THEN 'case_blocked' ELSE 'stage_entered' END, 1,
    '{"before": "investigating"}', '', '', ''
FROM generate_series(1, 40000) AS n
"""


def test_p34_of_a_long_record_only_what_was_blocked_in_the_period_is_read(cast: Cast) -> None:
    at_business_time(EVENING)
    period = period_of(desk=cast.desk, days=7, by="day", at=business_now())
    with connection.cursor() as cursor:
        cursor.execute(MANY_EVENTS)
        cursor.execute("ANALYZE cases_auditevent")
        cursor.execute(f"EXPLAIN {UNREAD_SPANS}", parameters(desk=cast.desk, period=period))
        plan = "\n".join(row[0] for row in cursor.fetchall())
        cursor.execute("SET LOCAL enable_seqscan = off")
        found = decisions_in(desk=cast.desk, period=period).explain()
    assert "blocking_by_time" in plan
    assert "Seq Scan on cases_auditevent" not in plan
    assert "decisions_by_time" in found
