"""Whatever a socket is sent, it answers in words, and stays open."""

from __future__ import annotations

import asyncio
import json
from typing import Any
from unittest import mock

import pytest
from django.contrib.auth.models import User
from hypothesis import given
from hypothesis import strategies as st

from efforts import actions
from efforts.models import Session
from efforts.turns import consumers
from tests.fuzz.strategies import as_json, changed, spoilt_text, texts, tried, undone

FRAMES = [
    {"v": 1, "kind": "hello", "last_seq": 0},
    {"v": 1, "kind": "ping"},
    {"v": 1, "kind": "ack", "seq": 1},
    {"v": 1, "kind": "send", "text": "Hi", "client_id": "a", "cut": False, "aside": False, "plain": True, "branch": ""},
    {"v": 1, "kind": "stop", "run": ""},
    {"v": 1, "kind": "cancel", "turn": 1},
    {"v": 1, "kind": "retry", "turn": 1, "changes": {"model": "m", "budget": 8_000, "temperature": 0.5, "draft": 1}},
]
frames = st.one_of(*(changed(frame).map(as_json) for frame in FRAMES))
said = st.one_of(
    frames,
    frames,
    frames.flatmap(spoilt_text),
    texts,
)


class Socket(consumers.SessionConsumer):
    """What it sends is kept, and every act is undone."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session_id, self.user_id = session.pk, session.owner_id
        self.sent: list[dict[str, Any]] = []

    async def base_send(self, message: dict[str, Any]) -> None:
        self.sent.append(message)

    def done(self, *args: Any) -> dict[str, Any]:
        with undone():
            return super().done(*args)

    async def may_stay(self) -> bool:
        return True

    async def reached(self, joining: Any) -> bool:
        return True

    listeners: Any = mock.Mock()

    def look(self) -> None:
        """Nothing of the log is told."""


@pytest.fixture
def session(transactional_db: None, alice: User) -> Session:
    session = actions.create_session(alice)
    actions.send_message(session, text="First", client_id="first", actor=alice)
    return session


async def answers(session: Session, text: str) -> list[dict[str, Any]]:
    socket = Socket(session)
    await socket.websocket_receive({"type": "websocket.receive", "text": text})
    return socket.sent


def test_a_frame_of_anything_is_answered_in_words(session: Session) -> None:
    @tried(150)
    @given(said)
    def play(text: str) -> None:
        sent = asyncio.run(answers(session, text))
        assert all(message["type"] == "websocket.send" for message in sent)
        told = [json.loads(message["text"]) for message in sent]
        assert all(one["text"].strip() and one["code"] != "database" for one in told if one["kind"] == "error")
        assert told or json.loads(text)["kind"] == "ack"

    play()
