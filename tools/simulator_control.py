"""The director's side of the transport simulator: clock, actors, faults, ledger, call log.

For tests, the demo and the overnight story. The agent never sees this.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from types import TracebackType
from typing import Any, Self

import httpx

type Record = dict[str, Any]


class SimulatorRefused(Exception):  # noqa: N818 (it is the simulator that refuses)
    """The control plane said no; ``code`` and ``detail`` are its own words."""

    def __init__(self, *, status: int, code: str, detail: str) -> None:
        """Keep the problem's fields."""
        super().__init__(f"{status} {code}: {detail}")
        self.status = status
        self.code = code
        self.detail = detail


@dataclass(frozen=True, kw_only=True)
class Clock:
    """The simulator's clock: an instant in UTC, and seconds it is ahead of the real one."""

    now: datetime
    offset_seconds: float


@dataclass(frozen=True, kw_only=True)
class Fault:
    """An ordered fault; ``times_left`` None means until deleted."""

    id: int
    kind: str
    method: str | None
    path_prefix: str | None
    event: str | None
    times_left: int | None
    seconds: float


@dataclass(frozen=True, kw_only=True)
class LedgerEntry:
    """One true effect, by anybody."""

    sequence: int
    at: datetime
    kind: str
    principal: str
    record_id: str
    shipment_id: str
    client_reference: str | None
    idempotency_key: str | None
    fencing_token: int | None
    details: Record


@dataclass(frozen=True, kw_only=True)
class Call:
    """One request that /v1 received: its arrival on the simulator's and on the real clock.

    ``status`` is None while it is not answered, and for ever when its connection was reset;
    ``duration_ms`` is None only while it is open.
    """

    sequence: int
    at: datetime
    real_at: datetime
    method: str
    path: str
    query: str
    status: int | None
    idempotency_key: str | None
    fencing_token: int | str | None
    duration_ms: int | None


@dataclass(frozen=True, kw_only=True)
class Delivery:
    """One event on its way to one subscriber: "pending", "delivered", "dropped" or "failed"."""

    sequence: int
    url: str
    webhook_id: str
    event: str
    body: Record
    status: str
    attempts: int
    answer_status: int | None
    error: str | None
    queued_at: datetime
    due_at: datetime
    delivered_at: datetime | None


class SimulatorControl:
    """A client of /sim. Every method raises SimulatorRefused, or httpx.HTTPError when unreached."""

    def __init__(self, *, url: str, token: str, timeout_seconds: float = 30.0) -> None:
        """``url`` is the simulator's address, ``token`` the SIMULATOR_CONTROL_TOKEN."""
        self._client = httpx.Client(
            base_url=url,
            headers={"Authorization": f"Bearer {token}"},
            timeout=timeout_seconds,
            trust_env=False,
        )

    def __enter__(self) -> Self:
        """Use as a context manager to close the connections."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the connections."""
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def is_healthy(self) -> bool:
        """True when the simulator answers and its database does too."""
        try:
            return bool(self.health()["ok"])
        except (SimulatorRefused, httpx.TransportError):
            return False

    def health(self) -> Record:
        """Whether it lives, its clock, and which scenario and profile are loaded."""
        return self._call("GET", "/sim/health")

    def scenarios(self) -> list[Record]:
        """Name, title and starting hour of each scenario."""
        return list(self._call("GET", "/sim/scenarios")["scenarios"])

    def reset(
        self, *, scenario: str = "s318", profile: str = "modern", now: datetime | None = None
    ) -> datetime:
        """Empty the world and load a scenario, at its own hour or at ``now`` (aware).

        Profiles: "modern", "no_idempotency", "no_version", "locked_by_user".
        """
        body: Record = {"scenario": scenario, "profile": profile}
        if now is not None:
            body["now"] = now.isoformat()
        return datetime.fromisoformat(self._call("POST", "/sim/reset", body)["now"])

    def clock(self) -> Clock:
        """Read the simulator's clock."""
        return _clock(self._call("GET", "/sim/clock"))

    def set_clock(self, now: datetime) -> Clock:
        """Make the clock show ``now`` (aware) and tick on from there."""
        return _clock(self._call("POST", "/sim/clock", {"now": now.isoformat()}))

    def advance_clock(self, *, seconds: float) -> Clock:
        """Move the clock forward."""
        return _clock(self._call("POST", "/sim/clock", {"advance_seconds": seconds}))

    def use_real_clock(self) -> Clock:
        """Let the simulator follow real time."""
        return _clock(self._call("POST", "/sim/clock", {"real": True}))

    def settings(self, **changes: float) -> Record:
        """Read, or change until the next reset, how this world behaves.

        Known: booking_confirm_seconds, message_deliver_seconds, idempotency_key_seconds,
        rate_limit, rate_window_seconds; and what its profile sets, true or false:
        idempotency_keys, versions, record_locks, lookup_by_reference, one_booking_per_shipment.
        """
        if changes:
            return self._call("POST", "/sim/settings", dict(changes))
        return self._call("GET", "/sim/settings")

    def fault(
        self,
        kind: str,
        *,
        method: str | None = None,
        path_prefix: str | None = None,
        event: str | None = None,
        times: int | None = None,
        seconds: float | None = None,
    ) -> Fault:
        """Order a fault for the calls, or the webhook events, that match.

        Refusals: "503", "429" (``seconds`` go into Retry-After), "lookup_down" (searches by
        client_reference). Time: "slow" waits ``seconds`` before it works, "commit_then_timeout"
        after it, "timeout_before_commit" instead. Ends: "commit_then_500",
        "connection_reset_before_commit", "connection_reset_after_commit". Reads, on the
        simulator's clock: "stale_read" answers as of ``seconds`` ago, "404_after_create" hides
        bookings and messages for their first ``seconds``. "lost_lease" takes the lease away
        just before a renewal or a write under it. Events: "webhook_drop", "webhook_duplicate",
        "webhook_delay" and "webhook_reorder" (goes after the next event, at most ``seconds``
        later).

        Without ``method``, faults about commits concern writes only. ``path_prefix`` may go on
        into the query. Without ``times``, until ``clear_faults``.
        """
        body = {
            "kind": kind,
            "method": method,
            "path_prefix": path_prefix,
            "event": event,
            "times": times,
            "seconds": seconds,
        }
        given = {name: value for name, value in body.items() if value is not None}
        return Fault(**self._call("POST", "/sim/faults", given))

    def faults(self) -> list[Fault]:
        """All ordered faults, used up ones included."""
        return [Fault(**fault) for fault in self._call("GET", "/sim/faults")["faults"]]

    def clear_faults(self) -> None:
        """Behave well again."""
        self._call("DELETE", "/sim/faults")

    def actor(self, actor: str, **deed: object) -> Record:
        """Let somebody act, e.g. ``employee_moves_window``; gives the new record."""
        return self._call("POST", f"/sim/actors/{actor}", dict(deed))

    def batch(self, steps: Sequence[Record]) -> list[Record]:
        """Let several deeds happen in one new version per shipment; gives their records.

        Each step is what ``actor`` takes, with the name of the actor under ``actor``.
        """
        return list(self._call("POST", "/sim/actors", {"steps": list(steps)})["records"])

    def ledger(self, *, shipment_id: str | None = None) -> list[LedgerEntry]:
        """Every true effect, oldest first: the oracle."""
        query = "" if shipment_id is None else f"?shipment_id={shipment_id}"
        entries = self._call("GET", f"/sim/ledger{query}")["entries"]
        return [LedgerEntry(**_with_times(entry, "at")) for entry in entries]

    def calls(self, *, after: int = 0) -> list[Call]:
        """The calls that /v1 received, answered or open, oldest first."""
        calls = self._call("GET", f"/sim/calls?after={after}")["calls"]
        return [Call(**_with_times(call, "at", "real_at")) for call in calls]

    def subscribe(self, *, url: str, secret: str, clock: str = "simulator") -> Record:
        """Send every event from now on to ``url``, signed with ``secret`` (whsec_ and base64).

        ``clock``, "simulator" or "real", is the one that stamps the deliveries.
        """
        body = {"url": url, "secret": secret, "clock": clock}
        return self._call("POST", "/sim/webhooks", body)

    def subscriptions(self) -> list[Record]:
        """Who is told of events."""
        return list(self._call("GET", "/sim/webhooks")["subscriptions"])

    def unsubscribe_all(self) -> None:
        """Tell nobody any more, and forget the deliveries."""
        self._call("DELETE", "/sim/webhooks")

    def deliveries(self) -> list[Delivery]:
        """All deliveries of events, oldest first, whatever became of them."""
        deliveries = self._call("GET", "/sim/webhooks/deliveries")["deliveries"]
        times = ("queued_at", "due_at", "delivered_at")
        return [Delivery(**_with_times(delivery, *times)) for delivery in deliveries]

    def _call(self, method: str, path: str, body: Record | None = None) -> Record:
        response = self._client.request(method, path, json=body)
        if response.is_error:
            problem = response.json()
            raise SimulatorRefused(
                status=response.status_code, code=problem["code"], detail=problem["detail"]
            )
        return dict(response.json()) if response.content else {}


def _with_times(record: Record, *names: str) -> Record:
    times = {name: datetime.fromisoformat(record[name]) for name in names if record[name]}
    return {**record, **times}


def _clock(answer: Record) -> Clock:
    return Clock(now=datetime.fromisoformat(answer["now"]), offset_seconds=answer["offset_seconds"])
