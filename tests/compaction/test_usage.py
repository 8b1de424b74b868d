"""What models may draft, and what it has cost: caps of a run and of a day, and the switch that stops them all."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from compaction import actions, usage
from compaction.domain.limits import Purpose, dearest, limits
from compaction.models import DraftingPolicy, DraftRun
from efforts import actions as efforts
from efforts.actions.scopes import draft_turns
from efforts.domain.lifecycle import ScopeKind, SummaryState
from efforts.models import AccountEvent, ContextPointer, EffortState, Session
from efforts.runner import Runner
from efforts.snapshots import main_branch
from efforts.threads import read, write
from tests.efforts.logs import WEBHOOK, concluded, conversation, say
from tests.fakes.provider import FakeProvider, NoAnswer, Reply

from .conftest import Stage, a_good_draft, is_draft


def spent(session: Session, tokens: int | None, purpose: str = "compaction", **more: Any) -> DraftRun:
    at = more.pop("at", None)
    given = {"drafter": "model", "model": "m", "ended": "drafted", "prompt_version": "1", **more}
    run = DraftRun.objects.create(session=session, branch=main_branch(session), purpose=purpose, tokens=tokens, **given)
    if at:
        DraftRun.objects.filter(pk=run.pk).update(created_at=at)
    return run


# What was used


def test_tokens_and_runs_are_counted_by_purpose_for_today_and_for_7_and_30_days(alice: User, bob: User) -> None:
    session = conversation(alice)
    now = timezone.now()
    spent(session, 100)
    spent(session, 50, ended="timeout")
    spent(session, None, drafter="extractive", model="")
    spent(session, 7, Purpose.JUDGE, drafter="judge")
    spent(session, 1_000, at=now - timedelta(days=6))
    spent(session, 10_000, Purpose.STAGE, at=now - timedelta(days=29))
    spent(session, 99, at=now - timedelta(days=31))
    spent(conversation(bob), 5_000)
    uses = usage.usage_of(alice)
    used = {use.purpose: dict(use.used) for use in uses}
    assert used["compaction"][1] == usage.Used(tokens=150, asked=2, failed=1, without=1)
    assert used["compaction"][7] == usage.Used(tokens=1_150, asked=3, failed=1, without=1)
    assert used["rolling"][30] == usage.Used()
    assert used["stage"] == {1: usage.Used(), 7: usage.Used(), 30: usage.Used(tokens=10_000, asked=1)}
    assert [(days, one.tokens) for days, one in usage.total_of(uses)] == [(1, 157), (7, 1_157), (30, 11_157)]
    assert usage.used_today(alice) == 157


def test_a_day_begins_at_midnight_utc(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timezone, "now", lambda: datetime(2026, 3, 5, 0, 30, tzinfo=UTC))
    session = conversation(alice)
    spent(session, 10, at=datetime(2026, 3, 5, 0, 0, tzinfo=UTC))
    spent(session, 100, at=datetime(2026, 3, 4, 23, 59, 59, tzinfo=UTC))
    assert usage.used_today(alice) == 10


# Caps


def test_each_purpose_has_a_cap_of_its_own_or_that_of_all(settings: Any) -> None:
    settings.CCM_DRAFT_CAP, settings.CCM_STAGE_CAP = 30_000, 9_000
    caps = {purpose: usage.cap_of(purpose) for purpose in Purpose}
    assert caps == {"compaction": 30_000, "rolling": 30_000, "stage": 9_000, "compaction_eval": 30_000}


@pytest.mark.parametrize("source", [1, 500, 9_000, 60_000])
def test_what_a_draft_may_cost_is_within_its_cap_and_enough_for_a_redraft(source: int) -> None:
    cost = dearest(source, cap=40_000, overhead=700)
    fits = limits(cap=40_000, window=None, overhead=700).with_redraft >= source
    assert cost <= 40_000
    assert (cost < 40_000) == fits


async def test_over_the_cap_of_a_day_no_model_is_asked_and_the_note_says_why(
    stage: Stage, provider: FakeProvider, runner: Runner
) -> None:
    await write(actions.cap_day, stage.session.owner, 20_000)
    await write(spent, stage.session, 19_500)
    await write(concluded, stage.session)
    await stage.logged("effort.summarised")
    event = await read(lambda: stage.session.events.get(kind="effort.summarised").data)
    assert (event["drafter"], provider.requests) == ("builtin", [])
    assert event["note"].startswith("Your cap of 20,000 tokens a day is used up: 19,500 are used today")


async def test_what_other_people_used_and_what_was_used_yesterday_does_not_count(
    stage: Stage, provider: FakeProvider, runner: Runner, bob: User
) -> None:
    provider.otherwise = lambda request: Reply(a_good_draft(request) if is_draft(request) else "All right.")
    await write(actions.cap_day, stage.session.owner, 20_000)
    await write(spent, await write(conversation, bob), 19_500)
    await write(lambda: spent(stage.session, 19_500, at=timezone.now() - timedelta(days=1)))
    await write(concluded, stage.session)
    await stage.logged("effort.summarised")
    assert (await read(DraftRun.objects.latest, "pk")).drafter == "model"


def test_the_cap_of_a_person_goes_before_that_of_the_installation(alice: User, settings: Any) -> None:
    settings.CCM_DAILY_CAP = 300_000
    assert usage.daily_cap(usage.policy_of(alice)) == 300_000
    actions.cap_day(alice, 5_000)
    assert usage.daily_cap(usage.policy_of(alice)) == 5_000
    actions.cap_day(alice, None)
    assert usage.daily_cap(usage.policy_of(alice)) == 300_000
    told = AccountEvent.objects.filter(owner=alice, kind="drafting.capped").order_by("pk")
    assert [(one.data["old"], one.data["tokens"]) for one in told] == [(None, 5_000), (5_000, None)]


# The switch


async def test_stopping_cancels_what_a_model_is_drafting_and_it_is_drafted_without_one(
    stage: Stage, provider: FakeProvider, runner: Runner
) -> None:
    provider.otherwise = NoAnswer()
    await write(concluded, stage.session)
    await read(provider.wait_for_requests, 1)
    assert await write(actions.stop_models, stage.session.owner) == 1
    await stage.logged("effort.summarised")
    event = await read(lambda: stage.session.events.get(kind="effort.summarised").data)
    assert (event["drafter"], event["note"]) == ("builtin", usage.STOPPED)
    assert len(provider.requests) == 1
    assert [run.drafter for run in await read(lambda: list(DraftRun.objects.all()))] == ["extractive"]
    assert await read(ContextPointer.objects.filter(state="active").count) == 1


@pytest.mark.parametrize("kind", list(ScopeKind))
async def test_what_is_in_line_when_models_are_stopped_is_drafted_without_one_whatever_it_is_for(
    kind: ScopeKind, stage: Stage, provider: FakeProvider, runner: Runner, settings: Any
) -> None:
    settings.CCM_JUDGE_MODEL = "judge-1"
    owner = stage.session.owner
    await write(say, stage.session, WEBHOOK)
    await write(actions.stop_models, owner)
    place = await read(lambda: efforts.here(stage.session, actor=owner))
    await write(draft_turns, place, [1, 2, 3], kind)
    await stage.logged("compaction.drafted")
    event = await read(lambda: stage.session.events.get(kind="compaction.drafted").data)
    assert (event["passed"], event["drafter"], event["note"]) == (True, "builtin", usage.STOPPED)
    assert provider.requests == []


async def test_allowed_again_the_model_drafts(stage: Stage, provider: FakeProvider, runner: Runner) -> None:
    provider.otherwise = lambda request: Reply(a_good_draft(request) if is_draft(request) else "All right.")
    await write(actions.stop_models, stage.session.owner)
    await write(actions.allow_models, stage.session.owner)
    await write(concluded, stage.session)
    await stage.logged("effort.summarised")
    assert (await read(DraftRun.objects.get)).drafter == "model"


def test_stopping_and_allowing_are_recorded_once_each_and_concern_nobody_else(alice: User, bob: User) -> None:
    state = concluded(conversation(bob))
    EffortState.objects.filter(pk=state.pk).update(summary=SummaryState.DRAFTING, summary_owner="x:1:y/1")
    for _ in range(2):
        assert actions.stop_models(alice) == 0
    state.refresh_from_db()
    assert state.summary == SummaryState.DRAFTING
    assert usage.why_not(bob, 1) == ""
    for _ in range(2):
        actions.allow_models(alice)
    kinds = list(AccountEvent.objects.order_by("pk").values_list("kind", flat=True))
    assert kinds == ["drafting.stopped", "drafting.allowed"]
    assert DraftingPolicy.objects.get(user=alice).stopped_at is None
