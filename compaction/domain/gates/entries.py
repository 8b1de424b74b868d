"""Which items of an artifact say what an entry of the ledger says."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence, Set
from typing import TypeVar

from efforts.domain.source_text import Source

from ..anchors import Type, missing, stands
from ..artifact import Item, Link, Status
from ..denials import denial
from ..ledger import Entry, Span, overlap
from ..one_word import turned_by
from ..wording import content, linked_sentences, recall
from .judging import valid_links

T = TypeVar("T", bound=Hashable)

UNFINISHED = frozenset({Status.OPEN, Status.BLOCKED})
NOT_DONE = re.compile(
    r"(?:\bnot|n['’]t|\bnever|\bno) (?:\w+ ){0,2}(?:done|finished|ready|started|begun|completed?|built|written|fixed"
    r"|sent|booked|decided|settled|tested|merged|deployed|made|there)\b",
    re.IGNORECASE,
)
# Of the words of an entry so many are in the text of an item that says the same; fewer where the item also quotes
# words that the entry comes from, and fewest where these are the words by which it is known.
SAME, SAME_WHERE_QUOTED, SAME_WHERE_TOUCHED, SAME_WHERE_KNOWN = 0.6, 0.5, 0.34, 0.2
# A quotation that has so much of the words by which an entry is known is of them.
KNOWN, FEWEST = 0.5, 2

# A quotation that has so much of a sentence has it; full stops and first words may lack.
COVERED = 0.6


def pairs(entries: Iterable[Entry], items: Sequence[Item]) -> Iterator[tuple[Entry, Item]]:
    """Those that may say the same: they have a message in common, or most of the words of the entry."""
    holding = postings(content(item.text) for item in items)
    at = postings({link.message for link in item.links} for item in items)
    for entry in entries:
        words = content(entry.text)
        shared = Counter(number for word in words for number in holding.get(word, ()))
        near = {number for number, count in shared.items() if count >= SAME * len(words)}
        near |= {number for span in entry.spans for number in at.get(span.message, ())}
        yield from ((entry, items[number]) for number in sorted(near))


def postings(sets: Iterable[Set[T]]) -> dict[T, list[int]]:
    """For each member the numbers of the sets that have it."""
    found: dict[T, list[int]] = {}
    for number, members in enumerate(sets):
        for member in members:
            found.setdefault(member, []).append(number)
    return found


def may_say_the_same(entry: Entry, item: Item) -> bool:
    """As `pairs` has it, of one of each."""
    quoted = {link.message for link in item.links}
    near = any(span.message in quoted for span in entry.spans)
    return near or recall(content(entry.text), content(item.text)) >= SAME


def says_the_same(entry: Entry, item: Item, source: Source) -> int:
    """How well the item keeps the entry, above 0 where it does. That it names the entry's id is worth nothing."""
    if not may_say_the_same(entry, item):
        return 0
    links = valid_links(item, source)
    texts = [item.text, *(link.quote for link in links)]
    words, told = content(entry.text), content(item.text)
    shared = recall(words, told)
    enough = shared >= needed(entry, links, len(words & told)) or retells(entry, item, links, source)
    if not enough or lacks(entry, texts, source):
        return 0
    unlike = not item.verbatim and (lacks_number(entry, texts, source) or denies(item, entry, links, source))
    return 0 if unlike else int(1000 * shared) + 1


def retells(entry: Entry, item: Item, links: tuple[Link, ...], source: Source) -> bool:
    """Whether it quotes the words by which the entry is known, and has most of them."""
    said = [content(spoken(span, source)) for span in entry.spans[:1] if covered(span, links) >= COVERED]
    return any(recall(words, content(item.text)) >= SAME for words in said)


def lacks(entry: Entry, texts: list[str], source: Source) -> bool:
    """Whether a value that the entry and the words it is known by have in common is in none of the texts."""
    known_by = spoken(entry.spans[0], source) if entry.spans else entry.text
    return any(stands(anchor, known_by) for anchor in missing(entry.text, texts))


def lacks_number(entry: Entry, texts: list[str], source: Source) -> bool:
    """Also one of the words by which the entry was spoken of again."""
    spoken_of = "\n".join(spoken(span, source) for span in entry.spans)
    absent = (anchor for anchor in missing(entry.text, texts) if anchor.type == Type.NUMBER)
    return any(stands(anchor, spoken_of) for anchor in absent)


def denies(item: Item, entry: Entry, links: Iterable[Link], source: Source) -> bool:
    """The entry, or beside it what the item quotes. A quotation alone may deny in another way than the entry."""
    if says_open(item.text, entry):
        return False
    if turned_by(item.text, entry.text):
        return True
    quoted = [sentence.text for link in links for sentence in linked_sentences(link, source)]
    return bool(denial(item.text, [entry.text]) or denial(item.text, [entry.text, *quoted]))


def says_open(text: str, entry: Entry) -> bool:
    """What is not finished is open: that denies no open work."""
    return entry.status in UNFINISHED and bool(NOT_DONE.search(text))


def needed(entry: Entry, links: Collection[Link], shared: int) -> float:
    """One word in common is little."""
    shares = [covered(span, links) for span in entry.spans]
    if shares and shares[0] >= KNOWN and shared >= FEWEST:
        return SAME_WHERE_KNOWN
    return SAME_WHERE_TOUCHED if any(shares[:1]) else SAME_WHERE_QUOTED if any(shares) else SAME


def spoken(span: Span, source: Source) -> str:
    part = source.by_place.get((span.message, span.part))
    return part.text[span.start : span.end] if part else ""


def covered(span: Span, links: Iterable[Link]) -> float:
    """How much of the span the links hold together, from 0 to 1."""
    inside = [range(max(link.start, span.start), min(link.end, span.end)) for link in links if overlap(link, span)]
    return len({place for places in inside for place in places}) / max(span.end - span.start, 1)
