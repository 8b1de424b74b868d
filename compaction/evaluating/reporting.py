"""What an evaluation found, as JSON values and as text; and whether all that is asked for holds."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from compaction.domain.verdicts import Gate, Measure

from .cases import SPLITS
from .counting import wilson
from .running import Judgement, Planted, Report, by_split

GOOD_YIELD, EXTRACTIVE_YIELD, PARSED = 0.95, 0.80, 1.0
# Of each gate so many kinds of defects.
FEWEST_KINDS = 3
RECALLS = ("decision_recall", "open_work_recall", "constraint_recall")
DIGITS = 4


@dataclass(frozen=True, kw_only=True)
class Demand:
    """`value` is to be `threshold` or more; of what is to be none, both are counts and it is to be less."""

    says: str
    value: float
    threshold: float
    at_most: bool = False

    @property
    def holds(self) -> bool:
        return self.value <= self.threshold if self.at_most else self.value >= self.threshold

    def as_json(self) -> dict[str, Any]:
        return {"says": self.says, "value": rounded(self.value), "threshold": self.threshold, "holds": self.holds}


def rounded(value: float) -> float:
    return round(value, DIGITS)


def share_of(judgements: Sequence[Judgement]) -> float:
    return sum(judgement.accepted for judgement in judgements) / len(judgements) if judgements else 0.0


def demands(report: Report) -> Iterator[Demand]:
    for split in splits_of(report):
        good, extractive = (list(by_split(found, split)) for found in (report.good, report.extractive))
        yield Demand(says=f"good artifacts accepted, {split}", value=share_of(good), threshold=GOOD_YIELD)
        says = f"extractive drafts accepted, {split}"
        yield Demand(says=says, value=share_of(extractive), threshold=EXTRACTIVE_YIELD)
    offered = [*report.good, *report.extractive]
    yield Demand(says="drafts parsed", value=parsed_share(offered), threshold=PARSED)
    lacking = sum(bool(judgement.lacking) for judgement in offered)
    yield Demand(says="accepted without an entry of the ledger", value=lacking, threshold=0, at_most=True)
    yield from demands_of_mutants(report)


def demands_of_mutants(report: Report) -> Iterator[Demand]:
    survivors = sum(len(planted.survivors) for planted in report.planted)
    yield Demand(says="planted defects that passed", value=survivors, threshold=0, at_most=True)
    too_few = sum(planted.tried < fewest(planted, report) for planted in report.planted)
    yield Demand(says="kinds of defects planted too seldom", value=too_few, threshold=0, at_most=True)
    kinds = Counter(planted.kind.gate for planted in report.planted if planted.tried)
    for gate in Gate:
        yield Demand(says=f"kinds of defects planted for gate {gate}", value=kinds[gate], threshold=FEWEST_KINDS)


def fewest(planted: Planted, report: Report) -> int:
    """Of a part of the set nobody knows how many there should be."""
    return planted.kind.least if report.every == 1 and splits_of(report) == list(SPLITS) else 0


def splits_of(report: Report) -> list[str]:
    return [split for split in SPLITS if any(case.split == split for case in report.cases)]


def parsed_share(judgements: Sequence[Judgement]) -> float:
    return sum(judgement.of(Gate.STRUCTURE).passed for judgement in judgements) / max(len(judgements), 1)


def as_json(report: Report) -> dict[str, Any]:
    asked = list(demands(report))
    return {
        "holds": all(demand.holds for demand in asked),
        "demands": [demand.as_json() for demand in asked],
        "splits": {split: split_as_json(report, split) for split in splits_of(report)},
        "mutants": mutants_as_json(report),
        "recorded": {model: drafts_as_json(drafts) for model, drafts in sorted(by_model(report.recorded).items())},
    }


def split_as_json(report: Report, split: str) -> dict[str, Any]:
    cases = [case for case in report.cases if case.split == split]
    origins = Counter(case.origin for case in cases)
    entries = Counter(f"{entry.section} {entry.status}" for case in cases for entry in case.ledger)
    return {
        "cases": len(cases),
        "origins": dict(sorted(origins.items())),
        "entries": dict(sorted(entries.items())),
        "good": drafts_as_json(list(by_split(report.good, split))),
        "extractive": drafts_as_json(list(by_split(report.extractive, split))),
    }


def drafts_as_json(judgements: Sequence[Judgement]) -> dict[str, Any]:
    accepted = sum(judgement.accepted for judgement in judgements)
    refused = Counter(verdict.gate for judgement in judgements for verdict in judgement.refused)
    return {
        "drafts": len(judgements),
        "accepted": accepted,
        "rate": rounded(share_of(judgements)),
        "interval": [rounded(bound) for bound in wilson(accepted, len(judgements))],
        "parse_success_rate": rounded(parsed_share(judgements)),
        "refused_by": {str(gate): refused[gate] for gate in Gate},
        "recalls": {name: recall_as_json(judgements, name) for name in RECALLS},
        "lacking": [
            {"case": judgement.case.id, "what": what} for judgement in judgements for what in judgement.lacking
        ],
        "refusals": [refusal for judgement in judgements for refusal in refusals_of(judgement)],
    }


def recall_as_json(judgements: Iterable[Judgement], name: str) -> dict[str, Any]:
    """Over all entries; the least of any one scope that has some."""
    found = [(judgement.case.id, measure) for judgement in judgements for measure in measures_of(judgement, name)]
    kept = sum(measure.numerator or 0 for _, measure in found)
    whole = sum(measure.denominator or 0 for _, measure in found)
    scopes = sorted((measure.value or 0.0, case) for case, measure in found if measure.denominator)
    return {
        "kept": kept,
        "of": whole,
        "rate": rounded(kept / whole) if whole else None,
        "interval": [rounded(bound) for bound in wilson(kept, whole)],
        "least": {"case": scopes[0][1], "rate": rounded(scopes[0][0])} if scopes else None,
    }


def measures_of(judgement: Judgement, name: str) -> list[Measure]:
    return [measure for measure in judgement.of(Gate.RETENTION).measures if measure.name == name]


def refusals_of(judgement: Judgement) -> Iterator[dict[str, str]]:
    for verdict in judgement.refused:
        where = {"case": judgement.case.id, "gate": str(verdict.gate)}
        if not verdict.failures:
            yield where | {"rule": str(verdict.outcome), "about": "", "text": verdict.says}
        for failure in verdict.failures:
            yield where | {"rule": failure.rule, "about": failure.about, "text": failure.text}


def mutants_as_json(report: Report) -> dict[str, Any]:
    tried = sum(planted.tried for planted in report.planted)
    survivors = sum(len(planted.survivors) for planted in report.planted)
    return {
        "every": report.every,
        "tried": tried,
        "refused": tried - survivors,
        "kinds": [
            {
                "gate": str(planted.kind.gate),
                "kind": planted.kind.name,
                "tried": planted.tried,
                "least": fewest(planted, report),
                "skipped": planted.skipped,
                "survivors": [{"case": each.case, "changed": each.changed} for each in planted.survivors],
            }
            for planted in report.planted
        ],
    }


def by_model(recorded: Iterable[tuple[str, Judgement]]) -> dict[str, list[Judgement]]:
    found: dict[str, list[Judgement]] = defaultdict(list)
    for model, judgement in recorded:
        found[model].append(judgement)
    return found


def lines_of(found: dict[str, Any]) -> Iterator[str]:
    for split, part in found["splits"].items():
        origins = ", ".join(f"{count} {origin}" for origin, count in part["origins"].items())
        yield f"{split}: {part['cases']} scopes ({origins})"
        for name in ("good", "extractive"):
            yield from lines_of_drafts(name, part[name])
    for model, part in found["recorded"].items():
        yield from lines_of_drafts(model, part)
    yield from lines_of_mutants(found["mutants"])
    yield ""
    for demand in found["demands"]:
        mark = "holds" if demand["holds"] else "FAILS"
        yield f"{mark}  {demand['says']}: {demand['value']:g} (threshold {demand['threshold']:g})"


def lines_of_drafts(name: str, part: dict[str, Any]) -> Iterator[str]:
    low, high = part["interval"]
    refused = ", ".join(f"{gate} {count}" for gate, count in part["refused_by"].items() if count) or "none"
    yield (
        f"  {name}: {part['accepted']} of {part['drafts']} accepted, {part['rate']:.1%} ({low:.1%} to {high:.1%}); "
        f"refused by gate: {refused}"
    )
    for recall, figures in part["recalls"].items():
        if figures["of"]:
            low, high = figures["interval"]
            yield (
                f"    {recall.replace('_', ' ')}: {figures['kept']} of {figures['of']}, {figures['rate']:.1%} "
                f"({low:.1%} to {high:.1%}); least {figures['least']['rate']:.1%} in {figures['least']['case']}"
            )
    for refusal in part["refusals"]:
        about = f" {refusal['about']}" if refusal["about"] else ""
        yield f"    {refusal['case']}: {refusal['gate']} {refusal['rule']}{about}: {refusal['text']}"
    yield from (f"    {each['case']} was accepted without {each['what']}" for each in part["lacking"])


def lines_of_mutants(part: dict[str, Any]) -> Iterator[str]:
    yield f"planted defects: {part['refused']:,} of {part['tried']:,} refused, {len(part['kinds'])} kinds"
    for kind in part["kinds"]:
        survivors, few = kind["survivors"], kind["tried"] < kind["least"]
        if survivors or few:
            refused = kind["tried"] - len(survivors)
            least = f", should be {kind['least']} or more" if few else ""
            yield f"  {kind['gate']} {kind['kind']}: {refused} of {kind['tried']} refused{least}"
        yield from (f"    passed in {each['case']}: {each['changed']}" for each in survivors)
