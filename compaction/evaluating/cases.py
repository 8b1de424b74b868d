"""Annotated scopes that gates are measured on, as frozen values; their form: `compaction/evaluation/guideline.md`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any, Literal, TypeAlias

from compaction.domain.artifact import STATUSES, Actor, Draft, Malformed, Quote, Section, Status, Strict, parsed
from compaction.domain.ledger import Entry, Span
from compaction.domain.making import link_to
from efforts.domain.canonical import canonical_json
from efforts.domain.conversation import LogMessage, PastTurn, ToolCall
from efforts.domain.lifecycle import RunState
from efforts.domain.redaction import redact
from efforts.domain.source_text import Source, source_of

Split: TypeAlias = Literal["dev", "test"]
SPLITS: tuple[Split, ...] = ("dev", "test")
# What must not be lost, by its name in a file.
KINDS = {"decisions": Section.DECISION, "open_work": Section.OPEN_WORK, "constraints": Section.CONSTRAINT}
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
    artifact: Draft


@dataclass(frozen=True, kw_only=True)
class Case:
    """A scope, what must be kept of it, and the artifact that a careful person would hand on."""

    id: str
    split: Split
    language: str
    traits: frozenset[str]
    origin: str
    source: Source
    ledger: tuple[Entry, ...]
    draft: Draft


def read_cases(folder: Path) -> tuple[Case, ...]:
    """Those of the folders `dev` and `test`, in the order of their names. Raises `Unreadable`."""
    paths = [path for split in SPLITS for path in sorted((folder / split).glob("*.json"))]
    if not paths:
        raise Unreadable(f"{folder} has no cases: there should be dev/*.json and test/*.json.")
    return tuple(read_case(path) for path in paths)


def read_case(path: Path) -> Case:
    try:
        return case_of(parsed(CaseFile, path.read_text()), path)
    except (Malformed, Unreadable, UnicodeDecodeError) as error:
        raise Unreadable(f"{path}: {error}") from error


def case_of(file: CaseFile, path: Path) -> Case:
    faults = list(faults_of(file, path))
    if faults:
        raise Unreadable("; ".join(faults))
    source = source_of(turns_of(file.messages))
    case = Case(
        id=file.id,
        split=file.split,
        language=file.language,
        traits=frozenset(file.traits),
        origin=file.origin.source,
        source=source,
        ledger=tuple(entries_of(file.annotations, source)),
        draft=file.artifact,
    )
    for item in file.artifact.items:
        for quote in item.quotes:
            span_of(quote, source, item.id)
    return case


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
        entry = entry_of(section, annotation, source)
        if section == Section.CONSTRAINT and not stands_word_for_word(entry, source):
            raise Unreadable(f"{annotation.id} is not word for word what a message says: {annotation.text!r}")
        yield entry


def entry_of(section: Section, annotation: Annotation, source: Source) -> Entry:
    return Entry(
        id=annotation.id,
        section=section,
        status=annotation.status,
        text=redact(annotation.text).value,
        spans=tuple(span_of(quote, source, annotation.id) for quote in annotation.spans),
    )


def span_of(quote: Quote, source: Source, of: str) -> Span:
    link = link_to(source, quote.message, redact(quote.quote).value)
    if link is None:
        raise Unreadable(f"{of} quotes what message {quote.message} does not say: {quote.quote!r}")
    return Span(message=link.message, part=link.part, start=link.start, end=link.end)


def stands_word_for_word(entry: Entry, source: Source) -> bool:
    return any(link_to(source, message, entry.text) for message in messages_of(entry.spans))


def messages_of(spans: Iterable[Span]) -> list[int]:
    return list(dict.fromkeys(span.message for span in spans))
