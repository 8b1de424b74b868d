"""A claim that repeats a sentence word for word but for one word that turns it round."""

from __future__ import annotations

from collections.abc import Iterator

from ...one_word import turned_by
from ..judging import shortened
from .case import Case, Claim, Found


def turned_by_one_word(case: Case) -> Iterator[Found]:
    for claim in case.phrased:
        if claim.item:
            yield from turned_claim(claim)


def turned_claim(claim: Claim) -> Iterator[Found]:
    for sentence in claim.quoted:
        if rule := turned_by(claim.text, sentence.text):
            text = f"“{shortened(claim.text)}” against what it quotes: “{shortened(sentence.text)}”"
            yield Found(rule=rule, about=claim.about, text=text)
            return
