"""What a search costs while the history grows: in one session, a tenth of all, and over all of its owner's.

The words are those of real conversations (`CCM_DATA`), repeated with a fifth of them swapped at random; nothing of them
is kept. The large session goes on a little in between others, as one does that is used every day.
"""

from __future__ import annotations

import json
import os
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import date
from itertools import count, islice
from pathlib import Path
from random import Random
from typing import Any, Self
from uuid import uuid4

from django.conf import settings
from django.contrib.auth.models import User
from django.db import connection, transaction

from benchmarks.growth import BATCH, PER_TURN, analyze, tell, timed_once
from benchmarks.measures import percentiles
from benchmarks.recall.baselines import Fts5, Keywords
from efforts import actions
from efforts.context.planning import main_branch
from efforts.domain.text.terms import query_terms
from efforts.models import Branch, Message, Run, Session, Turn
from efforts.pages.presenters.owner_search import search_owner
from efforts.retrieval.candidates import Scope, find, of_branch
from efforts.retrieval.index import add_message, index_messages
from efforts.retrieval.search import search_branch

QUESTIONS = 100
SWAPPED = 0.2
OTHERS = 2_000  # messages of each other session
LARGE = "The large one"


def search(messages: int, kept: str = "") -> dict[str, Any]:
    """`kept`: a database that is built where it is missing, used again and left as it is; searches alone are timed."""
    if "CCM_DATA" not in os.environ:
        return {"skipped": "CCM_DATA is not set"}
    folder = Path(os.environ["CCM_DATA"])
    sizes = (messages,) if kept else (messages // 100, messages // 10, messages)
    measure = searches if kept else measured
    with database(kept):
        history = History(User.objects.get_or_create(username="bench")[0], texts(folder))
        asked = questions(folder)
        return {f"{size:,} messages": told(measure(history.grown_to(size), asked)) for size in sizes}


def told(found: dict[str, Any]) -> dict[str, Any]:
    tell(json.dumps(found))
    return found


@contextmanager
def database(kept: str) -> Iterator[None]:
    """As the product's is set up: a file, or on the server of `DATABASE_URL`; gone when the work is done, or kept."""
    usual, keep = connection.settings_dict["NAME"], bool(kept)
    if kept or connection.vendor == "sqlite":
        connection.settings_dict["TEST"]["NAME"] = kept or str(settings.CCM_HOME / "search.sqlite3")
    connection.creation.create_test_db(verbosity=0, autoclobber=True, serialize=False, keepdb=keep)
    try:
        yield
    finally:
        connection.creation.destroy_test_db(usual, verbosity=0, keepdb=keep)


def texts(folder: Path) -> Iterator[str]:
    """Without end: what people said, then the same with other words in it."""
    said = [message["text"] for talk in talks(folder) for message in talk["messages"] if message["text"].strip()]
    random = Random(7)
    random.shuffle(said)
    yield from said
    words = [word for text in said for word in text.split()]
    for place in count():
        yield " ".join(
            random.choice(words) if random.random() < SWAPPED else word for word in said[place % len(said)].split()
        )


def talks(folder: Path) -> Iterator[dict[str, Any]]:
    for name in ("locomo-dev", "qmsum-dev", "elitr-dev", "longmemeval-dev"):
        with (folder / f"{name}.jsonl").open(encoding="utf-8") as lines:
            yield from map(json.loads, lines)


def questions(folder: Path) -> list[str]:
    asked = [question["question"] for talk in talks(folder) for question in talk.get("questions", ())]
    return Random(1).sample(asked, QUESTIONS)


class History:
    """Of one owner: a large session, and others that come and go."""

    def __init__(self, owner: User, said: Iterator[str]) -> None:
        self.owner, self.said = owner, said
        large = Session.objects.filter(owner=owner, title=LARGE).first() or actions.create_session(owner, title=LARGE)
        self.large = main_branch(large)
        self.messages = Message.objects.filter(session__owner=owner).count()
        self.indexing = 0.0

    def grown_to(self, messages: int) -> Self:
        if self.messages >= messages:
            return self
        while self.messages < messages:
            self.say(main_branch(actions.create_session(self.owner)), OTHERS)
            self.say(self.large, OTHERS // 9)
            if self.messages // 50_000 > (self.messages - OTHERS) // 50_000:
                tell(f"{self.messages:,} messages are stored")
        analyze()
        return self

    @transaction.atomic
    def say(self, branch: Branch, messages: int) -> None:
        first, turns = branch.head + 1, messages // PER_TURN
        rows = [
            Turn(session=branch.session, branch=branch, number=number, client_id=f"{number}", run_id=uuid4())
            for number in range(first, first + turns)
        ]
        runs = [Run(id=turn.run_id, turn=turn, branch=branch, state="completed") for turn in rows]
        Turn.objects.bulk_create(rows, batch_size=BATCH)
        Run.objects.bulk_create(runs, batch_size=BATCH)
        log = [self.message(turn, place) for turn in rows for place in range(PER_TURN)]
        Message.objects.bulk_create(log, batch_size=BATCH)
        self.indexing += timed_once(lambda: index_messages(log)) / 1_000
        branch.head += turns
        branch.save(update_fields=["head"])
        self.messages += len(log)

    def message(self, turn: Turn, place: int) -> Message:
        role, run = ("user", None) if place == 0 else ("assistant", turn.run_id)
        return Message(session=turn.session, turn=turn, run_id=run, role=role, text=next(self.said), tokens=20)


def measured(history: History, asked: list[str]) -> dict[str, Any]:
    session, owner = history.large.session, history.owner
    return {
        "indexed_per_second": round(history.messages / history.indexing),
        "bytes_per_message": bytes_per_message(history.messages),
        "add_message_ms": inserts(history),
        **searches(history, asked),
        "plain_fts5_ms": beside(asked, Fts5, session, owner),
        "seeds_keywords_ms": beside(asked, Keywords, session, owner),
    }


def searches(history: History, asked: list[str]) -> dict[str, Any]:
    session, owner, before, today = history.large.session, history.owner, history.large.head + 1, date.today()
    return {
        "messages": {"session": session.messages.count(), "owner": history.messages},
        "candidates_ms": {
            "session": answers(asked, lambda text: find(of_branch(history.large), query_terms(text))),
            "owner": answers(asked, lambda text: find(Scope(owner=owner.pk), query_terms(text))),
        },
        "search_ms": {
            "session": answers(asked, lambda text: search_branch(history.large, text, before=before, today=today)),
            "owner": answers(asked, lambda text: search_owner(owner, text)),
        },
    }


def answers(asked: list[str], ask: Callable[[str], object]) -> dict[str, Any]:
    """What a person waits, and of that the work of this process: without the server's, and what else runs here."""
    ask(asked[0])
    work: list[float] = []
    waited = []
    for text in asked:
        began = time.process_time_ns()
        waited.append(timed_once(lambda text=text: ask(text)))  # type: ignore[misc]
        work.append((time.process_time_ns() - began) / 1e6)
    return {**percentiles(waited), "work": percentiles(work)}


def inserts(history: History) -> dict[str, dict[str, float]]:
    """Of one message, each in a transaction of its own, and of the same row without an index."""
    turn = Turn.objects.filter(branch=history.large).latest("number")
    session = history.large.session
    fields = {"turn": turn, "run_id": turn.run_id, "role": "assistant", "tokens": 20}
    new = list(islice(history.said, 2 * QUESTIONS))
    plain, indexed = new[:QUESTIONS], new[QUESTIONS:]
    return {
        "indexed": answers(indexed, lambda text: add_message(session_id=session.pk, text=text, **fields)),
        "plain": answers(plain, lambda text: Message.objects.create(session=session, text=text, **fields)),
    }


def beside(asked: list[str], method: type[Fts5] | type[Keywords], session: Session, owner: User) -> dict[str, Any]:
    """Another method over the same messages, with an index in memory of no more than these."""
    scopes = {"session": Message.objects.filter(session=session), "owner": Message.objects.filter(session__owner=owner)}
    found = {}
    for name, rows in scopes.items():
        ranking = method({str(pk): text for pk, text in rows.values_list("pk", "text").iterator()})
        found[name] = answers(asked, ranking.rank)
    return found


def bytes_per_message(messages: int) -> dict[str, int]:
    with connection.cursor() as cursor:
        cursor.execute(SIZES[connection.vendor])
        sizes = Counter[str]()
        for name, size in cursor.fetchall():
            if part := next((part for start, part in PARTS.items() if start in name), None):
                sizes[part] += int(size)
    return {part: round(size / messages) for part, size in sizes.items()}


SIZES = {
    "sqlite": "SELECT name, SUM(pgsize) FROM dbstat GROUP BY name",
    "postgresql": "SELECT relname, pg_relation_size(oid) FROM pg_class WHERE relkind IN ('r', 'i')",
}
# The first that fits: names of tables and of their indexes.
PARTS = {"passage_terms": "terms", "passage": "passages", "frequency": "frequencies", "message": "messages"}
