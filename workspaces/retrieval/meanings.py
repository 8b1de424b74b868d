"""Symbols whose meaning is near a text's: every vector of a snapshot is compared, exactly."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from django.db.models import QuerySet

from efforts.context.embedders import OTHER_LENGTH
from efforts.retrieval.vectors import STORED, Asked, Meant, Vectors, joined, near_to
from efforts.standins.coding import Worded
from workspaces.domain.states import Stage
from workspaces.models import Snapshot, Symbol, SymbolVector, SymbolVectorIndex, Workspace

# Snapshots whose vectors one process keeps: some 30 megabytes each, of 20,000 symbols with 384 numbers.
KEPT = 2
CHUNK = 5_000


def compared(snapshot: Snapshot) -> QuerySet[Symbol]:
    """Tests are found by their words."""
    return Symbol.objects.filter(snapshot.standing_by_file, is_test=False).exclude(content_sha256=None)


def meaning_in(workspace: Workspace, wording: Worded) -> Asked:
    """What a text means by the model that the folder is compared with for its conversation. It may be asked elsewhere:
    no transaction may be open."""
    indexes = SymbolVectorIndex.objects.filter(workspace=workspace)
    asked = wording.compared_with(indexes)
    if asked.fault == OTHER_LENGTH:
        # A folder may stay as it is for long, and nothing else would find out.
        indexes.update(model="", number=0)
    return asked


def nearest(snapshot: Snapshot, meant: Meant) -> dict[int, int]:
    """How near each symbol is, in steps from 0: the nearest first, of equals the older one."""
    read = kept_vectors if snapshot.stage == Stage.COMPLETE else read_vectors
    vectors = read(snapshot.pk, meant.model, meant.through)
    if not len(vectors.ids):
        return {}
    near = near_to(np.frombuffer(meant.vector, STORED).astype(np.float32), vectors)
    order = np.lexsort((vectors.ids, -near))
    return dict(zip(vectors.ids[order].tolist(), np.maximum(near, 0)[order].tolist(), strict=True))


def read_vectors(pk: int, model: str, through: int) -> Vectors:
    """Of the symbols of a snapshot whose contents had a vector when `through` was the last one."""
    snapshot = Snapshot.objects.get(pk=pk)
    mine = SymbolVector.objects.filter(workspace=snapshot.workspace_id, model=model, pk__lte=through)
    rows = mine.values_list("content_sha256", "vector").iterator(chunk_size=CHUNK)
    known = {content: bytes(vector) for content, vector in rows}
    symbols = compared(snapshot).order_by("pk").values_list("pk", "content_sha256").iterator(chunk_size=CHUNK)
    found = [(symbol, known[content]) for symbol, content in symbols if content in known]
    width = len(found[0][1]) if found else STORED.itemsize
    return joined(None, list(found), width)


kept_vectors = lru_cache(maxsize=KEPT)(read_vectors)
