"""JSON: one way to write a value, so that equal values have equal hashes in every process, and a reader of others';
and text as databases take it."""

from __future__ import annotations

import hashlib
import json
from typing import Any


def canonical_json(value: Any) -> str:
    """JSON with sorted keys, no spaces and no escapes beyond what JSON demands: what requests are hashed as."""
    # allow_nan: NaN is not JSON, and what another program reads in its place would have another hash.
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def json_object(text: str) -> dict[str, Any]:
    """The object that somebody else has written; empty where the text holds none, or is nested too deeply to read."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def storable(text: str) -> str:
    """What no database takes becomes the replacement character."""
    # PostgreSQL takes no NUL and UTF-8 no half of a surrogate pair; a provider may send both.
    return text.replace("\x00", "\ufffd").encode("utf-8", "replace").decode()


def sha256(text: str) -> str:
    """In hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()


def request_sha256(request: dict[str, Any]) -> str:
    """Of the canonical JSON of a request: the hash that plans are verified by."""
    return sha256(canonical_json(request))
