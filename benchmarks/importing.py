"""Conversations of JSON Lines as rows that runs would have left: in bulk, one transaction a conversation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING

from django.contrib.auth import get_user_model
from django.db import transaction

from benchmarks.replay import Exchange, Piece, Talk, moment
from efforts import actions
from efforts.actions.names import LONGEST_NAME
from efforts.context.planning import main_branch
from efforts.domain.effort.states import RunState
from efforts.domain.prompt.conversation import MESSAGE_OVERHEAD, ToolCall
from efforts.log import events, labels
from efforts.models import Branch, Effort, Event, Message, Run, Session, Turn, TurnLabel
from efforts.turns.importing import IMPORTED, Rows, call_id, message_of, said_hashes, store, told_of
from efforts.turns.summaries import summarise_now

if TYPE_CHECKING:
    from django.contrib.auth.models import User


@dataclass(kw_only=True)
class Imported:
    """A conversation as rows. `pieces`: by the id of a row, the messages of the data that stand in its text;
    `efforts`: by their ids, the numbers of the data's sessions."""

    session: Session
    branch: Branch
    turns: int = 0
    tokens: int = 0
    pieces: dict[int, tuple[Piece, ...]] = field(default_factory=dict)
    efforts: dict[str, int] = field(default_factory=dict)


@dataclass(kw_only=True)
class TalkRows(Rows):
    """What one session of the data becomes."""

    when: datetime
    pieces: list[tuple[Piece, ...]] = field(default_factory=list)


def import_talk(owner: User, talk: Talk, *, as_efforts: bool = False) -> Imported | None:
    """None where the owner has it already. `as_efforts`: each session is an effort, concluded at its end."""
    with transaction.atomic():
        # Two imports at once would make two.
        get_user_model().objects.select_for_update().get(pk=owner.pk)
        if Event.objects.filter(session__owner=owner, kind=IMPORTED, data__conversation=talk.id).exists():
            return None
        session = actions.create_session(owner, title=talk.id[:LONGEST_NAME])
        made = Imported(session=session, branch=main_branch(session))
        for number, date, exchanges in zip(talk.numbers, talk.dates, talk.sessions, strict=True):
            if as_efforts:
                effort = add_effort(made, exchanges, moment(date), name=f"Session {number}")
                made.efforts[effort.slug] = number
            else:
                add_turns(made, exchanges, moment(date), None)
        data = {"conversation": talk.id, "source": talk.source, "turns": made.turns, "messages": len(made.pieces)}
        events.append(session.pk, IMPORTED, data, actor=owner)
    return made


def add_effort(made: Imported, exchanges: Sequence[Exchange], when: datetime, *, name: str) -> Effort:
    effort = add_open_effort(made, exchanges, when, name=name)
    summarise_now(actions.close_effort(actions.here(made.session, actor=made.session.owner)))
    return effort


def add_open_effort(made: Imported, exchanges: Sequence[Exchange], when: datetime, *, name: str) -> Effort:
    effort = actions.open_effort(actions.here(made.session, actor=made.session.owner), name).effort
    add_turns(made, exchanges, when, effort)
    labels.recount(made.branch, effort)
    labels.touch(made.branch, effort, made.turns)
    return effort


def add_turns(made: Imported, exchanges: Sequence[Exchange], when: datetime, effort: Effort | None) -> None:
    rows = TalkRows(when=when, tokens=made.tokens)
    for exchange in exchanges:
        add_turn(made, rows, exchange)
    made.tokens = rows.tokens
    store(rows)
    made.pieces |= {row.pk: pieces for row, pieces in zip(rows.messages, rows.pieces, strict=True)}
    if effort:
        TurnLabel.objects.bulk_create(TurnLabel(branch=made.branch, turn=turn, effort=effort) for turn in rows.turns)
    said = said_hashes(rows)
    events.append_all([event for turn in rows.turns for event in told_of(turn, effort, said[turn.pk])])
    Branch.objects.filter(pk=made.branch.pk).update(head=made.turns, clock=made.turns)


def add_turn(made: Imported, rows: TalkRows, exchange: Exchange) -> None:
    made.turns += 1
    run = Run(
        branch=made.branch,
        state=RunState.COMPLETED,
        settings={"label": "Imported"},
        started_at=rows.when,
        ended_at=rows.when,
    )
    turn = Turn(
        session=made.session,
        branch=made.branch,
        number=made.turns,
        client_id=f"imported-{made.turns}",
        run=run,
        tokens_before=rows.tokens,
    )
    run.turn = turn
    messages = list(messages_of(rows, turn, exchange))
    turn.tokens = sum(message.tokens + MESSAGE_OVERHEAD for message in messages)
    rows.tokens += turn.tokens
    rows.times[turn.number] = rows.when
    rows.turns.append(turn)
    rows.messages += messages
    rows.pieces += [said.pieces for said in (exchange.user, *exchange.replies)]


def messages_of(rows: Rows, turn: Turn, exchange: Exchange) -> Iterator[Message]:
    yield message_of(turn, exchange.user.role, exchange.user.text, run=None)
    waiting: dict[str, ToolCall] = {}
    for place, said in enumerate(exchange.replies, 1):
        if said.role == Message.Role.TOOL:
            call = waiting.pop(said.answers)
            rows.calls.append(call)
            yield message_of(turn, said.role, said.text, tool_call_id=call.id, tool_name=call.name)
            continue
        waiting = {call.id: replace(call, id=call_id(turn, place, number)) for number, call in enumerate(said.calls, 1)}
        yield message_of(turn, said.role, said.text, tuple(waiting.values()))
