"""What a service around the peer does: start a thread, deliver an answer, go on after a crash."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import httpx
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.types import Command
from psycopg import Connection
from psycopg.rows import DictRow, dict_row
from psycopg_pool import ConnectionPool

from agent.checkpoints import strict_serializer
from tests.conformance.peer import REJECT, Graph, Peer

SCHEMA = "peer"
TIMEOUT_SECONDS = 0.5


class Standing(StrEnum):
    """Where a thread stands, as far as its checkpoints tell."""

    NEW = "new"
    WAITING = "waiting"
    UNFINISHED = "unfinished"
    DONE = "done"


@dataclass(kw_only=True)
class PeerDesk:
    """One thread of the peer in one process."""

    graph: Graph
    thread: str

    @property
    def config(self) -> RunnableConfig:
        """The thread, for LangGraph."""
        return {"configurable": {"thread_id": self.thread}}

    def standing(self) -> Standing:
        """Where the thread stands now."""
        saved = self.graph.get_state(self.config)
        if saved.interrupts:
            return Standing.WAITING
        if not saved.values and not saved.next:
            return Standing.NEW
        # Not from `next` alone: it is empty too while the first checkpoint is being written.
        has_ended = saved.values.get("answer") == REJECT or saved.values.get("told")
        return Standing.DONE if has_ended and not saved.next else Standing.UNFINISHED

    def interrupt_id(self) -> str:
        """The id of the pause that waits."""
        return self.graph.get_state(self.config).interrupts[0].id

    def start(self) -> None:
        """Begin the case."""
        self._invoke({"round": 0})

    def go_on(self) -> None:
        """Continue after a crash or an error, from the last checkpoint."""
        self._invoke(None)

    def answer(self, value: Any) -> None:
        """Deliver a person's answer."""
        self._invoke(Command(resume=value))

    def _invoke(self, given: Any) -> None:
        self.graph.invoke(given, self.config, durability="sync")


@contextmanager
def peer_saver(database: str) -> Iterator[PostgresSaver]:
    """Checkpoints of the peer in a schema of its own."""
    pool: ConnectionPool[Connection[DictRow]] = ConnectionPool(
        database,
        connection_class=Connection[DictRow],
        kwargs={
            "autocommit": True,
            "row_factory": dict_row,
            "prepare_threshold": None,
            "options": f"-c search_path={SCHEMA}",
        },
        min_size=1,
        max_size=4,
        open=False,
        check=ConnectionPool.check_connection,
    )
    with pool:
        yield PostgresSaver(pool, serde=strict_serializer())


@contextmanager
def peer_desk(
    *, saver: PostgresSaver, thread: str, url: str, token: str, review: str = "review"
) -> Iterator[PeerDesk]:
    """A peer that works on one thread, with a client of its own."""
    with httpx.Client(
        base_url=url,
        headers={"Authorization": f"Bearer {token}"},
        timeout=TIMEOUT_SECONDS,
        trust_env=False,
    ) as client:
        peer = Peer(client=client, thread=thread)
        yield PeerDesk(graph=peer.graph(saver, review=review), thread=thread)


def set_up(database: str) -> None:
    """Make the peer's schema and tables, once per database."""
    options = f"-c search_path={SCHEMA}"
    with Connection[DictRow].connect(
        database, autocommit=True, row_factory=dict_row, options=options
    ) as connection:
        connection.execute(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}")
        PostgresSaver(connection).setup()
