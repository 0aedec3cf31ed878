"""A lead's word that a source which went back to an older version is right all the same.

It moves the version order only: what is read next is compared like any other reading, and a
proposal that was made on the newer version does not come back (P13).
"""

from datetime import datetime

from cases import policies
from cases.actions.change import by_person
from cases.models import Case, Person, SourceRecord
from cases.vocabulary.errors import Conflict, NotFound
from cases.vocabulary.facts import went_back
from cases.vocabulary.stages import Stage
from cases.vocabulary.texts import reason_given


def trust_source(
    *, case_id: int, record_id: int, seen_version: int, reason: str, by: Person, at: datetime
) -> None:
    """From now on the version order of this record starts at the version it has now.

    `record_id` is the record's row, `seen_version` the version the person saw. Raises `Conflict`
    when the case is not blocked, the record did not go back, or it moved on since it was seen.
    """
    said = reason_given(reason, missing="Say how you know that the source is right now.")
    act = "trust the source again"
    with by_person(case_id=case_id, by=by, at=at, act=act) as change:
        policies.check_may_trust(person=by)
        if change.case.current_stage is not Stage.BLOCKED:
            raise Conflict("The case is not blocked. Reload it to see where it stands.")
        record = _gone_back(change.case, record_id)
        now = None if record.latest is None else record.latest.version
        if now != seen_version:
            raise Conflict(
                f"You saw {record} at version {seen_version}; now it stands at {now}. Look again."
            )
        before, record.highest_version = record.highest_version, now
        record.save(update_fields=("highest_version",))
        change.record(
            "source_trusted",
            record=str(record),
            version=now,
            version_before=before,
            reason=said,
        )
        if change.case.next_try_at is not None:  # else it waits for a budget
            change.case.next_try_at = change.at
            change.due(change.at, reason=f"{by} trusts {record} again; it is read anew."[:200])


def _gone_back(case: Case, record_id: int) -> SourceRecord:
    """The case's record, locked; raises unless it stands at an older version than was seen."""
    found = SourceRecord.objects.select_for_update(of=("self",))
    record = found.filter(pk=record_id, cases=case).first()
    if record is None:
        raise NotFound("This case has no such source record.")
    now = None if record.latest is None else record.latest.version
    if not went_back(then=record.highest_version, now=now):
        raise Conflict(f"{record} does not stand at an older version. Reload the case.")
    return record
