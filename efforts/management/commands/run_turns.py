"""Answer turns in a process of its own, for web processes with CCM_RUNNER=worker."""

from __future__ import annotations

import asyncio
import signal
from contextlib import suppress
from typing import Any

from django.conf import settings

from efforts.management.base import DatabaseCommand
from efforts.models.threads import keep_for_good, share_among_threads
from efforts.turns.runner import PROCESS, Runner, stop


class Command(DatabaseCommand):
    help = "Answer the turns that wait in the database, until the process is ended."

    def handle(self, *args: Any, **options: Any) -> None:
        self.stdout.write(f"Runner {PROCESS} answers up to {settings.CCM_MAX_RUNS} turns at a time.")
        self.stdout.flush()
        share_among_threads()
        keep_for_good()
        asyncio.run(work())


async def work() -> None:
    """Run until SIGTERM or SIGINT; what was being answered is then marked interrupted with its text kept."""
    runner = Runner()
    working = asyncio.create_task(runner.run())
    asked = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        # Without this SIGTERM kills at once, and what was being answered waits for another runner to find it.
        loop.add_signal_handler(number, asked.set)
    waiting = asyncio.create_task(asked.wait())
    # Either may be first: asked to end, or ended by a fault.
    await asyncio.wait({working, waiting}, return_when=asyncio.FIRST_COMPLETED)
    waiting.cancel()
    await stop(runner, working)
    # A fault that ended it is raised here, and becomes the exit status.
    with suppress(asyncio.CancelledError):
        await working
