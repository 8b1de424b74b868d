"""Code is found in other words, by a model of meanings; without it, or where it fails, by words alone."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from efforts import actions
from efforts.actions.conversations import erase_session
from efforts.context.embedders import Wording
from efforts.domain.effort.policy import ContextMode
from efforts.llm.protocol import ModelError
from efforts.models import Endpoint, RetrievalSet, Run, Session
from efforts.retrieval.vectors import Asked, Meant
from efforts.standins import coding
from efforts.tools import ToolContext
from tests.fakes.meanings import embeddings
from tests.fakes.provider import FakeProvider, Status
from tests.workspaces.conftest import indexed, write
from workspaces.actions import attach_folder
from workspaces.indexing import meanings
from workspaces.models import CodeHit, Symbol, SymbolVector, SymbolVectorIndex, Workspace
from workspaces.retrieval.cards import cards_of
from workspaces.retrieval.meanings import meaning_in
from workspaces.retrieval.search import search
from workspaces.tools.finding import search_code

pytestmark = pytest.mark.django_db
HARBOUR = '''def launch(it):
    """Put a boat afloat."""
    return it


def cook(it):
    """Make dinner."""
    return it
'''
QUESTION = "Where do yachts, or any vessel, begin?"
COOK = '"""Make dinner."""'


@pytest.fixture
def model(provider: FakeProvider, settings: Any) -> FakeProvider:
    provider.otherwise = embeddings
    settings.CCM_EMBEDDINGS_URL, settings.CCM_EMBEDDINGS_MODEL = provider.url, "words"
    return provider


@pytest.fixture
def shop(root: Path, workspace: Workspace) -> Workspace:
    write(root, harbour_py=HARBOUR, tests__test_harbour_py="def test_boat():\n    pass\n")
    return indexed(workspace)


def embed_all() -> int:
    """As the background does it, here and now; how many requests it took."""
    requests = 0
    while (batch := meanings.claim_batch()) is not None:
        requests += 1
        try:
            meanings.record_batch(batch, batch.embedder.embed(batch.texts, seconds=5))
        except ModelError as error:
            meanings.record_fault(batch, error.text)
    return requests


def asked(workspace: Workspace, session: Session, text: str = QUESTION) -> Asked:
    return meaning_in(workspace, Wording(session, text))


def found(workspace: Workspace, meant: Meant | None, query: str = QUESTION) -> list[str]:
    assert workspace.current is not None
    result = search(workspace.current, query, most=8, meant=meant)
    return [result.rows[one.symbol].qualified for one in result.scored]


def sent(model: FakeProvider) -> list[str]:
    return [text for request in model.requests for text in request["input"]]


def test_code_is_found_in_other_words_by_its_meaning_only(
    shop: Workspace, session: Session, model: FakeProvider
) -> None:
    embed_all()
    assert found(shop, None) == []
    meant = asked(shop, session).meant
    assert found(shop, meant)[0] == "harbour.launch"
    assert shop.current is not None
    result = search(shop.current, QUESTION, most=8, meant=meant)
    assert result.scored[0].ranks["meaning"] == 1
    card = next(iter(cards_of(shop.current, result, ContextMode.LIGHT)))
    assert (card.symbol.qualified, card.why) == ("harbour.launch", ("Means something close to it, in other words.",))


def test_beside_its_words_a_card_says_that_its_meaning_is_near(
    shop: Workspace, session: Session, model: FakeProvider
) -> None:
    embed_all()
    query = f"{QUESTION} harbour"
    assert shop.current is not None
    result = search(shop.current, query, most=8, meant=asked(shop, session).meant)
    why = {card.symbol.qualified: card.why for card in cards_of(shop.current, result, ContextMode.LIGHT)}
    assert why["harbour.launch"][:2] == ("Has “harbour”.", "Its meaning is near to that of your message.")


def test_what_means_little_of_a_message_is_no_card(shop: Workspace, session: Session, model: FakeProvider) -> None:
    embed_all()
    assert shop.current is not None
    result = search(shop.current, "hello", most=8, meant=asked(shop, session, "hello").meant)
    names = [card.symbol.name for card in cards_of(shop.current, result, ContextMode.LIGHT)]
    assert names == []


def test_each_content_is_asked_for_once_and_tests_never(shop: Workspace, session: Session, model: FakeProvider) -> None:
    assert embed_all() == 1
    assert [text.split(".")[0] for text in sent(model)] == [
        "module harbour",
        "function harbour launch",
        "function harbour cook",
    ]
    index = SymbolVectorIndex.objects.get()
    assert (index.symbols, index.complete, index.tokens, index.fault) == (3, True, 21, "")
    assert embed_all() == 0


def test_after_a_change_only_new_contents_are_asked_for(
    shop: Workspace, session: Session, root: Path, model: FakeProvider
) -> None:
    embed_all()
    write(root, harbour_py=HARBOUR.replace("Make dinner", "Cook food"), galley_py=HARBOUR)
    first = len(sent(model))
    indexed(shop)
    # What has not changed is compared before anything is asked.
    assert found(shop, asked(shop, session).meant)[0] == "harbour.launch"
    model.bodies.clear()
    embed_all()
    assert first == 3
    assert sorted(text.split(".")[0] for text in sent(model)) == [
        "function galley cook",
        "function galley launch",
        "function harbour cook",
        "module galley",
        "module harbour",
    ]
    index = SymbolVectorIndex.objects.get()
    assert (index.symbols, index.complete) == (6, True)


def test_a_folder_that_came_back_to_what_it_was_asks_for_nothing(
    shop: Workspace, root: Path, model: FakeProvider
) -> None:
    embed_all()
    write(root, harbour_py="x = 1\n")
    indexed(shop)
    embed_all()
    model.bodies.clear()
    write(root, harbour_py=HARBOUR)
    indexed(shop)
    assert (embed_all(), model.bodies) == (0, [])
    assert SymbolVectorIndex.objects.get().symbols == 3


def test_more_symbols_than_one_request_or_one_look_takes(
    workspace: Workspace, session: Session, root: Path, model: FakeProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(meanings, "AT_ONCE", 2)
    monkeypatch.setattr(meanings, "LOOKED_AT", 3)
    write(root, many_py="".join(f"def number_{n}():\n    return {n}\n\n\n" for n in range(9)), boat_py=HARBOUR)
    indexed(workspace)
    assert embed_all() >= 6
    every = Symbol.objects.count()
    assert SymbolVector.objects.count() == every == 13
    assert SymbolVectorIndex.objects.get().symbols == every
    assert found(workspace, asked(workspace, session).meant)[0] == "boat.launch"


def test_no_more_symbols_than_a_folder_may_have(
    shop: Workspace, as_alice: Client, model: FakeProvider, settings: Any
) -> None:
    settings.CCM_WORKSPACE_MEANINGS = 2
    embed_all()
    assert SymbolVector.objects.count() == 2
    page = as_alice.get(reverse("workspace", args=[shop.pk])).text
    assert "2 of 3 symbols are compared by meaning (words). 14 tokens were read for it." in page
    assert "as many as one folder may have" in page


def test_the_page_says_how_far_it_is_and_what_it_cost(shop: Workspace, as_alice: Client, model: FakeProvider) -> None:
    assert "0 of 3 symbols are compared by meaning (words)." in as_alice.get(reverse("workspace", args=[shop.pk])).text
    embed_all()
    page = as_alice.get(reverse("workspace_progress", args=[shop.pk])).text
    assert "3 of 3 symbols are compared by meaning (words). 21 tokens were read for it." in page
    assert "hx-trigger" not in page


def test_without_a_model_nothing_is_said_or_done(shop: Workspace, session: Session, as_alice: Client) -> None:
    assert embed_all() == 0
    assert asked(shop, session) == Asked()
    assert SymbolVectorIndex.objects.count() == 0
    assert "meaning" not in as_alice.get(reverse("workspace", args=[shop.pk])).text


def test_a_conversation_that_says_no_gives_no_code_away(
    shop: Workspace, session: Session, model: FakeProvider, as_alice: Client
) -> None:
    session.by_meaning = False
    session.save()
    assert embed_all() == 0
    assert asked(shop, session) == Asked()
    assert model.bodies == []
    assert "code-meanings" not in as_alice.get(reverse("workspace", args=[shop.pk])).text


def test_each_endpoint_has_its_own_vectors(
    shop: Workspace, session: Session, root: Path, alice: User, model: FakeProvider, settings: Any
) -> None:
    embed_all()
    endpoint = Endpoint.objects.create(
        owner=alice, name="other", base_url=settings.CCM_EMBEDDINGS_URL, model="m", embedding_model="others"
    )
    other = actions.create_session(alice)
    attach_folder(other, str(root), actor=alice)
    Session.objects.filter(pk=other.pk).update(endpoint=endpoint)
    other.refresh_from_db()
    embed_all()
    assert set(SymbolVectorIndex.objects.values_list("symbols", flat=True)) == {3}
    first, second = asked(shop, session).meant, asked(shop, other).meant
    assert first
    assert second
    assert first.model != second.model
    assert found(shop, first) == found(shop, second)


def test_a_model_that_is_down_is_told_and_words_alone_are_compared(
    shop: Workspace, session: Session, model: FakeProvider, as_alice: Client
) -> None:
    model.otherwise = Status(500, "on fire")
    assert embed_all() == 1
    page = as_alice.get(reverse("workspace", args=[shop.pk])).text
    assert "Only words are compared for now:" in page
    assert "on fire" in page
    model.otherwise = embeddings
    SymbolVectorIndex.objects.update(held_until=None)
    embed_all()
    assert asked(shop, session).meant
    model.otherwise = Status(500, "on fire")
    told = asked(shop, session)
    assert (told.meant, "on fire" in told.fault) == (None, True)


def test_vectors_of_another_length_are_made_anew(shop: Workspace, session: Session, model: FakeProvider) -> None:
    embed_all()
    model.otherwise = partial(embeddings, dimension=16)
    told = asked(shop, session)
    assert (told.meant, "another length" in told.fault) == (None, True)
    embed_all()
    assert SymbolVectorIndex.objects.get().model.endswith("/16")
    assert found(shop, asked(shop, session).meant)[0] == "harbour.launch"


def test_another_length_in_between_begins_again(
    shop: Workspace, session: Session, model: FakeProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(meanings, "AT_ONCE", 1)
    model.script = [embeddings]
    model.otherwise = partial(embeddings, dimension=16)
    embed_all()
    index = SymbolVectorIndex.objects.get()
    assert (index.symbols, index.complete, index.model[-3:]) == (3, True, "/16")
    assert SymbolVector.objects.filter(model=index.model).count() == 3


def test_a_secret_in_code_is_not_sent(workspace: Workspace, root: Path, model: FakeProvider) -> None:
    write(root, keys_py='def enter():\n    return "sk-proj-abcdefghijklmnopqrst"\n')
    indexed(workspace)
    embed_all()
    assert "enter" in str(sent(model))
    assert "abcdefghijklmnopqrst" not in str(sent(model))


def test_a_search_by_meaning_is_made_again_whatever_was_embedded_since(
    shop: Workspace, session: Session, run: Run, root: Path, model: FakeProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(meanings, "AT_ONCE", 2)
    batch = meanings.claim_batch()
    assert batch is not None
    meanings.record_batch(batch, batch.embedder.embed(batch.texts, seconds=5))
    told = coding.registered().meaning(run, QUESTION)
    assert told.meant
    matches = search_code(ToolContext(run=run, asked=told), query=QUESTION)["matches"]
    assert matches[0]["symbol"] == "harbour.launch"
    row = RetrievalSet.objects.get()
    assert row.params["meaning"] == told.meant.params
    assert CodeHit.objects.filter(retrieval=row).values_list("ranks", flat=True)[0] == {"text": 2, "meaning": 1}
    embed_all()
    write(root, harbour_py=HARBOUR.replace("boat", "yacht"))
    indexed(shop)
    embed_all()
    model.close()
    assert coding.registered().found_again(row) == row.result_hash


def test_a_search_without_an_answer_of_the_model_says_so(shop: Workspace, run: Run, model: FakeProvider) -> None:
    embed_all()
    model.otherwise = Status(500, "on fire")
    told = coding.registered().meaning(run, "make dinner")
    result = search_code(ToolContext(run=run, asked=told), query="make dinner")
    assert result["matches"][0]["symbol"] == "harbour.cook"
    assert "on fire" in result["words_alone"]
    assert "on fire" in RetrievalSet.objects.get().params["words_alone"]


def test_a_deleted_conversation_leaves_no_vector_of_its_code(
    shop: Workspace, session: Session, model: FakeProvider
) -> None:
    embed_all()
    meant = asked(shop, session).meant
    assert found(shop, meant)
    erase_session(session, actor=session.owner)
    assert [one.objects.count() for one in (SymbolVector, SymbolVectorIndex, Workspace)] == [0, 0, 0]


def test_an_index_of_an_earlier_version_says_what_to_do(shop: Workspace, as_alice: Client, model: FakeProvider) -> None:
    Symbol.objects.update(content_sha256=None)
    embed_all()
    assert "until it is indexed again" in as_alice.get(reverse("workspace", args=[shop.pk])).text
