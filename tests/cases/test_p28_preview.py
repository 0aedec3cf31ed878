"""P28: what a change of who is on duty moves is what was shown, up to the moment it is made."""

from datetime import timedelta

import pytest

from cases.actions import roster
from cases.actions.preview import make_change, moves_digest, what_moves
from cases.models import AuditEvent, Case, Leave
from cases.vocabulary.errors import Conflict
from tests.cases.builders import MORNING, Cast
from tests.cases.duties import NIGHT, owned_by, with_a_roster


def test_p28_what_moves_is_compared_in_the_transaction_that_makes_the_change(cast: Cast) -> None:
    """A case that gets its owner after the last look, and before the change, is not moved."""
    with_a_roster(cast)
    late, moments = owned_by(cast, cast.lead), [NIGHT + timedelta(minutes=1)]

    def leave() -> None:
        roster.set_leave(
            person=cast.colleague,
            starts_at=NIGHT,
            ends_at=MORNING,
            reason="Ill",
            by=cast.lead,
            at=NIGHT,
        )

    def while_somebody_assigns() -> None:
        leave()
        Case.objects.filter(pk=late.pk).update(owner=cast.colleague)

    seen = moves_digest(what_moves(leave, at=NIGHT, moments=moments))
    events = AuditEvent.objects.count()
    with pytest.raises(Conflict, match="no longer what you saw"):
        make_change(while_somebody_assigns, seen=seen, at=NIGHT, moments=moments)
    assert not Leave.objects.exists()
    assert AuditEvent.objects.count() == events
    assert make_change(leave, seen=seen, at=NIGHT, moments=moments) == 0
    assert Leave.objects.get().person == cast.colleague
