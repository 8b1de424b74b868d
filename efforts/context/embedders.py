"""Which model compares the meanings of a conversation, if any."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any

from django.conf import settings
from django.db.models import QuerySet

from efforts.context.connections import KeyUnreadable, ModelChoice, connect, of_endpoint
from efforts.llm.embeddings import Embedded, Embedder, EndpointEmbedder, local
from efforts.llm.openai_chat import OpenAIChat
from efforts.llm.protocol import ModelError
from efforts.models import Endpoint, Session, VectorIndex
from efforts.retrieval.vectors import Asked, Meant

OTHER_LENGTH = "The model of meanings answers with vectors of another length now: all are made anew."


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


@dataclass
class Wording:
    """A text of a conversation, whose meaning is asked for once at most, whatever it is compared with."""

    session: Session
    text: str
    answer: Embedded | ModelError | None = None

    def compared_with(self, indexes: QuerySet[Any]) -> Asked:
        """`indexes`: how far vectors are known, by the name of the model. It asks the model, which may be elsewhere: no
        transaction may be open. Nothing is asked before there is anything to compare with, nor from a conversation that
        says no."""
        if not self.session.by_meaning or not is_offered(self.session):
            return Asked()
        try:
            embedder = embedder_of(self.session.endpoint)
            index = indexes.filter(name=embedder.name).first() if embedder else None
            if embedder is None or index is None or not index.model:
                return Asked(fault=index.fault if index else "")
            found = self.asked_once(embedder)
        except ModelError as error:
            return Asked(fault=error.text)
        if model_key(embedder.name, found.dimension) != index.model:
            return Asked(fault=OTHER_LENGTH)
        return Asked(meant=Meant(model=index.model, vector=found.stored()[0], through=index.through))

    def asked_once(self, embedder: Embedder) -> Embedded:
        """Raises `ModelError`; who asks for the same again does not wait again."""
        if self.answer is None:
            try:
                self.answer = embedder.embed([self.text], seconds=settings.CCM_EMBEDDINGS_WAIT)
            except ModelError as error:
                self.answer = error
        if isinstance(self.answer, ModelError):
            raise self.answer
        return self.answer


def meaning_of(session: Session, text: str) -> Asked:
    """See `Wording.compared_with`."""
    return Wording(session, text).compared_with(VectorIndex.objects.filter(session=session))


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
