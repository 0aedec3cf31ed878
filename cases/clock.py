"""The business clock: the database's clock plus an offset that only demo and tests may set."""

from datetime import datetime

from django.db import connection


def business_now() -> datetime:
    """The business instant (UTC) by the database, never by this host's clock."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT business_now()")
        (moment,) = cursor.fetchone()
    result: datetime = moment
    return result
