"""What passages mean, written down in the background: the next ones without a vector, and what came of asking."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import F, OuterRef, Q, Subquery
from django.utils import timezone

from efforts.context.embedders import embedder_of, model_key
from efforts.llm.embeddings import Embedded, Embedder
from efforts.llm.protocol import ModelError
from efforts.llm.tokens import get_counter
from efforts.models import Endpoint, Passage, PassageVector, Session, VectorIndex
from efforts.retrieval.vectors import write_codes

# Texts of one request; seconds that it may take, and that the next one waits after a fault.
AT_ONCE = 64
SECONDS = 60.0
WAIT = 30.0


@dataclass(frozen=True, kw_only=True)
class Batch:
    """Passages of one conversation to be embedded, in the order of their ids. `until`: the claim, which is nobody
    else's."""

    session: UUID
    embedder: Embedder
    ids: tuple[int, ...]
    texts: tuple[str, ...]
    until: datetime


def warm() -> None:
    with suppress(ModelError):
        embedder_of(None)


def claim_batch() -> Batch | None:
    """The next passages without a vector, of the conversation that was used last; None where there are none."""
    for endpoint, embedder in embedders():
        for session in behind(endpoint, embedder):
            if batch := claim(session, embedder):
                return batch
    return None


def embedders() -> Iterator[tuple[Endpoint | None, Embedder]]:
    """By the endpoint of the conversations that they are for; those that cannot be reached are told of elsewhere."""
    named = Endpoint.objects.exclude(embedding_model="")
    installed = settings.CCM_EMBEDDINGS_FOLDER or settings.CCM_EMBEDDINGS_URL
    for endpoint in (None, *Endpoint.objects.all()) if installed else named:
        try:
            embedder = embedder_of(endpoint)
        except ModelError as error:
            served = VectorIndex.objects.filter(session__endpoint=endpoint, session__by_meaning=True)
            served.exclude(fault=error.text).update(fault=error.text)
            continue
        if embedder:
            yield endpoint, embedder


def behind(endpoint: Endpoint | None, embedder: Embedder) -> Iterator[UUID]:
    last = Passage.objects.filter(session=OuterRef("pk")).order_by("-pk").values("pk")[:1]
    wanted = Session.objects.filter(by_meaning=True, endpoint=endpoint, erase_at__isnull=True)
    rows = wanted.annotate(last=Subquery(last))
    free = Q(vector_index__isnull=True) | Q(vector_index__held_until__isnull=True)
    free |= Q(vector_index__held_until__lt=timezone.now())
    new = Q(vector_index__isnull=True) | Q(vector_index__through__lt=F("last")) | ~Q(vector_index__name=embedder.name)
    yield from rows.filter(free, new, last__isnull=False).order_by("-last_activity_at").values_list("pk", flat=True)[:8]


def claim(session: UUID, embedder: Embedder) -> Batch | None:
    now = timezone.now()
    until = now + timedelta(seconds=SECONDS + WAIT)
    VectorIndex.objects.get_or_create(session_id=session, defaults={"name": embedder.name})
    free = Q(held_until__isnull=True) | Q(held_until__lt=now)
    if not VectorIndex.objects.filter(free, session=session).update(held_until=until):
        return None
    index = VectorIndex.objects.get(session=session)
    if index.name != embedder.name:
        # Another model: what the last one made stays for the retrievals that were made with it.
        index.name, index.model, index.through, index.passages, index.tokens = embedder.name, "", 0, 0, 0
        index.save(update_fields=["name", "model", "through", "passages", "tokens"])
    rows = Passage.objects.filter(session=session, pk__gt=index.through).select_related("message")
    some = list(rows.order_by("pk")[:AT_ONCE])
    return Batch(
        session=session,
        embedder=embedder,
        ids=tuple(row.pk for row in some),
        texts=tuple(row.message.text[row.start : row.end] for row in some),
        until=until,
    )


@transaction.atomic
def record_batch(batch: Batch, made: Embedded) -> None:
    """Nothing where the claim has run out, or the conversation is gone or says no now."""
    index = VectorIndex.objects.select_for_update().filter(session=batch.session, held_until=batch.until).first()
    if index is None or not Session.objects.filter(pk=batch.session, by_meaning=True).exists():
        return
    key = model_key(batch.embedder.name, made.dimension)
    index.held_until, index.fault = None, ""
    if index.model and index.model != key:
        # Vectors of another length: all are made anew, these too.
        index.model, index.through, index.passages = "", 0, 0
    elif batch.ids:
        index.model = key
        there = set(Passage.objects.filter(pk__in=batch.ids).values_list("pk", flat=True))
        rows = [
            PassageVector(passage_id=passage, session_id=batch.session, model=key, vector=vector)
            for passage, vector in zip(batch.ids, made.stored(), strict=True)
            if passage in there
        ]
        PassageVector.objects.bulk_create(rows, ignore_conflicts=True)
        write_codes(batch.session, key, through=batch.ids[-1])
        index.through, index.passages = batch.ids[-1], index.passages + len(rows)
    counted = get_counter(settings.CCM_ENCODING).count
    index.tokens += made.tokens if made.tokens is not None else sum(map(counted, batch.texts))
    index.save()


def record_fault(batch: Batch, why: str) -> None:
    """Tried again after a while."""
    mine = VectorIndex.objects.filter(session=batch.session, held_until=batch.until)
    mine.update(fault=why, held_until=timezone.now() + timedelta(seconds=WAIT))
