"""Every case judged: its good artifact, the extractive draft, and the defects planted in the good one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from compaction.domain.artifact import Artifact, Draft, Evidence
from compaction.domain.evidence import evidence_in
from compaction.domain.extractive import extract
from compaction.domain.gates import judged_by
from compaction.domain.making import Count
from compaction.domain.verdicts import Gate, Judged, Outcome, Verdict

from .cases import Case
from .counting import lacking
from .mutants import KINDS
from .mutants.kinds import Good, Kind
from .offering import EXTRACTIVE, Judge, artifact_of, offered_document

Drafter = Callable[[Case, Count], tuple[Draft, tuple[Evidence, ...]]]


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """One artifact of a case, or None where the bytes were none, with all verdicts on it."""

    case: Case
    artifact: Artifact | None
    verdicts: tuple[Verdict, ...]

    @property
    def accepted(self) -> bool:
        return all(verdict.passed for verdict in self.verdicts)

    @property
    def refused(self) -> list[Verdict]:
        return [verdict for verdict in self.verdicts if not verdict.passed]

    def of(self, gate: Gate) -> Verdict:
        return next(verdict for verdict in self.verdicts if verdict.gate == gate)

    @cached_property
    def lacking(self) -> list[str]:
        """What it was accepted without."""
        return lacking(self.case, self.artifact) if self.accepted and self.artifact else []


@dataclass(frozen=True, kw_only=True)
class Survivor:
    case: str
    changed: str


@dataclass(frozen=True, kw_only=True)
class Planted:
    """What became of the mutants of a kind. `skipped` are those that its gate refuses without the defect as well."""

    kind: Kind
    tried: int
    skipped: int
    survivors: tuple[Survivor, ...]


@dataclass(frozen=True, kw_only=True)
class Report:
    """`every`: each kind of defect was planted only in each so manieth case, another kind in others.

    `recorded` are drafts by the name of their model.
    """

    cases: tuple[Case, ...]
    good: tuple[Judgement, ...]
    extractive: tuple[Judgement, ...]
    planted: tuple[Planted, ...]
    every: int
    recorded: tuple[tuple[str, Judgement], ...] = ()


def extracted(case: Case, count: Count) -> tuple[Draft, tuple[Evidence, ...]]:
    """Unaided: neither the ledger nor candidates are shown."""
    return extract(case.source, name=case.id, count=count), evidence_in(case.source)


def evaluate(
    cases: Sequence[Case],
    *,
    count: Count,
    judge: Judge = judged_by,
    drafter: Drafter = extracted,
    kinds: Sequence[Kind] = KINDS,
    every: int = 1,
    recorded: Iterable[tuple[str, Case, Judged]] = (),
) -> Report:
    goods = [Good(case, count) for case in cases]
    judged = {good.case.id: judgement(good.case, good.judged, judge) for good in goods}
    return Report(
        cases=tuple(cases),
        good=tuple(judged.values()),
        extractive=tuple(judgement(case, drafted(case, drafter, count), judge) for case in cases),
        planted=tuple(tried(kind, goods[at % every :: every], judged, judge) for at, kind in enumerate(kinds)),
        every=every,
        recorded=tuple((model, judgement(case, offered, judge)) for model, case, offered in recorded),
    )


def judgement(case: Case, judged: Judged, judge: Judge) -> Judgement:
    return Judgement(case=case, artifact=judged.artifact, verdicts=tuple(judge(gate, judged) for gate in Gate))


def drafted(case: Case, drafter: Drafter, count: Count) -> Judged:
    draft, evidence = drafter(case, count)
    artifact = artifact_of(case, draft, EXTRACTIVE, count=count, evidence=evidence)
    return offered_document(case, artifact, EXTRACTIVE, count=count)


def tried(kind: Kind, goods: Sequence[Good], judged: dict[str, Judgement], judge: Judge) -> Planted:
    """What a gate refuses anyway shows nothing of how it sees a defect."""
    planted = list(kind.planted_in([good for good in goods if good.items]))
    chosen = [
        (good, mutant)
        for good, mutant in planted
        if judged[good.case.id].of(kind.gate).passed and (mutant.base is None or judge(kind.gate, mutant.base).passed)
    ]
    survivors = tuple(
        Survivor(case=good.case.id, changed=mutant.changed)
        for good, mutant in chosen
        if judge(kind.gate, mutant.judged).outcome == Outcome.PASS
    )
    return Planted(kind=kind, tried=len(chosen), skipped=len(planted) - len(chosen), survivors=survivors)


def by_split(judgements: Iterable[Judgement], split: str) -> Iterator[Judgement]:
    yield from (judgement for judgement in judgements if judgement.case.split == split)
