"""The numbered event log of a session, and the doorbell that says it has grown.

The log is the truth. The doorbell (the channel layer) may lose a ring without harm: the numbers show the gap, and who
listens also looks from time to time.
"""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import partial
from secrets import token_hex
from threading import Lock
from typing import TYPE_CHECKING, Any
from uuid import UUID

from asgiref.sync import async_to_sync
from channels.layers import get_channel_layer
from django.db import transaction
from django.db.models import F, QuerySet

from efforts.domain.effort.notices import told
from efforts.domain.seals import seal_of
from efforts.models import AccountEvent, Effort, Event, Session
from efforts.models.prepared import prepared

if TYPE_CHECKING:
    from django.contrib.auth.models import User

log = logging.getLogger("ccm.events")

# Groups of the channel layer: who claims turns, and who has pages open.
RUNNERS, PAGES = "runners", "pages"
DELTA = "delta"
THINKING = "thinking"
# Text on its way: these rows go when what they carry stands.
STREAMED = (DELTA, THINKING)
# Of an account: what is kept for a time only has gone.
RECORDS_REMOVED = "old records removed"

# Nobody did it: nothing referred to the effort, or to the chosen turns, any more.
AGED_EVENTS = ("effort.decayed", "compaction.decayed")
# Which fields of events of these families are ids of efforts.
ABOUT_EFFORTS = ("effort.", "turn.moved")
IDS = ("effort", "next", "target")

Last = Mapping[UUID, tuple[int, str]]


def append(
    session_id: UUID, kind: str, data: Mapping[str, Any] | None = None, *, actor: User | None = None, **changes: Any
) -> int:
    """Write one event inside the caller's transaction; its number. Rings when the transaction is committed.

    `changes`: columns of the session that change with it.
    """
    event = Event(session_id=session_id, kind=kind, data=dict(data or {}), actor=actor)
    append_all([event], **changes)
    return event.seq


@transaction.atomic(savepoint=False)
def append_all(rows: Sequence[Event], **changes: Any) -> None:
    """Number and write events of one or many sessions."""
    sessions = {row.session_id for row in rows}
    last = lock(sessions)
    if len(last) < len(sessions):
        raise Session.DoesNotExist(sessions - last.keys())
    append_locked(rows, last, **changes)


def lock(sessions: Collection[UUID]) -> Last:
    """Of sessions number and seal of the last event."""
    # Locked, so that numbers are committed in their order; in one order, or two processes would wait for each other.
    return {pk: (seq, seal) for pk, seq, seal in locked(list(sessions))}


@prepared
def locked(sessions: list[UUID]) -> QuerySet[Session, tuple[UUID, int, str]]:
    rows = Session.objects.select_for_update().filter(pk__in=sessions).order_by("pk")
    return rows.values_list("pk", "event_seq", "event_seal")


def append_locked(rows: Sequence[Event], last: Last, **changes: Any) -> None:
    """Events of sessions that the caller's transaction has locked. Text on its way takes as many statements for many
    as for one."""
    of = defaultdict[UUID, list[Event]](list)
    for row in rows:
        of[row.session_id].append(row)
    more = defaultdict[int, list[UUID]](list)
    for pk, mine in of.items():
        seq, before = last[pk]
        seal = number(mine, seq, before)
        if seal == before:
            more[len(mine)].append(pk)
        else:
            Session.objects.filter(pk=pk).update(event_seq=seq + len(mine), event_seal=seal, **changes)
    for count, those in more.items():
        Session.objects.filter(pk__in=those).update(event_seq=F("event_seq") + count)
    Event.objects.bulk_create(rows)
    rings = {pk: frames(mine) for pk, mine in of.items()}
    # A ring before the commit would show text that may never be stored.
    transaction.on_commit(partial(ring, rings))


def number(rows: Sequence[Event], seq: int, seal: str) -> str:
    """Number the events of a session that follow the one of `seq` and `seal`; the seal of the last of them."""
    for row in rows:
        seq += 1
        row.seq = seq
        # What goes when its message stands cannot be part of a chain.
        if row.kind not in STREAMED:
            row.seal = seal = seal_of(seal, sealed_content(row))
    return seal


def sealed_content(row: Event) -> list[Any]:
    """Without who did it: that is emptied when the account goes."""
    return [str(row.session_id), row.seq, row.kind, row.data]


def account(owner: User, kind: str, data: Mapping[str, Any] | None = None, *, actor: User | None = None) -> None:
    AccountEvent.objects.create(owner=owner, kind=kind, data=dict(data or {}), actor=actor or owner)


def after(session_id: UUID, seq: int, limit: int = 500) -> list[dict[str, Any]]:
    """Events numbered above `seq`, oldest first, as browsers get them."""
    rows = Event.objects.filter(session_id=session_id, seq__gt=seq).order_by("seq")[:limit]
    return frames(list(rows))


def frames(rows: Sequence[Event]) -> list[dict[str, Any]]:
    """Of one session. Events have the ids of efforts, people are told names: those that efforts have now."""
    of = [ids_in(row) for row in rows]
    ids = {id for mine in of for id in mine.values()}
    names: dict[str, str] = {}
    if ids:
        names.update(Effort.objects.filter(session=rows[0].session_id, slug__in=ids).values_list("slug", "name"))
    called = [{field: names[id] for field, id in mine.items() if id in names} for mine in of]
    return [frame(row, mine) for row, mine in zip(rows, called, strict=True)]


def ids_in(row: Event) -> dict[str, str]:
    """Of efforts, by the field of the event that has each."""
    about = IDS if row.kind.startswith(ABOUT_EFFORTS) else ()
    return {field: row.data[field] for field in about if row.data.get(field)}


def frame(row: Event, names: Mapping[str, str]) -> dict[str, Any]:
    """`names`: of efforts, by the field that has the id."""
    data = dict(row.data)
    if names:
        data["names"] = names
    if "notice" in data:
        data["told"] = told(row.kind, data, names.get("effort", data.get("effort", "")))
    return {"v": 1, "seq": row.seq, "kind": row.kind, **data}


@dataclass
class Rung:
    """What has been rung and is not sent yet: of sessions what was committed and which are gone, and whether there is
    work for runners."""

    frames: defaultdict[UUID, list[dict[str, Any]]] = field(default_factory=lambda: defaultdict(list))
    gone: list[UUID] = field(default_factory=list)
    wake: bool = False

    def messages(self) -> dict[str, dict[str, Any]]:
        """By the group of the channel layer, in one for each however many sessions."""
        pages = {
            "frames": {str(session): frames for session, frames in self.frames.items()},
            "gone": [str(session) for session in self.gone],
        }
        told = {PAGES: {"type": "doorbell", **pages}} if self.frames or self.gone else {}
        return {**told, **({RUNNERS: {"type": "wake"}} if self.wake else {})}


class Doorbell:
    """From any thread, on the loop that serves this process: who listens here is told at once, the other processes
    through the channel layer."""

    loop: asyncio.AbstractEventLoop | None = None
    order: asyncio.Lock

    def __init__(self) -> None:
        self.rung = Rung()
        self.ringing = Lock()
        # By the group of the channel layer those who listen here, and what tells our messages from others'.
        self.here: dict[str, set[Callable[[dict[str, Any]], object]]] = defaultdict(set)
        self.name = token_hex(8)

    def attend(self) -> None:
        loop = asyncio.get_running_loop()
        if loop is not self.loop:
            self.loop, self.order = loop, asyncio.Lock()
            self.here.clear()

    def is_ours(self, message: Mapping[str, Any]) -> bool:
        """It came back from the layer, and has been heard here."""
        return message.get("by") == self.name

    def ring(self, ringing: Callable[[Rung], None]) -> None:
        """`ringing` adds to what is to be sent."""
        with self.ringing:
            ringing(self.rung)
        if self.loop is not None and self.loop.is_running():
            # The in-memory layer's queues belong to one loop. The thread does not wait for it: a lost ring only delays.
            future = asyncio.run_coroutine_threadsafe(self._send_in_order(), self.loop)
            future.add_done_callback(_log_failure)
        else:
            # No loop serves here, as in a command: another process may still be listening.
            async_to_sync(self._send)(self._gathered())

    async def _send_in_order(self) -> None:
        # A ring that overtakes another is taken for a gap, and everybody reads the log.
        async with self.order:
            told = self._gathered()
            for group, message in told.items():
                for hear in list(self.here[group]):
                    hear(message)
            await self._send(told)

    def _gathered(self) -> dict[str, dict[str, Any]]:
        # All that has gathered goes at once: each message takes several rounds of the loop, here and wherever it is
        # heard, and a busy loop would fall behind. Who comes after finds nothing left.
        with self.ringing:
            rung, self.rung = self.rung, Rung()
        return {group: {**message, "by": self.name} for group, message in rung.messages().items()}

    async def _send(self, told: dict[str, dict[str, Any]]) -> None:
        layer = get_channel_layer()
        if layer is None:
            return
        faults: list[BaseException] = []
        # Twice, because of a layer that has come back the old connection fails once.
        for _ in range(2):
            # Nothing is awaited for nothing: that would take a round of the loop, too.
            if not told:
                return
            sent = await asyncio.gather(*(layer.group_send(*one) for one in told.items()), return_exceptions=True)
            faults = [one for one in sent if isinstance(one, BaseException)]
            told = {group: said for (group, said), fault in zip(told.items(), sent, strict=True) if fault}
        if faults:
            raise faults[0]


def _log_failure(future: Future[None]) -> None:
    if not future.cancelled() and (error := future.exception()):
        log.warning("The doorbell did not ring: %s", error)


doorbell = Doorbell()


def ring(rings: Mapping[UUID, list[dict[str, Any]]]) -> None:
    """Tell who follows a session what was committed; who misses a ring reads the log."""

    def committed(rung: Rung) -> None:
        for session, frames in rings.items():
            rung.frames[session] += frames

    doorbell.ring(committed)


def wake_runners() -> None:
    def work(rung: Rung) -> None:
        rung.wake = True

    doorbell.ring(work)


def hang_up(session_id: UUID) -> None:
    """Tell the sockets of a deleted session that it is gone."""
    doorbell.ring(lambda rung: rung.gone.append(session_id))
