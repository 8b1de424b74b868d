"""The example: a conversation as a week of work would have left it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from io import StringIO
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import transaction
from django.test import Client

from compaction.drafting.costs import used_today
from compaction.models import Artifact, Check, DraftRun, Reserved
from compaction.standing.accepting import accept_compaction
from efforts import actions
from efforts.context.planning import main_branch
from efforts.context.plans import preview
from efforts.domain.effort.states import EffortStatus, PointerState, RunState, SummaryState
from efforts.log.timelines import last_used
from efforts.models import (
    Branch,
    Constraint,
    ContextPlan,
    ContextPointer,
    EffortState,
    Event,
    Hold,
    LedgerEntry,
    PointerTurn,
    Run,
    Session,
    Turn,
    TurnLabel,
)
from efforts.turns.demo import begin_demo, go_on, open_demo
from efforts.turns.week import PROMPTS, WEEK


def seed(**options: Any) -> str:
    out = StringIO()
    call_command("demo_seed", stdout=out, **options)
    return out.getvalue()


@pytest.fixture(scope="module")
def made(django_db_setup: None, django_db_blocker: Any) -> Iterator[Session]:
    """Once for all tests here: it takes as long as a week of turns does. It broke off after the first of them."""
    with django_db_blocker.unblock(), transaction.atomic():
        begun, is_new = begin_demo(owner := User.objects.create_user("ines"))
        assert is_new
        assert go_on(begun)
        session, is_new = open_demo(owner)
        assert (session, is_new) == (begun, False)
        yield session
        transaction.set_rollback(True)


@pytest.fixture
def demo(made: Session, db: None) -> Session:
    return made


def slugs(session: Session, **states: Any) -> set[str]:
    here = EffortState.objects.filter(branch=main_branch(session), **states)
    return set(here.values_list("effort__slug", flat=True))


def test_it_is_made_once_goes_on_where_it_broke_off_and_says_where_it_is(demo: Session) -> None:
    with pytest.raises(CommandError, match="nobody yet"):
        seed()
    with pytest.raises(CommandError, match="no user 'eve'"):
        seed(user="eve")
    User.objects.filter(pk=demo.owner_id).update(is_superuser=True)
    actions.rename_session(demo, title="Mine now", actor=demo.owner)
    assert seed().startswith("There already: “Mine now” of ines")
    assert json.loads(seed(user="ines", json=True)) == {
        "session": str(demo.pk),
        "address": demo.get_absolute_url(),
        "made": False,
    }
    assert not go_on(demo)
    assert Turn.objects.filter(branch=main_branch(demo)).count() == len(WEEK)


def test_it_has_efforts_in_every_state_and_all_that_a_person_keeps(demo: Session) -> None:
    gone = {"csv-export", "back-pain", "campaign-budget", "login-errors", "payment-webhook"}
    assert slugs(demo, status=EffortStatus.CONCLUDED) == gone
    assert slugs(demo, status=EffortStatus.OPEN) == {"mail-migration", "summer-party"}
    assert slugs(demo, expanded_turn__isnull=False) == {"csv-export"}
    assert "back-pain" in slugs(demo, evicted_clock__isnull=False)
    active = main_branch(demo).active_effort
    assert active is not None
    assert active.slug == "mail-migration"
    assert Constraint.objects.get(session=demo).text == "Never touch the production database by hand."
    kept = LedgerEntry.objects.filter(session=demo).exclude(state="proposed")
    assert sorted(kept.values_list("kind", flat=True)) == ["decision", "open_work"]
    assert Hold.objects.filter(branch=main_branch(demo)).count() == 1
    assert Branch.objects.get(session=demo, parent__isnull=False).fork_turn == 13


def test_one_summary_waits_one_failed_and_one_was_rolled_back(demo: Session) -> None:
    assert slugs(demo, summary=SummaryState.WAITING) == {"payment-webhook"}
    assert slugs(demo, summary=SummaryState.STANDS) == {"csv-export"}
    failed = EffortState.objects.get(branch=main_branch(demo), effort__slug="campaign-budget")
    assert "The checker doubts claim 3" in failed.draft
    # What waits can be accepted as it is.
    waits = EffortState.objects.get(branch=main_branch(demo), effort__slug="payment-webhook")
    scope = Artifact.objects.values_list("session", "source_start", "source_end").get(pk=waits.artifact)
    assert accept_compaction(waits.artifact, *scope, actor=demo.owner).state == PointerState.ACTIVE
    rolled = ContextPointer.objects.filter(branch=main_branch(demo), effort__slug="login-errors", digest=False)
    assert [pointer.state for pointer in rolled] == [PointerState.ROLLED_BACK]


def test_every_turn_was_answered_by_a_call_that_was_planned_and_counted(demo: Session) -> None:
    runs = Run.objects.filter(turn__session=demo)
    assert set(runs.values_list("state", flat=True)) == {RunState.COMPLETED}
    assert set(ContextPlan.objects.filter(run__in=runs).values_list("run", flat=True)) == set(
        runs.values_list("pk", flat=True)
    )
    out = StringIO()
    call_command("verify_plans", stdout=out)
    assert f"{ContextPlan.objects.count()} hold, 0 do not" in out.getvalue()


def test_no_token_of_the_day_is_used_up(demo: Session) -> None:
    assert DraftRun.objects.filter(session=demo, model="recorded-example").count() == 4
    assert Check.objects.filter(run__session=demo).exists()
    assert used_today(demo.owner) == 0
    assert not Reserved.objects.exists()


def test_it_is_answered_by_the_person_s_own_model_afterwards(demo: Session) -> None:
    assert (demo.model, demo.by_meaning) == ("", True)
    assert Artifact.objects.filter(session=demo).exists()


def test_of_every_summary_that_stands_the_turns_are_those_of_its_effort(demo: Session) -> None:
    for pointer in ContextPointer.objects.filter(branch=main_branch(demo), state=PointerState.ACTIVE):
        labelled = TurnLabel.objects.filter(branch=pointer.branch, effort=pointer.effort)
        standing = PointerTurn.objects.filter(pointer=pointer).values_list("turn_id", flat=True)
        assert set(standing) == set(labelled.values_list("turn_id", flat=True))


def test_its_sums_are_those_of_its_turns(demo: Session) -> None:
    turns = list(Turn.objects.filter(branch=main_branch(demo)).order_by("number"))
    assert [turn.tokens_before for turn in turns] == [sum(t.tokens for t in turns[:n]) for n in range(len(turns))]


def test_its_notices_are_in_its_log(demo: Session) -> None:
    notices = [event.data["notice"] for event in Event.objects.filter(session=demo, data__has_key="notice")]
    assert notices[0] == "--- Started effort: csv-export ---"
    assert notices.count("--- Concluded effort: csv-export ---") == 1
    assert any(notice.startswith("--- Expanded effort: csv-export (") for notice in notices)


def test_its_next_prompt_has_every_layer(demo: Session) -> None:
    sections = {section.key for section in preview(main_branch(demo)).sections if section.tokens}
    assert {"system", "summary", "ambient", "expanded", "open", "active", "turn"} <= sections


def test_its_page_opens_and_offers_questions_until_each_is_asked_or_something_else_is(
    demo: Session, client: Client
) -> None:
    client.force_login(demo.owner)
    page = client.get(demo.get_absolute_url())
    assert page.status_code == 200
    assert "41 mailboxes" in page.content.decode()
    assert all(f'value="{prompt}"' in page.content.decode() for prompt in PROMPTS)
    asked = {"text": PROMPTS[0], "client_id": "asked", "aside": "1"}
    assert client.post(f"{demo.get_absolute_url()}send/", asked).status_code == 200
    left = client.get(demo.get_absolute_url()).content.decode()
    assert [f'value="{prompt}"' in left for prompt in PROMPTS] == [False, True, True]
    # Each is a turn of no effort.
    assert '<input type="hidden" name="aside" value="1">' in left
    actions.send_message(demo, text="And the boiler?", client_id="else", actor=demo.owner)
    assert 'id="suggestions"' not in client.get(demo.get_absolute_url()).content.decode()


def test_its_main_branch_was_used_last(demo: Session) -> None:
    assert last_used([demo]) == {demo.pk: main_branch(demo)}


def test_what_waits_says_that_something_is_missing_where_it_says_that_it_runs(demo: Session) -> None:
    waits = EffortState.objects.get(branch=main_branch(demo), effort__slug="payment-webhook")
    document = json.loads(Artifact.objects.get(pk=waits.artifact).document)
    [claim] = [one for one in document["claims"] if "as it should" in one["text"]]
    assert claim["text"] == "Apart from the alert that is missing, the payment webhook runs as it should."
    assert claim["cites"] == ["11.1", "11.2"]
