"""What was kept by the first build is there, word for word, whatever the code has become since."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.apps import apps
from django.contrib.auth.models import User
from django.core.management import call_command

from compaction.standing.accepting import rollback_compaction
from efforts import actions
from efforts.models import Branch, ContextPlan, ContextPointer

from .dumps import apps_of_first_build, migrate_to_newest

pytestmark = pytest.mark.long

Rows = dict[str, list[tuple[Any, ...]]]

POSTGRES = "Orders are stored in Postgres, with nightly backups to the second site."
EDITED = "Orders are in Postgres, with nightly backups."
MODELS = "The webhook answers at once and a job posts to the ledger; the retry limit is 3."


def kept(get_model: Callable[[str, str], Any]) -> Rows:
    def rows(app: str, model: str, *fields: str) -> list[tuple[Any, ...]]:
        return list(get_model(app, model).objects.order_by("pk").values_list(*fields))

    return {
        "messages": rows("efforts", "Message", "pk", "role", "text", "turn"),
        "turns": rows("efforts", "Turn", "pk", "branch", "number"),
        "branches": rows("efforts", "Branch", "pk", "name", "parent", "fork_turn", "head"),
        "pointers": rows("efforts", "ContextPointer", "pk", "branch", "effort", "state", "text", "body", "artifact"),
        "their turns": rows("efforts", "PointerTurn", "pointer", "turn"),
        "their moves": rows("efforts", "PointerMove", "pointer", "kind", "before", "after", "via"),
        "artifacts": [
            (*row, bytes(packed))
            for *row, packed in rows("compaction", "Artifact", "pk", "family", "version", "standing", "packed")
        ],
        "acceptances": rows("compaction", "Acceptance", "artifact", "pointer", "actor", "via"),
        "verdicts": rows("compaction", "ClaimVerdict", "artifact", "reviewer", "item", "verdict", "text"),
        "set aside": rows("compaction", "SetAside", "artifact", "finding", "reason"),
        "rules": rows("efforts", "Constraint", "session", "text", "state", "by"),
        "entries": rows("efforts", "LedgerEntry", "session", "kind", "text", "state", "by"),
        "events": rows("efforts", "Event", "session", "seq", "kind", "data"),
    }


def by_people(row: tuple[Any, ...]) -> tuple[Any, ...]:
    """What was proposed for its words alone, and still waited, is gone; what a person made of it is the person's."""
    *fields, state, by = row
    waits = by == "cue" and state in ("proposed", "suggested")
    return () if waits else (*fields, state, "person" if by == "cue" else by)


def standing(title: str) -> dict[str, list[str]]:
    """The texts that stand in each branch of a conversation."""
    branches = Branch.objects.filter(session__title=title).order_by("created_at")
    return {branch.name: texts_of(branch) for branch in branches}


def texts_of(branch: Branch) -> list[str]:
    pointers = ContextPointer.objects.filter(branch=branch, state="active").order_by("pk")
    return [pointer.body or pointer.text for pointer in pointers]


def roll_back(title: str, text: str) -> None:
    pointer = ContextPointer.objects.filter(branch__session__title=title, branch__name="main", state="active")
    rollback_compaction(pointer.get(text=text).artifact, actor=User.objects.get(username="alice"))


def test_migrating_loses_nothing_and_changes_no_word(restored_only: None) -> None:
    before = kept(apps_of_first_build().get_model)
    migrate_to_newest()
    after = kept(apps.get_model)
    assert all(before.values())
    for what in ("rules", "entries"):
        before[what] = [row for row in map(by_people, before[what]) if row]
    assert [what for what in before if before[what] != after[what]] == []


@pytest.mark.parametrize(
    ("title", "texts"),
    [
        ("Summary of a model", {"main": [MODELS]}),
        ("Failed draft", {"main": []}),
        ("Waits for a yes", {"main": []}),
        ("Rolled back to the log", {"main": []}),
        ("Rolled back to the first version", {"main": [POSTGRES]}),
        ("Edited version stands", {"main": [EDITED], "After the summary": [EDITED]}),
        ("Short efforts", {"main": ["Brief effort: Tea or coffee (too short to summarize)"]}),
    ],
)
def test_what_stood_stands(first_build: None, title: str, texts: dict[str, list[str]]) -> None:
    assert standing(title) == texts


def test_a_fork_takes_over_what_stands_word_for_word(first_build: None) -> None:
    alice = User.objects.get(username="alice")
    # A turn that a branch shares is forked where it was said: there other texts may stand by now.
    branches = [
        branch for branch in Branch.objects.order_by("created_at") if branch.owner_of(branch.head) == str(branch.pk)
    ]
    for branch in branches:
        child = actions.fork(branch, after=branch.head, actor=alice)
        assert sorted(texts_of(child)) == sorted(texts_of(branch)), str(branch.session)


def test_rolled_back_it_gives_way_to_the_version_before_and_then_to_the_log(first_build: None) -> None:
    title = "Edited version stands"
    roll_back(title, EDITED)
    assert standing(title) == {"main": [POSTGRES], "After the summary": [EDITED]}
    roll_back(title, POSTGRES)
    assert standing(title) == {"main": [], "After the summary": [EDITED]}


def test_a_summary_that_took_over_gives_way_to_the_one_it_took_over_from(first_build: None) -> None:
    six, later = standing("Chosen turns")["main"]
    [three] = standing("Chosen turns")["With the first summary"]
    pointer = ContextPointer.objects.get(branch__session__title="Chosen turns", branch__name="main", body=six)
    rollback_compaction(pointer.artifact, actor=User.objects.get(username="alice"))
    assert sorted(standing("Chosen turns")["main"]) == sorted([three, later])


def test_every_plan_still_renders_to_the_request_that_was_sent(
    first_build: None, capsys: pytest.CaptureFixture[str]
) -> None:
    call_command("verify_plans")
    assert f" {ContextPlan.objects.count()} hold, 0 do not." in capsys.readouterr().out
    assert ContextPlan.objects.exists()


def test_every_conversation_is_whole(first_build: None, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("check_integrity")
    assert capsys.readouterr().out.endswith("all are whole.\n")
