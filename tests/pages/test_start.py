"""The start page, the theme, and what every page promises."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client

from efforts.models import Endpoint, Message, Session


def test_it_says_what_answers_and_how_to_begin(as_alice: Client) -> None:
    page = as_alice.get("/").content.decode()
    assert page.count("No language model is connected yet.") == 1
    offers = [page.index(words) for words in ("Connect a model", 'name="text"', "Open the example")]
    assert offers == sorted(offers), "what helps most comes first"


def test_who_has_a_model_that_new_conversations_do_not_use_is_told_so(as_alice: Client, alice: User) -> None:
    Endpoint.objects.create(owner=alice, name="Mine", base_url="http://127.0.0.1:1/v1")
    page = as_alice.get("/").content.decode()
    assert "No language model is connected yet." not in page
    assert "New conversations do not use a language model." in page


def test_the_first_message_opens_a_conversation(as_alice: Client, alice: User) -> None:
    answer = as_alice.post("/s/new/", {"text": "Why is the sky blue?"})
    session = Session.objects.get(owner=alice)
    assert answer.headers["Location"] == session.get_absolute_url()
    assert str(session) == "Why is the sky blue?"
    assert Message.objects.get(session=session).text == "Why is the sky blue?"


def test_a_message_that_is_refused_opens_nothing_and_is_kept(as_alice: Client, alice: User) -> None:
    answer = as_alice.post("/s/new/", {"text": "nul \x00 here"})
    assert answer.status_code == 422
    assert "here</textarea>" in answer.content.decode()
    assert not Session.objects.filter(owner=alice).exists()


def test_opening_is_by_post_alone(as_alice: Client) -> None:
    for address in ("/s/new/", "/theme/"):
        assert as_alice.get(address).status_code == 405
    assert as_alice.post("/").status_code == 405


def test_the_theme_is_drawn_by_the_server(as_alice: Client) -> None:
    answer = as_alice.post("/theme/", {"theme": "dark", "next": "/settings/"})
    assert answer.headers["Location"] == "/settings/"
    assert 'data-theme="dark"' in as_alice.get("/").content.decode()


@pytest.mark.parametrize("after", ["https://elsewhere.example/", "//elsewhere.example", "javascript:alert(1)"])
def test_the_theme_leads_nowhere_else(after: str, anyone: Client) -> None:
    answer = anyone.post("/theme/", {"theme": "neon", "next": after})
    assert answer.headers["Location"] == "/"
    assert not answer.cookies.get("ccm_theme")


def test_no_page_allows_inline_script_or_style(as_alice: Client) -> None:
    for address in ("/", "/settings/", "/settings/endpoints/new/"):
        answer = as_alice.get(address)
        policy = answer.headers["Content-Security-Policy"]
        assert "default-src 'self'" in policy
        assert "unsafe" not in policy
        page = answer.content.decode()
        assert " style=" not in page
        assert "<style" not in page
        assert " onclick=" not in page
        assert "hx-on" not in page


def test_the_admin_is_in_the_menu_of_staff_alone(as_alice: Client, alice: User) -> None:
    assert "/admin/" not in as_alice.get("/").content.decode()
    alice.is_staff = True
    alice.save()
    assert "/admin/" in as_alice.get("/").content.decode()
