"""What a scope names exactly, copied by code: paths, commands with their exit status, numbers, errors."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from efforts.domain.source_text import Part, Source, SourcePart

from .anchors import Type, anchors_of
from .artifact import Evidence, Link

MOST = 10
# Characters; longer commands and errors are cut.
LONGEST = 200
# Parts of a message that are longer are only looked through at their end, where what matters stands.
LOOKED_AT = 20_000
EXIT = re.compile(r"\bexit(?:ed)?(?: with)?(?: status| code)?[: ]+(\d{1,3})\b", re.IGNORECASE)
ERROR = re.compile(
    r"^[^\n]*\b(?:[A-Z]\w*(?:Error|Exception)\b|error|fatal|FAILED|failed|Traceback|denied|panic)[^\n]*$", re.MULTILINE
)
COMMANDS = ("command", "cmd", "script")


def evidence_in(source: Source) -> tuple[Evidence, ...]:
    """Of each type the latest, each value once; in the order of the types, latest first."""
    kinds = (paths(source), commands(source), numbers(source), errors(source))
    return tuple(one for found in kinds for one in islice(each_once(found), MOST))


def each_once(found: Iterable[Evidence]) -> Iterator[Evidence]:
    seen: set[str] = set()
    for one in found:
        if one.value not in seen:
            seen.add(one.value)
            yield one


def paths(source: Source) -> Iterator[Evidence]:
    for part, value, start in latest_anchors(source, Type.PATH):
        yield Evidence(type="path", value=value, link=link(part, start, start + len(value)))


def numbers(source: Source) -> Iterator[Evidence]:
    for part, value, start in latest_anchors(source, Type.NUMBER):
        if any(character.isdecimal() for character in value) and any(character.isalpha() for character in value):
            yield Evidence(type="number", value=value, link=link(part, start, start + len(value)))


def latest_anchors(source: Source, kind: Type) -> Iterator[tuple[SourcePart, str, int]]:
    for part in reversed(source.parts):
        if part.part == Part.CALLS:
            continue
        offset = max(len(part.text) - LOOKED_AT, 0)
        for anchor in reversed(anchors_of(part.text[offset:])):
            start = offset + anchor.start
            if anchor.type == kind and part.text.startswith(anchor.shown, start):
                yield part, anchor.shown, start


def commands(source: Source) -> Iterator[Evidence]:
    for index, part in reversed(list(enumerate(source.parts))):
        if part.part == Part.CALLS:
            results = results_after(source.parts, index)
            lines = list(lines_of(part.text))
            for number, (start, line) in reversed(list(enumerate(lines))):
                if value := command_of(line):
                    at = start + line.index(value)
                    status = exit_of(results[number]) if number < len(results) else None
                    yield Evidence(
                        type="command", value=value, exit_status=status, link=link(part, at, at + len(value))
                    )


def results_after(parts: Sequence[SourcePart], index: int) -> list[SourcePart]:
    """What the calls of this part returned, in their order."""
    found: list[SourcePart] = []
    for part in parts[index + 1 :]:
        if part.part != Part.RESULT:
            break
        found.append(part)
    return found


def lines_of(text: str) -> Iterator[tuple[int, str]]:
    start = 0
    for line in text.split("\n"):
        yield start, line
        start += len(line) + 1


def command_of(line: str) -> str:
    """As it stands in the line, escaped as JSON is."""
    arguments = arguments_of(line)
    value = next((arguments[name] for name in COMMANDS if isinstance(arguments.get(name), str)), "")
    return next((form[:LONGEST] for form in escaped(value) if form and form[:LONGEST] in line), "")


def arguments_of(line: str) -> dict[str, object]:
    try:
        call = json.loads(line.removeprefix("called "))
        arguments = call.get("arguments") if isinstance(call, dict) else None
        found = json.loads(arguments) if isinstance(arguments, str) else arguments
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def escaped(value: object) -> Iterator[str]:
    text = str(value)
    once = json.dumps(text, ensure_ascii=False)[1:-1]
    yield from (json.dumps(once, ensure_ascii=False)[1:-1], once, text)


def exit_of(result: SourcePart) -> int | None:
    found = EXIT.search(result.text, max(len(result.text) - LOOKED_AT, 0))
    return int(found[1]) if found else None


def errors(source: Source) -> Iterator[Evidence]:
    for part in reversed(source.parts):
        if part.part == Part.RESULT:
            for found in reversed(list(ERROR.finditer(part.text, max(len(part.text) - LOOKED_AT, 0)))):
                start = found.start() + len(found[0]) - len(found[0].lstrip())
                end = min(found.end(), start + LONGEST)
                value = part.text[start:end].rstrip()
                yield Evidence(type="error", value=value, link=link(part, start, start + len(value)))


def link(part: SourcePart, start: int, end: int) -> Link:
    return Link(message=part.message, part=part.part, start=start, end=end, quote=part.text[start:end])
