"""The inputs of a plan as they are stored with it, and read again: numbers, ids and hashes, no copies of what was said.

Turns go by their numbers and messages by their ids, since neither changes once a later plan shows it. Everything else
that a plan is made from can change afterwards, and is kept: short values with the plan, long ones as fragments that
every plan with the same value shares.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from enum import Enum
from types import NoneType, UnionType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from efforts.domain.effort.reducer import Course
from efforts.domain.effort.states import EffortStatus
from efforts.domain.prompt.conversation import EffortLog, LogMessage, PastTurn
from efforts.domain.prompt.layers import runs_of
from efforts.domain.prompt.plan import Layout, PlanInputs
from efforts.domain.text.canonical import canonical_json, sha256

# Characters up to which a value stands in the plan itself; a hash that leads to it has 64.
INLINE = 200
SHORT = 64
# Not a value, and what has rows of its own: of these the hash is enough.
NOT_STORED = ("count", "recalled")


@dataclass(frozen=True, kw_only=True)
class StoredInputs:
    """`values` by the name of the input; what these name by a hash is among `fragments`."""

    values: Mapping[str, Any]
    fragments: Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class Named:
    """What is to be read before stored inputs can be: numbers of turns, ids of messages."""

    turns: set[int] = field(default_factory=set)
    messages: set[int] = field(default_factory=set)


@dataclass(frozen=True, kw_only=True)
class Log:
    """What was said, by what stored inputs name it by; `recalled`: what was found for the run."""

    turns: Mapping[int, PastTurn]
    messages: Mapping[int, LogMessage]
    fragments: Mapping[str, str]
    recalled: tuple[Any, ...] = ()


class InputsLost(Exception):
    """Something that a plan was made from is not what it was, or is missing; its text says what."""


def store(inputs: PlanInputs) -> StoredInputs:
    """As JSON: what is not as it is by default, with long texts apart so that several plans share them."""
    texts: dict[str, str] = {}
    values: dict[str, Any] = {"recalled": hash_of_recalled(inputs)}
    for one in fields(inputs):
        value = getattr(inputs, one.name)
        if one.name not in NOT_STORED and not is_default(one, value):
            values[one.name] = apart_if_long(to_json(value, texts), texts)
    return StoredInputs(values=values, fragments=texts)


def hash_of_recalled(inputs: PlanInputs) -> str:
    return sha256(canonical_json(to_json(inputs.recalled, {})))


def is_default(one: Any, value: Any) -> bool:
    if one.default is not MISSING:
        return bool(value == one.default)
    return one.default_factory is not MISSING and bool(value == one.default_factory())


def apart_if_long(value: Any, texts: dict[str, str]) -> Any:
    text = canonical_json(value)
    return {"j": put(text, texts)} if len(text) > INLINE else value


def put(text: str, texts: dict[str, str]) -> str:
    sha = sha256(text)
    texts[sha] = text
    return sha


def to_json(value: Any, texts: dict[str, str]) -> Any:
    """`texts` takes by its hash what is too long to stand in its place."""
    if isinstance(value, str) and not isinstance(value, Enum):
        return {"f": put(value, texts)} if len(value) > SHORT else value
    if isinstance(value, PastTurn):
        return {"turns": [[value.number, value.number]]}
    if isinstance(value, LogMessage):
        return {"m": value.id}
    if isinstance(value, Layout):
        return value.to_json()
    if isinstance(value, tuple):
        return spans_of(value) if value and isinstance(value[0], PastTurn) else [to_json(one, texts) for one in value]
    if is_dataclass(value):
        named = ((one, getattr(value, one.name)) for one in fields(value))
        return {one.name: to_json(told, texts) for one, told in named if not is_default(one, told)}
    # The words of a vocabulary; what is left is JSON already.
    return value.value if isinstance(value, Enum) else value


def spans_of(turns: tuple[PastTurn, ...]) -> dict[str, Any]:
    return {"turns": [list(run) for run in runs_of([turn.number for turn in turns])]}


def unfold(values: Mapping[str, Any], fragments: Mapping[str, str]) -> dict[str, Any]:
    """With the long ones in their places. Raises `InputsLost`."""
    return {
        name: json.loads(fragment(value["j"], fragments)) if is_apart(value) else value
        for name, value in values.items()
    }


def is_apart(value: Any) -> bool:
    return isinstance(value, dict) and value.keys() == {"j"}


def fragment(sha: str, fragments: Mapping[str, str]) -> str:
    if sha not in fragments or sha256(fragments[sha]) != sha:
        raise InputsLost(f"fragment {sha} is missing or changed")
    return fragments[sha]


def hashes_in(value: Any) -> Iterator[str]:
    """Of the fragments that a value names, those apart included."""
    for one in walk(value):
        if one.keys() in ({"f"}, {"j"}):
            yield from one.values()


def named_in(value: Any) -> Named:
    """The messages and turns that stored inputs name instead of repeating them."""
    named = Named()
    for one in walk(value):
        if one.keys() == {"m"}:
            named.messages.add(one["m"])
        elif one.keys() == {"turns"}:
            named.turns.update(number for first, last in one["turns"] for number in range(first, last + 1))
    return named


def walk(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
        value = list(value.values())
    if isinstance(value, list):
        for one in value:
            yield from walk(one)


def restore(values: Mapping[str, Any], log: Log, count: Callable[[str], int]) -> PlanInputs:
    """What `store` was given. Raises `InputsLost` where something it names is missing or not what it was."""
    hints = get_type_hints(PlanInputs)
    told = {name: value for name, value in values.items() if name != "recalled"}
    if unknown := told.keys() - hints.keys():
        raise InputsLost(f"inputs that this version does not know: {', '.join(sorted(unknown))}")
    read = {name: from_json(hints[name], value, log) for name, value in told.items()}
    inputs = PlanInputs(**read, recalled=log.recalled, count=count)
    if hash_of_recalled(inputs) != values["recalled"]:
        raise InputsLost("the recalled passages are not those it was made with")
    return inputs


def from_json(hint: Any, value: Any, log: Log) -> Any:
    kind = get_origin(hint) or hint
    if kind is UnionType:
        return (
            None if value is None else from_json(next(one for one in get_args(hint) if one is not NoneType), value, log)
        )
    if kind in (str, Literal):
        return fragment(value["f"], log.fragments) if isinstance(value, dict) else value
    if kind is PastTurn:
        return turns_of(value, log)[0]
    if kind is LogMessage:
        return found(log.messages, value["m"], "message")
    if kind is Layout:
        return Layout.from_json(value)
    if kind is tuple:
        return tuple_of(get_args(hint), value, log)
    if isinstance(kind, type) and is_dataclass(kind):
        hints = get_type_hints(kind)
        return kind(**{name: from_json(hints[name], one, log) for name, one in value.items()})
    return kind(value) if isinstance(kind, type) and issubclass(kind, Enum) else value


def tuple_of(kinds: tuple[Any, ...], value: Any, log: Log) -> tuple[Any, ...]:
    if isinstance(value, dict):
        return turns_of(value, log)
    each = [kinds[0]] * len(value) if kinds[-1] is Ellipsis else kinds
    return tuple(from_json(kind, one, log) for kind, one in zip(each, value, strict=True))


def turns_of(value: Mapping[str, Any], log: Log) -> tuple[PastTurn, ...]:
    numbers = (number for first, last in value["turns"] for number in range(first, last + 1))
    return tuple(found(log.turns, number, "turn") for number in numbers)


def found(rows: Mapping[int, Any], key: int, what: str) -> Any:
    if key not in rows:
        raise InputsLost(f"{what} {key} is missing")
    return rows[key]


def untold(inputs: PlanInputs, course: Course) -> Iterator[str]:
    """What the inputs say of efforts and the log does not: `course` is what its events up to their moment come to."""
    if inputs.epoch != course.epoch:
        yield "the count of changes of effort"
    for effort in inputs.efforts:
        if not effort.chosen:
            if not is_told(effort, course):
                yield f"{effort.slug} as {effort.kind}"
            missing = (turn.number for turn in effort.turns if not is_labelled(course, effort.slug, turn.number))
            yield from (f"turn {number} in {effort.slug}" for number in missing)
    yield from (f"turn {turn.number} of no effort" for turn in inputs.past if turn.number in course.labels)
    for one in inputs.headlines:
        if not one.chosen and status_in(course, one.slug) != EffortStatus.CONCLUDED:
            yield f"{one.slug} as concluded"
    yield from untold_in_line(inputs, course)


def untold_in_line(inputs: PlanInputs, course: Course) -> Iterator[str]:
    for one in inputs.line.efforts:
        status = EffortStatus.OPEN if one.is_open else EffortStatus.CONCLUDED
        if status_in(course, one.slug) != status or not all(is_labelled(course, one.slug, turn) for turn in one.turns):
            yield f"{one.slug} in the line of efforts"


def is_labelled(course: Course, slug: str, number: int) -> bool:
    label = course.labels.get(number)
    return label is not None and label.slug == slug


def is_told(effort: EffortLog, course: Course) -> bool:
    status = status_in(course, effort.slug)
    if effort.kind in ("active", "open"):
        return status == EffortStatus.OPEN and (effort.kind == "active") == (course.active == effort.slug)
    expanded = status is not None and course.efforts[effort.slug].expanded_turn is not None
    return status == EffortStatus.CONCLUDED and (effort.kind == "awaiting" or expanded)


def status_in(course: Course, slug: str) -> EffortStatus | None:
    return course.efforts[slug].status if slug in course.efforts else None
