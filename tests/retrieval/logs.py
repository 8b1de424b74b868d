"""Logs with forks, other attempts and cancelled turns, as rows; and what ought to be found there, in plain Python."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import uuid4

from django.contrib.auth.models import User

from efforts.models import Branch, Message, Passage, Run, Session, Turn
from efforts.retrieval.candidates import COMMON, PassageRow
from efforts.retrieval.index import PER_MESSAGE, index_messages


@dataclass(frozen=True)
class Said:
    """One turn: what is asked, and the replies of its attempts, of which the last counts unless it was cancelled."""

    asked: str
    replies: tuple[str, ...] = ("Good.",)
    cancelled: bool = False


def new_session(owner: User) -> Branch:
    return Branch.objects.create(session=Session.objects.create(owner=owner))


def forked(branch: Branch, after: int) -> Branch:
    """From the branch that the turn belongs to, as the product forks: no other lineage is ever made."""
    branch = Branch.objects.get(pk=branch.owner_of(after))
    lineage = [*branch.lineage, [str(branch.pk), after, 0]]
    return Branch.objects.create(
        session=branch.session, name=uuid4().hex, parent=branch, fork_turn=after, lineage=lineage, head=after
    )


def say(branch: Branch, said: Said) -> Turn:
    branch.head += 1
    branch.save(update_fields=["head"])
    turn = Turn.objects.create(
        session=branch.session, branch=branch, number=branch.head, client_id=f"{branch.pk.hex}-{branch.head}"
    )
    log = [message(turn, "user", said.asked)]
    for attempt, reply in enumerate(said.replies, 1):
        turn.run = Run.objects.create(turn=turn, branch=branch, attempt=attempt, state="completed")
        log.append(message(turn, "assistant", reply))
    if said.cancelled or not said.replies:
        turn.run = Run.objects.create(turn=turn, branch=branch, attempt=len(log), state="cancelled")
    turn.save(update_fields=["run"])
    index_messages(log)
    return turn


def message(turn: Turn, role: str, text: str) -> Message:
    run = None if role == "user" else turn.run
    return Message.objects.create(session=turn.session, turn=turn, run=run, role=role, text=text, tokens=1)


def standing(branch: Branch, before: int) -> list[Passage]:
    """Of the timeline what stands, oldest first."""
    rows = Passage.objects.filter(session=branch.session).select_related("message__turn__run", "message__turn__branch")
    return [row for row in rows.order_by("pk") if stands(row, branch, before)]


def stands(row: Passage, branch: Branch, before: int) -> bool:
    turn = row.message.turn
    assert turn.run is not None
    counts = row.message.role == "user" or row.message.run_id == turn.run_id
    return counts and turn.run.state != "cancelled" and turn.number < before and branch.has(turn)


def ought(rows: Sequence[Passage], frequencies: dict[str, int], most: int) -> list[int]:
    """The ids, newest first: word by word, the rarest first; of each those first that hold another one too."""
    words = sorted((word for word, count in frequencies.items() if count), key=lambda word: (frequencies[word], word))
    found: list[int] = []
    for place, word in enumerate(words):
        if frequencies[word] > COMMON and place:
            break
        holding = [row for row in reversed(rows) if word in row.terms.split() and row.pk not in found]
        others = set(words[place + 1 :])
        holding.sort(key=lambda row: not others & set(row.terms.split()))
        found += [row.pk for row in holding[: most - len(found)]]
    return sorted(found, reverse=True)


def counted(session: Session, words: Sequence[str], snapshot: int | None) -> tuple[int, dict[str, int]]:
    rows = Passage.objects.filter(session=session)
    texts = [row.terms.split() for row in rows if snapshot is None or row.pk // PER_MESSAGE <= snapshot]
    return len(texts), {word: sum(word in text for text in texts) for word in words}


def ids(rows: Sequence[PassageRow]) -> list[int]:
    return [row.passage for row in rows]
