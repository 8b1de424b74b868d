"""The figures of an evaluation beside what is asked for, as they stand in `docs/compaction.md`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from .reporting import EXTRACTIVE_YIELD, GOOD_YIELD

Cell = Callable[[Mapping[str, Any]], str]
KEPT = {
    "decisions to keep": ("decision accepted",),
    "open work to keep": ("open_work open", "open_work blocked"),
    "rules to keep": ("constraint in_force",),
}
RECALLS = {"decision_recall": "decisions", "open_work_recall": "open work", "constraint_recall": "rules"}


def table(found: Mapping[str, Any]) -> Iterator[str]:
    """In Markdown: a column for each split."""
    splits = found["splits"]
    yield f"| | {' | '.join(splits)} | asked for |"
    yield f"|---|{'---|' * len(splits)}---|"
    for says, cell, asked in rows():
        yield f"| {says} | {' | '.join(cell(split) for split in splits.values())} | {asked} |"
    mutants = found["mutants"]
    refused = f"{mutants['refused']:,} of {mutants['tried']:,}, {len(mutants['kinds'])} kinds"
    yield f"| planted defects refused | {refused} |{' |' * (len(splits) - 1)} all |"


def rows() -> Iterator[tuple[str, Cell, str]]:
    yield "scopes", lambda split: f"{split['cases']:,}", ""
    for says, names in KEPT.items():
        yield says, entries(names), ""
    yield "good artifacts accepted", accepted("good"), f"{GOOD_YIELD:.0%}"
    yield "extractive drafts accepted", accepted("extractive"), f"{EXTRACTIVE_YIELD:.0%}"
    for name, says in RECALLS.items():
        yield f"… they keep of {says}", recall(name), ""


def entries(names: tuple[str, ...]) -> Cell:
    return lambda split: f"{sum(split['entries'].get(name, 0) for name in names):,}"


def accepted(kind: str) -> Cell:
    return lambda split: f"{split[kind]['accepted']} of {split[kind]['drafts']}, {split[kind]['rate']:.1%}"


def recall(name: str) -> Cell:
    def cell(split: Mapping[str, Any]) -> str:
        figures = split["extractive"]["recalls"][name]
        low, high = figures["interval"]
        return f"{figures['rate']:.1%} ({low:.1%} to {high:.1%})" if figures["of"] else "–"

    return cell
