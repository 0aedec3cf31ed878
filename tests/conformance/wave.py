"""Thirty cases at once, each with a shipment of its own."""

from collections import Counter
from collections.abc import Sequence
from datetime import timedelta

from cases.actions import decisions
from cases.clock import business_now
from cases.models import Case, Run
from tests.cases.builders import an_answer
from tests.conformance.bench import BOTH_EFFECTS, Bench
from tests.conformance.table import Verdict
from tests.crashes.night_desk import END_OF_SHIFT

DONE = "waiting_for_acceptance"


class Wave:
    """Open cases `W-01` and following on the bench; nobody works yet."""

    def __init__(self, bench: Bench, *, size: int) -> None:
        bench.clear()
        bench.control.reset(scenario="wave", now=END_OF_SHIFT)
        bench.set_clocks(END_OF_SHIFT)
        bench.control.settings(booking_confirm_seconds=0, message_deliver_seconds=0)
        self._bench = bench
        self.case_ids = [bench.open_another(f"W-{number:02}") for number in range(1, size + 1)]

    def in_stage(self, *stages: str) -> int:
        """How many of the cases stand in one of these stages."""
        return Case.objects.filter(pk__in=self.case_ids, stage__in=stages).count()

    def release(self, case_ids: Sequence[int]) -> None:
        """The owner releases the proposals of these cases."""
        for case in Case.objects.filter(pk__in=case_ids):
            decisions.release(answer=an_answer(case), by=self._bench.cast.owner, at=business_now())

    def are_done(self) -> bool:
        """Whether every case waits for acceptance; what is due later becomes due when all rest."""
        runs = Run.objects.filter(case_id__in=self.case_ids)
        busy = runs.filter(lease_until__gt=business_now())
        due = runs.exclude(case__stage=DONE).filter(due_at__lte=business_now())
        if not busy.exists() and not due.exists():
            self._bench.pass_time(timedelta(seconds=1))
        return self.in_stage(DONE) == len(self.case_ids)

    def verdicts(self) -> list[Verdict]:
        """One for each case, by its shipment in the ledger."""
        found: dict[str, Counter[str]] = {}
        for entry in self._bench.control.ledger():
            if entry.principal == "watchbill-agent":
                found.setdefault(entry.shipment_id, Counter()).update([entry.kind])
        cases = Case.objects.filter(pk__in=self.case_ids)
        return [_verdict(case, found.get(case.subject, Counter())) for case in cases]


def _verdict(case: Case, found: Counter[str]) -> Verdict:
    wanted = Counter(BOTH_EFFECTS)
    extra, missing = (found - wanted).total(), (wanted - found).total()
    is_done = case.stage == DONE
    return Verdict(
        wrong_effects=extra + (missing if is_done else 0),
        stuck=not is_done,
        said=f"{case.subject} is {case.stage} with {dict(found)}",
    )
