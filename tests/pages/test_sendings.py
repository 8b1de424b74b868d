"""Where a message was sent: the calls that had it whole, behind a summary, or not at all, and why."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client

from efforts.context.planning import main_branch
from efforts.models import ContextPlan, PointerTurn, Session
from efforts.pages.presenters import sendings as module
from efforts.pages.presenters.sendings import sendings_of

from .conftest import HTMX, Scene
from .test_efforts import Work

Address = Callable[..., str]
Stretches = list[tuple[str, list[int], str]]


@pytest.fixture
def work(scene: Scene) -> Work:
    return Work(scene)


def stretches(session: Session, number: int) -> Stretches:
    """Label, turns of the calls, and why."""
    turn = session.turns.get(number=number)
    found = sendings_of(turn.branch, turn).stretches
    return [(one.label, [plan.run.turn.number for plan in one.plans], one.found.why) for one in found]


def test_a_turn_is_answered_sent_whole_and_left_when_the_window_moved(scene: Scene, session: Session) -> None:
    Session.objects.filter(pk=session.pk).update(ambient_window=2)
    for text in ("One", "Two", "Three", "Four", "Five"):
        scene.ask(text, "Noted.")
    assert stretches(session, 1) == [
        ("Answered", [1], "It was asked and answered here."),
        ("Sent whole", [2, 3], "Among the last 2 turns outside any effort."),
        ("Not sent", [4, 5], "Older than the last 2 turns."),
    ]


def test_a_concluded_effort_is_sent_behind_its_summary(scene: Scene, session: Session, work: Work) -> None:
    work.conclude("webhook", "It times out.", "It works now.")
    scene.ask("And now?", "Now.")
    found = stretches(session, 1)
    assert found[0][0] == "Answered"
    assert found[1][:2] == ("Sent whole", [2])
    assert found[-1] == (
        "Replaced by a summary or excerpts",
        [3],
        "Concluded: a summary is sent in place of its turns.",
    )


def test_a_summary_that_is_not_about_the_turn_does_not_stand_for_it(scene: Scene, session: Session, work: Work) -> None:
    work.conclude("webhook", "It times out.", "It works now.")
    PointerTurn.objects.filter(turn__number=1).delete()
    scene.ask("And now?", "Now.")
    assert stretches(session, 1)[-1][0] == "Not sent"


def test_the_newest_calls_are_told_and_that_there_were_more(
    scene: Scene, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "NEWEST_PLANS", 2)
    for text in ("One", "Two", "Three"):
        scene.ask(text, "Noted.")
    assert stretches(session, 1) == [("Sent whole", [2, 3], "Among the last 10 turns outside any effort.")]
    assert sendings_of(main_branch(session), session.turns.get(number=1)).has_older


def test_the_dialog_names_the_calls_and_leads_to_them(as_alice: Client, scene: Scene, address: Address) -> None:
    first = ContextPlan.objects.get(run=scene.ask("Hello <b>there</b>", "Hi").run_id)
    scene.ask("And now?", "Now.")
    shown = as_alice.get(address("turns/1/plans/"), headers=HTMX).content.decode()
    assert "Where turn 1 was sent" in shown
    assert "Hello &lt;b&gt;there&lt;/b&gt;" in shown
    address_of_plan = first.get_absolute_url()
    assert f'<a href="{address_of_plan}" hx-get="{address_of_plan}" hx-target="#drawer">turn 1, call 1</a>' in shown
    assert "<html" not in shown
    assert "<html" in as_alice.get(address("turns/1/plans/")).content.decode()


def test_a_turn_leads_to_it(as_alice: Client, scene: Scene, address: Address) -> None:
    scene.ask("Hello", "Hi")
    assert f'href="{address("turns/1/plans/")}"' in as_alice.get(address()).content.decode()


def test_a_waiting_message_was_not_sent_yet(as_alice: Client, scene: Scene, address: Address) -> None:
    scene.say("Hello")
    assert "It has not been sent yet." in as_alice.get(address("turns/1/plans/")).content.decode()


def test_what_is_not_there_or_of_others_is_not_found(
    as_alice: Client, as_bob: Client, scene: Scene, address: Address
) -> None:
    scene.ask("Hello", "Hi")
    assert as_alice.get(address("turns/2/plans/")).status_code == 404
    assert as_bob.get(address("turns/1/plans/")).status_code == 404
    assert as_alice.post(address("turns/1/plans/")).status_code == 405
