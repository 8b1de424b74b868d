"""Branches under a runner: several answer at once, and every plan of theirs is made again."""

from __future__ import annotations

import threading

import pytest

from efforts import actions
from efforts.context.planning import main_branch
from efforts.context.plans import replay
from efforts.context.replanning import plan_again
from efforts.domain.effort.states import RunState
from efforts.domain.text.canonical import canonical_json, sha256
from efforts.models import ContextPlan, Run
from efforts.models.threads import read, write
from tests.fakes.provider import FakeProvider, Reply
from tests.turns.conftest import Stage


@pytest.mark.usefixtures("runner")
async def test_two_branches_answer_at_once_and_a_waiting_message_only_waits_for_its_own(
    stage: Stage, provider: FakeProvider
) -> None:
    owner, gate = stage.session.owner, threading.Event()
    await stage.ask("One?")
    main = await read(main_branch, stage.session)
    other = await write(actions.fork, main, after=1, actor=owner)
    provider.script = [Reply("Two words", gate=gate, gate_after=1)] * 2
    await stage.say("Two here?")
    await write(actions.send_message, stage.session, text="Two there?", client_id="there", actor=owner, branch=other)
    running = Run.objects.filter(turn__session=stage.session, state=RunState.RUNNING)
    await stage.until(lambda: read(lambda: running.values("branch").distinct().count() == 2))
    gate.set()
    await stage.settled()
    runs = await read(lambda: dict(Run.objects.filter(turn__number=2).values_list("branch__name", "state")))
    assert runs == {"main": "completed", "From turn 1": "completed"}


@pytest.mark.usefixtures("runner")
async def test_every_plan_of_every_branch_is_rendered_and_made_again(stage: Stage) -> None:
    owner = stage.session.owner
    for text in ("One?", "Two?", "Three?"):
        await stage.ask(text)
    main = await read(main_branch, stage.session)
    edited = await write(actions.edit_turn, main, 2, text="Zwei?", client_id="edit", actor=owner)
    await stage.settled()
    again = await write(actions.regenerate, await read(lambda: edited.branch), 2, actor=owner)
    await stage.settled()
    assert await read(lambda: again.branch.parent) == main
    assert await read(rendered_and_made_again) == {"main": 3, "Edited turn 2": 1, "Regenerated turn 2": 1}


def rendered_and_made_again() -> dict[str, int]:
    counts: dict[str, int] = {}
    for row in ContextPlan.objects.select_related("branch", "run__turn", "session"):
        assert sha256(canonical_json(replay(row))) == row.request_sha256
        assert plan_again(row).same
        counts[row.branch.name] = counts.get(row.branch.name, 0) + 1
    return counts
