"""What holds of every plan, whatever was said. Each function reads: every plan ..."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from efforts.domain.assembly import HEAD, TAIL
from efforts.domain.canonical import canonical_json, request_sha256, sha256
from efforts.domain.conversation import MESSAGE_OVERHEAD, LogMessage, PastTurn
from efforts.domain.plan import Item, Plan, PlanInputs
from efforts.domain.planner import plan
from efforts.domain.rendering import Sources, render
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
    text = inputs.current.user.text
    if "cut" not in user_part(planned):
        assert sent.endswith(text)
        return
    cut = user_part(planned)["cut"]
    assert inputs.cut_current
    assert cut["head"] + cut["tail"] < len(text)
    assert text[: cut["head"]] in sent
    assert sent.endswith(text[len(text) - cut["tail"] :])
    assert f"read_message({inputs.current.user.id})" in sent


def keeps_a_contiguous_newest_run_of_turns(inputs: PlanInputs, planned: Plan) -> None:
    eligible = inputs.past[-inputs.ambient_window :] if inputs.ambient_window else ()
    kept = kept_turns(inputs, planned)
    assert kept == list(eligible[len(eligible) - len(kept) :])


def keeps_turns_whole(inputs: PlanInputs, planned: Plan) -> None:
    """Every visible message of a kept turn is sent: as it is, or a large one as its beginning and end."""
    cuts = {id: cut for entry in planned.recipe for id, cut in entry.get("cuts", {}).items()}
    sent = [content(message) for message in planned.request["messages"]]
    for message in (message for turn in kept_turns(inputs, planned) for message in turn.visible):
        assert any(all(piece in text for piece in pieces(message, cuts)) for text in sent)


def pieces(message: LogMessage, cuts: Mapping[str, Any]) -> list[str]:
    if str(message.id) not in cuts:
        return [message.text]
    assert message.tokens > 600
    assert not message.tool_calls
    return [message.text[:HEAD], f"read_message({message.id})", message.text[-TAIL:]]


def pairs_every_call_with_its_result(inputs: PlanInputs, planned: Plan) -> None:
    """No result without its call, no call without its result, arguments as the model wrote them."""
    written = {
        call.id: call.arguments
        for message in (*(m for turn in inputs.past for m in turn.messages), *inputs.current.episodes)
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


def decides_on_everything_exactly_once(inputs: PlanInputs, planned: Plan) -> None:
    """The turns of the items follow each other without a gap but for cancelled numbers, from the first turn on."""
    spans = [item.turns for item in planned.items if item.turns]
    covered = [number for first, last in spans for number in range(first, last + 1)]
    assert covered == sorted(set(covered))
    numbers = {turn.number for turn in inputs.past} | set(range(1, inputs.older.last + 1))
    assert numbers <= set(covered)
    assert {"system", "turn"} <= {item.section for item in planned.items}


def counts_all_that_was_said(inputs: PlanInputs, planned: Plan) -> None:
    """But for cuts, the turns of all items cost what the turns cost."""
    if any(entry.get("cuts") for entry in planned.recipe):
        return
    costs = inputs.older.tokens + sum(turn.cost for turn in inputs.past)
    assert sum(item.tokens for item in planned.items if item.turns) == costs


def gives_a_reason_for_everything_and_a_remedy_for_what_is_out(inputs: PlanInputs, planned: Plan) -> None:
    for item in planned.items:
        assert item.sentence
        assert item.included or item.remedy
        assert not set("{}") & set(item.sentence + item.remedy)
        assert Item.from_json(json.loads(canonical_json(item.to_json()))) == item


def splits_its_tokens_into_sections(inputs: PlanInputs, planned: Plan) -> None:
    assert sum(planned.sections.values()) == planned.tokens
    assert min(planned.sections.values()) >= 0
    assert min(item.tokens for item in planned.items) >= 0


def names_what_was_left_out(inputs: PlanInputs, planned: Plan) -> None:
    """One line says which turns are missing, what they would cost and which tool finds them."""
    out = [turn for turn in inputs.past if turn not in kept_turns(inputs, planned)]
    last = out[-1].number if out else inputs.older.last
    tokens = inputs.older.tokens + sum(turn.cost for turn in out)
    line = f"[Turns 1-{last} ({tokens:,} tokens) are not shown. Use search_messages"
    assert any(line in content(message) for message in planned.request["messages"]) == bool(last)


def is_rendered_again_from_what_is_stored(inputs: PlanInputs, planned: Plan) -> None:
    """L0: body and fragments through JSON, the log by id and number; the same bytes."""
    body = json.loads(json.dumps(planned.body()))
    fragments = json.loads(json.dumps(dict(planned.fragments)))
    assert all(sha256(text) == sha for sha, text in fragments.items())
    log = (inputs.current.user, *inputs.current.episodes)
    sources = Sources(
        fragments=fragments,
        messages={message.id: message for message in log},
        turns={turn.number: turn for turn in inputs.past},
    )
    again = render(body["recipe"], body["params"], sources)
    assert canonical_json(again) == canonical_json(planned.request)
    assert request_sha256(again) == planned.request_sha256


def stores_no_text_of_the_log(inputs: PlanInputs, planned: Plan) -> None:
    """Ids and hashes: a body does not grow with what was said."""
    assert len(canonical_json(planned.body())) < 6_000 + 500 * (inputs.ambient_window + len(inputs.current.episodes))


def is_the_same_when_made_again(inputs: PlanInputs, planned: Plan) -> None:
    again = plan(inputs)
    assert again.request_sha256 == planned.request_sha256
    assert again.body() == planned.body()


INVARIANTS = (
    stays_within_its_budget,
    counts_what_is_sent,
    sends_the_current_message_word_for_word,
    keeps_a_contiguous_newest_run_of_turns,
    keeps_turns_whole,
    pairs_every_call_with_its_result,
    is_accepted_by_a_strict_chat_template,
    decides_on_everything_exactly_once,
    counts_all_that_was_said,
    gives_a_reason_for_everything_and_a_remedy_for_what_is_out,
    splits_its_tokens_into_sections,
    names_what_was_left_out,
    is_rendered_again_from_what_is_stored,
    stores_no_text_of_the_log,
    is_the_same_when_made_again,
)


def content(message: Mapping[str, Any]) -> str:
    return str(message["content"])


def last_user_content(planned: Plan) -> str:
    return next(content(m) for m in reversed(planned.request["messages"]) if m["role"] == "user")


def user_part(planned: Plan) -> Mapping[str, Any]:
    parts: Iterable[Mapping[str, Any]] = (part for entry in planned.recipe for part in entry.get("parts", []))
    return next(part for part in parts if "m" in part)


def kept_turns(inputs: PlanInputs, planned: Plan) -> list[PastTurn]:
    spans = [item.turns for item in planned.items if item.turns and item.included]
    return [turn for turn in inputs.past if any(first <= turn.number <= last for first, last in spans)]
