"""P28: sweeps of several beats keep cases owned at once, and people take cases in between."""

from functools import partial

from cases.actions.lapses import keep_owned
from cases.actions.ownership import take_case
from cases.clock import business_now
from cases.models import Case, Escalation
from tests.cases.builders import Cast, events_of
from tests.cases.duties import owned_by, with_a_roster
from tests.races.together import together

SWEEPS = 6


def test_p28_many_sweeps_at_once_move_and_escalate_each_case_once(cast: Cast) -> None:
    with_a_roster(cast)
    moving = [owned_by(cast, None, f"S-{number}") for number in range(5)]
    staying = [owned_by(cast, cast.owner, f"S-{number}") for number in range(10, 15)]
    together([keep_owned] * SWEEPS)
    keep_owned()
    assert all(events_of(case).count("owner_changed") == 1 for case in moving)
    assert all(events_of(case).count("escalated") == 1 for case in staying)
    assert Escalation.objects.filter(ended_at=None).count() == len(staying)


def test_p28_whoever_takes_a_case_while_the_sweep_comes_has_it(cast: Cast) -> None:
    """Never nobody, never two: the claim stands, or is refused with the name of the owner."""
    with_a_roster(cast)
    for number in range(5):
        case = owned_by(cast, None, f"S-{number}")
        take = partial(take_case, case_id=case.pk, by=cast.lead, at=business_now())
        together([keep_owned, take])
        keep_owned()
        assert Case.objects.get(pk=case.pk).owner == cast.lead
        assert not case.escalations.filter(ended_at=None).exists()
