"""The fake provider keeps its own promises."""

from __future__ import annotations

import pytest

from tests.fakes.provider import template_fault


def message(role: str, **fields: object) -> dict[str, object]:
    return {"role": role, "content": "x", **fields}


CALLS = message("assistant", tool_calls=[{"id": "1"}])
RESULT = message("tool", tool_call_id="1")
SYSTEM, USER, ASSISTANT = message("system"), message("user"), message("assistant")


@pytest.mark.parametrize(
    "messages",
    [
        [USER],
        [SYSTEM, USER, ASSISTANT, USER],
        [SYSTEM, USER, CALLS, RESULT, ASSISTANT, USER],
        [USER, CALLS, RESULT, CALLS, RESULT],
    ],
)
def test_a_strict_template_accepts_turns_in_order(messages):
    assert not template_fault(messages)


@pytest.mark.parametrize(
    ("messages", "words"),
    [
        ([SYSTEM, SYSTEM, USER], "must be at the beginning"),
        ([USER, ASSISTANT, SYSTEM, USER], "must be at the beginning"),
        ([USER, USER], "must alternate"),
        ([ASSISTANT, USER], "must alternate"),
        ([USER, ASSISTANT, ASSISTANT], "must alternate"),
        ([USER, CALLS, RESULT, USER], "must alternate"),
        ([USER, RESULT], "must follow the call"),
        ([USER, CALLS, ASSISTANT], "needs its result"),
        ([USER, CALLS], "needs its result"),
    ],
)
def test_a_strict_template_refuses_what_is_out_of_order(messages, words):
    assert words in template_fault(messages)
