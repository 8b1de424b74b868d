"""Replies are put together from whatever fragments servers send."""

from __future__ import annotations

import pytest

from efforts.llm.assembly import ReplyAssembly
from efforts.llm.protocol import RawToolCall


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
