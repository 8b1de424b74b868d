"""One stored plan looked at closely: beside the plan before it, and as the request that was sent."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from efforts.context.naming import changes_named, names_of
from efforts.context.plans import SECTIONS, replay
from efforts.domain.prompt.difference import MadePlan, PlanChange, difference
from efforts.domain.text.redaction import redact_all
from efforts.log.timelines import branch_turns
from efforts.models import Branch, ContextPlan

# More text than this on one page makes a browser slow.
LARGEST_SHOWN = 400_000
BEGINNING = 120


@dataclass(frozen=True, kw_only=True)
class SectionChange:
    key: str
    label: str
    before: int
    now: int

    @property
    def more(self) -> int:
        return self.now - self.before


@dataclass(frozen=True, kw_only=True)
class DifferenceView:
    """`more` is how many tokens the request grew by."""

    entered: tuple[PlanChange, ...]
    left: tuple[PlanChange, ...]
    changed: tuple[PlanChange, ...]
    sections: tuple[SectionChange, ...]
    more: int


@dataclass(frozen=True, kw_only=True)
class RawPart:
    """A piece of the request as JSON, secrets masked."""

    title: str
    text: str
    characters: int
    begins: str = ""


@dataclass(frozen=True, kw_only=True)
class RawRequest:
    parts: tuple[RawPart, ...]
    characters: int
    masked: int
    left_out: int

    @property
    def is_cut(self) -> bool:
        return bool(self.left_out)


def compared(before: ContextPlan, now: ContextPlan) -> DifferenceView:
    """What of `now` is otherwise than in the plan `before` it, in the same branch."""
    return differing(made(before), made(now), now.branch, more=now.tokens - before.tokens)


def differing(before: MadePlan, now: MadePlan, branch: Branch, *, more: int) -> DifferenceView:
    found = difference(before, now)
    numbers = {number for change in (*found.entered, *found.left, *found.changed) for number in change.turns}
    prices = dict(branch_turns(branch).filter(number__in=numbers).values_list("number", "tokens"))
    told = ((change.why, change.effort) for change in (*found.entered, *found.left, *found.changed))
    names = names_of(branch.session, told)
    return DifferenceView(
        entered=changes_named(priced(found.entered, prices), names),
        left=changes_named(priced(found.left, prices), names),
        changed=changes_named(found.changed, names),
        sections=tuple(
            SectionChange(key=key, label=SECTIONS.get(key, key), before=was, now=stands)
            for key, was, stands in sorted(found.sections, key=lambda section: place_of(section[0]))
        ),
        more=more,
    )


def made(row: ContextPlan) -> MadePlan:
    return MadePlan.from_body(row.run.turn.number, row.body)


def place_of(section: str) -> int:
    return list(SECTIONS).index(section) if section in SECTIONS else len(SECTIONS)


def priced(changes: Iterable[PlanChange], prices: Mapping[int, int]) -> Iterator[PlanChange]:
    for change in changes:
        turns = sum(prices.get(number, 0) for number in change.turns)
        yield replace(change, tokens=turns) if change.turns else change


def raw_request(row: ContextPlan) -> RawRequest | None:
    """What was sent, piece by piece; None where it cannot be rendered any more."""
    try:
        request = replay(row)
    # What a replay needs is missing: all else about the plan can still be read.
    except KeyError:
        return None
    redacted = redact_all(request)
    parts = list(raw_parts(redacted.value))
    shown = list(shortened(parts))
    characters = sum(part.characters for part in parts)
    return RawRequest(
        parts=tuple(shown),
        characters=characters,
        masked=redacted.masked,
        left_out=characters - sum(len(part.text) for part in shown),
    )


def raw_parts(request: Mapping[str, Any]) -> Iterator[RawPart]:
    rest = {key: value for key, value in request.items() if key not in ("messages", "tools")}
    yield raw_part("Parameters", rest)
    if "tools" in request:
        yield raw_part(f"Tools, {len(request['tools'])}", request["tools"])
    for number, message in enumerate(request["messages"], 1):
        yield raw_part(f"{number}, {message['role']}", message, begins=words_of(message["content"]) or called(message))


def words_of(content: str | list[dict[str, Any]]) -> str:
    """Of a message with pictures its texts; a picture is named by its hash."""
    return content if isinstance(content, str) else " ".join(part.get("text", "") for part in content).strip()


def called(message: Mapping[str, Any]) -> str:
    return ", ".join(call["function"]["name"] for call in message.get("tool_calls", ()))


def raw_part(title: str, value: Any, *, begins: str = "") -> RawPart:
    text = pretty(value)
    return RawPart(title=title, text=text, characters=len(text), begins=begins[:BEGINNING])


def shortened(parts: Iterable[RawPart]) -> Iterator[RawPart]:
    room = LARGEST_SHOWN
    for part in parts:
        yield replace(part, text=part.text[:room])
        room = max(room - part.characters, 0)


def pretty(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)
