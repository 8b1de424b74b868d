"""Processes of `manage.py` that are forked from one that has read the code: most of what a start costs is done once."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

from tests.house.process import ROOT, environment


class Child:
    """As much of `subprocess.Popen` as is needed of a process that is not one's own child."""

    def __init__(self, pid: int, said: Path) -> None:
        self.handle = os.pidfd_open(pid)
        self.stdout = said.open()

    def send_signal(self, how: signal.Signals) -> None:
        signal.pidfd_send_signal(self.handle, how)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def lives(self, seconds: float = 0) -> bool:
        """After so many seconds, or sooner where it has ended."""
        return not select.select([self.handle], [], [], seconds)[0]

    def poll(self) -> int | None:
        return None if self.lives() else 0

    def wait(self, timeout: float) -> None:
        if self.lives(timeout):
            raise subprocess.TimeoutExpired("manage.py", timeout)


class Parent:
    def __init__(self, **settings: str) -> None:
        command = [sys.executable, "-u", "-m", "tests.server.forking"]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            command, cwd=ROOT, env=environment(settings), stdin=pipe, stdout=pipe, text=True
        )
        self.asking = threading.Lock()
        self.folder = tempfile.TemporaryDirectory()

    def start(self, *arguments: str) -> Child:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        with self.asking:
            said = Path(tempfile.mktemp(dir=self.folder.name))
            os.mkfifo(said)
            self.process.stdin.write(json.dumps([str(said), *arguments]) + "\n")
            self.process.stdin.flush()
            return Child(int(self.process.stdout.readline()), said)

    def close(self) -> None:
        self.process.communicate()
        self.folder.cleanup()


def main() -> None:
    import django

    os.environ["DJANGO_SETTINGS_MODULE"] = "ccmweb.settings"
    django.setup()
    # Nobody waits for a child here; one that has ended is to be gone, as others look for it by its number.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    for line in sys.stdin:
        said, *arguments = json.loads(line)
        if pid := os.fork():
            print(pid, flush=True)  # noqa: T201  # to who asked
        else:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            become(said, arguments)


def become(said: str, arguments: list[str]) -> None:
    from django.core.management import execute_from_command_line

    out = os.open(said, os.O_WRONLY)
    for place in (1, 2):
        os.dup2(out, place)
    # The loop that is made with these would be one for all children.
    for name in ("twisted.internet.reactor", "daphne.server", "daphne.http_protocol", "daphne.ws_protocol"):
        del sys.modules[name]
    execute_from_command_line(["manage.py", *arguments])
    sys.exit()


if __name__ == "__main__":
    main()
