"""The settings page: models are connected, tested, changed and removed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.contrib.auth.models import User
from django.test import Client

from efforts.context.connections import decrypt_key
from efforts.models import AccountEvent, Endpoint, Session
from tests.fakes.provider import FakeProvider

from .conftest import HTMX

NEW = {
    "name": "Local",
    "base_url": "http://127.0.0.1:1/v1",
    "key": "sk-secret",
    "model": "small",
    "timeout_seconds": "5",
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


@pytest.mark.parametrize(
    "wrong",
    [
        {"name": ""},
        {"name": "Mine"},
        {"base_url": "ftp:x"},
        {"base_url": ""},
        {"timeout_seconds": "0"},
        {"context_window": "-1"},
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


def test_a_test_shows_the_real_answer(as_alice: Client, endpoint: Endpoint, provider: FakeProvider) -> None:
    Endpoint.objects.filter(pk=endpoint.pk).update(base_url=provider.url, model="fake-1")
    part = as_alice.post(f"/settings/endpoints/{endpoint.pk}/test/", headers=HTMX).content.decode()
    assert "It answers" in part


def test_a_test_shows_the_real_error(as_alice: Client, endpoint: Endpoint) -> None:
    for headers in ({}, HTMX):
        part = as_alice.post(f"/settings/endpoints/{endpoint.pk}/test/", headers=headers).content.decode()
        assert "No model answers at http://127.0.0.1:1/v1" in part
    listed = as_alice.get(f"/settings/endpoints/{endpoint.pk}/models/", headers=HTMX).content.decode()
    assert "No model answers at http://127.0.0.1:1/v1" in listed


def test_a_key_that_cannot_be_read_any_more_is_said(as_alice: Client, endpoint: Endpoint) -> None:
    Endpoint.objects.filter(pk=endpoint.pk).update(key_encrypted="of another installation")
    part = as_alice.post(f"/settings/endpoints/{endpoint.pk}/test/", headers=HTMX).content.decode()
    assert "Enter the key again" in part
    Endpoint.objects.filter(pk=endpoint.pk).update(is_default=True)
    assert "Mine answers." in as_alice.get("/").content.decode()
    as_alice.post("/s/new/", {"text": "Hello"})
    chat = as_alice.get(Session.objects.get(owner=endpoint.owner).get_absolute_url())
    assert "Enter the key again" in chat.content.decode()


def test_the_models_of_another_are_not_there(as_bob: Client, endpoint: Endpoint) -> None:
    base = f"/settings/endpoints/{endpoint.pk}/"
    assert as_bob.get(base).status_code == 404
    assert as_bob.get(f"{base}models/").status_code == 404
    for verb in ("test", "default", "delete"):
        assert as_bob.post(f"{base}{verb}/").status_code == 404
    assert "Mine" not in as_bob.get("/settings/").content.decode()


def test_changes_are_made_by_post_alone(as_alice: Client, endpoint: Endpoint) -> None:
    for verb in ("test", "default"):
        assert as_alice.get(f"/settings/endpoints/{endpoint.pk}/{verb}/").status_code == 405
