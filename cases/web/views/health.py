"""The page of monitors and load balancers: no login, no words about cases."""

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from cases.queries.health import health


@login_not_required
@never_cache
@require_safe
def healthz(request: HttpRequest) -> JsonResponse:
    """200 while due work is being taken; 503, with the reason in words, when it is not."""
    found = health()
    return JsonResponse(found.as_value(), status=200 if found.is_well else 503)
