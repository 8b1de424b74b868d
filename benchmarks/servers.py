"""The processes that are measured: the product, the bare consumer, and the provider behind the product."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

ROOT = Path(__file__).resolve().parent.parent


@contextmanager
def process(*command: str, **environment: str) -> Iterator[subprocess.Popen[str]]:
    running = subprocess.Popen(
        [sys.executable, "-u", *command],
        cwd=ROOT,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        yield running
    finally:
        running.kill()
        running.wait()


def port_in(running: subprocess.Popen[str], pattern: str) -> int:
    """The port that a starting process prints."""
    said = ""
    for line in running.stdout or ():
        said += line
        if found := re.search(pattern, line):
            # Who is not read waits, once the pipe is full: a server that logs would stand still.
            Thread(target=deque, args=(running.stdout, 0), daemon=True).start()
            return int(found[1])
    raise RuntimeError(f"The process ended before it listened:\n{said}")


# One person plays hundreds: what is their share of the runs would else be measured waiting, and the rest refused.
UNBOUNDED = {
    "CCM_MAX_RUNS": "512",
    "CCM_PERSON_RUNS": "512",
    "CCM_PERSON_WAITING": "10000",
    "CCM_PERSON_SENDS": "100000",
    "CCM_PERSON_SOCKETS": "10000",
}


def model(provider_port: int) -> dict[str, str]:
    """Settings by which the paced provider answers."""
    # Each first reply would be followed by another call for a title.
    titles = {"CCM_MODEL_TITLES": "off"}
    return {"CCM_MODEL_URL": f"http://127.0.0.1:{provider_port}/v1", "CCM_MODEL_NAME": "paced", **titles}


@contextmanager
def product(provider_port: int, **settings: str) -> Iterator[tuple[int, int]]:
    """Port and process id of the product, on the database of CCM_HOME."""
    with process("manage.py", "serve", "--port", "0", **model(provider_port), **settings) as running:
        yield port_in(running, r"http://127\.0\.0\.1:(\d+)/sign-in/"), running.pid


@contextmanager
def bare() -> Iterator[tuple[int, int]]:
    with process("-m", "daphne", "-p", "0", "-v", "1", "benchmarks.bare:application") as running:
        yield port_in(running, r"TCP address 127\.0\.0\.1:(\d+)"), running.pid


@contextmanager
def paced_provider() -> Iterator[int]:
    with process("-m", "benchmarks.paced") as running:
        yield port_in(running, r"(\d+)")


def resident_kib(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+)", status)[1])  # type: ignore[index]  # Linux always says
