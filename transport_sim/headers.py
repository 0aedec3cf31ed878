"""Middleware: every answer names its length, correlation id and the simulator's own date."""

from collections.abc import Awaitable, Callable

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.decorators import async_only_middleware
from django.utils.http import http_date

from transport_sim import clock, database, problems

type GetResponse = Callable[[HttpRequest], Awaitable[HttpResponseBase]]


@async_only_middleware
def answer_headers(get_response: GetResponse) -> GetResponse:
    """Outermost middleware, so that refusals and held answers carry the headers too."""

    async def middleware(request: HttpRequest) -> HttpResponseBase:
        correlation = problems.new_correlation_id(request.headers.get("X-Correlation-Id"))
        problems.correlation_id.set(correlation)
        response = await get_response(request)
        if isinstance(response, HttpResponse) and response.content:
            response["Content-Length"] = str(len(response.content))
        response["X-Correlation-Id"] = correlation
        response["Date"] = http_date((await database.from_async(clock.now)).timestamp())
        return response

    return middleware
