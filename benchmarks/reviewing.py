"""What the page of a large summary takes: 300 claims over a log of 122 kB, and one verdict among them."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.urls import reverse

from benchmarks.measures import percentiles
from benchmarks.search import database
from compaction.domain.artifact import Claim, Section
from compaction.models import Artifact
from efforts import actions
from efforts.models import Message
from tests.compaction.artifacts import LongTalk, claim, of_turns
from tests.efforts.talk import Talk

CLAIMS, SENTENCES, TURNS, REPEATS = 300, 1_000, 20, 30
HTMX = {"HX-Request": "true"}


def reviewing() -> dict[str, Any]:
    """On the database of the settings."""
    with database(""):
        owner = User.objects.create_user("bench")
        row = large(LongTalk(actions.create_session(owner)))
        client = Client(SERVER_NAME="127.0.0.1")
        client.force_login(owner)
        page = row.get_absolute_url()
        address = reverse("claim", args=[row.pk, "c150"])
        verdicts = ("kept", "struck") * (REPEATS // 2)
        return {
            "database": connection.vendor,
            "claims": CLAIMS,
            "log_characters": sum(map(len, Message.objects.filter(session=row.session).values_list("text", flat=True))),
            "page_ms": percentiles([timed(partial(client.get, page)) for _ in range(REPEATS)]),
            "page_kb": round(len(client.get(page).content) / 1024),
            "verdict_ms": percentiles(
                [timed(partial(client.post, address, {"verdict": said}, headers=HTMX)) for said in verdicts]
            ),
        }


def timed(act: Callable[[], Any]) -> float:
    started = time.perf_counter()
    answer = act()
    assert answer.status_code == 200
    return (time.perf_counter() - started) * 1000


def large(talk: Talk) -> Artifact:
    sentences = [
        f"Crew {number} carried {number + 7} ropes from the old pier to the boat house, and wrote down how long "
        f"each of the {number % 9 + 2} trips took."
        for number in range(SENTENCES)
    ]
    for turn in range(TURNS):
        own = sentences[turn * SENTENCES // TURNS : (turn + 1) * SENTENCES // TURNS]
        talk.ask(" ".join(own[::2]), reply=" ".join(own[1::2]))
    claims = [of(number) for number in range(CLAIMS)]
    return of_turns(talk.branch, range(1, TURNS + 1), "The ropes are carried.", claims=claims)


def of(number: int) -> Claim:
    """Each cites a sentence of another message."""
    message, sentence = number % (2 * TURNS) + 1, number // (2 * TURNS) + 1
    return claim(f"c{number}", Section.FACT, "A crew carried ropes to the boat house.", f"{message}.{sentence}")
