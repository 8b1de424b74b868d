"""A verdict is given by two buttons on an answer, with a reason in a form, and is shown where the plan is."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import AsyncClient, Client

from efforts import actions
from efforts.domain.effort.states import RunState
from efforts.domain.prompt.conversation import ToolCall
from efforts.models import ContextPlan, Run, Session, Verdict
from efforts.models.threads import write
from efforts.tools import ToolContext, run_tool
from efforts.turns import recording
from efforts.turns.recording import COMPLETED, CallReply, Ending

from .conftest import HTMX, Scene

Address = Callable[..., str]
JSON = {"Accept": "application/json"}


def standing() -> tuple[str, str] | None:
    return Verdict.objects.values_list("value", "why").first()


def test_a_button_says_it_and_the_same_button_takes_it_back(as_alice: Client, scene: Scene, address: Address) -> None:
    scene.ask("Where from?", "Hamburg.")
    assert as_alice.post(address("turns/1/verdict/"), {"value": "bad"}, headers=JSON).json() == {"turn": 1}
    assert standing() == ("bad", "")
    page = as_alice.get(address("turns/1/"), headers=HTMX).content.decode()
    assert 'name="take_back" value="1" aria-pressed="true">' in page
    assert "Say why" in page
    as_alice.post(address("turns/1/verdict/"), {"take_back": "1"}, headers=JSON)
    assert standing() is None


def test_who_reads_german_is_told_it_in_german(as_alice: Client, scene: Scene, address: Address) -> None:
    scene.ask("Hello", "Hi.")
    as_alice.post(address("turns/1/verdict/"), {"value": "good"})
    turn = as_alice.get(address("turns/1/"), headers={**HTMX, "accept-language": "de"}).content.decode()
    assert "Gut</span>" in turn
    assert "Good" not in turn


def test_the_form_takes_a_reason_and_shows_what_stands(as_alice: Client, scene: Scene, address: Address) -> None:
    scene.ask("Where from?", "Hamburg.")
    sent = as_alice.post(address("turns/1/verdict/"), {"value": "bad", "why": "It was <b>Kiel</b>."}, headers=HTMX)
    assert (sent.status_code, json.loads(sent["HX-Trigger"])) == (204, {"closeDialog": None, "judged": None})
    assert standing() == ("bad", "It was <b>Kiel</b>.")
    assert "It was &lt;b&gt;Kiel&lt;/b&gt;." in as_alice.get(address()).content.decode()
    form = as_alice.get(address("turns/1/verdict/"), headers=HTMX).content.decode()
    assert 'value="bad" checked' in form
    assert "It was &lt;b&gt;Kiel&lt;/b&gt;." in form
    assert "<html" not in form


def test_without_a_script_the_form_is_a_page_and_leads_back(as_alice: Client, scene: Scene, address: Address) -> None:
    scene.ask("Where from?", "Hamburg.")
    assert "<html" in as_alice.get(address("turns/1/verdict/")).content.decode()
    sent = as_alice.post(address("turns/1/verdict/"), {"value": "good"}, headers={"Accept": "text/html"})
    assert sent["Location"] == f"{address()}#turn-1"


def test_what_is_refused_is_said_with_the_form_kept(as_alice: Client, scene: Scene, address: Address) -> None:
    scene.ask("Where from?", "Hamburg.")
    answer = as_alice.post(address("turns/1/verdict/"), {"why": "So."}, headers=HTMX)
    assert answer.status_code == 422
    assert "Choose good or bad." in answer.content.decode()
    assert ">So.</textarea>" in answer.content.decode()
    scene.say("And?")
    scene.start()
    refused = as_alice.post(address("turns/2/verdict/"), {"value": "good"}, headers=JSON)
    assert (refused.status_code, refused.json()["code"]) == (422, "not_ended")
    assert standing() is None


def test_a_turn_that_runs_has_no_buttons(as_alice: Client, scene: Scene, address: Address) -> None:
    scene.say("And?")
    scene.start()
    assert "A good answer" not in as_alice.get(address("turns/1/"), headers=HTMX).content.decode()


def test_a_turn_that_failed_has_none_either(as_alice: Client, scene: Scene, address: Address) -> None:
    scene.ask("Hello", ending=Ending(state=RunState.FAILED, code="timeout", text="It sent nothing."))
    page = as_alice.get(address()).content.decode()
    assert 'data-state="failed"' in page
    assert "A good answer" not in page


def test_a_stranger_judges_nothing(as_bob: Client, as_alice: Client, scene: Scene, address: Address) -> None:
    scene.ask("Where from?", "Hamburg.")
    assert as_bob.get(address("turns/1/verdict/")).status_code == 404
    assert as_bob.post(address("turns/1/verdict/"), {"value": "good"}).status_code == 404
    assert as_bob.get(address("plans.jsonl")).status_code == 404
    assert as_alice.get(address("turns/2/verdict/")).status_code == 404
    assert standing() is None


@pytest.fixture
def searched(scene: Scene) -> ContextPlan:
    """The plan of a call that asked for two tools: one finds something, one is refused."""
    scene.ask("We sail from the harbour of Kiel.", "Noted.")
    scene.say("Where from?")
    lease = scene.start()
    run = Run.objects.select_related("turn__session", "branch__parent").get(pk=lease.run_id)
    scene.plan(lease, run)
    calls = (
        ToolCall(id="c1", name="search_messages", arguments='{"query":"harbour"}'),
        ToolCall(id="c2", name="reopen_effort", arguments='{"id":"nothing"}'),
    )
    recording.record_reply(lease, CallReply(call=1, text="", tool_calls=calls))
    for call in calls:
        recording.run_and_record(lease, 1, call, partial(run_tool, call, ToolContext(run=run)))
    recording.record_reply(lease, CallReply(call=2, text="Kiel."), COMPLETED)
    return ContextPlan.objects.get(run=run)


def test_a_plan_says_what_came_of_it(as_alice: Client, searched: ContextPlan, address: Address) -> None:
    actions.judge_run(searched.run, "bad", why="It was Rostock.", actor=searched.session.owner)
    page = as_alice.get(address(f"plans/{searched.pk}/")).content.decode()
    outcome = page.partition('id="outcome"')[2].partition("</section>")[0]
    for said in ("Done", "Bad", "It was Rostock.", "search_messages", "Refused", "There is no effort", "1 found"):
        assert said in outcome
    assert '<q dir="auto">harbour</q>' in outcome
    assert "1 of 1 words: harbour." in outcome
    assert "your message" in outcome
    assert f'href="{address("turns/2/verdict/")}"' in outcome


def test_an_earlier_attempt_is_not_judged_in_the_place_of_the_last(
    as_alice: Client, scene: Scene, address: Address
) -> None:
    turn = scene.ask("Where from?", "Ham", recording.STOPPED)
    actions.retry_turn(turn, actor=scene.session.owner)
    plan = ContextPlan.objects.get()
    outcome = as_alice.get(address(f"plans/{plan.pk}/")).content.decode().partition('id="outcome"')[2]
    assert "Stopped" in outcome
    assert "verdict/" not in outcome.partition("</section>")[0]


async def test_all_plans_are_downloaded_line_by_line(
    transactional_db: None, alice: User, async_client: AsyncClient
) -> None:
    session: Session = await aplayed(alice)
    await async_client.aforce_login(alice)
    answer: Any = await async_client.get(f"{session.get_absolute_url()}plans.jsonl")
    body = b"".join([chunk async for chunk in answer])
    assert [json.loads(line)["turn"] for line in body.splitlines()] == [1, 2]
    assert "attachment" in answer["Content-Disposition"]
    assert answer["Content-Type"] == "application/jsonl"


async def aplayed(alice: User) -> Session:
    def played() -> Session:
        scene = Scene(actions.create_session(alice))
        scene.ask("One", "Noted.")
        scene.ask("Two", "Noted.")
        return scene.session

    return await write(played)
