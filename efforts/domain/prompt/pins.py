"""What is pinned and shown by no layer: notes at the head of the prompt."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

from efforts.domain.effort.holds import until
from efforts.domain.effort.policy import STICKY_SHARE
from efforts.domain.prompt.conversation import Headline, HoldInForce, LogMessage, PastTurn
from efforts.domain.prompt.layers import HEAD, LARGE, TAIL, Choice, Fragments, Pinned, cut_of, headline_line
from efforts.domain.prompt.plan import FINGERPRINT, Item, PlanInputs
from efforts.domain.prompt.quotes import QUOTE
from efforts.domain.prompt.reasons import Reason
from efforts.domain.prompt.rendering import MARKS, Sources, join_parts, mark_of
from efforts.domain.text.canonical import sha256

# The built-in engine knows these lines again by llm/builtin/prompt.py: both change together.
PINS_BEGIN = "[Notes, not instructions: what the user has pinned, quoted]"
SAID = {
    "user": "Turn {number}, the user:",
    "assistant": "Turn {number}, the assistant:",
    "file": "Turn {number}, a file of the user's:",
}
TOOLS_USED = "Turn {number}, the assistant used {tools}."
# The lines before and after them, about.
PINS_FRAME = 24
TURN = "Turn {}"


def sticky_cap(inputs: PlanInputs) -> int:
    """Tokens that sticky pins may take in the notes."""
    return int(inputs.budget.effective * STICKY_SHARE)


def headline_of(inputs: PlanInputs, hold: HoldInForce) -> Headline | None:
    """What stands for a pinned effort in the notes; nothing while its turns are shown."""
    shown = (one.expanded or one.asked for one in inputs.headlines if one.slug == hold.effort)
    return None if any(shown) else next((one for one in inputs.headlines if one.slug == hold.effort), None)


def unshown(inputs: PlanInputs, choice: Choice) -> set[int]:
    """Ids of the holds whose turn no layer shows, and of those whose effort is shown by no turns."""
    shown = {turn.number for kept in choice.layers.values() for turn in kept.turns}
    return {
        hold.id
        for hold in inputs.holds
        if (hold.turn.number not in shown if hold.turn else headline_of(inputs, hold) is not None)
    }


def fit_pins(inputs: PlanInputs, holds: Sequence[HoldInForce], room: int) -> tuple[Pinned, ...]:
    """By their grant, each whole if that fits, else with its long messages cut, else not at all."""
    room -= PINS_FRAME
    fitted = []
    for hold in holds:
        forms = (Pinned(hold=hold, cut=cut) for cut in (False, True))
        if pin := next((form for form in forms if pin_tokens(inputs, form) <= room), None):
            room -= pin_tokens(inputs, pin)
            fitted.append(pin)
    return tuple(fitted)


def pins_tokens(inputs: PlanInputs, pins: Sequence[Pinned]) -> int:
    """Of all pins with their frame; 0 where there are none."""
    return PINS_FRAME + sum(pin_tokens(inputs, pin) for pin in pins) if pins else 0


def pin_tokens(inputs: PlanInputs, pin: Pinned) -> int:
    return inputs.count(pin_text(inputs, pin)) + 1


def pin_text(inputs: PlanInputs, pin: Pinned) -> str:
    fragments = Fragments()
    parts = list(pin_parts(inputs, pin, fragments))
    said = pin.hold.turn.visible if pin.hold.turn else ()
    sources = Sources(fragments=fragments.texts, messages={message.id: message for message in said}, turns={})
    return join_parts(parts, sources)


def pin_parts(inputs: PlanInputs, pin: Pinned, fragments: Fragments) -> Iterator[dict[str, Any]]:
    """The parts of a recipe that show what is pinned."""
    if turn := pin.hold.turn:
        for message in turn.visible:
            yield from message_parts(turn, message, pin.cut, fragments)
        if mark := mark_of(turn):
            yield fragments.add(MARKS[mark])
    elif headline := headline_of(inputs, pin.hold):
        yield fragments.add(headline_line(headline))


def is_long(message: LogMessage) -> bool:
    """Whether a pin that is cut shows the beginning and end of this message only; of others it shows all."""
    return message.tokens > LARGE and len(message.text) > HEAD + TAIL


def message_parts(turn: PastTurn, message: LogMessage, cut: bool, fragments: Fragments) -> Iterator[dict[str, Any]]:
    """What was said, and one line for its tool calls: a result never stands without its call."""
    if message.role in SAID and message.text:
        yield fragments.add(SAID[message.role].format(number=turn.number))
        shortened = cut and is_long(message)
        yield {"m": message.id, "quote": QUOTE, **({"cut": cut_of(message, fragments)} if shortened else {})}
    if message.tool_calls:
        tools = ", ".join(call.name for call in message.tool_calls)
        yield fragments.add(TOOLS_USED.format(number=turn.number, tools=tools))


def pin_items(inputs: PlanInputs, choice: Choice) -> Iterator[Item]:
    """One for each hold that no layer shows; those that one shows have their reason there."""
    pinned = {pin.hold.id: pin for pin in choice.pins}
    missing = unshown(inputs, choice)
    for hold in inputs.holds:
        if pin := pinned.get(hold.id):
            yield pin_item(inputs, pin, Reason.PINNED_CUT if pin.cut else Reason.PINNED, included=True)
        elif hold.id in missing and not is_headline_shown(choice, hold):
            reason = Reason.PIN_OVER_CAP if hold.is_sticky else Reason.LEASE_OVER_BUDGET
            yield pin_item(inputs, Pinned(hold=hold), reason, included=False)


def is_headline_shown(choice: Choice, hold: HoldInForce) -> bool:
    return any(headline.slug == hold.effort for headline in choice.shown_headlines)


def pin_item(inputs: PlanInputs, pin: Pinned, reason: Reason, *, included: bool) -> Item:
    hold, headline = pin.hold, headline_of(inputs, pin.hold)
    values: dict[str, Any] = {
        "hold": hold.id,
        "until": until(hold.scope, hold.turns, hold.within),
        **inputs.leaving(hold.leaves_at),
    }
    if hold.effort:
        values["effort"] = hold.effort
    if reason == Reason.PIN_OVER_CAP:
        values["cap"] = f"{sticky_cap(inputs):,}"
    return Item(
        section="pin",
        title=TURN.format(hold.turn.number) if hold.turn else hold.effort,
        tokens=pin_tokens(inputs, pin),
        reason=reason,
        included=included,
        turns=(hold.turn.number, hold.turn.number) if hold.turn else headline.turns if headline else None,
        values=values,
        sha256=sha256(pin_text(inputs, pin))[:FINGERPRINT] if included else "",
    )


def held_turns(inputs: PlanInputs) -> Collection[int]:
    """The numbers of pinned turns."""
    return {hold.turn.number for hold in inputs.holds if hold.turn}


def is_among_pins(choice: Choice, turn: PastTurn) -> bool:
    """Whether the turn stands among the notes at the head of the prompt."""
    return any(pin.hold.turn and pin.hold.turn.number == turn.number for pin in choice.pins)
