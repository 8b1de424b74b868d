"""A session of many turns, made by the functions a runner calls, with a plan for each; a scripted reply, no model."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from efforts import actions
from efforts.domain.effort.states import SummaryState
from efforts.models import EffortState, Session
from efforts.turns import recording
from efforts.turns.orchestrator import read_and_plan
from efforts.turns.recording import COMPLETED, CallReply
from efforts.turns.summaries import summarise_now

WORDS = """release webhook retry limit harbour ticket budget invoice parser schema cache migration review Friday nine
    rooms sailing garden token refresh endpoint letter translation index backup printer contract answer question plan
    meeting notes chapter recipe weather station bridge colour window"""
VOCABULARY = tuple(WORDS.split())
ASKED, ANSWERED = 30, 110


def words(random: Random, count: int) -> str:
    return " ".join(random.choice(VOCABULARY) for _ in range(count)).capitalize() + "."


def one_turn(session: Session, number: int, random: Random) -> None:
    actions.send_message(session, text=words(random, ASKED), client_id=f"turn-{number}", actor=session.owner)
    [lease] = recording.claim_runs("bench", 1)
    planned = read_and_plan(recording.claimed_run(lease), offer_tools=True)
    recording.record_plan(lease, 1, planned)
    recording.record_reply(lease, CallReply(call=1, text=words(random, ANSWERED)), COMPLETED)


def change_of_effort(session: Session, number: int, every: int) -> None:
    """Of every so many turns the first half belongs to one effort, the others to none."""
    place = actions.here(session, actor=session.owner)
    if number % every == 1:
        actions.open_effort(place, f"topic {number // every + 1}")
    elif number % every == every // 2 + 1:
        actions.close_effort(place, None)
        for state in EffortState.objects.filter(branch=place.branch, summary=SummaryState.DUE):
            summarise_now(state)


def long_session(
    session: Session, turns: int, *, every: int = 0, tell: Callable[[int], object] = lambda turn: None
) -> None:
    """`every`: a new effort each so many turns; 0: none at all."""
    random = Random(turns)
    for number in range(1, turns + 1):
        if every:
            change_of_effort(session, number, every)
        one_turn(session, number, random)
        tell(number)
