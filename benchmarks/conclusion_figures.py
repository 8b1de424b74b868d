"""What concluding came to, range by range and over all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import median
from typing import Any

from benchmarks.conclusions import Concluded
from benchmarks.gates.figures import Demand, least, share
from compaction.domain.artifact import Artifact as Document
from compaction.domain.artifact import Claim, Malformed, Section, Status, parse_artifact, parse_draft
from compaction.domain.gates.retention import folded
from compaction.domain.ledger import Entry
from compaction.domain.limits import payback
from compaction.domain.rendering import BODY_FROM, BODY_SHARE, short_limit
from compaction.drafting.reading import read_ledger
from compaction.drafting.summaries import expected_cost
from compaction.models import Artifact, Check, DraftRun, Exam, GateRun
from efforts.context.planning import main_branch
from efforts.domain.effort.states import PointerState
from efforts.models import ContextPointer, EffortState
from efforts.turns.recording import count

PARSED = 0.95
# How a range ends: its summary stands as it was drafted, or after what was found went back once; or excerpts do.
FIRST, REPAIRED, EXCERPTS, NOTHING = "first try", "after a repair", "excerpts", "nothing"


@dataclass(frozen=True)
class Outcome:
    """Of one range. What is drafted counts for its size whether it stands or not."""

    of: Concluded

    @cached_property
    def runs(self) -> list[DraftRun]:
        return [run for run in self.of.runs if run.drafter != "digest"]

    @cached_property
    def drafts(self) -> list[DraftRun]:
        """One of each window."""
        return [run for run in self.runs if run.drafter == "model"]

    @cached_property
    def pointer(self) -> ContextPointer | None:
        return ContextPointer.objects.filter(effort=self.of.effort, state=PointerState.ACTIVE).first()

    @cached_property
    def drafted(self) -> Artifact | None:
        return Artifact.objects.filter(run__in=self.runs).order_by("run", "version").last()

    @cached_property
    def document(self) -> Document | None:
        return parse_artifact(self.drafted.document) if self.drafted else None

    @cached_property
    def source_tokens(self) -> int:
        return count(self.of.log.source.said)

    @property
    def ending(self) -> str:
        if self.pointer is None:
            return NOTHING
        if self.pointer.digest:
            return EXCERPTS
        return REPAIRED if any(run.requests.filter(step="repair").exists() for run in self.drafts) else FIRST

    @property
    def why(self) -> str:
        """Why its summary does not stand."""
        if self.ending in (FIRST, REPAIRED):
            return ""
        state = EffortState.objects.get(branch=main_branch(self.of.session), effort=self.of.effort)
        return state.draft

    @property
    def in_the_prompt(self) -> bool:
        """What stands is in the bytes that the model was sent next."""
        sent = [message["content"] for message in self.of.sent]
        return self.pointer is not None and any(self.pointer.text in content for content in sent)

    @property
    def parsed_first(self) -> int:
        return sum(parses(run.requests.order_by("place")[0].answer) for run in self.drafts)

    @cached_property
    def body_tokens(self) -> int | None:
        return count(self.drafted.body) if self.drafted else None

    @property
    def stands_first(self) -> str:
        """Which form stands first, and whether within its limit."""
        if self.drafted is None:
            return "none"
        if self.drafted.standing == self.drafted.body:
            return "body"
        within = count(self.drafted.standing) <= short_limit(self.source_tokens)
        return "short form" if within else "too long"

    @cached_property
    def entries(self) -> tuple[Entry, ...]:
        return read_ledger(self.of.session, self.of.log.source)

    @cached_property
    def lost(self) -> list[Entry]:
        """Of the person's list what gate C misses in what stands, and rules that the prompt does not hold."""
        gates = GateRun.objects.filter(artifact=self.pointer.artifact).last() if self.pointer else None
        retention = next((one for one in gates.verdicts if one["gate"] == "C"), None) if gates else None
        if retention is None:
            return list(self.entries)
        missed = {failure["about"] for failure in retention["failures"]}
        system = folded(self.of.sent[0]["content"])
        return [
            entry
            for entry in self.entries
            if entry.id in missed or (entry.in_system and folded(entry.text) not in system)
        ]

    @property
    def draft_tokens(self) -> int:
        return sum(run.tokens or 0 for run in self.runs)

    @property
    def check_tokens(self) -> int:
        return sum(Check.objects.filter(run__in=self.runs).values_list("tokens", flat=True))

    @property
    def saved(self) -> int:
        """Of each call: the log that the prompt held while the effort was open, but for what stands for it now."""
        return self.of.raw - (self.pointer.tokens if self.pointer else self.of.raw)

    @property
    def earned_back(self) -> int | None:
        return payback(self.draft_tokens + self.check_tokens, self.saved)

    @property
    def reversal_stands(self) -> bool:
        """The later decision is decided, the earlier one is not."""
        reversed, document = self.of.range.reversed, self.document
        if reversed is None or document is None:
            return False
        decided = [claim.text for claim in document.claims if is_decided(claim)]
        new = any(reversed.new in text for text in decided)
        return new and not any(reversed.old in text and reversed.new not in text for text in decided)

    def row(self) -> dict[str, Any]:
        body = self.body_tokens
        return {
            "range": self.of.range.id,
            "source_tokens": self.source_tokens,
            "windows": len(self.drafts),
            "ended": self.ending,
            "why": self.why,
            "body_tokens": body,
            "body_share": round(body / self.source_tokens, 3) if body is not None else None,
            "stands_first": self.stands_first,
            "standing_tokens": self.pointer.tokens if self.pointer else 0,
            "list": [len(self.entries) - len(self.lost), len(self.entries)],
            "draft_tokens": self.draft_tokens,
            "check_tokens": self.check_tokens,
            "expected_tokens": expected_cost(count(self.of.log.source.text)),
            "next_prompt": [self.of.before, self.of.after],
            "saved_each_call": self.saved,
            "earned_back_after": self.earned_back,
        }


def parses(answer: str) -> bool:
    try:
        parse_draft(answer)
    except Malformed:
        return False
    return True


def is_decided(claim: Claim) -> bool:
    return claim.section == Section.DECISION and claim.status == Status.ACCEPTED


def figures(concluded: Sequence[Concluded]) -> dict[str, Any]:
    found = [Outcome(one) for one in concluded]
    large = [one for one in found if one.source_tokens > BODY_FROM and one.body_tokens is not None]
    shares = [(one.body_tokens or 0) / one.source_tokens for one in large]
    endings = Counter(one.ending for one in found)
    asked = list(demands(found, shares))
    return {
        "holds": all(demand.holds for demand in asked),
        "demands": [demand.as_json() for demand in asked],
        "ranges": len(found),
        "endings": {name: share(endings[name], len(found)) for name in (FIRST, REPAIRED, EXCERPTS, NOTHING)},
        "body_share_median": round(median(shares), 3) if shares else None,
        "stands_first": Counter(one.stands_first for one in found),
        "list": by_section(found),
        "tokens_spent": spent(found),
        "earned_back_after_calls": earned(found),
        "exam_tokens": Exam.objects.order_by("pk").values_list("tokens", flat=True).first(),
        "each": [one.row() for one in found],
    }


def demands(found: Sequence[Outcome], shares: Sequence[float]) -> Iterator[Demand]:
    drafts = sum(len(one.drafts) for one in found)
    entries = [(entry, one) for one in found for entry in one.entries]
    firm = [(entry, one) for entry, one in entries if entry.section in (Section.RULE, Section.OPEN_WORK)]
    yield least("drafts that were read at the first try", sum(one.parsed_first for one in found), drafts, PARSED)
    yield least("ranges of which something stands, and is in the next prompt", in_prompts(found), len(found), 1.0)
    # A median is within the limit where half of all are.
    yield least("bodies within 35 % of a longer source", sum(one <= BODY_SHARE for one in shares), len(shares), 0.5)
    yield least("first forms within their limit", sum(is_within(one) for one in found), len(found), 1.0)
    yield least("rules and open work of people's lists in what stands", kept(firm), len(firm), 1.0)
    yield least("all entries of people's lists in what stands", kept(entries), len(entries), 0.95)
    windowed = [one for one in found if one.of.range.reversed]
    told = sum(one.reversal_stands for one in windowed)
    yield least("reversed decisions told as they stand", told, len(windowed), 1.0)


def in_prompts(found: Sequence[Outcome]) -> int:
    return sum(one.in_the_prompt for one in found)


def is_within(one: Outcome) -> bool:
    return one.stands_first in ("short form", "body")


def kept(entries: Sequence[tuple[Entry, Outcome]]) -> int:
    return sum(entry not in one.lost for entry, one in entries)


def by_section(found: Sequence[Outcome]) -> dict[str, list[int]]:
    """Kept, of how many."""
    sections = (Section.DECISION, Section.OPEN_WORK, Section.RULE)
    pairs = [(entry, one) for one in found for entry in one.entries]
    of = {section: [pair for pair in pairs if pair[0].section == section] for section in sections}
    return {str(section): [kept(its), len(its)] for section, its in of.items()}


def spent(found: Sequence[Outcome]) -> dict[str, Any]:
    draft, check = [one.draft_tokens for one in found], [one.check_tokens for one in found]
    source = sum(one.source_tokens for one in found)
    return {
        "drafts": sum(draft),
        "checks": sum(check),
        "of_source_tokens": source,
        "median_of_a_range": median(one + other for one, other in zip(draft, check, strict=True)),
    }


def earned(found: Sequence[Outcome]) -> dict[str, Any]:
    """Where a summary stands."""
    calls = [one.earned_back for one in found if one.ending in (FIRST, REPAIRED)]
    known = [one for one in calls if one is not None]
    return {
        "median": median(known) if known else None,
        "most": max(known, default=None),
        "never": len(calls) - len(known),
    }
