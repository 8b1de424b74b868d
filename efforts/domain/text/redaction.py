"""Secrets in a text, known by their shape. What is found is masked; what a secret looks like to nobody is not."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

MASK = "[masked]"
NAMES = (
    r"pass(?:word|wd|phrase)|pwd|secret(?:[_-]?(?:access[_-]?)?key)?|api[_-]?key|(?:access|auth|api|refresh)[_-]?token"
)
# Each has what stays in front of the mask as its first group. None can take longer than the text is long.
PATTERNS = tuple(
    re.compile(pattern)
    for pattern in (
        r"(?s)(-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----).+?(?:-----END [A-Z ]{0,40}PRIVATE KEY-----|\Z)",
        r"\b(sk-)[\w-]{16,}",
        r"\b(AKIA|ASIA)[A-Z0-9]{16}\b",
        r"\b(gh[oprsu]_|github_pat_)\w{20,}",
        r"\b(xox[abeprs]-|glpat-)[\w-]{10,}",
        r"(?i)\b(bearer )[\w.~+/=-]{16,}",
        r"(://[^\s/:@]{1,100}:)[^\s/:@\[]{3,200}(?=@)",
        rf"""(?i)((?:{NAMES})\\?["']?[ ]{{0,3}}[=:][ ]{{0,3}}\\?["']?)[^\s"'\\,;&<$\[{{(]{{6,}}""",
    )
)


@dataclass(frozen=True, kw_only=True)
class Redacted:
    """`value` with every secret masked, and how many there were."""

    value: Any
    masked: int


def redact(text: str) -> Redacted:
    """The text with every known secret masked, and how many were."""
    masked = 0
    for pattern in PATTERNS:
        text, found = pattern.subn(rf"\g<1>{MASK}", text)
        masked += found
    return Redacted(value=text, masked=masked)


def redact_all(value: Any) -> Redacted:
    """The same for every text in a JSON value; keys stay."""
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, dict):
        parts = [redact_all(part) for part in value.values()]
        return Redacted(value=dict(zip(value, values_of(parts), strict=True)), masked=masked_in(parts))
    if isinstance(value, list):
        parts = [redact_all(part) for part in value]
        return Redacted(value=values_of(parts), masked=masked_in(parts))
    return Redacted(value=value, masked=0)


def values_of(parts: list[Redacted]) -> list[Any]:
    return [part.value for part in parts]


def masked_in(parts: list[Redacted]) -> int:
    return sum(part.masked for part in parts)
