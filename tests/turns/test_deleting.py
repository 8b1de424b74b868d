"""Deleting a conversation leaves nothing of it, in no table and in no file."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.contrib.auth.models import User
from django.db import DatabaseError, connection
from django.db.models import Q
from django.utils import timezone

from compaction.models import (
    Artifact,
    ClaimVerdict,
    DraftingPolicy,
    NotNeeded,
    Review,
    Reviewer,
    SeedPackage,
    SeedStage,
    SetAside,
)
from efforts import actions
from efforts.actions import conversations
from efforts.context.planning import main_branch
from efforts.domain.errors import Refused
from efforts.models import AccountEvent, Effort, Endpoint, ScopeDraft, Session
from efforts.models.threads import read, write
from efforts.turns.runner import tidy_once
from tests.compaction.artifacts import LongTalk, accept, concluded, of_turns, roll_back
from tests.efforts.talk import Talk
from tests.fakes.provider import Call, FakeProvider, Reply
from tests.turns.conftest import Stage

SECRET = "xylophonequartz"


async def everything_said(stage: Stage, provider: FakeProvider) -> None:
    provider.script = [
        Reply(SECRET),
        Reply(f"{SECRET} noted", calls=(Call.of("search_messages", query=SECRET),)),
        Reply(SECRET),
    ]
    await stage.ask(f"Say {SECRET}.")
    turn = await stage.ask(f"Remember {SECRET}.")
    assert turn.run is not None
    await write(actions.judge_run, turn.run, "bad", why=f"Not {SECRET}.", actor=stage.session.owner)


def rows_left() -> dict[str, int]:
    """Of all that belongs to conversations; what belongs to a person stays."""
    kept = {AccountEvent, Endpoint, DraftingPolicy}
    labels = ("efforts", "compaction")
    models = [model for label in labels for model in apps.get_app_config(label).get_models() if model not in kept]
    return {model.__name__: count for model in models if (count := model._default_manager.count())}


def files() -> bytes:
    name = Path(str(connection.settings_dict["NAME"]))
    return b"".join(path.read_bytes() for path in name.parent.glob(name.name + "*"))


@pytest.mark.usefixtures("runner")
async def test_no_row_is_left(stage: Stage, provider: FakeProvider) -> None:
    await everything_said(stage, provider)
    said = {"Session", "Turn", "Run", "Message", "ContextPlan", "Fragment", "Event"}
    assert set(await read(rows_left)) >= said | {"ToolTrace", "RetrievalSet", "RetrievalItem", "Verdict"}
    await write(actions.erase_session, stage.session, actor=stage.session.owner)
    assert await read(rows_left) == {}


@pytest.mark.skipif(connection.vendor != "sqlite", reason="looks into SQLite's file")
async def test_no_byte_is_left_in_the_database_file(stage: Stage, provider: FakeProvider, runner: object) -> None:
    await everything_said(stage, provider)
    assert SECRET.encode() in await read(files)
    await write(actions.erase_session, stage.session, actor=stage.session.owner)
    assert SECRET.encode() not in await read(files)


@pytest.mark.usefixtures("runner")
async def test_its_branches_go_with_it(stage: Stage) -> None:
    await stage.ask("One?")
    main = await read(main_branch, stage.session)
    child = await write(actions.fork, main, after=1, actor=stage.session.owner)
    await write(actions.edit_turn, child, 1, text="Eins?", client_id="edit", actor=stage.session.owner)
    await stage.settled()
    await write(actions.erase_session, stage.session, actor=stage.session.owner)
    assert await read(rows_left) == {}


@pytest.mark.usefixtures("runner")
async def test_a_running_turn_of_a_deleted_conversation_stops_at_once_and_quietly(
    stage: Stage, provider: FakeProvider
) -> None:
    provider.script = [Reply("one two three", gate=threading.Event(), gate_after=1)]
    await stage.say("Count")
    await stage.logged("delta")
    await write(actions.erase_session, stage.session, actor=stage.session.owner)
    assert await asyncio.to_thread(provider.gone.wait, 10)
    assert await read(rows_left) == {}


@pytest.mark.django_db
def test_no_row_of_its_summaries_is_left(alice: User, bob: User) -> None:
    talk = LongTalk(actions.create_session(alice))
    _, chosen = everything_summarised(talk, bob)
    package = SeedPackage.objects.create(owner=alice, title="All", state="started", session=talk.session)
    stage = ScopeDraft.objects.create(branch=talk.branch, kind="stage", turns=[1], artifact=chosen.pk)
    SeedStage.objects.create(package=package, place=1, draft=stage)
    assert {"Artifact", "GateRun", "DraftRun", "Acceptance", "Reviewer", "ClaimVerdict", "Review", "SetAside"} | {
        "NotNeeded",
        "ContextPointer",
        "PointerTurn",
        "PointerMove",
        "ScopeDraft",
        "Check",
        "ModelRequest",
        "Planted",
    } <= set(rows_left())
    actions.erase_session(talk.session, actor=alice)
    # A package is its owner's: what conversations of theirs it started from is no longer told.
    assert rows_left() == {"SeedPackage": 1}
    assert SeedPackage.objects.get().session is None


def everything_summarised(talk: Talk, reviewer: User) -> tuple[Artifact, Artifact]:
    """An effort and chosen turns, each accepted, one rolled back and one copied to a fork; reviewed by another."""
    _, of_work = concluded(talk, "work", "One thing.", "Another thing.")
    talk.ask("Something apart.")
    chosen = of_turns(talk.branch, [3])
    accept(chosen)
    actions.fork(talk.branch, after=3, actor=talk.session.owner)
    roll_back(chosen, reason="Too short.")
    Reviewer.objects.create(session=talk.session, user=reviewer, named_by=talk.session.owner)
    ClaimVerdict.objects.create(artifact=chosen, reviewer=reviewer, item="headline", verdict="kept")
    Review.objects.create(artifact=chosen, reviewer=reviewer)
    SetAside.objects.create(artifact=chosen, finding="f1", text="Three.", reason="It is another.")
    NotNeeded.objects.create(family=chosen.family, session=talk.session, key="k1")
    return of_work, chosen


@pytest.mark.django_db
def test_what_is_deleted_is_erased_when_its_time_is_over_and_not_before(alice: User) -> None:
    kept, gone, back = (actions.create_session(alice, title=title) for title in ("Kept", "Gone", "Back"))
    for session in (gone, back):
        actions.delete_session(session, actor=alice)
    assert actions.erase_deleted() == 0
    actions.undelete_session(back, actor=alice)
    Session.objects.filter(erase_at__isnull=False).update(erase_at=timezone.now())
    assert actions.erase_deleted() == 1
    assert set(Session.objects.values_list("title", flat=True)) == {kept.title, back.title}
    with pytest.raises(Refused, match="erased already"):
        actions.undelete_session(gone, actor=alice)


@pytest.mark.django_db
def test_one_that_cannot_be_erased_keeps_no_other_from_it(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    first, _ = (actions.create_session(alice) for _ in range(2))
    Session.objects.update(erase_at=timezone.now())
    real = conversations.erase_session

    def fails(session: Session, *, actor: User) -> bool:
        if session.pk == first.pk:
            raise DatabaseError("what nobody thought of")
        return real(session, actor=actor)

    monkeypatch.setattr(conversations, "erase_session", fails)
    assert actions.erase_deleted() == 1
    assert list(Session.objects.values_list("pk", flat=True)) == [first.pk]
    monkeypatch.undo()
    assert actions.erase_deleted() == 1


@pytest.mark.django_db
@pytest.mark.skipif("connection.vendor == 'sqlite'", reason="Of SQLite Django knows how many values it takes.")
def test_a_statement_takes_as_many_values_as_a_long_conversation_has_rows(alice: User) -> None:
    """Deleting one asks for all that leads to its rows at once."""
    session = actions.create_session(alice)
    effort = Effort.objects.create(session=session, slug="one", name="50 % of 'it'")
    those = Effort.objects.filter(Q(name="50 % of 'it'"), pk__in=[*range(effort.pk + 1, effort.pk + 70_000), effort.pk])
    assert list(those) == [effort]
    assert those.update(name="Another") == 1


@pytest.mark.django_db
def test_what_two_workers_erase_at_once_is_logged_once(alice: User) -> None:
    session = actions.create_session(alice)
    both = [Session.objects.get(pk=session.pk) for _ in range(2)]
    assert [actions.erase_session(one, actor=alice) for one in both] == [True, False]
    assert AccountEvent.objects.filter(kind="session.deleted").count() == 1


@pytest.mark.usefixtures("runner")
async def test_the_runner_erases_what_was_deleted(stage: Stage, settings: Any) -> None:
    settings.CCM_UNDO_SECONDS = 0
    await write(actions.delete_session, stage.session, actor=stage.session.owner)
    await tidy_once()
    assert await read(rows_left) == {}


@pytest.mark.django_db
def test_that_something_was_deleted_stays_in_the_account_log_without_its_name(alice: User) -> None:
    session = actions.create_session(alice, title="Payments")
    actions.erase_session(session, actor=alice)
    entry = AccountEvent.objects.get(kind="session.deleted")
    assert (entry.owner, entry.actor, entry.data) == (alice, alice, {})
