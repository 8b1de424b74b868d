"""What a scope names exactly, copied by code: paths, commands with their exit status, numbers with their units."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice

from efforts.domain.commands import BY_NAME
from efforts.domain.text.canonical import json_object
from efforts.domain.text.source_text import Part, Source, SourcePart

from .artifact import Evidence
from .values import Type, values_of

# Of each type.
MOST = 13
# Characters; longer commands are cut.
LONGEST = 200
# Of a longer part only its last sentences are looked through.
LOOKED_AT = 200
EXIT = re.compile(
    r"\b(?:exit(?:ed)?(?: with)?(?: status| code)?|return(?:ed)?(?: with)?(?: status| code)|returncode)"
    r"[\"']?\s?(?:is|of|was|[:=])?\s?(-?\d{1,3})\b(?!\.\d)"
    r"|\breturned (-?\d{1,3})(?=[.,;:)]|\s*$)",
    re.IGNORECASE,
)
TYPED = re.compile(r"\s*/([^\W\d_]+)(?=\s|$)")
COMMANDS = ("command", "cmd", "script")


def evidence_in(source: Source) -> tuple[Evidence, ...]:
    """Of each type the latest, each value once; in the order of the types, latest first."""
    kinds = (named(source, Type.PATH), commands(source), named(source, Type.NUMBER))
    return tuple(one for found in kinds for one in islice(each_once(found), MOST))


def exit_status_in(text: str) -> int | None:
    """The last that it tells: "exit 0", "exit code: 0", "exited with 1"."""
    found = list(EXIT.finditer(text))
    return int(found[-1][1] or found[-1][2]) if found else None


def each_once(found: Iterable[Evidence]) -> Iterator[Evidence]:
    seen: set[str] = set()
    for one in found:
        if one.value not in seen:
            seen.add(one.value)
            yield one


def named(source: Source, kind: Type) -> Iterator[Evidence]:
    """Paths, or numbers that have a unit."""
    for part in reversed(source.parts):
        if part.part == Part.CALLS:
            continue
        for sentence in reversed(part.sentences[-LOOKED_AT:]):
            # A person's /todo at its beginning names no file.
            typed = TYPED.match(sentence.text) if part.role == "user" else None
            said = sentence.text[typed.end() :] if typed and typed[1].casefold() in BY_NAME else sentence.text
            for value in reversed(values_of(said)):
                if value.type == kind and not value.loose and (value.unit or kind == Type.PATH):
                    shown = value.shown.strip("`")
                    yield Evidence(type="path" if kind == Type.PATH else "number", value=shown, cite=sentence.id)


def commands(source: Source) -> Iterator[Evidence]:
    for index, part in reversed(list(enumerate(source.parts))):
        if part.part == Part.CALLS:
            results = results_after(source, index)
            calls = list(calls_in(part))
            for number, (start, line) in reversed(list(enumerate(calls))):
                if value := command_of(line):
                    status = exit_status_in(results[number].text) if number < len(results) else None
                    cite = next(sentence.id for sentence in part.sentences if sentence.end > start)
                    yield Evidence(type="command", value=value[:LONGEST], exit_status=status, cite=cite)


def results_after(source: Source, index: int) -> list[SourcePart]:
    """What the calls of this part returned, in their order."""
    found: list[SourcePart] = []
    for part in source.parts[index + 1 :]:
        if part.part != Part.RESULT:
            break
        found.append(part)
    return found


def calls_in(part: SourcePart) -> Iterator[tuple[int, str]]:
    start = 0
    for line in part.text.split("\n"):
        yield start, line
        start += len(line) + 1


def command_of(line: str) -> str:
    """Empty where the call has none."""
    arguments = json_object(line.removeprefix("called ")).get("arguments")
    given = json_object(arguments) if isinstance(arguments, str) else arguments if isinstance(arguments, dict) else {}
    return next((value for name in COMMANDS if isinstance(value := given.get(name), str)), "").strip()
