"""The house's chain stays locked, or two wait in a circle: people are told in words, typed kept."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import date
from datetime import time as wall_time
from functools import partial
from typing import Any

from django.db import connection, transaction
from django.test import Client
from pytest_django import Settings

from cases import audit
from cases.actions import people, roster
from cases.actions.change import busy_is_a_conflict
from cases.actions.conditions import NewCondition, open_condition
from cases.actions.pauses import set_pause
from cases.clock import business_now
from cases.models import AuditEvent, Desk, Leave, Person, Role, RosterEntry, ShiftPattern
from cases.vocabulary.errors import Busy, Conflict, Refused
from cases.vocabulary.rosters import Position
from cases.vocabulary.shifts import EVERY_DAY, USUAL_STARTS, ShiftStart
from tests.cases.builders import EVENING, Cast, an_open_case, at_business_time
from tests.cases.duties import with_a_roster
from tests.cases.sender import KEY, Sender, an_event
from tests.races.together import together

WORDS = "Someone else is changing"
SECONDS = 0.3
IMPATIENT = "SET lock_timeout = '200ms'"


@contextmanager
def held(lock: Callable[[], object]) -> Iterator[None]:
    """Another session holds a lock meanwhile; ours gives up soon."""
    taken, let = threading.Event(), threading.Event()

    def hold() -> None:
        try:
            with transaction.atomic():
                lock()
                taken.set()
                let.wait(timeout=20)
        finally:
            connection.close()

    holder = threading.Thread(target=hold)
    holder.start()
    assert taken.wait(timeout=10)
    with connection.cursor() as cursor:
        cursor.execute(IMPATIENT)
    try:
        yield
    finally:
        let.set()
        holder.join()
        connection.close()


def browser(person: Person) -> Client:
    """A signed-in browser that shows a failure as its page."""
    client = Client(raise_request_exception=False)
    client.force_login(person)
    return client


def addresses(cast: Cast) -> dict[str, tuple[str, dict[str, Any]]]:
    """Every kind of change that the house keeps: address and form."""
    wanted = NewCondition(sort="other", title="Storm", desk=cast.desk)
    condition = open_condition(wanted=wanted, by=cast.lead, at=business_now())
    scope = {"lane": "execution", "kind": "", "agent": ""}
    pause = set_pause(**scope, reason="Storm", by=cast.lead, at=business_now())
    day = ShiftPattern.objects.get(name="Day").pk
    desk = cast.desk.pk
    watch = {"shift": day, "position": "backup", "first_day": "2026-11-25"}
    leave = {"person": cast.lead.pk, "from": "2026-11-25T08:00", "until": "2026-11-26T08:00"}
    shifts = {"name-0": "Day", "at-0": "07:00", "days-0": "0"}
    shifts |= {"name-1": "Evening", "at-1": "17:00", "days-1": "0"}
    return {
        "watch": (f"/roster/{desk}/watch/", watch),
        "leave": (f"/roster/{desk}/leave/", leave),
        "shifts": (f"/roster/{desk}/shifts/", shifts),
        "rule": (f"/ownership/{desk}/rule/", {"scope": ":", "asked": "backup"}),
        "leads": (f"/ownership/{desk}/leads/", {"lead": cast.colleague.pk}),
        "person": (f"/people/{cast.colleague.pk}/", {"role": "lead", "is_active": "on"}),
        "open": ("/conditions/", {"sort": "other", "title": "Fog"}),
        "close": (f"/conditions/{condition.pk}/close/", {"reason": "Over"}),
        "pause": ("/pauses/", {"lane": "intake", "reason": "Fog"}),
        "lift": (f"/pauses/{pause.pk}/lift/", {"reason": "Over"}),
    }


def test_a_house_that_stays_locked_is_a_conflict_in_words_on_every_page(cast: Cast) -> None:
    with_a_roster(cast)
    an_open_case(cast)
    forms = addresses(cast)
    before = AuditEvent.objects.count()
    for name, (address, values) in forms.items():
        with held(audit.lock_house):
            answer = browser(cast.admin).post(address, values)
        assert answer.status_code == 409, name
        assert WORDS in answer.content.decode(), name
    assert AuditEvent.objects.count() == before, "nothing was refused, so nothing is kept"


def test_what_is_only_checked_in_the_end_is_a_conflict_in_words_too(cast: Cast) -> None:
    """The person's own row is locked; a leave refers to it, and that is checked with the commit."""
    with_a_roster(cast)
    person = Person.objects.filter(pk=cast.lead.pk)
    values = {"person": cast.lead.pk, "from": "2026-11-25T08:00", "until": "2026-11-26T08:00"}
    client, address = browser(cast.admin), f"/roster/{cast.desk.pk}/leave/"
    shown = client.post(address, values).content.decode()
    seen = shown.split('name="seen" value="')[1].split('"')[0]
    values |= {"save": "1", "seen": seen, "reason": "Ill"}
    with held(lambda: person.select_for_update().get()):
        answer = client.post(address, values)
    assert answer.status_code == 409
    assert WORDS in answer.content.decode()
    assert not Leave.objects.exists()


def test_a_sender_comes_again_with_what_could_not_be_kept(cast: Cast, settings: Settings) -> None:
    settings.WEBHOOK_KEYS = {"transport": (KEY,)}

    def same_event() -> None:
        with connection.cursor() as cursor:
            name = "transport evt-1"
            cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [name])

    sender = Sender()
    with held(same_event):
        answer = sender.answer(an_event(), event_id="evt-1")
    assert (answer.status_code, answer["Content-Type"]) == (503, "application/problem+json")
    assert sender.send(an_event(), event_id="evt-1") == 202


def test_two_who_wait_in_a_circle_are_told_in_words(cast: Cast) -> None:
    """The database ends one of them; the other goes on."""
    rows = [cast.owner.pk, cast.colleague.pk]
    met = threading.Barrier(2)

    def change(first: int, second: int) -> None:
        with busy_is_a_conflict(), transaction.atomic():
            Person.objects.select_for_update().get(pk=first)
            met.wait(timeout=10)
            Person.objects.select_for_update().get(pk=second)

    found = together([partial(change, *rows), partial(change, *reversed(rows))])
    assert [type(each) for each in found if each is not None] == [Busy]


def extra_shift(cast: Cast) -> ShiftPattern:
    """A third shift, on whose roster nobody is."""
    starts = [*USUAL_STARTS, ShiftStart(name="Extra", at=wall_time(12), days=EVERY_DAY)]
    roster.set_shifts(desk=cast.desk, starts=starts, by=cast.lead, at=EVENING)
    return ShiftPattern.objects.get(name="Extra")


def test_p28_a_shift_that_gets_people_meanwhile_does_not_vanish(cast: Cast) -> None:
    at_business_time(EVENING)
    extra = extra_shift(cast)
    put = threading.Event()

    def watch() -> None:
        with transaction.atomic():
            roster.put_on_watch(
                wanted=roster.NewWatch(
                    shift_id=extra.pk,
                    position=Position.PRIMARY,
                    person=cast.owner,
                    first_day=date(2026, 11, 24),
                    last_day=None,
                    days=EVERY_DAY,
                ),
                by=cast.lead,
                at=EVENING,
            )
            put.set()
            time.sleep(SECONDS)

    def gone() -> None:
        assert put.wait(timeout=10)
        roster.set_shifts(desk=cast.desk, starts=USUAL_STARTS, by=cast.lead, at=EVENING)

    found = together([watch, gone])
    assert [type(each) for each in found] == [type(None), Conflict]
    assert RosterEntry.objects.get().shift == extra


def test_p28_nobody_is_put_on_a_shift_that_vanishes_meanwhile(cast: Cast) -> None:
    at_business_time(EVENING)
    extra = extra_shift(cast)
    wanted = roster.NewWatch(
        shift_id=extra.pk,
        position=Position.PRIMARY,
        person=cast.owner,
        first_day=date(2026, 11, 24),
        last_day=None,
        days=EVERY_DAY,
    )
    for _ in range(5):
        found = together(
            [
                partial(roster.put_on_watch, wanted=wanted, by=cast.lead, at=EVENING),
                partial(
                    roster.set_shifts,
                    desk=cast.desk,
                    starts=USUAL_STARTS,
                    by=cast.lead,
                    at=EVENING,
                ),
            ]
        )
        failed = [each for each in found if isinstance(each, Exception)]
        assert all(type(each).__module__ == "cases.vocabulary.errors" for each in failed)


def test_p28_nobody_leaves_while_they_are_made_lead(cast: Cast) -> None:
    """Whoever leads a desk in the end works here, whichever came first."""
    at_business_time(EVENING)
    goes = partial(
        people.set_person,
        person=cast.colleague,
        role=Role.OPERATOR,
        is_active=False,
        reason="Left",
        by=cast.admin,
        at=EVENING,
    )
    leads = partial(
        roster.set_desk_leads,
        desk=cast.desk,
        lead=cast.colleague,
        manager=None,
        by=cast.lead,
        at=EVENING,
    )
    for _ in range(5):
        Person.objects.filter(pk=cast.colleague.pk).update(is_active=True)
        Desk.objects.filter(pk=cast.desk.pk).update(lead=cast.lead)
        found = together([goes, leads])
        assert Desk.objects.get(pk=cast.desk.pk).lead.is_active
        assert [type(each) for each in found if each is not None] in ([Conflict], [Refused])


def test_a_change_of_the_house_counts_from_the_lock(cast: Cast) -> None:
    """Asked at one instant and kept waiting: the record says when it was made."""
    at_business_time(EVENING)
    asked = business_now()
    taken = threading.Event()

    def hold() -> None:
        with transaction.atomic():
            audit.lock_house()
            taken.set()
            time.sleep(SECONDS)

    def change() -> None:
        assert taken.wait(timeout=10)
        extra_shift(cast)

    together([hold, change])
    told = AuditEvent.objects.filter(event="shifts_set").latest("sequence")
    assert (told.at - asked).total_seconds() >= 0.9 * SECONDS
