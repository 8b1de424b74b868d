"""Summaries in every state that the review page knows, made by the functions that its buttons call.

`manage.py shell` runs it beside the server: each conversation is one transaction, so the server sees it whole.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace

from django.contrib.auth.models import User
from django.db import transaction

from benchmarks.importing import import_talk
from benchmarks.replay import read_talks
from compaction import review as reviewing
from compaction.domain.lifecycle import ClaimVerdictValue as Say
from compaction.models import Artifact
from compaction.standing.accepting import accept_compaction, rollback_compaction
from efforts.domain.effort.states import EntryKind, ReviewMode
from efforts.models import Session
from tests.compaction.review import POSTGRES, Room, examined, room_of
from tests.compaction.review import STATES as OF_ROOMS
from tests.efforts.talk import Talk
from tests.fakes.provider import FakeProvider

HERS = "Postgres is decided for storing orders."
HIS = "For the storage of orders Postgres is decided."


def waiting(room: Room, me: User) -> Artifact:
    return room.draft()


def contradicting(room: Room, me: User) -> Artifact:
    return OF_ROOMS["fails"](room)


def doubted(room: Room, me: User) -> Artifact:
    """One more, for a test that mends it."""
    return OF_ROOMS["fails"](room)


def losing(room: Room, me: User) -> Artifact:
    return OF_ROOMS["loses"](room)


def unchecked(room: Room, me: User) -> Artifact:
    """Nobody has passed an exam: the last to be made, as it holds for all that are drafted later."""
    return OF_ROOMS["unchecked"](room)


def stale(room: Room, me: User) -> Artifact:
    row = room.draft()
    room.note(EntryKind.DECISION, POSTGRES)
    return row


def accepted(room: Room, me: User) -> Artifact:
    row = room.draft()
    accept_compaction(row.pk, row.session_id, 1, 3, actor=me)
    return row


def rolled_back(room: Room, me: User) -> Artifact:
    row = accepted(room, me)
    rollback_compaction(row.pk, actor=me, reason="It is too short.")
    return row


def turned_down(room: Room, me: User) -> Artifact:
    row = room.draft()
    reviewing.reject(row, actor=me, reason="Too vague.")
    return row


def excerpts(room: Room, me: User) -> Artifact:
    return OF_ROOMS["chosen digest"](room)


def earlier(room: Room, me: User) -> Artifact:
    """It stands, and its document is of another schema."""
    row = accepted(room, me)
    Artifact.objects.filter(pk=row.pk).update(schema_version="compaction.v1")
    return row


def old_version(room: Room, me: User) -> Artifact:
    row = room.draft()
    reviewing.decide(row, "move", Say.STRUCK, reviewer=me)
    reviewing.submit(row, reviewer=me)
    return row


def void(room: Room, me: User) -> Artifact:
    return OF_ROOMS["void"](room)


def no_draft(room: Room, me: User) -> Artifact:
    """It was cut twice; excerpts stand."""
    return OF_ROOMS["no draft"](room)


def no_model(room: Room, me: User) -> Artifact:
    return OF_ROOMS["no model"](room)


def good(room: Room, me: User) -> Artifact:
    return OF_ROOMS["stands"](room)


def conflict(room: Room, me: User) -> Artifact:
    other, _ = User.objects.get_or_create(username="bea")
    reviewing.name_reviewer(room.talk.session, other.username, actor=me)
    row = room.draft()
    reviewing.decide(row, "postgres", Say.EDITED, reviewer=other, text=HERS)
    reviewing.decide(row, "postgres", Say.EDITED, reviewer=me, text=HIS)
    made = reviewing.submit(row, reviewer=other).made
    reviewing.submit(row, reviewer=me)
    assert made is not None
    return made


STATES: tuple[Callable[[Room, User], Artifact], ...] = (
    waiting,
    contradicting,
    doubted,
    losing,
    stale,
    accepted,
    rolled_back,
    turned_down,
    excerpts,
    earlier,
    old_version,
    conflict,
    good,
    void,
    no_draft,
    no_model,
    unchecked,
)
# Concluded by the person, who reviews none of them before it stands.
BY_ITSELF = (good, contradicting, doubted, void, no_draft, no_model, unchecked)


def main() -> str:
    """The address of each, as JSON."""
    me, found = User.objects.earliest("pk"), {}
    for make in STATES:
        with FakeProvider() as provider, transaction.atomic():
            review = ReviewMode.AUTOMATIC if make in BY_ITSELF else ReviewMode.ALWAYS
            room = room_of(me, provider, review=review)
            found[make.__name__] = make(room, me).get_absolute_url()
            found[f"talk of {make.__name__}"] = room.talk.session.get_absolute_url()
    return json.dumps(found)


def examine(url: str) -> None:
    """The model of the server has passed its exam."""
    examined(User.objects.earliest("pk"), SimpleNamespace(url=url), passed=True, model="scripted")  # type: ignore[arg-type]


def long_log(turns: int, named: int, sentence: str) -> str:
    """A conversation of so many long turns, of which one has the sentence; its address."""
    long = "\n\n".join(f"Paragraph {step} of a long reply." for step in range(12))
    said = []
    for number in range(1, turns + 1):
        reply = f"{long}\n\n{sentence}\n\n{long}" if number == named else long
        for role, text in (("user", f"Message {number}."), ("assistant", reply)):
            said.append({"id": f"{number} {role}", "session": 1, "role": role, "text": text})
    sessions = [{"n": 1, "date": "2026/03/02 (Mon) 10:00", "summary": None}]
    data = {"id": f"long {named}", "source": "tests", "sessions": sessions, "questions": [], "messages": said}
    with TemporaryDirectory() as folder:
        (file := Path(folder) / "long.jsonl").write_text(json.dumps(data))
        [talk] = read_talks(file)
    made = import_talk(User.objects.earliest("pk"), talk)
    assert made
    return made.session.get_absolute_url()


def one_more_turn(address: str) -> None:
    with transaction.atomic():
        Talk(Session.objects.get(pk=address.split("/")[2])).ask("Said in another tab.")
