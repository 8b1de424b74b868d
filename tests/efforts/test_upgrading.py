"""A database from when sentences were suggested by how they sounded."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from efforts import actions
from efforts.domain.effort.states import EntryBy, EntryKind
from efforts.memory import entries, ledger
from efforts.memory.origins import Origin, Where
from efforts.models import Constraint, LedgerEntry, Message
from efforts.pages.presenters.notices import notice_groups
from tests.efforts.talk import Talk

pytestmark = pytest.mark.long

Targets = list[tuple[str, str | None]]

BEFORE: Targets = [("efforts", "0015_scopes")]


def newest() -> Targets:
    return list(MigrationExecutor(connection).loader.graph.leaf_nodes())


def migrate(targets: Targets) -> None:
    MigrationExecutor(connection).migrate(targets)


@pytest.fixture
def talk(transactional_db: None, alice: User) -> Iterator[Talk]:
    yield Talk(actions.create_session(alice))
    # The tests after it need today's tables, whatever has become of this one.
    migrate(newest())


def test_what_nobody_answered_is_gone_and_what_was_answered_is_the_person_s(talk: Talk) -> None:
    talk.ask("We take the train. Ask Anna. Be brief. Be kind.")
    where = Where(turn=1, branch=str(talk.branch_id), via="cue")
    book, origin = ledger.book_of(talk.session), Origin(message=Message.objects.get(role="user"))
    for text in ("Be brief.", "Be kind."):
        ledger.suggest(book, text, where)
    for text in ("Take the train.", "Ask Anna."):
        entries.propose(talk.session, EntryKind.DECISION, text, by=EntryBy.MODEL, origin=origin, where=where)
    actions.accept_constraint(talk.place, Constraint.objects.get(text="Be kind.").pk)
    actions.confirm_entry(talk.place, LedgerEntry.objects.get(text="Ask Anna.").pk)
    Constraint.objects.update(by="cue")
    LedgerEntry.objects.update(by="cue")
    talk.ask("Go on.", ("record", {"kind": "decision", "text": "Book two seats."}))

    migrate(BEFORE)
    migrate([("efforts", "0016_proposals_by_model")])

    assert list(Constraint.objects.values_list("text", "state", "by")) == [("Be kind.", "in force", "person")]
    assert list(LedgerEntry.objects.values_list("text", "state", "by")) == [
        ("Ask Anna.", "confirmed", "person"),
        ("Book two seats.", "proposed", "model"),
    ]
    migrate(newest())
    told = {
        turn: [one.text for group in groups for one in group.notices]
        for turn, groups in notice_groups(talk.branch, range(3)).items()
    }
    assert told == {1: ["Rule set: Be kind."], 2: ["Decision? “Book two seats.”"]}
