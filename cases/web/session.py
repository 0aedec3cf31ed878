"""Signing in, and what happens when a session has ended under an open page."""

from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.auth.middleware import LoginRequiredMiddleware
from django.contrib.auth.views import LoginView, LogoutView, redirect_to_login
from django.http import HttpRequest, HttpResponseRedirect
from django.shortcuts import redirect, resolve_url

from cases.queries.people import everyone
from cases.web.posts import posted_from


class SignedInMiddleware(LoginRequiredMiddleware):
    """Everything needs a signed-in person; a partial request gets the whole login page.

    Nothing of the refused request is carried out or kept.
    """

    def handle_no_permission(
        self, request: HttpRequest, view_func: Callable[..., Any]
    ) -> HttpResponseRedirect:
        """Go to the login page, and afterwards back to the page the person was on."""
        target = page_behind(request)
        answer = redirect_to_login(target, resolve_url(settings.LOGIN_URL))
        if request.headers.get("HX-Request") == "true":
            # A script would follow a redirect by itself and put the login page into a panel.
            answer.status_code = 401
            answer["HX-Redirect"] = answer["Location"]
            del answer["Location"]
        return answer


def page_behind(request: HttpRequest) -> str:
    """The page the person was looking at: this address, or the one a post or fragment came from."""
    if request.method == "GET" and request.headers.get("HX-Request") != "true":
        return request.get_full_path()
    origin = request.headers.get("HX-Current-URL") or request.headers.get("Referer") or ""
    return own_path(origin, request=request) or resolve_url(settings.LOGIN_REDIRECT_URL)


def own_path(address: str, *, request: HttpRequest) -> str:
    """Path and query of an address of ours; empty for any other and for what is no address."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return ""
    if parts.netloc != request.get_host() or parts.path.startswith("//"):
        return ""
    return f"{parts.path}?{parts.query}" if parts.query else parts.path


class SignIn(LoginView):
    """The login page; the demo also lists who can be tried out."""

    template_name = "session/login.html"
    redirect_authenticated_user = True

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Add the demo's people, in the demo only."""
        context = super().get_context_data(**kwargs)
        if settings.DEMO:
            context["people"] = everyone()
            context["demo_password"] = settings.DEMO_PASSWORD
        return context


sign_in = SignIn.as_view()
sign_out = posted_from(lambda request: redirect("queue"))(LogoutView.as_view())
