"""What grows with the history, and what does not: size of plans, time to plan, to verify, and to show a page."""

from __future__ import annotations

import sqlite3
import statistics
import sys
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import timedelta
from typing import Any
from uuid import uuid4

from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import connection
from django.db.models import OuterRef, Subquery
from django.test import Client
from django.utils import timezone

from benchmarks.long_session import long_session
from benchmarks.measures import percentiles
from efforts import actions
from efforts.context.planning import chosen_settings, draft_turn, main_branch, plan_inputs
from efforts.domain.prompt.planner import plan
from efforts.domain.text.canonical import canonical_json
from efforts.models import Branch, ContextPlan, Message, Run, Session, Turn

TURNS = 1_000
EARLY, LATE = (201, 300), (901, 1_000)
REPEATS = 200
# Messages of a turn in the crowd around the session that is planned.
PER_TURN = 4
BATCH = 2_000


def tell(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def storage(owner: User, every: int) -> dict[str, Any]:
    """Plans of a session of 1,000 turns. `every`: a new effort each so many turns; 0: none at all."""
    session = actions.create_session(owner)
    long_session(session, TURNS, every=every, tell=lambda turn: tell(f"{turn} turns") if turn % 200 == 0 else None)
    plans = ContextPlan.objects.filter(session=session).select_related("run__turn")
    sizes = {row.run.turn.number: packed(row) for row in plans.iterator(chunk_size=200)}
    early, late = (statistics.median(sizes[turn] for turn in range(a, b + 1)) for a, b in (EARLY, LATE))
    return {
        "efforts": session.efforts.count(),
        "median_bytes": statistics.median(sizes.values()),
        "late_to_early": round(late / early, 3),
        "verify_plans_s": once(lambda: call_command("verify_plans", session=session.pk, stdout=open("/dev/null", "w"))),
        "chat_page_ms": timed(lambda: shown(session, ""), 20),
        "context_page_ms": timed(lambda: shown(session, "context/"), 20),
    }


def packed(row: ContextPlan) -> int:
    return len(zlib.compress(canonical_json(row.body).encode(), 9))


def once(act: Callable[[], object]) -> float:
    began = time.monotonic()
    act()
    return round(time.monotonic() - began, 1)


def timed(act: Callable[[], object], repeats: int) -> dict[str, float]:
    act()
    return percentiles([timed_once(act) for _ in range(repeats)])


def timed_once(act: Callable[[], object]) -> float:
    began = time.monotonic_ns()
    act()
    return (time.monotonic_ns() - began) / 1e6


def shown(session: Session, page: str) -> None:
    client = Client(SERVER_NAME="127.0.0.1")
    client.force_login(session.owner)
    answer = client.get(f"{session.get_absolute_url()}{page}")
    assert answer.status_code == 200, answer.status_code


def scale(owner: User, messages: int) -> dict[str, Any]:
    """Planning one session of 1,000 messages alone, and among `messages` of others; those are 2,000 in each session."""
    session = actions.create_session(owner)
    crowd(owner, [session], 1_000)
    analyze()
    among = connection.settings_dict["NAME"]
    with copied(among) as alone:
        others = [actions.create_session(owner) for _ in range(messages // 2_000)]
        crowd(owner, others, messages)
        analyze()
        stored = Message.objects.count()
        times = by_turns(session, (alone, among))
    return {
        "database": connection.vendor,
        "messages": stored,
        "alone_ms": times[alone],
        "among_ms": times[among],
        "median_ratio": round(times[among]["p50"] / times[alone]["p50"], 3),
        "p95_ratio": round(times[among]["p95"] / times[alone]["p95"], 3),
    }


def analyze() -> None:
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")


@contextmanager
def copied(database: str) -> Iterator[str]:
    """Its name; on a server it is gone afterwards, a file goes with its folder."""
    leave()
    copy = f"{database}_alone"
    if connection.vendor == "sqlite":
        with closing(sqlite3.connect(database)) as source, closing(sqlite3.connect(copy)) as target:
            source.backup(target)
        yield copy
        return
    with connection._nodb_cursor() as cursor:
        cursor.execute(f'CREATE DATABASE "{copy}" TEMPLATE "{database}"')
    try:
        yield copy
    finally:
        leave()
        with connection._nodb_cursor() as cursor:
            cursor.execute(f'DROP DATABASE "{copy}"')


def leave() -> None:
    """A server copies or drops no database that a pool still has connections to."""
    connection.close()
    if connection.vendor == "postgresql":
        connection.close_pool()  # type: ignore[attr-defined]


def by_turns(session: Session, databases: tuple[str, ...]) -> dict[str, dict[str, float]]:
    """In milliseconds, now in one database and now in the other: a process slows down over minutes all by itself."""
    times: dict[str, list[float]] = {name: [] for name in databases}
    for _ in range(REPEATS // 5):
        for name in databases:
            leave()
            connection.settings_dict["NAME"] = name
            planned(session)
            times[name] += [timed_once(lambda: planned(session)) for _ in range(5)]
    return {name: percentiles(taken) for name, taken in times.items()}


def planned(session: Session) -> None:
    branch = main_branch(session)
    plan(plan_inputs(branch, chosen_settings(session), current=draft_turn(branch, "And now?")))


def crowd(owner: User, sessions: list[Session], messages: int) -> None:
    """Completed turns by bulk insert, as many in each session."""
    turns = messages // PER_TURN // len(sessions)
    for session in sessions:
        branch = Branch.objects.get(session=session)
        rows = [
            Turn(session=session, branch=branch, number=n, client_id=f"{n}", tokens=80, tokens_before=80 * (n - 1))
            for n in range(1, turns + 1)
        ]
        Turn.objects.bulk_create(rows, batch_size=BATCH)
        runs = [Run(id=uuid4(), turn=turn, branch=branch, state="completed") for turn in rows]
        Run.objects.bulk_create(runs, batch_size=BATCH)
        # As nobody sends thousands within a minute, nobody counts so many.
        Run.objects.filter(branch=branch).update(created_at=timezone.now() - timedelta(hours=1))
        own = Run.objects.filter(turn=OuterRef("pk")).values("pk")[:1]
        Turn.objects.filter(session=session).update(run=Subquery(own))
        Message.objects.bulk_create(
            [message_of(session, run, place) for run in runs for place in range(PER_TURN)], batch_size=BATCH
        )
        Branch.objects.filter(pk=branch.pk).update(head=turns, clock=turns)
    tell(f"{Message.objects.count():,} messages are stored")


def message_of(session: Session, run: Run, place: int) -> Message:
    role = "user" if place == 0 else "assistant"
    text = f"Message {place} of turn {run.turn.number}, with a few words about the harbour."
    return Message(session=session, turn=run.turn, run=None if role == "user" else run, role=role, text=text, tokens=16)


def growth(owner: User) -> dict[str, Any]:
    return {
        "plans_of_1000_turns": storage(owner, every=0),
        "plans_of_1000_turns_and_40_efforts": storage(owner, every=25),
    }
