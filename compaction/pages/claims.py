"""The claims of one artifact as its page lists them: numbered, with where each leads in the log."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from compaction.domain.artifact import HEADLINE, Item, Link, Section, is_mere_quotation
from compaction.domain.artifact import Artifact as Document
from compaction.domain.citing import Span, Stretch, joined, numbered, stretches
from compaction.domain.diffing import Piece, word_diff
from compaction.domain.gates.judging import is_exact
from compaction.domain.rendering import MARKS, TITLES, Quotation, quotations, shown_links
from efforts.domain.source_text import Source

from .verdicts import Verdicts, VerdictView

SAID = "said"
ADDED = "added"
HEADLINE_NUMBER = 1
# What one claim of a section is called, and its icon.
KINDS: dict[str, tuple[str, str]] = {
    HEADLINE: ("Headline", "layers"),
    Section.CONSTRAINT: ("Rule", "rule"),
    Section.DECISION: ("Decision", "keep"),
    Section.OPEN_WORK: ("Open work", "open"),
    Section.NEXT_STEP: ("Next step", "to"),
    Section.CHANGED: ("Change", "edit"),
    Section.FACT: ("Fact", "where"),
    Section.RISK: ("Risk", "alert"),
    Section.REJECTED: ("Turned down", "cross"),
    SAID: ("Word for word", "chat"),
}
TITLED: dict[str, str] = {str(section): title for section, title in TITLES.items()}
GROUPS = {HEADLINE: "Headline", **TITLED, SAID: "Word for word", ADDED: "Added by you"}
# Of a longer group the rest is folded.
LISTED = 12


@dataclass(frozen=True, kw_only=True)
class ClaimView:
    """`item` is what a verdict is about; `lost` are quotations that the log does not have where they should stand."""

    number: int
    item: str
    section: str
    group: str
    text: str
    verdict: VerdictView | None = None
    others: tuple[VerdictView, ...] = ()
    verbatim: bool = False
    mark: str = ""
    turn: int | None = None
    spans: tuple[Span, ...] = ()
    lost: tuple[str, ...] = ()
    backed_by: tuple[int, ...] = ()

    @property
    def kind(self) -> str:
        return KINDS[self.section][0]

    @property
    def icon(self) -> str:
        return KINDS[self.section][1]

    @property
    def span_numbers(self) -> str:
        return " ".join(str(span.number) for span in self.spans)

    @property
    def is_editable(self) -> bool:
        """What only quotes can be kept or struck; other words would not be what was said."""
        return not self.verbatim

    @property
    def is_headline(self) -> bool:
        return self.group == HEADLINE

    @property
    def is_added(self) -> bool:
        return self.group == ADDED

    @property
    def can_undo(self) -> bool:
        return self.verdict is not None and not self.verdict.submitted

    @property
    def edited(self) -> str:
        return self.verdict.text if self.verdict and self.verdict.text else self.text

    @property
    def difference(self) -> tuple[Piece, ...]:
        """To the words of the draft, where it is edited."""
        return word_diff(self.text, self.edited) if self.edited != self.text else ()


@dataclass(frozen=True, kw_only=True)
class GroupView:
    section: str
    title: str
    claims: tuple[ClaimView, ...]

    @property
    def listed(self) -> tuple[ClaimView, ...]:
        return self.claims if len(self.claims) <= LISTED else self.claims[: LISTED - 2]

    @property
    def folded(self) -> tuple[ClaimView, ...]:
        return self.claims[len(self.listed) :]


@dataclass(frozen=True, kw_only=True)
class Said:
    """Something to be listed, before it has spans."""

    item: str
    section: str
    text: str
    links: tuple[Link, ...]
    group: str = ""
    verbatim: bool = False
    mark: str = ""
    turn: int | None = None
    ids: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Claims:
    groups: tuple[GroupView, ...]
    spans: tuple[Span, ...]
    # Of claims, by the ids of their items.
    numbers: dict[str, int]

    @property
    def all(self) -> tuple[ClaimView, ...]:
        return tuple(claim for group in self.groups for claim in group.claims)

    @property
    def decided(self) -> int:
        return sum(claim.verdict is not None for claim in self.all)

    def of(self, item: str) -> ClaimView | None:
        return next((claim for claim in self.all if claim.item == item), None)


def claims_of(document: Document, source: Source, verdicts: Verdicts) -> Claims:
    said = dict(enumerate(chain(listed(document), map(said_by_me, verdicts.added)), 1))
    numbers = {id: number for number, one in said.items() for id in one.ids}
    backing = tuple(sorted({numbers[id] for id in document.headline_items}))
    cited = {number: places(one, source) for number, one in said.items()}
    # The headline leads where the claims lead that back it.
    cited[HEADLINE_NUMBER] = tuple(dict.fromkeys(at for number in backing for at in cited[number]))
    spans = numbered(cited, source)
    views = [claim_view(number, one, spans, source, backing, verdicts) for number, one in said.items()]
    groups = [
        GroupView(section=section, title=title, claims=found)
        for section, title in GROUPS.items()
        if (found := tuple(view for view in views if view.group == section))
    ]
    return Claims(groups=tuple(groups), spans=spans, numbers=numbers)


def listed(document: Document) -> Iterator[Said]:
    yield Said(item=HEADLINE, section=HEADLINE, text=document.headline, links=(), ids=(HEADLINE,))
    for section in TITLES:
        yield from (said_by(item) for item in document.items if item.section == section and not is_mere_quotation(item))
    yield from (said_word_for_word(one) for one in quotations(document.items))


def said_by(item: Item) -> Said:
    return Said(
        item=item.id,
        section=item.section,
        text=item.text,
        links=item.links,
        verbatim=item.verbatim,
        mark=MARKS.get(item.status, ""),
        turn=item.as_of_turn,
        ids=(item.id,),
    )


def said_by_me(item: Item) -> Said:
    """Of the next version, where it is submitted."""
    return replace(said_by(item), group=ADDED)


def said_word_for_word(one: Quotation) -> Said:
    shown = (link for item in one.items for link in shown_links(item))
    return Said(
        item=one.key,
        section=SAID,
        text=one.text,
        links=tuple(link for link in shown if (link.message, link.part) == (one.message, one.part)),
        verbatim=True,
        turn=one.turn,
        ids=tuple(item.id for item in one.items),
    )


def places(one: Said, source: Source) -> Sequence[Stretch]:
    found = stretches(one.links, source)
    return joined(found) if one.section == SAID else found


def claim_view(
    number: int, one: Said, spans: Iterable[Span], source: Source, backing: tuple[int, ...], verdicts: Verdicts
) -> ClaimView:
    return ClaimView(
        number=number,
        item=one.item,
        section=one.section,
        group=one.group or one.section,
        text=one.text,
        verdict=verdicts.mine.get(one.item),
        others=verdicts.others.get(one.item, ()),
        verbatim=one.verbatim,
        mark=one.mark,
        turn=one.turn,
        spans=tuple(span for span in spans if number in span.claims),
        lost=tuple(dict.fromkeys(link.quote for link in one.links if not is_exact(link, source))),
        backed_by=backing if one.section == HEADLINE else (),
    )
