"""Scopes that gates are measured on, as frozen values, each with good notes about it; their form:
`benchmarks/evaluation/guideline.md`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any, Literal, TypeAlias

from compaction.domain.artifact import STATUSES, Malformed, Section, Status, Strict, parsed
from compaction.domain.ledger import Entry
from efforts.domain.effort.states import RunState
from efforts.domain.prompt.conversation import LogMessage, PastTurn, ToolCall
from efforts.domain.text.canonical import canonical_json
from efforts.domain.text.redaction import redact
from efforts.domain.text.source_text import Source, source_of

Split: TypeAlias = Literal["dev", "test"]
Actor: TypeAlias = Literal["user", "assistant", "tool"]
SPLITS: tuple[Split, ...] = ("dev", "test")
# What must not be lost, by its name in a file.
KINDS = {"decisions": Section.DECISION, "open_work": Section.OPEN_WORK, "constraints": Section.RULE}
EVERY_TRAIT = """
    attribution blocked_work border_decision chat code coding_run constraint dropped_work empty failing_tests
    implicit_acceptance injected_instructions last_message_decision long_message_decision meeting near_duplicates
    numbers open_work_closed_later other_language rejected_proposal reversed_decision revoked_constraint secret
    tool_output_decision
"""
TRAITS = frozenset(EVERY_TRAIT.split())


class Unreadable(ValueError):
    """This set cannot be measured on; the text names file and place."""


class CallFile(Strict):
    id: str
    name: str
    arguments: dict[str, Any]


class MessageFile(Strict):
    id: int
    turn: int
    role: Actor
    text: str
    tool_calls: tuple[CallFile, ...] = ()
    tool_call_id: str = ""


class Quote(Strict):
    message: int
    quote: str


class Annotation(Strict):
    """The first span says what it is about."""

    id: str
    status: Status
    text: str
    spans: tuple[Quote, ...]


class Annotations(Strict):
    decisions: tuple[Annotation, ...]
    open_work: tuple[Annotation, ...]
    constraints: tuple[Annotation, ...]


class Note(Strict):
    id: str
    section: str
    status: Status
    actor: Actor
    text: str
    quotes: tuple[Quote, ...]


class Notes(Strict):
    """What a careful person would hand on."""

    headline: str
    headline_items: tuple[str, ...]
    items: tuple[Note, ...]


class Origin(Strict):
    """`messages` are the first and the last of a conversation by others."""

    source: Literal["QMSum", "ELITR", "SWE-agent", "written"]
    licence: Literal["MIT", "CC BY 4.0"]
    conversation: str = ""
    messages: tuple[int | str, int | str] | None = None


class CaseFile(Strict):
    id: str
    split: Split
    language: str
    traits: tuple[str, ...]
    origin: Origin
    messages: tuple[MessageFile, ...]
    annotations: Annotations
    artifact: Notes


class Defect(Strict):
    """One mistake to plant in good notes; which fields it has says how."""

    kind: str
    claim: str = ""
    replace: str = ""
    by: str = ""
    drop: str = ""
    section_status: str = ""
    add_line: str = ""
    quotes: tuple[Quote, ...] = ()
    quote_replace: str = ""
    quote_by: str = ""


class TrustFile(Strict):
    id: str
    messages: tuple[MessageFile, ...]
    good: Notes
    defects: tuple[Defect, ...]


@dataclass(frozen=True, kw_only=True)
class Case:
    """A scope, good notes about it, what must be kept of it, and mistakes that may be planted."""

    id: str
    traits: frozenset[str] = frozenset()
    source: Source
    notes: Notes
    entries: tuple[Entry, ...] = ()
    defects: tuple[Defect, ...] = ()


def read_cases(folder: Path, splits: Sequence[Split] = SPLITS) -> tuple[Case, ...]:
    """Those of the folders `dev` and `test`, in the order of their names. Raises `Unreadable`."""
    paths = [path for split in splits for path in sorted((folder / split).glob("*.json"))]
    if not paths:
        raise Unreadable(f"{folder} has no cases: there should be {' and '.join(f'{s}/*.json' for s in splits)}.")
    return tuple(read_case(path) for path in paths)


def read_case(path: Path) -> Case:
    try:
        return case_of(parsed(CaseFile, path.read_text(encoding="utf-8")), path)
    except (Malformed, Unreadable, UnicodeDecodeError) as error:
        raise Unreadable(f"{path}: {error}") from error


def read_trust(path: Path) -> tuple[Case, ...]:
    """Scopes with mistakes to plant, one a line. Raises `Unreadable`."""
    try:
        files = [parsed(TrustFile, line) for line in path.read_text(encoding="utf-8").splitlines()]
    except (Malformed, OSError, UnicodeDecodeError) as error:
        raise Unreadable(f"{path}: {error}") from error
    return tuple(
        Case(id=file.id, source=source_of(turns_of(file.messages)), notes=file.good, defects=file.defects)
        for file in files
    )


def case_of(file: CaseFile, path: Path) -> Case:
    faults = list(faults_of(file, path))
    if faults:
        raise Unreadable("; ".join(faults))
    source = source_of(turns_of(file.messages))
    for item in file.artifact.items:
        for quote in item.quotes:
            quoted_in(quote, source, item.id)
    return Case(
        id=file.id,
        traits=frozenset(file.traits),
        source=source,
        notes=file.artifact,
        entries=tuple(entries_of(file.annotations, source)),
    )


def faults_of(file: CaseFile, path: Path) -> Iterator[str]:
    """What no form can say."""
    if file.id != path.stem or file.split != path.parent.name:
        yield f"it calls itself {file.split}/{file.id}"
    if unknown := sorted(set(file.traits) - TRAITS):
        yield f"no traits: {', '.join(unknown)}"
    yield from faults_of_messages(file.messages)
    ids = [annotation.id for _, annotation in annotations_of(file.annotations)]
    if len(set(ids)) < len(ids):
        yield "two annotations have one id"


def faults_of_messages(messages: Sequence[MessageFile]) -> Iterator[str]:
    ids = [message.id for message in messages]
    if not ids or sorted(set(ids)) != ids:
        yield "the ids of messages do not rise"
    if sorted(turns := [message.turn for message in messages]) != turns:
        yield "the turns are not in order"
    calls: set[str] = set()
    for message in messages:
        if (message.role == "tool") != (message.tool_call_id in calls):
            yield f"message {message.id} is no result of a call before it"
        calls |= {call.id for call in message.tool_calls}


def turns_of(messages: Sequence[MessageFile]) -> Iterator[PastTurn]:
    for number, of_turn in groupby(messages, key=lambda message: message.turn):
        yield PastTurn(number=number, state=RunState.COMPLETED, messages=tuple(map(log_message, of_turn)))


def log_message(message: MessageFile) -> LogMessage:
    return LogMessage(
        id=message.id,
        role=message.role,
        text=message.text,
        tokens=0,
        tool_calls=tuple(
            ToolCall(id=call.id, name=call.name, arguments=canonical_json(call.arguments))
            for call in message.tool_calls
        ),
        tool_call_id=message.tool_call_id,
    )


def annotations_of(annotations: Annotations) -> Iterator[tuple[Section, Annotation]]:
    for name, section in KINDS.items():
        yield from ((section, annotation) for annotation in getattr(annotations, name))


def entries_of(annotations: Annotations, source: Source) -> Iterator[Entry]:
    for section, annotation in annotations_of(annotations):
        if annotation.status not in STATUSES[section]:
            raise Unreadable(f"{annotation.id}: {section} cannot be {annotation.status}")
        if not annotation.spans:
            raise Unreadable(f"{annotation.id} has no span")
        text = redact(annotation.text).value
        messages = {span.message for span in annotation.spans}
        if section == Section.RULE and not any(sentences_with(message, text, source) for message in messages):
            raise Unreadable(f"{annotation.id} is not word for word what a message says: {annotation.text!r}")
        cites = [id for span in annotation.spans for id in quoted_in(span, source, annotation.id)]
        yield Entry(
            id=annotation.id,
            section=section,
            status=annotation.status,
            text=text,
            sentences=tuple(dict.fromkeys(cites)),
        )


def quoted_in(quote: Quote, source: Source, of: str) -> tuple[str, ...]:
    """The ids of the sentences that it is of. Raises `Unreadable`."""
    found = sentences_with(quote.message, quote.quote, source)
    if not found:
        raise Unreadable(f"{of} quotes what message {quote.message} does not say: {quote.quote!r}")
    return found


def sentences_with(message: int, words: str, source: Source) -> tuple[str, ...]:
    """The ids of the sentences of that message in which the words stand, whatever white space is between them."""
    pattern = re.compile(r"\s+".join(re.escape(word) for word in redact(words).value.split()))
    for part in source.parts:
        if part.message == message and (found := pattern.search(part.text)):
            return tuple(one.id for one in part.sentences if one.start < found.end() and found.start() < one.end)
    return ()
