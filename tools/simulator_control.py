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
    """One request that /v1 received; ``status`` is None while it is not answered."""

    sequence: int
    at: datetime
    method: str
    path: str
    query: str
    status: int | None
    idempotency_key: str | None
    fencing_token: int | str | None
    duration_ms: int | None


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
            return bool(self._call("GET", "/sim/health")["ok"])
        except (SimulatorRefused, httpx.TransportError):
            return False

    def scenarios(self) -> list[Record]:
        """Name, title and starting hour of each scenario."""
        return list(self._call("GET", "/sim/scenarios")["scenarios"])

    def reset(self, *, scenario: str = "s318", now: datetime | None = None) -> datetime:
        """Empty the world and load a scenario, at its own hour or at ``now`` (aware)."""
        body: Record = {"scenario": scenario}
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
        rate_limit, rate_window_seconds.
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
        times: int | None = None,
        seconds: float | None = None,
    ) -> Fault:
        """Order "503", "slow" or "commit_then_timeout" for the calls that match.

        ``slow`` waits before it works, ``commit_then_timeout`` after it. Without ``method``,
        ``commit_then_timeout`` concerns writes only. Without ``times``, until ``clear_faults``.
        """
        body = {
            "kind": kind,
            "method": method,
            "path_prefix": path_prefix,
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
        return [LedgerEntry(**_with_time(entry)) for entry in entries]

    def calls(self, *, after: int = 0) -> list[Call]:
        """The calls that /v1 received, answered or open, oldest first."""
        calls = self._call("GET", f"/sim/calls?after={after}")["calls"]
        return [Call(**_with_time(call)) for call in calls]

    def _call(self, method: str, path: str, body: Record | None = None) -> Record:
        response = self._client.request(method, path, json=body)
        if response.is_error:
            problem = response.json()
            raise SimulatorRefused(
                status=response.status_code, code=problem["code"], detail=problem["detail"]
            )
        return dict(response.json()) if response.content else {}


def _with_time(record: Record) -> Record:
    return {**record, "at": datetime.fromisoformat(record["at"])}


def _clock(answer: Record) -> Clock:
    return Clock(now=datetime.fromisoformat(answer["now"]), offset_seconds=answer["offset_seconds"])
