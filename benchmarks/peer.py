"""(a) One resume and one read per case, on plain LangGraph with its own PostgresSaver."""

import time
from collections.abc import Sequence
from typing import Any, TypedDict

import httpx
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.graph import START, StateGraph
from langgraph.types import Command, interrupt
from psycopg import Connection
from psycopg.rows import DictRow, dict_row

SCHEMA = "peer"


class PeerState(TypedDict, total=False):
    """What a plain graph remembers of its shipment."""

    shipment: str
    version: int
    is_stale: bool


def seconds_per_case(names: Sequence[str], *, client: httpx.Client, database: str) -> float:
    """Resume each of these cases once, reading its shipment; seconds per case."""
    options = f"-c search_path={SCHEMA}"
    with Connection[DictRow].connect(
        database, autocommit=True, row_factory=dict_row, options=options
    ) as connection:
        connection.execute(f"DROP SCHEMA IF EXISTS {SCHEMA} CASCADE")
        connection.execute(f"CREATE SCHEMA {SCHEMA}")
        saver = PostgresSaver(connection)
        saver.setup()
        graph = _graph(client).compile(checkpointer=saver)
        configs: list[RunnableConfig] = [{"configurable": {"thread_id": name}} for name in names]
        for name, config in zip(names, configs, strict=True):
            graph.invoke({"shipment": name, "version": 41}, config)
        began = time.monotonic()
        for config in configs:
            graph.invoke(Command(resume="look again"), config)
        return (time.monotonic() - began) / len(names)


def _graph(client: httpx.Client) -> StateGraph[PeerState]:
    def wait(state: PeerState) -> dict[str, Any]:
        interrupt("waiting")
        return {}

    def read(state: PeerState) -> PeerState:
        shipment = client.get(f"/v1/shipments/{state['shipment']}").raise_for_status().json()
        return {"version": shipment["version"], "is_stale": shipment["version"] != 41}

    builder = StateGraph(PeerState)
    builder.add_node("wait", wait)
    builder.add_node("read", read)
    builder.add_edge(START, "wait")
    builder.add_edge("wait", "read")
    builder.add_edge("read", "wait")
    return builder
