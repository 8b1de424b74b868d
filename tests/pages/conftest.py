"""A conversation with turns in it, made by the same functions that a runner calls; and a piece of work to summarise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User

from compaction.models import Artifact
from efforts import actions
from efforts.context.planning import run_inputs
from efforts.domain.prompt.planner import plan
from efforts.models import Run, Session, Turn
from efforts.turns import recording
from efforts.turns.recording import COMPLETED, CallReply, Ending, Lease
from tests.compaction.review import STATES, Room, room_of
from tests.fakes.provider import FakeProvider
from tests.turns.conftest import provider

__all__ = ["HTMX", "Scene", "address", "drafted", "provider", "room", "scene", "session"]

HTMX = {"HX-Request": "true"}


class Scene:
    """Says and answers in one conversation of alice."""

    def __init__(self, session: Session) -> None:
        self.session = session

    def say(self, text: str, client_id: str = "") -> Turn:
        number = Turn.objects.filter(session=self.session).count() + 1
        return actions.send_message(
            self.session, text=text, client_id=client_id or f"message-{number}", actor=self.session.owner
        )

    def start(self) -> Lease:
        [lease] = recording.claim_runs("tests:1:x", 1)
        return lease

    def ask(self, text: str, reply: str = "", ending: Ending = COMPLETED, **more: Any) -> Turn:
        """`more`: what else came of the call, by the names of `CallReply`."""
        turn = self.say(text)
        lease = self.start()
        self.plan(lease, Run.objects.select_related("turn__session", "branch").get(pk=lease.run_id))
        recording.record_reply(lease, CallReply(call=1, text=reply, **more), ending)
        return Turn.objects.select_related("run").get(pk=turn.pk)

    def plan(self, lease: Lease, run: Run) -> None:
        """Of the first call."""
        recording.record_plan(lease, 1, plan(run_inputs(run)))


@pytest.fixture
def session(alice: User) -> Session:
    return actions.create_session(alice)


@pytest.fixture
def scene(session: Session) -> Scene:
    return Scene(session)


@pytest.fixture
def address(session: Session) -> Callable[..., str]:
    def under_it(rest: str = "") -> str:
        return f"{session.get_absolute_url()}{rest}"

    return under_it


@pytest.fixture
def room(alice: User, provider: FakeProvider) -> Room:
    return room_of(alice, provider)


@pytest.fixture
def drafted(room: Room) -> Artifact:
    """It passes every gate, and waits for alice, who reviews all of them."""
    return STATES["reviewed"](room)
