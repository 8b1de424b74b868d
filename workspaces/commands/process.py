"""One command in a process of its own: its output as it comes, and how it ended."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from workspaces.domain.states import CommandEnd

GUARD = Path(__file__).with_name("guard.py")
# Bytes of one read; seconds between two signs of life; beyond its time, until whoever watches it is no longer trusted.
CHUNK = 65_536
SIGN = 0.5
LATE = 30
# How the guard tells it.
TOLD = {
    "exit": CommandEnd.EXIT,
    "time": CommandEnd.TIME,
    "memory": CommandEnd.MEMORY,
    "processes": CommandEnd.PROCESSES,
    "unstarted": CommandEnd.UNSTARTED,
}
# Of the server's environment what tools need to be found and to write; nothing that is a secret.
PASSED = ("PATH", "HOME", "USER", "LOGNAME", "LANG", "LANGUAGE", "TZ", "TMPDIR")
PLAIN = {"TERM": "dumb", "NO_COLOR": "1", "CI": "1", "PYTHONUNBUFFERED": "1"}


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Seconds; bytes of output; bytes of memory of all processes together; processes with their threads."""

    seconds: int
    output: int
    memory: int
    processes: int


@dataclass(frozen=True, kw_only=True)
class Ended:
    """`code`: the exit status, below 0 the number of a signal, where there is one."""

    how: CommandEnd
    code: int | None
    output: bytes
    why: str = ""


# What has come so far; the answer ends the command where it names a reason.
Tell = Callable[[bytes], CommandEnd | None]


def environment(more: Sequence[str] = ()) -> Mapping[str, str]:
    """What a command is given of the server's environment; `more`: names that the operator passes on beside."""
    names = [*PASSED, *(name for name in os.environ if name.startswith("LC_")), *more]
    return {**PLAIN, **{name: os.environ[name] for name in names if name in os.environ}}


def execute(argv: Sequence[str], folder: str, limits: Limits, given: Mapping[str, str], tell: Tell) -> Ended:
    """Never by a shell. `tell` is called every half second at least. Raises `OSError` where no process can be made."""
    asked = json.dumps({"seconds": limits.seconds, "memory": limits.memory, "processes": limits.processes})
    with subprocess.Popen(
        # Without what the folder or the environment would add to the interpreter.
        [sys.executable, "-I", "-S", str(GUARD), asked, *argv],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=folder,
        env=dict(given),
        start_new_session=True,
    ) as guard:
        try:
            reading = Reading(guard, limits, tell)
            reading.to_the_end()
            return ended(guard, bytes(reading.output), reading.how)
        finally:
            # Whatever goes wrong here, nothing of the command goes on.
            kill(guard)


class Reading:
    """Of what a command prints, until its end: `how` is why it was told to stop, where it was."""

    def __init__(self, guard: subprocess.Popen[bytes], limits: Limits, tell: Tell) -> None:
        self.guard, self.limits, self.tell = guard, limits, tell
        self.output = bytearray()
        self.how: CommandEnd | None = None
        self.is_closed = False
        self.stream = given(guard.stdout)
        # Not select(), which takes no file above number 1,023: a server with many sockets has such.
        self.more = select.poll()
        self.more.register(self.stream, select.POLLIN)

    def to_the_end(self) -> None:
        told, began = 0.0, time.monotonic()
        while self.take():
            if time.monotonic() - told >= SIGN:
                told = time.monotonic()
                if reason := self.tell(bytes(self.output)):
                    self.stop(reason)
            if time.monotonic() - began > self.limits.seconds + LATE:
                self.how = self.how or CommandEnd.TIME
                return

    def take(self) -> bool:
        """Wait a little for more; False once it has ended."""
        if self.is_closed:
            # A command may go on that writes elsewhere.
            with suppress(subprocess.TimeoutExpired):
                self.guard.wait(SIGN)
            return self.guard.poll() is None
        if not self.more.poll(SIGN * 1_000):
            # Of a guard that its own command has ended something may still hold the output.
            return self.guard.poll() is None
        chunk = os.read(self.stream.fileno(), CHUNK)
        # What comes after it was told to stop is read and dropped, so that nothing waits for room.
        room = self.limits.output - len(self.output)
        self.output += chunk[:room]
        if len(chunk) > room:
            self.stop(CommandEnd.OUTPUT)
        self.is_closed = not chunk
        return True

    def stop(self, how: CommandEnd) -> None:
        if self.how is None:
            self.how = how
            stop(self.guard, gently=how == CommandEnd.PERSON)


def stop(guard: subprocess.Popen[bytes], *, gently: bool) -> None:
    stream = given(guard.stdin)
    with suppress(OSError):
        if gently:
            stream.write(b".")
            stream.flush()
        else:
            stream.close()


def ended(guard: subprocess.Popen[bytes], output: bytes, how: CommandEnd | None) -> Ended:
    try:
        guard.wait(LATE)
    except subprocess.TimeoutExpired:
        kill(guard)
    lines = given(guard.stderr).read().decode(errors="replace").strip().split("\n")
    try:
        told = json.loads(lines[-1])
        said, code, why = TOLD.get(told["how"]), told["code"], told["why"]
    except (ValueError, KeyError, TypeError):
        said, code, why = None, None, ""
    return Ended(how=how or said or CommandEnd.LOST, code=code, output=output, why=why)


def kill(guard: subprocess.Popen[bytes]) -> None:
    with suppress(OSError):
        os.killpg(guard.pid, signal.SIGKILL)
    guard.kill()


def given(stream: IO[bytes] | None) -> IO[bytes]:
    if stream is None:
        raise TypeError("The guard is always started with pipes.")
    return stream
