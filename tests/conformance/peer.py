"""The peer: the same job on plain LangGraph and PostgresSaver, set up as well as it can be.

One thread per case, synchronous durability, a strict serializer, a pool with autocommit, the pause
alone in its node, keys for both calls kept in the saved state before anybody is asked, the target's
lease and `If-Match` on each call, retries with the same key. What it lacks is a record of its own:
its state is its checkpoints, and an answer is a resume value.
"""

import uuid
from dataclasses import dataclass
from typing import Any, Literal, TypedDict

import httpx
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Command, RetryPolicy, interrupt

SHIPMENT = "S-318"
NAMESPACE = uuid.UUID("3f0f7a52-7e0f-4b0e-9a55-0d1c6f7e3a11")
RELEASE, REJECT, REFRESH = "release", "reject", "refresh"
TRIES = 3
GOOD = RetryPolicy(
    initial_interval=0.05, max_interval=0.1, max_attempts=TRIES, jitter=False, retry_on=Exception
)

type Graph = CompiledStateGraph[PeerState, None, PeerState, PeerState]


class Refused(Exception):  # noqa: N818 (said by the target)
    """The target refused a call; the message says how."""


class PeerState(TypedDict, total=False):
    """Saved after every step."""

    round: int
    version: int
    quote: dict[str, Any]
    recipient: str
    answer: str
    booked: bool
    told: bool


@dataclass(frozen=True, kw_only=True)
class Peer:
    """Nodes and graph over a client of the transport system; `thread` is the case."""

    client: httpx.Client
    thread: str

    def graph(self, saver: BaseCheckpointSaver[str], *, review: str = "review") -> Graph:
        """The compiled graph; `review` is the name of the node that pauses."""
        builder = StateGraph(PeerState)
        builder.add_node("investigate", self.investigate, retry_policy=GOOD)
        builder.add_node(review, self.review, destinations=("investigate", "book", END))
        builder.add_node("book", self.book, retry_policy=GOOD)
        builder.add_node("tell", self.tell, retry_policy=GOOD)
        builder.add_node("check", self.check, retry_policy=GOOD)
        builder.add_edge(START, "investigate")
        builder.add_edge("investigate", review)
        builder.add_edge("book", "tell")
        builder.add_edge("tell", "check")
        return builder.compile(checkpointer=saver)

    def investigate(self, state: PeerState) -> PeerState:
        """Read the shipment and choose the cheapest rate: the proposal of this round."""
        shipment = self._get(f"/v1/shipments/{SHIPMENT}")
        quotes = self._get(f"/v1/quotes?shipment_ids={SHIPMENT}")["items"]
        open_quotes = [quote for quote in quotes if quote["status"] == "open"]
        return {
            "round": state.get("round", 0) + 1,
            "version": shipment["version"],
            "recipient": shipment["customer"]["email"],
            "quote": min(open_quotes, key=lambda quote: int(quote["amount_minor"])),
        }

    def review(self, state: PeerState) -> Command[Any]:
        """The pause, alone in its node."""
        answer = interrupt({"round": state["round"], "quote": state["quote"]["id"]})
        goto = {RELEASE: "book", REFRESH: "investigate"}.get(answer, END)
        return Command(goto=goto, update={"answer": answer})

    def book(self, state: PeerState) -> PeerState:
        """Book the carrier of the proposal, at the version it was made from."""
        quote = state["quote"]
        body = {
            "quote_id": quote["id"],
            "scac": quote["carrier"]["scac"],
            "amount_minor": quote["amount_minor"],
            "currency": quote["currency"],
        }
        self._change("bookings", state["round"], body, version=state["version"])
        return {"booked": True}

    def tell(self, state: PeerState) -> PeerState:
        """Tell the customer; the booking moved the shipment on by one version."""
        body = {
            "recipient": state["recipient"],
            "channel": "email",
            "template": "carrier_booked",
            "about": f"{state['quote']['carrier']['name']} is booked",
            "body": "A carrier is booked again.",
        }
        self._change("messages", state["round"], body, version=state["version"] + 1)
        return {"told": True}

    def check(self, state: PeerState) -> Command[Literal["book", "tell", "__end__"]]:
        """Look for both effects by their references; do again what is not there, with its key."""
        for kind, node in (("bookings", "book"), ("messages", "tell")):
            reference = self._reference(kind, state["round"])
            if not self._get(f"/v1/{kind}?client_reference={reference}")["items"]:
                return Command(goto="book" if node == "book" else "tell")
        return Command(goto="__end__")

    def _reference(self, kind: str, number: int) -> str:
        return f"{self.thread}-{number}-{kind}"

    def _get(self, path: str) -> dict[str, Any]:
        response = self.client.get(path)
        response.raise_for_status()
        return dict(response.json())

    def _change(self, kind: str, number: int, body: dict[str, Any], *, version: int) -> None:
        """One change under the target's lease. The key follows from thread and proposal."""
        reference = self._reference(kind, number)
        wanted = {"resource": f"shipment:{SHIPMENT}", "holder": self.thread, "ttl_seconds": 60}
        lease = self._post("/v1/leases", wanted, {})
        headers = {
            "Idempotency-Key": str(uuid.uuid5(NAMESPACE, reference)),
            "If-Match": f'"{version}"',
            "Fencing-Token": str(lease["fencing_token"]),
        }
        given = {**body, "shipment_id": SHIPMENT, "client_reference": reference}
        self._post(f"/v1/{kind}", given, headers)
        self.client.delete(f"/v1/leases/{lease['lease_id']}")

    def _post(self, path: str, body: dict[str, Any], headers: dict[str, str]) -> dict[str, Any]:
        response = self.client.post(path, json=body, headers=headers)
        if response.is_error:
            raise Refused(f"{response.status_code}: {response.text[:200]}")
        return dict(response.json())
