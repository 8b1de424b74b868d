"""A unified diff against a text that is known: read, found in the text, applied hunk by hunk."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import islice
from typing import Any

from unidiff.errors import UnidiffParseError
from unidiff.patch import Hunk as Parsed
from unidiff.patch import PatchedFile, PatchSet

from workspaces.domain.following import MOST_COMPARED, places_of, same_ends

HUNK = re.compile(r"^@@(?: -(\d+)(?:,\d+)? \+\d+(?:,\d+)? @@)?")
NO_NEWLINE = "\\"
# What some editors put before the first line: nobody sees it, and hardly a diff has it.
MARK = "\ufeff"
LONGEST_DIFF, MOST_HUNKS = 100_000, 50
# Lines of a change that are told.
TOLD = 40
# What has happened to lines, and their places before and now, from and to, as difflib has it.
Step = tuple[str, int, int, int, int]

NO_HUNK = "The diff has no hunk. Each begins with @@ -line,count +line,count @@."
ONE_FILE = "The diff names {named}, and path is {path}. Propose one file at a time."


class BadDiff(ValueError):
    """What is wrong with a diff, and what to do, for whoever wrote it."""


@dataclass(frozen=True, kw_only=True)
class Hunk:
    """`first`: the line of the text, from 0, that it begins at. Each line: " ", "-" or "+", and its words."""

    first: int
    lines: tuple[tuple[str, str], ...]

    @property
    def source(self) -> list[str]:
        """The lines that it expects."""
        return [text for kind, text in self.lines if kind != "+"]

    def to_json(self) -> dict[str, Any]:
        return {"first": self.first, "lines": [list(line) for line in self.lines]}

    @classmethod
    def from_json(cls, told: dict[str, Any]) -> Hunk:
        return cls(first=told["first"], lines=tuple((kind, text) for kind, text in told["lines"]))


def read_diff(path: str, diff: str, text: str) -> tuple[Hunk, ...]:
    """The hunks of `diff`, in order, where they stand in `text`. Raises `BadDiff`.

    Models count lines badly: what a header says of lengths is not asked for, and a hunk that does not stand where it
    says is taken where its lines stand, if that is one place.
    """
    if len(diff) > LONGEST_DIFF:
        raise BadDiff(f"The diff has more than {LONGEST_DIFF:,} characters. Propose a smaller edit.")
    lines, mark = plain(text), mark_of(text)
    found: list[Hunk] = []
    for number, parsed in enumerate(parsed_hunks(path, diff), 1):
        given = ((one.line_type, one.value.rstrip("\r\n")) for one in parsed if one.line_type != NO_NEWLINE)
        pairs = tuple((kind, words.removeprefix(mark)) for kind, words in given)
        if not any(kind != " " for kind, _ in pairs):
            raise BadDiff(f"Hunk {number} changes nothing. Leave it out.")
        after = found[-1].first + len(found[-1].source) if found else 0
        source = [text for kind, text in pairs if kind != "+"]
        stated = max(parsed.source_start - (1 if source else 0), 0)
        found.append(Hunk(first=place_of(lines, source, stated, after, number), lines=pairs))
    return tuple(found)


def parsed_hunks(path: str, diff: str) -> Sequence[Parsed]:
    try:
        patch = PatchSet(counted(path, diff))
    except UnidiffParseError as error:
        raise BadDiff(f"The diff cannot be read: {error}") from error
    if len(patch) != 1 or not len(patch[0]):
        raise BadDiff(NO_HUNK)
    if len(patch[0]) > MOST_HUNKS:
        raise BadDiff(f"The diff has more than {MOST_HUNKS} hunks. Propose a smaller edit.")
    file: PatchedFile = patch[0]
    return list(file)


def counted(path: str, diff: str) -> str:
    """With headers that count right, and name `path`."""
    head, bodies = list[str](), list[tuple[int, list[str]]]()
    for line in diff.strip("\n").split("\n"):
        if begun := HUNK.match(line):
            bodies.append((int(begun[1] or 1), []))
        elif bodies:
            bodies[-1][1].append(line if line.strip("\r") else " ")
        else:
            head.append(line)
    if named := [name for line in head if (name := named_in(line)) not in ("", path)]:
        raise BadDiff(ONE_FILE.format(named=named[0][:200], path=path[:200]))
    written = [f"--- {path}", f"+++ {path}"]
    for start, body in bodies:
        before = sum(line[0] in " -" for line in body)
        after = sum(line[0] in " +" for line in body)
        written += [f"@@ -{start},{before} +{start},{after} @@", *body]
    return "\n".join(written) + "\n"


def named_in(line: str) -> str:
    """The path that a line of a head names; empty where it names none."""
    if not line.startswith(("--- ", "+++ ")):
        return ""
    return re.sub(r"^[ab]/", "", line[4:].split("\t")[0].strip())


def place_of(lines: list[str], source: list[str], stated: int, after: int, number: int) -> int:
    if after <= stated <= len(lines) and lines[stated : stated + len(source)] == source:
        return stated
    if not source:
        raise BadDiff(f"Hunk {number} adds lines where there are none. Give lines of the file around them.")
    places = places_of(source, lines, after)
    if len(places) == 1:
        return places[0]
    if places:
        raise BadDiff(f"Hunk {number} fits in several places. Give more lines around it.")
    here = lines[stated] if stated < len(lines) else ""
    raise BadDiff(
        f"Hunk {number} does not fit: line {stated + 1} of the file is {here[:120]!r}, and the diff has"
        f" {source[0][:120]!r}. Hunks go from top to bottom. read_span shows the lines as they are."
    )


def mark_of(text: str) -> str:
    return MARK if text.startswith(MARK) else ""


def plain(text: str) -> list[str]:
    """Its lines without what ends them."""
    lines = [line.removesuffix("\r") for line in text.removeprefix(MARK).split("\n")]
    return lines[:-1] if not lines[-1] else lines


def apply_hunks(text: str, hunks: Sequence[Hunk], accepted: Collection[int]) -> str:
    """`text` with the hunks whose numbers, from 0, are accepted. Lines keep their ends, new ones get those of most
    others; whether the last line is ended stays as it is."""
    mark = mark_of(text)
    raw = text.removeprefix(mark).split("\n")
    last = raw.pop()
    end = "\r" if 2 * sum(line.endswith("\r") for line in raw) > len(raw) else ""
    # For now like the others, wherever it comes to stand.
    raw += [last + end] if last else []
    result, at = list[str](), 0
    for number, hunk in enumerate(hunks):
        if number not in accepted:
            continue
        result += raw[at : hunk.first]
        at = hunk.first
        for kind, words in hunk.lines:
            if kind == "+":
                result.append(words + end)
                continue
            if kind == " ":
                result.append(raw[at])
            at += 1
    result += raw[at:]
    if last and result:
        result[-1] = result[-1].removesuffix(end)
    return mark + "\n".join(result if last else [*result, ""])


@dataclass(frozen=True, kw_only=True)
class Changes:
    """Lines that were added and removed, where the first of them is, and the first lines of a diff; nothing of all this
    where only the ends of lines are others."""

    added: int = 0
    removed: int = 0
    first: int = 0
    lines: tuple[str, ...] = ()


def changes(before: str, now: str) -> Changes:
    """What has happened to a text since.

    Where both have too many lines to compare, all between the first and the last change counts as changed.
    """
    old, new = plain(before), plain(now)
    if old == new:
        return Changes()
    first, last = same_ends(old, new)
    removed, added = old[first : len(old) - last], new[first : len(new) - last]
    steps: list[Step] = [("replace", 0, len(removed), 0, len(added))]
    if len(removed) * len(added) <= MOST_COMPARED:
        steps = [step for step in SequenceMatcher(None, removed, added).get_opcodes() if step[0] != "equal"]
    gone, new_ones = sum(step[2] - step[1] for step in steps), sum(step[4] - step[3] for step in steps)
    lines = tuple(islice(as_diff(removed, added, first, steps), TOLD))
    return Changes(added=new_ones, removed=gone, first=first + steps[0][3] + 1, lines=lines)


def as_diff(removed: Sequence[str], added: Sequence[str], first: int, steps: Sequence[Step]) -> Iterator[str]:
    for _, start, end, start_now, end_now in steps:
        yield f"@@ -{first + start + 1},{end - start} +{first + start_now + 1},{end_now - start_now} @@"
        yield from (f"-{line}" for line in removed[start:end])
        yield from (f"+{line}" for line in added[start_now:end_now])
