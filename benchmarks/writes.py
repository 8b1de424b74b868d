"""What one turn writes: statements and transactions, counted in the process that answers it."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from typing import Any

from channels.layers import get_channel_layer
from django.contrib.auth.models import User
from django.db import connection
from django.db.backends.signals import connection_created

from efforts import actions
from efforts.context.planning import main_branch
from efforts.log import events
from efforts.models import Session
from efforts.models.threads import read, write
from efforts.pages.presenters.chat import turn_view
from efforts.turns.runner import Runner

WRITES = ("INSERT", "UPDATE", "DELETE")


def writes_per_turn(owner: User) -> dict[str, int]:
    """Of a short turn on the built-in engine, from the message to its settling."""
    counted: Counter[str] = Counter()

    def note(execute: Callable[..., Any], sql: str, params: Any, many: bool, context: dict[str, Any]) -> Any:
        word = sql.split(" ", 1)[0].upper()
        counted["transactions"] += word == "BEGIN"
        counted["statements"] += word in WRITES
        return execute(sql, params, many, context)

    def watch(connection: Any, **kwargs: Any) -> None:
        connection.execute_wrappers.append(note)

    # Every thread makes a connection of its own; this one's, already made, is closed to be made again.
    connection_created.connect(watch)
    connection.close()
    asyncio.run(one_turn(actions.create_session(owner), counted))
    return dict(counted)


async def one_turn(session: Session, counted: Counter[str]) -> None:
    runner = Runner()
    task = asyncio.create_task(runner.run())
    layer = get_channel_layer()
    channel = await layer.new_channel()
    await layer.group_add(events.PAGES, channel)
    # What a runner writes when it starts belongs to no turn.
    counted.clear()
    await write(actions.send_message, session, text="What can you do here?", client_id="bench", actor=session.owner)
    branch = await read(main_branch, session)
    while (turn := await read(turn_view, branch, 1)) is None or turn.state != "completed":
        await layer.receive(channel)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
