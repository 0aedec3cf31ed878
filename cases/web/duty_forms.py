"""Forms about who is on duty: what was posted as plain values; they decide nothing."""

from datetime import date, datetime, time, timedelta

from django import forms
from django.http import QueryDict

from cases.models import Person, Role
from cases.queries.people import person_by_id
from cases.queries.roster_page import ShiftLine
from cases.vocabulary.clocks import local_text
from cases.vocabulary.errors import InvalidInput
from cases.vocabulary.rosters import Position
from cases.vocabulary.shifts import DAYS, AmbiguousTime, ShiftStart, WallTime, chosen_instant
from cases.web.forms import PostedForm

LARGEST_ID = 2_000_000_000
WEEKDAYS = [(str(number), name) for number, name in enumerate(DAYS)]
WEEKDAY_NAMES = dict(WEEKDAYS)
EARLIEST, LATEST = date(2000, 1, 1), date(2099, 12, 31)
WHICH = ("earlier", "later")


class WhichTime(InvalidInput):
    """A wall time that occurs twice was typed into a field: the form has to ask which is meant."""

    code = "which_time"

    def __init__(self, error: AmbiguousTime, *, field: str, zone: str) -> None:
        super().__init__(str(error))
        self.field = field
        self.choices = [
            (value, f"{local_text(moment, zone=zone)}, the {value} one")
            for value, moment in zip(WHICH, error.choices, strict=True)
        ]


class DayField(forms.DateField):
    """A local date that a roster can have."""

    def clean(self, value: object) -> date | None:
        """The date; raises for one that no roster has."""
        day: date | None = super().clean(value)
        if day is not None and not EARLIEST <= day <= LATEST:
            raise forms.ValidationError("choose a day of this century.")
        return day


def a_number(*, missing: str = "", required: bool = True) -> forms.IntegerField:
    """The number of something chosen from a list."""
    return forms.IntegerField(
        min_value=1,
        max_value=LARGEST_ID,
        required=required,
        error_messages={"required": missing} if missing else None,
    )


class WatchForm(PostedForm):
    """Who stands in a position of a shift; without a person nobody does."""

    shift = a_number(missing="choose a shift.")
    position = forms.ChoiceField(choices=[(each.value, each.value) for each in Position])
    person = a_number(required=False)
    first_day = DayField(error_messages={"required": "choose a day."})
    last_day = DayField(required=False)
    days = forms.MultipleChoiceField(choices=WEEKDAYS, required=False)


class SwapForm(PostedForm):
    """The same for one day."""

    shift = a_number(missing="choose a shift.")
    position = forms.ChoiceField(choices=[(each.value, each.value) for each in Position])
    person = a_number(required=False)
    day = DayField(error_messages={"required": "choose a day."})


class LeaveForm(PostedForm):
    """Who is away; the times are read by `moment_in`."""

    person = a_number(missing="choose who is away.")


class ScopeForm(PostedForm):
    """For which cases who is asked first: `kind:type`, and a position or a person's number."""

    scope = forms.RegexField(r"\A[a-z_]*:[A-Z0-9]*\Z", max_length=64)
    asked = forms.CharField(required=False, max_length=16)


class LeadsForm(PostedForm):
    """Who leads a desk, and who is called when the lead does not come."""

    lead = a_number(missing="choose who leads the desk.")
    manager = a_number(required=False)


class PersonForm(PostedForm):
    """A person's role, whether they work here, and who takes their place at the desks they lead."""

    role = forms.ChoiceField(choices=Role.choices)
    is_active = forms.BooleanField(required=False)
    successor = a_number(required=False)


def moment_in(posted: QueryDict, field: str, *, zone: str) -> datetime:
    """The instant of a wall time typed into a field, such as `2026-11-25T17:00`.

    Raises `InvalidInput` for none and for one that clocks skip, and `WhichTime` for one that occurs
    twice, unless the field `…_which` says which.
    """
    typed = posted.get(field, "").strip()
    label = field.replace("_", " ").capitalize()
    try:
        wall = datetime.fromisoformat(typed)
    except ValueError as error:
        raise InvalidInput(f"{label}: give a day and a time.") from error
    try:
        typed_time = WallTime(wall=wall, zone=zone, which=posted.get(f"{field}_which", ""))
        return chosen_instant(typed_time)
    except AmbiguousTime as twice:
        raise WhichTime(twice, field=field, zone=zone) from twice


def starts_in(posted: QueryDict) -> list[ShiftStart]:
    """The week that was typed: a line for each shift, `name-0`, `at-0`, `days-0`, `overlap-0`.

    A line without a name is left out. Raises `InvalidInput` naming the line that cannot be read.
    """
    return [_start(posted, line) for line in _named_lines(posted)]


def _named_lines(posted: QueryDict) -> list[str]:
    """What the fields of each line that has a name end in, as they were posted, however many."""
    lines = [field.removeprefix("name-") for field in posted if field.startswith("name-")]
    return [line for line in lines if posted.get(f"name-{line}", "").strip()]


def typed_lines(posted: QueryDict) -> list[ShiftLine]:
    """The lines as they were typed, to show them again."""
    return [
        ShiftLine(
            name=posted.get(f"name-{line}", ""),
            starts_at=posted.get(f"at-{line}", ""),
            days=tuple(int(day) for day in posted.getlist(f"days-{line}") if day in WEEKDAY_NAMES),
            overlap_minutes=posted.get(f"overlap-{line}", ""),
        )
        for line in _named_lines(posted)
    ]


def _start(posted: QueryDict, line: str) -> ShiftStart:
    name = posted.get(f"name-{line}", "").strip()
    if len(name) > 40 or not name.isprintable():
        raise InvalidInput("A shift's name has at most 40 characters that can be seen.")
    days, overlap = posted.getlist(f"days-{line}"), posted.get(f"overlap-{line}", "") or "0"
    if not days or not all(day in WEEKDAY_NAMES for day in days):
        raise InvalidInput(f"{name}: choose the days on which it starts.")
    if not overlap.isdecimal() or len(overlap) > 4:
        raise InvalidInput(f"{name}: the overlap is a number of minutes.")
    try:
        at = time.fromisoformat(posted.get(f"at-{line}", ""))
    except ValueError as error:
        raise InvalidInput(f"{name}: give the time at which it starts, such as 08:00.") from error
    if at.tzinfo is not None:
        raise InvalidInput(f"{name}: its time is the desk's, without an offset.")
    return ShiftStart(
        name=name,
        at=at,
        days=frozenset(int(day) for day in days),
        overlap=timedelta(minutes=int(overlap)),
    )


def asked_in(asked: str) -> tuple[Position | None, Person | None]:
    """Who is asked first: a position, a person, or neither."""
    if asked in {each.value for each in Position}:
        return Position(asked), None
    if not asked:
        return None, None
    if not asked.isdecimal() or not 0 < int(asked) <= LARGEST_ID:
        raise InvalidInput("Choose a position or a person from the list.")
    return None, person_by_id(int(asked))
