"""The claims of one artifact, or the quotes of excerpts, as its page lists them: the sentences that each cites, and
what readers and reviewers say of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from django.contrib.auth.models import User

from compaction.domain.artifact import Artifact as Document
from compaction.domain.artifact import Claim, Section
from compaction.domain.check.answers import Entailment
from compaction.domain.check.result import Checked, Opinion
from compaction.domain.editing import Decision, DiffPiece, word_diff
from compaction.domain.gates.contradiction import DOUBTED as CONTRADICTED
from compaction.domain.gates.judging import finding_id
from compaction.domain.gates.traceability import UNSUPPORTED
from compaction.domain.lifecycle import ClaimVerdictValue
from compaction.domain.rendering import MARKS
from compaction.drafting.reading import claim_from, decision_of
from compaction.models import Artifact, ClaimVerdict, SetAside
from compaction.pages.presenters.source import CitedSpan, key_of, labels_of, spans_of
from compaction.standing.export import SECTIONS
from efforts.domain.text.locating import one_line
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
# What a reader doubts is read first; then the result.
GROUPS = {DOUBTED: "Doubted", **SECTIONS, ADDED: "Added by you"}
# Of a longer group the rest is folded.
LISTED = 12
# In the prompt the two sides have the names that models know.
SAID_BY = re.compile(r"(?:(?P<kind>.+) \()?turn (?P<turn>\d+), (?P<side>user|assistant)\)?")


@dataclass(frozen=True, kw_only=True)
class OpinionView(Opinion):
    """What one reader says of a claim. The sentence that says otherwise is called `label`, its words are `quoted`, and
    it stands in this `place` of the log. `aside`: a person has set aside what it doubts."""

    label: str
    quoted: str
    place: str
    aside: SetAside | None

    @property
    def counts(self) -> bool:
        """Whether it doubts the claim, and nobody has set that aside."""
        return self.doubts and self.aside is None


@dataclass(frozen=True, kw_only=True)
class Citing:
    """`number` is its place on the page; `spans` lead to the log."""

    number: int
    spans: tuple[CitedSpan, ...]

    @property
    def span_numbers(self) -> str:
        return " ".join(str(span.number) for span in self.spans)


@dataclass(frozen=True, kw_only=True)
class QuoteView(Citing):
    """Without spans where an entry of the person's list has no sentence in the log."""

    label: str
    text: str


@dataclass(frozen=True, kw_only=True)
class ClaimView(Citing):
    """`lost` are cites that the log does not have."""

    said: Claim
    group: str
    verdict: ClaimVerdict | None
    others: tuple[ClaimVerdict, ...]
    opinions: tuple[OpinionView, ...]
    lost: tuple[str, ...]
    is_last_result: bool

    @property
    def item(self) -> str:
        """By which gates, readers and verdicts call it."""
        return self.said.id

    @property
    def kind(self) -> str:
        return KINDS[self.said.section][0]

    @property
    def icon(self) -> str:
        return KINDS[self.said.section][1]

    @property
    def mark(self) -> str:
        return MARKS.get(self.said.status, "")

    @property
    def is_doubted(self) -> bool:
        return any(one.counts for one in self.opinions)

    @property
    def at_fault(self) -> tuple[str, str, str]:
        """Its words before, in and after the phrase that a reader doubts; all of them before where it has no such."""
        for one in self.opinions:
            before, phrase, after = self.said.text.partition(one.phrase) if one.counts and one.phrase else ("", "", "")
            if phrase:
                return before, phrase, after
        return self.said.text, "", ""

    @property
    def suggested(self) -> str:
        """The verdict that the checker's comes to; none where no model has read the claim, or its doubt was set
        aside."""
        if not any(not one.person for one in self.opinions):
            return ""
        if not self.is_doubted:
            return "" if any(one.doubts for one in self.opinions) else ClaimVerdictValue.KEPT
        return ClaimVerdictValue.NEEDS_SOURCE if self.is_last_result else ClaimVerdictValue.STRUCK

    @property
    def is_editable(self) -> bool:
        """A rule is kept or struck; other words would not be what was said."""
        return self.said.section != Section.RULE

    @property
    def is_added(self) -> bool:
        return self.group == ADDED

    @property
    def can_undo(self) -> bool:
        return self.verdict is not None and not self.verdict.submitted_at

    @property
    def edited(self) -> str:
        return (self.verdict and self.verdict.text) or self.said.text

    @property
    def difference(self) -> tuple[DiffPiece, ...]:
        """To the words of the draft, where it is edited."""
        return word_diff(self.said.text, self.edited) if self.edited != self.said.text else ()


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


@dataclass(frozen=True, kw_only=True)
class Quotes:
    """Of an artifact that is no digest there are none."""

    quotes: tuple[QuoteView, ...]
    spans: tuple[CitedSpan, ...]

    @property
    def ids(self) -> dict[int, str]:
        return {quote.number: str(quote.number) for quote in self.quotes}


def claims_of(
    document: Document,
    source: Source,
    check: Checked | None,
    verdicts: Verdicts,
    person: str,
    aside: Mapping[str, SetAside],
) -> Claims:
    """`person` is what the one who talks with the model is called; `aside` what was set aside, by its finding."""
    labels = labels_of(source)
    said = check.opinions if check else {}
    opinions = {
        claim.id: tuple(opinion_view(one, claim, source, labels, aside) for one in said.get(claim.content, ()))
        for claim in (*document.claims, *verdicts.added)
    }
    grouped: dict[str, list[Claim]] = {ADDED: list(verdicts.added)}
    for claim in document.claims:
        # Its number stays when a doubt is set aside, as the log beside it has that too.
        doubted = any(one.doubts for one in opinions[claim.id])
        grouped.setdefault(DOUBTED if doubted else claim.section, []).append(claim)
    in_order = [(group, claim) for group in GROUPS for claim in grouped.get(group, ())]
    spans = spans_of({number: claim.cites for number, (_, claim) in enumerate(in_order, 1)}, source, person)
    cited = by_number(spans)
    results = [claim for claim in document.claims if claim.section == Section.RESULT]
    views = [
        ClaimView(
            number=number,
            said=claim,
            group=listed_in(group, claim, opinions[claim.id]),
            verdict=verdicts.mine.get(claim.id),
            others=verdicts.others.get(claim.id, ()),
            opinions=opinions[claim.id],
            spans=tuple(cited.get(number, ())),
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


def listed_in(group: str, claim: Claim, opinions: Iterable[OpinionView]) -> str:
    """Among those of its section, where no doubt of it counts any more."""
    return claim.section if group == DOUBTED and not any(one.counts for one in opinions) else group


def quotes_of(document: Document, source: Source, person: str) -> Quotes:
    """Who said it is called as in the log beside it."""
    names = {"user": person, "assistant": "reply"}
    excerpts = list(enumerate(document.excerpts, 1))
    spans = spans_of({number: excerpt.cites for number, excerpt in excerpts}, source, person)
    cited = by_number(spans)
    quotes = tuple(
        QuoteView(
            number=number,
            label=place_of(excerpt.label.strip("[]"), names),
            text=excerpt.text,
            spans=tuple(cited.get(number, ())),
        )
        for number, excerpt in excerpts
    )
    return Quotes(quotes=quotes, spans=spans)


def place_of(label: str, names: Mapping[str, str]) -> str:
    """With the sides named as people know them."""
    if not (said := SAID_BY.fullmatch(label)):
        return label
    kind, turn, who = said["kind"], said["turn"], names[said["side"]]
    return f"{kind} (turn {turn}, {who})" if kind else f"turn {turn}, {who}"


def by_number(spans: Iterable[CitedSpan]) -> dict[int, list[CitedSpan]]:
    """Of the claims or quotes on the page; one that cites nothing has no entry."""
    found: dict[int, list[CitedSpan]] = {}
    for span in spans:
        for number in span.claims:
            found.setdefault(number, []).append(span)
    return found


def opinion_view(
    opinion: Opinion, claim: Claim, source: Source, labels: Mapping[str, str], aside: Mapping[str, SetAside]
) -> OpinionView:
    stands = source.by_sentence.get(opinion.sentence)
    rule = UNSUPPORTED if opinion.verdict == Entailment.UNSUPPORTED else CONTRADICTED
    return OpinionView(
        **vars(opinion),
        label=labels.get(opinion.sentence, opinion.sentence),
        quoted=one_line(stands.text) if stands else "",
        place=key_of(stands) if stands else "",
        aside=aside.get(finding_id(rule, claim)),
    )


# How each verdict is called and shown: its colour and its icon.
LOOKS: dict[str, tuple[str, str, str]] = {
    ClaimVerdictValue.KEPT: ("Kept", "ok", "check"),
    ClaimVerdictValue.EDITED: ("Edited", "on", "edit"),
    ClaimVerdictValue.STRUCK: ("Struck", "bad", "cross"),
    ClaimVerdictValue.NEEDS_SOURCE: ("Needs a source", "warn", "alert"),
    ClaimVerdictValue.ADDED: ("Added", "ok", "plus"),
}


@dataclass(frozen=True, kw_only=True)
class Verdicts:
    """`mine` by what they are about; of others what they have handed in; `added` are claims that I have added.

    `also_here` are the names of those whose drafts nobody else sees yet; `decisions` are mine, as they change the text.
    """

    mine: Mapping[str, ClaimVerdict]
    others: Mapping[str, tuple[ClaimVerdict, ...]]
    added: tuple[Claim, ...]
    also_here: tuple[str, ...]
    decisions: tuple[Decision, ...]

    @property
    def drafts(self) -> int:
        return sum(not one.submitted_at for one in self.mine.values())

    @property
    def submitted(self) -> int:
        return len(self.mine) - self.drafts


def verdicts_on(row: Artifact, user: User) -> Verdicts:
    found = list(ClaimVerdict.objects.filter(artifact=row).select_related("reviewer").order_by("pk"))
    mine = [one for one in found if one.reviewer_id == user.pk]
    others: dict[str, tuple[ClaimVerdict, ...]] = {}
    for one in found:
        if one.reviewer_id != user.pk and one.submitted_at:
            others[one.item] = (*others.get(one.item, ()), one)
    waiting = (one.reviewer.get_username() for one in found if one.reviewer_id != user.pk and not one.submitted_at)
    return Verdicts(
        mine={one.item: one for one in mine},
        others=others,
        added=tuple(claim_from(one.added) for one in mine if one.added),
        also_here=tuple(dict.fromkeys(waiting)),
        decisions=tuple(decision_of(one) for one in mine if not one.submitted_at),
    )
