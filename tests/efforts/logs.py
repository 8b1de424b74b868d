"""Efforts that were worked on, as rows: no model is asked and no action called."""

from __future__ import annotations

from collections.abc import Sequence

from django.contrib.auth.models import User

from benchmarks.scenes import add_turn
from efforts.context.planning import main_branch
from efforts.domain.effort.states import EffortStatus, SummaryState, Via
from efforts.log import events
from efforts.models import Branch, Effort, EffortState, Session, Turn, TurnLabel

Exchanges = Sequence[tuple[str, str]]
WEBHOOK: Exchanges = (
    (
        "Let's look at the payment webhook, it times out after 30 seconds.",
        "What does the handler do before it answers?",
    ),
    (
        "It posts to the ledger first.",
        "Then store the event and answer at once. Still open: an alert when the dead-letter list grows.",
    ),
    (
        "We decided on a retry limit of 3. Done, the webhook works now.",
        "The webhook answers at once, and a job posts to the ledger.",
    ),
)


def say(session: Session, exchanges: Exchanges, effort: Effort | None = None) -> list[Turn]:
    """Completed turns at the end of the main branch, of `effort` where one is named."""
    branch = main_branch(session)
    last = Turn.objects.filter(branch=branch).order_by("-number").first()
    said = last.tokens_before + last.tokens if last else 0
    for number, (question, answer) in enumerate(exchanges, branch.head + 1):
        said += add_turn(branch, number, question, answer, said).tokens
    turns = list(Turn.objects.filter(branch=branch, number__gt=branch.head).order_by("number"))
    if effort:
        TurnLabel.objects.bulk_create([TurnLabel(branch=branch, turn=turn, effort=effort) for turn in turns])
    head = branch.head + len(exchanges)
    Branch.objects.filter(pk=branch.pk).update(head=head, clock=branch.clock + len(exchanges))
    return turns


def concluded(
    session: Session,
    name: str = "payment-webhook",
    exchanges: Exchanges = WEBHOOK,
    *,
    via: Via = Via.CONTROL,
    said: str = "",
) -> EffortState:
    """An effort that has just been concluded in its last turn; its summary is due."""
    effort = Effort.objects.create(session=session, slug=name, name=name)
    turns = say(session, exchanges, effort)
    state = EffortState.objects.create(
        branch=main_branch(session),
        effort=effort,
        status=EffortStatus.CONCLUDED,
        opened_turn=turns[0].number,
        concluded_turn=turns[-1].number,
        via=via,
        said=said,
        turns=len(turns),
        tokens=sum(turn.tokens for turn in turns),
        summary=SummaryState.DUE,
    )
    events.wake_runners()
    return state


def conversation(owner: User) -> Session:
    session = Session.objects.create(owner=owner)
    Branch.objects.create(session=session)
    return session
