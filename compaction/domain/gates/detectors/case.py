"""What detectors look at: each claim of an artifact beside what it quotes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from efforts.domain.extractive import QUESTION
from efforts.domain.source_text import Source

from ...artifact import HEADLINE, Artifact, Item, Link, Section, Status, is_mere_quotation
from ...ledger import Entry, overlap
from ...polarity import asserted, clauses_of
from ...verdicts import Finding, Judged
from ...wording import SourceSentence, content, likeness, linked_sentences
from ..entries import postings
from ..judging import exact_links, items_by_id, roles_of
from ..traceability import headline_pieces, is_brief, is_repeated, wanted_words

# Such an item says that something is so. The others say that it was said, or is no longer so.
ASSERTING = frozenset({Status.ACCEPTED, Status.OPEN, Status.BLOCKED, Status.DONE, Status.IN_FORCE, Status.STATED})

# An entry and an item so alike are about the same.
SAME_MATTER = 0.5


@dataclass(frozen=True, kw_only=True)
class Found:
    """`about` is the id of the item, or names the sentence of the headline."""

    rule: str
    about: str
    text: str


@dataclass(frozen=True, kw_only=True)
class Claim:
    """An item, or a sentence of the headline with the links of the items that back it.

    `quoted` are the sentences that its links hold a part of. `own_words` is whether somebody phrased it: not so where
    it repeats its source, or only tells what was said then. `retold` are the items that a sentence of the headline
    sums up, and the request that it begins with; `entries`, those of the ledger that stand and come from what it
    quotes.
    """

    about: str
    text: str
    links: tuple[Link, ...]
    quoted: tuple[SourceSentence, ...]
    roles: frozenset[str]
    item: Item | None
    own_words: bool
    retold: tuple[str, ...] = ()
    entries: tuple[Entry, ...] = ()

    @cached_property
    def quotes(self) -> tuple[str, ...]:
        return tuple(link.quote for link in self.links)

    @cached_property
    def said(self) -> tuple[str, ...]:
        """The whole sentences that it quotes, without questions, which say nothing; and what else it may repeat."""
        whole = [sentence.text for sentence in self.quoted if not is_question(sentence.text)]
        return (*self.retold, *(whole or (quote for quote in self.quotes if not is_question(quote))))

    @property
    def shown_links(self) -> tuple[Link, ...]:
        """Of a quotation those that it shows; others only say what it is about."""
        if not self.item or not self.item.verbatim:
            return self.links
        words = " ".join(self.text.split())
        return tuple(link for link in self.links if " ".join(link.quote.split()) in words)

    @property
    def asserts(self) -> bool:
        return self.item is None or self.item.status in ASSERTING


@dataclass(frozen=True, kw_only=True)
class Case:
    artifact: Artifact
    source: Source
    ledger: tuple[Entry, ...]
    findings: tuple[Finding, ...]
    claims: tuple[Claim, ...]
    near: Mapping[str, tuple[Entry, ...]]

    @property
    def of_items(self) -> tuple[Claim, ...]:
        return tuple(claim for claim in self.claims if claim.item)

    @property
    def told(self) -> tuple[Claim, ...]:
        """Claims that say how something stands. A mere quotation, shown with its turn, says that it was said then."""
        return tuple(claim for claim in self.claims if not (claim.item and is_mere_quotation(claim.item)))

    @property
    def phrased(self) -> tuple[Claim, ...]:
        """Claims that are held against the words they come from."""
        return tuple(claim for claim in self.claims if claim.own_words and claim.asserts)

    def kept_by(self, claim: Claim) -> Iterator[Entry]:
        """Entries that stand, and that the item tells in words of its own."""
        for entry in claim.entries:
            about = any(overlap(link, entry.spans[0]) for link in claim.links)
            if claim.item and about and is_like(claim, entry):
                yield entry


def is_like(claim: Claim, entry: Entry) -> bool:
    return likeness(content(entry.text), content(claim.text)) >= SAME_MATTER


def case_of(judged: Judged, artifact: Artifact) -> Case:
    confirmed = tuple(entry for entry in judged.ledger if entry.confirmed)
    claims = (*(claim_of(item, judged.source) for item in artifact.items), *of_headline(artifact, judged.source))
    standing = [entry for entry in confirmed if entry.spans and entry.status in ASSERTING - {Status.DONE}]
    claims = tuple(replace(claim, entries=entries_at(claim.links, standing)) for claim in claims)
    return Case(
        artifact=artifact,
        source=judged.source,
        ledger=confirmed,
        findings=judged.findings,
        claims=claims,
        near=near_entries(claims, confirmed),
    )


def near_entries(claims: Iterable[Claim], ledger: Sequence[Entry]) -> dict[str, tuple[Entry, ...]]:
    """For each claim those that it may be about: it quotes a message of theirs, or has enough of their words."""
    told = [asserted(entry.text) or content(entry.text) for entry in ledger]
    whole = [content(entry.text) for entry in ledger]
    at = postings({span.message for span in entry.spans} for entry in ledger)
    of_told, of_whole = postings(told), postings(whole)
    found = {}
    for claim in claims:
        words = words_of(claim)
        near = {number for link in claim.links for number in at.get(link.message, ())}
        for holding, sizes in ((of_told, told), (of_whole, whole)):
            shared = Counter(number for word in words for number in holding.get(word, ()))
            near |= {number for number, count in shared.items() if count >= SAME_MATTER * len(sizes[number])}
        found[claim.about] = tuple(ledger[number] for number in sorted(near))
    return found


def words_of(claim: Claim) -> frozenset[str]:
    return content(claim.text).union(*(clause.words for clause in clauses_of(claim.text)))


def pairs_alike(
    claims: Iterable[Claim], words_of: Callable[[str], frozenset[str]], least: float
) -> Iterator[tuple[Claim, Claim]]:
    """Two and two whose words are so alike, each pair once, in the order of the claims."""
    known = list(claims)
    words = [words_of(claim.text) for claim in known]
    holding = postings(words)
    for number, claim in enumerate(known):
        others = {other for word in words[number] for other in holding[word] if other > number}
        for other in sorted(others):
            if likeness(words[number], words[other]) >= least:
                yield claim, known[other]


def entries_at(links: Iterable[Link], standing: Iterable[Entry]) -> tuple[Entry, ...]:
    places = [(link, link.message) for link in links]
    return tuple(
        entry
        for entry in standing
        if any(overlap(link, span) for span in entry.spans for link, message in places if message == span.message)
    )


def claim_of(item: Item, source: Source) -> Claim:
    links = exact_links(item, source)
    return Claim(
        about=item.id,
        text=item.text,
        links=links,
        quoted=sentences_at(links, source),
        roles=roles_of(links, source),
        item=item,
        own_words=not item.verbatim and item.status != Status.UNCONFIRMED,
    )


def of_headline(artifact: Artifact, source: Source) -> Iterator[Claim]:
    known = items_by_id(artifact)
    backing = [known[id] for id in artifact.headline_items if id in known]
    links = tuple(link for item in backing for link in exact_links(item, source))
    pieces = [] if is_brief(artifact.headline, source) else headline_pieces(artifact.headline)
    for number, piece in enumerate(pieces, start=1):
        yield Claim(
            about=f"{HEADLINE} {number}",
            text=piece,
            links=links,
            quoted=sentences_at(links, source),
            roles=roles_of(links, source),
            item=None,
            own_words=not is_repeated(piece, source),
            retold=(*(item.text for item in backing), *wanted_words(artifact, source)),
        )


def is_question(text: str) -> bool:
    return bool(QUESTION.search(text))


def sentences_at(links: tuple[Link, ...], source: Source) -> tuple[SourceSentence, ...]:
    found = (sentence for link in links for sentence in linked_sentences(link, source))
    return tuple(sorted(set(found), key=lambda sentence: sentence.order))


WORK = frozenset({Section.OPEN_WORK, Section.NEXT_STEP, Section.CHANGED})
