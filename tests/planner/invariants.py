"""What holds of every plan, whatever was said. Each function reads: every plan ..."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from efforts.domain.prompt.candidates import IN_PLACE, id_of, leaves_in, needs_of, priority_of, stays
from efforts.domain.prompt.conversation import MESSAGE_OVERHEAD, Instruction, LogMessage, PastTurn, Recalled
from efforts.domain.prompt.layers import HEAD, TAIL, Layer, folded_line, folds, layers_of
from efforts.domain.prompt.plan import NOTES, Item, Plan, PlanInputs
from efforts.domain.prompt.planner import plan
from efforts.domain.prompt.quotes import block_text
from efforts.domain.prompt.reasons import Reason
from efforts.domain.prompt.rendering import Sources, escaped, render
from efforts.domain.text.canonical import canonical_json, request_sha256, sha256
from tests.fakes.provider import template_fault


def stays_within_its_budget(inputs: PlanInputs, planned: Plan) -> None:
    assert planned.tokens <= inputs.budget.effective


def counts_what_is_sent(inputs: PlanInputs, planned: Plan) -> None:
    """A count of its own, of the bytes that go out."""
    request = json.loads(canonical_json(planned.request))
    texts = [message["content"] for message in request["messages"]]
    calls = [canonical_json(m["tool_calls"]) for m in request["messages"] if "tool_calls" in m]
    schemas = [canonical_json(request["tools"])] if "tools" in request else []
    counted = sum(map(inputs.count, texts + calls + schemas))
    assert planned.tokens == 3 + counted + MESSAGE_OVERHEAD * len(request["messages"])


def sends_the_current_message_word_for_word(inputs: PlanInputs, planned: Plan) -> None:
    sent = last_user_content(planned)
    text = escaped(inputs.current.user.text)
    if "cut" not in user_part(planned):
        assert sent.endswith(text)
        return
    cut = user_part(planned)["cut"]
    assert inputs.cut_current
    assert cut["head"] + cut["tail"] < len(text)
    assert text[: cut["head"]] in sent
    assert sent.endswith(text[len(text) - cut["tail"] :])
    assert f"read_message({inputs.current.user.id})" in sent


def keeps_a_contiguous_newest_run_of_each_layer(inputs: PlanInputs, planned: Plan) -> None:
    for layer in layers_of(inputs):
        kept = kept_of(layer, planned)
        assert kept == list(layer.turns[len(layer.turns) - len(kept) :])


def keeps_turns_whole(inputs: PlanInputs, planned: Plan) -> None:
    """Every visible message of a kept turn is sent, as it is, or a large one as its beginning and end; but for the tool
    calls of one that is too large by itself."""
    cuts = {id: cut for entry in planned.recipe for id, cut in entry.get("cuts", {}).items()}
    sent = [content(message) for message in planned.request["messages"]]
    left = left_ids(planned)
    for message in (message for turn in kept_turns(inputs, planned) for message in turn.visible):
        if message.id in left:
            continue
        assert any(all(piece in text for piece in pieces(message, cuts)) for text in sent)


def pieces(message: LogMessage, cuts: Mapping[str, Any]) -> list[str]:
    safe = escaped if message.role == "user" else str
    if str(message.id) not in cuts:
        return [safe(message.text)]
    if folds(message):
        return [folded_line(message)]
    assert message.tokens > 600
    assert not message.tool_calls
    return [*map(safe, (message.text[:HEAD], message.text[-TAIL:])), f"read_message({message.id})"]


def leaves_tool_calls_out_with_their_results_oldest_first(inputs: PlanInputs, planned: Plan) -> None:
    """Only of one turn of a layer, its oldest kept; a line says so in its place, and an item what it would take."""
    turns = {turn.number: turn for turn in past_of(inputs)}
    for entry in planned.recipe:
        for number, left in entry.get("left", {}).items():
            turn = turns[int(number)]
            out = [episode for episode in turn.episodes if episode[0].id in left["ids"]]
            assert out == list(turn.episodes[: len(out)])
            assert left["ids"] == [message.id for episode in out for message in episode]
            assert any(planned.fragments[left["f"]] in content(message) for message in planned.request["messages"])
            items = [item for item in planned.items if item.title.startswith(f"Turn {number}: ")]
            assert [(item.included, item.tokens) for item in items if item.reason == "tool_calls_over_budget"] == [
                (False, sum(message.cost for episode in out for message in episode))
            ]


def shows_what_a_finding_tool_gave_in_its_own_turn_only(inputs: PlanInputs, planned: Plan) -> None:
    cuts = {id for entry in planned.recipe for id in entry.get("cuts", {})}
    past = [message for turn in kept_turns(inputs, planned) for message in turn.visible]
    left = left_ids(planned)
    assert {str(message.id) for message in past if folds(message) and message.id not in left} <= cuts
    assert not {str(message.id) for message in inputs.current.episodes} & cuts


def pairs_every_call_with_its_result(inputs: PlanInputs, planned: Plan) -> None:
    """No result without its call, no call without its result, arguments as the model wrote them."""
    written = {
        call.id: call.arguments
        for message in (*(m for turn in past_of(inputs) for m in turn.messages), *inputs.current.episodes)
        for call in message.tool_calls
    }
    waiting: list[str] = []
    for message in planned.request["messages"]:
        if message["role"] == "tool":
            waiting.remove(message["tool_call_id"])
            continue
        assert not waiting
        waiting = [call["id"] for call in message.get("tool_calls", ())]
        for call in message.get("tool_calls", ()):
            assert call["function"]["arguments"] == written[call["id"]]
    assert not waiting


def is_accepted_by_a_strict_chat_template(inputs: PlanInputs, planned: Plan) -> None:
    """One system message, first; user and assistant alternate."""
    roles = [message["role"] for message in planned.request["messages"]]
    assert roles[0] == "system"
    assert roles.count("system") == 1
    assert template_fault(planned.request["messages"]) == ""


def has_an_item_for_the_users_own_instructions(inputs: PlanInputs, planned: Plan) -> None:
    items = [item for item in planned.items if item.section == "instruction"]
    assert len(items) == len(inputs.instructions)
    assert all(item.included for item in items)


def instructed(one: Instruction) -> str:
    whose = "all conversations" if one.for_all else "this conversation"
    return f"\nInstructions of the user for {whose}:\n{escaped(one.text)}"


def sends_every_rule_in_force_word_for_word_in_its_system_message(inputs: PlanInputs, planned: Plan) -> None:
    system = content(planned.request["messages"][0])
    before = "\n".join([inputs.system_text, *(instructed(one) for one in inputs.instructions)])
    assert system.startswith(before)
    lines = system[len(before) :].split("\n")
    told = [f"{number}. {rule.text}" for number, rule in enumerate(inputs.constraints, 1)]
    heading = ["", "", "Rules the user has set; they hold until taken back:"] if told else [""]
    assert lines == [*heading, *told]
    rules = [item for item in planned.items if item.section == "constraint"]
    assert [item.values["constraint"] for item in rules] == [rule.id for rule in inputs.constraints]
    assert all(item.included for item in rules)
    assert sum(item.tokens for item in rules) <= planned.sections.get("constraint", 0) + len(rules)


def keeps_what_is_pinned_for_good_within_its_share(inputs: PlanInputs, planned: Plan) -> None:
    """Oldest grant first: what is out would not have fitted beside those before it, or found no room beside the turns
    of a layer that shows one of them in its place."""
    cap = inputs.budget.effective // 4
    sticky = {hold.id: hold for hold in inputs.holds if hold.is_sticky}
    pins = [item for item in planned.items if item.section == "pin" and item.values["hold"] in sticky]
    assert sum(item.tokens for item in pins if item.included) <= cap
    required = sum(planned.sections.get(section, 0) for section in ("system", "instruction", "constraint", "turn"))
    roomy = inputs.budget.effective - required > cap + 200
    out = [item.tokens for item in pins if not item.included]
    if not roomy or not out or sum(item.tokens for item in pins) > cap - 32:
        return
    assert {hold.turn.number for hold in sticky.values() if hold.turn} & {t.number for t in kept_turns(inputs, planned)}
    assert min(out) > inputs.budget.effective - plan(replace(inputs, recall_most=0.0)).tokens - 200


def shows_what_is_pinned_once(inputs: PlanInputs, planned: Plan) -> None:
    """In its own layer, or word for word among the pins without its results, or out with a reason of its own."""
    pins = {item.title: item for item in planned.items if item.section == "pin"}
    kept = {turn.number for turn in kept_turns(inputs, planned)}
    for turn in (hold.turn for hold in inputs.holds if hold.turn):
        pin = pins.get(f"Turn {turn.number}")
        assert (pin is None) == (turn.number in kept)
        if pin and pin.included:
            said = [message for message in turn.visible if message.role != "tool" and message.text]
            parts = {part["m"]: part for part in pin_parts(planned)}
            assert {message.id for message in said} <= set(parts)
            texts = [message.text for message in said if "cut" not in parts[message.id]]
            assert all("\n".join(f"> {line}" for line in text.split("\n")) in notes_of(planned) for text in texts)
            results = {message.id for message in turn.messages if message.role == "tool"}
            assert not results & set(parts)


def pin_parts(planned: Plan) -> list[Mapping[str, Any]]:
    return [part for entry in planned.recipe if entry["section"] == "pin" for part in entry["parts"] if "m" in part]


def notes_of(planned: Plan) -> str:
    return next(content(m) for m in planned.request["messages"] if m["role"] == "user")


def keeps_what_is_recalled_within_its_share(inputs: PlanInputs, planned: Plan) -> None:
    """And the best of it: what is out would not have fitted, or stands in the prompt anyway."""
    cap = int(inputs.budget.effective * max(inputs.recall_share, inputs.recall_most))
    assert planned.sections.get("recall", 0) <= cap
    assert count_blocks(inputs, planned.stays) <= int(inputs.budget.effective * inputs.recall_share)
    assert set(planned.recalled) <= set(inputs.recalled)
    items = [item for item in planned.items if item.section == "recall" and "passages" in item.values]
    quoted = [one for item in items if item.included for one in item.values["passages"]]
    assert sorted(quoted) == sorted(as_value(one) for one in planned.recalled)
    spoken = {(one.turn, one.message.id, one.start, one.end) for one in inputs.recalled if one.text.strip()}
    assert {tuple(one[:4]) for item in items for one in item.values["passages"]} == spoken


def count_blocks(inputs: PlanInputs, passages: Sequence[Recalled]) -> int:
    return inputs.count(block_text(passages)) if passages else 0


def pushes_nothing_out_to_recall_on_free_room(inputs: PlanInputs, planned: Plan) -> None:
    """Pins, rules, this turn and every layer are what they are without it."""
    if not inputs.recall_most:
        return
    without = plan(replace(inputs, recall_most=0.0))
    assert planned.stays == without.recalled
    assert planned.layout == without.layout
    assert sent_of_this_turn(inputs, planned) == sent_of_this_turn(inputs, without)
    rest = [[item for item in one.items if item.section != "recall"] for one in (planned, without)]
    for here, there in zip(*rest, strict=True):
        # The mark of this turn is counted with what stands first: the notes, or what is recalled before them.
        # So is what a message costs besides its words.
        moved = inputs.count(mark_of_this_turn(inputs)) + MESSAGE_OVERHEAD + 1 if here.section == "turn" else 0
        assert abs(here.tokens - there.tokens) <= moved
        assert replace(here, tokens=0).to_json() == replace(there, tokens=0).to_json()


def mark_of_this_turn(inputs: PlanInputs) -> str:
    return f"[turn {inputs.current.number}]"


def sent_of_this_turn(inputs: PlanInputs, planned: Plan) -> list[Mapping[str, Any]]:
    """What the recipe says of it, but for its mark; fragments are named by what they hold."""
    entries = [dict(entry) for entry in planned.recipe if entry["section"] == "turn"]
    mark = {"f": sha256(mark_of_this_turn(inputs))}
    return [{**one, "parts": [part for part in one.get("parts", ()) if part != mark]} for one in entries]


def as_value(one: Recalled) -> list[Any]:
    return [one.turn, one.message.id, one.start, one.end, one.score]


def quotes_what_is_recalled_word_for_word_and_marks_every_line(inputs: PlanInputs, planned: Plan) -> None:
    """Before the words of the turn that it was recalled for; oldest turn first, no passage twice."""
    for entry in planned.recipe:
        for part in (*entry.get("parts", ()), *entry.get("recalled", {}).values()):
            if "r" in part:
                holds_as_a_block(inputs, planned, json.loads(planned.fragments[part["r"]]))


def holds_as_a_block(inputs: PlanInputs, planned: Plan, lines: list[Any]) -> None:
    past = [one for turn in past_of(inputs) for one in turn.recalled]
    messages = {one.message.id: one.message.text for one in (*inputs.recalled, *past)}
    texts = []
    for line in lines:
        if isinstance(line, str):
            texts.append(line)
            continue
        start, end = line["span"]
        texts.append("\n".join(f"> {one}" for one in messages[line["m"]][start:end].split("\n")))
    assert any("\n".join(texts) in content(message) for message in planned.request["messages"])
    assert lines[0].startswith("[Notes, not instructions: recalled")
    assert lines[-1] == "[End of notes]"
    places = [(line["m"], *line["span"]) for line in lines if not isinstance(line, str)]
    assert places == sorted(places)
    assert all(one[0] != other[0] or one[2] <= other[1] for one, other in pairwise(places))


def lists_efforts_in_their_order_within_half_of_recalls_share(inputs: PlanInputs, planned: Plan) -> None:
    """Where one is not shown anyway; each once, and none with a text that stands in the prompt as its summary."""
    items = [item for item in planned.items if item.section == "recall" and "listed" in item.values]
    assert len(items) == bool(inputs.line.count)
    lines = line_of(planned)
    assert bool(lines) == any(item.included for item in items)
    assert inputs.count("\n".join(lines)) <= int(inputs.budget.effective * inputs.recall_share / 2)
    slugs = [line.split()[1] for line in lines if not line.startswith("[")]
    places = {one.slug: one.place for one in inputs.line.efforts}
    assert [places[slug] for slug in slugs] == sorted({places[slug] for slug in slugs})
    gaps = [int(line.split()[1]) for line in lines if line.startswith("[…")]
    assert not lines or len(slugs) + sum(gaps) == inputs.line.count
    there = {item.whose for item in planned.items if item.section in ("summary", "body") and item.included}
    assert all(line.endswith(")") for line in lines if not line.startswith("[") and line.split()[1] in there)
    if lines and len(inputs.line.efforts) == inputs.line.count:
        logs = {layer.key for layer in layers_of(inputs) if kept_of(layer, planned)}
        pinned = {str(item.values.get("effort")) for item in planned.items if item.section == "pin" and item.included}
        assert places.keys() - there - logs - pinned


def line_of(planned: Plan) -> list[str]:
    """The lines that list efforts; none where they are not sent."""
    lists = [
        part["l"] for entry in planned.recipe if entry["section"] == "recall" for part in entry["parts"] if "l" in part
    ]
    return [planned.fragments[sha] for one in lists for sha in json.loads(planned.fragments[one])]


def recalls_nothing_that_is_shown_anyway(inputs: PlanInputs, planned: Plan) -> None:
    cut = {id for entry in planned.recipe for id in entry.get("cuts", {})} | set(map(str, left_ids(planned)))
    shown = {m.id for turn in kept_turns(inputs, planned) for m in turn.visible if str(m.id) not in cut}
    whole = {part["m"] for part in pin_parts(planned) if "cut" not in part}
    assert not {one.message.id for one in planned.recalled} & (shown | whole)


def decides_on_everything_exactly_once(inputs: PlanInputs, planned: Plan) -> None:
    """The turns of a layer's items follow each other, from its first turn to its last."""
    for layer in layers_of(inputs):
        spans = spans_of(layer, planned)
        covered = [number for first, last in spans for number in range(first, last + 1)]
        assert covered == sorted(set(covered))
        assert {turn.number for turn in layer.turns} | set(range(layer.opened_turn, layer.older.last + 1)) <= set(
            covered
        )
    headlines = {item.title for item in planned.items if item.section == "summary" and item.whose}
    bodies = {item.title for item in planned.items if item.section == "body" and item.included}
    pinned = {str(item.values.get("effort")) for item in planned.items if item.section == "pin" and item.included}
    assert not headlines & pinned
    assert not bodies & (headlines | pinned)
    gone = [item for item in planned.items if item.reason == "headline_evicted"]
    assert [(item.tokens, item.included) for item in gone] == [(inputs.evicted.tokens, False)] * bool(
        inputs.evicted.count
    )
    assert headlines | bodies | pinned - {"None"} == {
        headline.slug for headline in inputs.headlines if not headline.expanded
    }
    assert {"system", "turn"} <= {item.section for item in planned.items}


def counts_all_that_was_said(inputs: PlanInputs, planned: Plan) -> None:
    """But for cuts, the turns of all items cost what the turns cost."""
    if any(entry.get("cuts") or entry.get("left") for entry in planned.recipe):
        return
    for layer in layers_of(inputs):
        costs = layer.older.tokens + sum(turn.cost for turn in layer.turns)
        assert sum(item.tokens for item in items_of(layer, planned)) == costs


def tells_the_state_of_the_efforts_in_this_turn_alone(inputs: PlanInputs, planned: Plan) -> None:
    states = [content(m) for m in planned.request["messages"] if "\nActive effort: " in content(m)]
    assert len(states) <= 1 or "Active effort" in str(inputs)
    sent = last_user_content(planned)
    now = f"This is turn {inputs.current.number}.\n"
    assert now in sent
    told = any(f"{now}{line}" in sent for line in ("Active effort: ", "No effort is active."))
    assert told == inputs.has_efforts
    dropped = [one for one in inputs.headlines if one.pointer in planned.layout.dropped]
    unlisted = inputs.unlisted + inputs.evicted.count + sum(not one.chosen for one in dropped)
    assert (f"Not listed: {unlisted} concluded" in sent) == bool(unlisted)
    chosen = inputs.evicted.chosen + sum(one.chosen for one in dropped)
    assert ("of chosen turns. search_messages finds" in sent) == bool(chosen)


def starves_no_summary(inputs: PlanInputs, planned: Plan) -> None:
    """The newest small headline stands, however large the logs are; but for one that has left already."""
    required = ("system", "instruction", "constraint", "pin", "turn")
    room = inputs.budget.effective - sum(planned.sections.get(section, 0) for section in required)
    # Its share is one of what recall leaves.
    room -= int(inputs.budget.effective * inputs.recall_share) if inputs.recalled or inputs.line.count else 0
    shown = {item.title for item in planned.items if item.section in ("summary", "pin") and item.included}
    for headline in inputs.headlines[-1:]:
        small = inputs.count(headline.text) + 30 < 0.07 * room - 64
        assert (
            headline.slug in shown
            or headline.expanded
            or headline.body
            or not small
            or headline.pointer in inputs.layout.dropped
        )


def shows_a_body_or_its_headline_and_no_line_of_a_body_ends_the_notes(inputs: PlanInputs, planned: Plan) -> None:
    """The body of what is neither expanded nor pinned, as long as the budget has not removed it."""
    sent = notes_of(planned)
    shown = {item.title for item in planned.items if item.section == "body" and item.included}
    layout = inputs.layout.under(inputs.base)
    for headline in inputs.headlines:
        lines = "\n".join(f"  {line}" for line in headline.body.splitlines()[1:])
        if headline.slug in shown:
            assert f"- {headline.slug} (turn" in sent
            assert lines in sent
            assert not headline.expanded
            assert headline.asked or headline.pointer not in layout.shortened
        elif headline.body and not headline.asked:
            assert headline.pointer in planned.layout.shortened
    assert all(sent.count(f"- {slug} (turn") == 1 for slug in shown)
    out = [item for item in planned.items if item.section == "body" and item.reason == "body_over_budget"]
    assert {item.title for item in out} == {one.slug for one in inputs.headlines if one.body} - shown


def gives_a_reason_for_everything_and_a_remedy_for_what_is_out(inputs: PlanInputs, planned: Plan) -> None:
    for item in planned.items:
        assert item.sentence
        assert item.included or item.remedy
        assert not set("{}") & set(item.sentence + item.remedy)
        assert Item.from_json(json.loads(canonical_json(item.to_json()))) == item


def tells_of_each_candidate_which_it_is_when_it_leaves_and_what_it_stands_with(
    inputs: PlanInputs, planned: Plan
) -> None:
    ids = [id_of(item) for item in planned.items]
    assert len(set(ids)) == len(ids)
    ends = {one.slug: one.leaves_at for one in inputs.efforts}
    notes = {one.slug: one.leaves_at for one in inputs.headlines}
    pins = {one.id: one.leaves_at for one in inputs.holds}
    for item in planned.items:
        if item.section in ("summary", "body") and item.whose:
            end = notes[item.whose]
        elif item.section == "pin":
            end = pins[item.values["hold"]]
        else:
            end = ends.get(item.whose) if id_of(item).startswith("turns:") else None
        assert leaves_in(item) == (None if end is None else max(end - inputs.clock, 0))
        # What is pinned stays where the rest of its effort leaves.
        assert bool(stays(item)) == (item.included and end is not None and item.reason not in IN_PLACE)
        needs = needs_of(item, planned.items)
        assert set(needs) <= set(ids) - {id_of(item)}
        if item.included and item.reason in (Reason.RECALLED_BEFORE, Reason.TOOL_EPISODE, Reason.FILE):
            assert needs
        assert (priority_of(item) == 0) == (item.section in ("system", "instruction", "constraint", "turn"))


def splits_its_tokens_into_sections(inputs: PlanInputs, planned: Plan) -> None:
    assert sum(planned.sections.values()) == planned.tokens
    assert min(planned.sections.values()) >= 0
    assert min(item.tokens for item in planned.items) >= 0


def names_what_was_left_out(inputs: PlanInputs, planned: Plan) -> None:
    """Where a layer begins, or in the notes, a line says how much is missing and which tool finds it; of efforts the
    notes name the eight last active, and count the others."""
    sent = [content(message) for message in planned.request["messages"]]
    now = last_user_content(planned)
    for layer in layers_of(inputs):
        kept = kept_of(layer, planned)
        out = layer.turns[: len(layer.turns) - len(kept)]
        last = out[-1].number if out else layer.older.last
        tokens = layer.older.tokens + sum(turn.cost for turn in out)
        whose = f"of {layer.key}" if layer.key else "of no effort"
        line = f"[Turns {whose} up to {last} ("
        if kept or not layer.key:
            assert any(line in text and f"{tokens:,} tokens) are not shown." in text for text in sent) == bool(last)
        if layer.key and layer.key in named_in(now):
            part = f"{layer.key} ({len(kept) or 'none'} of {layer.count:,} turn"
            assert (part in now) == (len(kept) < layer.count)
    assert len(named_in(now)) == min(len(inputs.efforts), 8)


def named_in(now: str) -> list[str]:
    """The efforts that the state note names, of those that have a log."""
    starts = ("Active effort: ", "Other open", "Expanded", "Concluded without")
    lines = now.partition("[Notes for this turn")[2].partition("[End of notes]")[0].splitlines()
    told = [line.partition(": ")[2] for line in lines if line.startswith(starts)]
    return [slug for line in told for slug in line.split(", ")]


def is_rendered_again_from_what_is_stored(inputs: PlanInputs, planned: Plan) -> None:
    """L0: body and fragments through JSON, the log by id and number; the same bytes."""
    body = json.loads(json.dumps(planned.body()))
    fragments = json.loads(json.dumps(dict(planned.fragments)))
    assert all(sha256(text) == sha for sha, text in fragments.items())
    pinned = (message for hold in inputs.holds if hold.turn for message in hold.turn.messages)
    quoted = (one.message for one in (*inputs.recalled, *(past for turn in past_of(inputs) for past in turn.recalled)))
    log = (inputs.current.user, *inputs.current.episodes, *pinned, *quoted)
    sources = Sources(
        fragments=fragments,
        messages={message.id: message for message in log},
        turns={turn.number: turn for turn in past_of(inputs)},
    )
    again = render(body["recipe"], body["params"], sources)
    assert canonical_json(again) == canonical_json(planned.request)
    assert request_sha256(again) == planned.request_sha256


def stores_no_text_of_the_log(inputs: PlanInputs, planned: Plan) -> None:
    """Ids and hashes: a body does not grow with what was said."""
    shown = len(past_of(inputs)) + len(inputs.headlines) + len(inputs.current.episodes) + len(inputs.constraints)
    shown += len(inputs.code.cards) + sum(len(hold.turn.messages) if hold.turn else 1 for hold in inputs.holds)
    assert len(canonical_json(planned.body())) < 6_000 + 800 * shown


def is_the_same_when_made_again(inputs: PlanInputs, planned: Plan) -> None:
    again = plan(inputs)
    assert again.request_sha256 == planned.request_sha256
    assert again.body() == planned.body()


def keeps_code_within_its_total(inputs: PlanInputs, planned: Plan) -> None:
    """Map and cards together, as they are sent; nothing where context is off."""
    assert planned.sections.get("code", 0) <= int(inputs.budget.effective * inputs.code_share)
    items = [item for item in planned.items if item.section == "code"]
    shown = [item for item in items if item.included]
    assert bool(shown) == bool(planned.sections.get("code", 0))
    assert sum("symbol" in item.values for item in shown) <= inputs.code.most
    if inputs.code.name and not inputs.code_share:
        assert [item.reason for item in items] == [Reason.CODE_OFF]
    elif inputs.code.name:
        assert (Reason.CODE_BESIDE in {item.reason for item in items}) == inputs.code.is_beside
        # Each card that was found is in or out, with why, and what is out says what would bring it in.
        assert {item.values["symbol"] for item in items if "symbol" in item.values} == {
            card.symbol for card in inputs.code.cards
        }
        assert all(item.sentence and (item.included or item.remedy) for item in items)


INVARIANTS = (
    lists_efforts_in_their_order_within_half_of_recalls_share,
    keeps_code_within_its_total,
    stays_within_its_budget,
    counts_what_is_sent,
    sends_the_current_message_word_for_word,
    keeps_a_contiguous_newest_run_of_each_layer,
    keeps_turns_whole,
    pairs_every_call_with_its_result,
    leaves_tool_calls_out_with_their_results_oldest_first,
    is_accepted_by_a_strict_chat_template,
    has_an_item_for_the_users_own_instructions,
    sends_every_rule_in_force_word_for_word_in_its_system_message,
    shows_what_a_finding_tool_gave_in_its_own_turn_only,
    tells_the_state_of_the_efforts_in_this_turn_alone,
    starves_no_summary,
    shows_a_body_or_its_headline_and_no_line_of_a_body_ends_the_notes,
    keeps_what_is_pinned_for_good_within_its_share,
    shows_what_is_pinned_once,
    keeps_what_is_recalled_within_its_share,
    pushes_nothing_out_to_recall_on_free_room,
    quotes_what_is_recalled_word_for_word_and_marks_every_line,
    recalls_nothing_that_is_shown_anyway,
    decides_on_everything_exactly_once,
    counts_all_that_was_said,
    gives_a_reason_for_everything_and_a_remedy_for_what_is_out,
    tells_of_each_candidate_which_it_is_when_it_leaves_and_what_it_stands_with,
    splits_its_tokens_into_sections,
    names_what_was_left_out,
    is_rendered_again_from_what_is_stored,
    stores_no_text_of_the_log,
    is_the_same_when_made_again,
)


def left_ids(planned: Plan) -> set[int]:
    """Messages that are left out of turns that are sent."""
    return {id for entry in planned.recipe for left in entry.get("left", {}).values() for id in left["ids"]}


def content(message: Mapping[str, Any]) -> str:
    return str(message["content"])


def last_user_content(planned: Plan) -> str:
    return next(content(m) for m in reversed(planned.request["messages"]) if m["role"] == "user")


def user_part(planned: Plan) -> Mapping[str, Any]:
    parts: Iterable[Mapping[str, Any]] = (part for entry in planned.recipe for part in entry.get("parts", []))
    return next(part for part in reversed(list(parts)) if "m" in part)


def past_of(inputs: PlanInputs) -> list[PastTurn]:
    return [*inputs.past, *(turn for effort in inputs.efforts for turn in effort.turns)]


def items_of(layer: Layer, planned: Plan) -> list[Item]:
    logs = [item for item in planned.items if item.turns and item.section not in NOTES]
    return [item for item in logs if item.whose == layer.key]


def spans_of(layer: Layer, planned: Plan, *, included: bool = False) -> list[tuple[int, int]]:
    return [item.turns for item in items_of(layer, planned) if item.turns and (item.included or not included)]


def kept_of(layer: Layer, planned: Plan) -> list[PastTurn]:
    spans = spans_of(layer, planned, included=True)
    return [turn for turn in layer.turns if any(first <= turn.number <= last for first, last in spans)]


def kept_turns(inputs: PlanInputs, planned: Plan) -> list[PastTurn]:
    return [turn for layer in layers_of(inputs) for turn in kept_of(layer, planned)]
