"""Shares with their intervals, and what is asked of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from .bench import Bench

DIGITS = 4
# Of a normal distribution 95 % lie within so many standard deviations.
DEVIATIONS = 1.96


@dataclass(frozen=True, kw_only=True)
class Demand:
    """`part` of `whole` is to be at least, or at most, the threshold. Of nothing nothing is shown."""

    says: str
    part: int
    whole: int
    threshold: float
    at_most: bool = False

    @property
    def value(self) -> float | None:
        return self.part / self.whole if self.whole else None

    @property
    def holds(self) -> bool:
        if self.value is None:
            return False
        return self.value <= self.threshold if self.at_most else self.value >= self.threshold

    def as_json(self) -> dict[str, Any]:
        return {
            "says": self.says,
            "part": self.part,
            "of": self.whole,
            "asked": f"{'<=' if self.at_most else '>='} {self.threshold}",
            "holds": self.holds,
        }

    def line(self) -> str:
        value = "nothing to measure" if self.value is None else f"{self.value:.1%}"
        sign = "at most" if self.at_most else "at least"
        missed = "" if self.holds else "  MISSED"
        return f"{self.says}: {self.part} of {self.whole}, {value} ({sign} {self.threshold:.0%}){missed}"


class Measured(Protocol):
    """One thing that was measured: as JSON values, as text, and what is asked of it."""

    name: str

    def figures(self) -> dict[str, Any]: ...

    def lines(self) -> Iterator[str]: ...

    def demands(self) -> Iterator[Demand]: ...


class Suite(Measured, Protocol):
    """Measured by asking a model. What it found is asked for when nothing is pending."""

    async def run(self, bench: Bench) -> None: ...


def least(says: str, part: int, whole: int, threshold: float) -> Demand:
    return Demand(says=says, part=part, whole=whole, threshold=threshold)


def most(says: str, part: int, whole: int, threshold: float) -> Demand:
    return Demand(says=says, part=part, whole=whole, threshold=threshold, at_most=True)


def share(part: int, whole: int) -> dict[str, Any]:
    low, high = wilson(part, whole)
    rate = round(part / whole, DIGITS) if whole else 0.0
    return {"part": part, "of": whole, "rate": rate, "interval": [round(low, DIGITS), round(high, DIGITS)]}


def wilson(part: int, whole: int) -> tuple[float, float]:
    """The interval of a share, by Wilson's score; of nothing it is 0 to 1."""
    if not whole:
        return 0.0, 1.0
    rate, square = part / whole, DEVIATIONS**2
    middle = rate + square / (2 * whole)
    spread = DEVIATIONS * sqrt(rate * (1 - rate) / whole + square / (4 * whole**2))
    return (middle - spread) / (1 + square / whole), (middle + spread) / (1 + square / whole)
