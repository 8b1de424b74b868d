"""The tool calls of one reply, as they are stored and sent again: bounded, each with why it is not run, if so."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from efforts.domain.prompt.conversation import MESSAGE_OVERHEAD, ToolCall
from efforts.domain.prompt.rendering import wire_calls
from efforts.domain.text.canonical import canonical_json, storable
from efforts.llm.protocol import RawToolCall
from efforts.tools import ToolError, error_result, parse_arguments

# Tool calls of one reply that are run, and that are answered one by one.
MOST_RUN = 16
MOST_ANSWERED = 64
# Characters; a reply has about as many where it keeps to its limit.
LONGEST_ARGUMENTS = 8_000
# Tokens that are kept for the result of each call that is run: to say that it has no room takes no more.
LEAST_RESULT = 64
# Providers refuse a prompt with a name of another shape.
NAME = re.compile(r"[^a-zA-Z0-9_-]")
LONGEST_NAME = 64

TOO_MANY = f"Not run: of one reply {MOST_RUN} calls are run. Call it again in the next step."
TOO_LONG = (
    "Not run: the arguments have {length:,} characters, and {most:,} are the most. None of them is kept. "
    "Call it again with less."
)
NO_ROOM = "Not run: the arguments have no room in what is left of this turn's prompt. Call it with less, or answer."
CUT_SHORT = "Not run: the reply was cut off at its limit within this call. Call it again, with less if need be."
NOT_LISTED = "Neither it nor the {count:,} calls after it were run. Call what is still needed in the next step."


@dataclass(frozen=True, kw_only=True)
class TakenCall:
    """A call, and what the model is told where it is not run."""

    call: ToolCall
    error: str = ""

    @property
    def result(self) -> str:
        return error_result(self.error)


@dataclass(frozen=True, kw_only=True)
class TakenCalls:
    """`room`: tokens that are left for results, beside `LEAST_RESULT` for each call that is run; it may be below 0."""

    calls: tuple[TakenCall, ...]
    room: int


def take_calls(
    raw: Sequence[RawToolCall], prefix: str, room: int, count: Callable[[str], int], *, cut_off: bool = False
) -> TakenCalls:
    """Every call of a reply, as far as there is room in the next prompt; the last one tells of those beyond.

    `prefix` begins the ids: providers repeat theirs, ours are unique in the session. `room` is in tokens. Where the
    reply was `cut_off` its last call may lack arguments and still look whole: it is not run.
    """
    taken: list[TakenCall] = []
    for index, one in enumerate(raw[:MOST_ANSWERED], 1):
        call = take_call(one, f"{prefix}-{index}", index)
        if cost(call, count) > room:
            call = TakenCall(call=replace(call.call, arguments="{}"), error=NO_ROOM)
        # The first is taken in any case: whether there is another call of the model at all is decided by the room.
        if taken and cost(call, count) > room:
            break
        room -= cost(call, count)
        taken.append(call)
    if cut_off and taken:
        taken[-1] = TakenCall(call=replace(taken[-1].call, arguments="{}"), error=CUT_SHORT)
    if beyond := len(raw) - len(taken):
        taken[-1] = replace(taken[-1], error=NOT_LISTED.format(count=beyond))
    return TakenCalls(calls=tuple(taken), room=room)


def take_call(raw: RawToolCall, id: str, index: int) -> TakenCall:
    """What is no JSON object is not sent again: some providers refuse a prompt with it."""
    call = bare(raw, id)
    if len(raw.arguments) > LONGEST_ARGUMENTS:
        return TakenCall(call=call, error=TOO_LONG.format(length=len(raw.arguments), most=LONGEST_ARGUMENTS))
    try:
        arguments = storable(raw.arguments)
        parse_arguments(arguments)
    except ToolError as error:
        return TakenCall(call=call, error=str(error))
    call = replace(call, arguments=arguments.strip() or "{}")
    return TakenCall(call=call, error=TOO_MANY if index > MOST_RUN else "")


def bare(raw: RawToolCall, id: str) -> ToolCall:
    """The call without its arguments."""
    return ToolCall(id=id, name=NAME.sub("_", raw.name)[:LONGEST_NAME] or "unnamed", arguments="{}")


def cost(taken: TakenCall, count: Callable[[str], int]) -> int:
    """Tokens of the call, and those kept for its result."""
    result = count(taken.result) if taken.error else LEAST_RESULT
    return count(canonical_json(wire_calls([taken.call]))) + MESSAGE_OVERHEAD + result
