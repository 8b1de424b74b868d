"""Excerpts as their page shows them: each quote with its place in the log, and what is left out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from compaction.domain.artifact import Artifact as Document
from compaction.domain.digest import digest_limit
from compaction.pages.presenters.citing import CitedSpan, spans_of
from efforts.domain.text.source_text import Source

# In the prompt the two sides have the names that models know.
SIDES = re.compile(r"(?<=, )(?:user|assistant)(?=\)?$)")


@dataclass(frozen=True, kw_only=True)
class QuoteView:
    """`number` is its place on the page. `spans` lead to the log; none where an entry of the person's list has no
    sentence in it."""

    number: int
    label: str
    text: str
    spans: tuple[CitedSpan, ...]

    @property
    def span_numbers(self) -> str:
        return " ".join(str(span.number) for span in self.spans)


@dataclass(frozen=True, kw_only=True)
class ExcerptsView:
    """`left_out` of the log's `sentences` are in no quote; all quotes together have `limit` tokens at most."""

    quotes: tuple[QuoteView, ...]
    spans: tuple[CitedSpan, ...]
    sentences: int
    limit: int

    @property
    def left_out(self) -> int:
        return self.sentences - len(self.spans)

    @property
    def ids(self) -> dict[int, str]:
        return {quote.number: str(quote.number) for quote in self.quotes}


def excerpts_of(document: Document, source: Source, person: str) -> ExcerptsView:
    """Of an artifact that is no digest, without quotes. Who said it is called as in the log beside it."""
    names = {"user": person, "assistant": "model"}
    excerpts, limit = list(enumerate(document.excerpts, 1)), digest_limit(document.source.source_tokens)
    spans = spans_of({number: excerpt.cites for number, excerpt in excerpts}, source)
    quotes = tuple(
        QuoteView(
            number=number,
            label=SIDES.sub(lambda side: names[side[0]], excerpt.label.strip("[]")),
            text=excerpt.text,
            spans=spans_for(number, spans),
        )
        for number, excerpt in excerpts
    )
    return ExcerptsView(quotes=quotes, spans=spans, sentences=len(source.by_sentence), limit=limit)


def spans_for(number: int, spans: Sequence[CitedSpan]) -> tuple[CitedSpan, ...]:
    return tuple(span for span in spans if number in span.claims)
