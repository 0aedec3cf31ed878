"""What every view asks of its request."""

import re
from datetime import datetime
from uuid import uuid4

from django.http import HttpRequest
from django_htmx.middleware import HtmxDetails

from cases.clock import business_now
from cases.models import Desk, Person
from cases.queries.desks import desk_for
from cases.vocabulary.clocks import instant_from
from cases.vocabulary.errors import InvalidInput

NUMBER = re.compile(r"[1-9][0-9]{0,8}")


class DeskRequest(HttpRequest):
    """A request of a signed-in person, as the middleware leaves it."""

    user: Person
    htmx: HtmxDetails
    business_at: datetime
    trace: str


def moment_of(request: HttpRequest) -> datetime:
    """The business instant of this request, asked of the database once."""
    known: datetime | None = getattr(request, "business_at", None)
    if known is None:
        known = business_now()
        request.business_at = known  # type: ignore[attr-defined]
    return known


def request_id_of(request: HttpRequest) -> str:
    """One id for everything this request writes to the audit."""
    known: str | None = getattr(request, "trace", None)
    if known is None:
        known = uuid4().hex
        request.trace = known  # type: ignore[attr-defined]
    return known


def cursor_in(request: HttpRequest) -> tuple[datetime, int] | None:
    """Where the page before ended, `instant,number` in the address; None at the start."""
    text = request.GET.get("after", "")
    if not text:
        return None
    moment, _, number = text.partition(",")
    if not number.isdecimal() or len(number) > len(str(2**62)):
        raise InvalidInput("The address of this page is incomplete. Start at the queue again.")
    return instant_from(moment), int(number)


def number_in(request: HttpRequest, name: str) -> int | None:
    """A positive whole number from the address, None when absent; else `InvalidInput`."""
    text = request.GET.get(name, "")
    if not text:
        return None
    if not NUMBER.fullmatch(text):
        raise InvalidInput(f"{name.capitalize()} in the address must be a number, such as 4.")
    return int(text)


def desk_in(request: DeskRequest) -> Desk:
    """The desk in the address, or whichever this person's pages show; raises `NotFound`."""
    return desk_for(desk_id=number_in(request, "desk"), person=request.user, at=moment_of(request))
