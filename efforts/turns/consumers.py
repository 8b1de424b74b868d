"""The socket of one browser tab: relays a session's event log and takes short commands. It never runs a turn."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable
from contextlib import suppress
from typing import Any, ClassVar
from uuid import UUID

from channels.consumer import AsyncConsumer, get_handler_name
from channels.exceptions import StopConsumer
from django.contrib.auth import get_user
from django.contrib.auth.models import User
from django.db import DatabaseError
from django.db.models import Q
from django.http import HttpRequest

from efforts import actions
from efforts.domain.errors import Refused
from efforts.log import events
from efforts.log.timelines import branch_turns
from efforts.models import Branch, Run, Session, Turn
from efforts.models.threads import read, write

log = logging.getLogger("ccm.sockets")

# The frames of a socket are handled one after the other: a Stop must not wait behind a novel.
LARGEST_FRAME = 64 * 1024
# How often to look at the log without being rung, in seconds.
LOOK = 20.0
BATCH = 500

# On these two a browser gives up; on every other code it comes back.
SIGNED_OUT, NO_SUCH_SESSION = 4401, 4404


class BadFrame(Exception):
    """A frame that does not say what it should."""

    def __init__(self, text: str, code: str = "bad_frame", frame: dict[str, Any] | None = None) -> None:
        super().__init__(text)
        self.code = code
        self.frame = frame


class SessionConsumer(AsyncConsumer):  # type: ignore[misc]  # channels has no types
    """Server frames from the log carry `seq`; a gap in the numbers is answered by `resync` (docs/events.md)."""

    session_id: UUID
    user: User
    cursor: int | None = None
    closed = False

    async def dispatch(self, message: dict[str, Any]) -> None:
        # Without the parent's detour through the one thread that all sockets share.
        await getattr(self, get_handler_name(message))(message)

    async def websocket_connect(self, message: dict[str, Any]) -> None:
        self.session_id = self.scope["url_route"]["kwargs"]["session_id"]
        self.user = self.scope["user"]
        # Accepted even to be refused: of a failed handshake a browser learns no code.
        await self.base_send({"type": "websocket.accept"})
        if not await self.may_stay():
            return
        self.rung = asyncio.Event()
        self.pushed: list[dict[str, Any]] = []
        events.doorbell.attend()
        # Joined before the first look at the log, so that no event falls between the two.
        await self.channel_layer.group_add(events.session_group(self.session_id), self.channel_name)
        self.pump = asyncio.create_task(self.relay())

    async def websocket_disconnect(self, message: dict[str, Any]) -> None:
        self.closed = True
        if hasattr(self, "pump"):
            self.pump.cancel()
            await self.channel_layer.group_discard(events.session_group(self.session_id), self.channel_name)
        raise StopConsumer

    async def websocket_receive(self, message: dict[str, Any]) -> None:
        # Frames that were under way when the socket was closed come from somebody who may no longer act.
        if self.closed:
            return
        try:
            frame = parse(message)
            await self.HANDLERS[frame["kind"]](self, frame)
        except BadFrame as error:
            await self.send_error(error.code, str(error), error.frame)
        except Refused as error:
            await self.send_error(error.code, error.text, frame)
        except DatabaseError:
            await self.send_error("database", "The database did not answer. Nothing was changed; try again.", frame)

    async def doorbell(self, message: dict[str, Any]) -> None:
        self.pushed += message["frames"]
        self.rung.set()

    async def hang_up(self, message: dict[str, Any]) -> None:
        await self.close(NO_SUCH_SESSION)

    # Frames from the browser

    async def on_hello(self, frame: dict[str, Any]) -> None:
        cursor = frame.get("last_seq")
        if not isinstance(cursor, int) or isinstance(cursor, bool) or cursor < 0:
            raise BadFrame("hello needs last_seq, the number of the last event you have.", frame=frame)
        seq = await read(last_seq, self.session_id)
        await self.send_json({"kind": "welcome", "seq": seq})
        if cursor > seq:  # the browser is ahead of this database: its page is of another time
            await self.resync(seq)
        else:
            self.cursor = cursor
        self.rung.set()

    async def on_ping(self, frame: dict[str, Any]) -> None:
        if await self.may_stay():
            # A layer drops members after a day, and the in-memory one already when a ring stays unread for a minute.
            await self.channel_layer.group_add(events.session_group(self.session_id), self.channel_name)
            self.rung.set()
            await self.send_json({"kind": "pong"})

    async def on_ack(self, frame: dict[str, Any]) -> None:
        """Nothing to do: what a browser has is known from its next hello."""

    async def on_send(self, frame: dict[str, Any]) -> None:
        text, client_id = need(frame, "text", str), need(frame, "client_id", str)
        how = {name: frame.get(name) is True for name in ("cut", "aside", "plain")}
        await self.command(frame, send, branch_id=branch_in(frame), text=text, client_id=client_id, **how)

    async def on_stop(self, frame: dict[str, Any]) -> None:
        await self.command(frame, stop, run_id=need_id(frame, "run"))

    async def on_cancel(self, frame: dict[str, Any]) -> None:
        await self.command(frame, cancel, branch_id=branch_in(frame), number=need(frame, "turn", int))

    async def on_retry(self, frame: dict[str, Any]) -> None:
        number, changes = need(frame, "turn", int), frame.get("changes")
        await self.command(frame, retry, branch_id=branch_in(frame), number=number, changes=changes)

    HANDLERS: ClassVar[dict[str, Callable[..., Any]]] = {
        "hello": on_hello,
        "ping": on_ping,
        "ack": on_ack,
        "send": on_send,
        "stop": on_stop,
        "cancel": on_cancel,
        "retry": on_retry,
    }

    async def command(self, frame: dict[str, Any], verb: Callable[..., dict[str, Any]], **values: Any) -> None:
        result = await write(verb, self.session_id, self.user, **values)
        await self.send_json({"kind": "ack", "of": frame["kind"], **result})

    # The log

    async def relay(self) -> None:
        while not self.closed:
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOK):
                    await self.rung.wait()
            try:
                await self.relay_new()
            except DatabaseError:
                # Were the fault to end this task, the tab would stay open and silent.
                log.warning("A socket could not read the log; it looks again.", exc_info=True)

    async def relay_new(self) -> None:
        unannounced = not self.rung.is_set()
        # Before reading: a ring that comes during the read then leads to another look.
        self.rung.clear()
        # Nobody rings when a person signs out; the look without a ring is when it is noticed.
        if unannounced and not await self.may_stay():
            return
        if await self.relay_pushed():
            return
        while self.cursor is not None and await self.relay_batch(self.cursor):
            pass

    async def relay_pushed(self) -> bool:
        """Send what the rings brought along; whether that was all, so that nobody needs to read the log."""
        pushed, self.pushed = self.pushed, []
        for frame in pushed:
            if self.cursor is None or frame["seq"] > self.cursor + 1:
                return False
            if frame["seq"] == self.cursor + 1:
                self.cursor += 1
                await self.send_json(frame)
        return bool(pushed)

    async def relay_batch(self, cursor: int) -> bool:
        """Send what is new after `cursor`; whether there may be more."""
        last, rows = await read(news, self.session_id, cursor)
        for expected, row in enumerate(rows, cursor + 1):
            if self.cursor != expected - 1:  # another hello, which begins elsewhere
                return True
            if row["seq"] != expected:  # deltas in between are gone, because their message stands
                await self.resync(last)
                return True
            self.cursor = expected
            await self.send_json(row)
        # What is missing may also be the end of the log, where no higher number would show the gap.
        if not rows and last > cursor == self.cursor:
            await self.resync(last)
        return len(rows) == BATCH

    async def resync(self, seq: int) -> None:
        self.cursor = seq
        await self.send_json({"kind": "resync", "seq": seq})

    # Frames to the browser

    async def may_stay(self) -> bool:
        code = await read(refusal, self.session_id, self.scope)
        if code:
            await self.close(code)
        return code is None

    async def close(self, code: int) -> None:
        if self.closed:
            return
        # Before anything is awaited, so that the relay begins no further round.
        self.closed = True
        await self.send_json({"kind": "gone", "code": code})
        await self.base_send({"type": "websocket.close", "code": code})

    async def send_error(self, code: str, text: str, frame: dict[str, Any] | None = None) -> None:
        about: dict[str, Any] = (
            {key: frame[key] for key in ("client_id", "turn", "run") if key in frame} if frame else {}
        )
        await self.send_json({"kind": "error", "code": code, "text": text, "of": frame and frame["kind"], **about})

    async def send_json(self, frame: dict[str, Any]) -> None:
        await self.base_send({"type": "websocket.send", "text": json.dumps({"v": 1, **frame})})


def parse(message: dict[str, Any]) -> dict[str, Any]:
    text = message.get("text")
    if text is None:
        raise BadFrame("Frames are JSON text.")
    if len(text.encode("utf-8", "surrogatepass")) > LARGEST_FRAME:
        raise BadFrame(f"A frame may have {LARGEST_FRAME:,} bytes. Longer messages go by HTTP.", "frame_too_large")
    try:
        frame = json.loads(text)
    # Brackets nested a thousand deep are no ValueError.
    except (ValueError, RecursionError) as error:
        raise BadFrame("The frame is not JSON.") from error
    if not isinstance(frame, dict) or not isinstance(frame.get("kind"), str):
        raise BadFrame("A frame is an object with a kind.")
    if frame["kind"] not in SessionConsumer.HANDLERS:
        raise BadFrame(f"There is no frame of the kind {frame['kind'][:40]!r}.")
    return frame


def need(frame: dict[str, Any], key: str, kind: type) -> Any:
    value = frame.get(key)
    if not isinstance(value, kind) or isinstance(value, bool):
        raise BadFrame(f"{frame['kind']} needs {key}.", frame=frame)
    return value


def need_id(frame: dict[str, Any], key: str) -> UUID:
    try:
        return UUID(need(frame, key, str))
    except ValueError as error:
        raise BadFrame(f"{key} must be the id of a {key}.", frame=frame) from error


def branch_in(frame: dict[str, Any]) -> UUID | None:
    """None is the main branch."""
    return need_id(frame, "branch") if frame.get("branch") is not None else None


def news(session_id: UUID, cursor: int) -> tuple[int, list[dict[str, Any]]]:
    """The number of the last event, and the events after `cursor`: none of them up to that number is yet to come."""
    # In this order: an event between the two reads is among the rows, and not taken for a gap.
    last = last_seq(session_id)
    rows = events.after(session_id, cursor, BATCH)
    return max([last, *(row["seq"] for row in rows[-1:])]), rows


def last_seq(session_id: UUID) -> int:
    found = Session.objects.filter(pk=session_id).values_list("event_seq", flat=True).first()
    return found or 0


def refusal(session_id: UUID, scope: dict[str, Any]) -> int | None:
    """The close code for who is signed out or does not own the session; None for who may stay."""
    request = HttpRequest()
    # A session of its own: the one in the scope remembers what it read when the socket was opened.
    request.session = scope["session"].__class__(scope["session"].session_key)
    user = get_user(request)
    if not user.is_authenticated or user.pk != scope["user"].pk:
        return SIGNED_OUT
    return None if Session.objects.owned_by(user).filter(pk=session_id).exists() else NO_SUCH_SESSION


def owned(session_id: UUID, user: User) -> Session:
    session = Session.objects.owned_by(user).select_related("endpoint").filter(pk=session_id).first()
    if session is None:
        raise Refused("gone", "This conversation is gone.")
    return session


def branch_of(session: Session, branch_id: UUID | None) -> Branch:
    branches = session.branches.all()
    branch = branches.filter(Q(pk=branch_id) if branch_id else Q(parent=None)).first()
    if branch is None:
        raise Refused("no_such_branch", "There is no such branch here.")
    return branch


def turn_numbered(session_id: UUID, user: User, branch_id: UUID | None, number: int) -> Turn:
    branch = branch_of(owned(session_id, user), branch_id)
    turn = branch_turns(branch).select_related("run", "session__endpoint").filter(number=number).first()
    if turn is None:
        raise Refused("no_such_turn", f"There is no turn {number} here.")
    return turn


def described(turn: Turn, run: Run) -> dict[str, Any]:
    return {"turn": turn.number, "run": str(run.pk), "state": str(run.state)}


def send(
    session_id: UUID, user: User, *, branch_id: UUID | None, text: str, client_id: str, **how: bool
) -> dict[str, Any]:
    session = owned(session_id, user)
    branch = branch_of(session, branch_id)
    typed = actions.take_typed(session, text=text, client_id=client_id, actor=user, branch=branch, **how)
    return {"client_id": client_id, **typed.made}


def stop(session_id: UUID, user: User, *, run_id: UUID) -> dict[str, Any]:
    run = Run.objects.select_related("turn").filter(pk=run_id, turn__session=owned(session_id, user)).first()
    if run is None:
        raise Refused("no_such_run", "There is no such run here.")
    return described(run.turn, actions.stop_run(run, actor=user))


def cancel(session_id: UUID, user: User, *, branch_id: UUID | None, number: int) -> dict[str, Any]:
    actions.cancel_turn(turn_numbered(session_id, user, branch_id, number), actor=user)
    return {"turn": number}


def retry(session_id: UUID, user: User, *, branch_id: UUID | None, number: int, changes: Any) -> dict[str, Any]:
    turn = turn_numbered(session_id, user, branch_id, number)
    if not isinstance(changes, dict | None):
        raise Refused("bad_changes", "Changes must be an object.")
    return described(turn, actions.retry_turn(turn, actor=user, changes=changes))
