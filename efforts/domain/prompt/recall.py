"""Of the passages that were found for this turn, those that its prompt quotes; and what people read of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

from efforts.domain.prompt.conversation import Recalled
from efforts.domain.prompt.layers import HEAD, TAIL, Choice, Kept, Pinned, folds, runs_of, span_title
from efforts.domain.prompt.line import SHARE, fit_line, line_tokens
from efforts.domain.prompt.pins import is_long, pins_tokens
from efforts.domain.prompt.plan import FINGERPRINT, Item, PlanInputs
from efforts.domain.prompt.quotes import FIRST, QUOTE, block_text, header
from efforts.domain.prompt.reasons import Reason
from efforts.domain.prompt.rendering import quoted
from efforts.domain.text.canonical import sha256

# Of the room beside what must be sent, at most: beside a long message the last turns are to stand too.
ROOM_SHARE = 0.5
# On free room, of the best passage's score: what has less adds little.
ADDS_LITTLE = 0.5
# The lines that frame the block, about.
FRAME = 24


def cap(inputs: PlanInputs) -> int:
    """Tokens that recall may take at most."""
    return int(inputs.budget.effective * inputs.recall_share)


def most(inputs: PlanInputs) -> int:
    """And on room that is free, with what it has anyway."""
    return int(inputs.budget.effective * inputs.recall_most)


def recall_room(inputs: PlanInputs, wanted: int, room: int, pins: Sequence[Pinned]) -> int:
    """What of `room` is kept for recall: nothing of what is pinned for good gives way to it."""
    room = max(room - pins_tokens(inputs, [pin for pin in pins if pin.hold.is_sticky]), 0)
    # A measurement that lifts the cap lifts the second one too.
    return min(wanted, cap(inputs), int(room * max(inputs.recall_share, ROOM_SHARE)))


def recall_demand(inputs: PlanInputs, choice: Choice) -> int:
    """Tokens that recall could use, where `choice` is what would stand without it."""
    wanted = sum(passage_tokens(inputs, passage) for passage in missing(inputs, choice))
    line = line_tokens(inputs, fit_line(inputs, choice, int(cap(inputs) * SHARE)))
    return wanted + (FRAME if wanted else 0) + line if cap(inputs) else 0


def with_recalled(inputs: PlanInputs, choice: Choice, room: int) -> Choice:
    """With the line of efforts, where the message asks for it, and with passages."""
    line = fit_line(inputs, choice, min(int(cap(inputs) * SHARE), room))
    room -= line_tokens(inputs, line)
    return replace(choice, line=line, recalled=fit_recalled(inputs, choice, room))


def less_recalled(choice: Choice) -> Choice:
    """Without the last passage; after all of them, without the line of efforts."""
    return replace(choice, recalled=choice.recalled[:-1], line=choice.line if choice.recalled else ())


def recall_tokens(inputs: PlanInputs, choice: Choice) -> int:
    """What is quoted, and the line of efforts."""
    return inputs.count(block_text(choice.recalled)) + line_tokens(inputs, choice.line)


def fit_recalled(inputs: PlanInputs, choice: Choice, room: int) -> tuple[Recalled, ...]:
    """By rank what is not shown and fits; a passage that is too long keeps no shorter one out."""
    left, fitted = room - FRAME, list[Recalled]()
    for passage in missing(inputs, choice):
        tokens = passage_tokens(inputs, passage)
        if tokens <= left:
            left -= tokens
            fitted.append(passage)
    while fitted and inputs.count(block_text(fitted)) > room:
        fitted.pop()
    return tuple(fitted)


def fit_free(inputs: PlanInputs, choice: Choice, room: int) -> tuple[Recalled, ...]:
    """By rank, until one does not fit or adds little: with less room they leave from the end only."""
    room = min(room, most(inputs) - recall_tokens(inputs, choice))
    left, fitted = room - (0 if choice.recalled else FRAME), list[Recalled]()
    least = ADDS_LITTLE * max((passage.score for passage in found(inputs)), default=0.0)
    for passage in missing(inputs, choice):
        if passage in choice.recalled:
            continue
        left -= passage_tokens(inputs, passage)
        if left < 0 or passage.score < least:
            break
        fitted.append(passage)
    return tuple(fitted)


def found(inputs: PlanInputs) -> list[Recalled]:
    return [passage for passage in inputs.recalled if passage.text.strip()]


def missing(inputs: PlanInputs, choice: Choice) -> list[Recalled]:
    """What was found and is not in the prompt anyway."""
    layers = {message.id: kept for kept in choice.layers.values() for turn in kept.turns for message in turn.visible}
    pins = {message.id: pin for pin in choice.pins if pin.hold.turn for message in pin.hold.turn.visible}
    before = [one for kept in choice.layers.values() for turn in kept.turns for one in kept.recalled_for(turn)]
    return [
        passage
        for passage in found(inputs)
        if not is_in_layer(passage, layers.get(passage.message.id))
        and not is_in_pin(passage, pins.get(passage.message.id))
        and not any(covers(one, passage) for one in before)
    ]


def is_in_layer(passage: Recalled, kept: Kept | None) -> bool:
    """Whether the passage can be read where it was said: of what is cut only the beginning and end."""
    if kept is None or passage.message.id in kept.left:
        return False
    return passage.message.id not in kept.cuts or (not folds(passage.message) and is_at_an_end(passage))


def is_in_pin(passage: Recalled, pin: Pinned | None) -> bool:
    # Of tool calls a pin shows one line.
    if pin is None or passage.message.role == "tool":
        return False
    return not (pin.cut and is_long(passage.message)) or is_at_an_end(passage)


def is_at_an_end(passage: Recalled) -> bool:
    return passage.end <= HEAD or passage.start >= len(passage.message.text) - TAIL


def covers(other: Recalled, passage: Recalled) -> bool:
    return other.message.id == passage.message.id and other.start <= passage.start and passage.end <= other.end


def passage_tokens(inputs: PlanInputs, passage: Recalled) -> int:
    """With the line that says whose it is, which it may share with others."""
    return inputs.count(quoted(passage.text.strip(), QUOTE)) + inputs.count(header(passage, FIRST)) + 2


def recall_items(inputs: PlanInputs, choice: Choice) -> Iterator[Item]:
    """One for each turn that is quoted; one for all that is out for the same reason."""
    kept = choice.recalled[: len(choice.recalled) - choice.on_free_room]
    for turn, passages in groupby(sorted(choice.recalled, key=lambda one: one.turn), lambda one: one.turn):
        quoted = list(passages)
        stays = any(one in kept for one in quoted)
        yield quoted_item(inputs, turn, quoted, Reason.RECALLED if stays else Reason.RECALLED_FREE)
    wanted = missing(inputs, choice)
    out = [passage for passage in wanted if passage not in choice.recalled]
    shown = [passage for passage in found(inputs) if passage not in wanted]
    yield from out_item(inputs, out, Reason.RECALL_OVER_CAP)
    yield from out_item(inputs, shown, Reason.RECALL_SHOWN)


def quoted_item(inputs: PlanInputs, turn: int, passages: Sequence[Recalled], reason: Reason) -> Item:
    text = block_text(passages)
    why = dict.fromkeys(sentence for passage in passages for sentence in passage.why)
    effort = passages[0].effort
    return Item(
        section="recall",
        title=f"{effort}: turn {turn}" if effort else f"Turn {turn}",
        tokens=inputs.count(text),
        reason=reason,
        included=True,
        turns=(turn, turn),
        values={"why": " ".join(why), **({"effort": effort} if effort else {}), **named(passages)},
        sha256=sha256(text)[:FINGERPRINT],
    )


def out_item(inputs: PlanInputs, passages: Sequence[Recalled], reason: Reason) -> Iterator[Item]:
    if passages:
        yield Item(
            section="recall",
            title=span_title(runs_of(sorted({passage.turn for passage in passages}))),
            tokens=sum(passage_tokens(inputs, passage) for passage in passages),
            reason=reason,
            included=False,
            values={"cap": f"{max(cap(inputs), most(inputs)):,}", **named(passages)},
        )


def named(passages: Iterable[Recalled]) -> Mapping[str, Any]:
    """So that it can be asked of each why it is in or out."""
    return {"passages": [[one.turn, one.message.id, one.start, one.end, one.score] for one in passages]}
