"""From one choice of what to send to the whole plan: recipe, request, counts, sections."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from efforts.domain.prompt.code import card_entries, map_entries
from efforts.domain.prompt.conversation import (
    MESSAGE_OVERHEAD,
    PRIMING,
    Instruction,
    LogMessage,
    PastTurn,
    Recalled,
)
from efforts.domain.prompt.items import INSTRUCTIONS, RULES, items_of
from efforts.domain.prompt.layers import (
    NOTHING,
    NUMBER,
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
    escaped,
    join_neighbours,
    mark_of,
    needs_escape,
    render,
    render_messages,
)
from efforts.domain.text.canonical import canonical_json, request_sha256
from efforts.domain.text.counting import counted

# With its middle cut out, the current message takes this share of the room; the rest is for earlier turns.
CUT_CURRENT_SHARE = 0.75

# The built-in engine knows these lines again by llm/builtin/prompt.py: both change together.
NOTES_BEGIN = "[Notes for this turn, not from the user]"
NOW = "Today is {today}. This is turn {number}."
STATE_LINES = {
    "active": "Active effort: {slugs}",
    "open": "Other open efforts: {slugs}",
    "expanded": "Expanded efforts: {slugs}",
    "awaiting": "Concluded without summary yet: {slugs}",
}
NONE_ACTIVE = "No effort is active."
NO_ROOM = "Expanded, but there is no room to show them: {slugs}"
IN_PART = "Shown in part: {parts}. read_effort reads the rest."
NAMED = "Names: {names}"
MORE = "Not named here: {kinds}. effort_status lists efforts."
OPEN_WORK = "Open work {id}: {text}"
DECIDED = "Decision {id}: {text}"
PROPOSED = " (proposed)"
# Of which efforts the notes tell first, and how those that they do not name are counted.
ORDER_TOLD = ("active", "expanded", "open", "awaiting")
MORE_KINDS = {"expanded": "expanded", "open": "more open", "awaiting": "concluded without summary yet"}
# Efforts that the notes of a turn name, those last active.
MOST_NAMED = 8
# Of the budget, for open work and decisions.
LEDGER_SHARE = 0.05
CHOSEN_UNLISTED = "Not shown: the {} of chosen turns. search_messages finds what was said there."
GO_ON = (
    "[Note, not from the user: your reply was cut off at its limit. Go on exactly where it stops, in the middle of a "
    "word if need be. Repeat nothing, and begin with no word about this.]"
)
# The empty line parts it from our own text.
INSTRUCTIONS_BEGIN = {
    True: "\nInstructions of the user for all conversations:",
    False: "\nInstructions of the user for this conversation:",
}
RULES_BEGIN = "\nRules the user has set; they hold until taken back:"
HEADLINES_BEGIN = "[Notes, not instructions: concluded efforts in short]"
# Where there are chosen turns among them.
IN_SHORT_BEGIN = "[Notes, not instructions: concluded efforts and chosen turns in short]"
BODIES_BEGIN = "[Notes, not instructions: what stands for the turns that are named, in place of their words]"


@dataclass(frozen=True, kw_only=True)
class Rendered:
    """The request of one choice, and what it is made from."""

    recipe: Recipe
    params: Mapping[str, Any]
    sources: Sources
    request: dict[str, Any]
    tokens: int


def rendered(inputs: PlanInputs, choice: Choice) -> Rendered:
    """What would be sent: enough to see whether it fits."""
    fragments = Fragments()
    # Schemas go in by hash like all program text: stored once a conversation, not once a call.
    tools = {"tools": fragments.add(canonical_json(list(inputs.tools)))["f"]} if inputs.tools else {}
    params = {**inputs.params, **tools}
    recipe: Recipe = [
        {"role": "system", "section": "system", "parts": [fragments.add(text) for text in system_texts(inputs)]},
        *pin_entries(inputs, choice, fragments),
        *headline_entries(choice, fragments),
        *body_entries(choice, fragments),
        *map_entries(inputs, choice, fragments),
        *(entry for layer in layers_of(inputs) for entry in layer_entries(inputs, layer, choice.of(layer), fragments)),
        *recall_entries(inputs, choice, fragments),
        *card_entries(choice, fragments),
        *this_turn(inputs, choice, fragments),
    ]
    sources = sources_of(inputs, fragments)
    # From the recipe and not from the inputs, so that what is counted and hashed is what a replay gives.
    request = render(recipe, params, sources)
    tokens = count_request(request, inputs.count)
    return Rendered(recipe=recipe, params=params, sources=sources, request=request, tokens=tokens)


def build(inputs: PlanInputs, choice: Choice, sent: Rendered) -> Plan:
    """The whole plan around one choice."""
    sections = section_tokens(inputs, sent.recipe, sent.sources, sent.tokens)
    return Plan(
        items=tuple(items_of(inputs, choice, sections, sent.recipe, sent.sources)),
        sections=sections,
        recipe=sent.recipe,
        params=sent.params,
        fragments=sent.sources.fragments,
        layout=layout_of(inputs, choice),
        layout_key=inputs.layout_key,
        tokens=sent.tokens,
        budget=inputs.budget,
        request=sent.request,
        request_sha256=request_sha256(sent.request),
        inputs=inputs,
        recalled=choice.recalled,
        on_free_room=choice.on_free_room,
    )


def system_texts(inputs: PlanInputs) -> list[str]:
    """Our text, the user's own instructions, and the rules in force: a fragment for each, so that a new one does not
    store all others once more."""
    rules = [rule_line(number, rule) for number, rule in enumerate(inputs.constraints, 1)]
    return [*instructed_texts(inputs), *([RULES_BEGIN, *rules] if rules else [])]


def instructed_texts(inputs: PlanInputs) -> list[str]:
    return [inputs.system_text, *instruction_texts(inputs.instructions)]


def instruction_texts(instructions: Sequence[Instruction]) -> list[str]:
    """Each below its line; what in it looks like a line of the program's stands behind a backslash."""
    return [text for one in instructions for text in (INSTRUCTIONS_BEGIN[one.for_all], escaped(one.text))]


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


def layer_entries(inputs: PlanInputs, layer: Layer, kept: Kept, fragments: Fragments) -> Iterator[dict[str, Any]]:
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
        escaped = [message.id for turn in turns for message in turn.visible if needs_escape(message)]
        seen = [message for turn in turns for message in turn.visible if message.picture and inputs.sees_pictures]
        pictures = [message.id for message in seen]
        yield {
            "section": layer.kind,
            "effort": layer.key,
            "turns": [first, last],
            "labels": labels,
            "marks": marks,
            "cuts": cuts,
            "number": fragments.add(NUMBER)["f"],
            **({"escaped": escaped} if escaped else {}),
            **({"pictures": pictures} if pictures else {}),
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
    if choice.recalled:
        parts = [number_part(inputs, fragments), recall_part(choice.recalled, fragments)]
        yield {"role": "user", "section": "recall", "parts": parts}
    if choice.line:
        # It leaves with the notes: what is quoted stays before it.
        mark = [] if choice.recalled else [number_part(inputs, fragments)]
        yield {"role": "user", "section": "recall", "parts": [*mark, fragments.add_lines(choice.line)]}


def number_part(inputs: PlanInputs, fragments: Fragments) -> dict[str, Any]:
    """The mark that the turn has in later prompts, too: first, so that these have the same beginning."""
    return fragments.add(NUMBER.format(number=inputs.current.number))


def this_turn(inputs: PlanInputs, choice: Choice, fragments: Fragments) -> Iterator[dict[str, Any]]:
    parts = [fragments.add(line) for line in notes(inputs, choice)]
    parts = parts if choice.recalled or choice.line else [number_part(inputs, fragments), *parts]
    cuts = cut_current(inputs, fragments) if inputs.cut_current else {}
    said, *files = (
        {
            "m": one.id,
            **cuts.get(one.id, {}),
            **({"escaped": True} if needs_escape(one) else {}),
            **({"picture": True} if one.picture and inputs.sees_pictures else {}),
        }
        for one in (inputs.current.user, *inputs.current.files)
    )
    yield {"role": "user", "section": "turn", "parts": [*parts, said]}
    if files:
        yield {"section": "turn", "files": files}
    if inputs.current.episodes:
        yield {"section": "turn", "messages": [message.id for message in inputs.current.episodes]}
    if inputs.current.cut_off:
        yield {"role": "user", "section": "turn", "parts": [fragments.add(GO_ON)]}


def notes(inputs: PlanInputs, choice: Choice) -> list[str]:
    """What the model is told at the head of this turn: when it is, where efforts stand, and what is not shown."""
    ambient, *_ = layers_of(inputs)
    # Where no turn is kept there is no label for the stub to stand beside.
    stub = "" if choice.of(ambient).turns else ambient.stub(NOTHING)
    lines = [NOW.format(today=inputs.current.began_on, number=inputs.current.number), *state_lines(inputs, choice)]
    return [NOTES_BEGIN, *lines, *([stub] if stub else []), *ledger_lines(inputs), NOTES_END]


def state_lines(inputs: PlanInputs, choice: Choice) -> Iterator[str]:
    """Which efforts there are: a model that must guess it opens what is open and closes what is not meant."""
    if not inputs.has_efforts:
        return
    layers = layers_of(inputs)[1:]
    told = sorted(layers, key=lambda layer: (ORDER_TOLD.index(layer.kind), -layer.active_turn, layer.key))
    told, rest = told[:MOST_NAMED], told[MOST_NAMED:]
    shown = {layer.key: len(choice.of(layer).turns) for layer in told}
    for kind, line in STATE_LINES.items():
        slugs = [layer.key for layer in told if layer.kind == kind and (kind != "expanded" or shown[layer.key])]
        if slugs:
            yield line.format(slugs=", ".join(slugs))
        elif kind == "active":
            yield NONE_ACTIVE
    if absent := [layer.key for layer in told if layer.kind == "expanded" and not shown[layer.key]]:
        yield NO_ROOM.format(slugs=", ".join(absent))
    if names := [f"{layer.key} is “{layer.name}”" for layer in told if layer.name]:
        yield NAMED.format(names=", ".join(names))
    parts = [
        f"{layer.key} ({shown[layer.key] or 'none'} of {counted(layer.count, 'turn', form=',')})"
        for layer in told
        if shown[layer.key] < layer.count
    ]
    if parts:
        yield IN_PART.format(parts=", ".join(parts))
    yield from not_named(inputs, choice, [layer.kind for layer in rest])


def not_named(inputs: PlanInputs, choice: Choice, rest: Sequence[str]) -> Iterator[str]:
    """How many more there are. `rest`: the kinds of those that the notes do not name."""
    if kinds := [f"{rest.count(kind)} {said}" for kind, said in MORE_KINDS.items() if kind in rest]:
        yield MORE.format(kinds=", ".join(kinds))
    gone = choice.unlisted(inputs.headlines)
    if unlisted := inputs.unlisted + inputs.evicted.count + sum(not one.chosen for one in gone):
        yield f"Not listed: {unlisted} concluded effort{'s' if unlisted > 1 else ''}. search_efforts finds them."
    if chosen := inputs.evicted.chosen + sum(one.chosen for one in gone):
        yield CHOSEN_UNLISTED.format("summary" if chosen == 1 else f"{chosen} summaries")


def ledger_lines(inputs: PlanInputs) -> Iterator[str]:
    """The newest open work and decisions, as many as their share of the budget has room for."""
    room = int(inputs.budget.effective * LEDGER_SHARE)
    for one in inputs.ledger:
        line = (OPEN_WORK if one.id.startswith("work") else DECIDED).format(id=one.id, text=one.text)
        line += PROPOSED if one.is_proposed else ""
        room -= inputs.count(line) + 1
        if room < 0:
            return
        yield line


def cut_current(inputs: PlanInputs, fragments: Fragments) -> dict[int, dict[str, Any]]:
    """By its id, how the current message or a file of it is cut so that all of it leaves room; nothing where it does
    whole. Each may take an even share, and what one does not need is for the larger ones."""
    episodes = sum(message.cost for message in inputs.current.episodes)
    room = (
        inputs.budget.effective - system_tokens(inputs) - instructions_tokens(inputs) - rules_tokens(inputs) - episodes
    )
    room = int(room * CUT_CURRENT_SHARE)
    said = (inputs.current.user, *inputs.current.files)
    # Of a picture there is no beginning and no end.
    room -= sum(one.tokens for one in said if one.picture)
    texts = sorted((one for one in said if not one.picture), key=lambda one: (one.tokens, one.id))
    cuts = {}
    for place, one in enumerate(texts):
        share = room // (len(texts) - place)
        if one.tokens > share:
            cuts[one.id] = cut_to(inputs, one, share, fragments)
        room -= min(one.tokens, share)
    return cuts


def cut_to(inputs: PlanInputs, message: LogMessage, room: int, fragments: Fragments) -> dict[str, Any]:
    """The largest beginning and end of a message, two to one, that fit the room."""
    keep = len(message.text)
    cut = cut_of(message, fragments, keep * 2 // 3, keep // 3)
    while keep > 0 and inputs.count(cut_text(message.text, cut, fragments.texts)) > room:
        # Text has about four characters a token. Starting from twice that lands near in one step, so that a huge
        # message is not counted a dozen times.
        keep = min(keep * 4 // 5, max(room, 0) * 8)
        cut = cut_of(message, fragments, keep * 2 // 3, keep // 3)
    return {"cut": cut}


def system_tokens(inputs: PlanInputs) -> int:
    """Of the system text and the schemas of tools, with what every request adds."""
    tools = canonical_json(list(inputs.tools)) if inputs.tools else ""
    return inputs.count(inputs.system_text) + inputs.count(tools) + MESSAGE_OVERHEAD + PRIMING


def rules_tokens(inputs: PlanInputs) -> int:
    """What the rules in force add to the system message, with the line above them."""
    return inputs.count("\n".join(system_texts(inputs))) - inputs.count("\n".join(instructed_texts(inputs)))


def instructions_tokens(inputs: PlanInputs) -> int:
    """What the user's own instructions add to the system message."""
    return inputs.count("\n".join(instructed_texts(inputs))) - inputs.count(inputs.system_text)


def required_parts(required: Plan) -> tuple[tuple[str, int], ...]:
    """What must be sent, by part; the parts make up the whole."""
    summed = {"instruction": INSTRUCTIONS, "constraint": RULES}
    parts = [(item.title, item.tokens) for item in required.items if item.included and item.section not in summed]
    sums = [(title, required.sections[section]) for section, title in summed.items() if section in required.sections]
    return (*parts[:1], *sums, *parts[1:])


def sources_of(inputs: PlanInputs, fragments: Fragments) -> Sources:
    pinned = (message for hold in inputs.holds if hold.turn for message in hold.turn.messages)
    past = (*inputs.past, *(turn for effort in inputs.efforts for turn in effort.turns))
    recalled = (one.message for one in (*inputs.recalled, *(kept for turn in past for kept in turn.recalled)))
    named = (inputs.current.user, *inputs.current.files, *inputs.current.episodes, *pinned, *recalled)
    return Sources(
        fragments=fragments.texts,
        messages={message.id: message for message in named},
        turns={turn.number: turn for turn in past},
    )


def section_tokens(inputs: PlanInputs, recipe: Recipe, sources: Sources, tokens: int) -> dict[str, int]:
    """What each layer adds to the prompt as it grows; neighbours are joined, so this turn is what remains."""
    sections = {"system": system_tokens(inputs)}
    if inputs.instructions:
        sections["instruction"] = instructions_tokens(inputs)
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


def layout_of(inputs: PlanInputs, choice: Choice) -> Layout:
    layers = layers_of(inputs)
    cuts = {layer.key: cut_at(layer, choice.of(layer)) for layer in layers}
    shown = slugs_of(choice.bodies)
    bodies = (one for one in inputs.headlines if one.body and not one.asked)
    return Layout(
        base=inputs.base,
        cuts={key: cut for key, cut in cuts.items() if any(cut.to_json())},
        headlines=tuple(headline.pointer for headline in choice.headlines),
        dropped=tuple(sorted(one.pointer for one in choice.unlisted(inputs.headlines))),
        shortened=tuple(sorted(one.pointer for one in bodies if one.slug not in shown)),
        block=block_start(inputs),
    )
