"""What a turn refers to: the one door for all who ask."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

from efforts import labels
from efforts.models import Effort, Message, Run

TURN = re.compile(r"\bturns? (\d{1,9})\b", re.IGNORECASE)
# What each of these tools gave names what it read.
READERS = ("read_effort", "read_message", "expand_effort")


@dataclass(kw_only=True)
class References:
    """By number, by id, or in the person's words."""

    words: str = ""
    turns: set[int] = field(default_factory=set)
    efforts: set[str] = field(default_factory=set)

    def names(self, effort: Effort) -> bool:
        return effort.slug in self.efforts or labels.is_named(effort, f" {self.words} ")


def references_in(run: Run) -> References:
    """What the person's words name, and what the model read in this attempt at the turn."""
    text = Message.objects.get(turn=run.turn_id, role=Message.Role.USER).text
    found = References(words=labels.words_of(text), turns={int(number) for number in TURN.findall(text)})
    for result in Message.objects.filter(run=run, tool_name__in=READERS).values_list("text", flat=True):
        read(json.loads(result), found)
    return found


def read(result: dict[str, Any], found: References) -> None:
    found.efforts |= {result[key] for key in ("effort", "expanded") if isinstance(result.get(key), str)}
    if isinstance(result.get("turn"), int):
        found.turns.add(result["turn"])
    found.turns |= {turn["turn"] for turn in result.get("turns", ())}
