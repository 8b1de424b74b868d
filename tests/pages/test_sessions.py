"""The list of conversations; renaming, archiving, deleting and setting up one."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.test import Client

from efforts import actions
from efforts.context.planning import chosen_settings
from efforts.models import Endpoint, Session

from .conftest import HTMX

Address = Callable[..., str]
SETTINGS = {
    "endpoint": "default",
    "model": "",
    "budget": "8000",
    "ambient_window": "6",
    "decay_threshold": "2",
    "eviction_threshold": "9",
    "context_mode": "light",
    "review_mode": "automatic",
}


def test_the_list_holds_ones_own_conversations(as_alice: Client, alice: User, bob: User) -> None:
    actions.create_session(alice, title="Sailing")
    actions.create_session(bob, title="Secret")
    page = as_alice.get("/conversations/", headers=HTMX).content.decode()
    assert "Sailing" in page
    assert "Secret" not in page
    assert "<html" in as_alice.get("/conversations/").content.decode()


def test_the_list_is_filtered_by_title(as_alice: Client, alice: User) -> None:
    actions.create_session(alice, title="Sailing")
    actions.create_session(alice, title="Thesis")
    page = as_alice.get("/conversations/?q=sail", headers=HTMX).content.decode()
    assert "Sailing" in page
    assert "Thesis" not in page
    none = as_alice.get("/conversations/?q=<b>", headers=HTMX).content.decode()
    assert "&lt;b&gt;" in none


def test_the_open_one_is_marked(as_alice: Client, session: Session) -> None:
    page = as_alice.get(f"/conversations/?current={session.pk}", headers=HTMX).content.decode()
    assert 'aria-current="page"' in page
    assert 'aria-current="page"' not in as_alice.get("/conversations/?current=x", headers=HTMX).content.decode()


def test_a_conversation_is_renamed(as_alice: Client, session: Session, address: Address) -> None:
    assert "<form" in as_alice.get(address("rename/"), headers=HTMX).content.decode()
    answer = as_alice.post(address("rename/"), {"title": "Spring release"}, headers=HTMX)
    session.refresh_from_db()
    assert answer.status_code == 204
    assert "conversations" in answer.headers["HX-Trigger"]
    assert session.title == "Spring release"


@pytest.mark.parametrize("title", ["", "   ", "x" * 201, "bell \x07"])
def test_a_title_that_cannot_be_is_refused_with_the_form(
    title: str, as_alice: Client, session: Session, address: Address
) -> None:
    answer = as_alice.post(address("rename/"), {"title": title}, headers=HTMX)
    assert answer.status_code == 422
    assert 'class="error"' in answer.content.decode()


def test_markup_in_a_title_is_text(as_alice: Client, session: Session, address: Address) -> None:
    as_alice.post(address("rename/"), {"title": "<script>alert(1)</script>"})
    page = as_alice.get(address()).content.decode()
    assert "<script>alert(1)" not in page
    assert "&lt;script&gt;alert(1)" in page


def test_a_conversation_is_archived_and_brought_back(as_alice: Client, session: Session, address: Address) -> None:
    as_alice.post(address("archive/"), headers=HTMX)
    assert address() not in as_alice.get("/conversations/", headers=HTMX).content.decode()
    assert address() in as_alice.get("/conversations/?archived=1", headers=HTMX).content.decode()
    as_alice.post(address("archive/"), {"archived": "0"})
    assert address() in as_alice.get("/conversations/", headers=HTMX).content.decode()


def test_a_conversation_is_deleted_by_its_name(as_alice: Client, session: Session, address: Address) -> None:
    wrong = as_alice.post(address("delete/"), {"typed_name": "something else"}, headers=HTMX)
    assert wrong.status_code == 422
    assert Session.objects.filter(pk=session.pk).exists()
    here = {**HTMX, "HX-Current-URL": f"http://testserver{address()}"}
    answer = as_alice.post(address("delete/"), {"typed_name": "New conversation"}, headers=here)
    assert (answer.status_code, answer.headers["HX-Redirect"]) == (204, "/")
    assert not Session.objects.filter(pk=session.pk).exists()
    assert as_alice.post(address("delete/"), {"typed_name": "New conversation"}).status_code == 404


def test_deleting_another_conversation_leaves_the_page_where_it_is(
    as_alice: Client, session: Session, address: Address
) -> None:
    elsewhere = {**HTMX, "HX-Current-URL": "http://testserver/settings/"}
    answer = as_alice.post(address("delete/"), {"typed_name": "New conversation"}, headers=elsewhere)
    assert "HX-Redirect" not in answer.headers
    assert "closeDialog" in answer.headers["HX-Trigger"]


def test_model_and_budget_are_set(as_alice: Client, alice: User, session: Session, address: Address) -> None:
    endpoint = Endpoint.objects.create(owner=alice, name="Local", base_url="http://127.0.0.1:1/v1", model="small")
    values = {**SETTINGS, "endpoint": f"endpoint:{endpoint.pk}"}
    answer = as_alice.post(address("settings/"), values, headers=HTMX)
    session.refresh_from_db()
    assert answer.status_code == 204
    assert session.endpoint == endpoint
    assert (session.budget, session.ambient_window) == (8000, 6)
    assert (session.decay_threshold, session.eviction_threshold) == (2, 9)
    assert "small · Local" in as_alice.get(address()).content.decode()


@pytest.mark.parametrize(
    "wrong",
    [
        {"budget": "3999"},
        {"budget": "many"},
        {"ambient_window": "-1"},
        {"decay_threshold": "0"},
        {"eviction_threshold": "soon"},
        {"endpoint": "endpoint:99"},
        {"budget": ""},
        {"context_mode": "full"},
    ],
)
def test_settings_that_cannot_be_are_refused_with_the_form(
    wrong: dict[str, str], as_alice: Client, session: Session, address: Address
) -> None:
    answer = as_alice.post(address("settings/"), {**SETTINGS, **wrong}, headers=HTMX)
    session.refresh_from_db()
    assert answer.status_code == 422
    assert 'class="error"' in answer.content.decode()
    assert session.budget == 16_000


def test_nobody_uses_the_model_of_another(as_alice: Client, bob: User, session: Session, address: Address) -> None:
    endpoint = Endpoint.objects.create(owner=bob, name="Bobs", base_url="http://127.0.0.1:1/v1")
    answer = as_alice.post(address("settings/"), {**SETTINGS, "endpoint": f"endpoint:{endpoint.pk}"})
    assert answer.status_code == 422


def test_the_cache_is_preferred_where_the_settings_say_so_and_the_page_says_it(
    as_alice: Client, session: Session, address: Address
) -> None:
    told = "turns leave a full window in blocks"
    assert told not in as_alice.get(address("context/")).content.decode()
    as_alice.post(address("settings/"), {**SETTINGS, "prefer_cache": "on"}, headers=HTMX)
    assert told in as_alice.get(address("context/")).content.decode()
    assert chosen_settings(Session.objects.get(pk=session.pk))["prefer_cache"] is True
    as_alice.post(address("settings/"), SETTINGS, headers=HTMX)
    assert told not in as_alice.get(address("context/")).content.decode()
