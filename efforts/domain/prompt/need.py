"""Whether a message needs what is not in the prompt: only then is anything recalled for it.

It asks, or speaks of what was; and what is not shown answers it at least as well as what is. A message that asks in
passing needs little. Figures: docs/recall.md.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from efforts.domain.text.ranking import Ranked
from efforts.domain.text.sentences import sentences

# Steps of 10,000: what is nearer to the meaning of a message needs none of its words.
NEAR = 3_500
# Of what all words of the message weigh: what must stand in one turn outside the prompt.
LEAST_SHARE = 0.15
QUESTION = re.compile(
    r"[?？؟]|^\s*(?:what|when|where|who|whom|whose|which|why|how|did|do|does|was|were|is|are|can|could|"
    r"have|has|tell|list|summari[sz]e|describe|explain|name|find|show|give|compare)\b",
    re.IGNORECASE,
)
PAST = re.compile(
    r"\b(?:remember|remind|recall|earlier|previous(?:ly)?|before|last (?:time|week|month|year)|yesterday|again|"
    r"we (?:said|decided|agreed|discussed|talked|chose|had)|you (?:said|told|suggested|mentioned|recommended)|"
    r"i (?:said|told|mentioned|asked)|back then|once more|as (?:we|you|i))\b",
    re.IGNORECASE,
)
# It is about what was said, whatever else stands in the message.
POINTS_BACK = re.compile(
    r"\b(?:remember|remind|recall|earlier|previously|back then|last time|(?:did|had|have|was|were) (?:we|i)|"
    r"(?:we|you|i) (?:said|told|decided|agreed|discussed|talked|chose|suggested|mentioned|recommended|asked))\b",
    re.IGNORECASE,
)
# Of a message that asks for what was said, at least so much are its questions; the greeting before them is short.
MOSTLY = 0.8

IS_OFF = "The context mode is Off."
NOTHING_ASKED = "The message asks for nothing that was said before."
NOTHING_TELLING = "The message has no telling words."
NOTHING_FOUND = "Nothing outside the prompt has its words."
TOO_LITTLE = "What is outside the prompt has too little of its words."
SHOWN_BETTER = "What the prompt shows answers it better than anything outside."
NEEDED = "It asks, and what is outside the prompt has its words."
LITTLE_NEEDED = "It asks in passing: only the best of what is outside the prompt is recalled."


def asks(text: str) -> bool:
    """Whether the text asks something, or speaks of what was."""
    return bool(QUESTION.search(text) or PAST.search(text))


def asks_in_passing(text: str) -> bool:
    """Whether most of the text tells something, and nothing in it points back: then little of what was said before
    helps with it."""
    if POINTS_BACK.search(text):
        return False
    said = [one for line in text.splitlines() for one in sentences(line)]
    asked = sum(len(one) for one in said if asks(one))
    return asked < MOSTLY * sum(map(len, said))


def why_not(ranked: Sequence[Ranked], shown: Collection[int], weight: float) -> str:
    """Why nothing is recalled; empty where something is. `shown`: numbers of the turns in the prompt; `weight`: of all
    words of the message."""
    if any(one.meaning for one in ranked):
        return why_not_by_meaning(ranked, shown, weight)
    outside = max((one.exchange for one in ranked if one.found.number not in shown), default=0.0)
    inside = max((one.exchange for one in ranked if one.found.number in shown), default=0.0)
    if not outside:
        return NOTHING_FOUND
    if outside < inside:
        return SHOWN_BETTER
    return TOO_LITTLE if outside < LEAST_SHARE * weight else ""


def why_not_by_meaning(ranked: Sequence[Ranked], shown: Collection[int], weight: float) -> str:
    """The same where words and meanings are compared: the better of the two decides."""
    outside = [one for one in ranked if one.found.number not in shown]
    if not outside:
        return NOTHING_FOUND
    if outside[0].score < max((one.score for one in ranked if one.found.number in shown), default=0.0):
        return SHOWN_BETTER
    has_words = max(one.exchange for one in outside) >= LEAST_SHARE * weight
    return "" if has_words or max(one.meaning for one in outside) >= NEAR else TOO_LITTLE
