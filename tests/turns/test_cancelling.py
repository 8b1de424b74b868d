"""Cancelling what waits, with no runner about."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User

from efforts import actions
from efforts.models import Run, Session, Turn

pytestmark = pytest.mark.django_db


@pytest.fixture
def session(alice: User) -> Session:
    return actions.create_session(alice)


def failed_turn(session: Session) -> Turn:
    turn = actions.send_message(session, text="first", client_id="one", actor=session.owner)
    Run.objects.update(state="failed")
    turn.refresh_from_db()
    return turn


def test_a_cancelled_message_adds_nothing_to_the_past(session: Session) -> None:
    turn = actions.send_message(session, text="first", client_id="one", actor=session.owner)
    cancelled = actions.cancel_turn(turn, actor=session.owner)
    assert cancelled.run is not None
    assert (cancelled.run.state, cancelled.tokens) == ("cancelled", 0)


def test_a_cancelled_retry_leaves_the_turn_as_it_was(session: Session) -> None:
    turn = failed_turn(session)
    retried = actions.retry_turn(turn, actor=session.owner)
    cancelled = actions.cancel_turn(Turn.objects.get(), actor=session.owner)
    assert cancelled.run == turn.run != retried
    assert cancelled.tokens == turn.tokens > 0


def test_after_a_cancelled_retry_the_turn_can_be_tried_again(session: Session) -> None:
    turn = failed_turn(session)
    actions.retry_turn(turn, actor=session.owner)
    actions.cancel_turn(Turn.objects.get(), actor=session.owner)
    again = actions.retry_turn(Turn.objects.get(), actor=session.owner)
    assert (again.attempt, again.state) == (3, "queued")
