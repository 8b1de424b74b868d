"""The model is asked once what a conversation is called; a person's title stays, and whatever goes wrong is kept."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth.models import User

from efforts import actions
from efforts.models import Endpoint, Event, Run, Session, Titling
from efforts.turns import recording
from efforts.turns.recording import COMPLETED, CallReply, Lease
from efforts.turns.titles import ask_for_title, title_in
from tests.fakes.provider import CUT, FakeProvider, Reply

PRICES = {"price_prompt": Decimal(3), "price_completion": Decimal(15), "currency": "EUR"}
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize(
    ("answer", "title"),
    [
        ("Payment webhook timeout", "Payment webhook timeout"),
        ('"Payment webhook timeout."\n', "Payment webhook timeout"),
        ("Title: **Payment webhook**", "Payment webhook"),
        ("<think>The user wants a title.</think>\n\nRechnung 05", "Rechnung 05"),
        ("<think>It never ends", ""),
        ("Hello!", ""),
        ("", ""),
        ("word " * 40, "word " * 11 + "word…"),
    ],
)
def test_a_title_is_one_short_line_that_says_something(answer: str, title: str) -> None:
    assert title_in(answer) == title


@pytest.fixture
def talk(alice: User, provider: FakeProvider, settings: Any) -> Session:
    settings.CCM_MODEL_TITLES = True
    settings.CCM_MODEL_HOSTS = ["loopback"]
    session = actions.create_session(alice)
    session.endpoint = Endpoint.objects.create(
        owner=alice, name="Fake", base_url=provider.url, model="scripted", **PRICES
    )
    session.save(update_fields=["endpoint"])
    return session


def answered(session: Session, text: str = "The webhook times out. Why?") -> Lease:
    number = session.turns.count() + 1
    actions.send_message(session, text=text, client_id=f"message-{number}", actor=session.owner)
    [lease] = recording.claim_runs("tests:1:x", 1)
    recording.record_reply(lease, CallReply(call=1, text="It waits for the ledger."), COMPLETED)
    return lease


def ask(lease: Lease) -> None:
    async_to_sync(ask_for_title)(lease)


def test_it_is_asked_once_after_the_first_reply_and_the_call_is_kept(talk: Session, provider: FakeProvider) -> None:
    provider.script = [Reply("Webhook timeout")]
    first = answered(talk)
    talk.refresh_from_db()
    assert talk.title == "The webhook times out. Why?"
    ask(first)
    ask(first)
    ask(answered(talk))
    talk.refresh_from_db()
    assert talk.title == "Webhook timeout"
    [body] = [json.loads(one) for one in provider.bodies]
    assert "It waits for the ledger." in body["messages"][1]["content"]
    assert "tools" not in body
    row = Titling.objects.get()
    assert (row.model, row.messages, row.title, row.error) == ("scripted", body["messages"], "Webhook timeout", "")
    assert row.price == Run.objects.get(pk=first.run_id).settings["price"]
    assert row.tokens > 40
    told = Event.objects.filter(session=talk, kind="session.renamed").order_by("seq").last()
    assert told is not None
    assert told.data["title"] == "Webhook timeout"


def test_a_persons_title_stays(talk: Session, provider: FakeProvider) -> None:
    lease = answered(talk)
    actions.rename_session(talk, title="Mine", actor=talk.owner)
    ask(lease)
    assert (provider.bodies, Titling.objects.count()) == ([], 0)


@pytest.mark.parametrize("off", ["installation", "connection"])
def test_it_can_be_switched_off(off: str, talk: Session, provider: FakeProvider, settings: Any) -> None:
    if off == "installation":
        settings.CCM_MODEL_TITLES = False
    else:
        Endpoint.objects.update(writes_titles=False)
    ask(answered(talk))
    assert provider.bodies == []


@pytest.mark.parametrize("reply", [Reply("Webhook", ending=CUT), Reply("Hi!")])
def test_where_nothing_comes_of_it_the_title_stays_and_the_call_is_kept(
    reply: Reply, talk: Session, provider: FakeProvider
) -> None:
    provider.script = [reply]
    ask(answered(talk))
    talk.refresh_from_db()
    assert talk.title == "The webhook times out. Why?"
    row = Titling.objects.get()
    assert row.title == ""
    assert bool(row.error) == bool(reply.ending)


def test_without_a_model_nobody_is_asked(alice: User, settings: Any) -> None:
    settings.CCM_MODEL_TITLES = True
    session = actions.create_session(alice)
    ask(answered(session))
    assert not Titling.objects.exists()
    assert Run.objects.count() == 1
