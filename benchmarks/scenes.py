"""Conversations told from a script: rows as runs would have left them, changed by the same actions as real ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from django.conf import settings
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from efforts import actions
from efforts.actions import Place
from efforts.actions.efforts import message_of
from efforts.context.contents import BranchContents
from efforts.context.planning import main_branch
from efforts.domain.effort.states import RunState, SummaryState, Via
from efforts.domain.prompt.conversation import MESSAGE_OVERHEAD
from efforts.domain.seals import said_sha256
from efforts.llm.tokens import get_counter
from efforts.log import events, labels
from efforts.log.timelines import said_in
from efforts.memory import ageing, references
from efforts.models import Branch, EffortState, Message, Run, Session, Turn
from efforts.retrieval.index import add_message
from efforts.turns.recording import Lease
from efforts.turns.summaries import summarise_now

Act = Callable[[Place], object]


@dataclass(frozen=True, kw_only=True)
class Exchange:
    """What the person says, what is answered, and what the answer does on the way."""

    user: str
    reply: str
    acts: tuple[Act, ...] = ()


def opens(name: str) -> Act:
    return lambda place: actions.open_effort(place, name)


def concludes(slug: str | None = None) -> Act:
    """At the person's word: all that was said in the turn."""
    return lambda place: actions.close_effort(place, slug, message_of(place.run) if place.run else "")


def switches(slug: str) -> Act:
    return lambda place: actions.switch_effort(place, slug)


def expands(slug: str) -> Act:
    # Without its run: the price is then what the next message pays.
    return lambda place: actions.expand_effort(replace(place, run=None), slug)


def collapses(slug: str) -> Act:
    return lambda place: actions.collapse_effort(place, slug)


def play(session: Session, exchanges: Iterable[Exchange]) -> None:
    """Completed turns at the end of the main branch; what is concluded has its summary at once. No model is asked."""
    for exchange in exchanges:
        with transaction.atomic():
            perform(main_branch(session), exchange)


def change(session: Session, act: Act) -> object:
    """What the person's control does between two turns."""
    return act(actions.here(session, actor=session.owner))


def perform(branch: Branch, exchange: Exchange) -> None:
    number = branch.head + 1
    add_turn(branch, number, exchange.user, exchange.reply, said_before(branch))
    Branch.objects.filter(pk=branch.pk).update(head=number, clock=F("clock") + 1)
    turn = Turn.objects.select_related("run", "session").get(branch=branch, number=number)
    assert turn.run is not None
    labels.begin(branch, turn, attempt=1)
    references.of_message(turn.run)
    place = Place(branch=branch, turn=number, via=Via.MODEL, run=turn.run)
    for act in exchange.acts:
        act(place)
    ageing.settle(turn.run, said_in(turn.run), BranchContents.of(turn.run.branch), completed=True)
    labels.settle(branch, turn)
    end_turn(branch, turn)
    for state in EffortState.objects.filter(branch=branch, summary=SummaryState.DUE):
        summarise_now(state)


def said_before(branch: Branch) -> int:
    last = Turn.objects.filter(branch=branch).order_by("-number").first()
    return last.tokens_before + last.tokens if last else 0


def add_turn(branch: Branch, number: int, question: str, answer: str, said: int) -> Turn:
    """A completed turn that no model was asked for; `end_turn` closes it, when all is done in it."""
    # Rows as a run would have left them, so that planner and page need no exception for it.
    count = get_counter(settings.CCM_ENCODING).count
    turn = Turn.objects.create(
        session_id=branch.session_id, branch=branch, number=number, client_id=f"example-{number}", tokens_before=said
    )
    now = timezone.now()
    run = Run.objects.create(
        turn=turn,
        branch=branch,
        state=RunState.COMPLETED,
        settings={"label": "Example"},
        started_at=now,
        ended_at=now,
    )
    log = ((Message.Role.USER, None, question), (Message.Role.ASSISTANT, run, answer))
    for role, of_run, text in log:
        add_message(session_id=branch.session_id, turn=turn, run=of_run, role=role, text=text, tokens=count(text))
    events.append(branch.session_id, "run.started", Lease.of(run, "").data())
    turn.run, turn.tokens = run, count(question) + count(answer) + 2 * MESSAGE_OVERHEAD
    turn.save(update_fields=["run", "tokens"])
    return turn


def end_turn(branch: Branch, turn: Turn) -> None:
    assert turn.run is not None
    ended = {
        "state": str(turn.run.state),
        "code": "",
        **labels.fields(labels.label_of(branch, turn)),
        "said": said_sha256(said_in(turn.run)),
    }
    events.append(branch.session_id, "run.ended", Lease.of(turn.run, "").data(**ended))
