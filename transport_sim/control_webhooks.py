"""/sim/webhooks: who is told of events, and what became of the deliveries."""

from urllib.parse import urlsplit

from django.http import HttpRequest, HttpResponse

from transport_sim import courier, signature, webhooks
from transport_sim.endpoints import answer
from transport_sim.fields import Fields, body_of
from transport_sim.models import CLOCKS


def list_subscriptions(request: HttpRequest, *, principal: str) -> HttpResponse:
    """GET who is told."""
    return answer({"subscriptions": webhooks.subscriptions()})


def subscribe(request: HttpRequest, *, principal: str) -> HttpResponse:
    """POST an address and a secret; every event from now on goes there."""
    body = Fields(body_of(request))
    url = _read_url(body)
    secret = body.text("secret")
    try:
        signature.key_of(secret)
    except ValueError as error:
        body.refuse("secret", f"send whsec_ and a key; {error}")
    clock_name = body.choice("clock", CLOCKS) if body.has("clock") else "simulator"
    body.done()
    subscribed = webhooks.subscribe(url=url, secret=secret, clock_name=clock_name)
    courier.wake()
    return answer(subscribed, status=201)


def _read_url(body: Fields) -> str:
    url = body.text("url", longest=500)
    try:
        parts = urlsplit(url)
        usable = parts.scheme in {"http", "https"} and parts.hostname and parts.port != 0
    except ValueError:
        usable = False
    if not usable or not url.isascii() or not url.isprintable() or " " in url:
        body.refuse("url", "send an http or https address")
    return url


def unsubscribe_all(request: HttpRequest, *, principal: str) -> HttpResponse:
    """DELETE all subscriptions and their deliveries."""
    webhooks.unsubscribe_all()
    return HttpResponse(status=204)


def list_deliveries(request: HttpRequest, *, principal: str) -> HttpResponse:
    """GET all deliveries, whatever became of them."""
    return answer({"deliveries": webhooks.deliveries()})
