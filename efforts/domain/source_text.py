"""The one rendering of a log that summaries are made from, and that hashes and quotations refer to."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from .canonical import canonical_json, sha256
from .conversation import LogMessage, PastTurn, Role, ToolCall
from .toolbox import CONTROLS, FINDERS

# What they return was said elsewhere or is the program's own bookkeeping: a summary of it would be of something else.
NEVER_SOURCE = CONTROLS | FINDERS


@dataclass(frozen=True, kw_only=True)
class SourceMessage:
    """One message of the source; `text` in NFC with line feeds only."""

    id: int
    turn: int
    role: Role
    text: str

    @property
    def rendered(self) -> str:
        return f"[message {self.id}, turn {self.turn}, {self.role}]\n{self.text}\n"


@dataclass(frozen=True, kw_only=True)
class Source:
    messages: tuple[SourceMessage, ...]

    @property
    def text(self) -> str:
        return rendered(self.messages)

    @property
    def sha256(self) -> str:
        return sha256(self.text)

    @property
    def characters(self) -> int:
        """What people and model said, without what tools returned."""
        return sum(len(message.text.strip()) for message in self.messages if message.role != "tool")


def rendered(messages: Sequence[SourceMessage]) -> str:
    return "\n".join(message.rendered for message in messages)


def source_of(turns: Iterable[PastTurn]) -> Source:
    """What later prompts see of the turns, without what only repeats or administers the conversation."""
    return Source(messages=tuple(message for turn in turns for message in messages_of(turn)))


def messages_of(turn: PastTurn) -> Iterator[SourceMessage]:
    never = {call.id for message in turn.visible for call in message.tool_calls if call.name in NEVER_SOURCE}
    for message in turn.visible:
        text = normal("\n".join(parts_of(message)))
        if text.strip() and message.tool_call_id not in never:
            yield SourceMessage(id=message.id, turn=turn.number, role=message.role, text=text)


def parts_of(message: LogMessage) -> Iterator[str]:
    if message.text:
        yield message.text
    for call in message.tool_calls:
        if call.name not in NEVER_SOURCE:
            yield call_line(call)


def call_line(call: ToolCall) -> str:
    return f"called {canonical_json({'tool': call.name, 'arguments': call.arguments})}"


def normal(text: str) -> str:
    return unicodedata.normalize("NFC", text.replace("\r\n", "\n").replace("\r", "\n"))
