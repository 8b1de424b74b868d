"""The one rendering of a log that summaries are made from and checked by: headers of messages, numbered sentences.

Messages are numbered from 1 in their order, sentences from 1 in their message: `12.3` is the third of message 12. Both
are the same wherever the same was said. Offsets count characters of one part of a message, as it stands here: NFC, line
feeds only, secrets masked.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property

from efforts.domain.prompt.conversation import LogMessage, PastTurn, Role, ToolCall
from efforts.domain.prompt.toolbox import CONTROLS, FINDERS
from efforts.domain.text.canonical import canonical_json, sha256
from efforts.domain.text.redaction import redact
from efforts.domain.text.sentences import sentence_places

# What they return was said elsewhere or is the program's own bookkeeping: a summary of it would be of something else.
NEVER_SOURCE = CONTROLS | FINDERS
# Of what is masked, what is never source and how sentences are cut. Another one makes other bytes of the same log.
POLICY_VERSION = "2"
# So much of the messages must begin with a name for it to be talk among people.
MOST_NAMED = 0.8
SPEAKER = re.compile(r"(?P<name>\[?[A-Z][\w.'-]*\]?(?: \(?[A-Z0-9][\w.'-]*\)?){0,3}|\([A-Z]+\d+\)):[ \n]+")


class Part(StrEnum):
    """Of a message: what was said, the tools it called, or what a tool returned."""

    TEXT = "text"
    CALLS = "calls"
    RESULT = "result"


@dataclass(frozen=True, kw_only=True)
class Sentence:
    """Characters `start` to `end`, without the last, of one part of a message. `id` is its number, as in `12.3`."""

    id: str
    message: int
    part: Part
    start: int
    end: int
    text: str


@dataclass(frozen=True, kw_only=True)
class SourcePart:
    """One part of a message of the source.

    `message` is its id in the log, `number` its place in the source. `tool` is what returned a result, `speaker` who of
    several people says it, `said_on` an ISO date; each empty where it is not known.
    """

    message: int
    turn: int
    role: Role
    part: Part
    text: str
    tool: str = ""
    number: int = 0
    speaker: str = ""
    said_on: str = ""
    sentences: tuple[Sentence, ...] = ()

    @property
    def header(self) -> str:
        of = {Part.TEXT: "", Part.CALLS: " calls", Part.RESULT: f" result of {self.tool or 'a tool'}"}[self.part]
        who = f"{self.role}{f' {self.speaker}' if self.speaker else ''}{of}"
        return " · ".join(filter(None, (f"[{self.number}] turn {self.turn}", who, self.said_on)))

    @property
    def who(self) -> str:
        return self.speaker or self.role

    @property
    def rendered(self) -> str:
        return "\n".join([self.header, *(numbered(sentence) for sentence in self.sentences), ""])


def numbered(sentence: Sentence) -> str:
    """No line of the log stands at the beginning of a line, so none can be taken for one of the program's own."""
    first, *others = sentence.text.split("\n")
    return "\n".join([f"{sentence.id} {first}", *(f"    {line}" for line in others)])


@dataclass(frozen=True, kw_only=True)
class Source:
    """Oldest first. `masked` is how many secrets are not shown."""

    parts: tuple[SourcePart, ...]
    masked: int = 0

    @cached_property
    def text(self) -> str:
        return rendered(self.parts)

    @cached_property
    def said(self) -> str:
        """What was said alone, without headers and numbers: by its size summaries are measured."""
        return "\n\n".join(part.text for part in self.parts)

    @cached_property
    def sha256(self) -> str:
        return sha256(f"policy {POLICY_VERSION}\n{self.text}")

    @property
    def hashes(self) -> tuple[str, str]:
        """Its own, and the one that it had under the first policy."""
        return self.sha256, sha256(f"policy 1\n{self.first_text}")

    def is_what(self, hash: str) -> bool:
        """Whether a text with that hash was made of this source, also under the first policy."""
        return hash in self.hashes

    @property
    def first_text(self) -> str:
        """As the first policy rendered it: no sentences, ids of rows."""
        return "\n".join(first_rendered(part) for part in self.parts)

    @cached_property
    def by_place(self) -> Mapping[tuple[int, Part], SourcePart]:
        return {(part.message, part.part): part for part in self.parts}

    @cached_property
    def by_sentence(self) -> Mapping[str, Sentence]:
        return {sentence.id: sentence for part in self.parts for sentence in part.sentences}

    def part_of(self, sentence: str) -> SourcePart:
        """Raises `KeyError` where it has no such sentence."""
        found = self.by_sentence[sentence]
        return self.by_place[found.message, found.part]

    def between(self, turns: Collection[int]) -> Source:
        """Only these turns; numbers stay what they are."""
        return replace(self, parts=tuple(part for part in self.parts if part.turn in turns))

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


def first_rendered(part: SourcePart) -> str:
    of = {Part.TEXT: "", Part.CALLS: ", calls", Part.RESULT: f", result of {part.tool or 'a tool'}"}[part.part]
    return f"[message {part.message}, turn {part.turn}, {part.role}{of}]\n{part.text}\n"


def source_of(turns: Iterable[PastTurn], said_on: Mapping[int, str] | None = None) -> Source:
    """What later prompts see of the turns, without what only repeats or administers the conversation.

    `said_on`: ISO dates by the ids of messages.
    """
    masked = 0
    parts = []
    for turn in turns:
        for part in parts_of(turn):
            found = redact(part.text)
            masked += found.masked
            parts.append(replace(part, text=found.value, said_on=(said_on or {}).get(part.message, "")))
    return Source(parts=tuple(cited(parts)), masked=masked)


def cited(parts: Sequence[SourcePart]) -> Iterator[SourcePart]:
    """With their numbers, speakers and sentences."""
    numbers: dict[int, int] = {}
    sentences: dict[int, int] = {}
    talk = is_talk(parts)
    for part in parts:
        number = numbers.setdefault(part.message, len(numbers) + 1)
        named = SPEAKER.match(part.text) if talk and part.part == Part.TEXT else None
        begin = named.end() if named else 0
        found = []
        for start, end in sentence_places(part.text[begin:], by_line=part.part != Part.TEXT):
            sentences[number] = sentences.get(number, 0) + 1
            id = f"{number}.{sentences[number]}"
            start, end = start + begin, end + begin
            text = part.text[start:end]
            found.append(Sentence(id=id, message=part.message, part=part.part, start=start, end=end, text=text))
        speaker = named["name"].strip("[]()") if named else ""
        yield replace(part, number=number, speaker=speaker, sentences=tuple(found))


def is_talk(parts: Iterable[SourcePart]) -> bool:
    """Whether people talk among themselves: nearly every message begins with who speaks."""
    texts = [part.text for part in parts if part.part == Part.TEXT]
    return bool(texts) and sum(bool(SPEAKER.match(text)) for text in texts) >= MOST_NAMED * len(texts)


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
