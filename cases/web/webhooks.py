"""Where outside systems send their events, signed in the Standard Webhooks layout."""

from datetime import datetime
from http import HTTPStatus

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt

from cases.actions.events import receive_event
from cases.clock import business_now
from cases.vocabulary.errors import Busy
from cases.vocabulary.signatures import NotSigned, check_signature
from cases.web.problems import problem, wrong_method

LONGEST_BODY = 64 * 1024


@csrf_exempt
@login_not_required
def receive(request: HttpRequest, system: str) -> HttpResponse:
    """Keep one signed event: 202 once it is stored, whatever is made of it later.

    503 where it could not be stored now: the sender comes again.
    """
    if request.method != "POST":
        return wrong_method(["POST"])
    keys = settings.WEBHOOK_KEYS.get(system, ())
    if not keys:
        return problem(HTTPStatus.NOT_FOUND, f"No events are taken from {system!r} here.")
    body = request.read(LONGEST_BODY + 1)
    if len(body) > LONGEST_BODY:
        return problem(
            HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"An event has at most {LONGEST_BODY} bytes."
        )
    at = business_now()
    headers = {name.lower(): value for name, value in request.headers.items()}
    try:
        event_id = check_signature(keys=keys, headers=headers, body=body, at=at)
    except NotSigned as error:
        return problem(HTTPStatus.UNAUTHORIZED, str(error))
    return _kept(system=system, event_id=event_id, content=body, at=at)


def _kept(*, system: str, event_id: str, content: bytes, at: datetime) -> HttpResponse:
    try:
        receive_event(system=system, event_id=event_id, content=content, at=at)
    except Busy as error:
        return problem(HTTPStatus.SERVICE_UNAVAILABLE, str(error))
    return HttpResponse(status=HTTPStatus.ACCEPTED)
