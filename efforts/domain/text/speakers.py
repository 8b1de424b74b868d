"""Whose words a question asks for, where it says so: "what did you suggest", "what did I tell you"."""

from __future__ import annotations

import re

SAYING = "say|said|suggest(?:ed)?|recommend(?:ed)?|tell|told|mention(?:ed)?|proposed?|advised?|answer(?:ed)?"
SAYING += "|write|wrote|explain(?:ed)?|warn(?:ed)?|ask(?:ed)?|stated?"
PATTERNS = {
    "assistant": rf"\byou (?:{SAYING})\b|\byour (?:suggestion|recommendation|advice|answer|proposal|explanation)s?\b",
    "user": rf"\bi (?:{SAYING})\b|\bmy (?:question|request|message|suggestion|proposal)s?\b",
}
SPEAKERS = {role: re.compile(pattern, re.IGNORECASE) for role, pattern in PATTERNS.items()}


def speaker_named(text: str) -> str:
    """A role; empty where the text names none, or both."""
    named = [role for role, pattern in SPEAKERS.items() if pattern.search(text)]
    return named[0] if len(named) == 1 else ""
