"""What came in from outside and is not read yet: before it is, nothing is carried out."""

from django.db import connection

from cases.models import Case

HAS_UNREAD_EVENTS = """EXISTS (
    SELECT 1 FROM cases_inboundevent e
    WHERE e.state = 'received'
      AND (e.subject = c.subject OR e.reference IN (
        SELECT f.reference FROM cases_effect f JOIN cases_decision d ON d.id = f.decision_id
        WHERE d.case_id = c.id
      ))
)"""
"""In SQL, for the case named `c`: whether an event about it was received and not applied yet."""


def has_unread_events(case: Case) -> bool:
    """Whether an event about the case was received and not applied yet; asked from the database."""
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT {HAS_UNREAD_EVENTS} FROM cases_case c WHERE c.id = %s",  # noqa: S608 (constant)
            [case.pk],
        )
        return bool(cursor.fetchone()[0])
