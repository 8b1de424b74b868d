"""How far the meanings of a conversation are known, in words."""

from __future__ import annotations

from efforts.context.embedders import is_offered
from efforts.models import Passage, Session, VectorIndex

# Names of settings stand in a place of their own: a catalogue has no text with one.
NO_MODEL = (
    "Only words are compared: no embedding model is connected. Name one at the model's connection in Settings, or set "
    "{first} or {second} for the installation."
).format(first="CCM_EMBEDDINGS_FOLDER", second="CCM_EMBEDDINGS_URL")


def state_of_meanings(session: Session) -> str:
    if not is_offered(session):
        return NO_MODEL
    if not session.by_meaning:
        return "Only words are compared; nothing is sent to the embedding model."
    index = VectorIndex.objects.filter(session=session).first()
    every = Passage.objects.filter(session=session).count()
    known = index.passages if index else 0
    where, _, named = index.name.rpartition("#") if index else ("", "", "")
    model = "by a model on this machine" if where == "onnx" else named
    parts = [f"{known:,} of {every:,} passages are compared by meaning" + (f" ({model})" if model else "")]
    if index and index.tokens:
        parts.append(f"{index.tokens:,} tokens were read for it")
    progress = "; ".join(parts) + "."
    return f"{progress} Only words are compared for now: {index.fault}" if index and index.fault else progress
