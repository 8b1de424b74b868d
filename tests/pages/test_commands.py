"""Where commands are typed: what the page offers, and how it answers a form without any script."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.test import Client

from efforts import actions
from efforts.domain.commands import COMMANDS
from efforts.domain.effort.states import RunState
from efforts.models import Effort, Message, Run, Session, Turn
from efforts.turns import recording

from .conftest import HTMX, Scene

Address = Callable[..., str]


def sent(client: Client, address: Address, text: str, **more: str) -> Any:
    """By a form of the page, as a browser without script sends it."""
    return client.post(
        address("send/"), {"text": text, "client_id": uuid4().hex, **more}, headers={"Accept": "text/html"}
    )


def page_of(client: Client, address: Address) -> str:
    return client.get(address()).content.decode()


def test_the_page_lists_every_command_with_its_sentence(as_alice: Client, session: Session, address: Address) -> None:
    page = page_of(as_alice, address)
    for command in COMMANDS:
        assert f'data-name="{command.name}"' in page
        assert command.help in page


def test_the_ids_of_efforts_are_there_by_how_they_stand(as_alice: Client, scene: Scene, address: Address) -> None:
    place = actions.here(scene.session, actor=scene.session.owner)
    for name in ("Bug", "Vacation"):
        actions.open_effort(place, name)
    expected = [
        '<data value="bug" data-standing="open" hidden>Bug</data>',
        '<data value="vacation" data-standing="active" hidden>Vacation</data>',
    ]
    panel = as_alice.get(address("efforts/"), headers=HTMX).content.decode()
    for where in (page_of(as_alice, address), panel):
        assert all(one in where for one in expected)


def test_a_plain_form_does_a_command_and_shows_the_page_again(
    as_alice: Client, session: Session, address: Address
) -> None:
    answer = sent(as_alice, address, "/effort Bug")
    assert (answer.status_code, answer.url) == (302, address())
    assert Effort.objects.get().slug == "bug"
    assert sent(as_alice, address, "/search a key").url == "/search/?q=a+key"


def test_a_refused_command_comes_back_with_its_text_and_can_be_sent(
    as_alice: Client, session: Session, address: Address
) -> None:
    answer = sent(as_alice, address, "/efort Bug")
    page = answer.content.decode()
    assert answer.status_code == 422
    assert "There is no /efort. Did you mean /effort? Send it as a message?" in page
    assert ">/efort Bug</textarea>" in page
    assert 'name="plain" value="1"' in page
    assert not Turn.objects.exists()
    sent(as_alice, address, "/efort Bug", plain="1")
    assert Message.objects.get().text == "/efort Bug"


def test_a_note_is_shown_as_noted_and_wants_no_reply(as_alice: Client, session: Session, address: Address) -> None:
    sent(as_alice, address, "/todo Ask Dana.")
    assert "Cancel" not in as_alice.get(address("turns/1/"), headers=HTMX).content.decode()
    assert recording.claim_runs("tests:1:x", 1) == []
    turn = as_alice.get(address("turns/1/"), headers=HTMX).content.decode()
    assert Run.objects.get().state == RunState.NOTED
    assert "Noted" in turn
    assert 'class="msg reply"' not in turn
    assert "Edit your message" not in turn


@pytest.mark.parametrize(("text", "priced"), [("/done", False), ("/rule Never.", False), ("/aside Hm?", True)])
def test_a_command_has_no_price(as_alice: Client, session: Session, address: Address, text: str, priced: bool) -> None:
    answer = as_alice.post(address("price/"), {"text": text}, headers=HTMX).content.decode()
    assert ('id="price"' in answer and "~" in answer.split('id="price"')[1][:60]) == priced


def test_a_conversation_can_begin_with_a_command(as_alice: Client, alice: User) -> None:
    answer = as_alice.post("/s/new/", {"text": "/effort Bug"})
    session = Session.objects.get()
    assert (answer["Location"], Effort.objects.get().session) == (session.get_absolute_url(), session)


@pytest.mark.parametrize(
    ("text", "status", "words"),
    [("/done", 422, "No effort is active."), ("/efort x", 422, "Did you mean /effort?"), ("/search key", 302, "")],
)
def test_what_begins_no_conversation_leaves_none(as_alice: Client, text: str, status: int, words: str) -> None:
    answer = as_alice.post("/s/new/", {"text": text})
    assert answer.status_code == status
    assert words in answer.content.decode()
    assert not Session.objects.exists()
