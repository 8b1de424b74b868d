"""Where one turn stood in a plan: whole, cut, quoted by recall, behind a summary, or not at all, and why."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum

from efforts.domain.prompt.difference import MadePlan, why_gone
from efforts.domain.prompt.pins import TURN
from efforts.domain.prompt.reasons import Reason

ANSWERED_HERE = "It was asked and answered here."


class Presence(StrEnum):
    ANSWERED = "answered"
    WHOLE = "whole"
    CUT = "cut"
    PINNED = "pinned"
    QUOTED = "quoted"
    SUMMARY = "summary"
    OUT = "out"


@dataclass(frozen=True, kw_only=True)
class Whereabouts:
    presence: Presence
    why: str
    remedy: str = ""


def whereabouts(number: int, made: MadePlan, *, effort: str, summarised_by: Collection[str]) -> Whereabouts:
    """Of turn `number` of `effort` ("" for none); `summarised_by`: efforts whose summaries there are about it."""
    if number == made.turn:
        return Whereabouts(presence=Presence.ANSWERED, why=ANSWERED_HERE)
    if item := made.sent_turns.get(number):
        cut = item.reason in (Reason.CUT_TO_FIT, Reason.PINNED_IN_PLACE_CUT)
        return Whereabouts(presence=Presence.CUT if cut else Presence.WHOLE, why=item.sentence)
    if (pin := made.pins.get(TURN.format(number))) and pin.included:
        return Whereabouts(presence=Presence.PINNED, why=pin.sentence)
    recalled = (one for one in made.items if one.section == "recall" and one.included)
    if quoted := next((one for one in recalled if one.turns == (number, number)), None):
        return Whereabouts(presence=Presence.QUOTED, why=quoted.sentence)
    # What is pinned of an effort is its summary.
    notes = {**made.headlines, **made.pins}
    headlines = (item for slug, item in notes.items() if slug in summarised_by and item.included)
    if headline := next(headlines, None):
        return Whereabouts(presence=Presence.SUMMARY, why=headline.sentence)
    why, remedy = why_gone(number, effort, made)
    return Whereabouts(presence=Presence.OUT, why=why, remedy=remedy)
