"""How much of a prompt could at most be the beginning of the next, given what had to change.

What had to change: the notes of a turn leave when it is over, with what stood on free room; an effort that was opened,
concluded or expanded moves, and the summary of a concluded one comes after the others; a summary to which nothing
refers any more leaves, and so does an ambient turn that the window has passed. What the budget pushes out counts as
nothing of that: a smaller prompt could have kept it from having to.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from statistics import mean
from typing import Any

from efforts.domain.prompt.assembly import NOTES_BEGIN
from efforts.domain.prompt.layers import KINDS, NUMBER, block_start, body_text, eligible_turns, headline_line
from efforts.domain.prompt.plan import LayerCut, Plan, PlanInputs
from efforts.domain.prompt.quotes import NOTES_END, block_text
from efforts.domain.prompt.rendering import escaped

from .prefix import text_of, unchanged

AMBIENT = re.compile(r"^\[Conversation from turn (\d+)\]$", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class Step:
    """From one call to the next, as shares of the request before: what stayed, and what could have. `cut`: the budget
    pushed something out."""

    stayed: float
    could: float
    cut: bool


@dataclass(kw_only=True)
class Ceiling:
    inside: list[Step] = field(default_factory=list)
    moved: list[Step] = field(default_factory=list)

    def follow(self, before: Plan, now: Plan) -> Step:
        was, is_now = text_of(before.request), text_of(now.request)
        same = unchanged(was, is_now)
        could = max(same, min(changes(before, now), default=len(was)))
        step = Step(stayed=same / len(was), could=could / len(was), cut=is_cut(before, now))
        (self.moved if before.inputs.epoch != now.inputs.epoch else self.inside).append(step)
        return step

    def join(self, other: Ceiling) -> None:
        self.inside += other.inside
        self.moved += other.moved

    def as_json(self) -> dict[str, Any]:
        return {"inside": in_sum(self.inside), "transitions": in_sum(self.moved)}


def in_sum(steps: Iterable[Step]) -> dict[str, float | int | None]:
    """`ceiling`: the mean of what could have stayed; `reached`: what did as a share of it, of all calls and of those
    at which the budget pushed nothing out."""
    steps = list(steps)
    uncut = [step for step in steps if not step.cut]
    return {
        "calls": len(steps),
        "ceiling": round(mean(step.could for step in steps), 3) if steps else None,
        "reached": reached(steps),
        "cut": len(steps) - len(uncut),
        "reached_uncut": reached(uncut),
    }


def reached(steps: list[Step]) -> float | None:
    return round(sum(step.stayed for step in steps) / sum(step.could for step in steps), 3) if steps else None


def is_cut(before: Plan, now: Plan) -> bool:
    """Whether the budget pushed out more than it had: turns, summaries, or the tools where their results fill it."""
    was, there = before.layout, now.layout
    gone = {*there.dropped, *there.shortened} - {*was.dropped, *was.shortened}
    if gone or len(now.inputs.tools) < len(before.inputs.tools):
        return True
    return any(is_further(cut, was.cuts.get(key, LayerCut())) for key, cut in there.cuts.items())


def is_further(cut: LayerCut, than: LayerCut) -> bool:
    return any(value > getattr(than, name) for name, value in vars(cut).items())


def changes(before: Plan, now: Plan) -> Iterator[int]:
    """Places in the request before, in characters, at which something had to change."""
    was = text_of(before.request)
    for found in (end_of_turn(before, now, was), *summaries(before, now, was), *logs(before.inputs, now.inputs, was)):
        if found >= 0:
            yield found


def end_of_turn(before: Plan, now: Plan, was: str) -> int:
    """Where what leaves with its turn stood; inside a turn its notes, where they say something else now."""
    current = before.inputs.current
    if current.number == now.inputs.current.number:
        notes = was.rfind(NOTES_BEGIN)
        return -1 if notes_of(was) == notes_of(text_of(now.request)) else notes
    mark = NUMBER.format(number=current.number)
    begins = was.rfind(f"{mark}\n")
    later = f"{mark}\n{block_text(before.stays)}{escaped(current.user.text)}"
    return begins + unchanged(was[begins:], later) if begins >= 0 else -1


def notes_of(text: str) -> str:
    begins = text.rfind(NOTES_BEGIN)
    return text[begins : text.find(NOTES_END, begins)] if begins >= 0 else ""


def summaries(before: Plan, now: Plan, was: str) -> Iterator[int]:
    """Where one leaves that is no more among the candidates, and where one comes that was none."""
    lines, there = lines_of(before.inputs), lines_of(now.inputs)
    shown = {line: was.find(line) for line in lines if line in was}
    yield from (place for line, place in shown.items() if line not in there)
    is_now = text_of(now.request)
    if any(line in is_now for line in there - lines):
        yield max((place + len(line) for line, place in shown.items()), default=was.find("\n<user>"))


def lines_of(inputs: PlanInputs) -> set[str]:
    standing = [one for one in inputs.headlines if not one.expanded]
    return {headline_line(one) for one in standing} | {body_text(one) for one in standing if one.body}


def logs(before: PlanInputs, now: PlanInputs, was: str) -> Iterator[int]:
    """Where the log of an effort stood that is another kind of effort now, and ambient turns that left the window."""
    there = {(effort.slug, effort.kind) for effort in now.efforts}
    for effort in before.efforts:
        if (effort.slug, effort.kind) not in there:
            yield was.find(f"[Effort {effort.slug}, {KINDS[effort.kind]}, from turn ")
    begins = max(next((turn.number for turn in eligible_turns(now)), 0), block_start(now))
    yield from (found.start() for found in AMBIENT.finditer(was) if int(found[1]) < begins)
