"""What drafting may cost is shown before, what it has cost afterwards: the second is never more than the first."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Sum
from django.utils import timezone
from hypothesis import HealthCheck, Phase, example, given
from hypothesis import settings as limits
from hypothesis import strategies as st

from compaction.domain.limits import (
    REPLY,
    Purpose,
    largest_source,
    overtaken_price,
    payback,
    price,
    reply_limit,
)
from compaction.drafting import costs, storing
from compaction.drafting.summaries import TOO_SHORT, expected_cost, expected_text
from compaction.models import Artifact, Check, DraftRun, Exam, Reserved
from compaction.seeds import packages
from efforts import actions as efforts
from efforts.context.planning import main_branch
from efforts.context.sources import read_scope_log
from efforts.domain.effort.states import ScopeKind, SummaryState
from efforts.domain.prompt.conversation import MESSAGE_OVERHEAD, PRIMING
from efforts.models import EffortState, Message, Session
from efforts.models.threads import read, write
from efforts.standins.compacting import Estimate, Summary, registered
from efforts.turns.drafts import claim_from
from efforts.turns.recording import count
from efforts.turns.runner import Runner
from efforts.turns.scopes import SCOPES
from efforts.turns.summaries import SUMMARIES
from tests.efforts.logs import concluded, conversation, say
from tests.fakes.provider import Answer, FakeProvider, NoAnswer, Reply, Step
from tests.fakes.summariser import Summariser

from .conftest import Stage
from .review import examined, run
from .worth import CLAIMS, LOG, SLUG, Bench, connected, summariser, work

SMALL = st.integers(1, 60_000)
few = limits(
    max_examples=8,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    phases=[Phase.explicit, Phase.generate],
    deadline=None,
)


def dear(model: Summariser) -> Step:
    """Every request has cost as much as it may: its prompt, and its whole reply."""

    def answer(request: dict[str, Any]) -> Answer:
        reply = model(request)
        asked = PRIMING + sum(MESSAGE_OVERHEAD + count(message["content"]) for message in request["messages"])
        used = {"prompt_tokens": asked, "completion_tokens": request["max_tokens"]}
        return Reply(reply.text, usage=used) if isinstance(reply, Reply) else reply

    return answer


def unfinished(model: Summariser) -> Summariser:
    """As much is asked as may be: what it drafts is doubted, and what its checker says first is void."""
    model.doubts(CLAIMS["tax"][2], "unsupported", phrase="ten years")
    model.answers["half"] = ["no verdicts"]
    return model


# Prices


@given(source=SMALL)
@example(source=1)
def test_what_a_draft_and_its_check_may_cost_is_within_their_caps_and_enough_where_the_source_is_small_enough(
    source: int,
) -> None:
    at_most = price(source, cap=40_000, check_cap=40_000)
    whole = price(source, cap=10**9, check_cap=10**9)
    assert (at_most.draft <= 40_000, at_most.check <= 40_000) == (True, True)
    if source <= largest_source(cap=40_000, check_cap=40_000, window=None):
        assert at_most == whole


@given(source=SMALL, window=st.integers(4_000, 200_000))
def test_what_is_drafted_at_once_has_room_in_the_window_with_all_that_is_asked_and_answered(
    source: int, window: int
) -> None:
    if source <= largest_source(cap=10**6, check_cap=10**6, window=window):
        assert source + reply_limit(source, window) <= window
        assert reply_limit(source, window) == reply_limit(source) >= REPLY


def test_what_is_not_earned_back_within_twenty_calls_is_not_drafted() -> None:
    assert payback(10_000, 500) == 20
    assert payback(10_001, 500) == 21
    assert payback(10_000, 0) is payback(10_000, -5) is None
    # The larger the source, the sooner; a small one never within twenty.
    calls = [payback(expected_cost(int(1.3 * size)), size - expected_text(size)) for size in (300, 800, 2_000, 4_000)]
    assert all(one is not None for one in calls)
    assert calls == sorted(calls, key=lambda one: -(one or 0))
    assert (calls[0] or 0) > 20 > (calls[2] or 0)


@given(windows=st.lists(st.integers(1, 9_000), min_size=2, max_size=8))
def test_what_merges_windows_is_priced_with_room_for_all_their_claims(windows: list[int]) -> None:
    assert overtaken_price(windows) > sum(map(reply_limit, windows))


def estimate_of(bench: Bench, turns: list[int], kind: ScopeKind = ScopeKind.INTENTIONAL) -> Estimate:
    branch = main_branch(bench.session)
    return registered().estimate(branch, read_scope_log(branch, turns), kind)


def test_before_chosen_turns_are_drafted_the_model_the_most_and_when_it_is_earned_back_are_told(bench: Bench) -> None:
    say(bench.session, LOG)
    whole = estimate_of(bench, [1, 2, 3, 4, 5, 6])
    assert (whole.model, whole.digest, whole.note, whole.refusal) == ("fake-1", False, "", "")
    assert whole.payback is not None
    assert 1 < whole.payback <= 20
    few_turns = estimate_of(bench, [1, 2])
    assert (few_turns.digest, few_turns.model, few_turns.most) == (True, "", 0)
    assert few_turns.note == TOO_SHORT
    assert bench.provider.requests == []


def test_the_exam_of_a_checker_that_has_taken_none_is_part_of_the_price(bench: Bench) -> None:
    say(bench.session, LOG)
    before = estimate_of(bench, [1, 2, 3, 4, 5, 6])
    examined(bench.session.owner, bench.provider, passed=True, model="fake-1")
    after = estimate_of(bench, [1, 2, 3, 4, 5, 6])
    assert before.most - after.most == costs.cap_of(Purpose.EXAM) > 3 * 2_500


def test_one_turn_beyond_what_a_draft_and_its_check_hold_is_refused_with_the_number(
    bench: Bench, settings: Any
) -> None:
    settings.CCM_CHECK_CAP = 12_000
    say(bench.session, [*LOG, (" ".join(said for said, _ in LOG * 4), " ".join(answer for _, answer in LOG * 4))])
    most = largest_source(cap=settings.CCM_DRAFT_CAP, check_cap=12_000, window=None)
    assert estimate_of(bench, [1, 2, 3, 4, 5, 6, 7]).refusal.startswith(
        f"One of these turns has more than the {most:,} tokens that a draft and its check by fake-1 can hold."
    )
    assert bench.provider.requests == []


# What it costs


@few
@given(cap=st.integers(1_000, 60_000), check_cap=st.integers(1_000, 60_000), twice=st.booleans())
@example(cap=14_300, check_cap=27_000, twice=True)
@example(cap=60_000, check_cap=60_000, twice=True)
def test_no_draft_and_no_check_uses_more_than_its_cap_nor_both_more_than_was_shown(
    bench: Bench, settings: Any, cap: int, check_cap: int, twice: bool
) -> None:
    settings.CCM_DRAFT_CAP, settings.CCM_CHECK_CAP = cap, check_cap
    with transaction.atomic():
        model = bench.writes()
        bench.provider.otherwise = dear(unfinished(model) if twice else model)
        say(bench.session, LOG)
        shown = estimate_of(bench, [1, 2, 3, 4, 5, 6])
        if not shown.refusal:
            bench.choose()
        for run in DraftRun.objects.filter(drafter="model"):
            assert (run.tokens or 0) <= cap
            assert sum(check.tokens for check in run.checks.all()) <= check_cap
        assert costs.used_today(bench.session.owner) <= shown.most + (check_cap if twice else 0)
        transaction.set_rollback(True)


def three_like(owner: User, provider: FakeProvider) -> list[Session]:
    sessions = [connected(owner, provider) for _ in range(3)]
    for session in sessions:
        say(session, LOG)
    return sessions


def test_what_is_shown_before_a_package_of_three_conversations_is_at_least_what_it_costs(bench: Bench) -> None:
    owner = bench.session.owner
    bench.provider.otherwise = dear(bench.model)
    offered = packages.offer(owner, three_like(owner, bench.provider))
    assert len(offered.windows) == 3
    package = packages.create_package(owner, [window.session for window in offered.windows])
    work(SCOPES)
    assert Exam.objects.count() == 1
    assert packages.most_for(package) == offered.most
    used = packages.used_for(package)
    assert used == DraftRun.objects.aggregate(t=Sum("tokens"))["t"] + Check.objects.aggregate(t=Sum("tokens"))["t"] > 0
    # Of what was shown the repair was not needed: no more than it, and not far less.
    whole = costs.used_today(owner)
    assert used + Exam.objects.get().tokens == whole <= offered.most <= 2 * whole


def test_why_no_model_drafts_the_stages_or_not_all_is_said_before(bench: Bench) -> None:
    owner = bench.session.owner
    sessions = three_like(owner, bench.provider)
    whole = packages.offer(owner, sessions).most

    def told() -> str:
        return packages.offer(owner, sessions).note

    assert told() == ""
    storing.cap_day(owner, whole)
    assert told() == ""
    storing.cap_day(owner, whole - 1)
    assert told() == packages.BEYOND.format(most=whole, left=whole - 1)
    storing.cap_day(owner, 1_000)
    assert told().startswith("Your cap of 1,000 tokens a day is used up")
    storing.stop_models(owner)
    assert told() == costs.STOPPED


# What it has cost


def change(session: Session) -> None:
    Message.objects.filter(turn__session=session, role="user").update(text="Something else.")


def stop(session: Session) -> None:
    efforts.stop_summary(efforts.here(session, actor=session.owner), SLUG)


@pytest.mark.parametrize("meanwhile", [change, stop])
def test_what_models_answered_for_nothing_is_counted_all_the_same(
    bench: Bench, meanwhile: Callable[[Session], None]
) -> None:
    bench.conclude_later()
    (job,) = claim_from([SUMMARIES], "here:1:a", 1)
    drafting = SUMMARIES.read_work(job)
    assert drafting is not None
    made: list[Summary] = []

    async def draft() -> None:
        made.append(await drafting.draft(say_nothing))

    run(draft())
    meanwhile(bench.session)
    SUMMARIES.settle(job, drafting, made[0])
    (asked,) = DraftRun.objects.all()
    assert (asked.ended, asked.tokens, asked.requests.count()) == ("overtaken", 110, 1)
    assert sum(check.tokens for check in asked.checks.all()) == 440
    assert costs.used_today(bench.session.owner) == 110 + 440 + Exam.objects.get().tokens
    assert not Artifact.objects.exists()


async def say_nothing(step: str) -> None: ...


# Two at once


async def test_two_drafts_at_once_do_not_both_take_what_is_left_of_a_day(
    stage: Stage, provider: FakeProvider, runner: Runner
) -> None:
    provider.otherwise = model = summariser()
    model.answers["draft"] = [NoAnswer()]
    owner = stage.session.owner
    await write(lambda: examined(owner, provider, passed=True, model="fake-1"))
    await write(storing.cap_day, owner, 50_000)
    for name in ("one", "two", "three"):
        await write(concluded, stage.session, name, LOG)
    await stage.logged("effort.digested", 2)
    assert model.steps == ["draft"]
    states = EffortState.objects.filter(branch__session=stage.session)
    whys = await read(lambda: list(states.filter(summary=SummaryState.DIGEST).values_list("draft", flat=True)))
    assert [why.partition(": ")[0] for why in whys] == ["Your cap of 50,000 tokens a day is used up"] * 2
    assert all("what is being drafted may need" in why for why in whys)
    assert await read(states.filter(summary=SummaryState.DRAFTING).count) == 1


async def test_what_is_reserved_for_a_draft_is_free_again_once_it_was_stopped(
    stage: Stage, provider: FakeProvider, runner: Runner
) -> None:
    provider.otherwise = model = summariser()
    model.answers["draft"] = [NoAnswer()]
    owner = stage.session.owner
    await write(lambda: examined(owner, provider, passed=True, model="fake-1"))
    await write(concluded, stage.session, SLUG, LOG)
    await read(provider.wait_for_requests, 1)
    assert await read(costs.reserved, owner) > 20_000
    await write(storing.stop_models, owner)
    await stage.logged("effort.digested")
    assert await read(costs.reserved, owner) == 0


def test_nothing_is_reserved_any_more_once_a_draft_has_ended(bench: Bench) -> None:
    bench.conclude()
    assert not Reserved.objects.exists()


def test_where_the_day_has_no_room_for_an_exam_the_draft_is_made_and_says_that_nobody_checked_it(bench: Bench) -> None:
    say(bench.session, LOG)
    whole = estimate_of(bench, [1, 2, 3, 4, 5, 6]).most
    storing.cap_day(bench.session.owner, whole - 1)
    draft = bench.choose()
    assert (draft.state, Exam.objects.exists(), bench.draft().state) == ("ready", False, "unchecked")
    assert bench.told("compaction.drafted")["note"].startswith(
        f"Nobody has checked this summary. Your cap of {whole - 1:,} tokens a day is used up: 0 are used today, what is"
    )


def test_what_a_killed_process_had_reserved_is_free_again_after_a_while(alice: User) -> None:
    session = conversation(alice)
    assert storing.reserve(session, 9_000, seconds=60) != (None, "")
    assert costs.reserved(alice) == 9_000
    Reserved.objects.update(until=timezone.now())
    assert costs.reserved(alice) == 0


def test_exactly_what_is_left_may_be_used_and_one_token_more_not(alice: User) -> None:
    session = conversation(alice)
    storing.cap_day(alice, 10_000)
    home = {"session": session, "branch": main_branch(session)}
    run = DraftRun.objects.create(**home, drafter="model", prompt_version="1", ended="drafted", tokens=3_000)
    Check.objects.create(run=run, model="fake-1", attempt=1, tokens=1_000)
    assert costs.why_not(alice, 6_000) == ""
    assert costs.why_not(alice, 6_001).startswith("Your cap of 10,000 tokens a day is used up: 4,000")
