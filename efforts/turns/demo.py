"""The example: a working week by way of the orchestrator and the drafts, with recorded replies for a model's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.contrib.auth import get_user_model
from django.db import transaction

from efforts import actions
from efforts.actions.conversations import lock_whole
from efforts.context.connections import defaults_for
from efforts.context.planning import main_branch
from efforts.domain.effort.states import SummaryState
from efforts.domain.errors import Refused
from efforts.llm.recorded import RECORDED_MODEL, ScriptedChat
from efforts.llm.tokens import get_counter
from efforts.log import events
from efforts.models import EffortState, Run, Session, Turn
from efforts.models.threads import run_here
from efforts.turns import recording
from efforts.turns.drafts import draft_and_settle
from efforts.turns.orchestrator import RunControl, RunMeans, Unwatched, run_turn
from efforts.turns.summaries import SUMMARIES
from efforts.turns.week import OTHERWISE, OTHERWISE_AT, TITLE, WEEK, Exchange, act

if TYPE_CHECKING:
    from django.contrib.auth.models import User

RUNNER = "example"
# What the names of its messages begin with.
SENT = "example-"
# So early that a week is enough to see summaries leave.
EVICTION = 12


def open_demo(owner: User) -> tuple[Session, bool]:
    """The owner's example conversation, whole, and whether it was made just now."""
    session, made = begin_demo(owner)
    while go_on(session):
        pass
    session.refresh_from_db()
    return session, made


def begin_demo(owner: User) -> tuple[Session, bool]:
    with transaction.atomic():
        # Two first calls at once would make two.
        get_user_model().objects.select_for_update().get(pk=owner.pk)
        if found := demo_of(owner):
            return found, False
        session = actions.create_session(owner, title=TITLE)
        change(session, is_example=True, endpoint=None, model=RECORDED_MODEL, by_meaning=False)
        change(session, eviction_threshold=EVICTION)
        events.append(session.pk, "session.example", {"turns": len(WEEK)}, actor=owner)
    return session, True


def demo_of(owner: User) -> Session | None:
    return Session.objects.owned_by(owner).filter(is_example=True).first()


def is_whole(session: Session) -> bool:
    return session.model != RECORDED_MODEL


def go_on(session: Session) -> bool:
    """Play one turn more; whether there is more to do. Several may ask at once, and it goes on where it broke off."""
    # All of a turn in one transaction: no runner sees what waits in it.
    with transaction.atomic():
        lock_whole(session)
        session = Session.objects.select_related("owner").get(pk=session.pk)
        if is_whole(session):
            return False
        done = played(session)
        # Before the last turn, so that the main branch is the one that was used last.
        if done == len(WEEK) - 1:
            play_otherwise(session)
        if done < len(WEEK):
            play(session, WEEK[done], f"{SENT}{done + 1}")
            return True
        endpoint, model = defaults_for(session.owner)
        change(session, endpoint=endpoint, model=model, by_meaning=True)
    return False


def played(session: Session) -> int:
    """Turns of the week."""
    return Turn.objects.filter(branch=main_branch(session), client_id__startswith=SENT).count()


def change(session: Session, **fields: Any) -> None:
    Session.objects.filter(pk=session.pk).update(**fields)
    session.refresh_from_db()


def play(session: Session, exchange: Exchange, client_id: str) -> None:
    """The turn, what of it waits to be drafted, and what the person then does."""
    answer(actions.send_message(session, text=exchange.user, client_id=client_id, actor=session.owner), exchange)
    act(session, exchange.then)
    draft(session)
    act(session, exchange.later)


def play_otherwise(session: Session) -> None:
    """The person says one message in other words, which begins a branch."""
    branch = main_branch(session)
    turn = actions.edit_turn(branch, OTHERWISE_AT, text=OTHERWISE.user, client_id="otherwise", actor=session.owner)
    answer(turn, OTHERWISE)


def answer(turn: Turn, exchange: Exchange) -> None:
    lease = recording.claim(Run.objects.select_related("turn__session", "branch").get(turn=turn), RUNNER)
    if lease is None:
        raise Refused("busy", "The example is being answered. Try again in a moment.")
    model = ScriptedChat(exchange.calls, exchange.reply, get_counter(settings.CCM_ENCODING))
    run_here(run_turn(RunControl(lease=lease), Unwatched(), RunMeans(connect=lambda choice: model)))


def draft(session: Session) -> None:
    for state in EffortState.objects.filter(branch__session=session, summary=SummaryState.DUE).order_by("pk"):
        if job := SUMMARIES.claim(state, RUNNER):
            run_here(draft_and_settle(job))
