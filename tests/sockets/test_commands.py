"""What a tab may ask for over its socket, and how it is answered."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytest
from django.db import connection, transaction

from efforts import actions
from efforts.domain.errors import Refused
from efforts.models import Branch, Effort, Message, Session, Turn
from efforts.models.threads import read
from efforts.turns import consumers
from tests.fakes.provider import FakeProvider, NoAnswer, Reply, Status
from tests.sockets.conftest import Open, Stage

runs = pytest.mark.usefixtures("runner")


async def test_a_message_is_acknowledged_once_it_is_saved(open_tab: Open) -> None:
    tab = await open_tab()
    await tab.say(kind="send", text="Hi", client_id="one")
    ack = await tab.frame()
    turn = await read(Turn.objects.get)
    assert ack == {"v": 1, "kind": "ack", "of": "send", "client_id": "one", "turn": 1, "run": str(turn.run_id)}
    assert (await read(Message.objects.get)).text == "Hi"


async def test_a_message_sent_again_is_acknowledged_again_and_stays_one(open_tab: Open) -> None:
    tab = await open_tab()
    for _ in range(2):
        await tab.say(kind="send", text="Hi", client_id="one")
    assert await tab.frame() == await tab.frame()
    assert await read(Turn.objects.count) == 1


async def test_who_sends_more_than_their_share_holds_up_no_write_of_others(
    open_tab: Open, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.CCM_PERSON_SENDS = 1
    monkeypatch.setattr(consumers, "REFUSED_PAUSE", 0)
    tab = await open_tab()
    await tab.say(kind="send", text="Hi", client_id="one")
    ack = await tab.frame()

    async def never(*args: object) -> None:
        raise AssertionError("It was asked on the thread that writes.")

    with monkeypatch.context() as patched:
        patched.setattr(consumers, "write", never)
        await tab.say(kind="send", text="And?", client_id="two")
        refused = await tab.frame()
    assert (refused["code"], refused["client_id"]) == ("too_fast", "two")
    # What is no message, and what was sent before, is done all the same.
    await tab.say(kind="send", text="Hi", client_id="one")
    assert await tab.frame() == ack
    await tab.say(kind="send", text="/aside-no-such-command", client_id="three", plain=True)
    assert (await tab.frame())["code"] == "too_fast"
    assert await read(Turn.objects.count) == 1


async def test_all_pages_of_one_person_together_are_refused_no_faster_than_one(
    open_tab: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A refusal costs questions to the database: of twenty pages twenty times as many."""
    two = threading.Barrier(2)
    met = []

    def refuse(*args: object, **values: object) -> None:
        with suppress(threading.BrokenBarrierError):
            met.append(two.wait(0.2))
        raise Refused("too_fast", "Not so fast.")

    monkeypatch.setattr(actions, "check_typed", refuse)
    monkeypatch.setattr(consumers, "REFUSED_PAUSE", 0)
    tabs = [await open_tab() for _ in range(3)]
    for tab in tabs:
        await tab.say(kind="send", text="And?", client_id="one")
    assert [(await tab.frame())["code"] for tab in tabs] == ["too_fast"] * 3
    assert met == []


async def test_messages_of_two_tabs_get_one_order(open_tab: Open) -> None:
    tabs = [await open_tab(), await open_tab()]
    for number in range(4):
        await tabs[number % 2].say(kind="send", text=f"message {number}", client_id=f"id-{number}")
    turns = [(await tab.frame())["turn"] for tab in tabs for _ in range(2)]
    assert sorted(turns) == [1, 2, 3, 4]


@runs
async def test_stop_is_acknowledged_while_the_provider_is_silent(
    open_tab: Open, provider: FakeProvider, stage: Stage
) -> None:
    provider.script = [NoAnswer()]
    tab = await open_tab()
    await tab.hello(2)
    await tab.say(kind="send", text="Hi", client_id="one")
    run = (await tab.last("plan.made"))["run"]
    await tab.say(kind="stop", run=run)
    frames = await tab.until("run.ended")
    (ack,) = (frame for frame in frames if frame["kind"] == "ack" and frame["of"] == "stop")
    assert (ack["run"], ack["turn"], ack["state"]) == (run, 1, "running")
    assert [frame["kind"] for frame in frames if frame["kind"] != "ack"] == ["run.stopping", "run.ended"]
    assert frames[-1]["state"] == "stopped"


@runs
async def test_stop_twice_is_one_stop(open_tab: Open, provider: FakeProvider) -> None:
    provider.script = [NoAnswer()]
    tab = await open_tab()
    await tab.hello(2)
    await tab.say(kind="send", text="Hi", client_id="one")
    run = (await tab.last("plan.made"))["run"]
    await tab.say(kind="stop", run=run)
    await tab.until("run.ended")
    await tab.say(kind="stop", run=run)
    assert (await tab.last("ack", of="stop"))["state"] == "stopped"
    assert [frame["kind"] for frame in await tab.pings()] == []


async def test_a_waiting_message_can_be_cancelled_once(open_tab: Open) -> None:
    tab = await open_tab()
    await tab.say(kind="send", text="Hi", client_id="one")
    await tab.frame()
    await tab.say(kind="cancel", turn=1)
    assert await tab.frame() == {"v": 1, "kind": "ack", "of": "cancel", "turn": 1}
    await tab.say(kind="cancel", turn=1)
    error = await tab.frame()
    assert (error["kind"], error["code"], error["of"], error["turn"]) == ("error", "not_waiting", "cancel", 1)


async def test_stop_of_a_waiting_run_cancels_it(open_tab: Open) -> None:
    tab = await open_tab()
    await tab.say(kind="send", text="Hi", client_id="one")
    run = (await tab.frame())["run"]
    await tab.say(kind="stop", run=run)
    assert (await tab.frame())["state"] == "cancelled"


@runs
async def test_a_failed_turn_is_tried_again(open_tab: Open, provider: FakeProvider) -> None:
    provider.script = [Status(400, "no"), Reply("Now it works.")]
    tab = await open_tab()
    await tab.hello(2)
    await tab.say(kind="send", text="Hi", client_id="one")
    first = await tab.last("run.ended", state="failed")
    await tab.say(kind="retry", turn=1)
    frames = await tab.until("ack", of="retry")
    assert (frames[-1]["state"], frames[-1]["run"] != first["run"]) == ("queued", True)
    ended = [frame for frame in frames if frame["kind"] == "run.ended"] or [await tab.last("run.ended")]
    assert (ended[0]["run"], ended[0]["state"]) == (frames[-1]["run"], "completed")


async def test_what_may_not_be_tried_again_is_refused_in_words(open_tab: Open) -> None:
    tab = await open_tab()
    await tab.say(kind="send", text="Hi", client_id="one")
    await tab.frame()
    await tab.say(kind="retry", turn=1)
    error = await tab.frame()
    assert (error["code"], error["of"], error["turn"]) == ("not_retryable", "retry", 1)
    assert "nothing to try again" in error["text"]


@contextmanager
def locked(session: Session) -> Iterator[None]:
    """Another process writes, and takes its time."""
    held, done = threading.Event(), threading.Event()

    def hold() -> None:
        with transaction.atomic():
            Branch.objects.select_for_update().get(session=session)
            held.set()
            done.wait(10)
        connection.close()

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait(10)
    try:
        yield
    finally:
        done.set()
        thread.join()


async def test_a_slow_query_of_one_tab_does_not_delay_another(open_tab: Open, session: Session) -> None:
    slow, quick = await open_tab(), await open_tab()
    with locked(session):
        await slow.say(kind="send", text="Hi", client_id="one")
        await quick.hello()
        await quick.until("session.configured")
        assert await quick.pings() == []
        assert slow.socket.output_queue.empty()
    assert (await slow.frame())["kind"] == "ack"


async def test_the_tab_may_go_and_the_turn_goes_on(
    open_tab: Open, stage: Stage, provider: FakeProvider, runner: object
) -> None:
    gate = threading.Event()
    provider.script = [Reply("One two three", gate=gate, gate_after=2)]
    tab = await open_tab()
    await tab.hello(2)
    await tab.say(kind="send", text="Count", client_id="one")
    await tab.until("delta")
    await tab.leave()
    gate.set()
    await stage.settled()
    turn = await stage.turn(1)
    assert await stage.texts(turn) == [("user", "Count"), ("assistant", "One two three")]


async def test_a_command_is_done_and_acknowledged_without_a_turn(open_tab: Open) -> None:
    tab = await open_tab()
    for _ in range(2):
        await tab.say(kind="send", text="/effort Bug", client_id="one")
        assert await tab.frame() == {"v": 1, "kind": "ack", "of": "send", "client_id": "one"}
    assert await read(lambda: list(Effort.objects.values_list("slug", flat=True))) == ["bug"]
    assert await read(Turn.objects.count) == 0


async def test_search_is_acknowledged_with_its_address(open_tab: Open) -> None:
    tab = await open_tab()
    await tab.say(kind="send", text="/search signing key", client_id="one")
    ack = await tab.frame()
    assert (ack["kind"], ack["go"]) == ("ack", "/search/?q=signing+key")


async def test_a_near_miss_is_asked_about_and_sent_when_it_is_meant(open_tab: Open) -> None:
    tab = await open_tab()
    await tab.say(kind="send", text="/efort x", client_id="one")
    error = await tab.frame()
    assert (error["kind"], error["code"], error["client_id"]) == ("error", "doubtful", "one")
    assert await read(Turn.objects.count) == 0
    await tab.say(kind="send", text="/efort x", client_id="two", plain=True)
    assert (await tab.frame())["turn"] == 1
    assert (await read(Message.objects.get)).text == "/efort x"


@runs
async def test_a_note_ends_without_a_call(open_tab: Open, provider: FakeProvider) -> None:
    tab = await open_tab()
    await tab.hello(2)
    await tab.say(kind="send", text="/rule Never on Fridays.", client_id="one")
    frames = await tab.until("run.ended")
    kinds = [frame["kind"] for frame in frames if frame["kind"] not in ("ack", "session.renamed")]
    assert kinds == ["turn.sent", "constraint.set", "run.started", "run.ended"]
    assert frames[-1]["state"] == "noted"
    assert provider.bodies == []


@runs
async def test_an_aside_is_answered_outside_the_active_effort(open_tab: Open) -> None:
    tab = await open_tab()
    await tab.hello(2)
    await tab.say(kind="send", text="/effort Bug", client_id="one")
    await tab.say(kind="send", text="What time is it?", client_id="two", aside=True)
    started = await tab.last("run.started")
    assert started["aside"] is True
    ended = await tab.last("run.ended")
    assert (ended["state"], ended["effort"]) == ("completed", None)
