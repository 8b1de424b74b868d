"""Whatever is asked, and whatever is missing to answer it, ends in words, and nothing is lost."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from channels.testing import WebsocketCommunicator
from django.contrib.auth.models import User
from django.contrib.sessions.backends.db import SessionStore
from django.db import OperationalError, connection
from django.test import Client

from ccmweb.asgi import application
from efforts import actions
from efforts.models import Message, Session

JSON = {"accept": "application/json"}


@pytest.fixture
def session(alice: User) -> Session:
    return actions.create_session(alice, title="Notes")


@pytest.fixture
def full_disk(session: Session, as_alice: Client) -> Iterator[None]:
    """The database may not grow by another page."""
    if connection.vendor != "sqlite":
        pytest.skip("Of PostgreSQL the error alone is tested.")
    with connection.cursor() as cursor:
        # Else what was deleted leaves room.
        cursor.execute("VACUUM")
        pages = cursor.execute("PRAGMA page_count").fetchone()[0]
        cursor.execute(f"PRAGMA max_page_count = {pages}")
        yield
        cursor.execute("PRAGMA max_page_count = 1073741823")


LONG = "Something that was written with care. " * 3_000


@pytest.mark.django_db
@pytest.mark.parametrize("header", ["http://[", "http://%5B", "//[::1", "http://[bad]/"])
@pytest.mark.parametrize("encoded", ["false", "true"])
def test_a_page_that_is_no_address_does_not_fail_what_was_asked(
    as_alice: Client, session: Session, header: str, encoded: str
) -> None:
    page = {"HX-Request": "true", "HX-Current-URL": header, "HX-Current-URL-URI-AutoEncoded": encoded}
    as_alice.raise_request_exception = False
    answer = as_alice.post(f"/s/{session.pk}/archive/", headers=page)
    assert answer.status_code < 400
    session.refresh_from_db()
    assert session.archived_at
    answer = as_alice.post(f"/s/{session.pk}/delete/", headers=page)
    assert answer.status_code < 400
    session.refresh_from_db()
    assert session.erase_at


@pytest.mark.parametrize("path", ["/ws/nope", "/", "/ws/s/1/", "/ws/s/%00/"])
async def test_a_socket_that_is_not_there_is_refused(path: str) -> None:
    headers = [(b"host", b"localhost"), (b"origin", b"http://localhost")]
    connected, _ = await WebsocketCommunicator(application, path, headers=headers).connect()
    assert not connected


async def test_a_socket_from_a_page_that_is_no_address_is_refused() -> None:
    headers = [(b"host", b"localhost"), (b"origin", b"http://[")]
    connected, _ = await WebsocketCommunicator(application, "/ws/nope", headers=headers).connect()
    assert not connected


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("full_disk")
def test_a_message_on_a_full_disk_is_refused_in_words_and_given_back(as_alice: Client, session: Session) -> None:
    as_alice.raise_request_exception = False
    posted = {"text": LONG, "client_id": "a"}
    told = as_alice.post(f"/s/{session.pk}/send/", posted, headers=JSON)
    assert (told.status_code, told.json()["code"]) == (507, "disk_full")
    page = as_alice.post(f"/s/{session.pk}/send/", posted, headers={"accept": "text/html"})
    assert page.status_code == 507
    assert "The disk of the server is full" in page.content.decode()
    assert LONG in page.content.decode()
    assert not Message.objects.filter(session=session).exists()


@pytest.mark.django_db(transaction=True)
def test_a_message_is_taken_once_there_is_room_again(as_alice: Client, session: Session, request) -> None:
    as_alice.raise_request_exception = False
    request.getfixturevalue("full_disk")
    posted = {"text": LONG, "client_id": "a"}
    assert as_alice.post(f"/s/{session.pk}/send/", posted, headers=JSON).status_code == 507
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA max_page_count = 1073741823")
    assert as_alice.post(f"/s/{session.pk}/send/", posted, headers=JSON).status_code == 200
    assert Message.objects.get(session=session).text == LONG


def test_a_database_that_is_away_before_a_page_is_begun_is_told_too(
    as_alice: Client, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(store: object) -> None:
        raise OperationalError("connection refused")

    monkeypatch.setattr(SessionStore, "load", away)
    as_alice.raise_request_exception = False
    posted = {"text": "What we said", "client_id": "a"}
    told = as_alice.post(f"/s/{session.pk}/send/", posted, headers=JSON)
    assert (told.status_code, told.json()["code"]) == (503, "database")
    page = as_alice.post(f"/s/{session.pk}/send/", posted, headers={"accept": "text/html"})
    assert page.status_code == 503
    assert "The database did not answer. Nothing was stored or changed; try again." in page.content.decode()
    assert "What we said" in page.content.decode()


def test_an_address_that_only_buttons_lead_to_says_so_when_it_is_opened(as_alice: Client) -> None:
    """As a browser does that goes back to where a form was sent to."""
    opened = as_alice.get("/s/new/")
    assert (opened.status_code, opened["Allow"]) == (405, "POST")
    assert "There is nothing to show at this address" in opened.content.decode()
    assert not Session.objects.exists()
    # Who asks for no page gets none.
    assert as_alice.head("/s/new/").content == b""
