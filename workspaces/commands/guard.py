"""A process that runs one command, watches all that it starts, and ends all of it at the first limit.

It is a program of its own, of the standard library alone: `guard.py LIMITS ARGV...`, LIMITS being JSON with `seconds`,
`memory` (bytes of all processes together) and `processes` (with threads). A byte on its standard input ends the command
gently; the end of that input at once, so that nothing outlives the program that started it. Its last line on stderr is
JSON: `how` it ended, with the `code` of the command's exit status, below 0 the number of a signal.

What a command leaves behind when its parents end becomes a child of this process (a subreaper), in whatever session or
group it has put itself: so nothing gets away from the count, nor from the end. Needs /proc, and so Linux.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import select
import signal
import subprocess
import sys
import time
from collections import defaultdict
from dataclasses import dataclass
from typing import Any

PR_SET_CHILD_SUBREAPER = 36
# Seconds between two looks at how many there are, and at each of them; after a gentle signal, until the hard one; until
# all must be gone.
LOOK = 0.01
CLOSE_LOOK = 0.1
GRACE = 2.0
PATIENCE = 10.0
# Below what serves people; lower still where this process cannot be put above it, and has to keep up with it.
NICE, LOWEST = 10, 19
PAGE = os.sysconf("SC_PAGE_SIZE")
UNSTARTED = 127


@dataclass(frozen=True)
class Process:
    pid: int
    threads: int
    memory: int
    is_dead: bool


def main() -> None:
    limits, argv = json.loads(sys.argv[1]), sys.argv[2:]
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "This system cannot hold together what a command starts.")
    # It is meant for the command, which is in the group of this process; a command does not inherit a handler.
    signal.signal(signal.SIGTERM, lambda *_: None)
    most = tasks_of_user() + limits["processes"]
    nice = NICE if put_above() else LOWEST
    try:
        command = subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stderr=subprocess.STDOUT,
            preexec_fn=lambda: set_limits(limits, most, nice),
        )
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        tell("unstarted", UNSTARTED, getattr(error, "strerror", None) or str(error))
        return
    # Whoever reads the output sees its end when the last process of the command has ended.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    how, code = watch(command.pid, limits)
    if how in ("time", "asked") and code is None:
        os.killpg(0, signal.SIGTERM)
        code = gone(command.pid, GRACE)
    ended = end_all(command.pid)
    tell(how, code if code is not None else ended)


def put_above() -> bool:
    """Before all that does not ask for real time, so that a command which starts thousands of processes does not keep
    this one from counting them. Root may; where somebody else may not, the system holds the number."""
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO | os.SCHED_RESET_ON_FORK, os.sched_param(1))
    except OSError:
        return False
    return True


def set_limits(limits: dict[str, int], most: int, nice: int) -> None:
    """Of each process of the command. Root is not held by the number of processes: `watch` counts them for all."""
    os.nice(nice)
    for kind, value in (
        (resource.RLIMIT_CORE, 0),
        # What it allocates. The address space would also hold what runtimes reserve and never use.
        (resource.RLIMIT_DATA, limits["memory"]),
        (resource.RLIMIT_NPROC, most),
    ):
        hard = resource.getrlimit(kind)[1]
        wanted = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (wanted, wanted))


def watch(pid: int, limits: dict[str, int]) -> tuple[str, int | None]:
    """How it ends, and the exit status where it has ended by itself."""
    until, looked, before = time.monotonic() + limits["seconds"], 0.0, tasks()
    while True:
        if (code := reaped(pid)) is not None:
            return "exit", code
        if time.monotonic() - looked > CLOSE_LOOK or tasks() > before + limits["processes"]:
            alive = descendants()
            if sum(one.threads for one in alive) > limits["processes"]:
                return "processes", None
            if sum(one.memory for one in alive) > limits["memory"]:
                return "memory", None
            # What is more by now belongs to others.
            looked, before = time.monotonic(), tasks()
        if time.monotonic() > until:
            return "time", None
        if select.select([0], [], [], LOOK)[0]:
            return ("asked" if os.read(0, 1) else "alone"), None


def reaped(pid: int) -> int | None:
    """The exit status of the command, once it has ended; whatever else has ended is cleared away."""
    code = None
    while True:
        try:
            ended, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return code
        if not ended:
            return code
        if ended == pid:
            code = os.waitstatus_to_exitcode(status)


def gone(pid: int, seconds: float) -> int | None:
    """The exit status of the command, where it ends within so many seconds."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if (code := reaped(pid)) is not None:
            return code
        time.sleep(LOOK)
    return None


def end_all(pid: int) -> int | None:
    """Stop all first: what is stopped starts nothing new. Then kill it, until nothing is left."""
    code, until = None, time.monotonic() + PATIENCE
    while time.monotonic() < until:
        stopped = set[int]()
        while new := {one.pid for one in descendants() if not one.is_dead} - stopped:
            send(new, signal.SIGSTOP)
            stopped |= new
        send(stopped, signal.SIGKILL)
        status = reaped(pid)
        code = status if status is not None else code
        if not stopped and not descendants():
            break
    return code


def send(pids: set[int], number: signal.Signals) -> None:
    for pid in pids:
        try:
            os.kill(pid, number)
        except (ProcessLookupError, PermissionError):
            continue


def descendants() -> list[Process]:
    """All processes below this one, whatever group or session they are in."""
    children: dict[int, list[Process]] = defaultdict(list)
    for name in os.listdir("/proc"):
        if name.isdigit() and (found := read_process(int(name))):
            children[found[0]].append(found[1])
    below, waiting = list[Process](), [os.getpid()]
    while waiting:
        for one in children[waiting.pop()]:
            below.append(one)
            waiting.append(one.pid)
    return below


def read_process(pid: int) -> tuple[int, Process] | None:
    """With the id of its parent; None where it is gone by now."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            # Its name, which comes second, may hold anything.
            fields = file.read().rpartition(b")")[2].split()
    except OSError:
        return None
    is_dead = fields[0] in (b"Z", b"X")
    memory = 0 if is_dead else int(fields[21]) * PAGE
    return int(fields[1]), Process(pid=pid, threads=int(fields[17]), memory=memory, is_dead=is_dead)


def tasks() -> int:
    """Threads of the whole system: one read, where a look at each takes long when there are many."""
    with open("/proc/loadavg", "rb") as file:
        return int(file.read().split()[3].partition(b"/")[2])


def tasks_of_user() -> int:
    """Threads of this user, which the system counts against its limit of processes."""
    count = 0
    for name in os.listdir("/proc"):
        try:
            if name.isdigit() and os.stat(f"/proc/{name}").st_uid == os.getuid():
                found = read_process(int(name))
                count += found[1].threads if found else 0
        except OSError:
            continue
    return count


def tell(how: str, code: int | None, why: str = "") -> None:
    told: dict[str, Any] = {"how": how, "code": code, "why": why}
    sys.stderr.write(f"{json.dumps(told)}\n")


if __name__ == "__main__":
    main()
