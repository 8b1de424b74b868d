"""What every suite needs: the model that is asked, and what of its answers is not there yet."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from compaction.domain.artifact import Draft, Kind, SourceRef
from compaction.domain.limits import largest_source
from compaction.drafting.checking import CheckMade
from compaction.drafting.requesting import Answer, Exchange, Request
from compaction.drafting.summaries import Examined, Task, Tried, request_of, tried_of
from efforts.context.connections import ModelChoice
from efforts.domain.text.canonical import canonical_json
from efforts.turns.recording import count

from .cases import Case
from .pending import Pending
from .record import RecordServer

# As an installation has them.
CAP = CHECK_CAP = 40_000


async def silent(step: str) -> None:
    """Nobody watches."""


class Ending(StrEnum):
    """How a summary fares. What nobody could read is neither passed nor refused."""

    PASSED = "passed"
    REFUSED = "refused"
    VOID = "void"
    NOT_JUDGED = "not judged"


@dataclass(kw_only=True)
class Bench:
    """`server` is None where an endpoint answers; then nothing is pending. `checks` are all that were made."""

    choice: ModelChoice
    server: RecordServer | None = None
    pending: list[Pending] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)
    checks: list[CheckMade] = field(default_factory=list)

    def waits(self, label: str, asked: Iterable[tuple[str, Request]]) -> bool:
        """Whether one of the requests has no answer in the record; it is noted."""
        missing = self.server.pending if self.server else {}
        found = [Pending(step=step, log=label, request=one) for step, one in asked if one.key in missing]
        self.pending += found
        return bool(found)

    def waits_for_check(self, label: str, tried: Tried, known: int = 0) -> bool:
        """Of the first check that lacks an answer alone: what was asked after it was asked in vain. `known`: so many of
        the checks have been looked at."""
        checks = tried.checks[known:]
        for check in checks:
            if self.waits(label, ((one.step, one.request) for one in check.exchanges)):
                return True
        self.checks += checks
        return False


def task_of(case: Case, choice: ModelChoice) -> Task:
    """Its ledger is empty, as in most conversations: what is kept is counted by the checker's inventory."""
    turns = case.source.turns
    ref = SourceRef(
        session="evaluation",
        branch="main",
        effort=case.id,
        start=turns[0],
        end=turns[-1],
        turns=turns,
        source_sha256=case.source.sha256,
        source_tokens=count(case.source.said),
    )
    return Task(
        name=case.id.partition("-")[2].replace("-", " "),
        kind=Kind.CONCLUSION,
        source=case.source,
        ref=ref,
        choice=choice,
        checker=choice,
        exam=Examined(passed=True),
        cap=CAP,
        check_cap=CHECK_CAP,
        largest=largest_source(cap=CAP, check_cap=CHECK_CAP, window=None),
    )


def offered(task: Task, draft: Draft, answer: Answer) -> Tried:
    """As if the drafter had written just this, at the cost of that answer; nobody has checked it yet."""
    text = canonical_json(draft.model_dump(mode="json", exclude={"claims": {"__all__": {"ledger_ref"}}}))
    exchange = Exchange(step="draft", request=request_of(task), answer=replace(answer, text=text))
    return tried_of(task, (exchange,))


def ending_of(tried: Tried) -> Ending:
    if tried.passed:
        return Ending.PASSED
    if any(verdict.failed for verdict in tried.verdicts):
        return Ending.REFUSED
    return Ending.VOID if is_void(tried.checks) else Ending.NOT_JUDGED


def is_void(checks: Sequence[CheckMade]) -> bool:
    """The last was asked and proves nothing."""
    return bool(checks) and bool(checks[-1].void) and bool(checks[-1].exchanges)
