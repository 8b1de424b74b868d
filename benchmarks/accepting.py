"""What accepting and rolling back take: in a short conversation and in one of 1,000 turns and 40 efforts, in turns."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import User
from django.db import connection
from django.db.models import Sum

from benchmarks.growth import analyze, crowd, timed_once
from benchmarks.measures import percentiles
from benchmarks.search import database
from compaction.models import Artifact
from efforts import actions
from efforts.context.planning import main_branch
from efforts.models import Branch, Effort, EffortState, Turn, TurnLabel
from tests.compaction.artifacts import accept, of_effort, of_turns, roll_back
from tests.efforts.talk import Talk

SMALL, LARGE = 2, 40
PER_EFFORT = 25
REPEATS = 60


def accepting() -> dict[str, Any]:
    """On the database of the settings, beside what else is there of it."""
    with database(""):
        owner = User.objects.create_user("bench")
        stages = {efforts: Conversation.of(owner, efforts) for efforts in (SMALL, LARGE)}
        analyze()
        taken = by_turns(stages)
        small, large = taken[SMALL], taken[LARGE]
        return {
            "database": connection.vendor,
            "turns": {"small": SMALL * PER_EFFORT, "large": LARGE * PER_EFFORT},
            **{f"{what}_ms": each(small[what], large[what]) for what in small},
        }


def each(small: list[float], large: list[float]) -> dict[str, Any]:
    found = {"small": percentiles(small), "large": percentiles(large)}
    ratio = found["large"]["p50"] / found["small"]["p50"]
    return {**found, "large_to_small": round(ratio, 2)}


@dataclass(frozen=True, kw_only=True)
class Conversation:
    """All of its turns belong to concluded efforts, whose summaries stand. `summary` is that of one of them; `chosen`
    would take over from the last two."""

    summary: Artifact
    chosen: Artifact

    @classmethod
    def of(cls, owner: User, efforts: int) -> Conversation:
        session = actions.create_session(owner)
        crowd(owner, [session], efforts * PER_EFFORT * 4)
        talk = Talk(session)
        made = [of_effort(talk, concluded(talk.branch, place), "All about it.") for place in range(efforts)]
        for artifact in made:
            accept(artifact)
        turns = range((efforts - 2) * PER_EFFORT + 1, efforts * PER_EFFORT + 1)
        return cls(summary=made[-1], chosen=of_turns(main_branch(session), turns))

    def steps(self) -> Iterator[tuple[str, Callable[[], object]]]:
        """It ends as it began."""
        yield "roll_back", lambda: roll_back(self.summary)
        yield "accept", lambda: accept(self.summary)
        yield "accept_over_two", lambda: accept(self.chosen)
        yield "roll_back_to_two", lambda: roll_back(self.chosen)


def concluded(branch: Branch, place: int) -> str:
    effort = Effort.objects.create(session=branch.session, slug=f"effort-{place}", name=f"Effort {place}")
    turns = Turn.objects.filter(branch=branch, number__gt=place * PER_EFFORT, number__lte=(place + 1) * PER_EFFORT)
    TurnLabel.objects.bulk_create(TurnLabel(branch=branch, turn=turn, effort=effort, by="began") for turn in turns)
    EffortState.objects.create(
        branch=branch,
        effort=effort,
        status="concluded",
        via="control",
        summary="due",
        concluded_turn=(place + 1) * PER_EFFORT,
        turns=PER_EFFORT,
        tokens=turns.aggregate(tokens=Sum("tokens"))["tokens"],
    )
    return effort.slug


def by_turns(stages: dict[int, Conversation]) -> dict[int, dict[str, list[float]]]:
    """In milliseconds, now in one and now in the other: a process slows down over minutes all by itself."""
    taken: dict[int, dict[str, list[float]]] = {efforts: {} for efforts in stages}
    for _ in range(REPEATS):
        for efforts, stage in stages.items():
            for what, act in stage.steps():
                taken[efforts].setdefault(what, []).append(timed_once(act))
    return taken
