"""The page of monitors and load balancers: no login, no words about cases."""

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt

from cases.queries.health import health
from cases.web.problems import wrong_method

SAFE = ("GET", "HEAD")


@csrf_exempt
@login_not_required
@never_cache
def healthz(request: HttpRequest) -> HttpResponse:
    """200 while due work is being taken; 503, with the reason in words, when it is not."""
    if request.method not in SAFE:
        return wrong_method(SAFE)
    found = health()
    return JsonResponse(found.as_value(), status=200 if found.is_well else 503)
