"""The three ways in which this program uses its database connection."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from asgiref.sync import sync_to_async
from django.db import connection, transaction


def lend[**P, R](work: Callable[P, R]) -> Callable[P, R]:
    """Wrap ``work`` so that its connection goes back to the pool as soon as it is done.

    A request whose answer is held back must not hold a connection as well.
    """

    def borrowed(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return work(*args, **kwargs)
        finally:
            connection.close()

    return borrowed


async def from_async[**P, R](work: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Run database work in the request's own thread, with a lent connection."""
    return await sync_to_async(lend(work))(*args, **kwargs)


@contextmanager
def snapshot() -> Iterator[None]:
    """Read several tables as of one moment: a shipment never comes with newer stops."""
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        yield
