"""What a turn costs in a session with a long past of efforts: scanned for references, planned, and settled.

A fortieth of the turns begins an effort, and each effort has half of them: 1,250 efforts in 100,000 messages. Words are
drawn as words of a language are, a few often and most seldom; headlines have words of their efforts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import accumulate
from random import Random
from typing import Any
from uuid import uuid4

from django.contrib.auth.models import User
from django.db import transaction

from benchmarks.growth import BATCH, PER_TURN, analyze, tell, timed_once
from benchmarks.measures import percentiles
from efforts import actions
from efforts.context.planning import main_branch
from efforts.domain.effort.policy import SUMMARY_EVICTION_THRESHOLD
from efforts.domain.effort.states import EffortStatus, SummaryState
from efforts.memory import references
from efforts.models import (
    Branch,
    ContextPointer,
    Effort,
    EffortState,
    Message,
    PointerTurn,
    Run,
    Session,
    Turn,
    TurnLabel,
)
from efforts.retrieval.index import index_messages
from efforts.turns import recording
from efforts.turns.orchestrator import read_and_plan
from efforts.turns.recording import COMPLETED, CallReply

SHORT = 1_000
EVERY, WITHIN = 40, 20
VOCABULARY = tuple(f"w{number:05d}" for number in range(20_000))
# Zipf's law: the word of rank n is said a n-th as often as the first.
WEIGHTS = tuple(accumulate(1 / rank for rank in range(1, len(VOCABULARY) + 1)))
WORDS, HEADLINE = 30, 14
REPEATS = 60
TOKENS = 40

Parts = dict[str, list[float]]


def ageing(owner: User, messages: int) -> dict[str, Any]:
    """One turn after the other, now in a session of 1,000 messages and now in one of `messages`."""
    sessions = {size: past(owner, size) for size in (SHORT, messages)}
    analyze()
    times: dict[int, Parts] = {size: {} for size in sessions}
    random = Random(2)
    for number in range(REPEATS + 1):
        for size, session in sessions.items():
            taken = one_turn(session, random)
            # The first of each warms it up.
            for part, spent in taken.items() if number else ():
                times[size].setdefault(part, []).append(spent)
    return {
        **{f"{size:,} messages": told(session, times[size]) for size, session in sessions.items()},
        "median_ratio": {
            part: round(middle(times[messages][part]) / middle(times[SHORT][part]), 3) for part in times[SHORT]
        },
    }


def told(session: Session, times: Parts) -> dict[str, Any]:
    return {
        "efforts": session.efforts.count(),
        "references": session.events.filter(kind="effort.referenced").count(),
        "ms": {part: percentiles(spent) for part, spent in times.items()},
    }


def middle(values: Sequence[float]) -> float:
    return percentiles(list(values))["p50"]


def one_turn(session: Session, random: Random) -> dict[str, float]:
    text, reply = f"{said(random)} {hint(session, random)}", said(random)
    actions.send_message(session, text=text, client_id=uuid4().hex, actor=session.owner)
    taken: dict[str, float] = {}
    held: list[Any] = []

    def timed(part: str, act: Callable[[], Any]) -> None:
        taken[part] = timed_once(lambda: held.append(act()))

    timed("claimed", lambda: recording.claim_runs("bench", 1)[0])
    lease = held[-1]
    run = recording.claimed_run(lease)
    timed("planned", lambda: read_and_plan(run, offer_tools=True))
    recording.record_plan(lease, 1, held[-1])
    timed("settled", lambda: recording.record_reply(lease, CallReply(call=1, text=reply), COMPLETED))
    return {**taken, "settling and planning": taken["claimed"] + taken["planned"] + taken["settled"]}


def hint(session: Session, random: Random) -> str:
    """Two words of some effort's headline: a reference, where they are said seldom enough."""
    pointers = ContextPointer.objects.filter(branch__session=session).order_by("pk").values_list("text", flat=True)
    headline = pointers[random.randrange(session.efforts.count())]
    return " ".join(random.sample(headline.rstrip(".").split(), 2))


def said(random: Random, words: int = WORDS) -> str:
    return " ".join(random.choices(VOCABULARY, cum_weights=WEIGHTS, k=words)) + "."


def past(owner: User, messages: int) -> Session:
    """Completed turns by bulk insert, indexed; every effort concluded, those that are old enough evicted."""
    session = actions.create_session(owner)
    random, turns = Random(1), messages // PER_TURN
    for first in range(1, turns + 1, BATCH):
        with transaction.atomic():
            store(session, random, first, min(first + BATCH - 1, turns))
    Branch.objects.filter(session=session).update(head=turns, clock=turns)
    for first in range(1, turns + 1, EVERY):
        conclude(session, random, first, turns)
    tell(f"a session of {messages:,} messages is stored")
    return session


def store(session: Session, random: Random, first: int, last: int) -> None:
    branch = main_branch(session)
    cost = TOKENS * PER_TURN
    rows = [
        Turn(
            session=session,
            branch=branch,
            number=number,
            client_id=f"{number}",
            run_id=uuid4(),
            tokens=cost,
            tokens_before=cost * (number - 1),
        )
        for number in range(first, last + 1)
    ]
    Turn.objects.bulk_create(rows, batch_size=BATCH)
    Run.objects.bulk_create([Run(id=turn.run_id, turn=turn, branch=branch, state="completed") for turn in rows])
    log = [message(turn, place, said(random)) for turn in rows for place in range(PER_TURN)]
    Message.objects.bulk_create(log, batch_size=BATCH)
    index_messages(log)


def message(turn: Turn, place: int, text: str) -> Message:
    role, run = ("assistant", turn.run_id) if place else ("user", None)
    return Message(session_id=turn.session_id, turn=turn, run_id=run, role=role, text=text, tokens=TOKENS)


@transaction.atomic
def conclude(session: Session, random: Random, first: int, turns: int) -> None:
    branch, last = main_branch(session), min(first + WITHIN - 1, turns)
    own = list(Turn.objects.filter(branch=branch, number__range=(first, last)).order_by("number"))
    effort = Effort.objects.create(session=session, slug=f"topic-{first}", name=f"Topic {first}")
    references.learn_name(effort)
    TurnLabel.objects.bulk_create(TurnLabel(branch=branch, turn=turn, effort=effort, by="opened") for turn in own)
    text = headline(session, own)
    pointer = ContextPointer.objects.create(
        branch=branch, effort=effort, text=text, tokens=TOKENS, source_sha256="0" * 64, actor=session.owner
    )
    PointerTurn.objects.bulk_create(PointerTurn(pointer=pointer, branch=branch, turn=turn) for turn in own)
    references.learn_headline(effort, text, [turn.pk for turn in own])
    gone = last + SUMMARY_EVICTION_THRESHOLD
    EffortState.objects.create(
        branch=branch,
        effort=effort,
        status=EffortStatus.CONCLUDED,
        opened_turn=first,
        active_turn=last,
        concluded_turn=last,
        via="control",
        summary=SummaryState.STANDS,
        turns=len(own),
        tokens=TOKENS * PER_TURN * len(own),
        referenced_clock=last,
        evicted_clock=gone if gone <= turns else None,
    )


def headline(session: Session, turns: Sequence[Turn]) -> str:
    """The effort's own words, those first that are seldom said elsewhere."""
    texts = Message.objects.filter(session=session, turn__in=turns).values_list("text", flat=True)
    words = Counter(word.rstrip(".") for text in texts for word in text.split())
    return " ".join(sorted(words, key=lambda word: (-VOCABULARY.index(word), word))[:HEADLINE]) + "."
