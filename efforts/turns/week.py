"""The script of the example (`week.toml`): what is said in it, what its model does, and what the person does between
the turns."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from efforts import actions
from efforts.context.planning import main_branch
from efforts.domain.effort.states import EntryKind, HoldScope
from efforts.log.timelines import branch_turns
from efforts.models import ContextPointer, Message, Session
from efforts.standins import compacting

Acts = Sequence[Mapping[str, str]]


@dataclass(frozen=True, kw_only=True)
class Exchange:
    """What the person says, what is answered, the tools that the model calls before it answers, and what the person
    does afterwards: `then` before, and `later` when what it concluded has been drafted."""

    user: str
    reply: str
    calls: tuple[tuple[str, dict[str, Any]], ...] = ()
    then: Acts = ()
    later: Acts = ()


def exchange(told: Mapping[str, Any]) -> Exchange:
    calls = ({**call} for call in told.get("calls", ()))
    return Exchange(**{**told, "calls": tuple((call.pop("tool"), call) for call in calls)})


SCRIPT = tomllib.loads(Path(__file__).with_name("week.toml").read_text())
TITLE: str = SCRIPT["title"]
PROMPTS = tuple(SCRIPT["prompts"])
WEEK = tuple(map(exchange, SCRIPT["week"]))
# The number of the turn that is said in other words.
OTHERWISE_AT: int = SCRIPT["otherwise"].pop("turn")
OTHERWISE = exchange(SCRIPT["otherwise"])


def act(session: Session, acts: Acts) -> None:
    """What the person does, one after the other."""
    for one in acts:
        match one:
            case {"note": kind, "words": words}:
                actions.note_entry(place(session), said(session, words).pk, EntryKind(kind), words=words)
            case {"pin": words}:
                actions.pin_turn(place(session), said(session, words).turn.number, HoldScope.ALWAYS)
            case {"roll_back": slug}:
                roll_back(session, slug)
            case _:
                raise ValueError(f"Nobody does this in an example: {one}")


def roll_back(session: Session, slug: str) -> None:
    branch = main_branch(session)
    standing = ContextPointer.objects.filter(branch=branch, effort__slug=slug, digest=False).last()
    # Where tokens are counted otherwise a draft may not pay, and then none stands.
    if standing:
        compacting.registered().roll_back(str(standing.artifact), session.owner, branch)


def place(session: Session) -> actions.Place:
    return actions.here(session, actor=session.owner)


def said(session: Session, words: str) -> Message:
    turns = branch_turns(main_branch(session))
    return Message.objects.filter(turn__in=turns, role=Message.Role.USER, text__contains=words).latest("pk")
