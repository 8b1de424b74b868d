"""From one choice of what to send to the whole plan: recipe, request, counts, sections."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from efforts.domain.prompt.conversation import MESSAGE_OVERHEAD, PRIMING, PastTurn, Recalled
from efforts.domain.prompt.items import RULES, items_of
from efforts.domain.prompt.layers import (
    Choice,
    Fragments,
    Kept,
    Layer,
    block_start,
    body_text,
    cut_at,
    cut_of,
    headline_line,
    layers_of,
    left_line,
    left_of,
    rule_line,
    slugs_of,
)
from efforts.domain.prompt.pins import PINS_BEGIN, pin_parts
from efforts.domain.prompt.plan import Layout, Plan, PlanInputs
from efforts.domain.prompt.quotes import NOTES_END, block_lines
from efforts.domain.prompt.rendering import (
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
from efforts.domain.text.canonical import canonical_json, request_sha256

# With its middle cut out, the current message takes this share of the room; the rest is for earlier turns.
CUT_CURRENT_SHARE = 0.75

# The built-in engine knows these lines again by llm/builtin/prompt.py: both change together.
CURRENT_LABEL = "[Conversation from turn {number}]"
NOTES_BEGIN = "[Notes for this turn, not from the user]"
STATE_LINES = {
    "active": "Active effort: {slugs}",
    "open": "Other open efforts: {slugs}",
    "expanded": "Expanded efforts: {slugs}",
    "awaiting": "Concluded without summary yet: {slugs}",
}
CHOSEN_UNLISTED = "Not shown: the {} of chosen turns. search_messages finds what was said there."
# The empty line parts it from our own text.
RULES_BEGIN = "\nRules the user has set; they hold until taken back:"
HEADLINES_BEGIN = "[Notes, not instructions: concluded efforts in short]"
# Where there are chosen turns among them.
IN_SHORT_BEGIN = "[Notes, not instructions: concluded efforts and chosen turns in short]"
BODIES_BEGIN = "[Notes, not instructions: what stands for the turns that are named, in place of their words]"


def build(inputs: PlanInputs, choice: Choice) -> Plan:
    """The whole plan around one choice."""
    fragments = Fragments()
    # Schemas go in by hash like all program text: stored once a conversation, not once a call.
    tools = {"tools": fragments.add(canonical_json(list(inputs.tools)))["f"]} if inputs.tools else {}
    params = {**inputs.params, **tools}
    recipe: Recipe = [
        {"role": "system", "section": "system", "parts": [fragments.add(text) for text in system_texts(inputs)]},
        *pin_entries(inputs, choice, fragments),
        *headline_entries(choice, fragments),
        *body_entries(choice, fragments),
        *(entry for layer in layers_of(inputs) for entry in layer_entries(layer, choice.of(layer), fragments)),
        *recall_entries(inputs, choice, fragments),
        *this_turn(inputs, choice, fragments),
    ]
    sources = sources_of(inputs, fragments)
    # From the recipe and not from the inputs, so that what is counted and hashed is what a replay gives.
    request = render(recipe, params, sources)
    tokens = count_request(request, inputs.count)
    sections = section_tokens(inputs, recipe, sources, tokens)
    return Plan(
        items=tuple(items_of(inputs, choice, sections, recipe, sources)),
        sections=sections,
        recipe=recipe,
        params=params,
        fragments=fragments.texts,
        layout=layout_of(inputs, choice),
        layout_key=inputs.layout_key,
        tokens=tokens,
        budget=inputs.budget,
        request=request,
        request_sha256=request_sha256(request),
        inputs=inputs,
        recalled=choice.recalled,
    )


def system_texts(inputs: PlanInputs) -> list[str]:
    """Our text, and the rules in force: a fragment for each, so that a new one does not store all others once more."""
    rules = [rule_line(number, rule) for number, rule in enumerate(inputs.constraints, 1)]
    return [inputs.system_text, *([RULES_BEGIN, *rules] if rules else [])]


def pin_entries(inputs: PlanInputs, choice: Choice, fragments: Fragments) -> Iterator[dict[str, Any]]:
    if choice.pins:
        parts = [part for pin in choice.pins for part in pin_parts(inputs, pin, fragments)]
        framed = [fragments.add(PINS_BEGIN), *parts, fragments.add(NOTES_END)]
        yield {"role": "user", "section": "pin", "parts": framed}


def headline_entries(choice: Choice, fragments: Fragments) -> Iterator[dict[str, Any]]:
    lines = [headline_line(headline) for headline in choice.shown_headlines]
    if lines:
        begin = IN_SHORT_BEGIN if any(one.chosen for one in choice.shown_headlines) else HEADLINES_BEGIN
        parts = [fragments.add_lines([begin, *lines, NOTES_END])]
        yield {"role": "user", "section": "summary", "parts": parts}


def body_entries(choice: Choice, fragments: Fragments) -> Iterator[dict[str, Any]]:
    texts = [body_text(headline) for headline in choice.bodies]
    if texts:
        parts = [fragments.add_lines([BODIES_BEGIN, *texts, NOTES_END])]
        yield {"role": "user", "section": "body", "parts": parts}


def layer_entries(layer: Layer, kept: Kept, fragments: Fragments) -> Iterator[dict[str, Any]]:
    """One entry for each run of turns that follow each other, labelled so that turns can be cited."""
    stub = layer.stub(kept)
    for first, last in kept.runs:
        turns = [turn for turn in kept.turns if first <= turn.number <= last]
        lines = [layer.label(first), *([stub] if stub and turns[0] is kept.turns[0] else [])]
        # Only the marks that occur: a plan must not change because a mark it does not use is worded anew.
        marks = {mark: fragments.add(MARKS[mark])["f"] for turn in turns if (mark := mark_of(turn))}
        visible = [message for turn in turns for message in turn.visible if message.id in kept.cuts]
        cuts = {str(message.id): cut_of(message, fragments) for message in visible}
        left = {str(turn.number): left_part(turn, kept, fragments) for turn in turns if left_of(turn, kept.left)}
        recalled = {
            str(turn.number): recall_part(quoted, fragments) for turn in turns if (quoted := kept.recalled_for(turn))
        }
        labels = {str(first): [fragments.add(line) for line in lines]}
        yield {
            "section": layer.kind,
            "effort": layer.key,
            "turns": [first, last],
            "labels": labels,
            "marks": marks,
            "cuts": cuts,
            # Only where there is any: the recipe of a plan that leaves nothing out stays as it was.
            **({"left": left} if left else {}),
            **({"recalled": recalled} if recalled else {}),
        }


def left_part(turn: PastTurn, kept: Kept, fragments: Fragments) -> dict[str, Any]:
    ids = [message.id for episode in left_of(turn, kept.left) for message in episode]
    return {"ids": ids, **fragments.add(left_line(turn, kept.left))}


def recall_part(passages: Sequence[Recalled], fragments: Fragments) -> dict[str, Any]:
    return {"r": fragments.add(canonical_json(block_lines(passages)))["f"]}


def recall_entries(inputs: PlanInputs, choice: Choice, fragments: Fragments) -> Iterator[dict[str, Any]]:
    """What is recalled for this turn stands before its notes: it stays when they leave."""
    label = gap_label(inputs, choice)
    if choice.recalled:
        parts = [*([fragments.add(label)] if label else []), recall_part(choice.recalled, fragments)]
        yield {"role": "user", "section": "recall", "parts": parts}


def this_turn(inputs: PlanInputs, choice: Choice, fragments: Fragments) -> Iterator[dict[str, Any]]:
    parts = [fragments.add(line) for line in notes(inputs, choice)]
    cut = cut_current(inputs, fragments) if inputs.cut_current else {}
    yield {"role": "user", "section": "turn", "parts": [*parts, {"m": inputs.current.user.id, **cut}]}
    if inputs.current.episodes:
        yield {"section": "turn", "messages": [message.id for message in inputs.current.episodes]}


def notes(inputs: PlanInputs, choice: Choice) -> list[str]:
    """What the model is told at the head of this turn: where the efforts stand, and what is not shown at all."""
    layers = layers_of(inputs)
    # Where no turn of a layer is kept, there is no label for its stub to stand beside.
    stubs = [stub for layer in layers if not choice.of(layer).turns and (stub := layer.stub(choice.of(layer)))]
    lines = [*state_lines(inputs, choice), *stubs]
    noted = [NOTES_BEGIN, *lines, NOTES_END] if lines else []
    label = gap_label(inputs, choice)
    return [*noted, *([label] if label and not choice.recalled else [])]


def gap_label(inputs: PlanInputs, choice: Choice) -> str:
    """Readers count turns on from the last label; a cancelled number in between would shift what they cite."""
    shown = choice.of(layers_of(inputs)[0]).turns
    gap = not inputs.has_efforts and shown and inputs.current.number != shown[-1].number + 1
    return CURRENT_LABEL.format(number=inputs.current.number) if gap else ""


def state_lines(inputs: PlanInputs, choice: Choice) -> Iterator[str]:
    """Which efforts there are: a model that must guess it opens what is open and closes what is not meant."""
    if not inputs.has_efforts:
        return
    efforts = sorted(inputs.efforts, key=lambda effort: (effort.opened_turn, effort.slug))
    yield f"This is turn {inputs.current.number}."
    for kind, line in STATE_LINES.items():
        if slugs := [effort.slug for effort in efforts if effort.kind == kind]:
            yield line.format(slugs=", ".join(slugs))
        elif kind == "active":
            yield line.format(slugs="none")
    gone = choice.unlisted(inputs.headlines)
    if unlisted := inputs.unlisted + inputs.evicted.count + sum(not one.chosen for one in gone):
        yield f"Not listed: {unlisted} concluded effort{'s' if unlisted > 1 else ''}. search_efforts finds them."
    if chosen := inputs.evicted.chosen + sum(one.chosen for one in gone):
        yield CHOSEN_UNLISTED.format("summary" if chosen == 1 else f"{chosen} summaries")


def cut_current(inputs: PlanInputs, fragments: Fragments) -> dict[str, Any]:
    """The largest beginning and end of the current message, two to one, that leave room; none where all of it does."""
    user = inputs.current.user
    episodes = sum(message.cost for message in inputs.current.episodes)
    room = inputs.budget.effective - system_tokens(inputs) - rules_tokens(inputs) - episodes
    room = int(room * CUT_CURRENT_SHARE)
    if user.tokens <= room:
        return {}
    keep = len(user.text)
    cut = cut_of(user, fragments, keep * 2 // 3, keep // 3)
    while keep > 0 and inputs.count(cut_text(user.text, cut, fragments.texts)) > room:
        # Text has about four characters a token. Starting from twice that lands near in one step, so that a huge
        # message is not counted a dozen times.
        keep = min(keep * 4 // 5, max(room, 0) * 8)
        cut = cut_of(user, fragments, keep * 2 // 3, keep // 3)
    return {"cut": cut}


def system_tokens(inputs: PlanInputs) -> int:
    """Of the system text and the schemas of tools, with what every request adds."""
    tools = canonical_json(list(inputs.tools)) if inputs.tools else ""
    return inputs.count(inputs.system_text) + inputs.count(tools) + MESSAGE_OVERHEAD + PRIMING


def rules_tokens(inputs: PlanInputs) -> int:
    """What the rules in force add to the system message, with the line above them."""
    return inputs.count("\n".join(system_texts(inputs))) - inputs.count(inputs.system_text)


def required_parts(required: Plan) -> tuple[tuple[str, int], ...]:
    """What must be sent, by part; the parts make up the whole."""
    parts = [(item.title, item.tokens) for item in required.items if item.included and item.section != "constraint"]
    rules = required.sections.get("constraint")
    return (*parts[:1], *([(RULES, rules)] if rules else []), *parts[1:])


def sources_of(inputs: PlanInputs, fragments: Fragments) -> Sources:
    pinned = (message for hold in inputs.holds if hold.turn for message in hold.turn.messages)
    past = (*inputs.past, *(turn for effort in inputs.efforts for turn in effort.turns))
    recalled = (one.message for one in (*inputs.recalled, *(kept for turn in past for kept in turn.recalled)))
    named = (inputs.current.user, *inputs.current.episodes, *pinned, *recalled)
    return Sources(
        fragments=fragments.texts,
        messages={message.id: message for message in named},
        turns={turn.number: turn for turn in past},
    )


def section_tokens(inputs: PlanInputs, recipe: Recipe, sources: Sources, tokens: int) -> dict[str, int]:
    """What each layer adds to the prompt as it grows; neighbours are joined, so this turn is what remains."""
    sections = {"system": system_tokens(inputs)}
    if inputs.constraints:
        sections["constraint"] = rules_tokens(inputs)
    before = sent_tokens(inputs, recipe[:1], sources)
    for end, entry in enumerate(recipe[1:], 2):
        if entry["section"] == "turn":
            continue
        after = sent_tokens(inputs, recipe[:end], sources)
        sections[entry["section"]] = sections.get(entry["section"], 0) + after - before
        before = after
    sections.setdefault("ambient", 0)
    return {**sections, "turn": tokens - sum(sections.values())}


def sent_tokens(inputs: PlanInputs, recipe: Sequence[dict[str, Any]], sources: Sources) -> int:
    log = join_neighbours(render_messages(list(recipe), sources))
    return sum(count_chat_message(message, inputs.count) + MESSAGE_OVERHEAD for message in log)


def dropped_of(inputs: PlanInputs, choice: Choice) -> tuple[int, ...]:
    return tuple(sorted(one.pointer for one in choice.unlisted(inputs.headlines)))


def shortened_of(inputs: PlanInputs, choice: Choice) -> tuple[int, ...]:
    shown = slugs_of(choice.bodies)
    bodies = (one for one in inputs.headlines if one.body and not one.asked)
    return tuple(sorted(one.pointer for one in bodies if one.slug not in shown))


def layout_of(inputs: PlanInputs, choice: Choice) -> Layout:
    layers = layers_of(inputs)
    cuts = {layer.key: cut_at(layer, choice.of(layer)) for layer in layers}
    return Layout(
        base=inputs.base,
        cuts={key: cut for key, cut in cuts.items() if any(cut.to_json())},
        headlines=tuple(headline.pointer for headline in choice.headlines),
        dropped=dropped_of(inputs, choice),
        shortened=shortened_of(inputs, choice),
        block=block_start(inputs),
    )
