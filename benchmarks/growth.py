"""What grows with the history, and what does not: size of plans, time to plan, to verify, and to show a page."""

from __future__ import annotations

import statistics
import sys
import time
import zlib
from collections.abc import Callable
from typing import Any
from uuid import uuid4

from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import connection
from django.db.models import OuterRef, Subquery
from django.test import Client

from benchmarks.long_session import long_session
from benchmarks.measures import percentiles
from efforts import actions
from efforts.domain.canonical import canonical_json
from efforts.domain.planner import plan
from efforts.models import Branch, ContextPlan, Message, Run, Session, Turn
from efforts.snapshots.planning import chosen_settings, draft_turn, main_branch, plan_inputs

TURNS = 1_000
EARLY, LATE = (201, 300), (901, 1_000)
REPEATS = 100
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
    times = []
    for _ in range(repeats):
        began = time.monotonic_ns()
        act()
        times.append((time.monotonic_ns() - began) / 1e6)
    return percentiles(times)


def shown(session: Session, page: str) -> None:
    client = Client(SERVER_NAME="127.0.0.1")
    client.force_login(session.owner)
    answer = client.get(f"{session.get_absolute_url()}{page}")
    assert answer.status_code == 200, answer.status_code


def scale(owner: User, messages: int) -> dict[str, Any]:
    """Planning one session of 1,000 messages alone, and among `messages` of others; those are 2,000 in each session."""
    session = actions.create_session(owner)
    crowd(owner, [session], 1_000)
    alone = timed(lambda: planned(session), REPEATS)
    others = [actions.create_session(owner) for _ in range(messages // 2_000)]
    crowd(owner, others, messages)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    among = timed(lambda: planned(session), REPEATS)
    return {
        "messages": Message.objects.count(),
        "alone_ms": alone,
        "among_ms": among,
        "median_ratio": round(among["p50"] / alone["p50"], 3),
        "p95_ratio": round(among["p95"] / alone["p95"], 3),
    }


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


def growth(owner: User, messages: int) -> dict[str, Any]:
    return {
        "plans_of_1000_turns": storage(owner, every=0),
        "plans_of_1000_turns_and_40_efforts": storage(owner, every=25),
        "planning_among_many": scale(owner, messages),
    }
