"""On an empty database, a process that lets processes accept and roll back, each killed before another statement that
changes rows; told as JSON: by verb what was found before, and of each death whether all was done, and what is found
then."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import django

# More than either of them makes.
STATEMENTS = 60
STANDING = """
    SELECT headline, (SELECT count(*) FROM efforts_pointerturn WHERE pointer_id = pointer.id AND active)
    FROM efforts_contextpointer pointer WHERE state = 'active' ORDER BY id
"""
REST = """
    SELECT (SELECT group_concat(summary) FROM (SELECT summary FROM efforts_effortstate ORDER BY id)),
        (SELECT count(*) FROM efforts_pointermove), (SELECT count(*) FROM compaction_acceptance),
        (SELECT count(*) FROM efforts_event), (SELECT sum(event_seq) FROM efforts_session),
        (SELECT count(*) FROM efforts_pointerturn WHERE active)
"""


def found(database: Path) -> Any:
    """As a connection of its own sees it."""
    with closing(sqlite3.connect(database)) as connection:
        return connection.execute(STANDING).fetchall(), connection.execute(REST).fetchone()


def deaths(database: Path, verb: str, artifact: str) -> list[Any]:
    """After ever more statements; the last is after all of them, when it says so."""
    told: list[Any] = []
    kept = {path: path.read_bytes() for path in files(database)}
    for last in range(STATEMENTS):
        done = died(verb, artifact, last)
        told.append((done, found(database)))
        if done:
            break
        for path in files(database):
            path.unlink()
        for path, content in kept.items():
            path.write_bytes(content)
    return told


def files(database: Path) -> list[Path]:
    return list(database.parent.glob(f"{database.name}*"))


def died(verb: str, artifact: str, last: int) -> bool:
    """Whether it had said that it was done before it was killed."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        act(verb, artifact, last)
        os.write(writer, b"done")
        os.kill(os.getpid(), signal.SIGKILL)
    os.close(writer)
    with open(reader, "rb") as said:
        done = said.read() == b"done"
    assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGKILL
    return done


def act(verb: str, artifact: str, last: int) -> None:
    from django.db import connection

    from compaction.models import Artifact
    from tests.compaction.artifacts import accept, roll_back

    left = [last]

    def die(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if sql.startswith(("INSERT", "UPDATE", "DELETE")):
            if left[0] == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            left[0] -= 1
        return execute(sql, params, many, context)

    with connection.execute_wrapper(die):
        {"accept": accept, "roll_back": roll_back}[verb](Artifact.objects.get(pk=artifact))


def prepared() -> str:
    """Two efforts with summaries and a turn of none; the artifact that would take over from both."""
    from django.contrib.auth.models import User

    from efforts import actions
    from tests.compaction.artifacts import LongTalk, concluded, of_turns

    talk = LongTalk(actions.create_session(User.objects.create_user("alice")))
    concluded(talk, "Bug", "It crashes.")
    concluded(talk, "Trip", "To Graz.")
    talk.ask("Something else.")
    return str(of_turns(talk.branch, [1, 2, 3], "Wide.").pk)


def main() -> None:
    os.environ["DJANGO_SETTINGS_MODULE"] = "ccmweb.settings"
    django.setup()
    from django.conf import settings
    from django.db import connections

    artifact = prepared()
    database = Path(settings.CCM_HOME) / "db.sqlite3"
    told = {}
    for verb in ("accept", "roll_back"):
        # Each of the processes makes a connection of its own.
        connections.close_all()
        told[verb] = {"before": found(database), "deaths": deaths(database, verb, artifact)}
    os.write(1, json.dumps(told).encode())


if __name__ == "__main__":
    main()
