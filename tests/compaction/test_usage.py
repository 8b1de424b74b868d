"""What models may draft, and what it has cost: caps of a run and of a day, and the switch that stops them all."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone
from django.utils.html import strip_tags

from compaction.domain.limits import Purpose, price
from compaction.drafting import costs, examining, storing
from compaction.models import Check, DraftingPolicy, DraftRun, Exam, ModelRequest
from compaction.pages.presenters.usage import asked_for
from efforts.actions.scopes import draft_turns
from efforts.context.connections import choose_for_drafts
from efforts.context.planning import main_branch
from efforts.domain.effort.states import ScopeKind, SummaryState
from efforts.llm.recorded import RECORDED_MODEL
from efforts.models import AccountEvent, ContextPointer, EffortState, Endpoint, Event, Session
from efforts.models.threads import read, write
from efforts.turns.runner import Runner
from efforts.turns.scopes import SCOPES
from tests.efforts.logs import concluded, conversation, say
from tests.fakes.provider import FakeProvider, NoAnswer

from .conftest import Stage
from .review import examined
from .worth import LOG, SLUG, Bench, connected, summariser, work


def spent(session: Session, tokens: int | None, purpose: str = "compaction", **more: Any) -> DraftRun:
    at = more.pop("at", None)
    given = {"drafter": "model", "model": "m", "ended": "drafted", "prompt_version": "1", **more}
    run = DraftRun.objects.create(session=session, branch=main_branch(session), purpose=purpose, tokens=tokens, **given)
    if at:
        DraftRun.objects.filter(pk=run.pk).update(created_at=at)
    return run


# What was used


def checked(run: DraftRun, tokens: int, void: str = "") -> Check:
    return Check.objects.create(run=run, model="m", attempt=1, tokens=tokens, void=void)


def test_what_was_recorded_for_the_example_costs_nothing_and_is_told_apart(alice: User, as_alice: Client) -> None:
    run = spent(conversation(alice), 100, model=RECORDED_MODEL)
    check = checked(run, 20)
    Check.objects.filter(pk=check.pk).update(model=RECORDED_MODEL)
    assert costs.used_today(alice) == 0
    page = as_alice.get("/settings/drafting/").content.decode()
    assert page.index("today-title") < page.index("Not counted: 120 tokens") < page.index("usage-title")
    # Ids, which may have any digits, stand in attributes.
    assert "120" not in strip_tags(as_alice.get("/settings/drafting/runs/all/1/").content.decode())
    assert asked_for(alice, Purpose.CHECK, 1, 10) == []


def test_tokens_are_counted_by_purpose_with_checks_and_exams_for_today_and_for_7_and_30_days(
    alice: User, bob: User
) -> None:
    session = conversation(alice)
    now = timezone.now()
    checked(spent(session, 100), 20)
    checked(spent(session, 50, ended="timeout"), 7, void="It believed 2 claims made wrong on purpose to test it.")
    spent(session, 0, drafter="digest", model="")
    spent(session, 1_000, at=now - timedelta(days=6))
    spent(session, 10_000, Purpose.STAGE, at=now - timedelta(days=29))
    spent(session, 99, at=now - timedelta(days=31))
    checked(spent(conversation(bob), 5_000), 500)
    score = {"caught": 20, "wrong": 20, "doubted": 0, "true": 20}
    Exam.objects.create(owner=alice, model="m", passed=True, tokens=3, **score)
    Exam.objects.create(owner=bob, model="m", passed=True, tokens=30, **score)
    uses = costs.usage_of(alice)
    used = {use.purpose: dict(use.used) for use in uses}
    assert list(used) == ["compaction", "rolling", "stage", "compaction_eval", "exam"]
    assert used["compaction"][1] == costs.Used(tokens=150, asked=2, failed=1, without=1)
    assert used["compaction"][7] == costs.Used(tokens=1_150, asked=3, failed=1, without=1)
    assert used["compaction_eval"][1] == costs.Used(tokens=27, asked=2, failed=1)
    assert used["exam"][1] == costs.Used(tokens=3, asked=1)
    assert used["rolling"][30] == costs.Used()
    assert used["stage"] == {1: costs.Used(), 7: costs.Used(), 30: costs.Used(tokens=10_000, asked=1)}
    assert [(days, one.tokens) for days, one in costs.total_of(uses)] == [(1, 180), (7, 1_180), (30, 11_180)]
    assert costs.used_today(alice) == 180


def test_drafts_are_counted_with_their_checks(alice: User) -> None:
    session = conversation(alice)
    run = spent(session, 100)
    checked(run, 20)
    checked(run, 30)
    spent(session, 1_000)
    assert costs.used_in(DraftRun.objects.filter(pk=run.pk)) == costs.Used(tokens=150, asked=1)


def test_what_a_draft_its_check_and_an_exam_took_is_what_their_requests_took(bench: Bench) -> None:
    bench.conclude()
    used = {use.purpose: dict(use.used)[1] for use in costs.usage_of(bench.session.owner)}
    taken = {
        "compaction": ModelRequest.objects.filter(run__isnull=False),
        "compaction_eval": ModelRequest.objects.filter(check_made__isnull=False),
        "exam": ModelRequest.objects.filter(exam__isnull=False),
    }
    for purpose, requests in taken.items():
        assert used[purpose].tokens == sum(one.tokens or 0 for one in requests) > 0
    assert costs.used_today(bench.session.owner) == sum(one.tokens or 0 for one in ModelRequest.objects.all())


def test_a_day_begins_at_midnight_utc(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timezone, "now", lambda: datetime(2026, 3, 5, 0, 30, tzinfo=UTC))
    session = conversation(alice)
    spent(session, 10, at=datetime(2026, 3, 5, 0, 0, tzinfo=UTC))
    spent(session, 100, at=datetime(2026, 3, 4, 23, 59, 59, tzinfo=UTC))
    assert costs.used_today(alice) == 10


# Caps


def test_each_purpose_has_a_cap_of_its_own_or_that_of_all(settings: Any) -> None:
    settings.CCM_DRAFT_CAP, settings.CCM_STAGE_CAP, settings.CCM_CHECK_CAP = 30_000, 9_000, 20_000
    caps = {purpose: costs.cap_of(purpose) for purpose in Purpose}
    exam = caps.pop(Purpose.EXAM)
    assert caps == {"compaction": 30_000, "rolling": 30_000, "stage": 9_000, "compaction_eval": 20_000}
    assert exam == examining.price()


def test_with_defaults_twenty_conclusions_fit_into_a_day(settings: Any) -> None:
    dearest = price(4_000, cap=settings.CCM_DRAFT_CAP, check_cap=costs.cap_of(Purpose.CHECK))
    assert 20 * (dearest.draft + dearest.check) + examining.price() <= settings.CCM_DAILY_CAP


def test_over_the_cap_of_a_day_no_model_is_asked_and_why_is_told(bench: Bench) -> None:
    storing.cap_day(bench.session.owner, 20_000)
    spent(bench.session, 19_500)
    state = bench.conclude()
    assert (state.summary, bench.provider.requests) == (SummaryState.DIGEST, [])
    assert state.draft.startswith("Your cap of 20,000 tokens a day is used up: 19,500 are used today")


def test_what_other_people_used_and_what_was_used_yesterday_does_not_count(bench: Bench, bob: User) -> None:
    storing.cap_day(bench.session.owner, 60_000)
    checked(spent(conversation(bob), 59_000), 500)
    checked(spent(bench.session, 59_000, at=timezone.now() - timedelta(days=1)), 0)
    assert bench.conclude().summary == SummaryState.STANDS


def test_the_cap_of_a_person_goes_before_that_of_the_installation(alice: User, settings: Any) -> None:
    settings.CCM_DAILY_CAP = 300_000
    assert costs.daily_cap(costs.policy_of(alice)) == 300_000
    storing.cap_day(alice, 5_000)
    assert costs.daily_cap(costs.policy_of(alice)) == 5_000
    storing.cap_day(alice, None)
    assert costs.daily_cap(costs.policy_of(alice)) == 300_000
    told = AccountEvent.objects.filter(owner=alice, kind="drafting.capped").order_by("pk")
    assert [(one.data["old"], one.data["tokens"]) for one in told] == [(None, 5_000), (5_000, None)]


# The switch


async def test_stopping_cancels_what_a_model_is_drafting_and_excerpts_stand(
    stage: Stage, provider: FakeProvider, runner: Runner
) -> None:
    provider.otherwise = model = summariser()
    model.answers["draft"] = [NoAnswer()]
    owner = stage.session.owner
    await write(lambda: examined(owner, provider, passed=True, model="fake-1"))
    await write(concluded, stage.session, SLUG, LOG)
    await read(provider.wait_for_requests, 1)
    assert await write(storing.stop_models, owner) == 1
    await stage.logged("effort.digested")
    state = await read(EffortState.objects.get)
    assert (state.summary, state.draft, model.steps) == (SummaryState.DIGEST, costs.STOPPED, ["draft"])
    assert [run.drafter for run in await read(lambda: list(DraftRun.objects.all()))] == ["digest"]
    assert (await read(ContextPointer.objects.get, state="active")).digest


@pytest.mark.parametrize("kind", list(ScopeKind))
def test_what_is_in_line_when_models_are_stopped_asks_none_whatever_it_is_for(bench: Bench, kind: ScopeKind) -> None:
    say(bench.session, LOG)
    draft = draft_turns(bench.place, [1, 2, 3, 4, 5, 6], kind)
    storing.stop_models(bench.session.owner)
    work(SCOPES)
    told = bench.told("compaction.drafted")
    assert (told["drafter"], told["note"], told["artifact"]) == ("builtin", costs.STOPPED, bench.digest().pk)
    draft.refresh_from_db()
    assert (draft.state, draft.artifact) == ("ready", bench.digest().pk)
    assert bench.provider.requests == []


def test_allowed_again_models_draft(bench: Bench) -> None:
    storing.stop_models(bench.session.owner)
    assert bench.conclude(name="one").draft == costs.STOPPED
    storing.allow_models(bench.session.owner)
    assert bench.conclude(name="two").summary == SummaryState.STANDS


# Who checks


def test_the_conversation_s_own_model_checks_unless_another_is_chosen(bench: Bench, settings: Any) -> None:
    drafter = choose_for_drafts(bench.session)
    assert costs.checker_of(bench.session, drafter).model == "fake-1"
    settings.CCM_CHECK_MODEL = "checker-1"
    assert costs.checker_of(bench.session, drafter).model == "checker-1"
    storing.choose_checker(bench.session.owner, None, "checker-2")
    assert costs.checker_of(bench.session, drafter).model == "checker-2"


def test_a_checker_at_another_address_is_not_sent_a_log_that_refuses_it(bench: Bench) -> None:
    owner, elsewhere = bench.session.owner, "http://127.0.0.1:9/v1"
    other = Endpoint.objects.create(owner=owner, name="other", base_url=elsewhere, model="checker-1")
    storing.choose_checker(owner, other, "")
    drafter = choose_for_drafts(bench.session)
    assert (costs.checker_of(bench.session, drafter).base_url) == elsewhere
    storing.refuse_checker(bench.session, True, actor=owner)
    assert costs.checker_of(bench.session, drafter).base_url == bench.provider.url
    assert costs.checker_of(connected(owner, bench.provider), drafter).base_url == elsewhere
    storing.refuse_checker(bench.session, False, actor=owner)
    assert costs.checker_of(bench.session, drafter).base_url == elsewhere
    kinds = Event.objects.filter(session=bench.session, kind__startswith="checker.").order_by("seq")
    assert list(kinds.values_list("kind", flat=True)) == ["checker.refused", "checker.allowed"]


# The switch is each person's own


def test_stopping_and_allowing_are_recorded_once_each_and_concern_nobody_else(alice: User, bob: User) -> None:
    state = concluded(conversation(bob))
    EffortState.objects.filter(pk=state.pk).update(summary=SummaryState.DRAFTING, summary_owner="x:1:y/1")
    for _ in range(2):
        assert storing.stop_models(alice) == 0
    state.refresh_from_db()
    assert state.summary == SummaryState.DRAFTING
    assert costs.why_not(bob, 1) == ""
    for _ in range(2):
        storing.allow_models(alice)
    kinds = list(AccountEvent.objects.order_by("pk").values_list("kind", flat=True))
    assert kinds == ["drafting.stopped", "drafting.allowed"]
    assert DraftingPolicy.objects.get(user=alice).stopped_at is None
