"""Good summaries, which the gates are to pass: at the first try, or after what they find has been mended once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from compaction.domain.limits import body_asked
from compaction.drafting.requesting import Exchange, ask
from compaction.drafting.summaries import Tried, findings_of, repair_of, tried_again, with_check
from efforts.turns.recording import count

from .bench import Bench, Ending, ending_of, offered, silent, task_of
from .cases import Case, Unreadable
from .converting import conversion, converted, read_over, reading_over
from .figures import Demand, least, share

FIRST, AFTER = 0.85, 0.97


@dataclass(frozen=True, kw_only=True)
class Good:
    """`final` is `first` where there was nothing to mend."""

    case: Case
    label: str
    first: Tried
    final: Tried


@dataclass(kw_only=True)
class GoodNotes:
    name = "good summaries"
    cases: Sequence[tuple[str, Case]]
    found: list[Good] = field(default_factory=list)

    async def run(self, bench: Bench) -> None:
        for label, case in self.cases:
            first = await first_of(label, case, bench)
            final = await final_of(label, first, bench) if first else None
            if first and final:
                self.found.append(Good(case=case, label=label, first=first, final=final))

    def figures(self) -> dict[str, Any]:
        return {
            "summaries": len(self.found),
            "first": endings(good.first for good in self.found),
            "after_one_repair": endings(good.final for good in self.found),
            "not_passed": [
                {"case": good.case.id, "first": told(good.first), "after_one_repair": told(good.final)}
                for good in self.found
                if not good.first.passed or not good.final.passed
            ],
        }

    def lines(self) -> Iterator[str]:
        figures = self.figures()
        yield f"{figures['summaries']} good summaries:"
        for key, says in (("first", "at the first try"), ("after_one_repair", "after one repair")):
            one = figures[key]
            by = ", ".join(f"{gate} {number}" for gate, number in one["refused_by"].items())
            yield (
                f"  {says}: {one['passed']} passed ({one['rate']:.1%}), {one['refused']} refused"
                f"{f' by {by}' if by else ''}, {one['void']} void, {one['not judged']} not judged"
            )

    def demands(self) -> Iterator[Demand]:
        yield least("good summaries passed at the first try", *passed(good.first for good in self.found), FIRST)
        yield least("good summaries passed after one repair", *passed(good.final for good in self.found), AFTER)


async def first_of(label: str, case: Case, bench: Bench) -> Tried | None:
    """None while an answer is pending."""
    request = conversion(case)
    answer = await ask(request, bench.choice)
    if bench.waits(label, [("conversion", request)]):
        return None
    if answer.error:
        raise Unreadable(f"{case.id}: {answer.error}")
    task = task_of(case, bench.choice)
    try:
        draft = converted(case, answer.text)
        text = offered(task, draft, answer).text
        over = reading_over(
            request, answer.text, tokens=count(text.body) if text else 0, most=body_asked(task.ref.source_tokens)
        )
        second = await ask(over, bench.choice)
        if bench.waits(label, [("over", over)]):
            return None
        draft = read_over(case, draft, second.text)
    except Unreadable as error:
        bench.unreadable.append(f"{error} ({request.key})")
        return None
    tried = await with_check(offered(task, draft, second), silent)
    return None if bench.waits_for_check(label, tried) else tried


async def final_of(label: str, first: Tried, bench: Bench) -> Tried | None:
    """As the product mends a draft. None while an answer is pending."""
    findings = findings_of(first)
    request = repair_of(first.task, first, findings) if findings else None
    if request is None:
        return first
    answer = await ask(request, bench.choice)
    if bench.waits(label, [("repair", request)]):
        return None
    again = tried_again(first, Exchange(step="repair", request=request, answer=answer))
    if again is first:
        return first
    final = await with_check(again, silent)
    return None if bench.waits_for_check(label, final, known=len(first.checks)) else final


def passed(found: Iterable[Tried]) -> tuple[int, int]:
    endings = [ending_of(tried) for tried in found]
    return endings.count(Ending.PASSED), len(endings)


def endings(found: Iterable[Tried]) -> dict[str, Any]:
    tried = list(found)
    counts = Counter(ending_of(one) for one in tried)
    gates = Counter(str(verdict.gate) for one in tried for verdict in one.verdicts if verdict.failed)
    return {
        **{str(ending): counts[ending] for ending in Ending},
        **share(counts[Ending.PASSED], len(tried)),
        "refused_by": dict(sorted(gates.items())),
    }


def told(tried: Tried) -> str:
    return str(Ending.PASSED) if tried.passed else tried.why
