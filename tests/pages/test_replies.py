"""What the page says of replies that were cut off, and of what a model thought."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from efforts import actions
from efforts.domain.effort.states import RunState
from efforts.log import events
from efforts.models import ContextPlan, Endpoint, Run, Session, Thinking
from efforts.pages.presenters.chat import waited
from efforts.pages.presenters.export import plan_lines
from efforts.turns import recording
from efforts.turns.recording import CallReply, Delta, write_deltas

from .conftest import HTMX, Scene

Address = Callable[..., str]


def part(client: Client, address: str) -> str:
    return client.get(address, headers=HTMX).content.decode()


def test_a_cut_reply_says_so_and_offers_to_go_on(as_alice: Client, scene: Scene, address: Address) -> None:
    scene.ask("A poem, please.", "The sea is ca", finish_reason="length")
    assert "Cut off at the limit" in part(as_alice, address("turns/1/"))
    answer = as_alice.post(address("turns/1/continue/"), headers={"Accept": "application/json"})
    assert answer.json()["state"] == "queued"
    shown = part(as_alice, address("turns/1/"))
    assert "The sea is ca" in shown
    assert 'action="' + address("turns/1/cancel/") in shown


def test_two_halves_of_a_reply_are_one_text_on_the_page(as_alice: Client, scene: Scene, address: Address) -> None:
    turn = scene.ask("A poem, please.", "The **sea is ca", finish_reason="length")
    actions.continue_reply(turn, actor=scene.session.owner)
    lease = scene.start()
    recording.record_reply(lease, CallReply(call=2, text="lm** tonight.", finish_reason="stop"), recording.COMPLETED)
    shown = part(as_alice, address("turns/1/"))
    assert "The <strong>sea is calm</strong> tonight." in shown
    assert "Cut off" not in shown


def test_only_the_last_reply_offers_to_go_on(as_alice: Client, scene: Scene, address: Address) -> None:
    scene.ask("A poem, please.", "The sea is ca", finish_reason="length")
    scene.ask("Thanks.", "Gladly.")
    shown = part(as_alice, address("turns/1/"))
    assert "Cut off at the limit" in shown
    assert "Continue" not in shown


def test_what_cannot_go_on_says_why(as_alice: Client, scene: Scene, address: Address) -> None:
    scene.ask("Hi", "Hello.", finish_reason="stop")
    answer = as_alice.post(address("turns/1/continue/"), headers={"Accept": "application/json"})
    assert (answer.status_code, "was not cut off" in answer.content.decode()) == (422, True)


def test_nobody_else_can_let_a_reply_go_on(as_bob: Client, scene: Scene, address: Address) -> None:
    scene.ask("A poem, please.", "The sea is ca", finish_reason="length")
    assert as_bob.post(address("turns/1/continue/")).status_code == 404
    assert Run.objects.get().state == "completed"


def test_a_limit_that_thinking_used_up_offers_a_larger_one(as_alice: Client, scene: Scene, address: Address) -> None:
    endpoint = Endpoint.objects.create(owner=scene.session.owner, name="local", base_url="http://127.0.0.1:9/v1")
    actions.configure_session(scene.session, actor=scene.session.owner, endpoint=endpoint, reply_limit=100)
    ending = recording.Ending(state=RunState.FAILED, code="cut_before_reply", text="Used up.")
    scene.ask("Hi", "", ending)
    assert "Raise the reply limit to 400" in part(as_alice, address("turns/1/"))
    as_alice.post(address("turns/1/retry/"), {"fix": "0"})
    assert Session.objects.get().reply_limit == 400


@pytest.mark.parametrize(
    ("typed", "told"),
    [({"reply_limit": "5"}, "greater than or equal to 16"), ({"temperature": "3"}, "less than or equal")],
)
def test_a_setting_out_of_its_range_is_told(
    as_alice: Client, scene: Scene, address: Address, typed: dict[str, str], told: str
) -> None:
    given = {"endpoint": "default", "budget": "16000", "ambient_window": "10", "decay_threshold": "3"}
    given |= {"eviction_threshold": "20", "context_mode": "light", "review_mode": "automatic"}
    answer = as_alice.post(address("settings/"), {**given, **typed})
    assert (answer.status_code, told in answer.content.decode()) == (422, True)


def test_thinking_is_folded_above_the_reply_and_not_copied_with_it(
    as_alice: Client, scene: Scene, address: Address
) -> None:
    scene.ask("Hi", "Hello.", thinking="They <b>greet</b> me.", thinking_ms=3_000)
    shown = part(as_alice, address("turns/1/"))
    assert "Thought for 3" in shown
    assert shown.index("They &lt;b&gt;greet&lt;/b&gt; me.") < shown.index("Hello.")
    assert '<template class="raw">Hello.</template>' in shown


def test_what_is_being_thought_is_there_when_the_page_is_read_again(
    as_alice: Client, scene: Scene, address: Address
) -> None:
    scene.say("Hi")
    lease = scene.start()
    write_deltas([Delta(lease=lease, call=1, offset=0, text="They greet", kind=events.THINKING)])
    shown = part(as_alice, address("turns/1/"))
    assert "They greet" in shown
    assert 'data-thought="10"' in shown


def test_thinking_is_exported_and_goes_with_the_conversation(alice: User, scene: Scene) -> None:
    scene.ask("Hi", "Hello.", thinking="They greet me.", finish_reason="stop")
    [[line]] = plan_lines(scene.session)
    assert '"thinking":"They greet me."' in line
    assert '"finish_reason":"stop"' in line
    actions.conversations.erase_session(scene.session, actor=alice)
    assert not Thinking.objects.exists()


def test_an_interrupted_run_keeps_what_was_thought(scene: Scene) -> None:
    scene.say("Hi")
    lease = scene.start()
    write_deltas([Delta(lease=lease, call=1, offset=0, text="They greet", kind=events.THINKING)])
    recording.recover(lambda owner: True)
    assert Thinking.objects.get().text == "They greet"
    assert Run.objects.get().state == "interrupted"


def test_a_reply_that_goes_on_in_a_killed_process_stays_completed(scene: Scene) -> None:
    turn = scene.ask("A poem, please.", "The sea is ca", finish_reason="length")
    actions.continue_reply(turn, actor=scene.session.owner)
    lease = scene.start()
    write_deltas([Delta(lease=lease, call=2, offset=0, text="lm")])
    recording.recover(lambda owner: True)
    run = Run.objects.get()
    assert (run.state, run.finish_reason) == ("completed", "length")
    assert [row.text for row in run.messages.order_by("pk")] == ["The sea is ca", "lm"]


def test_finished_blocks_of_a_reply_that_streams_are_rendered_once(
    as_alice: Client, scene: Scene, address: Address
) -> None:
    scene.say("Hi")
    lease = scene.start()
    write_deltas([Delta(lease=lease, call=1, offset=0, text="**One.**\n\nTw")])
    write_deltas([Delta(lease=lease, call=1, offset=12, text="o *and*\n\nThree")])
    shown = part(as_alice, address("turns/1/"))
    assert "<strong>One.</strong>" in shown
    assert "<em>and</em>" in shown
    assert '<div class="tail" dir="auto" data-raw>Three</div>' in shown
    blocks = as_alice.get(address("turns/1/blocks/?call=1&from=10")).json()
    assert blocks == {"html": "<p>Two <em>and</em></p>\n", "end": 21}
    assert as_alice.get(address("turns/1/blocks/?call=1&from=21")).json() == {"html": "", "end": 21}
    assert as_alice.get(address("turns/1/blocks/?call=2&from=0")).json() == {"html": "", "end": 0}


def test_blocks_are_the_owners_alone_and_asked_for_by_numbers(
    as_alice: Client, as_bob: Client, scene: Scene, address: Address
) -> None:
    scene.say("Hi")
    scene.start()
    assert as_bob.get(address("turns/1/blocks/?call=1&from=0")).status_code == 404
    for query in ("", "?call=1", "?call=x&from=0", "?call=1&from=-1", "?call=1&from=99999999999999999999"):
        assert as_alice.get(address(f"turns/1/blocks/{query}")).status_code == 404, query


@pytest.mark.parametrize(("sent", "seconds"), [(-95, 95), (95, 0)])
def test_a_model_is_waited_for_since_it_was_asked_whatever_the_clock_of_who_asked(sent: int, seconds: int) -> None:
    plan = ContextPlan(created_at=timezone.now() + timedelta(seconds=sent))
    assert waited(plan) == seconds
