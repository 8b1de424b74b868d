"""Whether the model that answers may check at all: the product's own exam."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from compaction.drafting.examining import CAUGHT, DOUBTED, examine, papers
from compaction.models import Exam as Taken

from .bench import Bench
from .figures import Demand, least, most


@dataclass(kw_only=True)
class Exam:
    name = "exam"
    result: Taken | None = None

    async def run(self, bench: Bench) -> None:
        result, _ = await examine(bench.choice)
        waiting = [bench.waits(f"exam-{n}", [("exam", one.request)]) for n, one in enumerate(papers(), start=1)]
        if not any(waiting):
            self.result = result

    def figures(self) -> dict[str, Any]:
        result = self.taken
        return {
            "caught": result.caught,
            "wrong": result.wrong,
            "doubted": result.doubted,
            "true": result.true,
            "passed": result.passed,
            "why": result.why,
        }

    def lines(self) -> Iterator[str]:
        result = self.taken
        doubted = f"{result.doubted} of {result.true} true ones doubted"
        yield f"Exam: {result.caught} of {result.wrong} wrong claims caught, {doubted}"

    def demands(self) -> Iterator[Demand]:
        yield least("wrong claims of the exam caught", self.taken.caught, self.taken.wrong, CAUGHT)
        yield most("true claims of the exam doubted", self.taken.doubted, self.taken.true, DOUBTED)

    @property
    def taken(self) -> Taken:
        assert self.result is not None
        return self.result
