"""What a source holds and no claim of its artifact cites: to be added, or said to be not needed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from efforts.domain.canonical import canonical_json, sha256
from efforts.domain.lifecycle import EntryState
from efforts.domain.source_text import Part, Source
from efforts.snapshots.ledger import CONSTRAINT, entries_of

from .domain.artifact import Artifact as Document
from .domain.artifact import Evidence, Item, Link, Section, Status, parse_artifact
from .domain.evidence import evidence_in
from .domain.gates import judged_by
from .domain.gates.judging import is_telling, valid_links
from .domain.ledger import Entry
from .domain.making import ACTORS, all_quoted, part_link
from .domain.verdicts import Gate
from .domain.wording import linked_sentences
from .models import Artifact, NotNeeded
from .snapshots import Ledger, entry_of, judged_now, log_for, read_ledger

DroppedKind = Literal["decision", "open work", "constraint", "command", "path", "number"]
KINDS: dict[str, DroppedKind] = {
    Section.DECISION: "decision",
    Section.OPEN_WORK: "open work",
    Section.CONSTRAINT: "constraint",
    "command": "command",
    "path": "path",
    "number": "number",
}
CONFIRMED = {
    Section.DECISION: "In the ledger as a decision: without it this summary cannot stand.",
    Section.OPEN_WORK: "In the ledger as open work: without it this summary cannot stand.",
    Section.CONSTRAINT: "A rule: without it, word for word, this summary cannot stand.",
}
SOUNDS = {
    Section.DECISION: "It sounds like a decision. Add it, or say that it is not needed.",
    Section.OPEN_WORK: "It sounds like work still to do. Add it, or say that it is not needed.",
    Section.CONSTRAINT: "It sounds like a rule. Add it, or say that it is not needed.",
}
NAMED = {
    "command": "A command that was run{ended}.",
    "path": "A file or place that was named.",
    "number": "A figure that was named.",
}


@dataclass(frozen=True, kw_only=True)
class Dropped:
    """`link` leads to its words. `blocks`: gate C fails for it. `entry` is its id in the ledger or that of the
    candidate, empty of what is only evidence; `item` is what would be added."""

    key: str
    kind: DroppedKind
    text: str
    turn: int
    link: Link
    why: str
    item: Item
    entry: str = ""
    confirmed: bool = False
    blocks: bool = False
    not_needed: bool = False

    @property
    def message(self) -> int:
        return self.link.message

    @property
    def part(self) -> Part:
        return self.link.part

    @property
    def start(self) -> int:
        return self.link.start

    @property
    def end(self) -> int:
        return self.link.end


def dropped(artifact: Artifact) -> tuple[Dropped, ...]:
    """What the gates miss first, what is confirmed before what only sounds like it; what is not needed last."""
    document = parse_artifact(artifact.document)
    source = log_for(artifact, document).source
    ledger = read_ledger(artifact.session, source)
    waived = set(NotNeeded.objects.filter(family=artifact.family).values_list("key", flat=True))
    found = [
        *missed(artifact, document, source, ledger),
        *dismissed(artifact, source, waived),
        *uncited(document, source, waived),
    ]
    each: dict[str, Dropped] = {}
    for one in found:
        each.setdefault(one.key, one)
    return tuple(sorted(each.values(), key=lambda one: (one.not_needed, not one.blocks, not one.confirmed)))


def missed(artifact: Artifact, document: Document, source: Source, ledger: Ledger) -> Iterator[Dropped]:
    """As gate C has it, also where so few are within its threshold."""
    verdict = judged_by(Gate.RETENTION, judged_now(artifact, document, source, ledger))
    lost = {failure.about for failure in verdict.failures}
    for entry in (*ledger.confirmed, *ledger.candidates):
        if entry.id in lost and (one := of_entry(entry, source, blocks=not verdict.passed)):
            yield one


def dismissed(artifact: Artifact, source: Source, waived: set[str]) -> Iterator[Dropped]:
    """What was dismissed on this very list can be wanted again."""
    for view in entries_of(artifact.session, {part.message for part in source.parts}):
        if view.kind != CONSTRAINT and view.state == EntryState.DISMISSED:
            one = of_entry(entry_of(view, source), source, not_needed=True)
            if one and one.key in waived:
                yield one


def of_entry(entry: Entry, source: Source, *, blocks: bool = False, not_needed: bool = False) -> Dropped | None:
    """Nothing where no words of the source stand for it."""
    span = entry.spans[0] if entry.spans else None
    part = source.by_place.get((span.message, span.part)) if span else None
    if span is None or part is None or not part.text[span.start : span.end].strip():
        return None
    link = part_link(part, span.start, span.end)
    text = entry.text if entry.confirmed else link.quote
    reasons = CONFIRMED if entry.confirmed else SOUNDS
    return Dropped(
        turn=part.turn,
        link=link,
        key=key_of(KINDS[entry.section], entry.text, span.message),
        kind=KINDS[entry.section],
        text=text,
        why=reasons[entry.section],
        item=item_of(entry.section, entry.status, text, link, source, KINDS[entry.section], entry),
        entry=entry.id,
        confirmed=entry.confirmed,
        blocks=blocks,
        not_needed=not_needed,
    )


def uncited(document: Document, source: Source, waived: set[str]) -> Iterator[Dropped]:
    cited = [link for item in document.items for link in valid_links(item, source)]
    turns = {part.message: part.turn for part in source.parts}
    for one in evidence_in(source):
        if one.type in NAMED and not is_cited(one, cited):
            kind = KINDS[one.type]
            key = key_of(kind, one.value, one.link.message)
            yield Dropped(
                turn=turns[one.link.message],
                link=one.link,
                key=key,
                kind=kind,
                text=one.value,
                why=NAMED[one.type].format(ended=ended(one)),
                item=item_of(Section.FACT, Status.STATED, "", sentence_of(one.link, source), source, kind),
                not_needed=key in waived,
            )


def ended(one: Evidence) -> str:
    return "" if one.exit_status is None else f", and ended with exit status {one.exit_status}"


def is_cited(one: Evidence, cited: Iterable[Link]) -> bool:
    """Wherever it stands: a value is the same however often it was named."""
    return any(one.value in link.quote for link in cited)


def sentence_of(link: Link, source: Source) -> Link:
    """All of the sentence where the words alone would mean nothing, and of its line where that does."""
    part = source.by_place[link.message, link.part]
    sentences = linked_sentences(link, source)
    line = (part.text.rfind("\n", 0, link.start) + 1, (part.text + "\n").index("\n", link.end))
    wider = [(sentences[0].start, sentences[-1].end), line] if sentences else [line]
    told = (part_link(part, min(start, link.start), max(end, link.end)) for start, end in wider)
    return next((one for one in (link, *told) if is_telling(one, source)), link)


def item_of(
    section: Section, status: Status, text: str, link: Link, source: Source, kind: str, entry: Entry | None = None
) -> Item:
    """As the next version has it: the words of the log, or those of the ledger with their place there."""
    link = sentence_of(link, source)
    part = source.by_place[link.message, link.part]
    said = text or link.quote
    return Item(
        id=f"add-{key_of(kind, entry.text if entry else link.quote, link.message)}",
        section=section,
        status=status,
        actor=ACTORS.get(str(part.role), "tool"),
        text=said,
        as_of_turn=part.turn,
        ledger_ref=entry.id if entry else None,
        links=(link,),
        verbatim=all_quoted(said, (link,)),
    )


def key_of(kind: str, words: str, message: int) -> str:
    """The same for the same words of the same message, in any version."""
    return sha256(canonical_json([kind, " ".join(words.split()), message]))[:16]
