"""Where outside systems send their events, signed in the Standard Webhooks layout."""

from http import HTTPStatus

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from cases.actions.events import receive_event
from cases.clock import business_now
from cases.vocabulary.signatures import NotSigned, check_signature

LONGEST_BODY = 64 * 1024


@csrf_exempt
@login_not_required
@require_POST
def receive(request: HttpRequest, system: str) -> HttpResponse:
    """Keep one signed event: 202 once it is stored, whatever is made of it later."""
    keys = settings.WEBHOOK_KEYS.get(system, ())
    if not keys:
        return _problem(HTTPStatus.NOT_FOUND, f"No events are taken from {system!r} here.")
    body = request.read(LONGEST_BODY + 1)
    if len(body) > LONGEST_BODY:
        return _problem(
            HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"An event has at most {LONGEST_BODY} bytes."
        )
    at = business_now()
    headers = {name.lower(): value for name, value in request.headers.items()}
    try:
        event_id = check_signature(keys=keys, headers=headers, body=body, at=at)
    except NotSigned as error:
        return _problem(HTTPStatus.UNAUTHORIZED, str(error))
    receive_event(system=system, event_id=event_id, content=body, at=at)
    return HttpResponse(status=HTTPStatus.ACCEPTED)


def _problem(status: HTTPStatus, detail: str) -> HttpResponse:
    return JsonResponse(
        {"type": "about:blank", "title": status.phrase, "status": status.value, "detail": detail},
        status=status,
        content_type="application/problem+json",
    )
