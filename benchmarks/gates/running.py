"""All suites, one after the other, against one model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from compaction.domain.gates.cost import PERCENTILE, percentile
from compaction.domain.limits import INVENTORY_REPLY
from compaction.drafting.requesting import inventory

from .bench import Bench
from .cases import Case
from .catching import Defects
from .exam import Exam
from .figures import Demand, Measured, Suite, least
from .good import GoodNotes
from .pending import Pending

# As an installation has it; what has no answer lasts for ever.
TIMEOUT_MS, LATE = 90_000, 10**9


@dataclass(kw_only=True)
class InTime:
    """At an endpoint alone: a record answers at once. That 95 % are in time is that `elapsed_ms_p95` is."""

    name = "latency"
    bench: Bench

    @property
    def elapsed(self) -> list[int]:
        answers = (one.answer for check in self.bench.checks for one in check.exchanges)
        return [LATE if answer.error else answer.elapsed_ms for answer in answers]

    async def run(self, bench: Bench) -> None:
        """All has been asked."""

    def figures(self) -> dict[str, Any]:
        return {"answers": len(self.elapsed), "elapsed_ms_p95": percentile(self.elapsed) if self.elapsed else None}

    def lines(self) -> Iterator[str]:
        yield f"Latency: 95 % of {len(self.elapsed)} answers within {self.figures()['elapsed_ms_p95']} ms"

    def demands(self) -> Iterator[Demand]:
        in_time = sum(elapsed <= TIMEOUT_MS for elapsed in self.elapsed)
        yield least("answers in time", in_time, len(self.elapsed), PERCENTILE / 100)


async def measured(cases: Sequence[Case], bench: Bench) -> list[Suite]:
    labelled = [(f"{number:02d}", case) for number, case in enumerate(cases, start=1)]
    exam, good = Exam(), GoodNotes(cases=labelled)
    defects = Defects(good=good.found)
    for suite in (exam, good, defects):
        await suite.run(bench)
    ask_ahead(labelled, bench)
    return [exam, good, defects, *([] if bench.server else [InTime(bench=bench)])]


def ask_ahead(labelled: Iterable[tuple[str, Case]], bench: Bench) -> None:
    """Inventories need no summary, so that they can be answered beside the first requests."""
    if bench.server is None:
        return
    for label, case in labelled:
        request = inventory(case.source, INVENTORY_REPLY)
        if bench.server.answer_to(request.messages) is None:
            bench.waits(label, [("inventory", request)])


def once(pending: Iterable[Pending]) -> list[Pending]:
    return list({one.request.key: one for one in pending}.values())


def as_json(suites: Sequence[Measured], answered_by: str) -> dict[str, Any]:
    demands = [demand for suite in suites for demand in suite.demands()]
    return {
        "answers": answered_by,
        "holds": all(demand.holds for demand in demands),
        "demands": [demand.as_json() for demand in demands],
        **{suite.name: suite.figures() for suite in suites},
    }
