"""A case on a database that crashes: its people try again, as people do, and a beat and workers are
left to themselves. Run as a process of its own, on that database; it ends when the case is closed.

The file named by `PREPARED` appears when crashes may begin.
"""

import os
import time
from pathlib import Path
from uuid import UUID, uuid4

import agent.standalone  # noqa: F401 (before the record is imported)

# isort: split
from django.db import DatabaseError, connection

from cases.actions import clock, closing, decisions, intake
from cases.clock import business_now
from cases.models import Case, Desk, Person
from cases.vocabulary.actors import SYSTEM
from cases.vocabulary.errors import WatchbillError
from tests.cases.builders import a_cast
from tests.crashes.night_desk import END_OF_SHIFT

PAUSE_SECONDS = 0.1


def prepare() -> None:
    """People, an empty desk, 17:00."""
    with connection.cursor() as cursor:
        cursor.execute("TRUNCATE cases_case, cases_sourcerecord CASCADE")
    if not Desk.objects.exists():
        a_cast()
    clock.set_business_clock(to=END_OF_SHIFT)


def open_case() -> None:
    """S-318 has no carrier."""
    wanted = intake.NewCase(
        kind="freight_exception",
        case_type="E02",
        subject="S-318",
        title="Carrier fell off",
        system="transport",
        desk=Desk.objects.get(),
        owner=Person.objects.get(username="marta"),
    )
    intake.open_case(wanted=wanted, by=SYSTEM, at=business_now())


def release(case: Case, nonce: UUID) -> None:
    """The owner releases what is ready, with one and the same form."""
    proposal = case.proposals.get(state="ready")
    answer = decisions.Answer(
        case_id=case.pk,
        case_version=case.version,
        proposal_number=proposal.number,
        digest=proposal.digest,
        nonce=nonce,
    )
    decisions.release(answer=answer, by=Person.objects.get(username="marta"), at=business_now())


def take_step(nonce: UUID) -> bool:
    """Whatever a person would do now; says whether it is over."""
    case = Case.objects.first()
    if case is None:
        open_case()
    elif case.stage == "waiting_for_review":
        release(case, nonce)
    elif case.stage == "waiting_for_acceptance":
        owner = Person.objects.get(username="marta")
        closing.accept_outcome(case_id=case.pk, by=owner, at=business_now())
    return case is not None and case.stage == "closed"


def main() -> None:
    """Until the case is closed."""
    prepare()
    Path(os.environ["PREPARED"]).touch()
    nonce = uuid4()
    is_over = False
    while not is_over:
        try:
            is_over = take_step(nonce)
        except (DatabaseError, WatchbillError) as error:
            print(f"again: {error!r}", flush=True)
            connection.close()
        time.sleep(PAUSE_SECONDS)


if __name__ == "__main__":
    main()
