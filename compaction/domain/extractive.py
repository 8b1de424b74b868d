"""A draft made of a scope's own sentences, for which no model is needed: each item is a quotation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from efforts.domain.details import headline
from efforts.domain.extractive import plain, summarise
from efforts.domain.source_text import Source

from .anchors import missing
from .artifact import STATUSES, Actor, Draft, DraftItem, Link, Quote, Section, Status
from .claims import claims_of
from .fates import fated
from .gates.judging import is_telling as counts_as_quoted
from .ledger import Entry, overlap
from .making import ACTORS, item_of, opening_of
from .rendering import text_of as body_of
from .settling import Claim, Scope
from .thorough import all_that_they_may_be, more_units, room_left
from .units import Unit
from .wording import content, content_words, recall, weight

Count = Callable[[str], int]

# Of the source's tokens: what the body takes at most of a small scope and of a large one, and what facts may fill up.
SMALL_SHARE, LARGE_SHARE, FACTS_SHARE = 0.9, 0.35, 0.3
SMALL, LARGE = 3_000, 20_000
# What weighs less is not worth its place, whatever room there is.
LEAST = {
    Section.DECISION: 0.8,
    Section.OPEN_WORK: 0.8,
    Section.CONSTRAINT: 2.0,
    Section.REJECTED: 1.0,
    Section.FACT: 1.5,
}
# What the ids of items begin with: what was heard in the words, and what else they may be.
HEARD, MAYBE = "x", "maybe"
GONE = frozenset({Status.SUPERSEDED, Status.REJECTED})
SETTLED = GONE | {Status.DONE, Status.DROPPED, Status.REVOKED}
# Tokens of a line beside its quotation, and of one more word for what it sounds like.
MARKS, LABEL = 9, 2
# Of the source's tokens, which the text of a draft stays below.
MOST_SHARE = 0.97
JOINT = " … "
MOST_QUOTES = 7
# Where the scope has no words at all, and no name.
NAMELESS = "…"
HEADLINE_SHARE, LEAST_HEADLINE = 0.08, 30
SHORTEST_QUOTE, FEWEST_WORDS = 12, 3
BORNE_OUT = 0.4
RIVALS = {Section.DECISION: Section.OPEN_WORK, Section.OPEN_WORK: Section.DECISION}
# The weight of what the ledger has.
CONFIRMED = 1_000.0
RIVAL = 0.25
# Rules are few, and none may be missing.
FIRST, SURELY = 3.0, 3.0
# Characters that cost as much as one of weight.
DEAR = 150


def extract(
    source: Source,
    *,
    name: str,
    count: Count,
    ledger: Sequence[Entry] = (),
    rest: Sequence[str] = (),
    long_headline: bool = False,
) -> Draft:
    """Deterministic. What the ledger has of the scope is kept first, with the status that it has there.

    The headline is short where the scope is, so that the items have room; not so with `long_headline`, where only the
    headline shall stand.
    """
    scope = Scope(source=source)
    total = count(source.text)
    found = list(fated(scope, weighed(claims_of(scope))))
    standing = without(source, [unit for claim in found if claim.status in GONE for unit in claim.shown])
    whole = headline(standing, name=name, count=count, rest=rest)
    short = shorter_headline(standing, whole, name=name, count=count, total=total)
    said = (long_headline and whole) or short
    room = int(total * share_of(total)) - count(short)
    known = [claim for entry in ledger if (claim := kept(scope, entry))]
    found = [claim for claim in found if not is_known(claim, known)]
    chosen = choose([widened(scope, claim) for claim in (*known, *found)], room, count)
    items = fitting(scope, short, chosen, room, count)
    return Draft(headline=said, headline_items=backing(said, items), items=items)


def without(source: Source, units: Sequence[Unit]) -> Source:
    """The source without these words, so that a headline made of it says nothing that was taken back."""
    parts = []
    for part in source.parts:
        text = part.text
        for unit in units:
            if (unit.message, unit.part) == (part.message, part.part):
                text = text[: unit.start] + " " * (unit.end - unit.start) + text[unit.end :]
        parts.append(replace(part, text=text))
    return replace(source, parts=tuple(parts))


def fitting(scope: Scope, said: str, chosen: Sequence[Claim], room: int, count: Count) -> tuple[DraftItem, ...]:
    """The items whose text is smaller than the source: what is estimated may be wrong in very short scopes."""
    heard = tuple(items_of(chosen, HEARD))
    opening, most = opening_of(scope.source, count), count(scope.source.text) * MOST_SHARE
    items = heard
    for share in (1.0, 0.6, 0.3, 0.0):
        items = (*heard, *items_of(others(scope, chosen, int(room * share), count), MAYBE))
        if count(body_of(said, opening, [item_of(item, scope.source) for item in items])) < most:
            break
    return items


def others(scope: Scope, chosen: Sequence[Claim], room: int, count: Count) -> list[Claim]:
    """What else the words may be that are quoted, and more words as far as there is room."""
    opening = opening_of(scope.source, count)
    first = [unit for unit in scope.units if any(overlap(unit, link) for link in opening)]
    more = more_units(scope, chosen, room_left(chosen, room, count), count, first=first)
    # What became of some words is known, and of others the ledger says it.
    settled = {unit for claim in chosen if claim.ledger or claim.status in SETTLED for unit in claim.shown}
    shown = {unit for claim in chosen for unit in claim.shown}
    found = [borne_out(scope, claim) for claim in all_that_they_may_be(scope, [*shown, *more], settled)]
    return [claim for claim in found if bears_itself_out(claim.unit, scope.source) or is_borne_out(claim)]


def borne_out(scope: Scope, claim: Claim) -> Claim:
    beside = None if bears_itself_out(claim.unit, scope.source) else with_neighbour(scope, claim.unit)
    return replace(claim, behind=(beside,)) if beside else claim


def bears_itself_out(unit: Unit, source: Source) -> bool:
    link = Link(message=unit.message, part=unit.part, start=unit.start, end=unit.end, quote=unit.text)
    return counts_as_quoted(link, source)


def share_of(total: int) -> float:
    """Of small scopes more is kept, of large ones less."""
    between = min(max((total - SMALL) / (LARGE - SMALL), 0.0), 1.0)
    return SMALL_SHARE - between * (SMALL_SHARE - LARGE_SHARE)


def shorter_headline(source: Source, whole: str, *, name: str, count: Count, total: int) -> str:
    """Of a small scope a headline that leaves room for the items."""
    if whole and count(whole) <= total * HEADLINE_SHARE:
        return whole
    limit = max(int(total * HEADLINE_SHARE), LEAST_HEADLINE)
    return summarise(source, name=name, count=count, limit=limit) or name or NAMELESS


def kept(scope: Scope, entry: Entry) -> Claim | None:
    """An entry of the ledger in the words of the scope; nothing where it lies outside."""
    span = next((span for span in entry.spans if (span.message, span.part) in scope.source.by_place), None)
    if span is None or entry.status not in STATUSES[entry.section]:
        return None
    part = scope.source.by_place[span.message, span.part]
    inside = [unit for unit in scope.units if overlap(unit, span)]
    words = Unit(
        order=inside[-1].order if inside else 0,
        message=part.message,
        turn=part.turn,
        role=str(part.role),
        speaker=str(part.role),
        part=part.part,
        start=span.start,
        end=span.end,
        text=part.text[span.start : span.end],
        first=False,
    )
    return Claim(
        section=entry.section,
        status=entry.status,
        shown=(words,),
        behind=tuple(inside),
        weight=CONFIRMED,
        by=str(part.role),
        ledger=entry.id,
    )


def is_known(claim: Claim, known: Sequence[Claim]) -> bool:
    """Whether the ledger speaks of these words: it knows better what became of them."""
    return any(
        claim.section == other.section and any(overlap(unit, words) for unit in claim.shown for words in other.shown)
        for other in known
    )


def weighed(claims: Sequence[Claim]) -> list[Claim]:
    """What sounds much more like open work is hardly also a decision, and the other way round."""
    heaviest: dict[tuple[Section, Unit], float] = {}
    for claim in claims:
        key = claim.section, claim.unit
        heaviest[key] = max(heaviest.get(key, 0.0), claim.weight)
    return [replace(claim, weight=claim.weight - RIVAL * rivalry(claim, heaviest)) for claim in claims]


def rivalry(claim: Claim, heaviest: Mapping[tuple[Section, Unit], float]) -> float:
    other = RIVALS.get(claim.section)
    return max(heaviest.get((other, claim.unit), 0.0) - claim.weight, 0.0) if other else 0.0


def choose(claims: Iterable[Claim], room: int, count: Count) -> list[Claim]:
    """The heaviest that fit, each matter once before any twice; facts only where there is room left."""
    worthy = sorted((claim for claim in claims if is_worthy(claim)), key=order_of)
    first, again = once_each(worthy)
    chosen: list[Claim] = []
    shown: set[tuple[int, str]] = set()
    for claim in (*first, *again):
        price = LABEL if place_of(claim) in shown else count(text_of(claim)) + MARKS
        limit = room * FACTS_SHARE if claim.section == Section.FACT else room
        if (claim.ledger or (price <= limit and is_borne_out(claim))) and not any(same(claim, one) for one in chosen):
            chosen.append(claim)
            shown.add(place_of(claim))
            room -= price
    return sorted(chosen, key=lambda claim: (claim.unit.order, claim.unit.start, claim.section))


def widened(scope: Scope, claim: Claim) -> Claim:
    """Words too short to be quoted alone are borne out by what stands beside them in their message, too."""
    more = [wide for unit in claim.shown if not is_telling(unit) and (wide := with_neighbour(scope, unit))]
    return replace(claim, behind=(*more, *claim.behind, *scope.background(claim)))


def with_neighbour(scope: Scope, unit: Unit) -> Unit | None:
    neighbours = [scope.units[order] for order in (unit.order + 1, unit.order - 1) if 0 <= order < len(scope.units)]
    for other in neighbours:
        if (other.message, other.part) == (unit.message, unit.part):
            start, end = min(unit.start, other.start), max(unit.end, other.end)
            text = scope.source.by_place[unit.message, unit.part].text[start:end]
            return replace(unit, start=start, end=end, text=text)
    return None


def place_of(claim: Claim) -> tuple[int, str]:
    """Two quotations of one place are shown once."""
    return max(unit.turn for unit in claim.units[:MOST_QUOTES]), text_of(claim)


def order_of(claim: Claim) -> tuple[bool, float, int, int]:
    return (
        claim.section == Section.FACT,
        -claim.weight - FIRST * is_a_rule(claim) + len(text_of(claim)) / DEAR,
        claim.unit.order,
        claim.unit.start,
    )


def is_a_rule(claim: Claim) -> bool:
    return claim.section == Section.CONSTRAINT and claim.weight >= SURELY


def is_worthy(claim: Claim) -> bool:
    return claim.weight >= LEAST[claim.section]


def is_borne_out(claim: Claim) -> bool:
    """Whether those of its quotations that say something by themselves say what it says: gate B asks for it."""
    telling = [unit.text for unit in claim.units[:MOST_QUOTES] if is_telling(unit)]
    said = text_of(claim)
    return recall(content(said), content("\n".join(telling))) >= BORNE_OUT and not missing(said, telling)


def is_telling(unit: Unit) -> bool:
    return weight(unit.text) >= SHORTEST_QUOTE and content_words(unit.text) >= FEWEST_WORDS


def once_each(claims: Sequence[Claim]) -> tuple[list[Claim], list[Claim]]:
    """Those about something new in their section, and those that say again what a heavier one says."""
    said: dict[Section, set[Unit]] = {}
    first: list[Claim] = []
    again: list[Claim] = []
    for claim in claims:
        known = said.setdefault(claim.section, set())
        (again if known.issuperset(claim.shown) else first).append(claim)
        known.update(claim.shown)
    return first, again


def same(claim: Claim, other: Claim) -> bool:
    """Whether one would only repeat the other, or say of the same words that something else became of them."""
    if claim.section != other.section:
        return False
    return text_of(claim) == text_of(other) or (claim.status != other.status and claim.unit == other.unit)


def items_of(claims: Iterable[Claim], prefix: str) -> Iterator[DraftItem]:
    for number, claim in enumerate(claims, start=1):
        yield DraftItem(
            id=f"{prefix}{number}",
            section=claim.section,
            status=claim.status,
            actor=actor_of(claim),
            text=text_of(claim),
            ledger=claim.ledger,
            quotes=tuple(Quote(message=unit.message, quote=unit.text) for unit in claim.units[:MOST_QUOTES]),
        )


def actor_of(claim: Claim) -> Actor:
    return ACTORS.get(claim.by, "tool")


def text_of(claim: Claim) -> str:
    return JOINT.join(unit.text for unit in claim.shown)


def backing(said: str, items: Sequence[DraftItem]) -> tuple[str, ...]:
    """The items whose words the headline repeats."""
    line = plain(said).casefold()
    return tuple(
        item.id for item in items if any(plain(part).casefold().rstrip(".") in line for part in item.text.split(JOINT))
    )
