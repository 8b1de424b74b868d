"""docs/tool-messages.md shows what a model reads after each call of a tool: made by calling each, and held current."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from typing import Any

from django.db import transaction

from efforts import actions
from efforts.domain.text.canonical import canonical_json
from efforts.models import Message, Session
from efforts.tools import FUNCTIONS, error_result
from efforts.turns.calls import NO_ROOM, NOT_LISTED, TOO_LONG, TOO_MANY
from efforts.turns.recording import TOO_LARGE
from tests.efforts.talk import Talk
from tests.house.process import ROOT

DOCUMENT = ROOT / "docs" / "tool-messages.md"
HEAD = """# What tools answer

What a model reads after each call, as it is sent to it. The situation: `auth-bug` and `tax` are
concluded with a summary, `offsite` is concluded without one, `vacation` is open and active, `garden` is open with
more turns than its share of the prompt has room for. The budget is 4,000 tokens. Each call stands alone. Long results
are cut here, and numbers of messages are written as N.

`tests/efforts/test_tool_messages.py` makes this page (`WRITE_DOCS=1`) and fails where it is not current.

| call | answer |
|---|---|
"""
LONGEST = 420
# What the person says in the turn of each call.
SAID = "You can close the vacation now. We fly on 4 May. Never book a night train. I still have to ask Dana."
CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("open_effort", {"name": "Payment webhook"}),
    ("open_effort", {"name": "Gardens"}),
    ("open_effort", {"name": "Auth bug"}),
    ("open_effort", {"name": ""}),
    ("open_effort", {"name": "../.."}),
    ("open_effort", {"title": "Bug"}),
    ("open_effort", {"name": 7}),
    ("close_effort", {"said": "You can close the vacation now."}),
    ("close_effort", {"said": "The vacation is over."}),
    ("close_effort", {}),
    ("close_effort", {"id": "auth-bug"}),
    ("close_effort", {"id": "auth-bugs-2"}),
    ("reopen_effort", {"id": "auth-bug"}),
    ("reopen_effort", {"id": "garden"}),
    ("switch_effort", {"id": "garden"}),
    ("switch_effort", {"id": "vacation"}),
    ("switch_effort", {"id": "auth-bug"}),
    ("expand_effort", {"id": "auth-bug"}),
    ("expand_effort", {"id": "auth-bug", "what": "all"}),
    ("expand_effort", {"id": "tax"}),
    ("expand_effort", {"id": "garden"}),
    ("expand_effort", {"id": "offsite"}),
    ("collapse_effort", {"id": "tax"}),
    ("collapse_effort", {"id": "auth-bug"}),
    ("effort_status", {}),
    ("search_efforts", {"query": "401"}),
    ("search_efforts", {"query": "submarine"}),
    ("search_efforts", {"query": "?"}),
    ("search_messages", {"query": "token"}),
    ("search_messages", {"query": "login", "effort": "auth-bug", "speaker": "user", "until": "2026-12-31"}),
    ("search_messages", {"like_turn": 1}),
    ("search_messages", {"query": "token", "page": 2}),
    ("search_messages", {"query": "token", "since": "May"}),
    ("search_messages", {"query": "submarine"}),
    ("read_effort", {"id": "auth-bug"}),
    ("read_effort", {"id": "auth-bug", "from_turn": 50}),
    ("read_message", {"id": 0}),
    ("record", {"kind": "decision", "text": "We fly on 4 May."}),
    ("record", {"kind": "open_work", "text": "I still have to ask Dana."}),
    ("record", {"kind": "open_work", "text": "Book a hotel."}),
    ("record", {"kind": "constraint", "text": "Never book a night train."}),
    ("record", {"kind": "constraint", "text": "Always answer in French."}),
    ("record", {"kind": "rule", "text": "Never book a night train."}),
    ("resolve_open_work", {"id": "work-0"}),
    ("suggest_pin", {"ref": "turn 1", "why": "All rests on it."}),
    ("suggest_pin", {"ref": "auth-bug", "why": "All rests on it."}),
    ("suggest_pin", {"ref": "turn 900", "why": "All rests on it."}),
    ("send_email", {"to": "dana"}),
)
# Answered before a tool is asked.
UNRUN = (
    ("more calls in one reply than are run", error_result(TOO_MANY)),
    ("more calls in one reply than are answered", error_result(NOT_LISTED.format(count=3))),
    ("arguments that are too long", error_result(TOO_LONG.format(length=9_000, most=8_000))),
    ("arguments without room in the prompt", error_result(NO_ROOM)),
    ("a result without room in the prompt", error_result(TOO_LARGE.format(tokens=1_900, room=700))),
)


def situation(talk: Talk) -> None:
    Session.objects.update(budget=4_000)
    talk.concluded("Auth bug", "The login answers 401.", "The token is not refreshed.")
    talk.concluded("Tax", "Which form is it?")
    actions.open_effort(talk.place, "Offsite")
    talk.ask("Where could we meet?")
    actions.close_effort(talk.place)
    actions.open_effort(talk.place, "Garden")
    for _ in range(5):
        talk.ask("What grows in the shade? " + "Ferns do, they say. " * 72)
    actions.open_effort(talk.place, "Vacation")
    talk.ask("Where to?")


def rows(talk: Talk) -> Iterator[str]:
    situation(talk)
    for name, arguments in CALLS:
        with transaction.atomic():
            answer = talk.call(talk.begin(SAID), name, **arguments)
            transaction.set_rollback(True)
        yield row(f"{name}({', '.join(f'{key}={json.dumps(value)}' for key, value in arguments.items())})", answer)
    for what, text in UNRUN:
        yield row(what, json.loads(text))


def row(call: str, answer: Any) -> str:
    text = re.sub(r'("message":|"cut":|work-|decision-)(?!0)\d+', r"\1N", canonical_json(answer))
    text = re.sub(r"\d{4}-\d\d-\d\d", "2026-03-05", text)
    text = text if len(text) <= LONGEST else f"{text[:LONGEST]} …"
    return f"| `{call}` | `{text}` |".replace("\n", " ")


def test_the_page_of_what_tools_answer_is_current_and_has_every_tool(talk: Talk) -> None:
    page = HEAD + "\n".join(rows(talk)) + "\n"
    if os.environ.get("WRITE_DOCS"):
        DOCUMENT.write_text(page)
    assert page == DOCUMENT.read_text()
    assert {name for name, _ in CALLS} >= set(FUNCTIONS)
    assert Message.objects.filter(role="tool").count() == 0
