"""Passages whose meaning is near a text's: every vector of a conversation is compared, exactly.

`Nearest` is the door for an engine of vectors: what has this one method can take the place of `nearest`.
"""

from __future__ import annotations

import base64
from collections import OrderedDict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from threading import Lock
from typing import Any, Protocol
from uuid import UUID

import numpy as np
from django.db.models import QuerySet
from numpy.typing import NDArray

from efforts.models import PassageVector, Session, VectorIndex

# As `llm.embeddings` writes them.
STORED = np.dtype("<f2")
# Of a similarity from -1 to 1: finer differences hang on the machine that computes them.
STEPS = 10_000
# Vectors that are compared at once where they are read and not kept: some 30 MB of 384 numbers each.
BLOCK = 20_000
# Of vectors that are kept in memory by one process, in bytes; the conversations asked last stay.
MOST_BYTES = 128 * 1024 * 1024


@dataclass(frozen=True, kw_only=True)
class Meant:
    """What a text means by a model; `through`: the last passage that had a vector then."""

    model: str
    vector: bytes
    through: int

    @property
    def params(self) -> dict[str, Any]:
        """With which the same is found again."""
        return {"model": self.model, "vector": base64.b64encode(self.vector).decode(), "through": self.through}

    @classmethod
    def of(cls, params: Mapping[str, Any]) -> Meant:
        return cls(model=params["model"], vector=base64.b64decode(params["vector"]), through=params["through"])


class Nearest(Protocol):
    def __call__(self, session: UUID, meant: Meant, *, below: int) -> dict[int, int]:
        """How near each passage under `below` is, in steps from 0: the nearest first, of equals the older one."""
        ...


@dataclass(frozen=True, kw_only=True)
class Vectors:
    """Of one conversation, in the order of passages."""

    ids: NDArray[np.int64]
    rows: NDArray[np.float32]

    @property
    def size(self) -> int:
        return int(self.rows.nbytes)


_kept: OrderedDict[tuple[UUID, str], Vectors] = OrderedDict()
_lock = Lock()


def nearest(session: UUID, meant: Meant, *, below: int) -> dict[int, int]:
    """See `Nearest`."""
    vectors = vectors_of(session, meant)
    count = int(np.searchsorted(vectors.ids, min(meant.through + 1, below)))
    query = np.frombuffer(meant.vector, STORED).astype(np.float32)
    near = near_to(query, Vectors(ids=vectors.ids[:count], rows=vectors.rows[:count]))
    order = np.lexsort((vectors.ids[:count], -near))
    # By lists: taken out of the arrays one by one, the numbers would cost more than all comparing.
    return dict(zip(vectors.ids[order].tolist(), np.maximum(near, 0)[order].tolist(), strict=True))


def nearest_of_all(sessions: QuerySet[Session], meant: Meant, *, most: int, also: Collection[int]) -> dict[int, int]:
    """Of several conversations the `most` nearest passages, and those of `also` that have a vector. Every vector is
    compared, and none is kept: memory is bounded by a block, however much was said."""
    rows = PassageVector.objects.filter(model=meant.model)
    query = np.frombuffer(meant.vector, STORED).astype(np.float32)
    best: list[tuple[int, int]] = []
    for block in blocks(rows.filter(session__in=sessions), len(meant.vector)):
        near = near_to(query, block)
        first = np.argpartition(-near, most)[:most] if len(near) > most else np.arange(len(near))
        best += zip((-near[first]).tolist(), block.ids[first].tolist(), strict=True)
        best = sorted(best)[:most]
    wanted = [
        (-near, id)
        for block in blocks(rows.filter(session__in=sessions, passage__in=also), len(meant.vector))
        for near, id in zip(near_to(query, block).tolist(), block.ids.tolist(), strict=True)
    ]
    return {id: max(-near, 0) for near, id in sorted({*best, *wanted})}


def near_to(query: NDArray[np.float32], vectors: Vectors) -> NDArray[np.int64]:
    near: NDArray[np.int64] = np.rint(vectors.rows @ query * STEPS).astype(np.int64)
    return near


def blocks(rows: QuerySet[PassageVector], width: int) -> Iterator[Vectors]:
    """In no order: sorting would cost more than comparing."""
    read = rows.order_by().values_list("passage", "vector").iterator(chunk_size=BLOCK)
    while some := list(islice(read, BLOCK)):
        yield joined(None, some, width)


def meaning_of_passages(session: UUID, passages: Collection[int]) -> Meant | None:
    """What these mean together by the model that the conversation is compared with; no model is asked for it."""
    index = VectorIndex.objects.filter(session=session).exclude(model="").first()
    if index is None:
        return None
    rows = PassageVector.objects.filter(passage__in=passages, session=session, model=index.model)
    vectors = [np.frombuffer(bytes(one), STORED).astype(np.float32) for one in rows.values_list("vector", flat=True)]
    if not vectors:
        return None
    mean = np.sum(vectors, axis=0)
    unit = mean / (float(np.linalg.norm(mean)) or 1.0)
    return Meant(model=index.model, vector=unit.astype(STORED).tobytes(), through=index.through)


def vectors_of(session: UUID, meant: Meant) -> Vectors:
    """Read once; then only those that came since."""
    key = (session, meant.model)
    with _lock:
        kept = _kept.get(key)
    last = int(kept.ids[-1]) if kept is not None and len(kept.ids) else 0
    if kept is None or last < meant.through:
        rows = PassageVector.objects.filter(session=session, model=meant.model, passage__gt=last)
        kept = joined(kept, list(rows.order_by("passage").values_list("passage", "vector")), len(meant.vector))
        with _lock:
            _kept[key] = kept
            _kept.move_to_end(key)
            while len(_kept) > 1 and sum(one.size for one in _kept.values()) > MOST_BYTES:
                _kept.popitem(last=False)
    return kept


def joined(kept: Vectors | None, rows: list[tuple[int, bytes | memoryview]], width: int) -> Vectors:
    ids = np.array([id for id, _ in rows], dtype=np.int64)
    stored = b"".join(bytes(vector) for _, vector in rows)
    more = np.frombuffer(stored, STORED).astype(np.float32).reshape(-1, width // STORED.itemsize)
    if kept is None:
        return Vectors(ids=ids, rows=more)
    return Vectors(ids=np.concatenate([kept.ids, ids]), rows=np.concatenate([kept.rows, more]))


def forget(session: UUID) -> None:
    """Of a conversation that is deleted, or whose passages were made anew, nothing stays in memory."""
    with _lock:
        for key in [key for key in _kept if key[0] == session]:
            del _kept[key]
