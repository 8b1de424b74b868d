"""From chosen turns to an artifact that waits for a review, with a model and without."""

from __future__ import annotations

from typing import Any

import pytest

from compaction.accepting import accept_compaction
from compaction.domain.artifact import parse_artifact
from compaction.models import Artifact, DraftRun, GateRun
from efforts import actions
from efforts.compacting import registered
from efforts.domain.lifecycle import PointerState, ScopeKind, ScopeState
from efforts.models import ContextPointer, Event, ScopeDraft, Session
from efforts.runner import Runner
from efforts.snapshots import main_branch
from efforts.snapshots.sources import read_scope_log
from efforts.threads import read, write
from tests.compaction.test_conclusions import nothing_extractive_passes, to_drafts
from tests.efforts.logs import WEBHOOK, say
from tests.fakes.provider import FakeProvider, NoAnswer, Reply, Status

from .conftest import Stage, a_good_draft


async def chosen(stage: Stage, **more: Any) -> ScopeDraft:
    await write(say, stage.session, WEBHOOK)
    place = await read(lambda: actions.here(stage.session, actor=stage.session.owner))
    return await write(lambda: actions.compact_turns(place, 1, 3, **more))


async def told(stage: Stage) -> dict[str, Any]:
    await stage.logged("compaction.drafted")
    return await read(lambda: Event.objects.filter(session=stage.session, kind="compaction.drafted").latest("seq").data)


async def test_a_good_draft_of_the_model_waits_for_a_review_and_stands_once_it_is_accepted(
    stage: Stage, provider: FakeProvider, runner: Runner
) -> None:
    provider.otherwise = to_drafts(a_good_draft)
    draft = await chosen(stage)
    event = await told(stage)
    artifact = await read(Artifact.objects.select_related("run").get)
    await read(draft.refresh_from_db)
    assert (draft.state, draft.artifact, event["artifact"]) == (ScopeState.READY, artifact.pk, artifact.pk)
    assert (artifact.kind, artifact.state, artifact.effort_id) == ("intentional", "replaceable", None)
    assert (artifact.source_start, artifact.source_end, artifact.run.purpose) == (1, 3, "compaction")
    assert not await read(ContextPointer.objects.exists)
    scope = (stage.session.pk, 1, 3)
    pointer = await write(lambda: accept_compaction(artifact.pk, *scope, actor=stage.session.owner))
    assert (pointer.state, pointer.effort) == (PointerState.ACTIVE, None)
    assert pointer.body.startswith("The webhook answers at once")
    assert "The retry limit is 3." in pointer.body


async def test_without_a_model_it_is_drafted_of_the_log_s_own_sentences(
    stage: Stage, provider: FakeProvider, runner: Runner
) -> None:
    await write(Session.objects.filter(pk=stage.session.pk).update, endpoint=None, model="builtin")
    draft = await chosen(stage)
    event = await told(stage)
    await read(draft.refresh_from_db)
    run = await read(DraftRun.objects.get)
    assert (run.drafter, run.tokens, provider.requests) == ("extractive", 0, [])
    artifact = await read(lambda: Artifact.objects.get(pk=draft.artifact))
    made = parse_artifact(artifact.document)
    assert (draft.state == ScopeState.READY, event["passed"]) == ((await read(GateRun.objects.get)).passed,) * 2
    assert made.source.turns == (1, 2, 3)
    assert made.source.effort is None


async def test_what_the_gates_do_not_pass_can_be_opened_and_says_why(
    stage: Stage, provider: FakeProvider, monkeypatch: pytest.MonkeyPatch, runner: Runner
) -> None:
    provider.otherwise = to_drafts(Status(400))
    nothing_extractive_passes(monkeypatch)
    draft = await chosen(stage)
    event = await told(stage)
    await read(draft.refresh_from_db)
    assert (draft.state, event["passed"]) == (ScopeState.FAILED, False)
    assert draft.why.startswith("Gate ")
    assert await read(Artifact.objects.filter(pk=draft.artifact).exists)


async def test_a_runner_that_goes_down_leaves_its_draft_to_the_next(
    stage: Stage, provider: FakeProvider, layer: Any
) -> None:
    provider.otherwise = to_drafts(NoAnswer())
    draft = await chosen(stage)
    runner = Runner()
    await runner.drafts.sweep()
    await read(provider.wait_for_requests, 1)
    await runner.go_down()
    await read(draft.refresh_from_db)
    assert (draft.state, draft.owner_key, runner.drafts.jobs) == (ScopeState.DUE, "", {})


async def test_what_a_killed_runner_was_drafting_is_drafted_by_the_next(
    stage: Stage, provider: FakeProvider, layer: Any, settings: Any
) -> None:
    provider.otherwise = to_drafts(a_good_draft)
    draft = await chosen(stage)
    await write(
        lambda: ScopeDraft.objects.filter(pk=draft.pk).update(state=ScopeState.DRAFTING, owner_key="nowhere:1:a/b")
    )
    runner = Runner()
    await runner.drafts.recover(lambda owner: owner == "nowhere:1:a")
    await runner.drafts.sweep()
    await told(stage)
    await runner.go_down()
    await read(draft.refresh_from_db)
    assert draft.state == ScopeState.READY


async def test_a_rolling_draft_counts_as_a_cost_of_its_own(
    stage: Stage, provider: FakeProvider, runner: Runner
) -> None:
    provider.otherwise = to_drafts(a_good_draft)
    await chosen(stage, kind=ScopeKind.ROLLING)
    await told(stage)
    assert (await read(DraftRun.objects.get)).purpose == "rolling"
    assert (await read(Artifact.objects.get)).kind == "rolling"


async def test_what_a_draft_may_cost_is_known_before_and_too_large_a_source_is_refused_with_the_numbers(
    stage: Stage, provider: FakeProvider, settings: Any
) -> None:
    provider.otherwise = Reply("never asked")
    await write(say, stage.session, WEBHOOK)
    branch = await read(main_branch, stage.session)
    log = await read(read_scope_log, branch, [1, 2, 3])

    def estimate() -> Any:
        return registered().estimate(branch, log, ScopeKind.INTENTIONAL)

    usual = await read(estimate)
    assert (usual.model, usual.refusal) == ("fake-1", "")
    assert 2.7 * usual.source < usual.most <= settings.CCM_DRAFT_CAP
    settings.CCM_DRAFT_CAP = usual.source
    small = await read(estimate)
    assert small.refusal.startswith(f"These turns have {usual.source:,} tokens.")
    assert "Choose fewer turns" in small.refusal
    assert provider.requests == []
