"""A browser as the protocol wants it: puts together what is said from numbered events, from any number on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

# A reply is told apart by its run and the number of the model call in it.
Call = tuple[str, int]


@dataclass(frozen=True, kw_only=True)
class Page:
    """What a browser gets when it reads the log: the texts that stand, the one on its way, and up to where."""

    seq: int
    standing: dict[Call, str]
    live: dict[Call, str]


@dataclass(kw_only=True)
class Follower:
    """`read` is the page by HTTP, `seq` the number of the last event applied."""

    read: Callable[[], Page]
    seq: int = 0
    standing: dict[Call, str] = field(default_factory=dict)
    live: dict[Call, str] = field(default_factory=dict)
    applied: list[dict[str, Any]] = field(default_factory=list)
    behind: bool = False

    def open(self) -> None:
        page = self.read()
        self.seq, self.standing, self.live = page.seq, dict(page.standing), dict(page.live)

    def take(self, frame: dict[str, Any]) -> None:
        if frame["kind"] == "resync":
            self.seq = max(self.seq, frame["seq"])
            self.reload()
        elif frame.get("seq", 0) > self.seq and frame["kind"] != "welcome":
            assert frame["seq"] == self.seq + 1, f"after {self.seq} came {frame}"
            self.seq = frame["seq"]
            self.applied.append(frame)
            self.apply(frame)

    def apply(self, event: dict[str, Any]) -> None:
        if event["kind"] == "delta":
            self.append((event["run"], event["call"]), event["offset"], event["text"])
        elif event["kind"] in ("turn.sent", "message.stands", "run.ended", "run.queued"):
            self.behind = True

    def append(self, call: Call, offset: int, text: str) -> None:
        shown = self.live.get(call, "")
        assert offset <= len(shown), f"text is missing before {offset} of {call}: {shown!r}"
        overlap = shown[offset : offset + len(text)]
        assert text.startswith(overlap), f"{call} is told two ways at {offset}"
        self.live[call] = shown[:offset] + text

    def reload(self) -> None:
        """Read the page; it goes at least as far as the events did, and nothing that was shown is missing from it."""
        shown, seq = dict(self.live), self.seq
        self.open()
        assert self.seq >= seq, f"the page ends at {self.seq}, the events at {seq}"
        for call, text in shown.items():
            now = self.standing.get(call, self.live.get(call, ""))
            assert now.startswith(text), f"{call} was shown as {text!r} and is now {now!r}"
        self.behind = False

    def catch_up(self) -> None:
        """What a browser does when something stands: it reads again."""
        if self.behind:
            self.reload()
