"""The notes of a half of a check: claims in seeded order, and among them what code knows to be false or true.

Planted are sentences of the log misquoted, claims turned, and sentences quoted as they are.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from efforts.domain.text.canonical import canonical_json, sha256
from efforts.domain.text.locating import one_line
from efforts.domain.text.source_text import Part, Source, SourcePart
from efforts.domain.text.source_text import Sentence as Numbered

from ..artifact import Claim, Section, Status

# In each half.
CANARIES, CONTROLS = 2, 1
# Fewer claims are read at once.
FEWEST_HALVED = 4
SAID = "In {id} {who} wrote: “{text}”"
# Characters of a sentence that can be quoted, and how many words it has at least.
SHORTEST, LONGEST, FEWEST_WORDS = 30, 240, 6
FIGURE = re.compile(r"(?<![\w.,:/-])\d{1,6}(?![\w:/-]|[.,]\d)")
WORD = re.compile(r"(?<![\w'’-])[a-z]{5,}(?![\w'’-])")
VERB = re.compile(r"\b(is|are|was|were|will|must|should|can)\b(?! not|n['’]t)", re.IGNORECASE)
# Ordinary words of which some stand in no log that could be meant.
OTHER_WORDS = [
    "garden", "window", "kitchen", "bridge", "winter", "harvest", "piano", "ladder", "umbrella", "orchard",
    "candle", "museum", "ferry", "blanket", "chimney", "lantern", "carpet", "compass", "violin", "meadow",
]  # fmt: skip
# Names for those who speak, where a log calls them by their role.
WHO = {"user": "the user", "assistant": "the assistant", "tool": "the tool", "file": "the file"}
TURNED_STATUS = {
    (Section.DECISION, Status.ACCEPTED): Status.REJECTED,
    (Section.OPEN_WORK, Status.OPEN): Status.DONE,
    (Section.OPEN_WORK, Status.BLOCKED): Status.DONE,
    (Section.RULE, Status.IN_FORCE): Status.REVOKED,
}


class NothingToPlant(ValueError):
    """The source has too few sentences for canaries, so no answer could prove that its reader was awake."""


class Role(StrEnum):
    CLAIM = "claim"
    CANARY = "canary"
    CONTROL = "control"


@dataclass(frozen=True, kw_only=True)
class Note:
    """`number` is what one request calls it, once all are drawn. `claim` is what is shown; `kind` what was done to it.

    A canary that turns a claim (`of`, its id) counts only where that claim is found entailed.
    """

    number: int = 0
    role: Role
    claim: Claim
    kind: str = ""
    of: str = ""


Half = tuple[Note, ...]


def seed_of(claims: Iterable[Claim], version: str, attempt: int) -> str:
    """By which notes are drawn: a hash of the claims, of the prompts' version and of the number of the attempt."""
    return sha256(canonical_json([[claim.content for claim in claims], version, attempt]))


def halves(claims: Sequence[Claim], source: Source, seed: str, *, halved: bool = True) -> tuple[Half, ...]:
    """All claims, each in one half, with canaries and a control in each; one half where there are few.

    Raises `NothingToPlant` where the source has no sentences to make canaries of.
    """
    draw = random.Random(seed)
    order = list(claims)
    draw.shuffle(order)
    middle = (len(order) + 1) // 2
    first, second = order[:middle], order[middle:]
    taken: set[str] = set()
    if not halved or len(order) < FEWEST_HALVED:
        return (half(order, (), source, draw, taken),)
    return half(first, second, source, draw, taken), half(second, first, source, draw, taken)


def half(group: Sequence[Claim], other: Sequence[Claim], source: Source, draw: random.Random, taken: set[str]) -> Half:
    notes = [
        *misquoted(source, draw, CANARIES, taken),
        *turned(other, source, draw),
        *controls(source, draw, CONTROLS, taken),
    ]
    notes = [*(Note(role=Role.CLAIM, claim=claim) for claim in group), *notes]
    draw.shuffle(notes)
    return tuple(replace(note, number=number) for number, note in enumerate(notes, start=1))


def kind_of(way: Callable[..., object]) -> str:
    return way.__name__.replace("_", " ")


def misquoted(source: Source, draw: random.Random, wanted: int, taken: set[str]) -> list[Note]:
    """So many sentences of the log, each told wrong in another way. Raises `NothingToPlant`."""
    found: list[Note] = []
    ways: list[Callable[[Source, SourcePart, str, random.Random], tuple[str, str] | None]]
    ways = [other_figure, other_speaker, other_word]
    sentences = quotable(source, draw)
    for way in ways * wanted:
        if len(found) == wanted:
            return found
        for sentence in sentences:
            if sentence.id in taken:
                continue
            part, text = source.part_of(sentence.id), one_line(sentence.text)
            if told := way(source, part, text, draw):
                taken.add(sentence.id)
                who, words = told
                found.append(Note(role=Role.CANARY, claim=quoted(sentence.id, who, words), kind=kind_of(way)))
                break
    if len(found) < wanted:
        raise NothingToPlant
    return found


def controls(source: Source, draw: random.Random, wanted: int, taken: set[str]) -> list[Note]:
    """Sentences as they stand. Raises `NothingToPlant`."""
    found = [sentence for sentence in quotable(source, draw) if sentence.id not in taken][:wanted]
    if len(found) < wanted:
        raise NothingToPlant
    taken.update(sentence.id for sentence in found)
    told = (quoted(one.id, name_of(source.part_of(one.id)), one_line(one.text)) for one in found)
    return [Note(role=Role.CONTROL, claim=claim, kind="as it stands") for claim in told]


def quotable(source: Source, draw: random.Random) -> list[Numbered]:
    found = [
        sentence
        for part in source.parts
        if part.part == Part.TEXT
        for sentence in part.sentences
        if SHORTEST <= len(sentence.text) <= LONGEST and len(sentence.text.split()) >= FEWEST_WORDS
    ]
    draw.shuffle(found)
    return found


def quoted(id: str, who: str, text: str) -> Claim:
    words = SAID.format(id=id, who=who, text=text)
    return Claim(id="planted", section=Section.FACT, status=Status.STATED, text=words, cites=(id,))


def name_of(part: SourcePart) -> str:
    return part.speaker or WHO[part.role]


def other_figure(source: Source, part: SourcePart, text: str, draw: random.Random) -> tuple[str, str] | None:
    changed = with_other_figure(text, source, draw)
    return (name_of(part), changed) if changed else None


def with_other_figure(text: str, source: Source, draw: random.Random) -> str:
    """One of its figures is another, which stands nowhere in the log; empty where it has none."""
    figures = list(FIGURE.finditer(text))
    if not figures:
        return ""
    figure = draw.choice(figures)
    value = int(figure[0])
    others = [value + step for step in (3, 4, 7, 12, 17, 23, 31)] + [value * 2 + 5]
    draw.shuffle(others)
    other = next((one for one in others if str(one) not in source.said), None)
    return "" if other is None else f"{text[: figure.start()]}{other}{text[figure.end() :]}"


def other_speaker(source: Source, part: SourcePart, text: str, draw: random.Random) -> tuple[str, str] | None:
    others = sorted({name_of(one) for one in source.parts if one.part == Part.TEXT} - {name_of(part)})
    said_by = {name_of(one) for one in source.parts if text in one_line(one.text)}
    others = [one for one in others if one not in said_by]
    return (draw.choice(others), text) if others else None


def other_word(source: Source, part: SourcePart, text: str, draw: random.Random) -> tuple[str, str] | None:
    words = list(WORD.finditer(text, 1))
    said = source.said.casefold()
    others = [word for word in OTHER_WORDS if word not in said]
    if not words or not others:
        return None
    word = draw.choice(words)
    return name_of(part), f"{text[: word.start()]}{draw.choice(others)}{text[word.end() :]}"


def turned(claims: Sequence[Claim], source: Source, draw: random.Random) -> list[Note]:
    """One claim told wrong, where one of them can be."""
    order = list(claims)
    draw.shuffle(order)
    ways = [turned_figure, turned_owner, turned_negation, turned_status]
    draw.shuffle(ways)
    owners = sorted({claim.owner for claim in claims if claim.owner})
    for claim in order:
        for way in ways:
            if told := next(way(claim, source, owners, draw), None):
                told = told.model_copy(update={"id": "planted", "ledger_ref": ""})
                return [Note(role=Role.CANARY, claim=told, kind=kind_of(way), of=claim.id)]
    return []


def turned_figure(claim: Claim, source: Source, owners: Sequence[str], draw: random.Random) -> Iterator[Claim]:
    if text := with_other_figure(claim.text, source, draw):
        yield claim.model_copy(update={"text": text})


def turned_owner(claim: Claim, source: Source, owners: Sequence[str], draw: random.Random) -> Iterator[Claim]:
    others = [owner for owner in owners if owner not in f"{claim.owner} {claim.text}"]
    if claim.owner and others and claim.owner not in claim.text:
        yield claim.model_copy(update={"owner": draw.choice(others)})


def turned_negation(claim: Claim, source: Source, owners: Sequence[str], draw: random.Random) -> Iterator[Claim]:
    verbs = list(VERB.finditer(claim.text))
    if len(verbs) == 1:
        at = verbs[0].end()
        yield claim.model_copy(update={"text": f"{claim.text[:at]} not{claim.text[at:]}"})


def turned_status(claim: Claim, source: Source, owners: Sequence[str], draw: random.Random) -> Iterator[Claim]:
    if to := TURNED_STATUS.get((claim.section, claim.status)):
        yield claim.model_copy(update={"status": to})
