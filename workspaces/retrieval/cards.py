"""Symbols as cards: what a prompt shows of what was found."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from django.urls import reverse

from efforts.domain.effort.policy import ContextMode
from efforts.domain.prompt.conversation import CodeCard
from workspaces.domain.cards import BODY, EXCERPT, SNIPPET, Card, card_text
from workspaces.domain.ranking import Scored
from workspaces.models import CodeHit, Snapshot, Symbol
from workspaces.retrieval.search import CodeSearch

# Of Heavy's cards so many are exemplars: shown whole, so that a model sees how such code is written here.
EXEMPLARS = 2
# Hits that are kept for a prompt to choose from; what has less than this share of the best score is there by chance.
KEPT = 24
LEAST_OF_BEST = 0.25
# A message is about the code if what answers it best has this share of what would say all of it. Few words are there by
# chance sooner than many: they count as if there were five more, which the code has not.
LEAST_OF_MESSAGE, FEW = 0.133, 5
# Words of the query that a symbol must have, where the query has so many.
LEAST_WORDS = 2
# Steps of 10,000: what is nearer to the meaning of a message needs none of its words.
NEAR = 3_500
EXEMPLAR = "An exemplar: Heavy shows the best two whole."


@dataclass(frozen=True, kw_only=True)
class FoundCard:
    """A symbol that was found, as a prompt may show it."""

    scored: Scored
    symbol: Symbol
    text: str
    short: str
    why: tuple[str, ...]


def cards_of(snapshot: Snapshot, found: CodeSearch, mode: ContextMode) -> Iterator[FoundCard]:
    """Of what was found that which a message points at, the best first."""
    counts = counts_of(snapshot)
    for place, one in enumerate(pointed_at(found)):
        symbol = found.rows[one.symbol]
        card = card_of(symbol, counts)
        source = symbol.file.text.split("\n")
        is_exemplar = mode == ContextMode.HEAVY and place < EXEMPLARS
        heavy = BODY if is_exemplar else EXCERPT
        long, short = (heavy, SNIPPET) if mode == ContextMode.HEAVY else (SNIPPET, 0)
        yield FoundCard(
            scored=one,
            symbol=symbol,
            text=card_text(card, source, found.terms, long),
            short=card_text(card, source, found.terms, short),
            why=(*why_of(found, one), *([EXEMPLAR] if is_exemplar else [])),
        )


def pointed_at(found: CodeSearch) -> list[Scored]:
    """Nothing where a message only shares everyday words with the code, and neither names nor means anything in it."""
    telling = [one for one in found.scored if is_telling(found, one) and one.symbol in found.rows]
    best = telling[0].score if telling else 0.0
    named = any(one.exact for one in telling)
    if not named and best < LEAST_OF_MESSAGE * found.most * (1 + FEW / max(len(found.terms), 1)):
        return [one for one in telling[:KEPT] if one.meaning >= NEAR]
    return [one for one in telling[:KEPT] if one.score >= LEAST_OF_BEST * best]


def is_telling(found: CodeSearch, one: Scored) -> bool:
    return one.exact or len(one.words) >= min(LEAST_WORDS, len(found.terms)) or one.meaning >= NEAR


def why_of(found: CodeSearch, one: Scored) -> Iterator[str]:
    if one.exact:
        yield "Your message names it."
    words = [f"“{word}”" for word in dict.fromkeys(found.typed[found.terms[place]] for place in one.words[:4])]
    if words:
        yield f"Has {', '.join(words[:-1])} and {words[-1]}." if len(words) > 1 else f"Has {words[0]}."
        if one.meaning >= NEAR:
            yield "Its meaning is near to that of your message."
    elif one.meaning:
        yield "Means something close to it, in other words."
    beside = [found.rows[id].qualified for id in one.through if id in found.rows and id != one.symbol]
    if beside:
        yield f"Connected with {beside[0]}."


def card_of(symbol: Symbol, counts: dict[int, tuple[int, int]]) -> Card:
    callers, tests = counts.get(symbol.pk, (0, 0))
    return Card(
        qualified=symbol.qualified,
        kind=symbol.kind,
        path=symbol.file.path,
        lines=(symbol.first_line, symbol.last_line),
        signature=symbol.signature,
        doc=symbol.doc,
        conditions=tuple(symbol.conditions),
        callers=callers,
        tests=tests,
    )


def counts_of(snapshot: Snapshot) -> dict[int, tuple[int, int]]:
    """Of the symbols that others call: by how many, and by how many tests."""
    return {id: (callers, tests) for id, _, callers, tests in snapshot.central}


def place_of(symbol: Symbol) -> str:
    return f"{symbol.file.path}:{symbol.first_line}-{symbol.last_line}"


def address_of(workspace: object, number: int, path: str, line: int) -> str:
    return f"{reverse('source', args=[workspace, number, path])}#L{line}"


def code_card(hit: CodeHit, address: str) -> CodeCard:
    return CodeCard(
        symbol=hit.symbol,
        title=hit.qualified,
        path=hit.path,
        lines=(hit.first_line, hit.last_line),
        sha256=hit.sha256,
        text=hit.text,
        short=hit.short,
        score=hit.score,
        why=tuple(hit.why),
        address=address,
    )
