"""Replies are put together from whatever fragments servers send."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from efforts.llm.assembly import ReplyAssembly
from efforts.llm.protocol import RawToolCall, ReportedUsage, TextDelta, ThinkingDelta


def fragment(arguments: object = "", *, name: str = "", **rest: object) -> dict[str, object]:
    return {**rest, "function": {"name": name, "arguments": arguments}}


@pytest.mark.parametrize(
    ("fragments", "calls"),
    [
        pytest.param(
            [fragment("{", name="a", index=0, id="1"), fragment("}", index=0)],
            [RawToolCall("1", "a", "{}")],
            id="as documented",
        ),
        pytest.param(
            [fragment("{", name="a", index=0, id="1"), fragment("}", name="a", index=0, id="1")],
            [RawToolCall("1", "a", "{}")],
            id="id and name repeated",
        ),
        pytest.param(
            [fragment("{}", name="a", index=0, id="1"), fragment("{}", name="b", index=0, id="2")],
            [RawToolCall("1", "a", "{}"), RawToolCall("2", "b", "{}")],
            id="one index for all",
        ),
        pytest.param(
            [fragment("{}", name="a", index=0, id="1"), fragment("{}", name="b", index=1, id="1")],
            [RawToolCall("1", "a", "{}"), RawToolCall("1", "b", "{}")],
            id="one id for all",
        ),
        pytest.param(
            [fragment("{", name="a"), fragment("}"), fragment("{}", name="b")],
            [RawToolCall("", "a", "{}"), RawToolCall("", "b", "{}")],
            id="neither index nor id",
        ),
        pytest.param(
            [fragment("{}", name="a", index=0, id="1"), fragment("{}", name="b", index=0, id="1")],
            [RawToolCall("1", "a", "{}"), RawToolCall("1", "b", "{}")],
            id="one index and id for all",
        ),
        pytest.param(
            [fragment('{"q": 1}', name="a", index=0, id="1"), fragment('{"q": 2}', name="a", index=0, id="1")],
            [RawToolCall("1", "a", '{"q": 1}'), RawToolCall("1", "a", '{"q": 2}')],
            id="one index, id and name for all",
        ),
        pytest.param(
            [fragment("{}", name="a", id="1"), fragment("{}", name="b", id="2")],
            [RawToolCall("1", "a", "{}"), RawToolCall("2", "b", "{}")],
            id="no index",
        ),
        pytest.param(
            [fragment("{}", name="a", index=[0], id=7), {"function": 3}, {"function": {"name": ["b"], "arguments": 1}}],
            [RawToolCall("", "a", "{}1")],
            id="odd types",
        ),
        pytest.param([fragment({"q": "é"}, name="a", index=0)], [RawToolCall("", "a", '{"q": "é"}')], id="an object"),
        pytest.param([fragment(None, name="a", index=0)], [RawToolCall("", "a", "")], id="no arguments"),
    ],
)
def test_fragments_become_calls(fragments, calls):
    reply = ReplyAssembly()
    for part in fragments:
        reply.add({"choices": [{"delta": {"tool_calls": [part]}}]})
    reply.add({"choices": [{"delta": {}, "finish_reason": "tool_calls"}]})
    finished = reply.finished()
    assert finished is not None
    assert list(finished.tool_calls) == calls


@pytest.mark.parametrize("calls", [3, "abc", {"a": 1}, [3, "abc", None]])
def test_tool_calls_of_an_odd_shape_do_no_harm(calls):
    reply = ReplyAssembly()
    chunk = {"choices": [{"delta": {"content": "Hi", "tool_calls": calls}, "finish_reason": ["stop"]}]}
    assert reply.add(chunk) == [TextDelta("Hi")]
    assert reply.finished() is None


@pytest.mark.parametrize("count", [-1, "many", 2**40, 1.5, [1]])
def test_what_is_no_count_of_tokens_was_not_reported(count):
    reply = ReplyAssembly()
    reply.add({"usage": {"prompt_tokens": count, "completion_tokens": 2}, "choices": [{"finish_reason": "stop"}]})
    finished = reply.finished()
    assert finished is not None
    assert finished.usage == ReportedUsage(None, 2, None)


def said(deltas: Sequence[Mapping[str, object]]) -> tuple[str, str]:
    """The thinking and the text that a stream of these deltas comes to."""
    reply = ReplyAssembly()
    pieces = [piece for delta in deltas for piece in reply.add({"choices": [{"delta": delta}]})]
    pieces += reply.rest()
    thought = "".join(piece.text for piece in pieces if isinstance(piece, ThinkingDelta))
    return thought, "".join(piece.text for piece in pieces if isinstance(piece, TextDelta))


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning"])
def test_thinking_that_has_a_name_of_its_own_is_no_text(name: str) -> None:
    assert said([{name: "Let me "}, {name: "see."}, {"content": "Hello."}]) == ("Let me see.", "Hello.")


def test_a_reply_may_come_as_a_list_of_what_is_thought_and_said() -> None:
    thinking = [
        [{"type": "thinking", "thinking": [{"type": "text", "text": text}], "closed": True}]
        for text in ("Let me ", "see.")
    ]
    said_so = [[{"type": "text", "text": "Hel"}, {"type": "text", "text": "lo"}], "."]
    assert said([{"content": content} for content in (*thinking, *said_so)]) == ("Let me see.", "Hello.")
    odd = [[], [None, 3, {"thinking": 3}, {"thinking": "So"}, {"text": ["x"]}, {"thinking": [None, {"text": 3}]}]]
    assert said([{"content": content} for content in odd]) == ("So", "")


@pytest.mark.parametrize("size", [1, 2, 3, 7, 100])
@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("<think>Let me see.</think>\n\nHello.", ("Let me see.", "Hello.")),
        ("\n<think>\na < b </th </think> Hello.", ("\na < b </th ", "Hello.")),
        ("<think>Cut off in its thou", ("Cut off in its thou", "")),
        ("<think>a</thi", ("a</thi", "")),
        ("<think></think>Hello.", ("", "Hello.")),
        ("Hello. <think> is a tag.", ("", "Hello. <think> is a tag.")),
        ("  <thin air", ("", "  <thin air")),
        ("<think>a</think>b</think><think>c</think>", ("a", "b</think><think>c</think>")),
        ("<thi", ("", "<thi")),
    ],
)
def test_a_think_block_at_the_beginning_is_thinking_however_it_is_cut_into_pieces(
    text: str, parts: tuple[str, str], size: int
) -> None:
    assert said([{"content": text[at : at + size]} for at in range(0, len(text), size)]) == parts


@pytest.mark.parametrize("word", ["length", "max_tokens", "MAX_TOKENS", "max_output_tokens", "model_length"])
def test_every_word_for_the_end_at_a_limit_is_one(word: str) -> None:
    reply = ReplyAssembly()
    reply.add({"choices": [{"delta": {"content": "Hi"}, "finish_reason": word}]})
    finished = reply.finished()
    assert finished is not None
    assert finished.finish_reason == "length"
