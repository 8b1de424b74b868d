"""Passages whose meaning is near a text's: every vector of a conversation is compared, exactly; of all that an owner
has those that are chosen by their signs.

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

from efforts.models import PassageVector, Session, VectorCodes, VectorIndex

# As `llm.embeddings` writes them.
STORED = np.dtype("<f2")
# Of a similarity from -1 to 1: finer differences hang on the machine that computes them.
STEPS = 10_000
# Vectors that are compared at once where they are read and not kept: some 8 MB of 384 numbers each.
BLOCK = 5_000
# Of all that an owner has: so many are chosen by their signs. Figures: docs/recall.md.
CHOSEN = 10_000
# Passages of one row of codes, some 60 kB of 384 numbers each; rows read, and ids asked for, at once.
OF_A_ROW, ROWS_AT_ONCE, IDS_AT_ONCE = 1_024, 16, 5_000
ID, WORD = np.dtype("<i8"), np.dtype("<u8")
# Above an id there is room for how many signs differ.
BITS_OF_ID = 50
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


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What a text means; without `meant` words alone are compared, and where one should have come `fault` says why."""

    meant: Meant | None = None
    fault: str = ""


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
    """Of several conversations the `most` nearest passages, and those of `also` that have a vector. In two stages: of
    every passage the signs are compared, of those nearest by them the vectors. Nothing is kept, and memory is bounded,
    however much was said."""
    query = np.frombuffer(meant.vector, STORED).astype(np.float32)
    chosen = chosen_by_signs(VectorCodes.objects.filter(session__in=sessions, model=meant.model), query)
    mine = PassageVector.objects.filter(session__in=sessions, model=meant.model)
    near: dict[int, int] = {}
    wanted = sorted({*chosen, *also})
    for first in range(0, len(wanted), IDS_AT_ONCE):
        some = mine.filter(passage__in=wanted[first : first + IDS_AT_ONCE])
        for block in blocks(some, len(meant.vector)):
            near |= zip(block.ids.tolist(), near_to(query, block).tolist(), strict=True)
    best = sorted(near.keys() & {*chosen}, key=lambda id: (-near[id], id))[:most]
    return {id: max(near[id], 0) for id in sorted({*best, *(near.keys() & {*also})}, key=lambda id: (-near[id], id))}


def chosen_by_signs(rows: QuerySet[VectorCodes], query: NDArray[np.float32]) -> list[int]:
    """The passages with the fewest signs that differ; of equals the older ones."""
    signs = codes_of(query[np.newaxis])[0]
    best = np.empty(0, dtype=np.int64)
    for passages, codes in rows.order_by().values_list("passages", "codes").iterator(chunk_size=ROWS_AT_ONCE):
        ids = array_of(passages, ID)
        read = array_of(codes, WORD).reshape(len(ids), len(signs))
        differ = np.bitwise_count(read ^ signs).sum(axis=1, dtype=np.int64)
        # One number of both, so that the same are chosen whatever the order in which they are read.
        best = np.concatenate([best, differ << BITS_OF_ID | ids])
        if len(best) > 2 * CHOSEN:
            best = np.partition(best, CHOSEN)[:CHOSEN]
    return [int(one) for one in np.sort(best)[:CHOSEN] & ((1 << BITS_OF_ID) - 1)]


def codes_of(rows: NDArray[np.float32]) -> NDArray[np.uint64]:
    bits = np.packbits(rows > 0, axis=1)
    width = -(-bits.shape[1] // WORD.itemsize) * WORD.itemsize
    return np.ascontiguousarray(np.pad(bits, ((0, 0), (0, width - bits.shape[1])))).view(WORD)


def write_codes(session: UUID, model: str, *, through: int) -> None:
    """Of the vectors that came since, in the order of their ids: the last row is filled up, then new ones are begun."""
    row = VectorCodes.objects.filter(session=session, model=model).order_by("-last").first()
    new = PassageVector.objects.filter(session=session, model=model, passage__lte=through)
    read = new.filter(passage__gt=row.last if row else 0).order_by("passage").values_list("passage", "vector")
    some = list(read)
    while some:
        if row is None or len(row.passages) >= OF_A_ROW * ID.itemsize:
            row = VectorCodes(session_id=session, model=model, passages=b"", codes=b"")
        left = OF_A_ROW - len(row.passages) // ID.itemsize
        passages, codes = coded(some[:left])
        row.last = some[:left][-1][0]
        row.passages, row.codes = bytes(row.passages) + passages, bytes(row.codes) + codes
        row.save()
        some = some[left:]


def coded(rows: list[tuple[int, bytes | memoryview]]) -> tuple[bytes, bytes]:
    """Ids and codes, as they are stored, of passages and their vectors."""
    read = joined(None, rows, len(rows[0][1]))
    return read.ids.astype(ID).tobytes(), codes_of(read.rows).tobytes()


def array_of(stored: bytes | memoryview, kind: np.dtype[Any]) -> NDArray[Any]:
    return np.frombuffer(bytes(stored), kind)


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
