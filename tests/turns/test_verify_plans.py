"""What was sent can be rendered again from what is stored, and a change of what is stored is found."""

from __future__ import annotations

import json
import threading
from io import StringIO
from typing import Any
from uuid import uuid4

import pytest
from django.core.management import CommandError, call_command

from efforts import actions
from efforts.context.plans import replay
from efforts.context.prompts import system_text
from efforts.domain.prompt import layers
from efforts.domain.text.canonical import request_sha256, sha256
from efforts.models import (
    Branch,
    ContextPlan,
    Effort,
    EffortState,
    Fragment,
    Message,
    RetrievalSet,
    Run,
    Session,
    TurnLabel,
)
from efforts.models.threads import read, write
from efforts.turns.runner import Runner
from tests.fakes.provider import CUT, Call, FakeProvider, Reply
from tests.turns.conftest import Stage

CHANGED = "changed: it is not what it was sealed as"


def verify(*arguments: str) -> dict[str, Any]:
    """What the command finds, with its exit status."""
    out, status = StringIO(), 0
    try:
        call_command("verify_plans", "--json", *arguments, stdout=out)
    except SystemExit as ended:
        status = int(ended.code or 0)
    return {**json.loads(out.getvalue()), "status": status}


@pytest.fixture
async def eventful(stage: Stage, provider: FakeProvider, runner: Runner) -> Session:
    """Tool rounds, a stop, a failure, a retry and a large message: seven plans in four turns."""
    gate = threading.Event()
    provider.script = [
        Reply("Let me look.", calls=(Call.of("search_messages", query="blue"), Call("read_message", "{"))),
        Reply("Nothing yet."),
        Reply("One two three four", gate=gate, gate_after=2),
        Reply("Half", ending=CUT),
        Reply("Whole."),
        Reply(calls=(Call.of("search_messages", query="sentence"),)),
        Reply("It is long."),
    ]
    await stage.ask("Have I said blue?")
    counting = await stage.say("Count")
    await stage.logged("delta")
    await stage.stop(counting)
    await stage.settled()
    failed = await stage.ask("A long sentence. " * 400)
    await stage.retry(failed)
    await stage.settled()
    await stage.ask("How long was the sentence?")
    return stage.session


async def test_it_holds_for_tool_rounds_stops_failures_and_retries(eventful: Session) -> None:
    found = await read(verify)
    assert found == {
        "checked": 7, "ok": 7, "failed": 0, "unsealed": 0, "other_versions": 0, "failures": [], "status": 0
    }  # fmt: skip


async def test_it_holds_for_rules_that_were_edited_and_taken_back_since(
    stage: Stage, provider: FakeProvider, runner: Runner
) -> None:
    alice = stage.session.owner
    place = await read(lambda: actions.here(stage.session, actor=alice))
    first = await write(actions.set_constraint, place, "Never touch the production database.")
    standing = await write(actions.set_standing_rule, alice, "Be brief.")
    await stage.ask("Hello")
    await write(actions.edit_constraint, place, first.pk, "Never touch production.")
    await stage.ask("Hello again")
    await write(actions.revoke_constraint, place, first.pk)
    await write(actions.revoke_standing_rule, alice, standing.pk)
    await stage.ask("Bye")
    sent = [body["messages"][0]["content"].partition("taken back:\n")[2] for body in provider.requests]
    assert sent == [
        "1. Be brief.\n2. Never touch the production database.",
        "1. Be brief.\n2. Never touch production.",
        "",
    ]
    found = await read(verify)
    assert (found["checked"], found["failed"], found["status"]) == (3, 0, 0)


async def test_it_says_so_to_people(eventful: Session) -> None:
    out = StringIO()
    await read(call_command, "verify_plans", stdout=out)
    assert out.getvalue() == "7 plans checked: 7 hold, 0 do not.\n"


async def test_a_changed_recipe_is_found(eventful: Session) -> None:
    def tamper() -> ContextPlan:
        plan = ContextPlan.objects.order_by("created_at")[4]
        plan.body["params"]["max_tokens"] = 1
        plan.save()
        return plan

    plan = await read(tamper)
    found = await read(verify)
    assert (found["status"], found["ok"], found["failed"]) == (1, 6, 1)
    assert found["failures"] == [
        {
            "plan": str(plan.pk),
            "session": str(eventful.pk),
            "turn": 3,
            "call": 1,
            "problem": "not what was sent: the messages of the turn, or the recipe",
        },
        {"plan": str(plan.pk), "session": str(eventful.pk), "problem": CHANGED},
    ]


async def test_a_changed_message_is_found_in_every_plan_that_sent_it(eventful: Session) -> None:
    await read(Message.objects.filter(text="Nothing yet.").update, text="Nothing at all.")
    found = await read(verify)
    *plans, turn = found["failures"]
    assert (turn["turn"], turn["problem"]) == (1, "what was said in it is not what it ended with")
    assert [(failure["turn"], failure["call"]) for failure in plans] == [
        (2, 1),
        (3, 1),
        (3, 1),
        (4, 1),
        (4, 2),
    ]
    assert found["failures"][0]["problem"] == "not what was sent: turn 1"


async def test_a_missing_fragment_is_named(eventful: Session) -> None:
    sha = sha256(system_text())
    await read(Fragment.objects.filter(sha256=sha).delete)
    found = await read(verify)
    assert {failure["problem"] for failure in found["failures"]} == {f"fragment {sha} is missing"}
    assert found["failed"] == 7


async def test_a_changed_fragment_is_named(eventful: Session) -> None:
    sha = sha256(system_text())
    await read(Fragment.objects.filter(sha256=sha).update, text="Be rude.")
    found = await read(verify)
    assert {failure["problem"] for failure in found["failures"]} == {f"not what was sent: fragment {sha}"}


async def test_a_lost_message_is_named(eventful: Session) -> None:
    lost = await read(Message.objects.filter(role="tool").latest, "id")
    await read(Message.objects.filter(pk=lost.pk).delete)
    found = await read(verify)
    assert [failure["problem"] for failure in found["failures"]] == [
        f"message {lost.pk} is missing",
        "what was said in it is not what it ended with",
    ]


async def test_a_recipe_that_is_none_is_a_finding_and_no_crash(eventful: Session) -> None:
    def tamper() -> None:
        plan = ContextPlan.objects.order_by("created_at")[0]
        plan.body["recipe"] = [{"role": "system", "parts": [None]}]
        plan.save()

    await read(tamper)
    found = await read(verify)
    assert found["failed"] == 1
    assert found["failures"][0]["problem"].startswith("the recipe cannot be read")


def unseal() -> None:
    """As if all plans were from before there were seals."""
    ContextPlan.objects.update(seal="", seal_before="")
    Branch.objects.update(plan_seal="")


async def test_it_holds_for_a_plan_made_with_another_system_text_and_another_planner(eventful: Session) -> None:
    def rewrite() -> None:
        """As if the first plan had been made before the system text was changed."""
        plan = ContextPlan.objects.order_by("created_at")[0]
        old = "You were another assistant."
        Fragment.objects.create(session=eventful, sha256=sha256(old), text=old)
        plan.body["recipe"][0]["parts"] = [{"f": sha256(old)}]
        plan.planner_version = "0"
        plan.request_sha256 = request_sha256(replay(plan))
        plan.save()
        unseal()

    await read(rewrite)
    found = await read(verify)
    assert (found["status"], found["ok"], found["other_versions"], found["unsealed"]) == (0, 7, 1, 7)


async def test_one_session_can_be_checked_alone(eventful: Session) -> None:
    assert (await read(verify, "--session", str(eventful.pk)))["checked"] == 7
    with pytest.raises(CommandError, match="There is no session"):
        await read(call_command, "verify_plans", "--session", str(uuid4()))


async def test_planned_again_everything_is_the_same_request(eventful: Session) -> None:
    found = await read(verify, "--plan-again")
    assert (found["status"], found["planned_again"], found["apart"], found["failures"]) == (0, 7, {}, [])


async def test_planning_again_is_told_to_people(eventful: Session) -> None:
    await read(ContextPlan.objects.filter(call=2).update, planner_version="0")
    await read(unseal)
    out = StringIO()
    await read(call_command, "verify_plans", "--plan-again", stdout=out)
    assert "5 planned again: the same.\n2 not planned again, other planner version.\n" in out.getvalue()


async def test_whatever_rows_are_now_plans_are_made_again_from_what_they_were(eventful: Session) -> None:
    """Rows that change by themselves are no news to a plan; `check_integrity` tells of them."""

    def change() -> None:
        effort = Effort.objects.create(session=eventful, slug="later", name="later")
        branch = eventful.branches.get()
        EffortState.objects.create(branch=branch, effort=effort)
        TurnLabel(branch=branch, effort=effort, turn=eventful.turns.get(number=3)).save()
        Run.objects.update(settings={})

    await read(change)
    found = await read(verify, "--plan-again")
    assert (found["status"], found["planned_again"], found["apart"]) == (0, 7, {})


async def test_plans_from_before_inputs_were_stored_are_counted_apart(eventful: Session) -> None:
    def forget() -> None:
        for plan in ContextPlan.objects.filter(run__turn__number=1):
            del plan.body["inputs"]
            plan.body["v"] = 1
            plan.save()
        unseal()

    await read(forget)
    found = await read(verify, "--plan-again")
    assert (found["status"], found["planned_again"], found["apart"]) == (0, 5, {"inputs not stored with it": 2})


async def test_where_nothing_is_planned_or_retrieved_again_it_fails(eventful: Session) -> None:
    await read(ContextPlan.objects.update, planner_version="0")
    await read(unseal)
    found = await read(verify, "--plan-again")
    assert (found["status"], found["planned_again"], found["failed"]) == (1, 0, 0)
    await read(RetrievalSet.objects.all().delete)
    found = await read(verify, "--retrieve-again")
    assert (found["status"], found["retrieved_again"], found["failed"]) == (1, 0, 0)


async def test_inputs_that_were_changed_are_found(eventful: Session) -> None:
    def change() -> None:
        plan = ContextPlan.objects.latest("created_at")
        plan.body["inputs"]["ambient_window"] = 1
        plan.save()

    await read(change)
    found = await read(verify, "--plan-again")
    assert (found["status"], found["planned_again"]) == (1, 6)
    assert found["failures"][0]["problem"].startswith("planned again from the same inputs it")


async def test_another_request_from_the_same_inputs_is_a_failure(
    eventful: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if the planner had been changed and its version forgotten."""
    monkeypatch.setattr(layers, "AMBIENT_LABEL", "[From turn {first}]")
    found = await read(verify, "--plan-again")
    assert (found["status"], found["planned_again"], found["failed"]) == (1, 2, 5)
    problems = {failure["problem"] for failure in found["failures"]}
    assert problems == {"planned again from the same inputs it is another request"}


@pytest.mark.django_db
def test_no_plans_hold() -> None:
    assert verify()["status"] == 0


async def test_a_window_cut_in_blocks_is_planned_again_the_same(stage: Stage, runner: Runner) -> None:
    changes = {"prefer_cache": True, "ambient_window": 2}
    await read(Session.objects.filter(pk=stage.session.pk).update, **changes)
    for number in range(6):
        await stage.ask(f"Number {number}")
    blocks = [plan.body["layout"].get("block", 0) for plan in await read(list, ContextPlan.objects.all())]
    assert blocks == [0, 0, 0, 3, 3, 5]
    found = await read(verify, "--plan-again")
    assert (found["status"], found["planned_again"], found["apart"]) == (0, 6, {})


async def test_plans_with_notes_and_asides_in_them_are_rendered_again(
    stage: Stage, runner: Runner, provider: FakeProvider
) -> None:
    await type_in(stage, "/effort Bug")
    for text in ("/todo Ask Dana for the key.", "/rule Never on Fridays.", "/aside What time is it?", "And the bug?"):
        await type_in(stage, text)
        await stage.settled()
    found = await read(verify)
    assert (found["status"], found["ok"], found["failed"]) == (0, 2, 0)
    said = "\n".join(message["content"] for message in json.loads(provider.bodies[-1])["messages"])
    assert "/todo Ask Dana for the key.\n[noted: no reply was asked for]" in said


async def type_in(stage: Stage, text: str) -> None:
    session = stage.session
    await write(actions.take_typed, session, text=text, client_id=uuid4().hex, actor=session.owner)
