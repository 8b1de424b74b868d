"""How well a ranking finds what was asked for.

A target is a set of things any of which will do: one message, a span of a meeting, a session. Of things only distinct
ones count, in the order in which they are met.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import mean, median
from typing import TypeVar

T = TypeVar("T", bound=Hashable)

CUTS = (1, 5, 10, 20)
# All questions of all categories.
ALL = "all"


def distinct(met: Iterable[T]) -> list[T]:
    return list(dict.fromkeys(met))


def recall(targets: Sequence[frozenset[T]], ranked: Sequence[T], cut: int) -> float:
    """The share of the targets that are met by then."""
    met = set(ranked[:cut])
    return sum(not target.isdisjoint(met) for target in targets) / len(targets)


def reciprocal_rank(targets: Sequence[frozenset[T]], ranked: Sequence[T]) -> float:
    wanted = frozenset[T]().union(*targets)
    return next((1 / rank for rank, one in enumerate(ranked, 1) if one in wanted), 0.0)


def figures(targets: Sequence[frozenset[T]], ranked: Sequence[T]) -> dict[str, float]:
    """`hit@k`: any of the targets is met."""
    found = {f"recall@{cut}": recall(targets, ranked, cut) for cut in CUTS}
    hits = {f"hit@{cut}": float(recall(targets, ranked, cut) > 0) for cut in CUTS}
    return {**found, **hits, "mrr": reciprocal_rank(targets, ranked)}


@dataclass(kw_only=True)
class Table:
    """Figures of many questions, by category; their means."""

    rows: defaultdict[str, list[Mapping[str, float]]] = field(default_factory=lambda: defaultdict(list))

    def add(self, category: str, row: Mapping[str, float]) -> None:
        self.rows[category].append(row)

    def as_json(self) -> dict[str, dict[str, float]]:
        every = [row for rows in self.rows.values() for row in rows]
        by_category = {ALL: every, **dict(sorted(self.rows.items()))}
        return {category: means(rows) for category, rows in by_category.items() if rows}

    def median(self, figure: str) -> float:
        return median(row[figure] for rows in self.rows.values() for row in rows)


def means(rows: Sequence[Mapping[str, float]]) -> dict[str, float]:
    return {"questions": len(rows), **{key: round(mean(row[key] for row in rows), 4) for key in rows[0]}}
