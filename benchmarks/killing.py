"""Web processes and workers killed and stopped while people talk: `python -m benchmarks.killing --strikes 200`.

On SQLite, and where DATABASE_URL and REDIS_URL are set on PostgreSQL and Redis. It ends with an error at the first
thing that is lost, doubled or stuck; else with what was done, as JSON.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

from tests.fakes.provider import FakeProvider
from tests.house.process import manage
from tests.server.conftest import new_database
from tests.server.kills import Matrix

WORKERS = 2


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--strikes", type=int, default=200, help="of processes, on each kind of database")
    parser.add_argument("--at-once", type=int, default=2, help="installations of each kind beside each other")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    on: dict[str, dict[str, str]] = {"SQLite": {}}
    if "DATABASE_URL" in os.environ and "REDIS_URL" in os.environ:
        on["PostgreSQL and Redis"] = {name: os.environ[name] for name in ("DATABASE_URL", "REDIS_URL")}
    print(json.dumps(asyncio.run(played(on, arguments)), indent=2))


async def played(on: dict[str, dict[str, str]], arguments: argparse.Namespace) -> dict[str, dict[str, int]]:
    each = -(-arguments.strikes // arguments.at_once)
    with ExitStack() as stack:
        runs = {kind: stack.enter_context(installed(kind, servers, arguments)) for kind, servers in on.items()}
        found = await asyncio.gather(
            *(asyncio.gather(*(one.play(each) for one in of_kind)) for of_kind in runs.values())
        )
    return {kind: together(counted) for kind, counted in zip(runs, found, strict=True)}


def together(counted: list[dict[str, int]]) -> dict[str, int]:
    found: Counter[str] = Counter()
    for one in counted:
        # Not by +, which leaves out what is zero.
        found.update(one)
    return dict(found)


@contextmanager
def installed(kind: str, servers: dict[str, str], arguments: argparse.Namespace) -> Iterator[list[Matrix]]:
    """Copies of one that is empty: to make a database takes longer than to copy it."""
    with ExitStack() as stack:
        empty = Path(stack.enter_context(tempfile.TemporaryDirectory())) / "empty"
        template = stack.enter_context(new_database(servers["DATABASE_URL"])) if servers else ""
        done = manage("migrate", CCM_HOME=str(empty), **({"DATABASE_URL": template} if servers else {}))
        if done.returncode:
            raise SystemExit(done.stderr)
        matrices = []
        for place in range(arguments.at_once):
            home = empty.with_name(str(place))
            shutil.copytree(empty, home)
            if servers:
                mine = stack.enter_context(new_database(servers["DATABASE_URL"], template))
                servers = {**servers, "DATABASE_URL": mine}
            provider = stack.enter_context(FakeProvider())
            matrix = Matrix.of(home, provider, WORKERS, arguments.seed + place, **servers)
            matrix.tell = partial(tell, f"{kind}, {place + 1}")
            matrices.append(matrix)
        yield matrices


def tell(which: str, counted: dict[str, int]) -> None:
    print(f"{which}: {json.dumps(counted)}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
