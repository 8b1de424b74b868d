"""The numbered event log of a session, and the doorbell that says it has grown.

The log is the truth. The doorbell (the channel layer) may lose a ring without harm: who listens also looks from
time to time.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Mapping
from concurrent.futures import Future
from functools import partial
from typing import TYPE_CHECKING, Any
from uuid import UUID

from asgiref.sync import async_to_sync
from channels.layers import get_channel_layer
from django.db import transaction
from django.db.models import F

from efforts.models import AccountEvent, Event, Session

if TYPE_CHECKING:
    from django.contrib.auth.models import User

log = logging.getLogger("ccm.events")

RUNNERS = "runners"
DELTA = "delta"


def session_group(session_id: UUID) -> str:
    return f"session.{session_id}"


def append(session_id: UUID, kind: str, data: Mapping[str, Any] | None = None, *, actor: User | None = None) -> int:
    """Write one event inside the caller's transaction; its number. Rings when the transaction is committed."""
    return append_many(session_id, [(kind, data or {})], actor=actor)


def append_many(
    session_id: UUID, entries: Iterable[tuple[str, Mapping[str, Any]]], *, actor: User | None = None
) -> int:
    entries = list(entries)
    # The update locks the session's row, so that numbers are committed in their order.
    Session.objects.filter(pk=session_id).update(event_seq=F("event_seq") + len(entries))
    last: int = Session.objects.values_list("event_seq", flat=True).get(pk=session_id)
    first = last - len(entries) + 1
    Event.objects.bulk_create(
        Event(session_id=session_id, seq=seq, kind=kind, data=dict(data), actor=actor)
        for seq, (kind, data) in enumerate(entries, first)
    )
    # A ring before the commit would have listeners look too early, find nothing, and go back to sleep.
    transaction.on_commit(partial(ring, session_id))
    return last


def account(owner: User, kind: str, data: Mapping[str, Any] | None = None, *, actor: User | None = None) -> None:
    AccountEvent.objects.create(owner=owner, kind=kind, data=dict(data or {}), actor=actor or owner)


def after(session_id: UUID, seq: int, limit: int = 500) -> list[dict[str, Any]]:
    """Events numbered above `seq`, oldest first, as browsers get them."""
    rows = Event.objects.filter(session_id=session_id, seq__gt=seq).order_by("seq")[:limit]
    return [{"v": 1, "seq": row.seq, "kind": row.kind, **row.data} for row in rows]


class Doorbell:
    """Sends through the channel layer from any thread, on the loop that serves this process."""

    loop: asyncio.AbstractEventLoop | None = None

    def attend(self) -> None:
        self.loop = asyncio.get_running_loop()

    def send(self, group: str, message: dict[str, Any]) -> None:
        layer = get_channel_layer()
        if layer is None:
            return
        if self.loop is not None and self.loop.is_running():
            # The in-memory layer's queues belong to one loop. The thread does not wait for it: a lost ring only delays.
            future = asyncio.run_coroutine_threadsafe(layer.group_send(group, message), self.loop)
            future.add_done_callback(_log_failure)
        else:
            # No loop serves here, as in a command: another process may still be listening.
            async_to_sync(layer.group_send)(group, message)


def _log_failure(future: Future[None]) -> None:
    if not future.cancelled() and (error := future.exception()):
        log.warning("The doorbell did not ring: %s", error)


doorbell = Doorbell()


def ring(session_id: UUID) -> None:
    doorbell.send(session_group(session_id), {"type": "doorbell"})


def wake_runners() -> None:
    doorbell.send(RUNNERS, {"type": "wake"})


def hang_up(session_id: UUID) -> None:
    """Tell the sockets of a deleted session that it is gone."""
    doorbell.send(session_group(session_id), {"type": "hang.up"})
