"""Conversations of JSON Lines as rows that runs would have left: in bulk, one transaction a conversation."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.contrib.auth import get_user_model
from django.db import transaction

from benchmarks.replay import Exchange, Piece, Said, Talk, moment
from efforts import actions
from efforts.actions.names import LONGEST_NAME
from efforts.context.planning import main_branch
from efforts.domain.effort.states import RunState
from efforts.domain.prompt.conversation import MESSAGE_OVERHEAD, LogMessage, ToolCall
from efforts.domain.prompt.rendering import wire_calls
from efforts.domain.seals import said_sha256
from efforts.domain.text.canonical import canonical_json, sha256
from efforts.llm.tokens import get_counter
from efforts.log import events, labels
from efforts.log.timelines import log_message
from efforts.models import Branch, Effort, Event, Message, Run, Session, ToolTrace, Turn, TurnLabel
from efforts.retrieval.index import index_messages
from efforts.turns.recording import Lease
from efforts.turns.summaries import summarise_now

if TYPE_CHECKING:
    from django.contrib.auth.models import User

KIND = "session.imported"


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
class Rows:
    """What one session of the data becomes; `calls`: what each result answers, in the order of the results."""

    when: datetime
    turns: list[Turn] = field(default_factory=list)
    messages: list[Message] = field(default_factory=list)
    pieces: list[tuple[Piece, ...]] = field(default_factory=list)
    calls: list[ToolCall] = field(default_factory=list)


def import_talk(owner: User, talk: Talk, *, as_efforts: bool = False) -> Imported | None:
    """None where the owner has it already. `as_efforts`: each session is an effort, concluded at its end."""
    with transaction.atomic():
        # Two imports at once would make two.
        get_user_model().objects.select_for_update().get(pk=owner.pk)
        if Event.objects.filter(session__owner=owner, kind=KIND, data__conversation=talk.id).exists():
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
        events.append(session.pk, KIND, data, actor=owner)
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
    rows = Rows(when=when)
    for exchange in exchanges:
        add_turn(made, rows, exchange)
    store(rows)
    made.pieces |= {row.pk: pieces for row, pieces in zip(rows.messages, rows.pieces, strict=True)}
    if effort:
        TurnLabel.objects.bulk_create(TurnLabel(branch=made.branch, turn=turn, effort=effort) for turn in rows.turns)
    of_turn: dict[int, list[LogMessage]] = defaultdict(list)
    for row in rows.messages:
        of_turn[row.turn_id].append(log_message(row))
    said = {turn: said_sha256(messages) for turn, messages in of_turn.items()}
    events.append_all([event for turn in rows.turns for event in told(turn, effort, said[turn.pk])])
    Branch.objects.filter(pk=made.branch.pk).update(head=made.turns, clock=made.turns)


def add_turn(made: Imported, rows: Rows, exchange: Exchange) -> None:
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
        tokens_before=made.tokens,
    )
    run.turn = turn
    messages = list(messages_of(rows, turn, exchange))
    turn.tokens = sum(message.tokens + MESSAGE_OVERHEAD for message in messages)
    made.tokens += turn.tokens
    rows.turns.append(turn)
    rows.messages += messages
    rows.pieces += [said.pieces for said in (exchange.user, *exchange.replies)]


def messages_of(rows: Rows, turn: Turn, exchange: Exchange) -> Iterator[Message]:
    yield message_of(turn, exchange.user, run=None)
    waiting: dict[str, ToolCall] = {}
    for place, said in enumerate(exchange.replies, 1):
        if said.role == Message.Role.TOOL:
            call = waiting.pop(said.answers)
            rows.calls.append(call)
            yield message_of(turn, said, tool_call_id=call.id, tool_name=call.name)
            continue
        waiting = {call.id: renamed(call, turn, place, index) for index, call in enumerate(said.calls, 1)}
        yield message_of(turn, said, tuple(waiting.values()))


def renamed(call: ToolCall, turn: Turn, place: int, index: int) -> ToolCall:
    # Ids come back in other conversations and turns; ours are unique in the session.
    assert turn.run_id
    return replace(call, id=f"c{turn.run_id.hex[:16]}-{place}-{index}")


def message_of(turn: Turn, said: Said, calls: Sequence[ToolCall] = (), **more: Any) -> Message:
    count = get_counter(settings.CCM_ENCODING).count
    return Message(
        session=turn.session,
        turn=turn,
        **{"run": turn.run, **more},
        role=said.role,
        text=said.text,
        tool_calls=[vars(call) for call in calls],
        tokens=count(said.text) + (count(canonical_json(wire_calls(calls))) if calls else 0),
    )


def store(rows: Rows) -> None:
    runs = [turn.run for turn in rows.turns if turn.run]
    # A turn names its run and a run its turn; the database looks when the transaction ends.
    Turn.objects.bulk_create(rows.turns)
    Run.objects.bulk_create(runs)
    Message.objects.bulk_create(rows.messages)
    index_messages(rows.messages)
    results = [row for row in rows.messages if row.role == Message.Role.TOOL]
    ToolTrace.objects.bulk_create(map(trace, results, rows.calls))
    date(rows)


def date(rows: Rows) -> None:
    """Creating a row sets its time to now, whatever was given."""
    first, last = rows.turns[0], rows.turns[-1]
    turns = Turn.objects.filter(branch=first.branch, number__range=(first.number, last.number))
    Run.objects.filter(turn__in=turns).update(created_at=rows.when)
    Message.objects.filter(turn__in=turns).update(created_at=rows.when)
    turns.update(created_at=rows.when)
    for message in rows.messages:
        message.created_at = rows.when


def trace(result: Message, call: ToolCall) -> ToolTrace:
    """What their tools say of a failure is not ours to read."""
    return ToolTrace(
        session_id=result.session_id,
        run=result.run,
        message=result,
        tool_call_id=call.id,
        name=call.name,
        arguments_sha256=sha256(call.arguments),
        result_sha256=sha256(result.text),
    )


def told(turn: Turn, effort: Effort | None, said: str) -> Iterator[Event]:
    """The events of a turn, by which the log alone tells where it belongs."""
    assert turn.run
    lease = Lease.of(turn.run, "")
    yield Event(session_id=turn.session_id, kind="run.started", data=lease.data())
    label = {"effort": effort.slug, "by": TurnLabel.By.BEGAN} if effort else {"effort": None, "by": ""}
    ended = lease.data(state=str(RunState.COMPLETED), code="", **label, said=said)
    yield Event(session_id=turn.session_id, kind="run.ended", data=ended)
