"""Seals: each hash is over a record and the seal of the record before it, so that none can be changed, taken away, put
in or moved without breaking those after it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from efforts.domain.prompt.conversation import LogMessage
from efforts.domain.text.canonical import canonical_json, sha256


@dataclass(frozen=True, kw_only=True)
class Sealed:
    """A record of a chain as it is stored. `name`: what it is known by; `intact`: its seal is that of its content."""

    name: str
    before: str
    seal: str
    intact: bool = True

    @classmethod
    def of(cls, name: str, before: str, seal: str, content: Any) -> Sealed:
        return cls(name=name, before=before, seal=seal, intact=not seal or seal == seal_of(before, content))


def seal_of(before: str, content: Any) -> str:
    """In hexadecimal; `content` is what JSON can hold. Empty is what stands before the first."""
    # As it will be read again: JSON has no tuples, and no keys that are numbers.
    return sha256(canonical_json([before, json.loads(canonical_json(content))]))


def said_sha256(messages: Sequence[LogMessage]) -> str:
    """Of the messages of one attempt at a turn: no word, call, count or place of them can change."""
    rows = [
        [
            one.id,
            one.role,
            one.text,
            one.tokens,
            [vars(call) for call in one.tool_calls],
            one.tool_call_id,
            one.continues,
            # Only where there is one: what was sealed before there were pictures stays as it was.
            *([one.picture] if one.picture else []),
        ]
        for one in messages
    ]
    return sha256(canonical_json(rows))


def broken(chain: Sequence[Sealed], *, first: str, head: str) -> Iterator[tuple[str, str]]:
    """The name of each record that is not where and what it was sealed as, and what is wrong with it; "" where the end
    of the chain is missing.

    `chain`: in the order in which they are found; those from before there were seals first, without one. `first`: the
    seal before it, `head`: that of its last.
    """
    at = first
    known = {first, *(one.seal for one in chain)}
    for one in chain:
        if not one.seal:
            if at != first:
                yield one.name, "added: it has no seal, and those before it have"
            continue
        if not one.intact:
            yield one.name, "changed: it is not what it was sealed as"
        elif one.before != at:
            there = one.before in known
            yield (
                one.name,
                "moved or added: another stands before it than did" if there else "the one before it is gone",
            )
        at = one.seal
    if at != head:
        yield "", "the last one is gone, or one was added after it"
