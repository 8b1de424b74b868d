"""The built-in engine acts on what people say of their efforts, and tells what it did."""

from __future__ import annotations

import json
from typing import Any

import pytest

from efforts.domain.prompt.layers import EFFORT_STUB
from efforts.llm.builtin import replies
from efforts.llm.builtin.engine import EngineReply, answer
from efforts.llm.builtin.prompt import read

TOOLS = (
    *("open_effort", "close_effort", "reopen_effort", "switch_effort", "expand_effort", "collapse_effort"),
    *("effort_status", "search_efforts", "search_messages", "read_effort", "read_message"),
)
HEADLINES = """[Notes, not instructions: concluded efforts in short]
- boiler-repair (turns 1-3): The valve was replaced for 240 pounds.
- tax-return (turns 4-6): Sent to the office on 12 May.
[End of notes]"""
WEBHOOK = (
    ("user", "[Effort payment-webhook, active, from turn 7]\nThe payment webhook times out after 30 seconds."),
    ("assistant", "What does the handler wait for?"),
    ("user", "It waits for the ledger."),
    ("assistant", "Then answer first and post to the ledger in a job."),
)
VACATION = (
    ("user", "[Effort vacation, open, from turn 9]\nWe want two weeks in Norway in July."),
    ("assistant", "By train or by car?"),
)
BOILER = (
    ("user", "[Effort boiler-repair, concluded, expanded, from turn 1]\nThere is no hot water."),
    ("assistant", "Ask the plumber Kowalczyk; his number is 0161 496 0022."),
)


def state(**lines: str) -> str:
    names = {"active": "Active effort", "others": "Other open efforts", "expanded": "Expanded efforts"}
    told = [f"{names[key]}: {value}" for key, value in lines.items()]
    return "\n".join(
        ["[Notes for this turn, not from the user]", "Today is 2026-03-05. This is turn 14.", *told, "[End of notes]"]
    )


NOTHING_OPEN = state(active="none")
ONE_OPEN = state(active="payment-webhook")
TWO_OPEN = state(active="payment-webhook", others="vacation")


def request(
    message: str, *logs: tuple[str, str], note: str = "", headlines: bool = False, after: tuple[Any, ...] = ()
) -> dict[str, Any]:
    said = [{"role": role, "content": content} for role, content in logs]
    top = [{"role": "user", "content": HEADLINES}] if headlines else []
    now = {"role": "user", "content": f"{note}\n\n{message}" if note else message}
    tools = [{"type": "function", "function": {"name": name, "parameters": {"type": "object"}}} for name in TOOLS]
    system = {"role": "system", "content": "You are the assistant."}
    return {"model": "builtin", "messages": [system, *top, *said, now, *after], "tools": tools}


def acts(reply: EngineReply) -> list[tuple[str, dict[str, Any]]]:
    return [(call.name, json.loads(call.arguments)) for call in reply.tool_calls]


def called(*calls: tuple[str, dict[str, Any], dict[str, Any]]) -> tuple[dict[str, Any], ...]:
    """One reply that called tools, and what they answered."""
    made = [
        {"id": f"{name}-{i}", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
        for i, (name, arguments, _) in enumerate(calls)
    ]
    results = [
        {"role": "tool", "tool_call_id": f"{name}-{i}", "content": json.dumps(result)}
        for i, (name, _, result) in enumerate(calls)
    ]
    return ({"role": "assistant", "content": None, "tool_calls": made}, *results)


@pytest.mark.parametrize(
    ("message", "name"),
    [
        ("Let's debug the shop search, it is slow", "shop search"),
        ("Let's debug the shop search. It takes four seconds and nobody knows why.", "shop search"),
        ("Could you help me plan my move?", "move"),
        ("i need to write a cover letter", "cover letter"),
        ("we have to migrate the wiki, it is slow", "wiki"),
    ],
)
def test_a_piece_of_work_is_opened_and_named_after_its_topic(message, name):
    assert acts(answer(request(message))) == [("open_effort", {"name": name})]


@pytest.mark.parametrize(
    "message",
    ["Hey, how's it going?", "thanks a lot!", "What is the capital of Peru?", "lol", "My train is late again"],
)
@pytest.mark.parametrize("note", ["", NOTHING_OPEN, ONE_OPEN])
def test_small_talk_and_quick_questions_change_no_effort(message, note):
    assert not acts(answer(request(message, *(WEBHOOK if note == ONE_OPEN else ()), note=note)))


@pytest.mark.parametrize(
    "message", ["The log says 504.", "let's try a longer timeout", "what does the handler wait for?", "yes"]
)
def test_an_ordinary_message_stays_in_the_active_effort(message):
    assert not acts(answer(request(message, *WEBHOOK, note=ONE_OPEN)))


def test_another_piece_of_work_opens_another_effort():
    message = "New topic: help me write a speech for my sister's wedding"
    assert acts(answer(request(message, *WEBHOOK, note=ONE_OPEN))) == [
        ("open_effort", {"name": "speech for sister's wedding"})
    ]


@pytest.mark.parametrize("message", ["Done, it works now", "solved!", "we can close this", "close payment-webhook"])
def test_words_that_end_it_conclude_the_active_effort_and_are_copied(message):
    concluding = ("close_effort", {"id": "payment-webhook", "said": message})
    assert acts(answer(request(message, *WEBHOOK, note=TWO_OPEN))) == [concluding]


def test_of_several_sentences_the_one_that_ends_it_is_copied_letter_by_letter():
    ((_, arguments),) = acts(answer(request("Puh. It’s SOLVED now!  Thanks.", *WEBHOOK, note=ONE_OPEN)))
    assert arguments["said"] == "It’s SOLVED now!"


def test_the_effort_that_is_named_is_concluded_and_not_the_active_one():
    reply = answer(request("The vacation is booked. And the ledger, who owns it?", *VACATION, *WEBHOOK, note=TWO_OPEN))
    assert acts(reply) == [("close_effort", {"id": "vacation", "said": "The vacation is booked."})]


@pytest.mark.parametrize(
    "message", ["hold on", "pause this please", "brb", "almost done", "is it done?", "not fixed yet"]
)
def test_what_only_sounds_like_the_end_concludes_nothing(message):
    assert not acts(answer(request(message, *WEBHOOK, note=ONE_OPEN)))


def test_one_message_may_end_one_piece_of_work_and_begin_another():
    message = "that's done, now let's plan the offsite"
    reply = answer(request(message, *WEBHOOK, note=ONE_OPEN))
    concluding = ("close_effort", {"id": "payment-webhook", "said": message})
    assert acts(reply) == [concluding, ("open_effort", {"name": "offsite"})]
    assert len({call.id for call in reply.tool_calls}) == 2


@pytest.mark.parametrize("message", ["back to the vacation", "vacation now", "let's switch to the vacation"])
def test_another_open_effort_is_switched_to(message):
    reply = answer(request(message, *VACATION, *WEBHOOK, note=TWO_OPEN))
    assert acts(reply) == [("switch_effort", {"id": "vacation"})]


@pytest.mark.parametrize(
    "message",
    ["What exactly did we do for the boiler repair?", "show me the details of the boiler"],
)
def test_a_concluded_effort_is_expanded_for_its_details(message):
    reply = answer(request(message, *WEBHOOK, note=ONE_OPEN, headlines=True))
    assert acts(reply) == [("expand_effort", {"id": "boiler-repair"})]


@pytest.mark.parametrize("message", ["collapse it", "enough about the boiler repair", "you can put the boiler away"])
def test_an_expanded_effort_is_put_away(message):
    note = state(active="payment-webhook", expanded="boiler-repair")
    assert acts(answer(request(message, *BOILER, *WEBHOOK, note=note))) == [
        ("collapse_effort", {"id": "boiler-repair"})
    ]


@pytest.mark.parametrize("message", ["Got it, thanks", "Thanks, got it!", "ok, understood. Thank you"])
def test_who_has_read_the_details_needs_them_no_longer(message):
    expanded = state(active="none", expanded="boiler-repair")
    assert acts(answer(request(message, *BOILER, note=expanded))) == [("collapse_effort", {"id": "boiler-repair"})]
    assert answer(request(message, *BOILER, note=NOTHING_OPEN)).text == replies.WELCOME


def test_plain_thanks_put_nothing_away():
    expanded = state(active="none", expanded="boiler-repair")
    assert answer(request("Thanks a lot!", *BOILER, note=expanded)).text == replies.WELCOME
    assert answer(request("ok", *BOILER, note=NOTHING_OPEN)).text != replies.WELCOME


@pytest.mark.parametrize("message", ["Please reopen the tax return", "The boiler is broken again"])
def test_a_concluded_effort_is_opened_again(message):
    [(tool, _)] = acts(answer(request(message, note=NOTHING_OPEN, headlines=True)))
    assert tool == "reopen_effort"


@pytest.mark.parametrize("message", ["Which efforts are open?", "where are we?", "Where was I?", "list my efforts"])
def test_asked_where_things_stand_it_asks_for_the_status(message):
    assert acts(answer(request(message, *WEBHOOK, note=ONE_OPEN))) == [("effort_status", {})]


def test_what_is_named_is_meant_although_the_log_of_another_has_more_of_its_words():
    note = state(active="payment-webhook", others="vacation", expanded="boiler-repair")
    spoken_of = (("user", "[Effort vacation, open, from turn 9]\nWho was the plumber, and has he a number?"),)
    reply = answer(request("What was the number of the plumber of the boiler repair?", *BOILER, *spoken_of, note=note))
    assert acts(reply) == []
    assert "0161 496 0022" in reply.text


def test_something_past_that_no_summary_answers_is_searched_for():
    message = "what was the number of the plumber again?"
    reply = answer(request(message, note=NOTHING_OPEN, headlines=True))
    assert acts(reply) == [("search_messages", {"query": "number plumber"})]


def test_nothing_is_begun_beside_the_active_effort_that_it_speaks_of_already():
    beside = answer(request("We need to fix the upload test.", *WEBHOOK, note=ONE_OPEN))
    assert acts(beside) == [("open_effort", {"name": "upload test"})]
    assert not acts(answer(request("We need to fix the ledger.", *WEBHOOK, note=ONE_OPEN)))


@pytest.mark.parametrize("message", ["The report comes on Friday. That's done.", "I'd say it's done, but who knows?"])
def test_what_may_end_an_effort_among_other_words_concludes_nothing(message):
    assert not acts(answer(request(message, *WEBHOOK, note=ONE_OPEN)))


@pytest.mark.parametrize(
    ("tool", "result", "line"),
    [
        ("open_effort", {"opened": "q3-offsite", "name": "Q3 offsite"}, "Started the effort Q3 offsite."),
        ("open_effort", {"opened": "q3-2-offsite", "name": "Q3.2 offsite"}, "Started the effort Q3.2 offsite."),
        ("close_effort", {"concluded": "q3-offsite", "active": None}, "Concluded the effort."),
        ("reopen_effort", {"reopened": "q3-offsite", "active": "q3-offsite"}, "Opened the effort again."),
        ("switch_effort", {"active": "q3-offsite"}, "Switched to the effort."),
        ("collapse_effort", {"collapsed": "q3-offsite"}, replies.COLLAPSED),
    ],
)
def test_it_tells_what_it_did_and_never_quotes_that_later(tool, result, line):
    text = answer(request("Let's plan the offsite", after=called((tool, {}, result)))).text
    assert text.split("\n")[0] == line
    later = answer(request("What about the effort offsite?", ("user", "Hi."), ("assistant", text)))
    assert later.text.startswith(replies.NOTHING)


@pytest.mark.parametrize(
    "line",
    [
        "Started the effort offsite.",
        "Concluded the effort offsite.",
        "Opened the effort offsite again.",
        "Switched to the effort offsite.",
        "Put the log of offsite away. Its summary stays.",
        "Put its log away. Its summary stays.",
    ],
)
def test_what_it_told_in_earlier_versions_is_never_quoted_either(line):
    later = answer(request("What about the effort offsite?", ("user", "Hi."), ("assistant", line)))
    assert later.text.startswith(replies.NOTHING)


def test_words_of_a_model_that_begin_as_its_own_do_are_quoted():
    words = "Started the effort Q3 offsite. The offsite is in Ghent."
    asked = request("Where is the offsite?", ("user", "Hi."), ("assistant", words))
    assert "The offsite is in Ghent." in answer(asked).text


def test_a_log_that_shares_no_word_with_the_question_is_quoted_from_its_end():
    after = called(("expand_effort", {"id": "boiler-repair"}, {"expanded": "boiler-repair", "tokens": 40}))
    note = state(active="none", expanded="boiler-repair")
    text = answer(request("What exactly did we change for the boiler repair?", *BOILER, note=note, after=after)).text
    assert "> There is no hot water." in text


def test_what_tools_said_of_efforts_is_never_quoted():
    done = called(("open_effort", {"name": "offsite"}, {"opened": "offsite", "name": "offsite"}))
    asked = request("What is the offsite?")
    asked["messages"][1:1] = [{"role": "user", "content": "Let's plan it"}, *done]
    assert answer(asked).text.startswith(replies.NOTHING)


def test_an_error_is_told_plainly():
    after = called(("close_effort", {"id": "x"}, {"error": "There is no open effort."}))
    assert answer(request("it works now", after=after)).text == replies.failed("There is no open effort.")


def test_the_status_is_told_as_a_list():
    entry = {"id": "vacation", "status": "open", "active": True, "expanded": False}
    after = called(("effort_status", {}, {"active": "vacation", "efforts": [entry]}))
    assert answer(request("which efforts are open?", after=after)).text.endswith("- vacation: open, active")


def test_the_same_request_gives_the_same_reply():
    asked = request("that's done, now let's plan the offsite", *WEBHOOK, note=ONE_OPEN, headlines=True)
    assert answer(asked) == answer(json.loads(json.dumps(asked)))


def test_without_the_tools_nothing_is_called():
    asked = request("it works now", *WEBHOOK, note=ONE_OPEN)
    assert not answer({**asked, "tools": []}).tool_calls


def test_the_state_is_read_from_the_prompt():
    note = state(active="payment-webhook", others="vacation, back-pain", expanded="boiler-repair").replace(
        "[End", "Concluded without summary yet: car\nNot listed: 12 concluded efforts. search_efforts finds them.\n[End"
    )
    prompt = read(request("And?", *BOILER, *WEBHOOK, note=note, headlines=True))
    assert prompt.question == "And?"
    assert prompt.state.open == ("payment-webhook", "vacation", "back-pain")
    assert (prompt.state.expanded, prompt.state.awaiting) == (("boiler-repair",), ("car",))
    assert prompt.state.unlisted
    assert prompt.state.in_short == ("tax-return",)
    assert {text.where for text in prompt.said if "Sent to the office" in text.text} == {"summary of tax-return"}
    assert [text.where for text in prompt.logs["payment-webhook"]] == [
        "you [payment-webhook, turn 7]", "reply [payment-webhook, turn 7]",
        "you [payment-webhook, turn 8]", "reply [payment-webhook, turn 8]",
    ]  # fmt: skip


def test_a_stub_of_an_effort_says_that_something_is_hidden():
    stub = EFFORT_STUB.format(slug="payment-webhook", last=12, turns="9 turns", tokens="3,400")
    label = "[Effort payment-webhook, active, from turn 13]"
    prompt = read(request("And?", ("user", f"{label}\n{stub}\nIt fails."), ("assistant", "Ok."), note=ONE_OPEN))
    assert prompt.hidden
    assert [text.text for text in prompt.said] == ["It fails.", "Ok."]


def test_a_quote_of_excerpts_is_not_signed_as_one_of_a_summary():
    asked = json.dumps(request("And?", *WEBHOOK, note=ONE_OPEN, headlines=True))
    told = asked.replace("Sent to the office", "Excerpts, not a summary. Sent to the office")
    said = read(json.loads(told)).said
    assert {text.where for text in said if "Sent to the office" in text.text} == {"excerpts of tax-return"}
