"""What was decided on each candidate, and why: the plan as people read it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from efforts.domain.effort.chosen import SEED
from efforts.domain.effort.notices import STARTED_FROM
from efforts.domain.prompt.code import code_items
from efforts.domain.prompt.conversation import Headline, LogMessage, PastTurn
from efforts.domain.prompt.layers import (
    NOTHING,
    Choice,
    Kept,
    Layer,
    beside,
    block_start,
    body_text,
    calls_said,
    folds,
    headline_line,
    layers_of,
    left_of,
    recalled_tokens,
    rule_line,
    runs_of,
    said_tokens,
    slugs_of,
    span_title,
    without_recalled,
)
from efforts.domain.prompt.line import leaves_out, line_tokens
from efforts.domain.prompt.pins import TURN, held_turns, is_among_pins, pin_items
from efforts.domain.prompt.plan import FINGERPRINT, Item, LayerCut, PlanInputs
from efforts.domain.prompt.reasons import Reason
from efforts.domain.prompt.recall import recall_items
from efforts.domain.prompt.rendering import Recipe, Sources, count_chat_message, render_messages
from efforts.domain.text.canonical import canonical_json, sha256
from efforts.domain.text.files import title_of as file_title

SYSTEM_TITLE = "System text and tools"
RULES = "Rules"
INSTRUCTIONS = "Your instructions"
INSTRUCTIONS_HERE = "Instructions for this conversation"
YOUR_MESSAGE = "Your message"
TOOLS_USED = "Tools used in this turn"
RECALLED_FOR = "Recalled for {}"
IN_ORDER = "Efforts in their order"
UP_TO = "Turns up to {}"

# Why the turns of a layer are in, by what the layer is.
SHOWN: Mapping[str, Reason] = {
    "ambient": Reason.AMBIENT_WINDOW,
    "active": Reason.ACTIVE_EFFORT,
    "open": Reason.OPEN_EFFORT,
    "expanded": Reason.EXPANDED_EFFORT,
    "awaiting": Reason.AWAITING_SUMMARY,
}


def items_of(
    inputs: PlanInputs, choice: Choice, sections: Mapping[str, int], recipe: Recipe, sources: Sources
) -> Iterator[Item]:
    """Every candidate of the plan with its tokens and its reason, in the order of the prompt."""
    yield Item(section="system", title=SYSTEM_TITLE, tokens=sections["system"], reason=Reason.REQUIRED, included=True)
    yield from instruction_items(inputs)
    yield from rule_items(inputs)
    yield from pin_items(inputs, choice)
    yield from headline_items(inputs, choice)
    yield from body_items(inputs, choice)
    for layer in layers_of(inputs):
        yield from layer_items(inputs, layer, choice, recipe, sources)
    yield from left_out_items(inputs)
    yield from recall_items(inputs, choice)
    yield from line_items(inputs, choice)
    yield from code_items(inputs, choice)
    episodes = sum(message.cost for message in inputs.current.episodes)
    mine = (part for entry in recipe if entry["section"] == "turn" for part in entry.get("parts", ()))
    cut = any("cut" in part for part in mine)
    reason = Reason.CURRENT_MESSAGE_CUT if cut else Reason.CURRENT_MESSAGE
    files = list(file_items(inputs, recipe, sources))
    tokens = sections["turn"] - episodes - sum(item.tokens for item in files)
    yield Item(section="turn", title=YOUR_MESSAGE, tokens=tokens, reason=reason, included=True)
    yield from files
    if episodes:
        yield Item(section="turn", title=TOOLS_USED, tokens=episodes, reason=Reason.TOOL_EPISODE, included=True)


def file_items(inputs: PlanInputs, recipe: Recipe, sources: Sources) -> Iterator[Item]:
    """What was added to the current message."""
    for entry in recipe:
        for part in entry.get("files", ()):
            message = sources.messages[part["m"]]
            rendered = next(render_messages([{**entry, "files": [part]}], sources))
            yield Item(
                section="turn",
                title=file_title(message.text),
                tokens=count_chat_message(rendered, inputs.count),
                reason=why_file(message, part),
                included=True,
                values={"message": message.id},
            )


def instruction_items(inputs: PlanInputs) -> Iterator[Item]:
    for one in inputs.instructions:
        yield Item(
            section="instruction",
            title=INSTRUCTIONS if one.for_all else INSTRUCTIONS_HERE,
            tokens=inputs.count(one.text) + 1,
            reason=Reason.INSTRUCTION,
            included=True,
            sha256=sha256(one.text)[:FINGERPRINT],
        )


def why_file(message: LogMessage, part: Mapping[str, Any]) -> Reason:
    if message.picture:
        return Reason.PICTURE if "picture" in part else Reason.PICTURE_UNSEEN
    return Reason.FILE_CUT if "cut" in part else Reason.FILE


def rule_items(inputs: PlanInputs) -> Iterator[Item]:
    for number, rule in enumerate(inputs.constraints, 1):
        line = rule_line(number, rule)
        yield Item(
            section="constraint",
            title=f"Rule {number}",
            tokens=inputs.count(line) + 1,
            reason=Reason.CONSTRAINT,
            included=True,
            values={"constraint": rule.id},
            sha256=sha256(line)[:FINGERPRINT],
        )


def line_items(inputs: PlanInputs, choice: Choice) -> Iterator[Item]:
    """One for the line that is asked for, in or out."""
    if not inputs.line.count:
        return
    text = "\n".join(choice.line)
    count = sum(not line.startswith("[") for line in choice.line)
    out = Reason.LINE_OVER_CAP if leaves_out(inputs, choice) else Reason.LINE_SHOWN
    yield Item(
        section="recall",
        title=IN_ORDER,
        tokens=line_tokens(inputs, choice.line),
        reason=Reason.LINE if choice.line else out,
        included=bool(choice.line),
        values={"listed": f"{count:,}", "count": f"{inputs.line.count:,}"},
        sha256=sha256(text)[:FINGERPRINT] if text else "",
    )


def headline_items(inputs: PlanInputs, choice: Choice) -> Iterator[Item]:
    shown = {headline.pointer for headline in choice.shown_headlines}
    for headline in beside(inputs.headlines, choice.elsewhere):
        included = headline.pointer in shown
        line = headline_line(headline)
        yield Item(
            section="summary",
            title=headline_title(headline),
            tokens=inputs.count(line) + 1,
            reason=why_in_one_line(headline) if included else Reason.HEADLINE_OVER_BUDGET,
            included=included,
            turns=headline.turns,
            values={**whose_values(headline), **inputs.leaving(headline.leaves_at)},
            sha256=sha256(line)[:FINGERPRINT] if included else "",
        )
    yield from evicted_items(inputs)


def headline_title(headline: Headline) -> str:
    return STARTED_FROM.capitalize() if is_seed(headline) else headline.slug


def is_seed(headline: Headline) -> bool:
    return headline.chosen and headline.slug == SEED


def why_in_one_line(headline: Headline) -> Reason:
    if is_seed(headline):
        return Reason.SEED_HEADLINE
    if headline.quotes:
        return Reason.EXCERPTS
    return Reason.CHOSEN_HEADLINE if headline.chosen else Reason.HEADLINE


def why_whole(headline: Headline) -> Reason:
    if is_seed(headline):
        return Reason.SEED_BODY
    if headline.quotes:
        return Reason.EXCERPTS
    return Reason.EXPANDED_BODY if headline.asked else Reason.BODY


def whose_values(headline: Headline) -> dict[str, Any]:
    return {"chosen" if headline.chosen else "effort": headline.slug}


def evicted_items(inputs: PlanInputs) -> Iterator[Item]:
    after = {"after": inputs.evicted.after}
    if evicted := inputs.evicted.count:
        yield Item(
            section="summary",
            title=f"{evicted} concluded effort{'s' if evicted > 1 else ''}",
            tokens=inputs.evicted.tokens,
            reason=Reason.HEADLINE_EVICTED,
            included=False,
            values=after,
        )
    if chosen := inputs.evicted.chosen:
        yield Item(
            section="body",
            # What the conversation starts from may be among them.
            title="1 older summary" if chosen == 1 else f"{chosen} older summaries",
            tokens=inputs.evicted.chosen_tokens,
            reason=Reason.CHOSEN_EVICTED,
            included=False,
            values=after,
        )


def body_items(inputs: PlanInputs, choice: Choice) -> Iterator[Item]:
    shown = slugs_of(choice.bodies)
    for headline in inputs.headlines:
        if not headline.body or headline.expanded:
            continue
        included = headline.slug in shown
        text = body_text(headline)
        yield Item(
            section="body",
            title=headline_title(headline),
            tokens=inputs.count(text) + 1,
            reason=why_whole(headline) if included else Reason.BODY_OVER_BUDGET,
            included=included,
            turns=headline.turns,
            values={**whose_values(headline), **inputs.leaving(headline.leaves_at)},
            sha256=sha256(text)[:FINGERPRINT] if included else "",
        )


def layer_items(inputs: PlanInputs, layer: Layer, choice: Choice, recipe: Recipe, sources: Sources) -> Iterator[Item]:
    """A run of turns with the same decision is one item; all older ones are one from the running sum."""
    kept = choice.of(layer)
    if layer.older.last:
        # From the running sum: what a long past would cost is known without reading it.
        reason = Reason.OUTSIDE_AMBIENT_WINDOW if layer.kind == "ambient" else Reason.EFFORT_OVER_BUDGET
        span = (1 if layer.kind == "ambient" else max(layer.opened_turn, 1), layer.older.last)
        title = UP_TO.format(layer.older.last) if span[0] < layer.older.last else TURN.format(layer.older.last)
        yield turn_item(inputs, layer, (span,), layer.older.tokens, reason, title=title)
    for reason, group in groupby(layer.turns, lambda turn: reason_of(inputs, layer, choice, turn)):
        turns = tuple(group)
        included = turns[-1] in kept.turns
        # What is left out is priced whole: that is the room it would take to bring it back.
        shown = kept if included else NOTHING
        tokens = said_tokens(inputs, turns, shown)
        span = (turns[0].number, turns[-1].number)
        sha = run_sha256(layer.key, span, recipe, sources)[:FINGERPRINT] if included else ""
        yield turn_item(inputs, layer, Kept(turns=turns).runs, tokens, reason, included=included, sha=sha)
        yield from left_items(layer, kept, turns if included else ())
    yield from kept_items(inputs, layer, kept)


def left_items(layer: Layer, kept: Kept, turns: Sequence[PastTurn]) -> Iterator[Item]:
    """What is left out of turns that are shown."""
    for turn in turns:
        if episodes := left_of(turn, kept.left):
            yield Item(
                section=layer.kind,
                title=f"Turn {turn.number}: {calls_said(episodes)}",
                tokens=sum(message.cost for episode in episodes for message in episode),
                reason=Reason.TOOL_CALLS_OVER_BUDGET,
                included=False,
                values=layer_values(layer),
            )


def left_out_items(inputs: PlanInputs) -> Iterator[Item]:
    """What the person has left out, in the section of its effort where that has one."""
    kinds = {layer.key: layer.kind for layer in layers_of(inputs)}
    for one in inputs.left_out:
        yield Item(
            section=kinds.get(one.effort, "ambient"),
            title=title_of(span_title([one.turns]), one.effort),
            tokens=one.tokens,
            reason=Reason.LEFT_OUT,
            included=False,
            turns=one.turns,
            values={"effort": one.effort} if one.effort else {},
        )


def layer_values(layer: Layer) -> dict[str, Any]:
    if not layer.key:
        return {}
    return {"chosen" if layer.chosen else "effort": layer.key}


def kept_items(inputs: PlanInputs, layer: Layer, kept: Kept) -> Iterator[Item]:
    """What was recalled for turns that are shown: it stands with them, or has left."""
    standing = [turn for turn in kept.turns if kept.recalled_for(turn)]
    for turns, reason in ((standing, Reason.RECALLED_BEFORE), (without_recalled(kept), Reason.RECALLED_BEFORE_LEFT)):
        if turns:
            yield Item(
                section=layer.kind,
                title=RECALLED_FOR.format(span_title(runs_of([turn.number for turn in turns])).lower()),
                tokens=recalled_tokens(inputs, turns, NOTHING),
                reason=reason,
                included=reason == Reason.RECALLED_BEFORE,
                values=layer_values(layer),
            )


def reason_of(inputs: PlanInputs, layer: Layer, choice: Choice, turn: PastTurn) -> Reason:
    kept = choice.of(layer)
    if turn in kept.turns:
        if left_of(turn, kept.left):
            return Reason.WITHOUT_TOOL_CALLS
        cut = any(message.id in kept.cuts and not folds(message) for message in turn.visible)
        return why_shown(layer, cut=cut, pinned=turn.number in held_turns(inputs))
    if is_among_pins(choice, turn):
        return Reason.AMONG_PINS
    if layer.kind == "ambient" and turn.number < block_start(inputs):
        return Reason.WINDOW_IN_BLOCKS
    # Not the same as being over budget now: it may even fit again, and stays out all the same.
    before = inputs.layout.under(inputs.base).cuts.get(layer.key, LayerCut()).first_kept
    if turn.number < before:
        return Reason.BEFORE_FIRST_KEPT
    return Reason.OVER_BUDGET if layer.kind == "ambient" else Reason.EFFORT_OVER_BUDGET


def why_shown(layer: Layer, *, cut: bool, pinned: bool) -> Reason:
    if pinned:
        return Reason.PINNED_IN_PLACE_CUT if cut else Reason.PINNED_IN_PLACE
    return Reason.CUT_TO_FIT if cut else SHOWN[layer.kind]


def turn_item(
    inputs: PlanInputs,
    layer: Layer,
    runs: Sequence[tuple[int, int]],
    tokens: int,
    reason: Reason,
    *,
    included: bool = False,
    sha: str = "",
    title: str = "",
) -> Item:
    """`title`: what the turns are called, where not all that lie between are meant."""
    values = {"window": inputs.ambient_window, **layer_values(layer), **inputs.leaving(layer.leaves_at)}
    return Item(
        section=layer.kind,
        title=title_of(title or span_title(runs), layer.key),
        tokens=tokens,
        reason=reason,
        included=included,
        turns=(runs[0][0], runs[-1][1]),
        values=values,
        sha256=sha,
    )


def title_of(title: str, effort: str = "") -> str:
    """Turns, behind the id of their effort."""
    return f"{effort}: {title.lower()}" if effort else title


def run_sha256(effort: str, span: tuple[int, int], recipe: Recipe, sources: Sources) -> str:
    """Of what a run of a layer's turns renders to, whatever stands before and after it."""
    first, last = span
    inside = [
        {**entry, "turns": [max(first, entry["turns"][0]), min(last, entry["turns"][1])], "labels": {}}
        for entry in recipe
        if "turns" in entry and entry["effort"] == effort
    ]
    return sha256(canonical_json(list(render_messages(inside, sources))))
