"""Answers of a checker, parsed strictly, and what of a request they leave open or invent."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from enum import StrEnum
from typing import Any, TypeVar

from pydantic import ConfigDict

from efforts.domain.text.counting import counted
from efforts.domain.text.source_text import Source

from ..artifact import Malformed, Section, Strict, Text, Words, parsed
from ..ledger import RETAINED, Entry
from .notes import Half, Note, Role

T = TypeVar("T", bound=Strict)
# What is listed beyond that is no inventory.
MOST_LISTED = 80


class Void(ValueError):
    """An answer that proves nothing; the text says what it lacks, in one sentence for people."""


class Entailment(StrEnum):
    ENTAILED = "entailed"
    CONTRADICTED = "contradicted"
    UNSUPPORTED = "unsupported"


class Loose(Strict):
    """More than was asked for is no fault of an answer."""

    model_config = ConfigDict(strict=True, extra="ignore", frozen=True)


class NoteVerdict(Loose):
    """`phrase`: the words of the note that are at fault; `sentence`: the one of the log that says otherwise."""

    note: int
    verdict: Entailment
    phrase: Text | None = ""
    sentence: Text | None = ""
    why: Text | None = ""


class HalfAnswer(Loose):
    verdicts: tuple[NoteVerdict, ...]


class ListedEntry(Loose):
    kind: Section
    text: Words
    sentences: tuple[str, ...]


class InventoryAnswer(Loose):
    entries: tuple[ListedEntry, ...]


class Told(Loose):
    """`missing`: a matter of the entry that no note tells, though notes tell another one."""

    entry: int
    notes: tuple[int, ...]
    missing: Text | None = ""

    @property
    def by(self) -> tuple[int, ...]:
        """The notes that tell all of it."""
        return () if self.missing else tuple(dict.fromkeys(self.notes))


class MappingAnswer(Loose):
    told: tuple[Told, ...]


def read_half(half: Half, answer: str, source: Source) -> dict[int, NoteVerdict]:
    """The verdict on every note. Raises `Void` where it leaves one out, names what does not exist, misses a misquoted
    sentence or doubts one that stands as it is."""
    found = answered(HalfAnswer, answer)
    check_numbers([one.note for one in found.verdicts], [note.number for note in half])
    check_sentences((one.sentence for one in found.verdicts if one.sentence), source)
    verdicts = {one.note: one for one in found.verdicts}
    if faults := list(asleep(half, verdicts)):
        raise Void(" ".join(faults))
    return verdicts


def asleep(half: Half, verdicts: dict[int, NoteVerdict]) -> Iterator[str]:
    missed = [note for note in half if note.role == Role.CANARY and not note.of and is_entailed(note, verdicts)]
    doubted = [note for note in half if note.role == Role.CONTROL and not is_entailed(note, verdicts)]
    if missed:
        yield believed(len(missed))
    if doubted:
        yield "It doubted a sentence that stands in the log as it was quoted."


def believed(missed: int) -> str:
    return f"It believed {counted(missed, 'claim')} made wrong on purpose to test it."


def is_entailed(note: Note, verdicts: dict[int, NoteVerdict]) -> bool:
    return verdicts[note.number].verdict == Entailment.ENTAILED


def missed_turns(halves: Iterable[Half], verdicts: Iterable[dict[int, NoteVerdict]]) -> list[Note]:
    """Turned claims that were found entailed though their original was, too: of two halves each judges the other's."""
    pairs = list(zip(halves, verdicts, strict=True))
    entailed = {
        note.claim.id for half, said in pairs for note in half if note.role == Role.CLAIM and is_entailed(note, said)
    }
    return [note for half, said in pairs for note in half if note.of in entailed and is_entailed(note, said)]


def read_inventory(answer: str, source: Source) -> tuple[Entry, ...]:
    """Raises `Void`."""
    found = answered(InventoryAnswer, answer).entries
    if len(found) > MOST_LISTED:
        raise Void(f"Its inventory has {len(found)} entries.")
    if any(one.kind not in RETAINED or not one.sentences for one in found):
        raise Void("Its inventory has an entry of another kind, or without sentences.")
    check_sentences((id for one in found for id in one.sentences), source)
    return tuple(listed(number, one) for number, one in enumerate(found, start=1))


def listed(number: int, one: ListedEntry) -> Entry:
    status = {Section.DECISION: "accepted", Section.OPEN_WORK: "open", Section.RULE: "in_force"}[one.kind]
    return Entry(
        id=f"listed-{number}",
        section=one.kind,
        status=next(allowed for allowed in RETAINED[one.kind] if allowed == status),
        text=" ".join(one.text.split()),
        sentences=tuple(dict.fromkeys(one.sentences)),
        listed=True,
    )


def read_mapping(answer: str, *, entries: int, notes: int, hidden: int | None) -> dict[int, Told]:
    """By the number of each entry what tells it. `hidden`: the entry whose note was left out.

    Raises `Void`. Of the hidden entry notes may tell a part: it counts as lost like any other told in part.
    """
    found = answered(MappingAnswer, answer).told
    check_numbers([one.entry for one in found], range(1, entries + 1))
    if unknown := {number for one in found for number in one.notes} - set(range(1, notes + 1)):
        raise Void(f"It names a note {min(unknown)}, which does not exist.")
    if any(one.entry == hidden and one.by for one in found):
        raise Void("It found something told that had been left out.")
    return {one.entry: one for one in found}


def answered(form: type[T], answer: str) -> T:
    """The answer of a model in its form. Raises `Void` with one sentence why it cannot be read."""
    try:
        return parsed(form, answer)
    except Malformed as error:
        raise Void(f"Its answer can't be read: {error}.") from error


def check_numbers(given: list[int], wanted: Collection[int]) -> None:
    """Raises `Void` where a number was answered twice, was not asked, or is left out."""
    twice = [number for number, count in Counter(given).items() if count > 1]
    if twice:
        raise Void(f"It answers number {twice[0]} twice.")
    if unknown := sorted(set(given) - set(wanted)):
        raise Void(f"It answers number {unknown[0]}, which was not asked.")
    if left := sorted(set(wanted) - set(given)):
        raise Void(f"It leaves {len(left)} of {len(wanted)} without an answer.")


def check_sentences(ids: Iterable[str], source: Source) -> None:
    if unknown := sorted(set(ids) - set(source.by_sentence)):
        raise Void(f"It names a sentence {unknown[0][:20]}, which does not exist.")


def schema_of(form: type[Strict]) -> dict[str, Any]:
    """As an endpoint takes it for `response_format`."""
    return {
        "type": "json_schema",
        "json_schema": {"name": "answer", "schema": json.loads(json.dumps(form.model_json_schema()))},
    }
