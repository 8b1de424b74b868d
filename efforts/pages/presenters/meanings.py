"""How far the meanings of a conversation are known, in words."""

from __future__ import annotations

from efforts.context.embedders import is_offered
from efforts.models import Passage, Session, VectorIndex

NO_MODEL = (
    "Words alone are compared: no model of meanings is connected. Name one at the model's endpoint in Settings, or set "
    "CCM_EMBEDDINGS_FOLDER or CCM_EMBEDDINGS_URL for the installation."
)


def state_of_meanings(session: Session) -> str:
    if not is_offered(session):
        return NO_MODEL
    if not session.by_meaning:
        return "Words alone are compared, and nothing is given to the model of meanings."
    index = VectorIndex.objects.filter(session=session).first()
    every = Passage.objects.filter(session=session).count()
    known = index.passages if index else 0
    where, _, named = index.name.rpartition("#") if index else ("", "", "")
    model = "by a model on this machine" if where == "onnx" else named
    parts = [f"{known:,} of {every:,} passages are compared by meaning" + (f" ({model})" if model else "")]
    if index and index.tokens:
        parts.append(f"{index.tokens:,} tokens were read for it")
    progress = "; ".join(parts) + "."
    return f"{progress} Words alone for now: {index.fault}" if index and index.fault else progress
