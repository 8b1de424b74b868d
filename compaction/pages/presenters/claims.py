"""The claims of one artifact as its page lists them, with the sentences that each cites and what readers say of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from compaction.domain.artifact import Artifact as Document
from compaction.domain.artifact import Claim, Section
from compaction.domain.check.result import Checked, Opinion
from compaction.domain.diffing import DiffPiece, word_diff
from compaction.domain.lifecycle import ClaimVerdictValue
from compaction.domain.rendering import MARKS, TITLES, line_of, one_line
from compaction.pages.presenters.citing import CitedSpan, key_of, labels_of, spans_of
from compaction.pages.presenters.source import who
from compaction.pages.presenters.verdicts import Verdicts, VerdictView
from efforts.domain.text.source_text import Source

DOUBTED = "doubted"
ADDED = "added"
# What one claim of a section is called, and its icon.
KINDS: dict[str, tuple[str, str]] = {
    Section.RESULT: ("Result", "layers"),
    Section.RULE: ("Rule", "rule"),
    Section.DECISION: ("Decision", "keep"),
    Section.OPEN_WORK: ("To-do", "open"),
    Section.NEXT_STEP: ("Next step", "to"),
    Section.CHANGED: ("Change", "edit"),
    Section.FACT: ("Fact", "where"),
    Section.RISK: ("Risk", "alert"),
    Section.REJECTED: ("Rejected", "cross"),
}
TITLED: dict[str, str] = {str(section): title for section, title in TITLES.items()}
# As those of the person's list are called on every page.
TITLED |= {Section.DECISION: "Decisions", Section.OPEN_WORK: "To-dos"}
# What a reader doubts is read first; then the result.
GROUPS = {DOUBTED: "Doubted", Section.RESULT: "Result", **TITLED, ADDED: "Added by you"}
# Of a longer group the rest is folded.
LISTED = 12


@dataclass(frozen=True, kw_only=True)
class OpinionView:
    """What one reader says of a claim. `sentence` says otherwise, in the words `quoted`, in this `place` of the log."""

    doubts: bool
    by: str
    person: bool
    worded: bool
    phrase: str
    sentence: str
    quoted: str
    place: str
    why: str

    @property
    def css(self) -> str:
        return "warn" if self.doubts else "ok"

    @property
    def icon(self) -> str:
        return "alert" if self.doubts else "check"


@dataclass(frozen=True, kw_only=True)
class CitedView:
    """A sentence that a claim cites, with who said it; `span` leads to it in the log."""

    id: str
    who: str
    text: str
    span: int


@dataclass(frozen=True, kw_only=True)
class ClaimView:
    """`number` is its place on the page; `item` its id, by which gates, readers and verdicts call it. `lost` are cites
    that the log does not have."""

    number: int
    item: str
    section: str
    group: str
    text: str
    line: str
    verdict: VerdictView | None
    others: tuple[VerdictView, ...]
    opinions: tuple[OpinionView, ...]
    mark: str
    owner: str
    due: str
    turn: int | None
    spans: tuple[CitedSpan, ...]
    cited: tuple[CitedView, ...]
    lost: tuple[str, ...]
    is_last_result: bool

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
    def is_doubted(self) -> bool:
        return any(one.doubts for one in self.opinions)

    @property
    def at_fault(self) -> tuple[str, str, str]:
        """Its words before, in and after the phrase that a reader doubts; all of them before where it has no such."""
        for one in self.opinions:
            before, phrase, after = self.text.partition(one.phrase) if one.doubts and one.phrase else ("", "", "")
            if phrase:
                return before, phrase, after
        return self.text, "", ""

    @property
    def suggested(self) -> str:
        """The verdict that the checker's comes to; none where no model has read the claim."""
        if not any(not one.person for one in self.opinions):
            return ""
        if not self.is_doubted:
            return ClaimVerdictValue.KEPT
        return ClaimVerdictValue.NEEDS_SOURCE if self.is_last_result else ClaimVerdictValue.STRUCK

    @property
    def is_editable(self) -> bool:
        """A rule is kept or struck; other words would not be what was said."""
        return self.section != Section.RULE

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
    def difference(self) -> tuple[DiffPiece, ...]:
        """To the words of the draft, where it is edited."""
        return word_diff(self.text, self.edited) if self.edited != self.text else ()


@dataclass(frozen=True, kw_only=True)
class ClaimGroup:
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
class Claims:
    groups: tuple[ClaimGroup, ...]
    spans: tuple[CitedSpan, ...]

    @property
    def all(self) -> tuple[ClaimView, ...]:
        return tuple(claim for group in self.groups for claim in group.claims)

    @property
    def decided(self) -> int:
        return sum(claim.verdict is not None for claim in self.all)

    @property
    def numbers(self) -> dict[str, int]:
        """On the page, by their ids."""
        return {claim.item: claim.number for claim in self.all}

    @property
    def ids(self) -> dict[int, str]:
        return {claim.number: claim.item for claim in self.all}

    def of(self, item: str) -> ClaimView | None:
        return next((claim for claim in self.all if claim.item == item), None)


NONE = Claims(groups=(), spans=())


def claims_of(document: Document, source: Source, check: Checked | None, verdicts: Verdicts, person: str) -> Claims:
    """`person` is what the one who talks with the model is called."""
    opinions: Mapping[str, tuple[Opinion, ...]] = check.opinions if check else {}
    grouped = {group: list(told) for group, told in grouped_claims(document.claims, opinions).items()}
    grouped[ADDED] = list(verdicts.added)
    in_order = [(group, claim) for group in GROUPS for claim in grouped.get(group, ())]
    spans = spans_of({number: claim.cites for number, (_, claim) in enumerate(in_order, 1)}, source)
    of_claim: dict[int, list[CitedSpan]] = {number: [] for number in range(1, len(in_order) + 1)}
    for span in spans:
        for number in span.claims:
            of_claim[number].append(span)
    results = [claim for claim in document.claims if claim.section == Section.RESULT]
    labels = labels_of(source)
    views = [
        ClaimView(
            number=number,
            item=claim.id,
            section=claim.section,
            group=group,
            text=claim.text,
            line=line_of(claim),
            verdict=verdicts.mine.get(claim.id),
            others=verdicts.others.get(claim.id, ()),
            opinions=tuple(opinion_view(one, source, labels) for one in opinions.get(claim.content, ())),
            mark=MARKS.get(claim.status, ""),
            owner=claim.owner,
            due=claim.due,
            turn=turn_of(claim, source),
            spans=tuple(of_claim[number]),
            cited=tuple(cited_view(span, source, person) for span in of_claim[number]),
            lost=tuple(id for id in claim.cites if id not in source.by_sentence),
            is_last_result=results == [claim],
        )
        for number, (group, claim) in enumerate(in_order, 1)
    ]
    groups = [
        ClaimGroup(section=section, title=title, claims=found)
        for section, title in GROUPS.items()
        if (found := tuple(view for view in views if view.group == section))
    ]
    return Claims(groups=tuple(groups), spans=spans)


def grouped_claims(claims: Iterable[Claim], opinions: Mapping[str, Sequence[Opinion]]) -> dict[str, list[Claim]]:
    found: dict[str, list[Claim]] = {}
    for claim in claims:
        doubted = any(one.doubts for one in opinions.get(claim.content, ()))
        found.setdefault(DOUBTED if doubted else claim.section, []).append(claim)
    return found


def opinion_view(opinion: Opinion, source: Source, labels: Mapping[str, str]) -> OpinionView:
    stands = source.by_sentence.get(opinion.sentence)
    return OpinionView(
        doubts=opinion.doubts,
        by=opinion.by,
        person=opinion.person,
        worded=opinion.worded,
        phrase=opinion.phrase,
        sentence=labels.get(opinion.sentence, opinion.sentence),
        quoted=one_line(stands.text) if stands else "",
        place=key_of(stands) if stands else "",
        why=opinion.why,
    )


def cited_view(span: CitedSpan, source: Source, person: str) -> CitedView:
    sentence = span.sentence
    return CitedView(
        id=span.label, who=who(source.part_of(sentence.id), person), text=one_line(sentence.text), span=span.number
    )


def turn_of(claim: Claim, source: Source) -> int | None:
    """The first that it cites."""
    return next((source.part_of(id).turn for id in claim.cites if id in source.by_sentence), None)
