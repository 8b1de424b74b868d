"""What is concluded to measure conclusions: the ends of meetings and whole sessions with an assistant, and what a
person keeps of them.

The talk itself is read from a folder of conversations (`CCM_DATA`); here stands only which part of it is taken.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from pydantic import ConfigDict, Field

from benchmarks.replay import Exchange, moment
from benchmarks.replay.conversations import talk_of
from compaction.domain.artifact import Malformed, Section, Strict, Words, parsed
from compaction.drafting.requesting import Request, about_log, request
from efforts.domain.text.source_text import Source
from efforts.turns.recording import count

from .cases import Unreadable

# Where the data names no day.
DAY = datetime(2000, 1, 1, 12, tzinfo=UTC)
ANNOTATION_REPLY = 1_500
# Of each list so many are kept, the most important first.
MOST_KEPT = 6


class Written(Strict):
    """A turn that is not of the data, before the message of that id."""

    before: str
    speaker: str
    text: Words


class Reversed(Strict):
    """A word of a decision, and one of the later decision that takes its place."""

    old: str = Field(alias="from")
    new: str = Field(alias="to")


class RangeFile(Strict):
    """Of a conversation a whole `session`, or the last messages that have at most so many `tokens`."""

    id: str
    data: Literal["qmsum-dev", "elitr-dev", "assistant-chat-dev"]
    conversation: str
    session: int | None = None
    tokens: int | None = None
    ledger: bool = False
    written: tuple[Written, ...] = ()
    reversed: Reversed | None = None


@dataclass(frozen=True, kw_only=True)
class Range:
    """`ledger`: a person keeps entries of it before it is concluded."""

    id: str
    name: str
    when: datetime
    exchanges: tuple[Exchange, ...]
    ledger: bool
    reversed: Reversed | None

    @property
    def is_windowed(self) -> bool:
        """It was made to be too long for one draft."""
        return self.reversed is not None


def read_ranges(path: Path, data: Path) -> tuple[Range, ...]:
    """Raises `Unreadable`."""
    try:
        files = [parsed(RangeFile, line) for line in path.read_text(encoding="utf-8").splitlines()]
        rows = {file.data: rows_in(data / f"{file.data}.jsonl") for file in files}
        return tuple(range_of(file, rows[file.data][file.conversation]) for file in files)
    except (Malformed, OSError, KeyError, ValueError) as error:
        raise Unreadable(f"{path}: {error}") from error


def rows_in(path: Path) -> dict[str, dict[str, Any]]:
    rows = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return {row["id"]: row for row in rows}


def range_of(file: RangeFile, row: Mapping[str, Any]) -> Range:
    if file.session is None:
        messages, name = last_of(row["messages"], file.tokens or 0), f"Meeting {file.conversation}"
    else:
        messages = [message for message in row["messages"] if message["session"] == file.session]
        name = f"Session {file.session}"
    talk = talk_of({**row, "messages": list(with_written(messages, file.written)), "questions": ()})
    return Range(
        id=file.id,
        name=name,
        when=moment(talk.dates[0], unknown=DAY),
        exchanges=tuple(exchange for session in talk.sessions for exchange in session),
        ledger=file.ledger,
        reversed=file.reversed,
    )


def last_of(messages: Sequence[dict[str, Any]], tokens: int) -> list[dict[str, Any]]:
    room = tokens
    for place in range(len(messages) - 1, -1, -1):
        room -= count(messages[place]["text"])
        if room < 0:
            return list(messages[place + 1 :])
    return list(messages)


def with_written(messages: Sequence[dict[str, Any]], written: Sequence[Written]) -> Iterator[dict[str, Any]]:
    for message in messages:
        for one in written:
            if one.before == message["id"]:
                yield {**message, "id": f"before-{one.before}", "speaker": one.speaker, "text": one.text}
        yield message


# What a person keeps


class Annotated(Strict):
    model_config = ConfigDict(strict=True, extra="ignore", frozen=True)

    kind: Section
    text: Words
    sentence: str


class AnnotationAnswer(Strict):
    entries: tuple[Annotated, ...]


class Kept(Strict):
    """The words of a sentence, as a person marks them in message `message` of the range."""

    range: str
    kind: Section
    message: int
    words: Words


def annotation(source: Source) -> Request:
    """Asked of somebody who has seen neither a draft nor an inventory."""
    task = (Path(__file__).parent / "annotate.md").read_text(encoding="utf-8").strip()
    return request(about_log(source, task), AnnotationAnswer, ANNOTATION_REPLY)


def kept_of(id: str, source: Source, answer: str) -> list[Kept]:
    """Raises `Unreadable`."""
    try:
        entries = parsed(AnnotationAnswer, answer).entries[:MOST_KEPT]
        sentences = [source.by_sentence[entry.sentence] for entry in entries]
    except (Malformed, KeyError) as error:
        raise Unreadable(f"What is to be kept of {id} cannot be read: {error}") from error
    return [
        Kept(range=id, kind=entry.kind, message=source.part_of(entry.sentence).number, words=sentence.text)
        for entry, sentence in zip(entries, sentences, strict=True)
    ]


def read_kept(path: Path) -> tuple[Kept, ...]:
    """Raises `Unreadable`."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        return tuple(parsed(Kept, line) for line in lines)
    except (Malformed, UnicodeDecodeError) as error:
        raise Unreadable(f"{path}: {error}") from error


def write_kept(path: Path, kept: Sequence[Kept]) -> None:
    path.write_text("".join(f"{one.model_dump_json()}\n" for one in kept), encoding="utf-8")
