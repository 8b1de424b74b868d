"""The settings page: models are connected, tested, changed and removed."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator
from contextlib import suppress
from decimal import Decimal

import pytest
from django.contrib.auth.models import User
from django.test import Client

from efforts import actions
from efforts.context.connections import decrypt_key
from efforts.models import AccountEvent, Endpoint, SavedPrompt, Session
from efforts.pages.forms import AddressField
from tests.fakes.provider import FakeProvider

from .conftest import HTMX

NEW = {
    "name": "Local",
    "base_url": "http://127.0.0.1:1/v1",
    "key": "sk-secret",
    "model": "small",
    "timeout_seconds": "5",
    "untested": "1",
}


@pytest.fixture
def endpoint(alice: User) -> Endpoint:
    return Endpoint.objects.create(owner=alice, name="Mine", base_url="http://127.0.0.1:1/v1", timeout_seconds=2)


@pytest.fixture
def provider() -> Iterator[FakeProvider]:
    with FakeProvider() as provider:
        yield provider


def test_a_model_is_connected_and_its_key_never_shown(as_alice: Client, alice: User) -> None:
    assert as_alice.post("/settings/endpoints/new/", NEW).headers["Location"] == "/settings/"
    endpoint = Endpoint.objects.get(owner=alice)
    assert "sk-secret" not in endpoint.key_encrypted
    assert decrypt_key(endpoint.key_encrypted) == "sk-secret"
    for address in ("/settings/", f"/settings/endpoints/{endpoint.pk}/"):
        page = as_alice.get(address).content.decode()
        assert "Local" in page
        assert "sk-secret" not in page
        assert endpoint.key_encrypted not in page
    assert AccountEvent.objects.filter(owner=alice, kind="endpoint.added").count() == 1


def test_a_key_stays_until_it_is_replaced_or_forgotten(as_alice: Client, alice: User) -> None:
    as_alice.post("/settings/endpoints/new/", NEW)
    endpoint = Endpoint.objects.get(owner=alice)
    address = f"/settings/endpoints/{endpoint.pk}/"
    as_alice.post(address, {**NEW, "key": ""})
    endpoint.refresh_from_db()
    assert decrypt_key(endpoint.key_encrypted) == "sk-secret"
    as_alice.post(address, {**NEW, "key": "sk-other"})
    endpoint.refresh_from_db()
    assert decrypt_key(endpoint.key_encrypted) == "sk-other"
    as_alice.post(address, {**NEW, "key": "", "forget_key": "on"})
    endpoint.refresh_from_db()
    assert endpoint.key_encrypted == ""


def test_a_model_is_connected_with_what_it_costs(as_alice: Client, alice: User) -> None:
    prices = {"price_prompt": "2.5", "price_completion": "10", "price_cached": "", "currency": "eur"}
    as_alice.post("/settings/endpoints/new/", {**NEW, **prices})
    endpoint = Endpoint.objects.get(owner=alice)
    assert (endpoint.price_prompt, endpoint.price_completion) == (Decimal("2.5"), Decimal(10))
    assert (endpoint.price_cached, endpoint.currency) == (None, "EUR")


@pytest.mark.parametrize(
    ("typed", "address"),
    [
        ("localhost:8080/v1", "http://localhost:8080/v1"),
        ("127.0.0.1:8080", "http://127.0.0.1:8080"),
        ("localhost/v1", "http://localhost/v1"),
        ("https://localhost:8080/v1", "https://localhost:8080/v1"),
    ],
)
def test_an_address_without_a_scheme_is_one_on_this_machine(typed: str, address: str) -> None:
    assert AddressField().clean(typed) == address


def test_what_is_wrong_with_an_address_is_said_once(as_alice: Client) -> None:
    answer = as_alice.post("/settings/endpoints/new/", {**NEW, "base_url": "ftp://x"})
    assert answer.content.decode().count("Enter a valid URL.") == 1


@pytest.mark.parametrize(
    "wrong",
    [
        {"name": ""},
        {"name": "Mine"},
        {"base_url": "ftp:x"},
        {"base_url": ""},
        {"timeout_seconds": "0"},
        {"context_window": "-1"},
        {"price_prompt": "-1"},
    ],
)
def test_what_cannot_be_is_refused_with_the_form(
    wrong: dict[str, str], as_alice: Client, endpoint: Endpoint, alice: User
) -> None:
    answer = as_alice.post("/settings/endpoints/new/", {**NEW, **wrong})
    assert answer.status_code == 422
    assert 'class="error"' in answer.content.decode()
    assert "sk-secret" not in answer.content.decode()
    assert Endpoint.objects.filter(owner=alice).count() == 1


def test_new_conversations_use_one_model_at_a_time(as_alice: Client, alice: User, endpoint: Endpoint) -> None:
    as_alice.post("/settings/endpoints/new/", {**NEW, "is_default": "on"})
    assert Endpoint.objects.get(owner=alice, is_default=True).name == "Local"
    as_alice.post(f"/settings/endpoints/{endpoint.pk}/default/")
    assert Endpoint.objects.get(owner=alice, is_default=True) == endpoint


def test_a_model_is_removed(as_alice: Client, alice: User, endpoint: Endpoint) -> None:
    address = f"/settings/endpoints/{endpoint.pk}/delete/"
    assert "Remove" in as_alice.get(address, headers=HTMX).content.decode()
    as_alice.post(address)
    assert not Endpoint.objects.filter(pk=endpoint.pk).exists()
    assert as_alice.post(address).status_code == 404


def to_be_asked(provider: FakeProvider, **changes: str) -> dict[str, str]:
    values = {**NEW, "base_url": provider.url, "model": "", **changes}
    del values["untested"]
    return values


def test_it_is_asked_before_it_is_saved_and_the_real_error_told(as_alice: Client, alice: User) -> None:
    untested = {name: value for name, value in NEW.items() if name != "untested"}
    answer = as_alice.post("/settings/endpoints/new/", untested)
    page = answer.content.decode()
    assert answer.status_code == 422
    assert "No model answers at http://127.0.0.1:1/v1" in page
    assert "The key that you typed is kept" in page
    assert "Forget the stored key" not in page
    assert "Save anyway" in page
    assert "messages to it fail until a test succeeds" in page
    assert "sk-secret" not in page
    [kept] = re.findall(r'name="kept_key" value="([^"]+)"', page)
    assert not Endpoint.objects.exists()
    assert as_alice.post("/settings/endpoints/new/", {**NEW, "key": "", "kept_key": kept}).status_code == 302
    assert decrypt_key(Endpoint.objects.get().key_encrypted) == "sk-secret"


def test_an_address_that_accepts_and_says_nothing_is_waited_for_once(as_alice: Client) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}/v1"
        asked = {**NEW, "base_url": address, "timeout_seconds": "2"}
        del asked["untested"]
        answer = as_alice.post("/settings/endpoints/new/", asked)
        assert answer.status_code == 422
        assert "The model sent nothing for 2 seconds." in answer.content.decode()
        connections = []
        with suppress(BlockingIOError):
            silent.setblocking(False)
            while True:
                connections.append(silent.accept())
        for connection, _ in connections:
            connection.close()
    assert len(connections) == 1


def test_the_only_model_of_an_address_is_taken_with_its_window(as_alice: Client, provider: FakeProvider) -> None:
    provider.models = {"only": {"meta": {"n_ctx_train": 32_768}}}
    assert as_alice.post("/settings/endpoints/new/", to_be_asked(provider)).status_code == 302
    endpoint = Endpoint.objects.get()
    assert (endpoint.model, endpoint.context_window) == ("only", 32_768)


def test_of_several_models_one_is_chosen_first(as_alice: Client, provider: FakeProvider) -> None:
    answer = as_alice.post("/settings/endpoints/new/", to_be_asked(provider))
    page = answer.content.decode()
    assert answer.status_code == 422
    assert '<option value="large">' in page
    assert not Endpoint.objects.exists()
    assert as_alice.post("/settings/endpoints/new/", to_be_asked(provider, model="large")).status_code == 302
    assert Endpoint.objects.get().model == "large"


def test_what_an_address_offers_is_shown_while_it_is_typed(as_alice: Client, provider: FakeProvider) -> None:
    provider.models = {"small": {"context_length": 8_192}}
    page = as_alice.post("/settings/endpoints/look/", {"base_url": provider.url}, headers=HTMX).content.decode()
    assert "8,192 tokens" in page
    assert not Endpoint.objects.exists()


def ticked(client: Client) -> bool:
    (box,) = re.findall(
        r'<input type="checkbox" name="is_default"[^>]*>', client.get("/settings/endpoints/new/").content.decode()
    )
    return " checked" in box


def test_the_first_model_is_offered_for_new_conversations_and_no_other_by_itself(as_alice: Client, alice: User) -> None:
    assert ticked(as_alice)
    Endpoint.objects.create(owner=alice, name="Other", base_url="http://127.0.0.1:1/v1")
    assert not ticked(as_alice)


def test_what_few_need_is_folded_until_it_is_wanted_or_wrong(as_alice: Client, endpoint: Endpoint) -> None:
    def unfolds(page: str) -> bool:
        assert ">More settings<" in page
        return "<details open><summary" in page

    assert not unfolds(as_alice.get("/settings/endpoints/new/").content.decode())
    wrong = {"name": "New", "base_url": "http://127.0.0.1:1/v1", "timeout_seconds": "0"}
    assert unfolds(as_alice.post("/settings/endpoints/new/", wrong).content.decode())
    assert not unfolds(as_alice.post("/settings/endpoints/new/", {**wrong, "timeout_seconds": "60"}).content.decode())
    assert unfolds(as_alice.get(f"/settings/endpoints/{endpoint.pk}/").content.decode())


def test_usual_servers_are_a_click_away(as_alice: Client) -> None:
    assert 'href="?preset=ollama"' in as_alice.get("/settings/endpoints/new/").content.decode()
    page = as_alice.get("/settings/endpoints/new/?preset=ollama").content.decode()
    assert 'value="http://127.0.0.1:11434/v1"' in page
    assert as_alice.get("/settings/endpoints/new/?preset=none").status_code == 200


def test_a_test_shows_the_real_answer(as_alice: Client, endpoint: Endpoint, provider: FakeProvider) -> None:
    Endpoint.objects.filter(pk=endpoint.pk).update(base_url=provider.url, model="fake-1")
    part = as_alice.post(f"/settings/endpoints/{endpoint.pk}/test/", headers=HTMX).content.decode()
    assert "It answers" in part


def test_a_test_shows_the_real_error(as_alice: Client, endpoint: Endpoint) -> None:
    for headers in ({}, HTMX):
        part = as_alice.post(f"/settings/endpoints/{endpoint.pk}/test/", headers=headers).content.decode()
        assert "No model answers at http://127.0.0.1:1/v1" in part
    typed = {"base_url": "http://127.0.0.1:1/v1"}
    for address in (f"/settings/endpoints/{endpoint.pk}/look/", "/settings/endpoints/look/"):
        told = as_alice.post(address, typed).content.decode()
        assert "No model answers at http://127.0.0.1:1/v1: nothing listens on port 1 of 127.0.0.1." in told


def test_a_key_that_cannot_be_read_any_more_is_said(as_alice: Client, endpoint: Endpoint) -> None:
    Endpoint.objects.filter(pk=endpoint.pk).update(key_encrypted="of another installation")
    part = as_alice.post(f"/settings/endpoints/{endpoint.pk}/test/", headers=HTMX).content.decode()
    assert "Enter the key again" in part
    Endpoint.objects.filter(pk=endpoint.pk).update(is_default=True)
    assert "Model: Mine." in as_alice.get("/").content.decode()
    as_alice.post("/s/new/", {"text": "Hello"})
    chat = as_alice.get(Session.objects.get(owner=endpoint.owner).get_absolute_url())
    assert "Enter the key again" in chat.content.decode()


def test_the_models_of_another_are_not_there(as_bob: Client, endpoint: Endpoint) -> None:
    base = f"/settings/endpoints/{endpoint.pk}/"
    assert as_bob.get(base).status_code == 404
    for verb in ("test", "default", "delete", "look"):
        assert as_bob.post(f"{base}{verb}/").status_code == 404
    assert "Mine" not in as_bob.get("/settings/").content.decode()


def test_changes_are_made_by_post_alone(as_alice: Client, endpoint: Endpoint) -> None:
    for verb in ("test", "default", "look"):
        assert as_alice.get(f"/settings/endpoints/{endpoint.pk}/{verb}/").status_code == 405


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("http://127.0.0.1:8080/internal?b=", "An address has no ? or #"),
        ("http://me:secret@127.0.0.1/v1", "no name or password"),
        ("http://169.254.169.254/v1", "does not allow a model at 169.254.169.254"),
        ("http://192.168.1.20:8080/v1", "does not allow a model at 192.168.1.20"),
    ],
)
def test_an_address_that_leads_astray_is_refused_with_why(
    as_alice: Client, alice: User, address: str, words: str
) -> None:
    answer = as_alice.post("/settings/endpoints/new/", {**NEW, "base_url": address})
    assert answer.status_code == 422
    assert words in answer.content.decode()
    assert not Endpoint.objects.filter(owner=alice).exists()


def test_a_machine_of_the_local_network_is_connected_after_one_line(as_alice: Client, alice: User, settings) -> None:
    settings.CCM_MODEL_HOSTS = ["public", "loopback", "192.168.1.20"]
    as_alice.post("/settings/endpoints/new/", {**NEW, "base_url": "http://192.168.1.20:8080/v1"})
    assert Endpoint.objects.filter(owner=alice).exists()


def test_where_own_models_are_for_staff_others_are_told_so(as_alice: Client, alice: User, settings) -> None:
    settings.CCM_OWN_MODELS = "staff"
    assert "only staff connect models" in as_alice.get("/settings/").content.decode()
    answer = as_alice.post("/settings/endpoints/new/", NEW)
    assert (answer.status_code, Endpoint.objects.filter(owner=alice).exists()) == (422, False)
    User.objects.filter(pk=alice.pk).update(is_staff=True)
    assert as_alice.post("/settings/endpoints/new/", NEW).status_code == 302


def test_instructions_are_priced_while_they_are_typed_and_kept(as_alice: Client, alice: User) -> None:
    assert "Nothing is added while this is empty." in as_alice.get("/settings/instructions/").content.decode()
    priced = as_alice.post("/settings/instructions/price/", {"text": "Be brief."}).content.decode()
    assert re.search(r"They add \d+ tokens to every request\.", priced)
    assert as_alice.post("/settings/instructions/", {"text": "Be brief."}).status_code == 302
    assert "Be brief." in as_alice.get("/settings/").content.decode()
    refused = as_alice.post("/settings/instructions/", {"text": "x" * 4_001})
    assert refused.status_code == 422
    assert "4,000 is the most" in refused.content.decode()


def test_instructions_of_a_conversation_are_its_owners(as_alice: Client, as_bob: Client, alice: User) -> None:
    address = f"{actions.create_session(alice).get_absolute_url()}instructions/"
    assert as_bob.post(address, {"text": "Mine now."}).status_code == 404
    as_alice.post(address, {"text": "About taxes."})
    page = as_alice.get(address, headers={"HX-Request": "true"}).content.decode()
    assert "About taxes." in page
    assert "with every request of this conversation" in page


def test_a_prompt_is_saved_edited_and_deleted(as_alice: Client, as_bob: Client, alice: User) -> None:
    as_alice.post("/settings/prompts/new/", {"name": "/Standup", "text": "What did I do?\r\nWhat is next?"})
    row = SavedPrompt.objects.get()
    assert (row.owner, row.name, row.text) == (alice, "standup", "What did I do?\nWhat is next?")
    assert "/standup" in as_alice.get("/settings/").content.decode()
    assert as_alice.get(f"/settings/prompts/{row.pk}/text/").json() == {"text": row.text}
    assert as_bob.get(f"/settings/prompts/{row.pk}/text/").status_code == 404
    chat = as_alice.get(actions.create_session(alice).get_absolute_url()).content.decode()
    assert 'data-name="standup"' in chat
    as_alice.post(f"/settings/prompts/{row.pk}/edit/", {"name": "daily", "text": "Next?"})
    row.refresh_from_db()
    assert (row.name, row.text) == ("daily", "Next?")
    as_alice.post(f"/settings/prompts/{row.pk}/delete/")
    assert not SavedPrompt.objects.exists()
    kinds = AccountEvent.objects.filter(owner=alice, kind__startswith="prompt.").values_list("kind", flat=True)
    assert sorted(kinds) == ["prompt.deleted", "prompt.saved", "prompt.saved"]


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("done", "/done is a command already"),
        ("summarize", "/summarize is a command already"),
        ("two words", "letters, digits and hyphens"),
        ("-x", "letters, digits and hyphens"),
        ("daily", "You already have a prompt named /daily"),
    ],
)
def test_a_name_that_cannot_be_typed_or_is_taken_is_refused(as_alice: Client, alice: User, name: str, why: str) -> None:
    SavedPrompt.objects.create(owner=alice, name="daily", text="Next?")
    answer = as_alice.post("/settings/prompts/new/", {"name": name, "text": "Hello"})
    assert answer.status_code == 422
    assert why in answer.content.decode()
