"""Numbers, versions, paths and flags against what a claim quotes, and against what was said later."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache

from ...anchors import Anchor, Type, anchors_of, decimal, is_loose, numbers_of, stands, without_anchors
from ...polarity import any_of
from ...wording import SourceSentence, content, recall, sentences_of
from ..judging import shortened
from .case import Case, Claim, Found, is_question

# Of the other words of a claim so many are in a text that has another value for the same.
SAME_FRAME = 0.5
# In a later sentence: so many, or fewer where it says that it corrects.
LATER_FRAME, CORRECTED_FRAME, IN_PART = 0.6, 0.5, 0.4
REPEATED_FRAME = 0.8
FEWEST = 2
IN_PLACE = any_of("instead of, rather than, in place of, statt, anstatt, au lieu de, en vez de")
CORRECTION = any_of(
    """now, instead, changed? to, change that to, actually, rather, make it, make that, correction, sorry, i meant,
    no longer, after all, better, let's say, raise[ds]? to, lowered? to, set to, moved? to, postponed, new,
    update[ds]? to, jetzt, stattdessen, doch, lieber, korrektur, geändert, besser, nun, finalement, plutôt, en fait,
    désormais, changé, ahora, mejor, en realidad, cambiado""",
    "やっぱり|やはり|変更|改为|改成",
)


def differs_from_quote(case: Case) -> Iterator[Found]:
    """A value that none of the quotations has, where one that speaks of the same has another; or another unit."""
    for claim in case.phrased:
        for anchor in values_of(claim.text):
            other = next((found for text in claim.said if (found := other_in(anchor, claim, text))), None)
            named = any(stands_so(anchor, text) for text in claim.said) or any(anchor.shown in q for q in claim.quotes)
            if other and not named:
                yield Found(
                    rule="other_value",
                    about=claim.about,
                    text=f"“{shortened(claim.text)}” has {anchor.shown}; what it quotes has {other.shown}",
                )


def counted_otherwise(case: Case) -> Iterator[Found]:
    """What it counts or numbers is counted or numbered otherwise by all that it quotes."""
    for claim in case.phrased:
        theirs = {pair for text in claim.said for pair in numbered_words(text)}
        for word, number in sorted(numbered_words(claim.text)):
            others = sorted(other for known, other in theirs if known == word)
            told = word.startswith("after ") and any(number in numbers_of(text) for text in claim.said)
            if others and number not in others and not told:
                text = f"“{shortened(claim.text)}” has {number}; what it quotes has {others[0]} with the same word"
                yield Found(rule="other_count", about=claim.about, text=text)


def numbered_words(text: str) -> set[tuple[str, str]]:
    """Each telling word beside a number, with it, by its side: "week 19", which has no unit, and "19 weeks"."""
    pairs = [
        (side, content(found["word"]), found["number"])
        for side, pattern in (("before", NUMBERED), ("after", COUNTED))
        for found in pattern.finditer(text)
        if side == "after" or not has_unit(text[found.start("number") :])
    ]
    return {(f"{side} {word}", decimal(number)) for side, words, number in pairs for word in words}


def has_unit(text: str) -> bool:
    first = next(iter(anchors_of(text[:40])), None)
    return bool(first and first.unit)


NUMBERED = re.compile(r"(?P<word>[^\W\d_]{3,}) (?P<number>\d+(?:[.,]\d+)*)(?![\w:.,]*\w)")
COUNTED = re.compile(r"(?<![\w.,:-])(?P<number>\d+(?:[.,]\d+)*) (?P<word>[^\W\d_]{3,})")


@lru_cache(maxsize=1 << 13)
def values_of(text: str) -> tuple[Anchor, ...]:
    return tuple(anchor for anchor in anchors_of(text) if not is_loose(anchor))


def stands_so(anchor: Anchor, text: str) -> bool:
    """With its unit, or where the text gives it none."""
    if not stands(anchor, text):
        return False
    units = {other.unit for other in anchors_of(text) if same_value(anchor, other)}
    return not units or not anchor.unit or anchor.unit in units or "" in units


def same_value(one: Anchor, other: Anchor) -> bool:
    return one.type == other.type and one.value == other.value


def other_in(anchor: Anchor, claim: Claim, text: str) -> Anchor | None:
    """A value of the same type that the text has in its place, and the claim has nowhere."""
    told = {other.value for other in anchors_of(claim.text) if other != anchor}
    others = [other for other in anchors_of(text) if comparable(anchor, other) and other.value not in told]
    near = recall(frame(claim.text), content(text)) >= SAME_FRAME
    all_said = claim.item and recall(frame(claim.text), content("\n".join(claim.said))) >= SAME_FRAME
    return others[0] if others and (near or all_said) else None


def comparable(one: Anchor, other: Anchor) -> bool:
    if one.type != other.type:
        return False
    if one.type == Type.NUMBER and one.value == other.value:
        return bool(one.unit and other.unit and one.unit != other.unit)
    return one.value != other.value and (one.unit == other.unit or one.type != Type.NUMBER)


@lru_cache(maxsize=1 << 13)
def frame(text: str) -> frozenset[str]:
    """The words without the values."""
    return content(without_anchors(text))


def corrected_later(case: Case) -> Iterator[Found]:
    """A later sentence of the source, which the claim does not quote, has another value for the same."""
    cited = {sentence.order for claim in case.of_items for sentence in claim.quoted}
    valued = [sentence for sentence in sentences_of(case.source) if is_statement(sentence)]
    for claim in case.told:
        if not claim.item or not claim.asserts or not claim.quoted:
            continue
        last = max(sentence.order for sentence in claim.quoted)
        later = [sentence for sentence in valued if sentence.order > last]
        for anchor in values_of(claim.text):
            if any(stands(anchor, entry.text) for entry in case.kept_by(claim)):
                continue
            if found := correction(anchor, claim, later, cited):
                sentence, other = found
                later_on = f"message {sentence.message} has {other.shown} later: “{shortened(sentence.text)}”"
                text = f"“{shortened(claim.text)}” has {anchor.shown}; {later_on}"
                yield Found(rule="corrected_later", about=claim.about, text=text)


def is_statement(sentence: SourceSentence) -> bool:
    plain = sentence.role != "tool" and not sentence.text.startswith("|") and not is_question(sentence.text)
    return plain and bool(values_of(sentence.text))


def correction(
    anchor: Anchor, claim: Claim, later: Iterable[SourceSentence], cited: Collection[int]
) -> tuple[SourceSentence, Anchor] | None:
    words, told = frame(claim.text), {other.value for other in values_of(claim.text)}
    for sentence in later:
        others = [other for other in values_of(sentence.text) if comparable(anchor, other) and other.value not in told]
        if not others:
            continue
        # What another item quotes is that item's matter, unless it says the same of this.
        corrects = sentence.order not in cited and CORRECTION.search(sentence.text) is not None
        if takes_back(anchor, sentence.text) or (
            not stands(anchor, sentence.text)
            and speaks_of(words, sentence.text, strictly=not claim.own_words, corrects=corrects)
        ):
            return sentence, others[0]
    return None


def takes_back(anchor: Anchor, text: str) -> bool:
    """Another value in its place, in so many words: "90 instead of 30"."""
    behind = [next(iter(anchors_of(text[found.end() : found.end() + 30])), None) for found in IN_PLACE.finditer(text)]
    return any(other and same_value(other, anchor) and agree(other.unit, anchor.unit) for other in behind)


def agree(one: str, other: str) -> bool:
    return one == other or not one or not other


def speaks_of(words: frozenset[str], text: str, *, strictly: bool, corrects: bool) -> bool:
    """Of a quotation, which only tells what was said then, all but the value is said again."""
    others = frame(text)
    shared = len(words & others)
    if strictly:
        return shared >= FEWEST and shared >= REPEATED_FRAME * len(words | others)
    needed, of_both = (CORRECTED_FRAME, IN_PART) if corrects else (LATER_FRAME, REPEATED_FRAME)
    return shared >= FEWEST and shared >= needed * len(words) and shared >= of_both * len(others)
