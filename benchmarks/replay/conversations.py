"""Conversations as JSON Lines, one a line, read as turns; the README beside the data says how they are to be read."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import groupby, takewhile
from pathlib import Path
from typing import Any

from django.utils import timezone

from efforts.domain.prompt.conversation import ToolCall

ROLES = ("user", "assistant", "tool", "system")
# Of dates, as public collections write them, without the day of the week in brackets that some add.
FORMS = ("%Y-%m-%dT%H:%M:%S%z", "%Y-%m-%dT%H:%M", "%Y-%m-%d", "%I:%M %p on %d %B, %Y", "%Y/%m/%d %H:%M")
WEEKDAY = re.compile(r"\s*\(\w+\)")


@dataclass(frozen=True, kw_only=True)
class Piece:
    """A message of the data: the characters that it is of the text it was joined to."""

    id: str
    start: int
    end: int

    def moved(self, by: int) -> Piece:
        return replace(self, start=self.start + by, end=self.end + by)


@dataclass(frozen=True, kw_only=True)
class Said:
    role: str
    speaker: str
    text: str
    calls: tuple[ToolCall, ...] = ()
    answers: str = ""
    pieces: tuple[Piece, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Exchange:
    """One turn: what was asked, and all that came of it."""

    user: Said
    replies: tuple[Said, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Question:
    """`evidence`: ids of the messages that hold the answer, or `spans` of such, or the numbers of `sessions`."""

    id: str
    text: str
    category: str
    evidence: tuple[str, ...] = ()
    spans: tuple[frozenset[str], ...] = ()
    sessions: tuple[int, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Talk:
    """`sessions`: those of the data, each of which is played as one effort; beside them `numbers`, `dates` and
    `summaries` that the data gives them."""

    id: str
    source: str
    sessions: tuple[tuple[Exchange, ...], ...]
    numbers: tuple[int, ...] = ()
    dates: tuple[str, ...] = ()
    summaries: tuple[str, ...] = ()
    questions: tuple[Question, ...] = ()


def read_talks(path: Path, most: int | None = None) -> Iterator[Talk]:
    """Raises `ValueError` where the file holds something else."""
    with path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            if most is not None and number > most:
                return
            try:
                yield talk_of(json.loads(line))
            except (AttributeError, KeyError, TypeError, ValueError) as error:
                raise ValueError(f"{path.name}, line {number}, is no conversation: {reason(error)}") from error


def reason(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"it is not JSON ({error.msg}, character {error.colno})"
    if isinstance(error, KeyError):
        return f"“{error.args[0]}” is missing"
    return str(error) if type(error) is ValueError else f"a value is of another kind than expected ({error})"


def talk_of(row: Mapping[str, Any]) -> Talk:
    # Our own text stands in the place of theirs; where nothing was said and nothing called, there is no message.
    said = [message for message in row["messages"] if message["role"] != "system"]
    messages = [message for message in said if message["text"].strip() or message.get("tool_calls")]
    check(messages)
    sessions = [list(group) for _, group in groupby(messages, key=lambda message: message["session"])]
    numbers = [session[0]["session"] for session in sessions]
    given = {session["n"]: session for session in row["sessions"]}
    return Talk(
        id=row["id"],
        source=row["source"],
        sessions=tuple(tuple(exchanges(list(joined(session)))) for session in sessions),
        numbers=tuple(numbers),
        dates=tuple(given.get(number, {}).get("date") or "" for number in numbers),
        summaries=tuple(given.get(number, {}).get("summary") or "" for number in numbers),
        questions=tuple(questions_of(row, [message["id"] for message in messages])),
    )


def check(messages: Sequence[Mapping[str, Any]]) -> None:
    seen: set[str] = set()
    for message in messages:
        id, text = message["id"], message["text"]
        if not isinstance(id, str) or id in seen:
            raise ValueError(f"message {id!r} needs an id of its own, as text")
        if message["role"] not in ROLES:
            raise ValueError(f"message {id!r} has the role {message['role']!r}; there are {', '.join(ROLES)}")
        # No database takes the one, and none keeps the other.
        if "\x00" in text or any("\ud800" <= c <= "\udfff" for c in text):
            raise ValueError(f"the text of message {id!r} has a NUL or half of a character")
        seen.add(id)
    if not messages:
        raise ValueError("nobody says anything in it")


def questions_of(row: Mapping[str, Any], ids: Sequence[str]) -> Iterator[Question]:
    """Of the evidence what is there; the answers are nobody's business here."""
    place = {message["id"]: number for number, message in enumerate(row["messages"])}
    for question in row.get("questions", ()):
        spans = [
            frozenset(id for id in ids if place[str(first)] <= place[id] <= place[str(last)])
            for first, last in question.get("evidence_spans", ())
        ]
        yield Question(
            id=question["id"],
            text=question["question"],
            category=question["category"],
            evidence=tuple(id for id in dict.fromkeys(question.get("evidence", ())) if id in place),
            spans=tuple(span for span in spans if span),
            sessions=tuple(dict.fromkeys(question.get("evidence_sessions", ()))),
        )


def joined(messages: Sequence[Mapping[str, Any]]) -> Iterator[Said]:
    """Consecutive messages of one speaker as one. Where the data names the speakers, so does what was said."""
    held: Said | None = None
    for message in messages:
        for said in said_in(message):
            if held and same_speaker(held, said):
                held = added(held, said)
                continue
            if held:
                yield held
            held = with_name(said, message.get("speaker"))
    if held:
        yield held


def said_in(message: Mapping[str, Any]) -> Iterator[Said]:
    """One result that answers several calls is one result for each."""
    calls = tuple(
        ToolCall(id=call["id"], name=call["function"]["name"], arguments=call["function"]["arguments"])
        for call in message.get("tool_calls") or ()
    )
    for answers in message.get("tool_call_ids") or ("",):
        yield Said(
            role=message["role"],
            speaker=message.get("speaker") or message["role"],
            text=message["text"],
            calls=calls,
            answers=answers,
            pieces=(Piece(id=message["id"], start=0, end=len(message["text"])),),
        )


def same_speaker(one: Said, other: Said) -> bool:
    apart = one.calls or other.calls or "tool" in (one.role, other.role)
    return not apart and (one.role, one.speaker) == (other.role, other.speaker)


def added(said: Said, more: Said) -> Said:
    pieces = (piece.moved(len(said.text) + 1) for piece in more.pieces)
    return replace(said, text=f"{said.text}\n{more.text}", pieces=(*said.pieces, *pieces))


def with_name(said: Said, name: str | None) -> Said:
    if not name:
        return said
    pieces = tuple(piece.moved(len(name) + 2) for piece in said.pieces)
    return replace(said, text=f"{name}: {said.text}", pieces=pieces)


def exchanges(said: Sequence[Said]) -> Iterator[Exchange]:
    """A reply that nobody asked for begins a turn like a message of the person's."""
    asked: Said | None = None
    replies: list[Said] = []
    for one in said:
        if asked is not None and one.role != "user":
            replies.append(one)
            continue
        if asked is not None:
            yield Exchange(user=asked, replies=tuple(answered(replies)))
        asked, replies = replace(one, role="user", calls=(), answers=""), []
    if asked is not None:
        yield Exchange(user=asked, replies=tuple(answered(replies)))


def answered(replies: Sequence[Said]) -> Iterator[Said]:
    """Calls that nobody answered at once were not made, and results that answer none are nobody's."""
    waiting: set[str] = set()
    for place, said in enumerate(replies, 1):
        if said.role == "tool":
            if said.answers in waiting:
                waiting.remove(said.answers)
                yield said
            continue
        results = takewhile(lambda one: one.role == "tool", replies[place:])
        called = {call.id for call in said.calls}
        waiting = called if called <= {result.answers for result in results} else set()
        if said.text.strip() or waiting:
            yield said if waiting else replace(said, calls=())


def moment(date: str, unknown: datetime | None = None) -> datetime:
    """When a session of the data was; `unknown`, or now, where it does not say."""
    text = WEEKDAY.sub("", date).strip()
    for form in FORMS:
        try:
            when = datetime.strptime(text, form)
        except ValueError:
            continue
        return when if timezone.is_aware(when) else timezone.make_aware(when)
    return unknown or timezone.now()
