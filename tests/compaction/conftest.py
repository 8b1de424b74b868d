"""The stage of turns with a model that drafts, and drafts that it may answer with."""

from __future__ import annotations

import json
import re
from typing import Any

from compaction.prompts import draft_text
from tests.turns.conftest import Stage, layer, provider, runner, session, stage

__all__ = ["Stage", "a_good_draft", "is_draft", "layer", "provider", "runner", "session", "stage"]

DECIDED = "We decided on a retry limit of 3. Done, the webhook works now."
HEADER = re.compile(r"\[message (\d+), turn \d+, (\w+)\]\n")


def is_draft(request: dict[str, Any]) -> bool:
    return bool(request["messages"][0]["content"] == draft_text())


def a_good_draft(request: dict[str, Any], **changes: Any) -> str:
    """Of the talk about the payment webhook (tests/efforts/logs.py), with the ids that the request gives."""
    ids = [int(number) for number, _ in HEADER.findall(request["messages"][1]["content"])]
    items = [
        item("1", "decision", "accepted", "user", "The retry limit is 3.", ids[4], DECIDED),
        item(
            "2",
            "open_work",
            "open",
            "assistant",
            "An alert when the dead-letter list grows is still open.",
            ids[3],
            "Still open: an alert when the dead-letter list grows.",
        ),
        item(
            "3",
            "changed",
            "done",
            "assistant",
            "The webhook answers at once; a job posts to the ledger.",
            ids[5],
            "The webhook answers at once, and a job posts to the ledger.",
        ),
    ]
    headline = "The webhook answers at once and a job posts to the ledger; the retry limit is 3."
    return json.dumps({"headline": headline, "headline_items": ["1", "3"], "items": items, **changes})


def item(id: str, section: str, status: str, actor: str, text: str, message: int, quote: str) -> dict[str, Any]:
    return {
        "id": id,
        "section": section,
        "status": status,
        "actor": actor,
        "text": text,
        "quotes": [{"message": message, "quote": quote}],
    }
