"""P24: before a deploy, a command lists the open cases that the present code would break."""

import pytest

from agent import gate
from cases.models import Case, Run
from tests.cases.builders import Cast, a_case_waiting_for_review, an_open_case


def test_p24_known_flows_pass_the_gate(cast: Cast, capsys: pytest.CaptureFixture[str]) -> None:
    """One line for each version in use."""
    case = a_case_waiting_for_review(cast)
    assert gate.main() == 0
    assert f"flow 1: 1 open, oldest case {case.pk}, goes on" in capsys.readouterr().out


def test_p24_a22_a_flow_that_this_release_does_not_know_stops_the_deploy(
    cast: Cast, capsys: pytest.CaptureFixture[str]
) -> None:
    """A case saved by a later or a removed flow is counted, and the exit status is 1."""
    a_case_waiting_for_review(cast)
    later = an_open_case(cast, subject="S-319")
    Run.objects.filter(case=later).update(flow_version=7)
    assert gate.main() == 1
    shown = capsys.readouterr()
    assert "flow 7: 1 open" in shown.out
    assert "1 open cases would be blocked" in shown.err


def test_p24_closed_cases_do_not_count(cast: Cast) -> None:
    """What is over cannot break."""
    case = a_case_waiting_for_review(cast)
    Run.objects.filter(case=case).update(flow_version=7)
    Case.objects.filter(pk=case.pk).update(
        stage="closed", closed_by="Marta Ortega", closed_at=case.opened_at
    )
    assert gate.main() == 0
