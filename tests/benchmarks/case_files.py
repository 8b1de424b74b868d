"""A small case as it stands in a file, to be made wrong."""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

SAID = "We take the rubber case. Jo orders 40 by Friday. Never touch the old stock."
CASE: dict[str, Any] = {
    "id": "small",
    "split": "dev",
    "language": "en",
    "traits": ["chat"],
    "origin": {"source": "written", "licence": "MIT"},
    "messages": [
        {"id": 1, "turn": 1, "role": "user", "text": SAID},
        {
            "id": 2,
            "turn": 1,
            "role": "assistant",
            "text": "I look at the stock with the password.",
            "tool_calls": [{"id": "c1", "name": "bash", "arguments": {"command": "stock --all"}}],
        },
        {"id": 3, "turn": 1, "role": "tool", "text": "password=hunter2hunter2 and 12 cases left", "tool_call_id": "c1"},
    ],
    "annotations": {
        "decisions": [
            {
                "id": "d1",
                "status": "accepted",
                "text": "The case is of rubber.",
                "spans": [{"message": 1, "quote": "We take the rubber case."}],
            }
        ],
        "open_work": [
            {
                "id": "w1",
                "status": "open",
                "text": "Jo orders 40 by Friday.",
                "spans": [{"message": 1, "quote": "Jo orders 40 by Friday."}],
            }
        ],
        "constraints": [
            {
                "id": "c1",
                "status": "in_force",
                "text": "Never touch the old stock",
                "spans": [{"message": 1, "quote": "Never touch the old stock."}],
            }
        ],
    },
    "artifact": {
        "headline": "The case is of rubber; Jo orders 40 by Friday.",
        "headline_items": ["i1", "i2"],
        "items": [
            {
                "id": "i1",
                "section": "decision",
                "status": "accepted",
                "actor": "user",
                "text": "The case is of rubber.",
                "quotes": [{"message": 1, "quote": "We take the rubber case."}],
            },
            {
                "id": "i2",
                "section": "open_work",
                "status": "open",
                "actor": "user",
                "text": "Jo orders 40 by Friday.",
                "quotes": [{"message": 1, "quote": "Jo orders 40 by Friday."}],
            },
            {
                "id": "i3",
                "section": "constraint",
                "status": "in_force",
                "actor": "user",
                "text": "Never touch the old stock",
                "quotes": [{"message": 1, "quote": "Never touch the old stock."}],
            },
        ],
    },
}


def small() -> dict[str, Any]:
    return deepcopy(CASE)


def put(case: dict[str, Any], folder: Path) -> Path:
    path: Path = folder / case["split"] / f"{case['id']}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(case, ensure_ascii=False))
    return path
