"""Secrets in a text, known by their shape. What is found is masked; what a secret looks like to nobody is not."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

MASK = "[masked]"
PASSWORDS = r"pass(?:word|wd|phrase)|pwd|secret"
KEYS = r"secret[_-]?(?:access[_-]?)?key|api[_-]?key|(?:access|auth|api|refresh)[_-]?token"


@dataclass(frozen=True)
class Shape:
    """A kind of secret: what stays in front of the mask is the first group. `example` is masked from there on.

    No pattern can take longer than the text is long. `telltales`: a text that has none of these, with case folded, has
    no such secret, and needs no pattern to tell, which would take some twenty times as long.
    """

    pattern: str
    example: str
    telltales: tuple[str, ...]


SHAPES = (
    Shape(
        r"(?s)(-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----).+?(?:-----END [A-Z ]{0,40}PRIVATE KEY-----|\Z)",
        "-----BEGIN PRIVATE KEY-----|\nMIIEpAIBAAKCAQEA\n-----END PRIVATE KEY-----",
        ("-----begin ",),
    ),
    Shape(r"\b(sk-)[\w-]{16,}", "sk-|proj-abcdefghij0123456789", ("sk-",)),
    Shape(r"\b((?:sk|rk)_(?:live|test)_)\w{10,}", "sk_live_|51Habcdefghij0123", ("sk_", "rk_")),
    Shape(r"\b(AKIA|ASIA)[A-Z0-9]{16}\b", "AKIA|IOSFODNN7EXAMPLE", ("akia", "asia")),
    Shape(r"\b(AIza)[\w-]{30,}", "AIza|SyA-abcdefghij0123456789abcdefghij", ("aiza",)),
    Shape(
        r"\b(gh[oprsu]_|github_pat_)\w{20,}",
        "ghp_|abcdefghij0123456789",
        ("gho_", "ghp_", "ghr_", "ghs_", "ghu_", "github_pat_"),
    ),
    Shape(r"\b(hf_)[A-Za-z0-9]{20,}", "hf_|abcdefghijABCDEFGHIJabcd", ("hf_",)),
    Shape(r"\b(npm_)[A-Za-z0-9]{30,}", "npm_|abcdefghij0123456789abcdefghij012345", ("npm_",)),
    Shape(r"\b(pypi-)[\w-]{40,}", "pypi-|AgEIcHlwaS5vcmcCJDAxMjM0NTY3LTg5YWItY2RlZi0wMTIz", ("pypi-",)),
    Shape(r"\b(xox[abeoprs]-)[\w-]{10,}", "xoxb-|1234567890-abc", ("xox",)),
    Shape(
        r"\b(gl(?:pat|dt|ft|soat|rt|cbt|imt)-|GR1348941)[\w-]{10,}",
        "glrt-|abcdefghij0123456789",
        ("glpat-", "gldt-", "glft-", "glsoat-", "glrt-", "glcbt-", "glimt-", "gr1348941"),
    ),
    Shape(r"\b(SG\.)[\w-]{22}\.[\w-]{43}", f"SG.|{'a1' * 11}.{'b2' * 21}c", ("sg.",)),
    Shape(r"\b(sq0(?:csp|atp)-)[\w-]{22,}", "sq0csp-|abcdefghij0123456789abcdefghij", ("sq0",)),
    # Of a bot: its number, then the key.
    Shape(r"\b(\d{8,10}:)AA[\w-]{33}(?![\w-])", f"123456789:|AA{'x1Y' * 11}", (":aa",)),
    Shape(r"()\b[0-9a-f]{32}-us\d{1,2}\b", f"|{'0a' * 16}-us12", ("-us",)),
    Shape(r"\b(AKC)[A-Za-z0-9]{40,}", f"AKC|{'p5Q' * 14}", ("akc",)),
    Shape(
        r"(:_authToken=[ ]{0,3})[\w-]{20,}",
        "//registry/:_authToken=|0123abcd-0123-4567-89ab-0123456789ab",
        (":_authtoken=",),
    ),
    # A header and claims in Base64; longer ones occur, but a pattern must not look far from each place.
    Shape(
        r"\b(eyJ)[\w-]{8,600}\.[\w-]{8,2000}(?:\.[\w-]{0,2000})?",
        "eyJ|hbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl",
        ("eyj",),
    ),
    Shape(r"(?i)\b(bearer )[\w.~+/=-]{16,}", "Authorization: Bearer |abcdefghij0123456789", ("bearer ",)),
    Shape(
        r"""(?i)\b(authorization\\?["']?[ ]{0,3}[:=][ ]{0,3}\\?["']?basic )[a-z0-9+/=]{6,}""",
        "Authorization: Basic |dXNlcjpwYXNz",
        ("author",),
    ),
    Shape(r"\b([Bb]asic )[A-Za-z0-9+/]{8,}={1,2}", "curl -H 'Basic |YWxpY2U6aHVudGVyMg==", ("basic ",)),
    Shape(
        r"(?i)\b((?:Account|SharedAccess)Key=)[a-z0-9+/]{20,}={0,2}",
        "AccountKey=|abcdefghij0123456789abcdefghij==",
        ("key=",),
    ),
    Shape(
        r"\b(hooks\.slack\.com/(?:services|workflows|triggers)/)[\w/-]{10,}",
        "hooks.slack.com/services/|T0/B0/a1b2c3d4e5",
        ("hooks.slack.com/",),
    ),
    Shape(
        r"\b(discord(?:app)?\.com/api/(?:v\d{1,2}/)?webhooks/)[\w/-]{10,}",
        "https://discord.com/api/webhooks/|1234567890/abc-DEF_ghi",
        ("/webhooks/",),
    ),
    Shape(r"(://[^\s/:@]{1,100}:)[^\s/:@\[]{3,200}(?=@)", "postgres://app:|t0psecret", ("://",)),
    Shape(
        rf"""(?i)((?:{PASSWORDS})\\?["']?[ ]{{0,3}}[=:][ ]{{0,3}}\\?["']?)[^\s"'\\,;&<$\[{{(]{{6,}}""",
        "The password: |swordfish",
        ("pass", "pwd", "secret"),
    ),
    # A word that a sentence goes on or ends behind is no key: "refresh_token: lifetime 30 d" says something else. One
    # that stands alone may well be.
    Shape(
        rf"""(?i)((?:{KEYS})\\?["']?[ ]{{0,3}}[=:][ ]{{0,3}}\\?["']?)"""
        r"""(?!(?-i:[A-Za-z][a-z]{5,19})(?:[,;:)]?[ ]\S|[.!?](?!\S)))[^\s"'\\,;&<$\[{(]{6,}""",
        "api_key: |a1b2c3d4",
        ("key", "token"),
    ),
    # In a sentence only what no word looks like: "the password is wrong" says something else.
    Shape(
        r"""(?i:\b(pass(?:word|wd|phrase) is:? ["'`]?))"""
        r"""(?=[^\s"'`]{0,60}(?:\d|[a-z][A-Z]|[!@#$%^&*+=~_]\w))[^\s"'`,;\[]{5,}""",
        "My password is |hunter2!",
        ("pass",),
    ),
)
PATTERNS = tuple((shape.telltales, re.compile(shape.pattern)) for shape in SHAPES)
# A shorter key is part of ordinary words, and to mask it would garble them.
SHORTEST_KEY = 8


@dataclass(frozen=True, kw_only=True)
class Redacted:
    """`value` with every secret masked, and how many there were."""

    value: Any
    masked: int


def redact(text: str) -> Redacted:
    """The text with every known secret masked, and how many were."""
    masked = 0
    folded = text.casefold()
    for telltales, pattern in PATTERNS:
        if not any(telltale in folded for telltale in telltales):
            continue
        text, found = pattern.subn(rf"\g<1>{MASK}", text)
        masked += found
    return Redacted(value=text, masked=masked)


def mask_key(text: str, key: str) -> str:
    """The text without this key, where it is long enough to be told from words, and without what looks like one."""
    return str(redact(text.replace(key, "[key]") if len(key) >= SHORTEST_KEY else text).value)


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
