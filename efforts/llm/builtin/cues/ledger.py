"""Phrases that note something for the ledger, and say that noted work is done."""

from __future__ import annotations

import re

# All of the message, so that nothing else it asks for is passed over.
NOTES = {
    "decision": re.compile(
        r"\s*(?:please )?(?:(?:note|record|keep|log) (?:this |it )?(?:as )?(?:a |our |the )?)?decision\s*:\s*(.+)",
        re.IGNORECASE | re.DOTALL,
    ),
    "open_work": re.compile(
        r"\s*(?:please )?(?:(?:note|record|keep|log) (?:this |it )?(?:as )?(?:an? |the )?(?:open(?: work)?|to-?do)"
        r"|to-?do|open work)\s*:\s*(.+)",
        re.IGNORECASE | re.DOTALL,
    ),
}
WORK_DONE = re.compile(
    r"\b(work-\d+)\b[^.!?\n]{0,20}\b(?:is |as )(?:now )?(?:done|finished|resolved|ready)\b"
    r"|\b(?:finished|resolved|completed?|close|did) (work-\d+)\b",
    re.IGNORECASE,
)
