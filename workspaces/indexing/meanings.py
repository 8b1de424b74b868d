"""What the symbols of a folder mean, written down in the background once everything is searchable by its words: the
next contents without a vector, and what came of asking."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import F, Max, Q
from django.utils import timezone

from efforts.context.embedders import model_key
from efforts.llm.embeddings import Embedded, Embedder
from efforts.llm.tokens import get_counter
from efforts.memory.vectors import SECONDS, WAIT, embedders
from efforts.models import Endpoint
from workspaces.domain.meanings import embedded_text
from workspaces.domain.states import Stage
from workspaces.models import Attachment, File, Snapshot, Symbol, SymbolVector, SymbolVectorIndex, Workspace
from workspaces.retrieval.meanings import compared

# Texts of one request.
AT_ONCE = 64
# Symbols that are looked at at once for such as have no vector yet.
LOOKED_AT = 2_000


@dataclass(frozen=True, kw_only=True)
class CodeBatch:
    """Contents of one snapshot to be embedded, each once; then all symbols up to `after` have a vector, `symbols` of
    them. `until`: the claim, which is nobody else's."""

    index: int
    embedder: Embedder
    contents: tuple[str, ...]
    texts: tuple[str, ...]
    after: int
    symbols: int
    is_last: bool
    until: datetime


def claim_batch() -> CodeBatch | None:
    """Of the folder that was indexed last; None where nothing is to be asked. What had its vector already, as most has
    after a change, costs no request."""
    for endpoint, embedder in embedders():
        for workspace in behind(endpoint, embedder):
            if batch := claim(workspace, embedder):
                return batch
    return None


def behind(endpoint: Endpoint | None, embedder: Embedder) -> Iterator[Workspace]:
    """Folders of conversations that are compared by this model, and say so."""
    wanted = Attachment.objects.filter(
        detached_at=None, session__by_meaning=True, session__endpoint=endpoint, session__erase_at=None
    )
    mine = SymbolVectorIndex.objects.filter(name=embedder.name)
    done = Q(complete=True, number=F("workspace__current__number"))
    held = Q(held_until__gt=timezone.now())
    rows = Workspace.objects.filter(pk__in=wanted.values("workspace"), current__stage=Stage.COMPLETE)
    left = rows.exclude(pk__in=mine.filter(done | held).values("workspace")).select_related("current")
    yield from left.order_by("-current__created_at")[:8]


def claim(workspace: Workspace, embedder: Embedder) -> CodeBatch | None:
    now = timezone.now()
    until = now + timedelta(seconds=SECONDS + WAIT)
    index, _ = SymbolVectorIndex.objects.get_or_create(workspace=workspace, name=embedder.name)
    free = Q(held_until__isnull=True) | Q(held_until__lt=now)
    if not SymbolVectorIndex.objects.filter(free, pk=index.pk).update(held_until=until):
        return None
    index.refresh_from_db()
    snapshot = workspace.current
    assert snapshot is not None
    if index.number != snapshot.number:
        index.number, index.after, index.symbols, index.complete = snapshot.number, 0, 0, False
    batch = next_batch(index, snapshot, embedder, until)
    while not batch.texts and not index.complete:
        pass_on(index, batch)
        batch = next_batch(index, snapshot, embedder, until)
    index.held_until = until if batch.texts else None
    index.save()
    return batch if batch.texts else None


def next_batch(index: SymbolVectorIndex, snapshot: Snapshot, embedder: Embedder, until: datetime) -> CodeBatch:
    """Of the symbols behind `index.after`."""
    most = max(min(settings.CCM_WORKSPACE_MEANINGS - index.symbols, LOOKED_AT), 0)
    left = compared(snapshot).filter(pk__gt=index.after).order_by("pk")
    rows = list(left.values_list("pk", "content_sha256")[:most])
    contents = {content for _, content in rows}
    mine = SymbolVector.objects.filter(workspace=index.workspace_id, model=index.model, content_sha256__in=contents)
    known = set(mine.values_list("content_sha256", flat=True))
    new: dict[str, int] = {}
    passed = 0
    for pk, content in rows:
        # Of those that are compared each has one.
        assert content is not None
        if content not in known:
            if len(new) == AT_ONCE and content not in new:
                break
            new.setdefault(content, pk)
        passed += 1
    return CodeBatch(
        index=index.pk,
        embedder=embedder,
        contents=tuple(new),
        texts=tuple(texts_of(list(new.values()))),
        after=rows[passed - 1][0] if passed else index.after,
        symbols=index.symbols + passed,
        is_last=passed == len(rows) < LOOKED_AT,
        until=until,
    )


def texts_of(symbols: list[int]) -> Iterator[str]:
    rows = Symbol.objects.defer("terms", "names").in_bulk(symbols)
    files = File.objects.in_bulk({row.file_id for row in rows.values()})
    lines = {pk: file.text.split("\n") for pk, file in files.items()}
    for pk in symbols:
        row = rows[pk]
        own = lines[row.file_id][row.first_line - 1 : row.last_line]
        yield embedded_text(row.kind, row.qualified, row.doc, own)


@transaction.atomic
def record_batch(batch: CodeBatch, made: Embedded) -> None:
    """Nothing where the claim has run out, or the folder is gone."""
    index = SymbolVectorIndex.objects.select_for_update().filter(pk=batch.index, held_until=batch.until).first()
    if index is None:
        return
    key = model_key(batch.embedder.name, made.dimension)
    rows = (
        SymbolVector(workspace_id=index.workspace_id, model=key, content_sha256=content, vector=vector)
        for content, vector in zip(batch.contents, made.stored(), strict=True)
    )
    SymbolVector.objects.bulk_create(rows, ignore_conflicts=True)
    mine = SymbolVector.objects.filter(workspace=index.workspace_id, model=key)
    if index.model in ("", key):
        pass_on(index, batch)
    else:
        # Vectors of another length: all are made anew.
        index.after, index.symbols, index.complete = 0, 0, False
    index.model, index.fault, index.held_until = key, "", None
    index.through = mine.aggregate(last=Max("pk", default=0))["last"]
    counted = get_counter(settings.CCM_ENCODING).count
    index.tokens += made.tokens if made.tokens is not None else sum(map(counted, batch.texts))
    index.save()


def pass_on(index: SymbolVectorIndex, batch: CodeBatch) -> None:
    index.after, index.symbols, index.complete = batch.after, batch.symbols, batch.is_last


def record_fault(batch: CodeBatch, why: str) -> None:
    """Tried again after a while."""
    mine = SymbolVectorIndex.objects.filter(pk=batch.index, held_until=batch.until)
    mine.update(fault=why, held_until=timezone.now() + timedelta(seconds=WAIT))
