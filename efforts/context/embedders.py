"""Which model compares the meanings of a conversation, if any."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

from django.conf import settings
from django.db.models import QuerySet

from efforts.context.connections import KeyUnreadable, ModelChoice, connect, of_endpoint
from efforts.llm.embeddings import Embedder, EndpointEmbedder, local
from efforts.llm.openai_chat import OpenAIChat
from efforts.llm.protocol import ModelError
from efforts.models import Endpoint, Session, VectorIndex
from efforts.retrieval.vectors import Meant


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What a text means; without `meant` words alone are compared, and where one should have come `fault` says why."""

    meant: Meant | None = None
    fault: str = ""


def embedder_of(endpoint: Endpoint | None) -> Embedder | None:
    """That of the endpoint, else the installation's. Raises `ModelError`."""
    if endpoint and endpoint.embedding_model:
        try:
            return at(of_endpoint(endpoint, endpoint.embedding_model))
        except KeyUnreadable as error:
            raise ModelError("unauthorised", str(error)) from error
    if settings.CCM_EMBEDDINGS_FOLDER:
        return local(settings.CCM_EMBEDDINGS_FOLDER)
    if settings.CCM_EMBEDDINGS_URL:
        model, key = settings.CCM_EMBEDDINGS_MODEL, settings.CCM_EMBEDDINGS_KEY
        address = settings.CCM_EMBEDDINGS_URL
        return at(ModelChoice(kind="environment", label=model, model=model, base_url=address, api_key=key))
    return None


def at(choice: ModelChoice) -> EndpointEmbedder:
    def connected(seconds: float) -> OpenAIChat:
        return connect(replace(choice, timeout_seconds=seconds))

    return EndpointEmbedder(base_url=choice.base_url, model=choice.model, connect=connected)


def is_offered(session: Session) -> bool:
    """Whether any model could compare the meanings of this conversation."""
    named = session.endpoint and session.endpoint.embedding_model
    return bool(named or settings.CCM_EMBEDDINGS_FOLDER or settings.CCM_EMBEDDINGS_URL)


def meaning_of(session: Session, text: str) -> Asked:
    """Asks the model, which may be elsewhere: no transaction may be open. Nothing is asked before there is anything
    to compare with, nor from a conversation that says no."""
    index = VectorIndex.objects.filter(session=session).first()
    if not session.by_meaning or not is_offered(session):
        return Asked()
    try:
        embedder = embedder_of(session.endpoint)
        if embedder is None or index is None or not index.passages or index.name != embedder.name:
            return Asked(fault=index.fault if index else "")
        found = embedder.embed([text], seconds=settings.CCM_EMBEDDINGS_WAIT)
    except ModelError as error:
        return Asked(fault=error.text)
    if model_key(embedder.name, found.dimension) != index.model:
        return Asked(fault="The model of meanings answers with vectors of another length now: all are made anew.")
    return Asked(meant=Meant(model=index.model, vector=found.stored()[0], through=index.through))


@dataclass(frozen=True, kw_only=True)
class AskedForAll:
    """What a text means by each model that compares any of these conversations; `fault`: why one of them says
    nothing."""

    meant: tuple[Meant, ...] = ()
    fault: str = ""


def meanings_of(sessions: QuerySet[Session], text: str) -> AskedForAll:
    """As `meaning_of`, each model once, the one with the most passages first, together no longer than one may take."""
    rows = compared(sessions).select_related("session__endpoint").order_by("-passages")
    by_model: dict[str, Session] = {}
    for row in rows:
        by_model.setdefault(row.model, row.session)
    until = time.monotonic() + settings.CCM_EMBEDDINGS_WAIT
    found: list[Asked] = []
    for session in by_model.values():
        if not found or time.monotonic() < until:
            found.append(meaning_of(session, text))
    return AskedForAll(
        meant=tuple(one.meant for one in found if one.meant), fault=next((one.fault for one in found if one.fault), "")
    )


def compared(sessions: QuerySet[Session]) -> QuerySet[VectorIndex]:
    """Of those that have vectors and may be compared by meaning."""
    return VectorIndex.objects.filter(session__in=sessions, session__by_meaning=True, passages__gt=0)


def model_key(name: str, dimension: int) -> str:
    return f"{name}/{dimension}"
