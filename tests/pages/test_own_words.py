"""What a person calls things stays as they wrote it, though the product says the same words and translates its own."""

from __future__ import annotations

import re
from types import SimpleNamespace

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import translation

from efforts import actions
from efforts.domain.effort.states import EntryKind
from efforts.models import Endpoint, Hold, Message, Run
from efforts.models.said import said
from tests.compaction.review import SLUG, Room
from tests.efforts.talk import Talk

from .test_who_may import ADDRESSES

# Nothing that a page of these says by itself.
WORDS = "Choose a file first."


@pytest.fixture
def stage(room: Room, alice: User) -> SimpleNamespace:
    """All that has a name or words of a person has these."""
    room.texts["backups"] = WORDS
    artifact = room.draft()
    session = room.talk.session
    actions.rename_session(session, title=WORDS, actor=alice)
    actions.put_in_folder(session, folder=WORDS, actor=alice)
    talk = Talk(session)
    actions.rename_effort(talk.place, SLUG, WORDS)
    actions.open_effort(talk.place, "Another")
    Endpoint.objects.filter(owner=alice).update(name=WORDS, model="")
    talk.ask(WORDS, reply=WORDS)
    talk.ask(f"{WORDS} {WORDS}", reply=f"- {WORDS}\n\n`{WORDS}`")
    place = talk.place
    said_by = Message.objects.filter(session=session, role="user", text=WORDS).get()
    actions.note_entry(place, said_by.pk, EntryKind.OPEN_WORK, words=WORDS)
    actions.note_entry(place, said_by.pk, EntryKind.DECISION, words=WORDS)
    actions.set_constraint(place, WORDS, turn=said_by.turn.number)
    actions.set_standing_rule(alice, f"{WORDS} Always.")
    actions.pin_turn(place, said_by.turn.number)
    actions.set_instructions(alice, WORDS)
    actions.set_instructions(alice, WORDS, session=session)
    actions.save_prompt(alice, "first", WORDS)
    actions.judge_run(Run.objects.get(turn=said_by.turn), "bad", actor=alice, why=WORDS)
    branch = actions.fork(talk.branch, after=place.turn, actor=alice, name=WORDS)
    pins = Hold.objects.get(branch=place.branch)
    values: dict[str, object] = {
        "session_id": session.pk,
        "branch_id": branch.pk,
        "number": said_by.turn.number,
        "run_id": Run.objects.filter(turn=said_by.turn).values_list("pk", flat=True).get(),
        "slug": SLUG,
        "seq": 1,
        "artifact_id": artifact.pk,
        "artifact": artifact.pk,
        "other_id": artifact.pk,
        "letter": "c",
        "item": "result",
        "place": 1,
        "days": 7,
        "verb": "expand",
        "purpose": "draft",
        "pk": pins.pk,
    }
    return SimpleNamespace(session=session, values=values)


@pytest.mark.slow
def test_no_page_translates_what_a_person_wrote(stage: SimpleNamespace, as_alice: Client) -> None:
    with translation.override("de"):
        translated = str(said(WORDS))
    assert translated != WORDS
    shown: list[str] = []
    wrong: list[tuple[str, str]] = []
    for one in ADDRESSES:
        names = re.findall(r"<(?:\w+:)?(\w+)>", one.route)
        if one.kind not in ("own", "owner", "reviewer") or set(names) - stage.values.keys():
            continue
        answer = as_alice.get(one.of(stage.values), headers={"accept-language": "de"})
        if answer.status_code == 200 and not answer.streaming:
            page = answer.content.decode()
            shown += [one.route] if WORDS in page else []
            wrong += [(one.route, found[0]) for found in re.finditer(f".{{,80}}{re.escape(translated[:-1])}", page)]
    assert wrong == []
    assert len(set(shown)) > 30
