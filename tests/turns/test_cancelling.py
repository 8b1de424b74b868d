"""Cancelling what waits, with no runner about."""

from __future__ import annotations

from io import StringIO
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from efforts import actions
from efforts.models import ContextPointer, Run, Session, Turn
from efforts.turns import recording
from efforts.turns.recording import COMPLETED, STOPPED, CallReply, Ending
from tests.efforts.talk import Talk

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


def waiting_to_go_on(session: Session) -> Run:
    """A reply that a limit cut off, and that a person wants to go on."""
    turn = actions.send_message(session, text="A poem, please.", client_id="one", actor=session.owner)
    (lease,) = recording.claim_runs("here:1:a", 1)
    recording.record_reply(lease, CallReply(call=1, text="The sea is ca", finish_reason="length"), COMPLETED)
    return actions.continue_reply(turn, actor=session.owner)


@pytest.mark.parametrize("cancels", [True, False])
def test_a_reply_that_waits_to_go_on_stays_as_it_was_cut_off_where_nobody_wants_it_to(
    session: Session, as_alice: Client, cancels: bool
) -> None:
    run = waiting_to_go_on(session)
    page = reverse("chat", args=[session.pk])
    assert reverse("cancel", args=[session.pk, 1]) in as_alice.get(page).text
    if cancels:
        actions.cancel_turn(run.turn, actor=session.owner)
    else:
        actions.stop_run(run, actor=session.owner)
    run.refresh_from_db()
    assert (run.state, run.finish_reason, run.turn.run) == ("completed", "length", run)
    assert recording.claim_runs("here:1:a", 1) == []
    shown = as_alice.get(page).text
    assert ("The sea is ca" in shown, "Continue</button>" in shown) == (True, True)
    # It ends with 1 where anything is wrong.
    call_command("check_integrity", stdout=StringIO())
    assert actions.continue_reply(run.turn, actor=session.owner).state == "queued"


@pytest.mark.parametrize(("ending", "again"), [(COMPLETED, actions.continue_reply), (STOPPED, actions.retry_turn)])
def test_a_summary_of_what_was_not_said_anew_stands_again(session: Session, ending: Ending, again: Any) -> None:
    talk = Talk(session)
    slug = actions.open_effort(talk.place, "Poems").effort.slug
    talk.ask("A poem, please.", ending=ending)
    actions.close_effort(talk.place, slug)
    talk.summarise(slug)
    standing = ContextPointer.objects.filter(state="active")
    summary = standing.get()
    Run.objects.update(finish_reason="length")
    again(Turn.objects.get(), actor=session.owner)
    assert not standing.exists()
    actions.cancel_turn(Turn.objects.get(), actor=session.owner)
    assert standing.get() == summary
    assert talk.state(slug).summary == "stands"
    call_command("check_integrity", stdout=StringIO())
