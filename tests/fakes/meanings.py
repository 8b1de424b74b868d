"""An embedding model that knows a few words: each is one direction, and its synonyms are the same."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tests.fakes.provider import Status

CONCEPTS = ({"ship", "boat", "vessel", "yacht"}, {"meal", "dinner", "food", "eat"}, {"dog", "puppy", "hound"})


def vector_of(text: str, dimension: int) -> list[float]:
    words = {word.strip(".,?!").casefold() for word in text.split()}
    row = [float(bool(words & concept)) for concept in CONCEPTS]
    return [*row, 0.1, *[0.0] * (dimension - len(row) - 1)]


def embeddings(request: Mapping[str, Any], dimension: int = 8) -> Status:
    rows = [
        {"object": "embedding", "index": place, "embedding": vector_of(text, dimension)}
        for place, text in enumerate(request["input"])
    ]
    body = {"object": "list", "data": rows, "usage": {"total_tokens": 7 * len(rows)}}
    return Status(200, body=json.dumps(body))
