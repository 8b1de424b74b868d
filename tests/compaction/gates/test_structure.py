"""Gate A: the bytes that were offered, whole and strictly in their form."""

from __future__ import annotations

import json

import pytest

from compaction.domain.gates import structure
from compaction.domain.verdicts import GateVerdict, Offered, Outcome
from tests.compaction.gates import cases


def offered(text: str, stop_reason: str = "stop") -> GateVerdict:
    return structure.judge(cases.judged(offered=Offered(text=text, form="draft", stop_reason=stop_reason)))


def draft(**changes: object) -> str:
    return json.dumps({"claims": [{**cases.CLAIMS[0], **changes}, *cases.CLAIMS[1:]]})


def test_the_draft_as_it_was_made_passes() -> None:
    assert offered(draft()).outcome == Outcome.PASS


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Here are the notes.",
        "```json\n" + draft() + "\n```",
        draft()[:-1],
        json.dumps({"claims": []}),
        json.dumps({"claims": list(cases.CLAIMS), "remark": "done"}),
        draft(section="decision", status="open"),
        draft(section="opinion"),
        draft(text=""),
        draft(text=7),
        draft(cites="4.1"),
        draft(id="2"),
        draft(id="../1"),
        draft(text="A NUL \x00 in it."),
        '{"claims": [], "claims": []}',
    ],
)
def test_what_is_not_just_the_form_fails_and_is_not_repaired(text: str) -> None:
    assert offered(text).outcome == Outcome.FAIL


@pytest.mark.parametrize("stop_reason", ["", "length", "content_filter", "timeout", "tool_calls"])
def test_what_did_not_end_by_itself_fails_however_whole_it_looks(stop_reason: str) -> None:
    assert offered(draft(), stop_reason).outcome == Outcome.FAIL


def test_a_summary_that_says_something_else_than_its_draft_fails() -> None:
    assert offered(draft(text="The import failed on staging.")).outcome == Outcome.FAIL


def test_code_may_add_cites_and_take_none_away() -> None:
    more = cases.claims({"id": "1", "cites": ["4.1", "1.1"]})
    text = cases.judged().offered.text
    assert structure.judge(cases.judged(more, offered=Offered(text=text, form="draft"))).outcome == Outcome.PASS
    less = cases.claims({"id": "1", "cites": []})
    assert structure.judge(cases.judged(less, offered=Offered(text=text, form="draft"))).outcome == Outcome.FAIL
