"""The socket of one browser tab: relays a session's event log and takes short commands. It never runs a turn."""

from __future__ import annotations

import asyncio
import json
import logging
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from contextvars import Context, copy_context
from typing import Any, ClassVar
from uuid import UUID
from weakref import WeakValueDictionary

from autobahn.exception import Disconnected
from channels.consumer import AsyncConsumer, get_handler_name
from channels.exceptions import StopConsumer
from django.conf import settings
from django.contrib.auth import get_user
from django.contrib.auth.models import User
from django.contrib.sessions.backends.db import SessionStore
from django.db import DatabaseError
from django.db.models import QuerySet
from django.http import HttpRequest, parse_cookie
from django.utils import translation

from efforts import actions
from efforts.context.planning import main_branch
from efforts.domain.errors import Refused
from efforts.log import events
from efforts.log.concerned import concern
from efforts.models import Branch, Session
from efforts.models.faults import told_of
from efforts.models.prepared import prepared
from efforts.models.said import said
from efforts.models.threads import read, write
from efforts.turns import verbs
from efforts.turns.listeners import Listeners, listeners, standing

log = logging.getLogger("ccm.sockets")

# The frames of a socket are handled one after the other: a Stop must not wait behind a novel.
LARGEST_FRAME = 64 * 1024
BATCH = 500

# The browser comes back: the channel layer was away, or its person has too many pages open.
DEAF, TOO_MANY = 4503, 4429
# Who sends more than their share is answered so much later, in seconds: a page that sends without a pause then asks
# twice a second.
BEYOND_SHARE, REFUSED_PAUSE = ("too_fast", "too_many_waiting"), 0.5

# Of this process, by person.
open_sockets: Counter[int] = Counter()
# Kept while somebody holds one or waits for it.
send_gates: WeakValueDictionary[int, asyncio.Lock] = WeakValueDictionary()


class BadFrame(Exception):
    """A frame that does not say what it should."""

    def __init__(self, text: str, code: str = "bad_frame", frame: dict[str, Any] | None = None) -> None:
        super().__init__(text)
        self.code = code
        self.frame = frame


class SessionConsumer(AsyncConsumer):  # type: ignore[misc]  # channels has no types
    """Server frames from the log carry `seq`; a gap in the numbers is answered by `resync` (docs/events.md)."""

    session_id: UUID
    # Of the person: their row is read when it is needed, and not kept for as long as a page is open.
    user_id: int
    signed_in: str | None
    # What tasks are begun in that others ask for.
    context: Context
    listeners: Listeners
    cursor: int | None = None
    closed = False
    counted = False
    rung = False
    telling: asyncio.Task[None] | None = None
    closing: asyncio.Task[None] | None = None

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Unlike the parent's it listens to no channel of its own; see `listeners`."""
        self.scope, self.base_send = scope, send
        self.pushed: list[dict[str, Any]] = []
        self.listeners = listeners()
        try:
            while True:
                await self.dispatch(await receive())
        except StopConsumer:
            pass
        finally:
            self.leave()
            await self.listeners.drop(self)

    async def dispatch(self, message: dict[str, Any]) -> None:
        # Without the parent's detour through the one thread that all sockets share.
        await getattr(self, get_handler_name(message))(message)

    async def websocket_connect(self, message: dict[str, Any]) -> None:
        self.session_id = self.scope["url_route"]["kwargs"]["session_id"]
        request = request_of(self.scope)
        self.signed_in = request.COOKIES.get(settings.SESSION_COOKIE_NAME)
        self.user_id, language = await read(asking, request, self.signed_in)
        translation.activate(language)
        # For all that this socket does from here on, in the tasks that it starts too.
        concern(user=self.user_id or None, session=self.session_id)
        self.context = copy_context()
        # Accepted even to be refused: of a failed handshake a browser learns no code.
        await self.base_send({"type": "websocket.accept"})
        if not await self.may_stay():
            return
        if open_sockets[self.user_id] >= settings.CCM_PERSON_SOCKETS:
            await self.send_error("too_many_pages", "You have too many conversations open. Close some of their pages.")
            await self.close(TOO_MANY)
            return
        open_sockets[self.user_id] += 1
        self.counted = True
        events.doorbell.attend()
        # Joined before the first look at the log, so that no event falls between the two.
        await self.reached(self.listeners.add(self))

    async def websocket_disconnect(self, message: dict[str, Any]) -> None:
        raise StopConsumer

    def leave(self) -> None:
        """However it ends: a fault, or a server that waits no longer, ends it without a word."""
        self.closed = True
        if self.counted:
            self.counted = False
            open_sockets[self.user_id] -= 1
            # The keys of people who left would gather.
            if not open_sockets[self.user_id]:
                del open_sockets[self.user_id]
        if self.telling:
            self.telling.cancel()

    async def reached(self, joining: Awaitable[BaseException | None]) -> bool:
        """Whether the channel layer did it. Who cannot be rung is told nothing any more, and has to come anew."""
        fault = await joining
        if fault and not self.closed:
            log_deaf(fault)
            await self.close(DEAF)
        return not self.closed

    def hear_nothing(self, fault: BaseException) -> None:
        if not self.closed:
            log_deaf(fault)
            self.close_soon(DEAF)

    def hear(self, frames: list[dict[str, Any]]) -> None:
        self.pushed += frames
        self.ring()

    def stand_at(self, seq: int) -> None:
        if self.cursor is not None and seq != self.cursor:
            self.ring()

    def close_soon(self, code: int) -> None:
        self.closing = asyncio.create_task(self.close(code), context=self.context)

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
        except DatabaseError as error:
            told = told_of(error)
            await self.send_error(told.code, told.text, frame)

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
        self.ring()

    async def on_ping(self, frame: dict[str, Any]) -> None:
        # The layer in memory drops members whose rings stay unread for a minute; Redis may be gone, which nobody hears.
        if await self.may_stay() and await self.reached(self.listeners.renew()):
            self.ring()
            await self.send_json({"kind": "pong"})

    async def on_ack(self, frame: dict[str, Any]) -> None:
        """Nothing to do: what a browser has is known from its next hello."""

    async def on_send(self, frame: dict[str, Any]) -> None:
        text, client_id = need(frame, "text", str), need(frame, "client_id", str)
        how = {name: frame.get(name) is True for name in ("cut", "aside", "plain")}
        asked = {"text": text, "client_id": client_id, "plain": how["plain"]}
        # One of a person after the other, so that none is beyond what was checked, their pauses too: all their pages
        # together ask no faster than one.
        async with send_gates.setdefault(self.user_id, asyncio.Lock()):
            try:
                # Where writes go through one thread, those of all others would stand behind refusals.
                await read(self.check_send, asked)
            except Refused as error:
                if error.code in BEYOND_SHARE:
                    await asyncio.sleep(REFUSED_PAUSE)
                raise
            values = {"text": text, "client_id": client_id, "files": frame.get("files"), "checked": True}
            await self.command(frame, verbs.send, **values, **how)

    async def on_stop(self, frame: dict[str, Any]) -> None:
        await self.command(frame, verbs.stop, run_id=need_id(frame, "run"))

    async def on_cancel(self, frame: dict[str, Any]) -> None:
        await self.command(frame, verbs.cancel, number=need(frame, "turn", int))

    async def on_retry(self, frame: dict[str, Any]) -> None:
        await self.command(frame, verbs.retry, number=need(frame, "turn", int), changes=frame.get("changes"))

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
        # Without one it is about the main branch.
        branch = need_id(frame, "branch") if frame.get("branch") is not None else None
        result = await write(self.done, verb, branch, values)
        await self.send_json({"kind": "ack", "of": frame["kind"], **result})

    def check_send(self, asked: dict[str, Any]) -> None:
        session = owned(self.session_id, self.user_id)
        actions.check_typed(session, actor=session.owner, **asked)

    def done(
        self, verb: Callable[..., dict[str, Any]], branch_id: UUID | None, values: dict[str, Any]
    ) -> dict[str, Any]:
        session = owned(self.session_id, self.user_id)
        return verb(branch_of(session, branch_id), session.owner, **values)

    # The log

    def ring(self) -> None:
        """Look at the log; once more, where that is being done."""
        self.rung = True
        self.look()

    def look(self) -> None:
        if self.telling is None and not self.closed:
            self.telling = asyncio.create_task(self.tell(), context=self.context)
            self.telling.add_done_callback(self.told)

    async def tell(self) -> None:
        while not self.closed:
            try:
                await self.relay_new()
            except DatabaseError:
                log.warning("A socket could not read the log; it looks again.", exc_info=True)
            if not self.rung:
                break

    def told(self, telling: asyncio.Task[None]) -> None:
        """A fault that nobody foresaw closes the socket: it would stay open and silent."""
        self.telling = None
        if telling.cancelled() or self.closed:
            return
        if fault := telling.exception():
            log.error("A socket cannot be told what is new (%r); it is closed, to come back.", fault)
            self.close_soon(DEAF)
        elif self.rung:
            self.look()

    async def relay_new(self) -> None:
        # Before reading: a ring that comes during the read then leads to another look.
        self.rung = False
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
                await self.send_event(frame)
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
            await self.send_event(row)
        # What is missing may also be the end of the log, where no higher number would show the gap; and where the
        # database broke down and has come back, what was sent last may never have been.
        if not rows and last != cursor == self.cursor:
            await self.resync(last)
        return len(rows) == BATCH

    async def resync(self, seq: int) -> None:
        self.cursor = seq
        await self.send_json({"kind": "resync", "seq": seq})

    # Frames to the browser

    async def may_stay(self) -> bool:
        [(code, _)] = await read(standing, [self])
        if code:
            await self.close(code)
        return code is None

    async def close(self, code: int) -> None:
        if self.closed:
            return
        # Before anything is awaited, so that the relay begins no further round.
        self.closed = True
        await self.send_json({"kind": "gone", "code": code})
        await self.put({"type": "websocket.close", "code": code})

    async def send_error(self, code: str, text: str, frame: dict[str, Any] | None = None) -> None:
        about: dict[str, Any] = (
            {key: frame[key] for key in ("client_id", "turn", "run") if key in frame} if frame else {}
        )
        await self.send_json(
            {"kind": "error", "code": code, "text": said(text), "of": frame and frame["kind"], **about}
        )

    async def send_event(self, frame: dict[str, Any]) -> None:
        """In the reader's language what is read out."""
        of_pin = ("what", "until") if frame["kind"].startswith("hold.") else ()
        await self.send_json({**frame, **{name: said(frame[name]) for name in ("told", *of_pin) if name in frame}})

    async def send_json(self, frame: dict[str, Any]) -> None:
        await self.put({"type": "websocket.send", "text": json.dumps({"v": 1, **frame})})

    async def put(self, message: dict[str, Any]) -> None:
        # Whoever leaves just now is no fault: what they were to hear they are told when they come back.
        with suppress(Disconnected):
            await self.base_send(message)


def log_deaf(fault: BaseException) -> None:
    log.warning("The channel layer does not answer (%r); a socket is closed, to come back.", fault)


def request_of(scope: dict[str, Any]) -> HttpRequest:
    """What Django's own need of it."""
    headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
    request = HttpRequest()
    request.COOKIES = parse_cookie(headers.get(b"cookie", ""))
    request.META["HTTP_ACCEPT_LANGUAGE"] = headers.get(b"accept-language", "")
    return request


def asking(request: HttpRequest, signed_in: str | None) -> tuple[int, str]:
    """Who it is, 0 for nobody, and the language that the pages of this browser speak."""
    request.session = SessionStore(signed_in)
    chosen: str = request.session.get("language", "")
    return get_user(request).pk or 0, chosen or translation.get_language_from_request(request)


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


def news(session_id: UUID, cursor: int) -> tuple[int, list[dict[str, Any]]]:
    """The number of the last event, and the events after `cursor`: none of them up to that number is yet to come."""
    # In this order: an event between the two reads is among the rows, and not taken for a gap.
    last = last_seq(session_id)
    rows = events.after(session_id, cursor, BATCH)
    return max([last, *(row["seq"] for row in rows[-1:])]), rows


def last_seq(session_id: UUID) -> int:
    found = Session.objects.filter(pk=session_id).values_list("event_seq", flat=True).first()
    return found or 0


def owned(session_id: UUID, user_id: int) -> Session:
    for session in owned_sessions(session_id, user_id):
        return session
    raise Refused("gone", "This conversation is gone.")


@prepared
def owned_sessions(session_id: UUID, user_id: int) -> QuerySet[Session]:
    mine = Session.objects.owned_by(User(pk=user_id))
    return mine.select_related("owner", "endpoint").filter(pk=session_id)


def branch_of(session: Session, branch_id: UUID | None) -> Branch:
    if branch_id is None:
        return main_branch(session)
    branch = session.branches.filter(pk=branch_id).first()
    if branch is None:
        raise Refused("no_such_branch", "There is no such branch here.")
    return branch
