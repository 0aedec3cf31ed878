"""Theme and density, kept in cookies of this browser."""

from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, resolve_url
from django.utils.http import url_has_allowed_host_and_scheme

from cases.web.posts import posted_from

THEMES = ("auto", "light", "dark")
DENSITIES = ("compact", "comfortable")
A_YEAR = 365 * 24 * 3600


@dataclass(frozen=True, kw_only=True)
class Preferences:
    """How this browser shows the pages."""

    theme: str
    density: str


def preferences_of(request: HttpRequest) -> Preferences:
    """The choices in the cookies; the first of each when absent or unknown."""

    def chosen(name: str, known: tuple[str, ...]) -> str:
        value = request.COOKIES.get(name, "")
        return value if value in known else known[0]

    return Preferences(theme=chosen("theme", THEMES), density=chosen("density", DENSITIES))


@posted_from(lambda request: redirect("queue"))
def choose(request: HttpRequest) -> HttpResponse:
    """Keep a choice and go back to where it was made."""
    back = request.POST.get("next", "")
    if not url_has_allowed_host_and_scheme(back, allowed_hosts={request.get_host()}):
        back = resolve_url("queue")
    answer = HttpResponseRedirect(back)
    for name, known in (("theme", THEMES), ("density", DENSITIES)):
        value = request.POST.get(name, "")
        if value in known:
            answer.set_cookie(
                name,
                value,
                max_age=A_YEAR,
                httponly=True,
                samesite="Lax",
                secure=request.is_secure(),
            )
    return answer
