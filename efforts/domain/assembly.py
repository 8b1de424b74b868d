"""From one choice of what to send to the whole plan: recipe, request, counts, sections, items."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby, pairwise
from typing import Any

from .canonical import canonical_json, request_sha256, sha256
from .conversation import MESSAGE_OVERHEAD, PRIMING, LogMessage, PastTurn
from .plan import Item, Layout, Plan, PlanInputs
from .reasons import Reason
from .rendering import (
    MARKS,
    Recipe,
    Sources,
    count_chat_message,
    count_request,
    cut_text,
    join_neighbours,
    mark_of,
    render,
    render_messages,
)

# Messages above LARGE tokens may be cut to HEAD + TAIL characters when the budget needs the room.
LARGE = 600
# In characters and not tokens: a replay must cut at the same place, whatever tokenizer counts by then.
HEAD, TAIL = 1_200, 600
# With its middle cut out, the current message takes this share of the room; the rest is for earlier turns.
CUT_CURRENT_SHARE = 0.75

# The built-in engine knows these lines again by llm/builtin/prompt.py: both change together.
AMBIENT_LABEL = "[Conversation from turn {first}]"
STUB = "[Turns {first}-{last} ({tokens} tokens) are not shown. Use search_messages to find what was said there.]"
NOTES = "[Notes for this turn, not from the user]\n{text}\n[End of notes]"
CUT = "[… {tokens} tokens in all, the middle is not shown. read_message({id}) shows it.]"

SYSTEM_AND_TOOLS = "System text and tools"
YOUR_MESSAGE = "Your message"
TOOLS_USED = "Tools used in this turn"


@dataclass(kw_only=True)
class Fragments:
    """Texts that are not messages, by hash."""

    texts: dict[str, str] = field(default_factory=dict)

    def add(self, text: str) -> dict[str, str]:
        sha = sha256(text)
        self.texts[sha] = text
        return {"f": sha}


@dataclass(frozen=True, kw_only=True)
class Ambient:
    """The kept run of turns, oldest first, and the cuts made in it."""

    turns: tuple[PastTurn, ...]
    cuts: frozenset[int] = frozenset()


def eligible_turns(inputs: PlanInputs) -> tuple[PastTurn, ...]:
    # Without the condition a window of 0 would be past[-0:], which is everything.
    return inputs.past[-inputs.ambient_window :] if inputs.ambient_window else ()


def cost(inputs: PlanInputs, ambient: Ambient) -> int:
    return sum(
        (cut_tokens(inputs, message) if message.id in ambient.cuts else message.tokens) + MESSAGE_OVERHEAD
        for turn in ambient.turns
        for message in turn.visible
    )


def cut_tokens(inputs: PlanInputs, message: LogMessage) -> int:
    """Tokens of a message cut to head and tail; its own where it is not large or carries tool calls."""
    # The stored tokens of a message with tool calls include the calls, which no cut makes smaller.
    if message.tokens <= LARGE or message.tool_calls or len(message.text) <= HEAD + TAIL:
        return message.tokens
    fragments = Fragments()
    cut = cut_of(message, HEAD, TAIL, fragments)
    return inputs.count(cut_text(message.text, cut, fragments.texts))


def cut_of(message: LogMessage, head: int, tail: int, fragments: Fragments) -> dict[str, Any]:
    line = CUT.format(tokens=f"{message.tokens:,}", id=message.id)
    return {"head": head, "tail": tail, **fragments.add(line)}


def build(inputs: PlanInputs, ambient: Ambient) -> Plan:
    """The whole plan around one choice of ambient turns."""
    fragments = Fragments()
    # Schemas go in by hash like all program text: stored once a conversation, not once a call.
    params = {**inputs.params, "tools": [fragments.add(canonical_json(tool))["f"] for tool in inputs.tools]}
    recipe: Recipe = [
        {"role": "system", "parts": [fragments.add(inputs.system_text)]},
        *ambient_entries(inputs, ambient, fragments),
        *this_turn(inputs, ambient, fragments),
    ]
    sources = sources_of(inputs, fragments)
    # From the recipe and not from the inputs, so that what is counted and hashed is what a replay gives.
    request = render(recipe, params, sources)
    tokens = count_request(request, inputs.count)
    sections = section_tokens(inputs, recipe, sources, tokens)
    return Plan(
        items=tuple(items_of(inputs, ambient, sections, recipe, sources)),
        sections=sections,
        recipe=recipe,
        params=params,
        fragments=fragments.texts,
        layout=layout_of(inputs, ambient),
        tokens=tokens,
        budget=inputs.budget,
        request=request,
        request_sha256=request_sha256(request),
    )


def ambient_entries(inputs: PlanInputs, ambient: Ambient, fragments: Fragments) -> Iterator[dict[str, Any]]:
    if not ambient.turns:
        return
    first, last = ambient.turns[0].number, ambient.turns[-1].number
    numbers = [turn.number for turn in ambient.turns]
    labels = {str(number): [label(number, fragments)] for number in broken_counts(numbers)}
    stub = stub_of(inputs, ambient)
    labels[str(first)] += [fragments.add(stub)] if stub else []
    # Only the marks that occur: a plan must not change because a mark it does not use is worded anew.
    marks = {mark: fragments.add(MARKS[mark])["f"] for turn in ambient.turns if (mark := mark_of(turn))}
    cuts = {
        str(message.id): cut_of(message, HEAD, TAIL, fragments)
        for turn in ambient.turns
        for message in turn.visible
        if message.id in ambient.cuts
    }
    yield {"turns": [first, last], "labels": labels, "marks": marks, "cuts": cuts}


def label(number: int, fragments: Fragments) -> dict[str, str]:
    return fragments.add(AMBIENT_LABEL.format(first=number))


def broken_counts(numbers: Sequence[int]) -> list[int]:
    """Where the layer begins, and where a cancelled message left a gap: labelled, so that turns can be cited."""
    return [number for before, number in pairwise([-1, *numbers]) if number != before + 1]


def stub_of(inputs: PlanInputs, ambient: Ambient) -> str:
    """One line for all that fell out, with the tool that brings it back; empty where nothing did."""
    out = [turn for turn in inputs.past if turn not in ambient.turns]
    last = out[-1].number if out else inputs.older.last
    tokens = inputs.older.tokens + sum(turn.cost for turn in out)
    return STUB.format(first=1, last=last, tokens=f"{tokens:,}") if last else ""


def this_turn(inputs: PlanInputs, ambient: Ambient, fragments: Fragments) -> Iterator[dict[str, Any]]:
    # Where no turn is kept there is no label for the stub to stand beside: it comes as a note in this message.
    stub = "" if ambient.turns else stub_of(inputs, ambient)
    parts: list[dict[str, Any]] = [fragments.add(NOTES.format(text=stub))] if stub else []
    # Readers count turns on from the last label; a cancelled number in between would shift what they cite.
    gap = ambient.turns and inputs.current.number != ambient.turns[-1].number + 1
    parts += [label(inputs.current.number, fragments)] if gap else []
    cut = cut_current(inputs, fragments) if inputs.cut_current else {}
    yield {"role": "user", "parts": [*parts, {"m": inputs.current.user.id, **cut}]}
    if inputs.current.episodes:
        yield {"messages": [message.id for message in inputs.current.episodes]}


def cut_current(inputs: PlanInputs, fragments: Fragments) -> dict[str, Any]:
    """The largest beginning and end of the current message, two to one, that leave room; none where all of it does."""
    user = inputs.current.user
    room = int((inputs.budget.effective - system_tokens(inputs) - episode_tokens(inputs)) * CUT_CURRENT_SHARE)
    if user.tokens <= room:
        return {}
    keep = len(user.text)
    cut = cut_of(user, keep * 2 // 3, keep // 3, fragments)
    while keep > 0 and inputs.count(cut_text(user.text, cut, fragments.texts)) > room:
        # Text has about four characters a token. Starting from twice that lands near in one step, so that a huge
        # message is not counted a dozen times.
        keep = min(keep * 4 // 5, max(room, 0) * 8)
        cut = cut_of(user, keep * 2 // 3, keep // 3, fragments)
    return {"cut": cut}


def system_tokens(inputs: PlanInputs) -> int:
    tools = canonical_json(list(inputs.tools)) if inputs.tools else ""
    return inputs.count(inputs.system_text) + inputs.count(tools) + MESSAGE_OVERHEAD + PRIMING


def episode_tokens(inputs: PlanInputs) -> int:
    return sum(message.cost for message in inputs.current.episodes)


def required_parts(required: Plan) -> tuple[tuple[str, int], ...]:
    """What must be sent, by part; the parts make up the whole."""
    return tuple((item.title, item.tokens) for item in required.items if item.included)


def sources_of(inputs: PlanInputs, fragments: Fragments) -> Sources:
    current = (inputs.current.user, *inputs.current.episodes)
    return Sources(
        fragments=fragments.texts,
        messages={message.id: message for message in current},
        turns={turn.number: turn for turn in inputs.past},
    )


def section_tokens(inputs: PlanInputs, recipe: Recipe, sources: Sources, tokens: int) -> dict[str, int]:
    """By layer; the last turn may be joined with this one, so this turn is what remains of the whole."""
    system = system_tokens(inputs)
    log = join_neighbours(render_messages([entry for entry in recipe if "turns" in entry], sources))
    ambient = sum(count_chat_message(message, inputs.count) + MESSAGE_OVERHEAD for message in log)
    return {"system": system, "ambient": ambient, "turn": tokens - system - ambient}


def layout_of(inputs: PlanInputs, ambient: Ambient) -> Layout:
    """What the next call is to keep: 0 where nothing was pushed out or cut."""
    first = ambient.turns[0].number if ambient.turns else inputs.current.number
    return Layout(
        first_kept=0 if len(ambient.turns) == len(eligible_turns(inputs)) else first,
        cut_through=max(ambient.cuts, default=0),
        budget=inputs.budget.effective,
    )


def items_of(
    inputs: PlanInputs, ambient: Ambient, sections: dict[str, int], recipe: Recipe, sources: Sources
) -> Iterator[Item]:
    yield Item(
        section="system", title=SYSTEM_AND_TOOLS, tokens=sections["system"], reason=Reason.REQUIRED, included=True
    )
    yield from ambient_items(inputs, ambient, recipe, sources)
    episodes = episode_tokens(inputs)
    cut = any("cut" in part for entry in recipe for part in entry.get("parts", ()))
    reason = Reason.CURRENT_MESSAGE_CUT if cut else Reason.CURRENT_MESSAGE
    yield Item(section="turn", title=YOUR_MESSAGE, tokens=sections["turn"] - episodes, reason=reason, included=True)
    if episodes:
        yield Item(section="turn", title=TOOLS_USED, tokens=episodes, reason=Reason.TOOL_EPISODE, included=True)


def ambient_items(inputs: PlanInputs, ambient: Ambient, recipe: Recipe, sources: Sources) -> Iterator[Item]:
    """A run of turns with the same decision is one item; all older ones are one from the running sum."""
    window = {"window": inputs.ambient_window}
    outside = inputs.past[: len(inputs.past) - len(eligible_turns(inputs))]
    last = outside[-1].number if outside else inputs.older.last
    if last:
        # From the running sum: what a long past would cost is known without reading it.
        tokens = inputs.older.tokens + sum(turn.cost for turn in outside)
        yield turn_item((1, last), tokens, Reason.OUTSIDE_AMBIENT_WINDOW, values=window)
    for reason, group in groupby(eligible_turns(inputs), lambda turn: reason_of(inputs, ambient, turn)):
        turns = tuple(group)
        included = reason in (Reason.AMBIENT_WINDOW, Reason.CUT_TO_FIT)
        # What is left out is priced whole: that is the room it would take to bring it back.
        tokens = cost(inputs, Ambient(turns=turns, cuts=ambient.cuts if included else frozenset()))
        span = (turns[0].number, turns[-1].number)
        sha = run_sha256(span, recipe, sources) if included else ""
        yield turn_item(span, tokens, reason, values=window, included=included, sha=sha)


def reason_of(inputs: PlanInputs, ambient: Ambient, turn: PastTurn) -> Reason:
    if turn in ambient.turns:
        cut = any(message.id in ambient.cuts for message in turn.visible)
        return Reason.CUT_TO_FIT if cut else Reason.AMBIENT_WINDOW
    # Not the same as being over budget now: it may even fit again, and stays out all the same.
    pushed_out_before = turn.number < inputs.layout.under(inputs.budget.effective).first_kept
    return Reason.BEFORE_FIRST_KEPT if pushed_out_before else Reason.OVER_BUDGET


def turn_item(
    span: tuple[int, int], tokens: int, reason: Reason, *, values: dict[str, Any], included: bool = False, sha: str = ""
) -> Item:
    first, last = span
    title = f"Turn {first}" if first == last else f"Turns {first}-{last}"
    return Item(
        section="ambient",
        title=title,
        tokens=tokens,
        reason=reason,
        included=included,
        turns=span,
        values=values,
        sha256=sha,
    )


def run_sha256(span: tuple[int, int], recipe: Recipe, sources: Sources) -> str:
    """Of what a run of turns renders to, whatever stands before and after it."""
    run = [{**entry, "turns": span, "labels": {}} for entry in recipe if "turns" in entry]
    return sha256(canonical_json(list(render_messages(run, sources))))
