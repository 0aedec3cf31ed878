"""The line to the transport system: calls in their turn, answers as JSON or as a plain failure."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from http import HTTPStatus

import httpx

from agent.sources.base import Permit
from agent.sources.exchange import Answer, exchange
from agent.sources.pace import HeldBack, Pace
from agent.sources.transport_answers import answered, code_of, is_gone
from agent.sources.transport_gate import Malformed
from cases.vocabulary.clocks import instant_from
from cases.vocabulary.errors import InvalidInput

BEFORE_SENDING = (HeldBack, httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)
NO_ANSWER = (HeldBack, httpx.RequestError)


class Unreadable(Exception):  # noqa: N818 (said of the system, as on screen)
    """The system gave no usable answer; the message says so in plain words, without a full stop.

    `retry_after` is how long it asked to be left alone, None when it did not.
    """

    def __init__(self, said: str, *, retry_after: timedelta | None = None) -> None:
        super().__init__(said)
        self.retry_after = retry_after


class Missing(Exception):  # noqa: N818 (a plain answer, not a failure)
    """The system answered that the record does not exist."""


class TransportLine:
    """Calls to the transport system. `timeout` bounds each phase of each call.

    Connections are not kept between calls: one that broke while idle could not be told from one
    that broke after the change was sent.
    """

    def __init__(
        self, *, address: str, token: str, timeout: timedelta, calls_per_minute: int | None
    ) -> None:
        self._pace = Pace(calls_per_minute=calls_per_minute)
        self._client = httpx.Client(
            base_url=address,
            headers={"Authorization": f"Bearer {token}", "Accept": "application/json"},
            timeout=timeout.total_seconds(),
            limits=httpx.Limits(max_keepalive_connections=0),
            trust_env=False,
        )

    def close(self) -> None:
        """Let go of sockets."""
        self._client.close()

    def call(
        self,
        method: str,
        path: str,
        *,
        permit: Permit,
        body: Mapping[str, object] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """Make one call. Raises one of `NO_ANSWER`; of `BEFORE_SENDING` when it never left."""
        return exchange(
            client=self._client,
            pace=self._pace,
            permit=permit,
            method=method,
            path=path,
            body=body,
            headers=headers,
        )

    def get(
        self, path: str, *, permit: Permit, query: Mapping[str, str] | None = None
    ) -> tuple[object, datetime]:
        """What is there now, and the system's own clock.

        Raises `Unreadable`, `Malformed`, and `Missing` when the one record asked for is not there.
        """
        try:
            answer = exchange(
                client=self._client,
                pace=self._pace,
                permit=permit,
                method="GET",
                path=path,
                query=query,
            )
        except NO_ANSWER as error:
            raise Unreadable(said_of(error)) from error
        is_of_one_record = query is None
        if is_of_one_record and is_gone(
            status=answer.status, media_type=answer.media_type, body=answer.body
        ):
            raise Missing
        if code_of(answer.body) == "lookup_not_supported":
            raise Unreadable("transport system cannot be searched, though its profile says so")
        if answer.status != HTTPStatus.OK:
            raise Unreadable(answered(answer.status), retry_after=answer.retry_after)
        if answer.flaw:
            raise Malformed(answer.flaw)
        return answer.body, _date_of(answer)


def said_of(error: Exception) -> str:
    """Why no answer came, in plain words."""
    if isinstance(error, HeldBack):
        return f"transport system asks for fewer calls: {error}"
    if isinstance(error, httpx.ConnectTimeout | httpx.ConnectError):
        return "transport system cannot be reached"
    if isinstance(error, httpx.TimeoutException):
        return "transport system did not answer in time"
    if isinstance(error, httpx.DecodingError):
        return "transport system sent something unusable (its compression is broken)"
    return "transport system broke the connection"


def _date_of(answer: Answer) -> datetime:
    """The system's own clock; an answer without it cannot be placed in time."""
    try:
        moment = parsedate_to_datetime(answer.date)
        aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return instant_from(aware.isoformat())
    except (ValueError, OverflowError, InvalidInput) as error:
        raise Unreadable("transport system sent no usable date") from error
