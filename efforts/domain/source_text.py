"""The one rendering of a log that summaries are made from, and that hashes, offsets and quotations refer to.

Offsets count characters of one part of a message, as it stands here: NFC, line feeds only, secrets masked.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property

from .canonical import canonical_json, sha256
from .conversation import LogMessage, PastTurn, Role, ToolCall
from .redaction import redact
from .toolbox import CONTROLS, FINDERS

# What they return was said elsewhere or is the program's own bookkeeping: a summary of it would be of something else.
NEVER_SOURCE = CONTROLS | FINDERS
# Of what is masked and what is never source. Another one makes other bytes of the same log.
POLICY_VERSION = "1"


class Part(StrEnum):
    """Of a message: what was said, the tools it called, or what a tool returned."""

    TEXT = "text"
    CALLS = "calls"
    RESULT = "result"


@dataclass(frozen=True, kw_only=True)
class SourcePart:
    """One part of a message of the source. `tool` is what returned a result."""

    message: int
    turn: int
    role: Role
    part: Part
    text: str
    tool: str = ""

    @property
    def header(self) -> str:
        of = {Part.TEXT: "", Part.CALLS: ", calls", Part.RESULT: f", result of {self.tool or 'a tool'}"}[self.part]
        return f"[message {self.message}, turn {self.turn}, {self.role}{of}]"

    @property
    def rendered(self) -> str:
        return f"{self.header}\n{self.text}\n"


@dataclass(frozen=True, kw_only=True)
class Source:
    """Oldest first. `masked` is how many secrets are not shown."""

    parts: tuple[SourcePart, ...]
    masked: int = 0

    @cached_property
    def text(self) -> str:
        return rendered(self.parts)

    @cached_property
    def sha256(self) -> str:
        return sha256(f"policy {POLICY_VERSION}\n{self.text}")

    @cached_property
    def by_place(self) -> Mapping[tuple[int, Part], SourcePart]:
        return {(part.message, part.part): part for part in self.parts}

    @property
    def turns(self) -> tuple[int, ...]:
        """The numbers of the turns, each once."""
        return tuple(dict.fromkeys(part.turn for part in self.parts))

    @property
    def characters(self) -> int:
        """What people and model said, without what tools were asked and returned."""
        return sum(len(part.text.strip()) for part in self.parts if part.part == Part.TEXT)


def rendered(parts: Sequence[SourcePart]) -> str:
    return "\n".join(part.rendered for part in parts)


def source_of(turns: Iterable[PastTurn]) -> Source:
    """What later prompts see of the turns, without what only repeats or administers the conversation."""
    masked = 0
    parts = []
    for turn in turns:
        for part in parts_of(turn):
            found = redact(part.text)
            masked += found.masked
            parts.append(replace(part, text=found.value))
    return Source(parts=tuple(parts), masked=masked)


def parts_of(turn: PastTurn) -> Iterator[SourcePart]:
    names = {call.id: call.name for message in turn.visible for call in message.tool_calls}
    for message in turn.visible:
        tool = names.get(message.tool_call_id or "", "")
        if tool not in NEVER_SOURCE:
            yield from parts_of_message(message, turn.number, tool)


def parts_of_message(message: LogMessage, turn: int, tool: str) -> Iterator[SourcePart]:
    said = Part.RESULT if message.role == "tool" else Part.TEXT
    called = "\n".join(call_line(call) for call in message.tool_calls if call.name not in NEVER_SOURCE)
    for part, text in ((said, message.text), (Part.CALLS, called)):
        if text.strip():
            yield SourcePart(message=message.id, turn=turn, role=message.role, part=part, text=normal(text), tool=tool)


def call_line(call: ToolCall) -> str:
    return f"called {canonical_json({'tool': call.name, 'arguments': call.arguments})}"


def normal(text: str) -> str:
    return unicodedata.normalize("NFC", text.replace("\r\n", "\n").replace("\r", "\n"))
