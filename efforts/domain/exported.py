"""A conversation that was exported as lines of JSON (docs/export.md), read back as values.

Whoever made the file, what comes out is in order: texts can be stored, turns go up, and what names a turn or an effort
names one that is there. Summaries and plans are passed over: what stands has to be judged where it stands.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from efforts.domain.effort.states import (
    ConstraintBy,
    ConstraintState,
    EntryBy,
    EntryKind,
    EntryState,
    RunState,
)
from efforts.domain.errors import Refused

VERSION = 1
LONGEST_ID = 80
# As providers want them.
TOOL_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
RULE = "constraint"
# Where a turn may have ended; one that had not when it was exported goes on nowhere.
ENDED = {state.value for state in RunState} - {RunState.QUEUED, RunState.RUNNING, RunState.CANCELLED}
NO_EXPORT = "This is no conversation that CCM Web exported. Choose a file that “Export” made as JSON lines."
NO_LINE = f"Line {{number}} is not a line of an export. {NO_EXPORT}"
NEWER = "Line {number} is of a version that is not known here: a newer CCM Web exported it."
EMPTY = "This conversation has no messages, so there is nothing to import."
BREAKS_OFF = "The file breaks off in line {number}: it was not saved to its end. Download it again."


@dataclass(frozen=True, kw_only=True)
class Part:
    """A piece of a reply: prose, or with `tool` a call with its result."""

    text: str = ""
    tool: str = ""
    arguments: str = ""
    result: str = ""


@dataclass(frozen=True, kw_only=True)
class SaidTurn:
    """`effort`: an id, empty for none."""

    number: int
    at: datetime
    effort: str
    state: RunState
    user: str
    model: str
    reply: tuple[Part, ...]
    error: str


@dataclass(frozen=True, kw_only=True)
class NamedEffort:
    id: str
    name: str
    concluded: bool = False
    active: bool = False


@dataclass(kw_only=True)
class Timeline:
    """The turns of a branch after `after`, oldest first; before them are those of `parent`, which the first has not.
    `owners`: whose turns up to which number the exported branch shows, itself the last."""

    id: str
    name: str
    parent: str = ""
    after: int = 0
    archived: bool = False
    owners: dict[str, int | None] = field(default_factory=dict)
    efforts: dict[str, NamedEffort] = field(default_factory=dict)
    turns: list[SaidTurn] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A decision, a to-do, or a rule, for which `kind` is None. `turn` and `words` say where it comes from."""

    id: str
    kind: EntryKind | None
    text: str
    state: EntryState | ConstraintState
    by: EntryBy | ConstraintBy
    branch: str
    turn: int | None
    superseded_by: str


@dataclass(frozen=True, kw_only=True)
class Conversation:
    """`id`: of the conversation that was exported; `branches`: the exported one first, each after its parent."""

    id: str
    title: str
    created_at: datetime
    branches: tuple[Timeline, ...]
    entries: tuple[Entry, ...]
    archived: bool = False


def read_conversation(text: str) -> Conversation:
    """Raises `Refused` with the number of the line and what is wrong with it."""
    reader = Reader()
    # Not splitlines: JSON leaves some signs of a new line in its texts.
    told = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    for number, line in told:
        reader.take(fields_of(number, line, last=reader.head is not None and number == told[-1][0]))
    return reader.whole()


def fields_of(number: int, line: str, *, last: bool) -> Fields:
    """`last`: of an export that has begun."""
    try:
        values = json.loads(line)
    except (ValueError, RecursionError) as error:
        if last:
            raise Refused("no_json", BREAKS_OFF.format(number=f"{number:,}")) from error
        raise Refused("no_json", f"Line {number:,} is not JSON." + f" {NO_EXPORT}") from error
    if not isinstance(values, dict):
        raise Refused("no_export", NO_LINE.format(number=f"{number:,}"))
    return Fields(number=number, values=values)


@dataclass(frozen=True, kw_only=True)
class Fields:
    """The values of one line by their keys, each read as what it must be."""

    number: int
    values: Mapping[str, Any]

    def wrong(self, key: str, must: str) -> Refused:
        return Refused("bad_line", f"Line {self.number:,}: “{key}” must be {must}.")

    def text(self, key: str, *, within: int | None = None) -> str:
        """Empty for null."""
        value = self.values.get(key)
        if value is None:
            return ""
        if not isinstance(value, str) or not storable(value):
            raise self.wrong(key, "text that can be stored")
        if within is not None and len(value) > within:
            raise self.wrong(key, f"no longer than {within:,} characters")
        return value

    def named(self, key: str) -> str:
        if not (value := self.text(key, within=LONGEST_ID)):
            raise self.wrong(key, "an id")
        return value

    def count(self, key: str) -> int | None:
        value = self.values.get(key)
        # True is an int.
        if value is not None and (type(value) is not int or not 0 <= value < 2**31):
            raise self.wrong(key, "a number")
        return value

    def number_of(self, key: str, *, above: int) -> int:
        value = self.count(key)
        if value is None or value <= above:
            raise self.wrong(key, f"a number above {above:,}")
        return value

    def time(self, key: str) -> datetime:
        try:
            value = datetime.fromisoformat(self.text(key))
        except ValueError as error:
            raise self.wrong(key, "a time") from error
        if value.tzinfo is None or not 1900 < value.year < 9000:
            raise self.wrong(key, "a time")
        return value

    def one_of(self, key: str, values: Iterable[str]) -> str:
        value = self.text(key)
        if value not in values:
            raise self.wrong(key, f"one of {', '.join(sorted(values))}")
        return value

    def rows(self, key: str) -> list[Fields]:
        rows = self.values.get(key) or []
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise self.wrong(key, "a list")
        return [Fields(number=self.number, values=row) for row in rows]


def storable(text: str) -> bool:
    """Half of a character, and NUL, which one of the databases refuses, are not."""
    return "\x00" not in text and not any("\ud800" <= one <= "\udfff" for one in text)


class Reader:
    """Takes one line after the other."""

    def __init__(self) -> None:
        self.head: Fields | None = None
        self.branches: dict[str, Timeline] = {}
        self.last: Timeline | None = None
        self.entries: list[Entry] = []

    def take(self, fields: Fields) -> None:
        kind = fields.values.get("line", RULE if "entry" in fields.values else "")
        version = fields.values.get("v")
        if version != VERSION:
            newer = isinstance(version, int) and version > VERSION
            raise Refused("version", (NEWER if newer else NO_LINE).format(number=f"{fields.number:,}"))
        if self.head is None and kind != "conversation":
            raise Refused("no_export", NO_EXPORT)
        takes = {
            "conversation": self.begin,
            "branch": self.branch,
            "turn": self.turn,
            RULE: self.entry,
            "artifact": passed_over,
            "move": passed_over,
        }
        take = passed_over if "plan" in fields.values else takes.get(str(kind))
        if take is None:
            raise Refused("bad_line", f"Line {fields.number:,} is of no kind that an export has.")
        take(fields)

    def begin(self, fields: Fields) -> None:
        if self.head:
            raise Refused("two", f"Line {fields.number:,} begins a second conversation. Import them one by one.")
        self.head = fields
        owners = {row.named("branch"): row.number_of("to", above=-1) for row in fields.rows("ancestors")}
        self.add(fields, Timeline(id=fields.named("branch"), name=fields.text("branch_name"), owners={**owners}))

    def branch(self, fields: Fields) -> None:
        parent, id = fields.named("parent"), fields.named("branch")
        if parent not in self.branches or id in self.branches:
            raise fields.wrong("branch", "new, and its parent told before it")
        after = fields.number_of("after", above=-1)
        archived, name = fields.values.get("archived") is True, fields.text("name", within=100)
        self.add(fields, Timeline(id=id, name=name, parent=parent, after=after, archived=archived))

    def add(self, fields: Fields, timeline: Timeline) -> None:
        for row in fields.rows("efforts"):
            one = NamedEffort(
                id=row.named("id"),
                name=row.text("name", within=200) or row.named("id"),
                concluded=row.values.get("concluded") is True,
                active=row.values.get("active") is True,
            )
            timeline.efforts[one.id] = one
        timeline.owners[timeline.id] = None
        self.branches[timeline.id] = self.last = timeline

    def turn(self, fields: Fields) -> None:
        assert self.last is not None
        if fields.text("branch") != self.last.id:
            raise fields.wrong("branch", "that of the line before")
        before = self.last.turns[-1].number if self.last.turns else self.last.after
        state = fields.text("state")
        turn = SaidTurn(
            number=fields.number_of("turn", above=before),
            at=fields.time("at"),
            effort=fields.text("effort", within=LONGEST_ID),
            state=RunState(state) if state in ENDED else RunState.INTERRUPTED,
            user=fields.text("user"),
            model=fields.text("model", within=200),
            reply=tuple(part_of(row) for row in fields.rows("reply")),
            error=fields.text("error"),
        )
        if not turn.user.strip():
            raise fields.wrong("user", "what was said")
        self.last.turns.append(turn)

    def entry(self, fields: Fields) -> None:
        kind = fields.one_of("kind", {RULE, *EntryKind})
        rule = kind == RULE
        self.entries.append(
            Entry(
                id=fields.named("entry"),
                kind=None if rule else EntryKind(kind),
                text=fields.text("text"),
                state=ConstraintState(fields.one_of("state", set(ConstraintState)))
                if rule
                else EntryState(fields.one_of("state", set(EntryState))),
                by=ConstraintBy(fields.one_of("by", set(ConstraintBy)))
                if rule
                else EntryBy(fields.one_of("by", set(EntryBy))),
                branch=fields.text("branch"),
                turn=fields.count("turn"),
                superseded_by=fields.text("superseded_by", within=LONGEST_ID),
            )
        )

    def whole(self) -> Conversation:
        if self.head is None:
            raise Refused("no_export", NO_EXPORT)
        if not any(branch.turns for branch in self.branches.values()):
            raise Refused("empty", EMPTY)
        return Conversation(
            id=self.head.named("session"),
            title=self.head.text("title", within=200),
            created_at=self.head.time("created_at"),
            branches=tuple(self.branches.values()),
            entries=tuple(self.entries),
            archived=self.head.values.get("archived") is True,
        )


def passed_over(fields: Fields) -> None:
    pass


def part_of(row: Fields) -> Part:
    if "tool" not in row.values:
        return Part(text=row.text("text"))
    tool = row.text("tool")
    if not TOOL_NAME.fullmatch(tool):
        raise row.wrong("tool", "the name of a tool")
    return Part(tool=tool, arguments=row.text("arguments"), result=row.text("result"))
