"""Good summaries with mistakes planted: which the gates refuse for the claim that has one, and which true claims they
take for wrong."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from compaction.domain.artifact import Claim
from compaction.domain.ledger import Entry
from compaction.domain.verdicts import Failure, Gate
from compaction.drafting.summaries import Tried, with_check

from .bench import Bench, offered, silent, task_of
from .cases import Defect
from .figures import Demand, least, most, share
from .good import Good
from .planting import Planted, bare, is_of_quotation, is_of_value, is_of_words, packed, planted, with_planted

REFUSED, OF_WORDS, OF_VALUES, OMITTED = 0.95, 0.95, 1.0, 0.90
ALARMS, VOID = 0.02, 0.05
MEANING = (Gate.TRACEABILITY, Gate.CONTRADICTION)
# Two claims that do not agree: which of them is wrong no gate says.
PAIR = re.compile(r"\bclaims? (\S+?)(?: and (\S+?))? (?:has|say)\b")


@dataclass(frozen=True, kw_only=True)
class Caught:
    """One mistake: by which gates it was refused, with the check and by exact detectors alone."""

    case: str
    planted: Planted
    gates: frozenset[Gate]
    exact: frozenset[Gate]


@dataclass(frozen=True, kw_only=True)
class Alarm:
    """A true claim, or an entry that is told, of which a gate says that it is not."""

    case: str
    gate: Gate
    text: str


@dataclass(kw_only=True)
class Defects:
    """`void` are mistakes in variants that no valid check has read; `absent` those whose words or claim a good summary
    does not have; `true` counts the true claims of all variants that were read."""

    name = "planted mistakes"
    good: Sequence[Good]
    caught: list[Caught] = field(default_factory=list)
    void: list[tuple[str, Defect]] = field(default_factory=list)
    absent: list[tuple[str, Defect]] = field(default_factory=list)
    alarms: list[Alarm] = field(default_factory=list)
    true: int = 0
    variants: int = 0
    of_quotations: int = 0
    checks: list[str] = field(default_factory=list)

    async def run(self, bench: Bench) -> None:
        for good in self.good:
            for variant in self.variants_of(good):
                await self.try_variant(good, variant, bench)
        self.checks = [check.void for check in bench.checks if check.exchanges]

    def variants_of(self, good: Good) -> list[tuple[Planted, ...]]:
        claims = claims_of(good)
        found = []
        for defect in good.case.defects:
            if is_of_quotation(defect):
                self.of_quotations += 1
            elif one := planted(defect, good.case, claims):
                found.append(one)
            else:
                self.absent.append((good.case.id, defect))
        return packed(found)

    async def try_variant(self, good: Good, variant: tuple[Planted, ...], bench: Bench) -> None:
        draft = with_planted(claims_of(good), variant)
        unread = offered(task_of(good.case, bench.choice), draft, good.first.exchanges[0].answer)
        tried = await with_check(unread, silent)
        if bench.waits_for_check(good.label, tried):
            return
        self.variants += 1
        if tried.checked is None:
            self.void += [(good.case.id, one.defect) for one in variant]
            return
        for one in variant:
            gates, exact = refused_by(one, tried, good.final), refused_by(one, unread, good.final)
            self.caught.append(Caught(case=good.case.id, planted=one, gates=gates, exact=exact))
        wrong = {one.claim for one in variant}
        assert tried.artifact is not None
        true = [claim for claim in tried.artifact.claims if claim.id not in wrong]
        self.true += len(true)
        self.alarms += [
            *alarms_about(true, wrong, tried, good.case.id),
            *alarms_of_retention(variant, tried, good),
        ]

    def groups(self) -> dict[str, list[Caught]]:
        kinds: dict[str, Callable[[Planted], bool]] = {
            "all": lambda one: True,
            "words only": lambda one: is_of_words(one.defect),
            "values": lambda one: is_of_value(one.defect),
            "omissions": lambda one: one.is_omission,
        }
        return {name: [one for one in self.caught if belongs(one.planted)] for name, belongs in kinds.items()}

    def figures(self) -> dict[str, Any]:
        by_kind: dict[str, list[Caught]] = defaultdict(list)
        for one in self.caught:
            by_kind[one.planted.defect.kind].append(one)
        return {
            "variants": self.variants,
            "judged": len(self.caught),
            "void": len(self.void),
            "not_plantable": [{"case": case, **told(defect)} for case, defect in self.absent],
            "of_quotations_that_claims_no_more_have": self.of_quotations,
            "refused": {name: recall(found) for name, found in self.groups().items()},
            "refused_by_kind": {kind: recall(found) for kind, found in sorted(by_kind.items())},
            "refused_by_gate": {str(gate): self.of_gate(gate) for gate in (*MEANING, Gate.RETENTION)},
            "refused_by_exact_detectors_alone": {
                name: recall(found, exact=True) for name, found in self.groups().items()
            },
            "precision": share(n := sum(bool(one.gates) for one in self.caught), n + len(self.alarms)),
            "true_claims": {"read": self.true, "doubted": share(len(self.alarms), self.true)},
            "missed": [{"case": one.case, **told(one.planted.defect)} for one in self.caught if not one.gates],
            "alarms": [{"case": one.case, "gate": str(one.gate), "text": one.text} for one in self.alarms],
            "checks": {
                "made": len(self.checks),
                "void": sum(map(bool, self.checks)),
                "why": dict(Counter(filter(None, self.checks))),
            },
        }

    def of_gate(self, gate: Gate) -> dict[str, Any]:
        refused = sum(gate in one.gates for one in self.caught)
        alarms = sum(one.gate == gate for one in self.alarms)
        return {"refused": refused, "precision": share(refused, refused + alarms)}

    def lines(self) -> Iterator[str]:
        yield (
            f"{len(self.caught)} planted mistakes in {self.variants} variants; {len(self.void)} more in void checks, "
            f"{len(self.absent)} not plantable, {self.of_quotations} of quotations that claims no longer have:"
        )
        for name, found in self.groups().items():
            checked, exact = recall(found), recall(found, exact=True)
            low, high = checked["interval"]
            refused = f"{checked['part']} of {checked['of']} refused, {checked['rate']:.1%} ({low:.1%} to {high:.1%})"
            yield f"  {name}: {refused}; by exact detectors alone {exact['part']}"
        for gate in (*MEANING, Gate.RETENTION):
            one = self.of_gate(gate)
            yield f"  gate {gate}: {one['refused']} refused, precision {one['precision']['rate']:.1%}"
        yield f"  true claims: {len(self.alarms)} of {self.true} taken for wrong"
        yield f"  checks: {sum(map(bool, self.checks))} of {len(self.checks)} void"

    def demands(self) -> Iterator[Demand]:
        asked = {"all": REFUSED, "words only": OF_WORDS, "values": OF_VALUES, "omissions": OMITTED}
        for name, found in self.groups().items():
            refused = sum(bool(one.gates) for one in found)
            says = "planted mistakes refused" + ("" if name == "all" else f", {name}")
            yield least(says, refused, len(found), asked[name])
        yield most("true claims taken for wrong", len(self.alarms), self.true, ALARMS)
        yield most("void checks", sum(map(bool, self.checks)), len(self.checks), VOID)


def claims_of(good: Good) -> tuple[Claim, ...]:
    assert good.final.artifact is not None
    return tuple(bare(good.final.artifact.claims))


def recall(found: Iterable[Caught], *, exact: bool = False) -> dict[str, Any]:
    gates = [one.exact if exact else one.gates for one in found]
    return share(sum(map(bool, gates)), len(gates))


def told(defect: Defect) -> dict[str, Any]:
    return defect.model_dump(mode="json", exclude_defaults=True)


def refused_by(one: Planted, tried: Tried, good: Tried) -> frozenset[Gate]:
    """The gates that fail for just this claim; for one that was left out, for what only it told."""
    found = {gate for gate, failure in failures(tried) if one.claim in named(failure) and has_failed(gate, tried)}
    if one.is_omission and {entry.id for entry in lost(tried)} & entries_of(one, tried, good):
        found |= {Gate.RETENTION} if has_failed(Gate.RETENTION, tried) else set()
    return frozenset(found)


def failures(tried: Tried) -> Iterator[tuple[Gate, Failure]]:
    for verdict in tried.verdicts:
        if verdict.gate in MEANING:
            yield from ((verdict.gate, failure) for failure in verdict.failures)


def has_failed(gate: Gate, tried: Tried) -> bool:
    return any(verdict.failed for verdict in tried.verdicts if verdict.gate == gate)


def named(failure: Failure) -> set[str]:
    """The claims that it is about."""
    if failure.rule != "claims_differ":
        return {failure.about}
    return {id for pair in PAIR.findall(failure.text) for id in pair if id} | {failure.about}


def listed(tried: Tried) -> dict[str, Entry]:
    return {entry.id: entry for entry in tried.checked.listed} if tried.checked else {}


def lost(tried: Tried) -> list[Entry]:
    by_id = listed(tried)
    ids = [f.about for verdict in tried.verdicts if verdict.gate == Gate.RETENTION for f in verdict.failures]
    return [by_id[id] for id in ids if id in by_id]


def entries_of(one: Planted, tried: Tried, good: Tried) -> set[str]:
    """Entries of its sentences, and what it tells in the good summary."""
    ids = {id for id, entry in listed(tried).items() if set(entry.sentences) & one.cites}
    if one.before and good.checked:
        before = {id for id, contents in good.checked.told.items() if one.before.content in contents}
        ids |= {id for id in before if listed(good).get(id) == listed(tried).get(id)}
    return ids


def alarms_about(true: Sequence[Claim], wrong: set[str], tried: Tried, case: str) -> Iterator[Alarm]:
    """One for each true claim that a gate or a reader finds fault with."""
    found = [(gate, failure) for gate, failure in failures(tried) if not named(failure) & wrong]
    for claim in true:
        about = next(((gate, failure) for gate, failure in found if failure.about == claim.id), None)
        if about:
            yield Alarm(case=case, gate=about[0], text=about[1].text)


def alarms_of_retention(variant: Sequence[Planted], tried: Tried, good: Good) -> Iterator[Alarm]:
    """What is lost though no mistake took it away, and the good summary has it."""
    gone = {id for one in variant for id in entries_of(one, tried, good.final)}
    before = {entry.sentences for entry in lost(good.final)}
    for entry in lost(tried):
        if entry.id not in gone and entry.sentences not in before:
            yield Alarm(case=good.case.id, gate=Gate.RETENTION, text=entry.text)
