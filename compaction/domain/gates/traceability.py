"""Gate B: whatever an artifact says leads to words of its source that bear it out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from efforts.domain.extractive import BRIEF, SHORT_EFFORT, plain
from efforts.domain.sentences import sentences
from efforts.domain.source_text import Part, Source
from efforts.domain.terms import terms_of

from ..anchors import Anchor, anchors_of, is_loose, missing, without_anchors
from ..artifact import HEADLINE, Artifact, Item, Link, Section, Status
from ..polarity import any_of
from ..verdicts import Failure, Gate, Judged, Measure, Verdict
from ..wording import content, language_of, linked_sentences, recall
from .entries import KNOWN, covered
from .judging import (
    counted,
    exact_links,
    is_exact,
    items_by_id,
    not_evaluable,
    shortened,
    valid_links,
    verdict,
)

THRESHOLD = 0.98
# Of the words of a sentence so many stand in what backs it, where so many stand in the artifact; or most by itself.
HEADLINE_SUPPORT, ARTIFACT_SUPPORT, MOST = 0.34, 0.5, 0.5
# A message that says what a sentence of the headline says has so many of its words.
REPEATED = 0.65

DETAILS = re.compile(r"\s*\(details: ([^()]*)\)\s*$")
OPEN_LABEL = re.compile(r"^\s*Open:\s*")
# More ends than a sentence has: an abbreviation can hide the end of what the source said.
SIDE_BY_SIDE = re.compile(r"(?<=[.!?…])\s+|; ")
MORE_OPEN = re.compile(r"^\+\d+ more open\.?$")
# "{name}" is the effort's, and no word of the source.
BRIEF_FORM = re.compile(re.escape(BRIEF).replace(re.escape("{name}"), ".*"), re.DOTALL)

# "Nothing was decided and nothing is open" leads nowhere, and is true where no item tells of either.
NOTHING = any_of("nothing, no decisions?, no work, no open work, nichts, keine, rien, aucune?, nada, ninguna", "何も")
# How a matter stands is told in words that need not be its own.
STATE_WORDS = content(
    """waits waiting wait blocked still until nothing decided settled agreed open work left remains remained to do done
    decisions is was concluded nichts entschieden offen beschlossen vereinbart keine entscheidung entscheidungen
    aufgaben rien décidé ouvert reste décision tâche été a nada decidido abierto pendiente queda decisión
    何も決まっていません未完はありません"""
)


@dataclass(frozen=True, kw_only=True)
class Unit:
    """An item, or a sentence of the headline, and why it is not traceable; `rule` is empty where it is."""

    about: str
    text: str
    rule: str = ""
    why: str = ""

    @property
    def failure(self) -> Failure:
        return Failure(rule=self.rule, about=self.about, text=f"“{shortened(self.text)}”: {self.why}")


def judge(judged: Judged) -> Verdict:
    artifact = judged.artifact
    if artifact is None:
        return not_evaluable(Gate.TRACEABILITY, judged)
    units = [*(item_unit(item, judged) for item in artifact.items), *headline_units(artifact, judged.source)]
    traced = sum(not unit.rule for unit in units)
    of_units = [unit.failure for unit in units if unit.rule]
    of_document = list(faults_of_document(artifact, judged.source))
    failures = [*of_units, *of_document]
    enough = bool(units) and traced / len(units) >= THRESHOLD
    return verdict(
        Gate.TRACEABILITY,
        judged,
        failures=failures,
        within=enough and not of_document,
        says=says(units, failures),
        measures=[
            Measure(
                name="traceable_item_ratio",
                value=traced / len(units) if units else None,
                threshold=THRESHOLD,
                numerator=traced,
                denominator=len(units),
            )
        ],
    )


def says(units: list[Unit], failures: list[Failure]) -> str:
    if not failures:
        return f"All of it leads to its source: {counted(len(units), 'item or sentence', 'items and sentences')}."
    missed = [failure.about or failure.rule for failure in failures]
    return f"{counted(len(failures), 'statement does', 'statements do')} not lead to the source: {', '.join(missed)}."


def faults_of_document(artifact: Artifact, source: Source) -> Iterator[Failure]:
    """What an artifact copies beside its items is to be there, too."""
    if not artifact.items and not headline_pieces(artifact.headline):
        yield fault("nothing_said", "It says nothing that could be traced")
    if artifact.source.source_sha256 != source.sha256:
        yield fault("other_source", "It was made from another source text")
    for link in artifact.opening:
        if not is_exact(link, source):
            yield fault("forged_opening", f"The opening is not in message {link.message}: “{shortened(link.quote)}”")
    for one in artifact.evidence:
        if not is_exact(one.link, source) or one.value not in one.link.quote:
            yield fault("forged_evidence", f"Message {one.link.message} does not have {one.type} {one.value}")


def fault(rule: str, text: str) -> Failure:
    return Failure(rule=rule, about="", text=text)


def item_unit(item: Item, judged: Judged) -> Unit:
    rule, why = item_fault(item, judged.source)
    if rule == "other_matter" and is_known(item, judged):
        rule = why = ""
    return Unit(about=item.id, text=item.text, rule=rule, why=why)


def item_fault(item: Item, source: Source) -> tuple[str, str]:
    """The first rule that the item breaks, and how; empty where it breaks none."""
    if not item.links:
        return "no_quotation", "none of its quotations is in the source"
    forged = [link for link in item.links if link not in exact_links(item, source)]
    if forged:
        return "forged_quotation", f"message {forged[0].message} does not have “{shortened(forged[0].quote)}” there"
    links = valid_links(item, source)
    if not links:
        return "short_quotation", "its quotations are too short to mean something"
    if absent := missing(item.text, [link.quote for link in links]):
        return "not_quoted", f"{shown(absent)} is in none of its quotations"
    if is_other_matter(item.text, context(links, source)):
        return "other_matter", "its quotations speak of something else"
    return "", ""


def is_known(item: Item, judged: Judged) -> bool:
    """The ledger says the same of what it quotes."""
    links = exact_links(item, judged.source)
    at = [each for each in judged.ledger if each.confirmed and any(covered(s, links) >= KNOWN for s in each.spans[:1])]
    return any(recall(content(entry.text), content(item.text)) >= HEADLINE_SUPPORT for entry in at)


def is_other_matter(claim: str, quoted: str) -> bool:
    """They share nothing, no value and no word, and are of one language, so that words could be shared."""
    words, theirs = content(without_anchors(claim)), content(quoted)
    if not words or words & theirs:
        return False
    named = any(not is_loose(anchor) for anchor in anchors_of(claim))
    return not named and language_of(claim) == language_of(quoted)


def context(links: tuple[Link, ...], source: Source) -> str:
    """What is quoted, in whole sentences."""
    return "\n".join(sentence.text for link in links for sentence in linked_sentences(link, source))


def shown(anchors: tuple[Anchor, ...]) -> str:
    return ", ".join(anchor.shown for anchor in anchors)


def headline_pieces(headline: str) -> list[str]:
    """Its sentences, without the words that are the program's own."""
    return [piece for piece in (own_words(piece) for piece in sentences_of_headline(headline)) if piece]


def sentences_of_headline(headline: str) -> list[str]:
    return [sentence for line in DETAILS.sub("", headline).splitlines() for sentence in sentences(line)]


def own_words(sentence: str) -> str:
    if not OPEN_LABEL.match(sentence):
        return sentence
    parts = OPEN_LABEL.sub("", sentence).split("; ")
    return "; ".join(part for part in parts if not MORE_OPEN.match(part.strip()))


def headline_units(artifact: Artifact, source: Source) -> Iterator[Unit]:
    if is_brief(artifact.headline, source):
        yield Unit(about=HEADLINE, text=artifact.headline)
        return
    known = items_by_id(artifact)
    backing = [known[id] for id in artifact.headline_items if id in known]
    for number, sentence in enumerate(headline_pieces(artifact.headline), start=1):
        rule, why = sentence_fault(sentence, backing, artifact, source)
        yield Unit(about=f"{HEADLINE} {number}", text=sentence, rule=rule, why=why)
    yield from detail_units(artifact.headline, source)


def is_brief(headline: str, source: Source) -> bool:
    """It claims no more than that the source is short, and that is so."""
    return source.characters < SHORT_EFFORT and bool(BRIEF_FORM.fullmatch(headline))


def sentence_fault(sentence: str, backing: list[Item], artifact: Artifact, source: Source) -> tuple[str, str]:
    if is_repeated(sentence, source) or source_says(sentence, source):
        return "", ""
    if says_nothing(sentence):
        return ("not_so", "there are decisions or open work") if has_work(artifact) else ("", "")
    links = [link for item in backing for link in valid_links(item, source)]
    if artifact.items and not links:
        return "no_item", "no item with a quotation backs it, and the source does not say it in these words"
    said = [*(item.text for item in backing), *(link.quote for link in links), *wanted_words(artifact, source)]
    if absent := missing(sentence, said):
        return "not_in_items", f"{shown(absent)} is in none of the items that back it"
    if not is_backed(sentence, said, artifact):
        return "not_backed", "the items that back it speak of something else"
    return "", ""


def is_backed(sentence: str, said: list[str], artifact: Artifact) -> bool:
    """Most of it stands in what backs it; or enough there, and most of it somewhere in the artifact."""
    words, theirs = content(sentence) - STATE_WORDS, content("\n".join(said))
    told = theirs | content("\n".join(item.text for item in artifact.items))
    enough = recall(words, theirs) >= HEADLINE_SUPPORT and recall(words, told) >= ARTIFACT_SUPPORT
    return enough or recall(words, theirs) >= MOST or language_of(sentence) != language_of("\n".join(said))


def wanted_words(artifact: Artifact, source: Source) -> list[str]:
    """What was asked for is told in headlines, and is no item; where there is no item, it is all there is."""
    spoken = [part for part in source.parts if part.part == Part.TEXT]
    first = next((part for part in spoken if part.role == "user"), None)
    return [part.text for part in spoken] if not artifact.items else [first.text] if first else []


def source_says(sentence: str, source: Source) -> bool:
    """In a message that has most of its words, and all of its values: what was wanted is often in no item."""
    wanted = content(sentence)
    return any(
        recall(wanted, content(part.text)) >= REPEATED and not missing(sentence, [part.text])
        for part in source.parts
        if part.part == Part.TEXT
    )


def says_nothing(sentence: str) -> bool:
    return bool(NOTHING.search(sentence)) and content(sentence) <= STATE_WORDS


def has_work(artifact: Artifact) -> bool:
    return any(
        item.section in (Section.DECISION, Section.OPEN_WORK, Section.NEXT_STEP)
        and item.status in (Status.ACCEPTED, Status.OPEN, Status.BLOCKED)
        for item in artifact.items
    )


def is_repeated(sentence: str, source: Source) -> bool:
    """Whether it is made of sentences of the source and nothing else, in one piece or side by side."""
    return all(stands_in(part, source) for part in sentence.split("; ")) or all(
        stands_in(part, source) for part in SIDE_BY_SIDE.split(sentence)
    )


def stands_in(part: str, source: Source) -> bool:
    """In these words, cut at their end or not."""
    words = folded(part).removesuffix("…").rstrip(" .,;:")
    return len(words) >= 2 and any(words in text for text in spoken_lines(source))


def spoken_lines(source: Source) -> Iterator[str]:
    for part in source.parts:
        if part.part == Part.TEXT:
            yield " ".join(folded(line) for line in part.text.splitlines())


def folded(text: str) -> str:
    return plain(text).casefold()


def detail_units(headline: str, source: Source) -> Iterator[Unit]:
    """The telling words behind a headline are promised to be in the source."""
    found = DETAILS.search(headline)
    if found is None:
        return
    known = set(terms_of(source.text))
    absent = [word for word in found[1].split(", ") if not set(terms_of(word)) <= known]
    if absent:
        why = f"the source does not have {', '.join(absent)}"
        yield Unit(about=f"{HEADLINE} details", text=found[0].strip(), rule="not_in_source", why=why)
    else:
        yield Unit(about=f"{HEADLINE} details", text=found[0].strip())
