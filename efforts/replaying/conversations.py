"""Conversations as JSON Lines, one a line, read as turns; the README beside the data says how they are to be read."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any

from efforts.domain.conversation import ToolCall


@dataclass(frozen=True, kw_only=True)
class Said:
    role: str
    speaker: str
    text: str
    calls: tuple[ToolCall, ...] = ()
    answers: str = ""


@dataclass(frozen=True, kw_only=True)
class Exchange:
    """One turn: what was asked, and all that came of it."""

    user: Said
    replies: tuple[Said, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Talk:
    """`sessions`: those of the data, each of which is played as one effort; `summaries`: what the data says of each."""

    id: str
    source: str
    sessions: tuple[tuple[Exchange, ...], ...]
    summaries: tuple[str, ...] = ()


def read_talks(path: Path, most: int | None = None) -> Iterator[Talk]:
    """Raises `ValueError` where the file holds something else."""
    with path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            if most is not None and number > most:
                return
            try:
                yield talk_of(json.loads(line))
            except (KeyError, TypeError, ValueError) as error:
                raise ValueError(f"{path.name}, line {number}, is no conversation: {error!r}") from error


def talk_of(row: Mapping[str, Any]) -> Talk:
    named = not any(message["role"] == "assistant" for message in row["messages"])
    # Our own text stands in the place of theirs.
    messages = [message for message in row["messages"] if message["role"] != "system"]
    sessions = [list(group) for _, group in groupby(messages, key=lambda message: message["session"])]
    told = (tuple(exchanges(list(joined(session, named=named)))) for session in sessions)
    given = {session["n"]: session.get("summary") or "" for session in row["sessions"]}
    return Talk(
        id=row["id"],
        source=row["source"],
        sessions=tuple(told),
        summaries=tuple(given.get(session[0]["session"], "") for session in sessions),
    )


def joined(messages: Sequence[Mapping[str, Any]], *, named: bool) -> Iterator[Said]:
    """Consecutive messages of one speaker as one. Where several people talk, their names stand before their words."""
    held: Said | None = None
    for message in messages:
        for said in said_in(message):
            if held and same_speaker(held, said):
                held = replace(held, text=f"{held.text}\n{said.text}")
                continue
            if held:
                yield with_name(held, named)
            held = said
    if held:
        yield with_name(held, named)


def said_in(message: Mapping[str, Any]) -> Iterator[Said]:
    """One result that answers several calls is one result for each."""
    calls = tuple(
        ToolCall(id=call["id"], name=call["function"]["name"], arguments=call["function"]["arguments"])
        for call in message.get("tool_calls") or ()
    )
    for answers in message.get("tool_call_ids") or ("",):
        speaker = message.get("speaker") or message["role"]
        yield Said(role=message["role"], speaker=speaker, text=message["text"], calls=calls, answers=answers)


def same_speaker(one: Said, other: Said) -> bool:
    apart = one.calls or other.calls or "tool" in (one.role, other.role)
    return not apart and (one.role, one.speaker) == (other.role, other.speaker)


def with_name(said: Said, named: bool) -> Said:
    return replace(said, text=f"{said.speaker}: {said.text}") if named else said


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
    """Calls that nobody answered were not made, and results that answer none are nobody's."""
    given = {said.answers for said in replies}
    called = {call.id for said in replies for call in said.calls}
    for said in replies:
        if said.role != "tool":
            whole = all(call.id in given for call in said.calls)
            yield said if whole else replace(said, calls=())
        elif said.answers in called:
            yield said
