"""A tab gets the whole log from any number on, whenever it comes."""

from __future__ import annotations

import threading
from itertools import cycle
from typing import Any

import pytest
from django.db import OperationalError
from django.test import Client

from efforts import actions
from efforts.log import events
from efforts.models import Event, Session
from efforts.models.threads import read, write
from efforts.turns import consumers
from efforts.turns.listeners import Listeners, listeners
from tests.fakes.provider import FakeProvider, Reply
from tests.sockets.conftest import Open, Stage, Tab

runs = pytest.mark.usefixtures("runner")


def text_of(frames: list[dict[str, Any]]) -> str:
    text = ""
    for frame in frames:
        if frame["kind"] == "delta":
            assert frame["offset"] == len(text)
            text += frame["text"]
    return text


def numbers(frames: list[dict[str, Any]]) -> list[int]:
    return [frame["seq"] for frame in frames if "seq" in frame]


async def test_a_tab_is_told_where_the_log_stands_and_gets_all_of_it(open_tab: Open, stage: Stage) -> None:
    await stage.say("Hi")
    tab = await open_tab()
    welcome = await tab.hello()
    frames = await tab.until("turn.sent")
    assert welcome == {"v": 1, "kind": "welcome", "seq": frames[-1]["seq"]}
    assert numbers(frames) == list(range(1, welcome["seq"] + 1))


async def test_a_tab_gets_what_comes_after_its_last_number(open_tab: Open, session: Session) -> None:
    last = await read(lambda: Session.objects.get().event_seq)
    tab = await open_tab()
    await tab.hello(last)
    await write(actions.rename_session, session, title="Harbour", actor=session.owner)
    frame = await tab.frame()
    assert (frame["kind"], frame["seq"], frame["title"]) == ("session.renamed", last + 1, "Harbour")


async def test_before_hello_a_tab_gets_no_events(open_tab: Open, stage: Stage) -> None:
    tab = await open_tab()
    await stage.say("Hi")
    assert await tab.pings() == []


@pytest.mark.parametrize(
    ("language", "told"), [("en", "Started effort: The log"), ("de", "Vorhaben begonnen: The log")]
)
async def test_what_is_told_of_an_effort_has_its_name_and_is_in_the_reader_s_language(
    open_tab: Open, as_alice: Client, language: str, told: str
) -> None:
    await write(speak, as_alice, language)
    tab = await open_tab()
    await tab.hello()
    await tab.say(kind="send", text="/effort The log", client_id="one")
    opened = await tab.last("effort.opened")
    assert (opened["effort"], opened["notice"]) == ("the-log", "--- Started effort: the-log ---")
    assert (opened["names"], opened["told"]) == ({"effort": "The log"}, told)
    # The same from the log, to whoever comes later.
    later = await open_tab()
    await later.hello()
    assert (await later.last("effort.opened"))["told"] == told


def speak(client: Client, language: str) -> None:
    browser = client.session
    browser["language"] = language
    browser.save()


@runs
async def test_a_turn_arrives_as_events_in_order(open_tab: Open, stage: Stage, provider: FakeProvider) -> None:
    provider.script = [Reply("One two three")]
    tab = await open_tab()
    await tab.hello(2)
    await stage.say("Count")
    frames = await tab.until("run.ended")
    kinds = [frame["kind"] for frame in frames if frame["kind"] not in ("delta", "session.renamed")]
    assert kinds in (
        ["turn.sent", "run.started", "plan.made", "message.stands", "run.ended"],
        ["turn.sent", "run.started", "plan.made", "resync"],
    )


@runs
async def test_a_tab_that_comes_in_the_middle_gets_the_whole_text(
    open_tab: Open, stage: Stage, provider: FakeProvider
) -> None:
    gate = threading.Event()
    provider.script = [Reply("One two three four", gate=gate, gate_after=3)]
    await stage.say("Count")
    early = await open_tab()
    await early.hello()
    seen = await early.until("delta")
    while text_of(seen) != "One two three":
        seen.append(await early.frame())
    late = await open_tab()
    await late.hello()
    replayed = await late.until("delta")
    while text_of(replayed) != "One two three":
        replayed.append(await late.frame())
    assert numbers(replayed)[-1] == numbers(seen)[-1]
    gate.set()
    await stage.settled()


@runs
async def test_a_tab_whose_next_number_is_gone_is_told_to_read_again(
    open_tab: Open, stage: Stage, provider: FakeProvider
) -> None:
    gate = threading.Event()
    provider.script = [Reply("One two three", gate=gate, gate_after=2)]
    await stage.say("Count")
    tab = await open_tab()
    await tab.hello()
    cursor = (await tab.last("delta"))["seq"] - 1
    gate.set()
    await stage.settled()
    back = await open_tab()
    welcome = await back.hello(cursor)
    assert await back.frame() == {"v": 1, "kind": "resync", "seq": welcome["seq"]}
    assert await back.pings() == []
    await write(actions.archive_session, stage.session, actor=stage.session.owner)
    assert (await back.frame())["seq"] == welcome["seq"] + 1


async def test_a_gap_at_the_end_of_the_log_is_told_too(open_tab: Open, session: Session) -> None:
    await write(events.append, session.pk, "delta", {"text": "x"})
    await read(Event.objects.filter(kind="delta").delete)
    tab = await open_tab()
    await tab.hello(2)
    assert (await tab.frame())["kind"] == "resync"


async def test_a_tab_ahead_of_the_log_is_told_to_read_again(open_tab: Open) -> None:
    tab = await open_tab()
    welcome = await tab.hello(1_000_000)
    assert await tab.frame() == {"v": 1, "kind": "resync", "seq": welcome["seq"]}


async def test_a_second_hello_begins_again_from_its_number(open_tab: Open) -> None:
    tab = await open_tab()
    await tab.hello()
    await tab.until("session.configured")
    await tab.hello()
    assert numbers(await tab.until("session.configured")) == [1, 2]


async def test_a_long_log_comes_in_parts_and_whole(open_tab: Open, session: Session) -> None:
    many = [Event(session=session, kind="note", data={"n": n}) for n in range(1_200)]
    await write(events.append_all, many)
    tab = await open_tab()
    await tab.hello()
    assert numbers(await tab.until("note", n=1_199)) == list(range(1, 1_203))


async def test_a_ring_brings_the_news_along_so_that_nobody_reads_the_log(
    open_tab: Open, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    tab = await open_tab()
    await tab.hello()
    await tab.until("session.configured")
    reads: list[int] = []

    def news(session_id: Any, cursor: int) -> tuple[int, list[dict[str, Any]]]:
        reads.append(cursor)
        return cursor, []

    monkeypatch.setattr(consumers, "news", news)
    await write(actions.rename_session, session, title="Harbour", actor=session.owner)
    assert (await tab.frame())["title"] == "Harbour"
    assert reads == []


async def test_rings_that_overtake_each_other_show_everything_once_and_in_order(
    open_tab: Open, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    tab = await open_tab()
    await tab.hello()
    await tab.until("session.configured")
    kept: list[Any] = []
    ring = events.ring
    monkeypatch.setattr(events, "ring", kept.append)
    for title in ("First", "Second", "Third"):
        await write(actions.rename_session, session, title=title, actor=session.owner)
    for rings in reversed(kept):
        await write(ring, rings)
    assert [(await tab.frame())["title"] for _ in range(3)] == ["First", "Second", "Third"]
    assert await tab.pings() == []


@runs
async def test_lost_rings_lose_nothing_else(
    open_tab: Open, stage: Stage, provider: FakeProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard = Listeners.pass_on
    turns = cycle([heard, lambda listeners, message: None])
    monkeypatch.setattr(Listeners, "pass_on", lambda listeners, message: next(turns)(listeners, message))
    gate = threading.Event()
    text = "word " * 400
    provider.script = [Reply(text, gate=gate, gate_after=400)]
    tab = await open_tab()
    await tab.hello()
    await tab.say(kind="send", text="Talk", client_id="one")
    frames = await tab.until("delta")
    while text_of(frames).split() != text.split():
        frames.append(await tab.frame())
    gate.set()
    numbered = numbers([frame for frame in frames if frame["kind"] != "welcome"])
    assert numbered == list(range(1, len(numbered) + 1))
    await stage.settled()


async def told_by_rings_alone(open_tab: Open, monkeypatch: pytest.MonkeyPatch) -> Tab:
    """It has all that there is, and looks at the log no more."""
    tab: Tab = await open_tab()
    await tab.hello()
    await tab.until("session.configured")
    monkeypatch.setattr(consumers, "news", lambda session_id, cursor: (cursor, []))
    return tab


async def test_what_is_rung_in_a_process_is_heard_there_once_and_without_the_channel_layer(
    open_tab: Open, session: Session, layer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    tab = await told_by_rings_alone(open_tab, monkeypatch)
    send, sent = layer.group_send, list[str]()

    async def lost(group: str, message: dict[str, Any]) -> None:
        sent.append(group)

    monkeypatch.setattr(layer, "group_send", lost)
    await write(actions.rename_session, session, title="Harbour", actor=session.owner)
    assert (await tab.frame())["title"] == "Harbour"
    # Other processes are told all the same; what comes back from there was heard.
    assert sent == [events.PAGES]
    monkeypatch.setattr(layer, "group_send", send)
    await write(actions.rename_session, session, title="Quay", actor=session.owner)
    assert [frame["title"] for frame in await tab.pings()] == ["Quay"]


async def test_what_another_process_rings_is_heard_through_the_channel_layer(
    open_tab: Open, session: Session, layer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    tab = await told_by_rings_alone(open_tab, monkeypatch)
    frame = {"v": 1, "seq": 3, "kind": "session.renamed", "title": "Harbour"}
    rung = {"type": "doorbell", "frames": {str(session.pk): [frame]}, "gone": [], "by": "another"}
    await layer.group_send(events.PAGES, rung)
    assert (await tab.frame())["title"] == "Harbour"


async def test_a_tab_is_told_to_read_again_where_the_log_has_lost_its_end(open_tab: Open, session: Session) -> None:
    """As where the database broke down before the last text on its way was on the disk."""
    await write(events.append, session.pk, "delta", {"text": "x"})
    tab = await open_tab()
    await tab.hello()
    await tab.until("delta")
    await read(Event.objects.filter(kind="delta").delete)
    await read(Session.objects.filter(pk=session.pk).update, event_seq=2)
    await listeners().look()
    assert await tab.frame() == {"v": 1, "kind": "resync", "seq": 2}
    await write(actions.rename_session, session, title="Harbour", actor=session.owner)
    assert (await tab.frame())["title"] == "Harbour"


async def test_a_tab_that_no_ring_reaches_gets_all_at_its_next_ping(
    open_tab: Open, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    tab = await open_tab()
    await tab.hello()
    await tab.until("session.configured")
    monkeypatch.setattr(events, "ring", lambda rings: None)
    await write(actions.archive_session, session, actor=session.owner)
    await tab.say(kind="ping")
    kinds = [frame["kind"] for frame in (await tab.frame(), await tab.frame())]
    assert sorted(kinds) == ["pong", "session.archived"]


async def test_a_tab_outlives_a_database_that_did_not_answer(
    open_tab: Open, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    failures = iter([OperationalError("the server closed the connection")])

    def news(*which: Any) -> Any:
        for failure in failures:
            raise failure
        return consumers_news(*which)

    consumers_news = consumers.news
    monkeypatch.setattr(consumers, "news", news)
    tab = await open_tab()
    await tab.hello()
    await tab.say(kind="ping")
    assert "session.configured" in [frame["kind"] for frame in await tab.until("session.configured")]


async def test_a_tab_that_nothing_can_be_told_is_closed_to_come_back(
    open_tab: Open, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def news(*which: Any) -> Any:
        raise ValueError("what nobody foresaw")

    monkeypatch.setattr(consumers, "news", news)
    tab = await open_tab()
    await tab.hello()
    _, code = await tab.ending()
    assert code == consumers.DEAF
    assert "what nobody foresaw" in caplog.text
