"""Logs as sources with numbered sentences, and claims about them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from compaction.domain.artifact import STATUSES, Claim, Section, Status
from efforts.domain.effort.states import RunState
from efforts.domain.prompt.conversation import LogMessage, PastTurn, Role, ToolCall
from efforts.domain.text.canonical import canonical_json
from efforts.domain.text.source_text import Source, source_of


def log(*said: str | tuple[Role, str], said_on: str = "") -> Source:
    """Messages from number 1 on: of the user and the assistant by turns, or as (role, text)."""
    return source_of(turns(said), dict.fromkeys(range(1, len(said) + 1), said_on))


def turns(said: tuple[str | tuple[Role, str], ...]) -> Iterator[PastTurn]:
    for number, each in enumerate(said, start=1):
        spoken: tuple[Role, str] = ("user" if number % 2 else "assistant", each) if isinstance(each, str) else each
        message = LogMessage(id=number, role=spoken[0], text=spoken[1], tokens=0)
        yield PastTurn(number=number, state=RunState.COMPLETED, messages=(message,))


def run(command: str, result: str, said: str = "") -> Source:
    """Message 1 calls a tool, message 2 is what it returned, message 3 what the model says to it."""
    call = ToolCall(id="c1", name="bash", arguments=canonical_json({"command": command}))
    messages = [
        LogMessage(id=1, role="assistant", text="", tokens=0, tool_calls=(call,)),
        LogMessage(id=2, role="tool", text=result, tokens=0, tool_call_id="c1"),
        *([LogMessage(id=3, role="assistant", text=said, tokens=0)] if said else []),
    ]
    return source_of([PastTurn(number=1, state=RunState.COMPLETED, messages=tuple(messages))])


def claim(text: str, *cites: str, section: str = "fact", status: str = "", **changes: Any) -> Claim:
    """With the first status of its section, unless another is given."""
    kind = Section(section)
    return Claim(
        **{
            "id": "c1",
            "section": kind,
            "status": Status(status) if status else STATUSES[kind][0],
            "text": text,
            "cites": cites,
            **changes,
        }
    )
