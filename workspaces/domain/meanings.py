"""What a model of meanings is given of a symbol: its name, what is said of it, and the words of its code."""

from __future__ import annotations

import re
from collections.abc import Sequence

from efforts.domain.text.canonical import canonical_json, sha256
from efforts.domain.text.redaction import redact
from efforts.domain.text.terms import HUMP

# Raise it when the same symbol gives another text: then all are asked for anew.
VERSION = "1"
# Of a symbol: lines that are read, characters of what is said of it, and words of its code. Each word costs a local
# model as much time as the one before it, and the first ones tell most.
LINES, DOC, WORDS = 60, 200, 32
# Letters of a line: minified code is one long line of thousands of functions, and each would be given all of it.
LONGEST_LINE = 2_000
# What every language says all the time, and no question asks for.
KEYWORDS = """
    and as async await bool break case cls const continue def do elif else end enum err export extends false final
    finally fmt fn for from func function if impl import in int interface is it let match mod mut new nil none not
    null ok option or package pass private protected pub public raise ref return self some static str string struct
    super switch then this throw throws trait true try type undefined unwrap use usize var void where while with yield
"""
COMMON = frozenset(KEYWORDS.split())
IDENTIFIER = re.compile(r"[^\W\d_]{2,}")


def content_sha256(qualified: str, doc: str, lines: Sequence[str]) -> str:
    """The same for what `embedded_text` gives the same."""
    return sha256(canonical_json([VERSION, qualified, doc, beginning(lines)]))


def embedded_text(kind: str, qualified: str, doc: str, lines: Sequence[str]) -> str:
    """In plain words, which such models know best; without what looks like a secret."""
    name = " ".join(parts_of(qualified)[-6:])
    said = " ".join(str(redact(doc).value).split())[:DOC]
    code = list(dict.fromkeys(words_of(str(redact("\n".join(beginning(lines))).value))))
    return f"{kind} {name}. {said}\n{' '.join(code[:WORDS])}"


def beginning(lines: Sequence[str]) -> list[str]:
    """Of a line that is cut the last word goes: half of a secret would not be known for one."""
    return [line if len(line) <= LONGEST_LINE else line[:LONGEST_LINE].rpartition(" ")[0] for line in lines[:LINES]]


def words_of(code: str) -> list[str]:
    return [part for part in parts_of(code) if part not in COMMON]


def parts_of(text: str) -> list[str]:
    """Of identifiers their parts, in small letters."""
    return [part.lower() for word in IDENTIFIER.findall(text) for part in HUMP.split(word) if len(part) > 1]
