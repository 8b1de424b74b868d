"""Gate B: every claim leads to sentences of its source that have what it names, and no reader found it unsupported."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import date as Day
from datetime import timedelta
from functools import lru_cache

from compaction.domain.artifact import Artifact, Claim, Kind, Section
from compaction.domain.check.answers import Entailment as Said
from compaction.domain.values import (
    Type,
    Value,
    bare,
    content,
    is_left_to_reader,
    is_same,
    language_of,
    missing,
    names_of,
    stands,
    values_of,
)
from compaction.domain.verdicts import Failure, Gate, GateVerdict, Judged, Measure, Outcome
from efforts.domain.text.counting import counted
from efforts.domain.text.sentences import sentences
from efforts.domain.text.source_text import Source
from efforts.domain.text.terms import STOPWORDS, terms_of

from .judging import finding_id, not_judged, of_whole, shortened, standing_claims, verdict

THRESHOLD = 0.98
# What a reader finds in no sentence of the log; a person may set that aside.
UNSUPPORTED = "unsupported"


def judge(judged: Judged) -> GateVerdict:
    """Gate B: fails where a claim cites no sentence, or one that does not have what it names, or was found
    unsupported."""
    artifact = judged.artifact
    if artifact is None:
        return not_judged(Gate.TRACEABILITY, judged)
    failures = [*misquoted(artifact, judged)]
    # Of a merged artifact the source is that of other conversations, which its own hash does not name.
    if artifact.source.source_sha256 != judged.source.sha256 and artifact.kind != Kind.SEED:
        failures.insert(0, of_whole("other_source", "it was made of another log"))
    for claim in artifact.claims:
        failures += of_claim(claim, judged)
    untraced = {failure.about for failure in failures}
    whole = len(artifact.claims) or len(artifact.excerpts)
    traced = whole - len(untraced & {claim.id for claim in artifact.claims})
    # Of a digest that has room for no excerpt there is nothing to trace; a summary without claims is none.
    ratio = traced / whole if whole else float(artifact.kind == Kind.DIGEST)
    within = ratio >= THRESHOLD and not untraced & {*standing_claims(judged), ""}
    return verdict(
        Gate.TRACEABILITY,
        judged,
        failures=failures,
        outcome=Outcome.PASS if within else Outcome.FAIL,
        says=says(judged, artifact, failures, whole),
        measures=[
            Measure(name="traceable_item_ratio", value=ratio, threshold=THRESHOLD, numerator=traced, denominator=whole)
        ],
    )


def of_claim(claim: Claim, judged: Judged) -> Iterator[Failure]:
    for fault in faults(claim, judged.source):
        yield replace(fault, text=f"claim {claim.id}: {fault.text}")
    for doubt in judged.check.doubts_on(claim) if judged.check else ():
        id = finding_id(UNSUPPORTED, claim)
        if doubt.verdict == Said.UNSUPPORTED and id not in judged.set_aside:
            yield Failure(rule=UNSUPPORTED, about=claim.id, text=told(claim, doubt.phrase, doubt.why), id=id)


def told(claim: Claim, phrase: str, why: str) -> str:
    at, because = shortened(phrase or claim.text), shortened(why)
    return f"claim {claim.id}: the log does not say “{at}”{f': {because}' if why else ''}"


def misquoted(artifact: Artifact, judged: Judged) -> Iterator[Failure]:
    said = " ".join(judged.source.said.split())
    for excerpt in artifact.excerpts:
        unknown = [id for id in excerpt.cites if id not in judged.source.by_sentence]
        quoted = any(" ".join(excerpt.text.split()) == entry.text for entry in judged.entries)
        if unknown or not (quoted or " ".join(excerpt.text.split()) in said):
            yield of_whole("not_in_source", f"“{shortened(excerpt.text)}” is not in the log")


def says(judged: Judged, artifact: Artifact, failures: list[Failure], whole: int) -> str:
    if failures:
        first, more = f"{failures[0].text[0].upper()}{failures[0].text[1:]}", len(failures) - 1
        return f"{first} and {more} more." if more else f"{first}."
    if artifact.kind == Kind.DIGEST:
        return f"{counted(whole, 'excerpt')}, each word for word from the log."
    by = judged.check.by if judged.check and judged.check.has_read(artifact.claims) else None
    return (
        f"{counted(whole, 'claim')}: the cited sentences are in the log, and so are all values"
        f"{'. Whether the sentences say what the claims say, nobody has read' if by is None else f', read by {by}'}."
    )


# Of the words inside sentences fewer begin with a capital where only names do.
MOST_CAPITALS = 0.15
# Letters by which a name and its plural or adjective are one.
SAME_LETTERS = 4
# So many messages before a cited one may name what it speaks of.
BEFORE = 1
# So many days before and after the one on which it was said are meant without a date.
DAYS_BEFORE, DAYS_AFTER = 7, 31
# So many places of a value are named.
SHOWN = 3

WORD = re.compile(r"[^\W\d_][\w]*(?:['’-]\w+)*")
INSIDE = re.compile(r"(?<=[^\W\dA-Z_] )([^\W\d_])")
QUOTES = re.compile(r"[\"'“”„‟«»‘’‚‹›`*]")
FINAL = " .,;:!?…"


def faults(claim: Claim, source: Source) -> Iterator[Failure]:
    """What a claim says that its cited sentences do not say in these words, where code can tell; each text is to be
    read behind the claim's name."""
    unknown = [id for id in claim.cites if id not in source.by_sentence]
    if not claim.cites:
        yield Failure(rule="no_cites", about=claim.id, text="it cites no sentence")
    elif unknown:
        ids = ", ".join(unknown)
        yield Failure(rule="unknown_cite", about=claim.id, text=f"it cites {ids}, which the log does not have")
    if len(unknown) == len(claim.cites):
        return
    for value in untraced(claim, source):
        yield Failure(rule=f"{value.type}_not_cited", about=claim.id, text=said_where(value, source))
    yield from faults_of_notes(claim, source)
    if claim.section == Section.RULE and not is_word_for_word(claim, source):
        text = "a rule must be word for word what its cited sentences say"
        yield Failure(rule="not_word_for_word", about=claim.id, text=text)


def with_cites(claim: Claim, source: Source) -> Claim:
    """It cites as well the one other sentence of the log that has a value which its own sentences lack."""
    found = ((value, having(value, source)) for value in (*untraced(claim, source), *untraced_notes(claim, source)))
    added = (
        ids[0]
        for value, ids in found
        if len(ids) == 1 and belongs(value, claim, source.by_sentence[ids[0]].text, source)
    )
    return claim.model_copy(update={"cites": tuple(dict.fromkeys([*claim.cites, *added]))})


def belongs(value: Value, claim: Claim, text: str, source: Source) -> bool:
    """Whether the sentence speaks of what the claim speaks of, and the cited ones have no other value in its place."""
    told = (*values_of(claim.text), *values_of(claim.due))
    said = [source.by_sentence[id].text for id in known_cites(claim, source)]
    cited = (other for line in said for other in values_of(line) if not other.loose)
    replaced = any(in_place_of(other, value) and not any(is_same(other, one) for one in told) for other in cited)
    return not replaced and bool(content(claim.text) & content(text))


def in_place_of(other: Value, value: Value) -> bool:
    """Whether one may have been taken for the other: of one type and, for numbers, one unit or one figure."""
    if other.type != value.type:
        return False
    return other.type != Type.NUMBER or other.unit == value.unit or other.value == value.value


def said_where(value: Value, source: Source) -> str:
    shown, found = value.shown, having(value, source)
    if not found:
        return f"“{shown}” stands nowhere in the log"
    places, more = ", ".join(found[:SHOWN]), len(found) > SHOWN
    return f"“{shown}” stands in {places}{' and elsewhere' if more else ''}, but in no cited sentence"


def cited_texts(claim: Claim, source: Source) -> tuple[str, ...]:
    """The cited sentences, and of each the header without the number of its message."""
    cites = known_cites(claim, source)
    headers = dict.fromkeys(source.part_of(id).header.partition(" ")[2] for id in cites)
    return (*(source.by_sentence[id].text for id in cites), *headers)


def known_cites(claim: Claim, source: Source) -> list[str]:
    return [id for id in claim.cites if id in source.by_sentence]


def untraced(claim: Claim, source: Source) -> Iterator[Value]:
    """The values and names of its text that neither the cited sentences nor their headers have."""
    yield from untraced_values(claim.text, claim, source)
    yield from (name for name in names(claim.text, source) if not is_named(name, claim, source))


def untraced_values(text: str, claim: Claim, source: Source) -> Iterator[Value]:
    texts = cited_texts(claim, source)
    for value in missing(text, texts):
        if not is_left_to_reader(value, texts) and not is_reckoned(value, claim, source):
            yield value


def having(value: Value, source: Source) -> tuple[str, ...]:
    """The sentences that have it."""
    return tuple(id for id, sentence in source.by_sentence.items() if has(sentence.text, value))


def has(text: str, value: Value) -> bool:
    if value.type != Type.NAME:
        return stands(value, (text,))
    words = words_in(text)
    return all(any(is_one_name(part, word) for word in words) for part in value.value.split("-"))


# Names


def names(text: str, source: Source) -> Iterator[Value]:
    """What is surely a name: no word that the log has in small letters; where nouns have capitals only a speaker."""
    small, inside = spellings(source.said)
    speakers = {bare(word) for part in source.parts for word in part.speaker.split()}
    capitals = has_capital_nouns(source.said)
    same_language = language_of(text) == language_of(source.said)
    for name in names_of(text):
        known = name.value in speakers or (name.value in inside and not capitals)
        if name.value in small or len(name.value) < 3:
            continue
        if known or (same_language and not (name.loose or capitals or name.value in inside)):
            yield name


def is_named(name: Value, claim: Claim, source: Source) -> bool:
    """In a cited sentence, or in a message around it: what is talked of is not named in each sentence."""
    numbers = {source.part_of(id).number for id in known_cites(claim, source)}
    around = [part for part in source.parts if any(0 <= number - part.number <= BEFORE for number in numbers)]
    texts = (*cited_texts(claim, source), *(part.text for part in around), *(part.speaker for part in around))
    return any(has(text, name) for text in texts)


@lru_cache(maxsize=8)
def spellings(said: str) -> tuple[frozenset[str], frozenset[str]]:
    """The words in small letters, and those with a capital inside a sentence."""
    small = frozenset(bare(word) for word in WORD.findall(said) if word[0].islower())
    return small, frozenset(name.value for line in said.splitlines() for name in names_of(line) if not name.loose)


@lru_cache(maxsize=8)
def has_capital_nouns(said: str) -> bool:
    letters = INSIDE.findall(said)
    return len([letter for letter in letters if letter.isupper()]) > MOST_CAPITALS * len(letters)


@lru_cache(maxsize=1 << 14)
def words_in(text: str) -> frozenset[str]:
    words = (bare(word) for word in WORD.findall(unicodedata.normalize("NFC", text)))
    return frozenset(part for word in words for part in word.split("-"))


def is_one_name(one: str, other: str) -> bool:
    """Also as a plural or an adjective: Slovenia, Slovenian."""
    short, long = sorted((one, other), key=len)
    return one == other or (len(short) >= SAME_LETTERS and long.startswith(short) and len(long) - len(short) <= 3)


# Days that are reckoned from the day on which it was said


def is_reckoned(value: Value, claim: Claim, source: Source) -> bool:
    """A day soon after, where the cited sentences name no other: "tomorrow" and "Friday" are days of the calendar."""
    cites = known_cites(claim, source)
    said_on = {source.part_of(id).said_on for id in cites} - {""}
    if value.type != Type.DATE or not said_on:
        return False
    told = {other.value for id in cites for other in values_of(source.by_sentence[id].text) if other.type == Type.DATE}
    steps = range(-DAYS_BEFORE, DAYS_AFTER + 1)
    near = {Day.fromisoformat(said) + timedelta(days=step) for said in said_on for step in steps}
    days = {day for day in near if is_day(value.value, day)}
    return any(not told or any(is_day(other, day) for other in told) for day in days)


def is_day(value: str, day: Day) -> bool:
    """Whether a value names that day, as far as it tells."""
    if value.startswith("weekday"):
        return value.removeprefix("weekday ") == str(day.isoweekday())
    return all(
        told in ("*", str(of)) for told, of in zip(value.split("-"), (day.year, day.month, day.day), strict=True)
    )


# Owner and due date


def faults_of_notes(claim: Claim, source: Source) -> Iterator[Failure]:
    for value in untraced_notes(claim, source):
        rule = "owner_not_cited" if value.type == Type.NAME else "due_not_cited"
        yield Failure(rule=rule, about=claim.id, text=said_where(value, source))
    for rule, note in (("owner", claim.owner), ("due", claim.due)):
        if not is_hinted(note, cited_texts(claim, source), source):
            text = f"no cited sentence has a word of the {'owner' if rule == 'owner' else 'due'} “{note}”"
            yield Failure(rule=f"{rule}_not_cited", about=claim.id, text=text)


def untraced_notes(claim: Claim, source: Source) -> Iterator[Value]:
    """Names of the owner and values of the due date that the cited sentences and their headers lack."""
    yield from untraced_values(claim.due, claim, source)
    small, _ = spellings(source.said)
    for name in names_of(claim.owner):
        if name.value not in small | STOPWORDS | roles(source) and not is_named(name, claim, source):
            yield name


def is_hinted(note: str, texts: Iterable[str], source: Source) -> bool:
    """Whether a word of it stands there, where both are in one language. A role is the reader's matter, and names and
    values are looked for by themselves."""
    words = set(terms_of(note)) - STOPWORDS - set(terms_of(" ".join(roles(source))))
    if not words or values_of(note) or names_of(note) or language_of(note) != language_of(source.said):
        return True
    return any(term in words for text in texts for term in terms_of(text))


def roles(source: Source) -> set[str]:
    return {part.role for part in source.parts}


# Rules


def is_word_for_word(claim: Claim, source: Source) -> bool:
    """Case, white space, quotation marks and what ends a sentence apart; several sentences may stand side by side."""
    cited = sorted(known_cites(claim, source), key=list(source.by_sentence).index)
    said = f" {' '.join(folded(source.by_sentence[id].text) for id in cited)} "
    return all(f" {folded(piece)} " in said for piece in sentences(claim.text)) or f" {folded(claim.text)} " in said


def folded(text: str) -> str:
    words = QUOTES.sub("", unicodedata.normalize("NFC", text)).casefold().split()
    return " ".join(filter(None, (word.strip(FINAL) for word in words)))
