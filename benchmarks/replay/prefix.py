"""How much of a prompt is the beginning of the next: what a model's cache can use again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from statistics import mean
from typing import Any

from efforts.domain.text.canonical import canonical_json


def text_of(request: Mapping[str, Any]) -> str:
    """What a model reads, in its order: the tools, then each message under its role."""
    # No mark where a message ends: a neighbour of the same role is joined to it, and what was read stays read.
    said = (f"\n<{message['role']}>\n{message['content']}{called(message)}" for message in request["messages"])
    return canonical_json(request.get("tools", [])) + "".join(said)


def called(message: Mapping[str, Any]) -> str:
    return canonical_json(message["tool_calls"]) if message.get("tool_calls") else ""


def unchanged(before: str, now: str) -> int:
    """Characters at the beginning that both have."""
    same, most = 0, min(len(before), len(now))
    while same < most:
        middle = (same + most + 1) // 2
        same, most = (middle, most) if before[:middle] == now[:middle] else (same, middle - 1)
    return same


@dataclass(kw_only=True)
class Stability:
    """Shares, one for each call that follows another: of the request before, and of the request itself."""

    inside: list[tuple[float, float]] = field(default_factory=list)
    moved: list[tuple[float, float]] = field(default_factory=list)

    def add(self, of_previous: float, of_this: float, *, moved: bool) -> None:
        """`moved`: an effort was opened or concluded just before the request."""
        (self.moved if moved else self.inside).append((of_previous, of_this))

    def join(self, other: Stability) -> None:
        self.inside += other.inside
        self.moved += other.moved


def shares(pairs: Iterable[tuple[float, float]]) -> dict[str, float | int | None]:
    """Means over calls: unchanged of the request before, and of the request itself."""
    pairs = list(pairs)
    if not pairs:
        return {"calls": 0, "of_previous": None, "of_this": None}
    previous, this = zip(*pairs, strict=True)
    return {"calls": len(pairs), "of_previous": round(mean(previous), 3), "of_this": round(mean(this), 3)}
