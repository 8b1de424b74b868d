"""Compaction in the admin: found, linked, read-only, one's own; what changes something asks once more."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.apps import apps
from django.contrib.admin.utils import quote
from django.contrib.auth.models import Permission, User
from django.db import models
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from django.utils.html import escape
from django.utils.text import capfirst

from compaction.models import (
    Artifact,
    Check,
    Checker,
    ClaimVerdict,
    DraftingPolicy,
    Exam,
    ModelRequest,
    NotNeeded,
    Recheck,
    Review,
    Reviewer,
    SeedPackage,
    SeedStage,
    SetAside,
)
from compaction.standing.accepting import accept_compaction
from efforts.models import AccountEvent, ContextPointer, Event, PointerMove, ScopeDraft
from tests.compaction.review import POSTGRES, SLUG, Room
from tests.efforts.talk import Talk

COMPACTION = (
    "artifact",
    "draftrun",
    "gaterun",
    "check",
    "exam",
    "modelrequest",
    "planted",
    "recheck",
    "checker",
    "acceptance",
    "reviewer",
    "claimverdict",
    "review",
    "setaside",
    "notneeded",
    "draftingpolicy",
    "seedpackage",
    "seedstage",
)
EFFORTS = ("contextpointer", "pointermove", "scopedraft")
TABLES = [*(f"compaction_{name}" for name in COMPACTION), *(f"efforts_{name}" for name in EFFORTS)]


@pytest.fixture
def talk(room: Room, alice: User) -> Talk:
    User.objects.filter(pk=alice.pk).update(is_staff=True, is_superuser=True)
    return room.talk


@pytest.fixture
def artifact(room: Room, talk: Talk, alice: User, bob: User) -> Artifact:
    """With a row of everything that can be about it."""
    row = room.draft()
    Checker.objects.create(user=alice, model="reader-1", chosen_at=timezone.now())
    Reviewer.objects.create(session=talk.session, user=bob, named_by=alice)
    ClaimVerdict.objects.create(artifact=row, reviewer=bob, item="1", verdict="kept")
    Review.objects.create(artifact=row, reviewer=bob, made=row)
    SetAside.objects.create(artifact=row, finding="f1", text="Three, not four.", reason="It is another limit.")
    NotNeeded.objects.create(family=row.family, session=talk.session, key="k1")
    Recheck.objects.create(artifact=row, branch=talk.branch)
    DraftingPolicy.objects.create(user=alice)
    draft = ScopeDraft.objects.create(branch=talk.branch, kind="stage", turns=[1, 2], artifact=row.pk)
    package = SeedPackage.objects.create(owner=alice, title="Three weeks", state="ready", artifact=row)
    SeedStage.objects.create(package=package, place=1, draft=draft)
    return row


def page(client: Client, address: str, status: int = 200) -> str:
    answer = client.get(address)
    assert answer.status_code == status
    return answer.content.decode()


def listing(table: str) -> str:
    return reverse(f"admin:{table}_changelist")


def rows(html: str, table: str) -> list[str]:
    """Addresses of the rows of a list."""
    app, model = table.split("_")
    cells = re.findall(r"<th[^>]*>(.*?)</th>", html, re.DOTALL)
    return [found for cell in cells for found in re.findall(rf'"(/admin/{app}/{model}/[^"/]+/change/)[^"]*"', cell)]


def of(row: models.Model) -> str:
    return reverse(f"admin:{row._meta.app_label}_{row._meta.model_name}_change", args=[quote(row.pk)])


def act(client: Client, row: Artifact, action: str, **more: Any) -> str:
    data = {"action": action, "_selected_action": [row.pk], **more}
    answer = client.post(listing("compaction_artifact"), data, follow=True)
    assert answer.status_code == 200
    return answer.content.decode()


def test_a_list_has_short_ids_and_names_that_are_words(artifact: Artifact, as_alice: Client) -> None:
    listed = page(as_alice, listing("compaction_artifact"))
    assert f">{artifact.pk[:12]}</a>" in listed
    assert f">{artifact.pk}</a>" not in listed
    index = page(as_alice, reverse("admin:index"))
    assert "Findings set aside" in index
    assert not re.search("Not neededs|Set asides", index)


def test_every_list_and_its_first_row_can_be_opened_and_neither_changed(artifact: Artifact, as_alice: Client) -> None:
    for table in TABLES:
        row = rows(page(as_alice, listing(table)), table)[0]
        page(as_alice, row)
        forbidden = [row, row.replace("/change/", "/delete/"), reverse(f"admin:{table}_add")]
        for address in forbidden:
            assert as_alice.post(address, {"post": "yes"}).status_code == 403, address
        page(as_alice, reverse(f"admin:{table}_add"), 403)


def test_the_lists_offer_nothing_but_what_the_page_can_do(artifact: Artifact, as_alice: Client) -> None:
    offered = {table: actions_of(page(as_alice, listing(table))) for table in TABLES}
    assert offered.pop("compaction_artifact") == {"roll_back", "judge_again"}
    assert set(map(frozenset, offered.values())) == {frozenset()}
    for table in TABLES:
        app, model = table.split("_")
        rows_of = apps.get_model(app, model).objects
        chosen = list(rows_of.values_list("pk", flat=True))
        as_alice.post(listing(table), {"action": "delete_selected", "_selected_action": chosen, "post": "yes"})
        assert list(rows_of.values_list("pk", flat=True)) == chosen != []


def actions_of(html: str) -> set[str]:
    select = re.search(r'<select name="action".*?</select>', html, re.DOTALL)
    return set(re.findall(r'<option value="(\w+)"', select[0])) if select else set()


def test_each_row_is_told_its_own_outcome(artifact: Artifact, as_alice: Client) -> None:
    other = Artifact.objects.get(pk=artifact.pk)
    other.pk, other.version = f"{artifact.pk[:-3]}abc", 2
    other.save(force_insert=True)
    data = {"action": "roll_back", "_selected_action": [artifact.pk, other.pk], "confirmed": "yes"}
    html = as_alice.post(listing("compaction_artifact"), data, follow=True).content.decode()
    assert f"{capfirst(str(artifact))}: rolled back." in html
    assert f"{capfirst(str(other))}: This summary is not in use, so there is nothing to roll back." in html


def test_other_staff_see_none_of_it(artifact: Artifact, as_bob: Client, bob: User) -> None:
    let_in(bob)
    assert [table for table in TABLES if rows(page(as_bob, listing(table)), table)] == []


def let_in(user: User, *more: str) -> None:
    names = [f"view_{table.split('_')[1]}" for table in TABLES]
    User.objects.filter(pk=user.pk).update(is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__in=[*names, *more]))


def test_an_artifact_leads_to_all_that_is_about_it(artifact: Artifact, as_alice: Client) -> None:
    html = page(as_alice, of(artifact))
    about = [
        artifact.run,
        *Check.objects.filter(family=artifact.family),
        *artifact.gate_runs.all(),
        *artifact.acceptances.all(),
        *artifact.claim_verdicts.all(),
        *artifact.reviews.all(),
        *artifact.set_aside.all(),
        *ContextPointer.objects.all(),
    ]
    assert len(about) == 8
    assert [str(row) for row in about if of(row) not in html] == []
    assert artifact.get_absolute_url() in html
    assert "Postgres is decided" in html


def test_a_check_leads_to_what_was_asked_and_planted_to_the_byte(artifact: Artifact, as_alice: Client) -> None:
    check = Check.objects.get()
    html = page(as_alice, of(check))
    asked, planted = list(check.requests.all()), list(check.planted_rows.all())
    assert {row.step for row in asked} == {"inventory", "half", "mapping"}
    assert {row.role for row in planted} == {"canary", "control", "hidden"}
    assert [str(row) for row in (*asked, *planted) if of(row) not in html] == []
    request = page(as_alice, of(asked[0]))
    assert POSTGRES in request
    assert escape(asked[0].answer) in request
    assert "canary" in page(as_alice, listing("compaction_planted"))


def test_a_draft_leads_to_its_requests_and_an_answer_is_shown(artifact: Artifact, as_alice: Client) -> None:
    html = page(as_alice, of(artifact.run))
    (asked,) = ModelRequest.objects.filter(run=artifact.run)
    assert of(asked) in html
    assert "nightly backups" in page(as_alice, of(asked))


def test_a_pointer_leads_to_its_artifact_and_its_moves(artifact: Artifact, as_alice: Client) -> None:
    html = page(as_alice, of(ContextPointer.objects.get()))
    assert of(artifact) in html
    assert of(PointerMove.objects.get()) in html
    assert "the log" in page(as_alice, listing("efforts_pointermove"))


@pytest.mark.parametrize("table", ["efforts_contextpointer", "efforts_pointermove", "efforts_scopedraft"])
def test_what_stands_how_it_came_to_and_what_was_asked_for_lead_to_the_page(
    artifact: Artifact, as_alice: Client, table: str
) -> None:
    listed = page(as_alice, listing(table))
    opens = f'href="{artifact.get_absolute_url()}">Open</a>'
    assert opens in listed
    assert opens in page(as_alice, rows(listed, table)[0])


def test_an_acceptance_leads_to_the_page(artifact: Artifact, as_alice: Client) -> None:
    row = rows(page(as_alice, listing("compaction_acceptance")), "compaction_acceptance")[0]
    assert f'href="{artifact.get_absolute_url()}">Open</a>' in page(as_alice, row)


def test_an_id_that_looks_like_a_quoted_character_leads_to_its_row(artifact: Artifact, as_alice: Client) -> None:
    odd = Artifact.objects.get(pk=artifact.pk)
    odd.pk = odd.family = "cmp_23abc"
    odd.save(force_insert=True)
    assert "cmp_23abc" in page(as_alice, of(odd))
    assert of(odd) in page(as_alice, listing("compaction_artifact"))


def test_rolling_back_asks_first_and_is_on_record(talk: Talk, artifact: Artifact, as_alice: Client) -> None:
    html = act(as_alice, artifact, "roll_back")
    assert f"the summary of {SLUG} (turns 1-3)" in html
    assert ContextPointer.objects.get().state == "active"
    assert "rolled back." in act(as_alice, artifact, "roll_back", confirmed="yes", reason="Too short.")
    move = PointerMove.objects.get(kind="rolled back")
    assert (move.via, move.reason, move.actor) == ("admin", "Too short.", talk.session.owner)
    event = Event.objects.get(kind="effort.rolled_back")
    assert event.actor == talk.session.owner
    assert "nothing to roll back" in act(as_alice, artifact, "roll_back", confirmed="yes")


def test_to_see_anothers_is_not_to_change_it(artifact: Artifact, as_bob: Client, bob: User) -> None:
    let_in(bob, "view_any_session")
    assert "which only its owner or a superuser may change" in act(as_bob, artifact, "roll_back")
    assert "only its owner or a superuser" in act(as_bob, artifact, "roll_back", confirmed="yes")
    assert ContextPointer.objects.get().state == "active"


def test_a_superuser_may_and_the_owner_can_see_that(artifact: Artifact, as_bob: Client, bob: User) -> None:
    let_in(bob)
    User.objects.filter(pk=bob.pk).update(is_superuser=True)
    act(as_bob, artifact, "roll_back", confirmed="yes")
    assert ContextPointer.objects.get().state == "rolled back"
    entry = AccountEvent.objects.get(kind="changed by staff")
    assert (entry.owner, entry.actor, entry.data["id"]) == (artifact.session.owner, bob, artifact.pk)


def test_where_it_stands_again_it_can_be_rolled_back_again(artifact: Artifact, as_alice: Client, alice: User) -> None:
    act(as_alice, artifact, "roll_back", confirmed="yes")
    accept_compaction(artifact.pk, artifact.session_id, 1, 3, actor=alice)
    act(as_alice, artifact, "roll_back", confirmed="yes")
    assert PointerMove.objects.filter(kind="rolled back").count() == 2


def test_judging_again_asks_first_and_is_on_record(artifact: Artifact, as_alice: Client, alice: User) -> None:
    assert "as they are now" in act(as_alice, artifact, "judge_again")
    assert artifact.gate_runs.count() == 1
    assert "judged again." in act(as_alice, artifact, "judge_again", confirmed="yes")
    assert artifact.gate_runs.count() == 2
    assert Event.objects.get(kind="review.judged").actor == alice


def test_a_superuser_judges_anothers_again(artifact: Artifact, as_bob: Client, bob: User) -> None:
    Reviewer.objects.all().delete()
    let_in(bob)
    User.objects.filter(pk=bob.pk).update(is_superuser=True)
    act(as_bob, artifact, "judge_again", confirmed="yes")
    assert Event.objects.get(kind="review.judged").actor == bob
    assert AccountEvent.objects.filter(kind="changed by staff", actor=bob).exists()


def test_a_check_leads_to_its_exam_its_gate_runs_and_its_versions_and_an_exam_to_its_checks(
    artifact: Artifact, as_alice: Client
) -> None:
    check, exam = Check.objects.get(), Exam.objects.get()
    Exam.objects.update(version=check.version)
    shown = page(as_alice, of(check))
    for row in (exam, artifact, artifact.gate_runs.get(), check.planted_rows.all()[0], check.requests.all()[0]):
        assert of(row) in shown
    assert of(check) in page(as_alice, of(exam))
    assert reverse("checkers") in page(as_alice, of(exam))
    assert of(check.planted_rows.all()[0]) in page(as_alice, of(check.planted_rows.all()[0].request))
    assert of(artifact.run) in rows(
        page(as_alice, f"{listing('compaction_draftrun')}?q={artifact.pk}"), "compaction_draftrun"
    )
