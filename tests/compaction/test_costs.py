"""What drafting may cost is shown before, what it has cost afterwards: the second is never more than the first."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from compaction import actions, seeding, usage
from compaction.models import Artifact, DraftRun, Reserved
from efforts import actions as efforts
from efforts.models import EffortState, Message, Session
from efforts.runner import Runner
from efforts.scopes import SCOPES
from efforts.snapshots import main_branch
from efforts.summaries import SUMMARIES
from efforts.threads import read, write
from tests.efforts.logs import WEBHOOK, concluded, conversation, say
from tests.fakes.provider import FakeProvider, NoAnswer, Reply

from .conftest import Stage, a_good_draft, is_draft

DECIDING = [
    (
        f"We decided that hall {number} gets rack {number * 7} before the carrier comes on day {number}.",
        f"Still open: who tells the people of hall {number} about rack {number * 7}? " + "The crates go first. " * 20,
    )
    for number in range(1, 25)
]
FEW = DECIDING[:3]
LONG = [(said, f"{answer} " + "It was measured twice and noted in the list. " * 12) for said, answer in DECIDING]


def as_long_as_it_may(request: dict[str, Any]) -> Reply:
    """No draft, so that another is asked for; the endpoint does not say what it used up."""
    return Reply("word " * request["max_tokens"], usage=None)


def three_like(stage: Stage, said: list[tuple[str, str]]) -> list[Session]:
    others = [conversation(stage.session.owner) for _ in range(2)]
    for other in others:
        Session.objects.filter(pk=other.pk).update(endpoint=stage.session.endpoint)
    sessions = [stage.session, *others]
    for session in sessions:
        say(session, said)
    return list(Session.objects.filter(pk__in=[session.pk for session in sessions]))


async def draft_all() -> None:
    """As the runner does it, one after the other and however long it takes."""
    for job in await write(SCOPES.claim_due, "here:1:a", 3):
        work = await read(SCOPES.read_work, job)
        assert work is not None
        await write(SCOPES.settle, job, work, await work.draft(say_nothing))


async def say_nothing(step: str) -> None: ...


@pytest.mark.parametrize("said", [FEW, LONG], ids=["few", "long"])
async def test_what_is_shown_before_a_package_of_three_conversations_is_at_least_what_it_costs(
    said: list[tuple[str, str]], stage: Stage, provider: FakeProvider
) -> None:
    provider.otherwise = as_long_as_it_may
    sessions = await write(three_like, stage, said)
    offered = await read(seeding.offer, stage.session.owner, sessions)
    assert len(offered.windows) == 3
    package = await write(seeding.create_package, stage.session.owner, sessions)
    await draft_all()
    used = await read(seeding.used_for, package)
    assert len(provider.requests) == 6
    # Asked twice each, answered as long as may be: what was shown is enough, and not far more.
    assert used <= offered.most <= 1.25 * used


async def test_why_no_model_drafts_the_stages_or_not_all_is_said_before(stage: Stage, provider: FakeProvider) -> None:
    owner = stage.session.owner
    sessions = await write(three_like, stage, FEW)
    all_of_it = (await read(seeding.offer, owner, sessions)).most

    async def told() -> str:
        return (await read(seeding.offer, owner, sessions)).note

    assert await told() == ""
    await write(actions.cap_day, owner, all_of_it)
    assert await told() == ""
    await write(actions.cap_day, owner, all_of_it - 1)
    assert await told() == seeding.BEYOND.format(most=all_of_it, left=all_of_it - 1)
    await write(actions.cap_day, owner, 1_000)
    assert (await told()).startswith("Your cap of 1,000 tokens a day is used up")
    await write(actions.stop_models, owner)
    assert await told() == usage.STOPPED


# What it has cost


def drafts_well(request: dict[str, Any]) -> Reply:
    return Reply(a_good_draft(request) if is_draft(request) else "All right.")


def change(session: Session) -> None:
    Message.objects.filter(session=session, role="user").update(text="Something else.")


def stop(session: Session) -> None:
    efforts.stop_summary(efforts.here(session, actor=session.owner), "payment-webhook")


@pytest.mark.parametrize("meanwhile", [change, stop])
async def test_what_a_model_answered_for_nothing_is_counted_all_the_same(
    meanwhile: Callable[[Session], None], stage: Stage, provider: FakeProvider
) -> None:
    provider.otherwise = drafts_well
    await write(concluded, stage.session)
    (job,) = await write(SUMMARIES.claim_due, "here:1:a", 1)
    work = await read(SUMMARIES.read_work, job)
    assert work is not None
    made = await work.draft(say_nothing)
    await write(meanwhile, stage.session)
    await write(SUMMARIES.settle, job, work, made)
    run = await read(DraftRun.objects.get)
    assert (run.ended, run.tokens, len(run.attempts)) == ("overtaken", 110, 1)
    assert await read(usage.used_today, stage.session.owner) == 110
    assert not await read(Artifact.objects.exists)


async def test_a_package_is_told_what_its_own_stages_used_up_their_checks_included(
    stage: Stage, provider: FakeProvider, runner: Runner, settings: Any
) -> None:
    settings.CCM_JUDGE_MODEL = "judge-1"
    provider.otherwise = lambda request: drafts_well(request) if is_draft(request) else Reply('{"contradictions": []}')
    await write(say, stage.session, WEBHOOK)
    packages = []
    for count in (1, 2):
        packages.append(await write(seeding.create_package, stage.session.owner, [stage.session]))
        await stage.logged("compaction.drafted", count)
    assert len(provider.requests) == 4
    assert [await read(seeding.used_for, package) for package in packages] == [220, 220]


# Two at once


async def test_two_drafts_at_once_do_not_both_take_what_is_left_of_a_day(
    stage: Stage, provider: FakeProvider, runner: Runner
) -> None:
    provider.otherwise = NoAnswer()
    owner = stage.session.owner
    await write(actions.cap_day, owner, 7_000)
    for name in ("one", "two", "three"):
        await write(concluded, stage.session, name)
    await stage.logged("effort.summarised", 2)
    assert len(provider.requests) == 1
    notes = await read(lambda: [event.data["note"] for event in stage.session.events.filter(kind="effort.summarised")])
    assert all(note.startswith("Your cap of 7,000 tokens a day is used up") for note in notes)
    assert await read(EffortState.objects.filter(summary="drafting").count) == 1


async def test_what_is_reserved_for_a_draft_is_free_again_once_it_has_ended_or_was_stopped(
    stage: Stage, provider: FakeProvider, runner: Runner
) -> None:
    provider.script = [NoAnswer(), Reply("no draft"), Reply("no draft")]
    owner = stage.session.owner
    await write(concluded, stage.session)
    await read(provider.wait_for_requests, 1)
    assert await read(usage.reserved, owner) > 3_000
    await write(actions.stop_models, owner)
    await stage.logged("effort.summarised")
    assert await read(usage.reserved, owner) == 0
    await write(actions.allow_models, owner)
    await write(concluded, stage.session, "again")
    await stage.logged("effort.summarised", 2)
    assert await read(usage.reserved, owner) == 0
    assert len(provider.requests) == 3


def test_what_a_killed_process_had_reserved_is_free_again_after_a_while(alice: User) -> None:
    session = conversation(alice)
    assert actions.reserve(session, 9_000, seconds=60) != (None, "")
    assert usage.reserved(alice) == 9_000
    Reserved.objects.update(until=timezone.now())
    assert usage.reserved(alice) == 0


def test_exactly_what_is_left_may_be_used_and_one_token_more_not(alice: User) -> None:
    session = conversation(alice)
    actions.cap_day(alice, 10_000)
    DraftRun.objects.create(
        session=session, branch=main_branch(session), drafter="model", prompt_version="1", ended="drafted", tokens=4_000
    )
    assert usage.why_not(alice, 6_000) == ""
    assert usage.why_not(alice, 6_001).startswith("Your cap of 10,000 tokens a day is used up: 4,000")
