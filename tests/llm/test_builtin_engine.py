"""The built-in engine quotes what its prompt says, with where it says so, and nothing else."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from efforts.domain.prompt.layers import STUB
from efforts.llm.builtin import replies
from efforts.llm.builtin.engine import EngineReply, answer
from efforts.llm.protocol import RawToolCall

Message = dict[str, Any]

SYSTEM = {"role": "system", "content": "You are the assistant. The launch of the rocket is on 3 March."}
SEARCH_TOOL = {"type": "function", "function": {"name": "search_messages", "parameters": {"type": "object"}}}
HIDDEN = STUB.format(last=4, tokens="812")
NOTES = "[Notes for this turn, not from the user]\nThe focus is the billing service.\n[End of notes]\n"


def user(text: str) -> Message:
    return {"role": "user", "content": text}


def reply(text: str) -> Message:
    return {"role": "assistant", "content": text}


def ask(*messages: Message | str, tools: bool = False) -> EngineReply:
    said = [user(message) if isinstance(message, str) else message for message in messages]
    request: dict[str, Any] = {"model": "builtin", "messages": [SYSTEM, *said], "stream": True}
    return answer({**request, "tools": [SEARCH_TOOL]} if tools else request)


def quoted(text: str, where: str) -> str:
    return f"> {text}\n>\n> — {where}"


HISTORY = (
    user("[Conversation from turn 5]\nThe release is on 14 May. We use PostgreSQL because SQLite locks under load."),
    reply("Good choice. PostgreSQL needs a connection pool."),
    user("Anna owns the billing service.\n\nThe rate limit is 200 requests per minute."),
    reply("Understood."),
    user(
        "The file is `src/auth_bug.py` and the fix is in v2.3.1.\n[no reply: this turn failed]\n\nMy cat is called Tom."
    ),
    reply("A fine name.\n[stopped here]"),
)


def test_who_asks_what_they_said_is_quoted_and_not_what_was_answered() -> None:
    talk = (
        user("[Conversation from turn 5]\nBy the way, I am thinking of a long day trip to Nara with my whole family."),
        reply("Nara city walking tours. Enjoy Nara!"),
    )
    mine = ask(*talk, "What did I say about Nara?").text
    assert "day trip to Nara" in mine
    assert "walking tours" not in mine
    yours = ask(*talk, "What did you say about Nara?").text
    assert "walking tours" in yours
    assert "day trip" not in yours


@pytest.mark.parametrize(
    ("question", "quote"),
    [
        ("When is the release?", quoted("The release is on 14 May.", "you [turn 5]")),
        ("when will it be released", quoted("The release is on 14 May.", "you [turn 5]")),
        ("release date", quoted("The release is on 14 May.", "you [turn 5]")),
        ("Why do we use PostgreSQL?", quoted("We use PostgreSQL because SQLite locks under load.", "you [turn 5]")),
        ("What does PostgreSQL need?", quoted("PostgreSQL needs a connection pool.", "reply [turn 5]")),
        ("Who owns billing?", quoted("Anna owns the billing service.", "you [turn 6]")),
        ("What's the rate limit?", quoted("The rate limit is 200 requests per minute.", "you [turn 6]")),
        ("Where is auth_bug.py?", quoted("The file is `src/auth_bug.py` and the fix is in v2.3.1.", "you [turn 7]")),
        (
            "Tell me about the auth bug",
            quoted("The file is `src/auth_bug.py` and the fix is in v2.3.1.", "you [turn 7]"),
        ),
        ("What is my cat called?", quoted("My cat is called Tom.", "you [turn 8]")),
    ],
)
def test_it_quotes_the_passage_that_answers_with_its_turn(question, quote):
    text = ask(*HISTORY, question).text
    assert text.startswith(replies.SAID)
    assert quote in text


def test_the_best_quote_stands_first():
    text = ask(*HISTORY, "Why do we use PostgreSQL?").text
    assert text.split("\n\n")[1] == quoted("We use PostgreSQL because SQLite locks under load.", "you [turn 5]")


def test_of_two_statements_that_answer_equally_the_later_stands_first():
    text = ask(
        "[Conversation from turn 1]\nThe price is 10.", reply("Ok."), "The price is 12.", reply("Ok."), "The price?"
    ).text
    assert text.index("12") < text.index("10")


def test_what_was_just_said_counts():
    text = ask("The release is on 14 May. When is the release?").text
    assert text == f"{replies.SAID}\n\n{quoted('The release is on 14 May.', 'you, just now')}"


def test_neighbouring_sentences_are_one_quote():
    text = ask(
        "[Conversation from turn 2]\nThe pump failed. The pump was replaced.", reply("Ok."), "What about the pump?"
    ).text
    assert quoted("The pump failed. The pump was replaced.", "you [turn 2]") in text


def test_an_earlier_question_is_no_answer():
    text = ask("[Conversation from turn 1]\nWhen is the release?", reply("I do not know."), "When is the release?").text
    assert "I do not know." in text
    assert "> When is the release?" not in text


def test_an_earlier_question_is_quoted_to_someone_who_asks_for_it():
    text = ask("[Conversation from turn 1]\nIs the moon far?", reply("Yes."), "What did I ask about the moon?").text
    assert quoted("Is the moon far?", "you [turn 1]") in text


def test_it_does_not_quote_its_own_quoting():
    first = ask(*HISTORY, "When is the release?").text
    text = ask(*HISTORY, "When is the release?", reply(first), "When is the release?").text
    assert text == first


@pytest.mark.parametrize("length", [2, 12, 40, 60])
def test_it_does_not_quote_its_own_reply_that_was_stopped(length):
    first = ask(*HISTORY, "When is the release?").text
    stopped = reply(f"{first[:length]}\n[stopped here]")
    assert ask(*HISTORY, "When is the release?", stopped, "When is the release?").text == first


def test_it_does_not_quote_what_another_model_quoted():
    history = (
        user("[Conversation from turn 1]\nHello."),
        reply("> The tax is 19 %.\n\nThe tax you named is 19 percent."),
    )
    text = ask(*history, "How high is the tax?").text
    assert text == f"{replies.SAID}\n\n{quoted('The tax you named is 19 percent.', 'reply [turn 1]')}"


def test_it_never_quotes_the_system_text():
    assert ask("When is the launch of the rocket?").text.startswith(replies.NOTHING)


def test_it_never_quotes_lines_of_the_program():
    history = (user(f"[Conversation from turn 5]\n{HIDDEN}\nHello."), reply("Hi.\n[stopped here]"))
    assert ask(*history, "How many tokens are not shown?").text.startswith(replies.NOTHING)


def test_notes_are_quoted_as_notes_and_are_not_the_question():
    text = ask(*HISTORY, f"{NOTES}What is the focus?").text
    assert text == f"{replies.SAID}\n\n{quoted('The focus is the billing service.', 'notes')}"


def test_a_turn_without_reply_joined_to_the_current_message_is_not_the_question():
    joined = (
        "[Conversation from turn 3]\nThe key is blue.\n[no reply: this turn was interrupted]\n\nWhat colour is the key?"
    )
    assert quoted("The key is blue.", "you [turn 3]") in ask(joined).text


def test_results_of_earlier_searches_keep_their_turns():
    calls = [{"id": "c1", "type": "function", "function": {"name": "search_messages", "arguments": "{}"}}]
    found = {"matches": [{"turn": 2, "role": "user", "message": 9, "text": "The wifi password is hunter2."}], "of": 1}
    history = (
        user("[Conversation from turn 8]\nsearch"),
        {"role": "assistant", "content": "", "tool_calls": calls},
        {"role": "tool", "tool_call_id": "c1", "content": json.dumps(found)},
        reply("Done."),
    )
    assert quoted("The wifi password is hunter2.", "you [turn 2]") in ask(*history, "What is the wifi password?").text


@pytest.mark.parametrize(
    ("told", "question", "quote"),
    [
        ("发布日期是五月十四日。数据库用PostgreSQL。", "发布日期是什么?", "发布日期是五月十四日。"),
        ("リリースは5月14日です。猫はタマです。", "リリースはいつですか?", "リリースは5月14日です。"),
        ("배포일은 5월 14일입니다. 고양이는 나비입니다.", "배포일은 언제입니까?", "배포일은 5월 14일입니다."),
        (
            "Die Veröffentlichung ist am 14. Mai.",
            "Wann ist die Veröffentlichung?",
            "Die Veröffentlichung ist am 14. Mai.",
        ),
        ("موعد الإصدار هو 14 مايو. القط اسمه توم.", "ما موعد الإصدار؟", "موعد الإصدار هو 14 مايو."),
    ],
)
def test_other_scripts_and_languages(told, question, quote):
    text = ask(f"[Conversation from turn 1]\n{told}", reply("Ok."), question).text
    assert text.startswith(replies.SAID)
    assert quote in text


def test_code_is_quoted_whole():
    block = "```python\ndef fee(total):\n\n    return total * 0.19\n```"
    text = ask(f"[Conversation from turn 1]\nHere:\n\n{block}", reply("Ok."), "What does the fee function return?").text
    assert "> def fee(total):\n>\n>     return total * 0.19\n> ```" in text


def test_where_code_is_attached_it_says_that_it_cannot_change_it():
    said = "Change the rate of Germany to 7 in shop/tax.py."
    tool = {"type": "function", "function": {"name": "propose_edit", "parameters": {"type": "object"}}}
    told = answer({"model": "builtin", "messages": [SYSTEM, user(said)], "tools": [tool], "stream": True}).text
    assert told == f"{replies.noted()}\n\n{replies.NO_EDITS}"
    assert replies.is_only_its_own(told)
    assert ask(said).text == replies.noted()


@pytest.mark.parametrize("question", ["What is the capital of France?", "Why?", "?", "How tall is the Eiffel tower?"])
def test_it_says_plainly_when_nothing_answers(question):
    text = ask(*HISTORY, question).text
    assert text.startswith(replies.NOTHING)
    assert "not a language model" in text
    assert "connect a model in Settings" in text


@pytest.mark.parametrize("greeting", ["hi", "Hello!", "Good morning", "Hey there", "hello, how are you?", "你好"])
def test_it_greets_and_says_what_it_is(greeting):
    assert ask(greeting).text == replies.hello()


@pytest.mark.parametrize(
    "question", ["What can you do?", "Who are you?", "help", "Are you a language model?", "How do I connect a model?"]
)
def test_it_says_what_it_can_do(question):
    text = ask(question).text
    assert text == replies.about()
    assert "not a language model" in text


def test_a_statement_is_noted():
    assert ask(*HISTORY, "My dog is called Rex.").text == replies.noted()


def test_thanks_are_welcome():
    assert ask(*HISTORY, "Thanks a lot!").text == replies.WELCOME


def test_an_overview_shows_how_the_messages_begin():
    text = ask(*HISTORY, "What did we talk about?").text
    assert text.startswith(replies.OVERVIEW)
    assert text.index("The release is on 14 May.") < text.index("Anna owns") < text.index("My cat is called Tom.")


@pytest.mark.parametrize(
    ("message", "query"),
    [
        ("Search for the launch plan.", "the launch plan"),
        ("Please search our messages for \"launch plan\"!", "launch plan"),
        ("search through our older messages for launch", "launch"),
        ("Can you find where we talked about the launch?", "the launch"),
    ],
)  # fmt: skip
def test_a_cue_searches(message, query):
    calls = ask(*HISTORY, message, tools=True).tool_calls
    assert [(call.name, json.loads(call.arguments)) for call in calls] == [("search_messages", {"query": query})]


def test_a_cue_without_the_tool_is_a_question():
    reply = ask(*HISTORY, "Search for the release.")
    assert not reply.tool_calls
    assert "14 May" in reply.text


def test_it_searches_where_earlier_turns_are_hidden_and_nothing_shown_answers():
    history = (user(f"[Conversation from turn 5]\n{HIDDEN}\nThe release is on 14 May."), reply("Ok."))
    calls = ask(*history, "What is the Wi-Fi password of Anna?", tools=True).tool_calls
    assert [json.loads(call.arguments) for call in calls] == [{"query": "Wi-Fi password Anna"}]


def test_it_searches_for_something_better_than_half_an_answer():
    history = (user(f"[Conversation from turn 5]\n{HIDDEN}\nThe Falcon release needs a poster."), reply("Ok."))
    question = "What is the release date of Falcon rocket parts?"
    calls = ask(*history, question, tools=True).tool_calls
    assert [json.loads(call.arguments) for call in calls] == [{"query": "release date Falcon rocket parts"}]
    assert "poster" in ask(*history, question).text


def test_it_does_not_search_where_everything_is_shown():
    assert not ask(*HISTORY, "What is the wifi password?", tools=True).tool_calls


def test_it_does_not_search_where_the_prompt_answers():
    history = (user(f"[Conversation from turn 5]\n{HIDDEN}\nThe release is on 14 May."), reply("Ok."))
    assert not ask(*history, "When is the release?", tools=True).tool_calls


def after_search(content: str, question: str = "search for the wifi password") -> str:
    asked = ask(question, tools=True).tool_calls
    call = asked[0] if asked else RawToolCall("c", "search_messages", "not json")
    function = {"name": call.name, "arguments": call.arguments}
    calls = {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": call.id, "type": "function", "function": function}],
    }
    result = ask(question, calls, {"role": "tool", "tool_call_id": call.id, "content": content}, tools=True)
    assert not result.tool_calls
    return result.text


def matches(*texts: tuple[int, str, str]) -> str:
    found = [{"turn": turn, "role": role, "message": turn, "text": text} for turn, role, text in texts]
    return json.dumps({"matches": found, "of": len(found)})


def test_after_a_search_it_quotes_what_was_found_with_its_turn():
    text = after_search(
        matches((3, "assistant", "Ok, wifi."), (2, "user", "Tea is at five. The wifi password is hunter2."))
    )
    assert text.startswith(replies.FOUND)
    assert text.index("hunter2") < text.index("you [turn 2]")
    assert "Tea" not in text


def test_after_a_search_it_does_not_quote_its_own_old_replies():
    old = replies.nothing(searched=False) + " The wifi password!"
    assert after_search(matches((3, "assistant", old))).startswith(replies.NOTHING_FOUND)


def test_after_a_search_what_the_prompt_shows_counts_as_well():
    call = {
        "id": "c",
        "type": "function",
        "function": {"name": "search_messages", "arguments": '{"query": "rate limit"}'},
    }
    calls = {"role": "assistant", "content": "", "tool_calls": [call]}
    result = {"role": "tool", "tool_call_id": "c", "content": matches((2, "user", "The limit was lifted."))}
    text = ask(*HISTORY, "What about the rate limit?", calls, result, tools=True).text
    assert quoted("The rate limit is 200 requests per minute.", "you [turn 6]") in text


def test_after_an_empty_search_it_says_so_once():
    assert after_search(matches()).startswith(replies.NOTHING_FOUND)


def test_a_failed_tool_is_told():
    assert after_search('{"error": "The query is empty. Name a few words."}') == replies.failed(
        "The query is empty. Name a few words."
    )


@pytest.mark.parametrize("content", ["", "null", "[1]", '{"matches": [3, {"text": null}]}', "The wifi password is x."])
def test_a_result_of_any_shape_is_survived(content):
    assert after_search(content)


def test_the_same_request_gives_the_same_call():
    assert ask(*HISTORY, "search for x", tools=True) == ask(*HISTORY, "search for x", tools=True)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text(max_size=200), max_size=4), st.text(min_size=1, max_size=200))
def test_any_text_gets_an_answer_and_only_quotes_of_the_prompt(history, question):
    messages = [user(text) if i % 2 == 0 else reply(text) for i, text in enumerate(history)]
    answered = ask(*messages, question)
    assert answered == ask(*messages, question)
    assert answered.text.split("\n")[0] in replies.OPENINGS


def test_a_gap_in_the_numbers_does_not_shift_the_turn_that_is_cited() -> None:
    text = ask(
        "[Conversation from turn 1]\nHello.",
        reply("Hi."),
        "[Conversation from turn 4]\nThe pump failed.",
        reply("Ok."),
        "What failed?",
    ).text
    assert "— you [turn 4]" in text
