"""The context mode on the page, and what a turn says of what was recalled for it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import pytest
from django.test import Client

from efforts.context.planning import run_inputs
from efforts.domain.prompt import need
from efforts.domain.prompt.conversation import EffortInLine, LineOfEfforts, Recalled
from efforts.domain.prompt.planner import plan
from efforts.log.timelines import log_message
from efforts.memory import traces
from efforts.models import ContextPlan, Event, Message, RetrievalSet, Run, Session
from efforts.retrieval.recall import Recollection
from efforts.standins import coding
from efforts.turns import recording
from efforts.turns.recording import COMPLETED, CallReply

from .conftest import HTMX, Scene
from .test_sessions import SETTINGS

pytestmark = pytest.mark.django_db

Address = Callable[..., str]
NO_LINE = LineOfEfforts()
EARLY = "We sail from the harbour of <b>Kiel</b> at six."


def ask_with(scene: Scene, *found: Recalled, query: str = "From where?", line: LineOfEfforts = NO_LINE) -> ContextPlan:
    """A turn for which something was looked for before it was planned."""
    scene.say("From where?")
    lease = scene.start()
    why = "It asks for what was said."
    run = Run.objects.select_related("turn__session", "branch").get(pk=lease.run_id)
    traces.record_recall(run, Recollection(passages=found, query=query, why=why, found=len(found)))
    inputs = replace(run_inputs(run), line=line)
    recording.record_plan(lease, 1, plan(inputs))
    recording.record_reply(lease, CallReply(call=1, text="From Kiel."), COMPLETED)
    return ContextPlan.objects.get(run=run)


@pytest.fixture
def early(scene: Scene) -> Recalled:
    """Said long ago: the window has none but the last turn."""
    scene.ask(EARLY, "Noted.")
    scene.ask("Fine weather?", "Yes.")
    Session.objects.filter(pk=scene.session.pk).update(ambient_window=1)
    scene.session.refresh_from_db()
    message = Message.objects.get(text=EARLY)
    why = ("It names the harbour.",)
    return Recalled(turn=1, message=log_message(message), start=0, end=len(EARLY), said_on="2026-03-01", why=why)


def line_of(page: str) -> str:
    """What the turn says of it, as it is read."""
    [line] = re.findall(r'<p class="recall .*?</p>', page, re.DOTALL) or [""]
    return " ".join(re.sub(r"<[^>]*>", "", line).split())


def test_a_turn_tells_that_efforts_were_listed_in_their_order(
    as_alice: Client, scene: Scene, early: Recalled, address: Address
) -> None:
    boiler = EffortInLine(place=1, slug="boiler", turns=(1, 1), days=("2026-03-01", "2026-03-01"))
    stored = ask_with(scene, line=LineOfEfforts(efforts=(boiler,), count=1))
    page = as_alice.get(address("turns/3/"), headers=HTMX).content.decode()
    tokens = stored.body["sections"]["recall"]
    assert line_of(page) == f"Recall (Light): efforts in their order, {tokens} tokens · what was looked for, and why"
    why = as_alice.get(address(f"plans/{stored.pk}/")).content.decode()
    assert "You ask what was when: 1 of 1 efforts with their dates, in the order they were begun." in why


def test_a_turn_tells_how_many_passages_were_recalled_and_leads_to_why(
    as_alice: Client, scene: Scene, early: Recalled, address: Address
) -> None:
    stored = ask_with(scene, early)
    page = as_alice.get(address("turns/3/"), headers=HTMX).content.decode()
    tokens = stored.body["sections"]["recall"]
    assert line_of(page) == f"Recall (Light): 1 passage, {tokens} tokens · what was looked for, and why"
    assert f'href="{stored.get_absolute_url()}#looked-for" hx-get="{stored.get_absolute_url()}"' in page
    why = as_alice.get(address(f"plans/{stored.pk}/")).content.decode()
    assert "Recalled for this message, quoted. It names the harbour." in why
    assert "It asks for what was said." in why
    assert "<b>Kiel</b>" not in why
    assert "harbour" in why.partition('id="looked-for"')[2]
    # By what it was ranked is a matter of programs.
    assert stored.retrieval_sets.get().strategy not in why


@pytest.mark.parametrize("mode", ["off", "light"])
def test_the_plan_says_where_recall_was_off(as_alice: Client, scene: Scene, address: Address, mode: str) -> None:
    Session.objects.update(context_mode=mode)
    scene.session.refresh_from_db()
    stored = ContextPlan.objects.get(run=scene.ask(EARLY, "Noted.").run)
    page = as_alice.get(address(f"plans/{stored.pk}/")).content.decode()
    said = "The context mode was Off for this message: no earlier passages were looked for."
    assert (said in page) == (mode == "off")


def test_what_stands_beside_what_was_found_is_counted_apart(
    as_alice: Client, scene: Scene, early: Recalled, address: Address
) -> None:
    stored = ask_with(scene, early)
    for found, told in ((1, "1 found</span>"), (0, "0 found, 1 with what stands beside them</span>")):
        stored.retrieval_sets.update(found=found)
        assert told in as_alice.get(address(f"plans/{stored.pk}/")).content.decode()


def test_a_turn_that_was_quoted_says_where(as_alice: Client, scene: Scene, early: Recalled, address: Address) -> None:
    ask_with(scene, early)
    told = as_alice.get(address("turns/1/plans/"), headers=HTMX).content.decode()
    assert "Quoted in part, as found earlier" in told
    assert "Recalled for this message, quoted. It names the harbour." in told


def test_what_it_tells_is_what_was_not_what_is_set_now(
    as_alice: Client, scene: Scene, early: Recalled, address: Address
) -> None:
    ask_with(scene, early)
    as_alice.post(address("context-mode/"), {"mode": "off"})
    page = as_alice.get(address("turns/3/"), headers=HTMX).content.decode()
    assert line_of(page).startswith("Recall (Light): 1 passage, ")


def test_a_turn_that_looked_and_found_nothing_says_so_and_one_that_did_not_look_says_nothing(
    as_alice: Client, scene: Scene, early: Recalled, address: Address
) -> None:
    ask_with(scene)
    page = as_alice.get(address("turns/3/"), headers=HTMX).content.decode()
    assert (
        line_of(page)
        == "Recall (Light): nothing found · connect a model that compares meanings · what was looked for, and why"
    )
    RetrievalSet.objects.update(found=9)
    assert line_of(as_alice.get(address("turns/3/"), headers=HTMX).content.decode()).startswith(
        "Recall (Light): 9 passages found, none added: "
    )
    RetrievalSet.objects.update(why=need.NEEDED)
    line = line_of(as_alice.get(address("turns/3/"), headers=HTMX).content.decode())
    said = "The prompt shows them already, or had no room for them"
    assert line.startswith(f"Recall (Light): 9 passages found, none added: {said} · ")
    ask_with(scene, query="")
    assert line_of(as_alice.get(address("turns/4/"), headers=HTMX).content.decode()) == ""
    assert line_of(as_alice.get(address("turns/1/"), headers=HTMX).content.decode()) == ""


def test_a_turn_whose_prompt_answers_it_best_says_no_more_than_that_nothing_was_to_add(
    as_alice: Client, scene: Scene, early: Recalled, address: Address
) -> None:
    ask_with(scene)
    RetrievalSet.objects.update(found=9, why=need.SHOWN_BETTER)
    page = as_alice.get(address("turns/3/"), headers=HTMX).content.decode()
    assert line_of(page) == "Recall (Light): nothing to add · what was looked for, and why"
    assert f'title="{need.SHOWN_BETTER}"' in page
    # All that was found is in the prompt.
    RetrievalSet.objects.update(found=1, why=need.NOTHING_FOUND)
    page = as_alice.get(address("turns/3/"), headers=HTMX).content.decode()
    assert line_of(page) == "Recall (Light): nothing to add · what was looked for, and why"


def test_cards_of_code_are_told_apart_from_what_was_not_added(
    as_alice: Client, scene: Scene, early: Recalled, address: Address, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask_with(scene)
    monkeypatch.setattr(coding.registered(), "shown", lambda runs: dict.fromkeys(runs[-1:], (2, 310)))
    cards = "2 cards of code, 310 tokens"
    for found, why, said in (
        (9, need.SHOWN_BETTER, f"nothing to add · {cards} · "),
        (9, need.TOO_LITTLE, f"9 passages found, none added: {need.TOO_LITTLE.removesuffix('.')} · {cards} · "),
        (0, need.NOTHING_FOUND, f"{cards} · "),
    ):
        RetrievalSet.objects.update(found=found, why=why)
        page = as_alice.get(address("turns/3/"), headers=HTMX).content.decode()
        assert line_of(page).startswith(f"Recall (Light): {said}")


def test_the_chip_says_the_mode_and_changes_it_to_the_next(
    as_alice: Client, session: Session, address: Address
) -> None:
    page = as_alice.get(address()).content.decode()
    [button] = re.findall(r'<details class="menu up modes.*?</details>', page, re.DOTALL)
    assert re.findall(r'name="mode" value="(\w+)"', button) == ["off", "light", "heavy"]
    assert 'value="heavy" aria-pressed="false" data-next' in button
    assert "Context mode:</span> Light" in button
    assert "adds the best earlier passages, in up to a fifth of the budget" in button
    for mode in ("heavy", "off", "light"):
        answer = as_alice.post(address("context-mode/"), {"mode": mode}, headers={"Accept": "application/json"})
        session.refresh_from_db()
        assert (answer.json()["mode"], session.context_mode) == (mode, mode)
    told = Event.objects.filter(kind="session.configured").values_list("data__context_mode", flat=True)
    assert list(told) == ["heavy", "off", "light"]


def test_a_mode_that_there_is_not_is_refused(as_alice: Client, session: Session, address: Address) -> None:
    assert as_alice.post(address("context-mode/"), {"mode": "full"}).status_code == 422
    session.refresh_from_db()
    assert session.context_mode == "light"


def test_the_mode_is_a_setting_beside_the_others_and_none_of_them_changes_another(
    as_alice: Client, session: Session, address: Address
) -> None:
    as_alice.post(address("settings/"), {**SETTINGS, "context_mode": "heavy", "prefer_cache": "on"}, headers=HTMX)
    as_alice.post(address("budget/"), {"budget": "9000"})
    session.refresh_from_db()
    assert (session.context_mode, session.budget) == ("heavy", 9000)
    as_alice.post(address("context-mode/"), {"mode": "off"})
    session.refresh_from_db()
    assert (session.context_mode, session.budget, session.ambient_window, session.prefer_cache) == (
        "off",
        9000,
        6,
        True,
    )


def test_the_plan_of_the_next_turn_quotes_it_again_with_its_turn(scene: Scene, early: Recalled) -> None:
    ask_with(scene, early)
    following = ContextPlan.objects.get(run=scene.ask("And when?", "At six.").run_id)
    assert [entry["recalled"].keys() for entry in following.body["recipe"] if "recalled" in entry] == [{"3"}]
