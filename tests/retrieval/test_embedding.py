"""The background in which passages get their vectors."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User

from efforts import actions
from efforts.models import Passage, PassageVector, VectorIndex
from efforts.models.threads import read, write
from efforts.turns.embedding import embed_some
from tests.efforts.talk import Talk
from tests.fakes.meanings import embeddings
from tests.fakes.provider import FakeProvider, Status

pytestmark = pytest.mark.django_db(transaction=True)


def told(owner: User) -> None:
    talk = Talk(actions.create_session(owner))
    for number in range(40):
        talk.ask(f"My boat number {number} lies in Kiel.")


async def test_all_passages_get_vectors_batch_by_batch_and_a_fault_ends_nothing(
    alice: User, provider: FakeProvider, settings: Any
) -> None:
    settings.CCM_EMBEDDINGS_URL, settings.CCM_EMBEDDINGS_MODEL = provider.url, "words"
    provider.script, provider.otherwise = [embeddings, Status(503, "busy")], embeddings
    await write(told, alice)
    assert await embed_some()
    assert await embed_some()
    index = await read(VectorIndex.objects.get)
    assert (index.passages, "busy" in index.fault) == (64, True)
    assert not await embed_some()
    await write(VectorIndex.objects.update, held_until=None)
    assert await embed_some()
    assert not await embed_some()
    assert await read(PassageVector.objects.count) == await read(Passage.objects.count) == 80
