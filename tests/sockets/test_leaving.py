"""Who may hold a socket, and how others are told to go."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest
from autobahn.exception import Disconnected
from django.contrib.auth.models import User
from django.test import Client

from efforts import actions
from efforts.models import Session
from efforts.models.threads import read, write
from efforts.turns.consumers import SessionConsumer, news, open_sockets
from tests.sockets.conftest import Open, Tab


async def test_somebody_elses_conversation_does_not_exist(open_tab: Open, as_bob: Client) -> None:
    tab = await open_tab(as_bob)
    gone, code = await tab.ending()
    assert (gone["code"], code) == (4404, 4404)


async def test_an_unknown_conversation_does_not_exist(open_tab: Open) -> None:
    tab = await open_tab(session_id=uuid4())
    assert (await tab.ending())[1] == 4404


async def test_who_is_not_signed_in_is_told_so(open_tab: Open, anyone: Client) -> None:
    tab = await open_tab(anyone)
    gone, code = await tab.ending()
    assert (gone["code"], code) == (4401, 4401)


async def test_signing_out_ends_the_socket_at_its_next_ping(open_tab: Open, as_alice: Client) -> None:
    tab = await open_tab()
    assert await tab.pings() == []
    await read(as_alice.logout)
    await tab.say(kind="ping")
    assert (await tab.ending())[1] == 4401


async def test_a_new_password_ends_the_socket_at_its_next_ping(open_tab: Open, alice: User) -> None:
    tab = await open_tab()
    alice.set_password("another")
    await read(alice.save)
    await tab.say(kind="ping")
    assert (await tab.ending())[1] == 4401


async def test_a_deleted_conversation_ends_its_sockets(open_tab: Open, session: Session) -> None:
    tabs = [await open_tab(), await open_tab()]
    for tab in tabs:
        await tab.pings()
    await write(actions.erase_session, session, actor=session.owner)
    assert [(await tab.ending())[1] for tab in tabs] == [4404, 4404]


async def test_after_it_is_told_to_go_a_tab_changes_nothing(open_tab: Open, as_bob: Client) -> None:
    tab = await open_tab(as_bob)
    await tab.ending()
    await tab.say(kind="send", text="Hi", client_id="one")
    assert await tab.socket.receive_nothing(timeout=0.1)
    assert await read(lambda: Session.objects.get().turns.count()) == 0


@pytest.mark.parametrize("origin", ["http://evil.example", "http://localhost:1", "null", ""])
async def test_pages_of_other_sites_open_no_socket(origin: str, session: Session, as_alice: Client, away: None) -> None:
    assert not await Tab(session.pk, as_alice, origin).connect()


async def test_whoever_leaves_while_something_is_sent_is_no_fault(
    session: Session, as_alice: Client, layer: Any
) -> None:
    said: list[str] = []
    frames: Iterator[dict[str, Any]] = iter(
        [
            {"type": "websocket.connect"},
            {"type": "websocket.receive", "text": json.dumps({"v": 1, "kind": "hello", "last_seq": 0})},
            {"type": "websocket.disconnect", "code": 1001},
        ]
    )

    async def receive() -> dict[str, Any]:
        return next(frames)

    async def send(message: dict[str, Any]) -> None:
        said.append(message["type"])
        if message["type"] == "websocket.send":
            raise Disconnected("Attempt to send on a closed protocol")

    cookie = as_alice.cookies.output(header="", sep=";").strip()
    scope = {"headers": [(b"cookie", cookie.encode())], "url_route": {"kwargs": {"session_id": session.pk}}}
    await SessionConsumer()(scope, receive, send)
    assert said[:2] == ["websocket.accept", "websocket.send"]
    assert open_sockets == {}


async def test_a_socket_that_a_fault_ends_counts_as_closed(session: Session, as_alice: Client, layer: Any) -> None:
    frames: Iterator[dict[str, Any]] = iter([{"type": "websocket.connect"}])

    async def receive() -> dict[str, Any]:
        return next(frames, {"type": "websocket.receive", "text": 7})

    async def send(message: dict[str, Any]) -> None:
        pass

    cookie = as_alice.cookies.output(header="", sep=";").strip()
    scope = {"headers": [(b"cookie", cookie.encode())], "url_route": {"kwargs": {"session_id": session.pk}}}
    with pytest.raises(AttributeError):
        await SessionConsumer()(scope, receive, send)
    assert open_sockets == {}


@pytest.mark.django_db
def test_of_a_conversation_that_is_gone_there_is_no_news() -> None:
    assert news(uuid4(), 7) == (0, [])
