"""What was said is found in other words, by a model of meanings; without it, or where it fails, by words alone."""

from __future__ import annotations

from datetime import date
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
import pytest
from django.apps import apps
from django.contrib.auth.models import User
from django.test import Client

from efforts import actions
from efforts.actions.conversations import erase_session
from efforts.context.connections import encrypt_key
from efforts.context.embedders import meaning_of
from efforts.domain.effort.policy import ContextMode
from efforts.llm.embeddings import unit
from efforts.llm.protocol import ModelError
from efforts.memory import traces, vectors
from efforts.models import Endpoint, Passage, PassageVector, RetrievalSet, Run, Session, VectorCodes, VectorIndex
from efforts.pages.presenters.meanings import state_of_meanings
from efforts.retrieval.rebuilding import rebuild
from efforts.retrieval.recall import Recollection, recall
from efforts.retrieval.search import search_branch
from efforts.retrieval.vectors import STORED, Asked, Meant, meaning_of_passages, nearest, nearest_of_all
from efforts.tools.again import Repeated, retrieve_again
from tests.efforts.talk import Talk
from tests.fakes.meanings import embeddings
from tests.fakes.provider import FakeProvider, Status

pytestmark = pytest.mark.django_db
QUESTION = "What vessel do I own?"


@pytest.fixture
def meanings(provider: FakeProvider, settings: Any) -> FakeProvider:
    provider.otherwise = embeddings
    settings.CCM_EMBEDDINGS_URL, settings.CCM_EMBEDDINGS_MODEL = provider.url, "words"
    return provider


@pytest.fixture
def told(talk: Talk) -> Talk:
    talk.ask("My boat lies in Kiel.", reply="How nice.")
    talk.ask("I like noodles for dinner.", reply="Good choice.")
    return talk


def embed_all() -> None:
    """As the background does it, here and now."""
    while (batch := vectors.claim_batch()) is not None:
        try:
            vectors.record_batch(batch, batch.embedder.embed(batch.texts, seconds=5))
        except ModelError as error:
            vectors.record_fault(batch, error.text)


def meant(talk: Talk, text: str = QUESTION) -> Meant | None:
    return meaning_of(talk.session, text).meant


def found(talk: Talk, text: str = QUESTION, near: Meant | None = None) -> list[int]:
    ranked = search_branch(talk.branch, text, before=99, today=date(2026, 11, 20), meant=near).ranked
    return [one.found.number for one in ranked if one.own or one.meaning > 5_000]


def recalled(talk: Talk, near: Meant | None) -> Recollection:
    today = date(2026, 11, 20)
    return recall(talk.branch, QUESTION, before=99, mode=ContextMode.LIGHT, today=today, meant=near)


def test_what_was_said_in_other_words_is_found_by_its_meaning_only(told: Talk, meanings: FakeProvider) -> None:
    embed_all()
    assert found(told) == []
    assert found(told, near=meant(told)) == [1]
    assert recalled(told, None).passages == ()
    passage = recalled(told, meant(told)).passages[0]
    assert (passage.text, passage.why) == (
        "My boat lies in Kiel.",
        ("Means something close to it, in other words.",),
    )


def test_what_was_said_before_finds_what_means_the_same_without_a_model(told: Talk, meanings: FakeProvider) -> None:
    told.ask(QUESTION, reply="A fine one.")
    embed_all()
    said = list(Passage.objects.filter(message__turn__number=3, message__role="user").values_list("pk", flat=True))
    asked = len(meanings.requests)
    near = meaning_of_passages(told.session.pk, said)
    assert len(meanings.requests) == asked
    assert sorted(found(told, "zebra", near)) == [1, 3]


def test_several_passages_weigh_no_more_together_than_one(told: Talk, meanings: FakeProvider) -> None:
    embed_all()
    every = list(Passage.objects.values_list("pk", flat=True))
    for some in (every[:1], every):
        near = meaning_of_passages(told.session.pk, some)
        assert near is not None
        assert np.linalg.norm(np.frombuffer(near.vector, STORED).astype(float)) == pytest.approx(1, abs=0.01)


def test_vectors_are_of_length_one_and_that_of_a_text_without_meaning_stays_at_nothing() -> None:
    assert np.allclose(unit([[3.0, 4.0], [0.0, 0.0]]), [[0.6, 0.8], [0.0, 0.0]])


def test_every_passage_gets_one_vector_and_its_cost_is_counted(told: Talk, meanings: FakeProvider) -> None:
    embed_all()
    every = Passage.objects.count()
    assert PassageVector.objects.count() == every > 0
    index = VectorIndex.objects.get()
    assert (index.passages, index.tokens, index.fault) == (every, 7 * every, "")
    assert state_of_meanings(told.session) == (
        f"{every} of {every} passages are compared by meaning (words); {7 * every} tokens were read for it."
    )
    assert vectors.claim_batch() is None


def test_what_is_said_later_is_caught_up_and_nothing_is_asked_twice(told: Talk, meanings: FakeProvider) -> None:
    embed_all()
    told.ask("The puppy ate my shoe.")
    embed_all()
    assert sum(len(request["input"]) for request in meanings.requests) == Passage.objects.count()
    assert found(told, "Do I have a hound?", meant(told, "Do I have a hound?")) == [3]


def test_a_conversation_that_says_no_gives_nothing_away(told: Talk, meanings: FakeProvider) -> None:
    told.session.by_meaning = False
    told.session.save()
    embed_all()
    assert meaning_of(told.session, QUESTION) == Asked()
    assert (meanings.bodies, PassageVector.objects.count()) == ([], 0)


def test_a_model_that_is_down_is_told_and_words_alone_are_compared(told: Talk, meanings: FakeProvider) -> None:
    meanings.otherwise = Status(500, "on fire")
    embed_all()
    index = VectorIndex.objects.get()
    assert "on fire" in index.fault
    assert "Only words are compared for now" in state_of_meanings(told.session)
    # Not again at once.
    assert vectors.claim_batch() is None
    meanings.otherwise = embeddings
    VectorIndex.objects.update(held_until=None)
    embed_all()
    assert found(told, near=meant(told)) == [1]
    meanings.otherwise = Status(500, "on fire")
    asked = meaning_of(told.session, QUESTION)
    assert asked.meant is None
    assert "on fire" in asked.fault


def test_vectors_of_another_length_are_not_compared_and_all_are_made_anew(told: Talk, meanings: FakeProvider) -> None:
    embed_all()
    meanings.otherwise = partial(embeddings, dimension=16)
    asked = meaning_of(told.session, QUESTION)
    assert asked.meant is None
    assert "another length" in asked.fault
    told.ask("The puppy ate my shoe.")
    embed_all()
    assert VectorIndex.objects.get().model.endswith("/16")
    assert found(told, near=meant(told)) == [1]


def test_another_model_makes_its_own_and_is_not_compared_with_those_of_the_last(
    told: Talk, meanings: FakeProvider, settings: Any
) -> None:
    embed_all()
    settings.CCM_EMBEDDINGS_MODEL = "others"
    assert meaning_of(told.session, QUESTION).meant is None
    embed_all()
    every = Passage.objects.count()
    assert PassageVector.objects.filter(model__contains="#others/").count() == every
    assert found(told, near=meant(told)) == [1]


@pytest.mark.parametrize("body", ["[]", '{"data": []}', '{"data": [{"index": 0, "embedding": ["x"]}]}', "no JSON"])
def test_an_answer_that_is_no_vector_is_a_fault_and_no_crash(told: Talk, meanings: FakeProvider, body: str) -> None:
    meanings.otherwise = Status(200, body=body)
    embed_all()
    assert VectorIndex.objects.get().fault
    assert PassageVector.objects.count() == 0


def test_a_retrieval_by_meaning_is_made_again_whatever_was_embedded_since(told: Talk, meanings: FakeProvider) -> None:
    embed_all()
    lease = told.begin(QUESTION)
    run = Run.objects.select_related("turn", "branch").get(pk=lease.run_id)
    today = run.turn.created_at.date()
    near = meant(told)
    made = recall(run.branch, QUESTION, before=run.turn.number, mode=ContextMode.LIGHT, today=today, meant=near)
    assert made.passages
    traces.record_recall(run, made)
    told.finish(lease)
    told.ask("A yacht is a vessel.")
    embed_all()
    row = RetrievalSet.objects.select_related("branch", "run__turn").get()
    assert retrieve_again(row) == Repeated(same=True)
    meanings.close()
    assert retrieve_again(row) == Repeated(same=True)


def test_a_deleted_conversation_leaves_no_vector(told: Talk, meanings: FakeProvider) -> None:
    embed_all()
    near, session = meant(told), told.session.pk
    assert near
    assert nearest(session, near, below=near.through + 1)
    erase_session(told.session, actor=told.session.owner)
    assert [one.objects.count() for one in (PassageVector, VectorCodes, VectorIndex)] == [0, 0, 0]
    assert nearest(session, near, below=near.through + 1) == {}


def of_all(owner: User, near: Meant, most: int = 100, also: tuple[int, ...] = ()) -> dict[int, int]:
    return nearest_of_all(Session.objects.filter(owner=owner), near, most=most, also=also)


@pytest.fixture
def short_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("efforts.retrieval.vectors.OF_A_ROW", 3)


@pytest.mark.usefixtures("short_rows")
def test_all_that_an_owner_said_is_compared_in_two_stages_and_the_nearest_are_as_near_as_in_one(
    told: Talk, meanings: FakeProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    embed_all()
    told.ask("The ferry to Oslo is a fine vessel.")
    embed_all()
    assert [len(bytes(row.passages)) // 8 for row in VectorCodes.objects.order_by("last")] == [3, 3]
    near = meant(told)
    assert near
    exact = nearest(told.session.pk, near, below=10**12)
    assert len(exact) == 6
    assert list(of_all(told.session.owner, near).items()) == list(exact.items())
    monkeypatch.setattr("efforts.retrieval.vectors.CHOSEN", 2)
    first, *_, last = exact
    assert first in of_all(told.session.owner, near, most=1, also=(last,))
    assert len(of_all(told.session.owner, near)) == 2
    assert of_all(told.session.owner, near, most=1, also=(last,))[last] == exact[last]


@pytest.mark.usefixtures("short_rows")
def test_where_the_index_was_mended_codes_are_caught_up_with(told: Talk, meanings: FakeProvider) -> None:
    embed_all()
    near = meant(told)
    assert near
    before = of_all(told.session.owner, near)
    Passage.objects.earliest("pk").delete()
    rebuild()
    embed_all()
    assert of_all(told.session.owner, near) == before


@pytest.mark.usefixtures("short_rows")
def test_where_the_index_had_too_much_at_its_end_all_else_is_compared_at_once(
    told: Talk, meanings: FakeProvider
) -> None:
    embed_all()
    near = meant(told)
    assert near
    before = of_all(told.session.owner, near)
    # Of the last message a passage more than it has, with a vector.
    surplus = Passage.objects.latest("pk")
    surplus.pk += 1
    surplus.save(force_insert=True)
    embed_all()
    assert surplus.pk in of_all(told.session.owner, near)
    rebuild()
    # Nothing is left to be embedded, so nothing else would write them.
    assert of_all(told.session.owner, near) == before


def test_codes_are_written_again_for_what_was_said_before_there_were_any(told: Talk, meanings: FakeProvider) -> None:
    embed_all()
    before = list(VectorCodes.objects.values_list("session", "model", "last", "passages", "codes"))
    VectorCodes.objects.all().delete()
    import_module("efforts.migrations.0031_vector_codes").write(apps, None)
    after = list(VectorCodes.objects.values_list("session", "model", "last", "passages", "codes"))
    assert [tuple(map(str, row)) for row in after] == [tuple(map(str, row)) for row in before] != []


def test_nobody_else_s_passages_are_compared(told: Talk, meanings: FakeProvider, bob: User) -> None:
    other = Talk(actions.create_session(bob))
    other.ask("My boat is red.")
    embed_all()
    near = meant(told)
    assert near
    mine = set(Passage.objects.filter(session=told.session).values_list("pk", flat=True))
    assert set(nearest(told.session.pk, near, below=1 << 62)) == mine


def test_the_model_of_an_endpoint_is_asked_with_its_key_for_its_conversations_only(
    told: Talk, provider: FakeProvider
) -> None:
    provider.otherwise, provider.key = embeddings, "secret"
    other = Talk(actions.create_session(told.session.owner))
    other.ask("My boat is red.")
    told.session.endpoint = Endpoint.objects.create(
        owner=told.session.owner,
        name="Mine",
        base_url=provider.url,
        key_encrypted=encrypt_key("secret"),
        embedding_model="words",
    )
    told.session.save()
    embed_all()
    assert PassageVector.objects.exclude(session=told.session).count() == 0
    assert found(told, near=meant(told)) == [1]
    assert {request["model"] for request in provider.requests} == {"words"}


def test_the_settings_say_how_meanings_are_switched_on(client: Client, told: Talk) -> None:
    client.force_login(told.session.owner)
    page = client.get(f"/s/{told.session.pk}/settings/").content.decode()
    assert "Find by meaning too" in page
    assert "no embedding model is connected" in page
    assert not meaning_of(told.session, QUESTION).fault
