"""Who runs a command: a thread of this process, which anybody can see at work and tell to stop.

The process of the command is bound to it: a server that ends, however it does, takes its commands with it.
"""

from __future__ import annotations

import atexit
import logging
import os
import secrets
import socket
import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.utils import timezone

from workspaces.commands.process import Ended, Limits, environment, execute
from workspaces.domain.outputs import printed
from workspaces.domain.states import CommandEnd, CommandState
from workspaces.models import CommandRun

log = logging.getLogger("ccm.workspaces")

# Seconds after which whoever runs it and gives no sign of life is gone; for which an ending server waits for its own.
GONE = 30
PARTING = 5
# Called with what ended, where it has been running until then: it tells the conversation.
Settle = Callable[[CommandRun, Ended], object]

ending = threading.Event()
at_work: set[threading.Thread] = set()


def limits() -> Limits:
    return Limits(
        seconds=settings.CCM_COMMAND_SECONDS,
        output=settings.CCM_COMMAND_OUTPUT_BYTES,
        memory=settings.CCM_COMMAND_MEMORY_BYTES,
        processes=settings.CCM_COMMAND_PROCESSES,
    )


def new_key() -> str:
    return f"{socket.gethostname()}/{os.getpid()}/{secrets.token_hex(4)}"


def start(command: CommandRun, folder: str, settle: Settle) -> None:
    """Run it in the background, when the caller's transaction is committed."""
    thread = threading.Thread(target=in_thread, args=[command, folder, settle], name=f"command-{command.pk}")
    thread.daemon = True
    transaction.on_commit(thread.start)


def in_thread(command: CommandRun, folder: str, settle: Settle) -> None:
    at_work.add(threading.current_thread())
    try:
        run(command, folder, settle)
    finally:
        at_work.discard(threading.current_thread())
        connection.close()


def run(command: CommandRun, folder: str, settle: Settle) -> None:
    """However it ends is stored."""
    mine = CommandRun.objects.filter(pk=command.pk, runner=command.runner, state=CommandState.RUNNING)
    length = -1

    def tell(output: bytes) -> CommandEnd | None:
        nonlocal length
        values: dict[str, Any] = {"alive_at": timezone.now()}
        if len(output) != length:
            length = len(output)
            values |= {"output": printed(output), "output_bytes": length}
        # Nobody's any more where its conversation was deleted.
        if not mine.update(**values):
            return CommandEnd.LOST
        if ending.is_set():
            return CommandEnd.SERVER
        return CommandEnd.PERSON if mine.exclude(cancel_requested_at=None).exists() else None

    try:
        given = environment(settings.CCM_COMMAND_ENVIRONMENT)
        ended = execute(command.argv, folder, limits(), given, tell)
    except OSError as error:
        ended = Ended(how=CommandEnd.UNSTARTED, code=None, output=b"", why=error.strerror or str(error))
    # The only broad except: whatever it is, the person finds a command that has ended.
    except Exception:
        log.exception("Command %s was not run to its end.", command.pk)
        ended = Ended(how=CommandEnd.LOST, code=None, output=b"")
    settle(command, ended)


def is_lost(command: CommandRun) -> bool:
    """Whoever ran it is gone, and it with them."""
    alive = command.alive_at or command.started_at
    return command.state == CommandState.RUNNING and bool(alive and alive < timezone.now() - timedelta(seconds=GONE))


def end_all() -> None:
    """When the server ends: what runs is told to stop, and its end is stored."""
    ending.set()
    for thread in list(at_work):
        thread.join(PARTING)


atexit.register(end_all)
