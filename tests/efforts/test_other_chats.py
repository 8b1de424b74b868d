"""What ChatGPT and Claude hand out of a person's conversations is read as it was shown."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from efforts.domain.effort.states import RunState
from efforts.domain.errors import Refused
from efforts.domain.exported import Conversation, Part, storable
from efforts.domain.other_chats import listed, read_other
from tests.fuzz.strategies import changed

NOON = 1_750_000_000.5
NOW = datetime(2026, 5, 4, tzinfo=UTC)


def read(values: Mapping[str, Any]) -> Conversation:
    return read_other(values, NOW)


def node(id: str, parent: str | None, role: str = "", text: str = "", **more: Any) -> tuple[str, dict[str, Any]]:
    """Of a tree as ChatGPT has it; without a role the root."""
    content = more.pop("content", {"content_type": "text", "parts": [text]})
    author = {"role": role, "name": more.pop("name", None), "metadata": {}}
    message = {"id": id, "author": author, "create_time": NOON, "content": content, "recipient": "all", **more}
    return id, {"id": id, "parent": parent, "children": [], "message": message if role else None}


def chatgpt(*nodes: tuple[str, dict[str, Any]], current: str | None = None, **more: Any) -> dict[str, Any]:
    leaf = {"current_node": current or nodes[-1][0]}
    return {"title": "Shelves", "create_time": NOON, "conversation_id": "c-1", "mapping": dict(nodes), **leaf, **more}


def claude(*messages: dict[str, Any], **more: Any) -> dict[str, Any]:
    at = "2025-11-17T05:34:21.730215Z"
    told = [{"uuid": f"m{place}", "created_at": at, **one} for place, one in enumerate(messages)]
    return {"uuid": "c-2", "name": "Oak", "created_at": at, "chat_messages": told, **more}


def turns(told: Conversation) -> list[tuple[str, tuple[Part, ...], RunState]]:
    return [(turn.user, turn.reply, turn.state) for turn in told.branches[0].turns]


def said(*texts: str) -> tuple[Part, ...]:
    return tuple(Part(text=text) for text in texts)


def test_of_a_tree_the_path_that_was_shown_last_is_read() -> None:
    told = read(
        chatgpt(
            node("root", None),
            node("a", "root", "user", "Which wood?"),
            node("old", "a", "assistant", "Pine."),
            node("b", "a", "assistant", "Oak.", metadata={"model_slug": "gpt-4o"}),
            node("c", "b", "user", "How thick?"),
            current="c",
        )
    )
    assert turns(told) == [
        ("Which wood?", said("Oak."), RunState.COMPLETED),
        ("How thick?", (), RunState.STOPPED),
    ]
    first = told.branches[0].turns[0]
    assert (told.title, told.id, first.model, first.at.timestamp()) == ("Shelves", "c-1", "gpt-4o", NOON)


def test_what_was_out_of_sight_is_passed_over_and_a_call_keeps_its_result() -> None:
    hidden = {"is_visually_hidden_from_conversation": True}
    told = read(
        chatgpt(
            node("root", None),
            node("s", "root", "system", "You are ChatGPT."),
            node("u", "s", "user", content={"content_type": "user_editable_context", "user_profile": "Ann"}),
            node("h", "u", "user", "Out of sight", metadata=hidden),
            node("a", "h", "user", "Add 2 and 3."),
            node("t", "a", "assistant", content={"content_type": "thoughts", "thoughts": []}),
            node("p", "t", "assistant", content={"content_type": "code", "text": "2+3"}, recipient="python"),
            node("r", "p", "tool", content={"content_type": "execution_output", "text": "5"}, name="python"),
            node("b", "r", "assistant", "It is 5\ue200cite\ue202turn0search1\ue201."),
        )
    )
    call = Part(tool="python", arguments='{"input": "2+3"}', result="5")
    assert turns(told) == [("Add 2 and 3.", (call, *said("It is 5.")), RunState.COMPLETED)]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ('\ue200entity\ue202["tree","Oak","a tree"]\ue201 it is.', "Oak it is."),
        (
            "See \ue200url\ue202the list\ue202https://oak.example/?a=1\ue201.",
            "See [the list](https://oak.example/?a=1).",
        ),
        ("See \ue200url\ue202the list\ue202turn0search1\ue201.", "See the list."),
        ("\ue203It grows.\ue204\ue200cite\ue202turn0search2\ue202turn0news1\ue201", "It grows."),
        ("It grows【11†source】 and falls【4:0†woods.pdf】.", "It grows and falls."),
        ("【not a mark】", "【not a mark】"),
    ],
)
def test_of_marks_in_a_reply_what_they_said_stays(text: str, shown: str) -> None:
    told = read(chatgpt(node("a", None, "user", "Oak?"), node("b", "a", "assistant", text)))
    assert turns(told) == [("Oak?", said(shown), RunState.COMPLETED)]


def test_what_a_browser_read_keeps_its_links() -> None:
    page = {"content_type": "tether_browsing_display", "result": "【0†Old oaks†oak.example】"}
    call = {"content_type": "code", "text": 'search("oak")'}
    told = read(
        chatgpt(
            node("a", None, "user", "Oak?"),
            node("b", "a", "assistant", content=call, recipient="browser"),
            node("c", "b", "tool", content=page, name="browser"),
        )
    )
    assert told.branches[0].turns[0].reply[0].result == page["result"]


def test_a_report_that_a_tool_showed_is_the_reply() -> None:
    report = node("r", None, "assistant", "# Oaks\n\nThey grow【27†L60-L69】.", metadata={"model_slug": "research"})[1]
    state = {"status": "completed", "report_message": report["message"]}
    output = {"content_type": "citable_code_output", "output_str": "started"}
    told = read(
        chatgpt(
            node("a", None, "user", "Research oaks."),
            node("b", "a", "assistant", '{"path": "start"}', recipient="api_tool.call_tool"),
            node("c", "b", "tool", content=output, metadata={"chatgpt_sdk": {"widget_state": json.dumps(state)}}),
        )
    )
    call = Part(tool="api_tool_call_tool", arguments='{"path": "start"}', result="started")
    assert turns(told) == [("Research oaks.", (call, *said("# Oaks\n\nThey grow.")), RunState.COMPLETED)]
    assert told.branches[0].turns[0].model == "research"


@pytest.mark.parametrize("state", ["", "[" * 100_000, "[1]", '{"report_message": 1}', 5, None])
def test_where_a_tool_showed_no_report_there_is_none(state: Any) -> None:
    tool = node("b", "a", "tool", "Found.", name="web", metadata={"chatgpt_sdk": {"widget_state": state}})
    told = read(chatgpt(node("a", None, "user", "Oaks?"), tool))
    assert [part.result for part in told.branches[0].turns[0].reply] == ["Found."]


def test_a_message_of_pictures_alone_is_called_by_their_names() -> None:
    picture = {"content_type": "multimodal_text", "parts": [{"content_type": "image_asset_pointer"}]}
    files = {"attachments": [{"name": "shelf.png"}, {"name": "wall.png"}]}
    told = read(chatgpt(node("a", None, "user", content=picture, metadata=files)))
    assert [turn[0] for turn in turns(told)] == ["shelf.png, wall.png"]


def test_of_blocks_come_prose_calls_and_the_text_of_files() -> None:
    told = read(
        claude(
            {
                "sender": "human",
                "text": "Read.",
                "attachments": [{"file_name": "a.txt", "extracted_content": "Oak"}],
            },
            {
                "sender": "assistant",
                "text": "This block is not supported.",
                "content": [
                    {"type": "thinking", "thinking": "Hm."},
                    {"type": "text", "text": "I look."},
                    {"type": "tool_use", "name": "web_search", "input": {"query": "oak"}},
                    {"type": "tool_result", "name": "web_search", "content": [{"type": "text", "text": "A tree."}]},
                    {"type": "text", "text": "It is a tree."},
                ],
            },
        )
    )
    call = Part(tool="web_search", arguments='{"query": "oak"}', result="A tree.")
    reply = (*said("I look."), call, *said("It is a tree."))
    assert turns(told) == [("Read.\n\na.txt:\nOak", reply, RunState.COMPLETED)]
    assert told.created_at.isoformat() == "2025-11-17T05:34:21.730215+00:00"


def called(id: str | None, query: str) -> dict[str, Any]:
    return {"type": "tool_use", "id": id, "name": "web", "input": {"query": query}}


def found(id: str | None, *items: str | dict[str, Any]) -> dict[str, Any]:
    told = [one if isinstance(one, dict) else {"type": "text", "text": one} for one in items]
    return {"type": "tool_result", "tool_use_id": id, "name": "web", "content": told}


@pytest.mark.parametrize(
    ("blocks", "results"),
    [
        ([called("a", "oak"), called("b", "ash"), found("b", "Ash."), found("a", "Oak.")], ["Oak.", "Ash."]),
        ([called("a", "oak"), called("b", "ash"), found("b", "Ash.")], ["", "Ash."]),
        ([called(None, "oak"), found(None, "Oak."), called(None, "ash"), found(None, "Ash.")], ["Oak.", "Ash."]),
        # Broken off, and asked anew.
        ([called(None, "oak"), {"type": "text", "text": ""}, called(None, "ash"), found(None, "Ash.")], ["", "Ash."]),
        ([found("gone", "Oak.")], ["Oak."]),
    ],
)
def test_a_call_has_its_own_result(blocks: list[dict[str, Any]], results: list[str]) -> None:
    told = read(claude({"sender": "human", "text": "Oak or ash?"}, {"sender": "assistant", "content": blocks}))
    assert [part.result for part in told.branches[0].turns[0].reply] == results


def test_of_what_was_found_and_made_the_names_come_along() -> None:
    page = {"type": "knowledge", "title": "Oaks", "url": "https://oak.example/", "text": "A tree."}
    made = {"type": "local_resource", "file_path": "/mnt/oak.pptx", "name": "Oak slides", "uuid": "f"}
    blocks = [called("a", "oak"), found("a", page, made)]
    told = read(claude({"sender": "human", "text": "Oak?"}, {"sender": "assistant", "content": blocks}))
    (part,) = told.branches[0].turns[0].reply
    assert part.result == "Oaks\nhttps://oak.example/\nA tree.\n\nOak slides"


def test_text_that_was_pasted_has_no_name() -> None:
    pasted = {"file_name": "", "extracted_content": "Oak, ash"}
    told = read(claude({"sender": "human", "text": "Read.", "attachments": [pasted]}))
    assert [turn[0] for turn in turns(told)] == ["Read.\n\nOak, ash"]


OF_2024 = (
    "Here it is.\n<antThinking>A script is an artifact.</antThinking>\n"
    '<antArtifact identifier="a" type="application/vnd.ant.code" language="python" title="Sum">\n'
    "print(2 + 3)\n</antArtifact>\nRun it."
)


def test_documents_within_a_text_are_shown_and_thinking_is_not() -> None:
    told = read(claude({"sender": "human", "text": "Say <antThinking>."}, {"sender": "assistant", "text": OF_2024}))
    shown = "Here it is.\n\n\n\n**Sum**\n\n````python\nprint(2 + 3)\n````\n\nRun it."
    assert turns(told) == [("Say <antThinking>.", said(shown), RunState.COMPLETED)]


@pytest.mark.parametrize("text", ["The tag <antThinking> and more", "<antThinking>" * 60_000, "<antArtifact " * 60_000])
def test_tags_that_never_end_stay_as_they_are(text: str) -> None:
    told = read(claude({"sender": "human", "text": "Tags?"}, {"sender": "assistant", "text": text}))
    assert turns(told)[0][1] == said(text)


def test_of_answers_to_one_message_the_last_is_read() -> None:
    told = read(
        claude(
            {"sender": "human", "text": "Which wood?", "parent_message_uuid": "none"},
            {"sender": "assistant", "text": "Pine.", "parent_message_uuid": "m0"},
            {"sender": "assistant", "text": "Oak.", "parent_message_uuid": "m0"},
        )
    )
    assert turns(told) == [("Which wood?", said("Oak."), RunState.COMPLETED)]


def test_messages_of_before_and_without_an_id_answer_the_one_before() -> None:
    told = read(
        claude(
            {"sender": "human", "text": "Which wood?", "uuid": None},
            {"sender": "assistant", "text": "Oak.", "uuid": None},
            {"sender": "human", "text": "How thick?"},
            {"sender": "assistant", "text": "18 mm.", "parent_message_uuid": "m2"},
        )
    )
    assert [turn[:2] for turn in turns(told)] == [("Which wood?", said("Oak.")), ("How thick?", said("18 mm."))]


def test_a_list_comes_oldest_first_and_another_file_is_none() -> None:
    late, early = chatgpt(node("a", None, "user", "Late")), claude({"sender": "human", "text": "Early"})
    late["create_time"] = NOON * 1.1
    assert listed(json.dumps([late, early]), NOW) == [early, late]
    assert listed('{"v": 1, "line": "conversation"}', NOW) is None


@pytest.mark.parametrize(("text", "code"), [("[]", "no_export"), ('[{"a": 1}]', "no_export"), ('[{"mapp', "no_json")])
def test_a_list_of_something_else_is_refused(text: str, code: str) -> None:
    with pytest.raises(Refused) as refused:
        listed(text, NOW)
    assert refused.value.code == code


@pytest.mark.parametrize("many", [["{}"] * 500_001, ["1"] * 1_500_002], ids=["objects", "numbers"])
def test_what_is_small_in_a_file_and_large_in_memory_is_refused(many: list[str]) -> None:
    with pytest.raises(Refused) as refused:
        listed(f"[{','.join(many)}]", NOW)
    assert refused.value.code == "too_many_parts"


# Read by trying each end of each mark, one of these would take minutes.
@pytest.mark.parametrize("text", ["\ue200" + "a" * 200_000, "\ue200a" * 100_000, "\ue200a\ue202" * 60_000])
def test_marks_that_never_end_stay_as_they_are(text: str) -> None:
    assert turns(read(chatgpt(node("a", None, "user", text)))) == [(text, (), RunState.STOPPED)]


def test_what_has_no_time_at_all_is_of_now() -> None:
    told = read(chatgpt(node("a", None, "user", "When?", create_time=None), create_time=None))
    assert (told.created_at, told.branches[0].turns[0].at) == (NOW, NOW)


def test_a_conversation_in_which_nobody_spoke_is_refused() -> None:
    with pytest.raises(Refused, match="no messages"):
        read(chatgpt(node("root", None), node("b", "root", "assistant", "Hello!")))


A_TREE = chatgpt(
    node("a", None, "user", "Add 2 and 3.", metadata={"attachments": [{"name": "a.png"}]}),
    node("p", "a", "assistant", content={"content_type": "code", "text": "2+3"}, recipient="python"),
    node("r", "p", "tool", content={"content_type": "execution_output", "text": "5"}, name="python"),
    node("b", "r", "assistant", "\ue200entity\ue202[1]\ue201 Five.", metadata={"model_slug": "m"}),
)
SEARCHED = [
    {"type": "tool_use", "name": "web", "input": {"query": "oak"}},
    {"type": "tool_result", "content": [{"type": "text", "text": "A tree."}]},
    {"type": "text", "text": "It is a tree."},
]
A_LIST = claude(
    {"sender": "human", "text": "Oak?", "attachments": [{"file_name": "a", "extracted_content": "b"}]},
    {"sender": "assistant", "content": SEARCHED, "parent_message_uuid": "m0"},
)


@given(st.one_of(changed(A_TREE), changed(A_LIST)).filter(lambda one: isinstance(one, dict)))
def test_whatever_is_in_it_texts_that_can_be_stored_come_out_or_a_refusal(values: dict[str, Any]) -> None:
    try:
        told = read({"mapping": {}, **values})
    except Refused as refused:
        told = None
        code = refused.code
    if told is None:
        assert code == "empty"
        return
    assert storable(told.title + told.id)
    for turn in told.branches[0].turns:
        assert turn.user.strip()
        assert storable(turn.user + turn.model)
        for part in turn.reply:
            assert storable(part.text + part.result)
            assert isinstance(json.loads(part.arguments or "{}"), dict)
