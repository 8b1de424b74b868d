"""What a prompt shows of a symbol: where it is, its signature, what is said of it, and some of its lines."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from efforts.domain.text.redaction import redact
from efforts.domain.text.terms import terms_of

# Lines of a card's excerpt, in the light form and with an excerpt around what was looked for; of one shown whole.
SNIPPET, EXCERPT, BODY = 5, 30, 120
# Characters of what is said of a symbol, and of one line of code.
DOC, LINE = 240, 160


@dataclass(frozen=True, kw_only=True)
class Card:
    """A symbol as it is shown; `callers` and `tests`: how many symbols call it."""

    qualified: str
    kind: str
    path: str
    lines: tuple[int, int]
    signature: str = ""
    doc: str = ""
    conditions: Sequence[str] = ()
    callers: int = 0
    tests: int = 0

    @property
    def head(self) -> str:
        counts = [f"{self.callers} caller{'s' if self.callers != 1 else ''}"] if self.callers else []
        counts += [f"{self.tests} test{'s' if self.tests != 1 else ''}"] if self.tests else []
        told = f" ({', '.join(counts)})" if counts else ""
        return f"@ {self.path}:{self.lines[0]}-{self.lines[1]} {self.kind} {self.qualified}{told}"


def card_text(card: Card, source: Sequence[str], terms: Collection[str], most: int) -> str:
    """With up to `most` lines of its code, those around what was looked for; 0: none. `source`: the file's lines."""
    shown = window(card, source, terms, most)
    first, last = card.lines
    # What its own lines show is not said twice.
    said = [*card.conditions[:3], card.signature] if not shown or shown[0] > first + len(card.conditions) else []
    doc = [] if shown and last - first < most else doc_lines(card.doc)
    numbered = [f"{line}| {source[line - 1][:LINE].rstrip()}" for line in shown if line <= len(source)]
    text = "\n".join([card.head, *(f"  {line[:LINE]}" for line in [*said, *doc] if line), *numbered])
    return str(redact(text).value)


def doc_lines(doc: str) -> list[str]:
    """The first paragraph."""
    paragraph = " ".join(doc.split("\n\n")[0].split())
    return [paragraph if len(paragraph) <= DOC else paragraph[: DOC - 1] + "…"] if paragraph else []


def window(card: Card, source: Sequence[str], terms: Collection[str], most: int) -> range:
    """The lines with most of what was looked for; of equal ones the first."""
    first, last = card.lines
    if last - first < most:
        return range(first, last + 1)
    wanted = set(terms)
    hits = [len(wanted.intersection(terms_of(line))) for line in source[first - 1 : last]]
    if not most or not hits:
        return range(first, first)
    sums = [sum(hits[start : start + most]) for start in range(max(len(hits) - most + 1, 1))]
    start = first + max(range(len(sums)), key=lambda place: (sums[place], -place))
    return range(start, min(start + most, last + 1))
