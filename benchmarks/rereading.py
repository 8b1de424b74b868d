"""What it costs to read one turn again, as a page does at its end, by how many notices its conversation has."""

from __future__ import annotations

import time
from typing import Any

from django.contrib.auth.models import User

from efforts.context.planning import main_branch
from efforts.models import Branch, Event
from efforts.pages.presenters.chat import turn_view
from efforts.turns.demo import open_demo

NOTICES = (80, 8_000)
AGAIN = 15


def rereading(owner: User) -> dict[str, Any]:
    """`{notices: {"ms_median": ms}}` and how many times as long the longest conversation takes as the shortest."""
    found: dict[str, Any] = {}
    session, _ = open_demo(owner)
    branch = main_branch(session)
    noted = 0
    for count in NOTICES:
        note(branch, count - noted)
        noted = count
        found[str(count)] = {"ms_median": round(median_ms(branch), 1)}
    few, many = (found[str(count)]["ms_median"] for count in NOTICES)
    return {**found, "ratio": round(many / few, 2)}


def note(branch: Branch, count: int) -> None:
    """Efforts opened and concluded long ago."""
    first = branch.session.events.order_by("-seq").values_list("seq", flat=True)[0] + 1
    kinds = ("effort.opened", "effort.concluded")
    Event.objects.bulk_create(
        Event(
            session_id=branch.session_id,
            seq=first + number,
            kind=kinds[number % 2],
            data={
                "branch": str(branch.pk),
                "turn": 1,
                "effort": f"effort-{number // 2}",
                "notice": f"--- Effort effort-{number // 2} ---",
                "via": "user",
            },
        )
        for number in range(count)
    )


def median_ms(branch: Branch) -> float:
    number = branch.turns.order_by("-number").values_list("number", flat=True)[0]
    took = []
    for _ in range(AGAIN):
        start = time.perf_counter()
        assert turn_view(branch, number) is not None
        took.append(1000 * (time.perf_counter() - start))
    return sorted(took)[AGAIN // 2]
