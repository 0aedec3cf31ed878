"""What every template may use; asked of the database only where a template does use it."""

from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from cases.models import Person
from cases.queries.frame import DeskFrame, frame_for
from cases.web.navigation import NAVIGATION
from cases.web.preferences import preferences_of
from cases.web.request import moment_of


def desk(request: HttpRequest) -> dict[str, Any]:
    """Preferences for every page; the frame for signed-in people."""
    context: dict[str, Any] = {
        "preferences": preferences_of(request),
        "is_demo": settings.DEMO,
        "navigation": NAVIGATION,
        "has_movable_clock": settings.DEMO and settings.MOVABLE_CLOCK,
    }
    user = getattr(request, "user", None)
    if isinstance(user, Person) or getattr(user, "is_authenticated", False):

        def frame() -> DeskFrame:
            return frame_for(person=request.user, at=moment_of(request))  # type: ignore[arg-type]

        context["frame"] = SimpleLazyObject(frame)
    return context
