"""The pages of a process share one ear: what is rung comes to all of them, and idle ones cost next to nothing."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import pytest
from django.conf import settings
from django.db import OperationalError, connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from efforts import actions
from efforts.log import events
from efforts.models import Session
from efforts.models.threads import read, write
from efforts.turns import consumers
from efforts.turns.listeners import NO_SUCH_SESSION, SIGNED_OUT, Listeners, listeners, standing
from tests.sockets.conftest import Open, Tab


@pytest.fixture
def unread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody is told by a look at the log, only by what is rung."""
    monkeypatch.setattr(consumers, "news", lambda session_id, cursor: (cursor, []))


async def quiet(tab: Tab) -> Tab:
    """It has all that there is."""
    await tab.hello()
    await tab.until("session.configured")
    await tab.pings()
    return tab


async def rename(session: Session, title: str) -> None:
    await write(actions.rename_session, session, title=title, actor=session.owner)


async def idle() -> Counter[str]:
    """The tasks that are there when no look at the log is under way."""
    while looks := [task for task in asyncio.all_tasks() if name_of(task) == "SessionConsumer.tell"]:
        await asyncio.wait(looks)
    return Counter(map(name_of, asyncio.all_tasks()))


def name_of(task: asyncio.Task[Any]) -> str:
    return str(getattr(task.get_coro(), "__qualname__", ""))


async def test_an_idle_page_has_no_task_but_that_of_its_connection(open_tab: Open) -> None:
    await quiet(await open_tab())
    one = await idle()
    for _ in range(4):
        await quiet(await open_tab())
    assert await idle() - one == {"application": 4}


async def test_what_is_rung_comes_to_all_pages(
    open_tab: Open, session: Session, request: pytest.FixtureRequest
) -> None:
    tabs = [await quiet(await open_tab()) for _ in range(3)]
    request.getfixturevalue("unread")
    await rename(session, "Harbour")
    assert [(await tab.frame())["title"] for tab in tabs] == ["Harbour"] * 3


async def test_when_the_last_page_has_left_nothing_listens_and_the_next_one_hears(
    open_tab: Open, session: Session, request: pytest.FixtureRequest
) -> None:
    tabs = [await quiet(await open_tab()) for _ in range(2)]
    for tab in tabs:
        await tab.leave()
    assert (listeners().of, listeners().hearing) == ({}, None)
    tab = await quiet(await open_tab())
    request.getfixturevalue("unread")
    await rename(session, "Harbour")
    assert (await tab.frame())["title"] == "Harbour"


async def test_a_page_that_comes_while_the_last_one_leaves_hears(
    open_tab: Open, session: Session, request: pytest.FixtureRequest
) -> None:
    """As when a page is loaded again."""
    first = await quiet(await open_tab())
    _, second = await asyncio.gather(first.leave(), open_tab())
    await quiet(second)
    request.getfixturevalue("unread")
    await rename(session, "Harbour")
    assert (await second.frame())["title"] == "Harbour"


async def test_who_signs_out_is_noticed_without_a_ring_or_a_ping(
    open_tab: Open, as_alice: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("efforts.turns.listeners.LOOK", 0.05)
    tab = await quiet(await open_tab())
    await read(as_alice.logout)
    assert (await tab.ending())[1] == SIGNED_OUT


async def test_what_no_ring_came_of_is_found_by_the_next_look(
    open_tab: Open, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    tabs = [await quiet(await open_tab()) for _ in range(2)]
    monkeypatch.setattr(events.doorbell, "ring", lambda change: None)
    await rename(session, "Harbour")
    await listeners().look()
    assert [(await tab.frame())["title"] for tab in tabs] == ["Harbour"] * 2


async def test_a_database_that_is_away_for_a_moment_ends_no_looking(
    open_tab: Open, as_alice: Client, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("efforts.turns.listeners.LOOK", 0.05)
    looked: list[int] = []

    def away_once(asked: Sequence[Any]) -> list[tuple[int | None, int]]:
        looked.append(len(asked))
        if len(looked) == 1:
            raise OperationalError("database is locked")
        return standing(asked)

    monkeypatch.setattr("efforts.turns.listeners.standing", away_once)
    tab = await quiet(await open_tab())
    await read(as_alice.logout)
    assert (await tab.ending())[1] == SIGNED_OUT
    assert "it is looked for again" in caplog.text


async def test_a_fault_that_nobody_foresaw_sends_all_pages_away_to_come_back(
    open_tab: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("efforts.turns.listeners.LOOK", 0.05)
    monkeypatch.setattr("efforts.turns.listeners.standing", lambda asked: 1 / 0)
    tabs = [await open_tab() for _ in range(2)]
    assert [(await tab.ending())[1] for tab in tabs] == [consumers.DEAF] * 2


def test_many_pages_are_looked_at_by_the_questions_of_one(session: Session, as_alice: Client) -> None:
    others = [actions.create_session(session.owner) for _ in range(20)]

    def page(of: Session) -> Any:
        key = as_alice.cookies[settings.SESSION_COOKIE_NAME].value
        return SimpleNamespace(session_id=of.pk, user_id=session.owner_id, signed_in=key)

    with CaptureQueriesContext(connection) as one:
        assert [code for code, _ in standing([page(session)])] == [None]
    strange = SimpleNamespace(session_id=uuid4(), user_id=session.owner_id, signed_in=page(session).signed_in)
    with CaptureQueriesContext(connection) as many:
        *mine, of_nobody = standing([*map(page, others), strange])
    assert {code for code, _ in mine} == {None}
    assert of_nobody == (NO_SUCH_SESSION, 0)
    assert len(many) == len(one) == 3


class SlowLayer:
    """A channel layer that answers once `gate` is open."""

    def __init__(self) -> None:
        self.gate = asyncio.Event()
        self.asked: list[str] = []
        self.sent: list[str] = []
        self.opened = 0

    async def new_channel(self) -> str:
        self.opened += 1
        await self.gate.wait()
        return "ours"

    async def receive(self, channel: str) -> dict[str, Any]:
        await asyncio.Event().wait()
        return {}

    async def group_add(self, group: str, channel: str) -> None:
        self.asked.append(group)
        await self.gate.wait()

    async def group_discard(self, group: str, channel: str) -> None: ...

    async def group_send(self, group: str, message: dict[str, Any]) -> None:
        self.sent.append(group)


class Page:
    session_id = uuid4()
    user_id = 0
    signed_in: str | None = None

    def hear(self, frames: list[dict[str, Any]]) -> None: ...

    def ring(self) -> None: ...

    def stand_at(self, seq: int) -> None: ...

    def close_soon(self, code: int) -> None: ...

    def hear_nothing(self, fault: BaseException) -> None: ...


async def test_pages_that_come_at_once_ask_the_layer_once() -> None:
    layer, pages = SlowLayer(), [Page() for _ in range(50)]
    ours = Listeners(layer)
    coming = [asyncio.create_task(ours.add(page)) for page in pages]
    await asyncio.wait(coming, timeout=0)
    # One of them is gone before the layer answers.
    coming[0].cancel()
    layer.gate.set()
    assert (await asyncio.gather(*coming[1:])) == [None] * 49
    assert (layer.opened, len(layer.asked)) == (1, 1)
    # Later it is asked anew: it may have forgotten who listens. What is sent finds out whether it is there at all.
    assert await ours.renew() is None
    assert len(layer.asked) == len(layer.sent) == 2
    for page in pages:
        await ours.drop(page)
    assert ours.hearing is None


async def test_a_page_that_leaves_before_the_layer_is_asked_leaves_nobody_hearing() -> None:
    layer, page = SlowLayer(), Page()
    ours = Listeners(layer)
    coming = asyncio.create_task(ours.add(page))
    # It has asked, and what it asked for has not begun.
    await asyncio.sleep(0)
    coming.cancel()
    await ours.drop(page)
    layer.gate.set()
    assert ours.joining is not None
    await ours.joining
    assert (layer.opened, ours.hearing) == (0, None)


async def test_what_is_rung_while_the_loop_is_busy_is_sent_at_once(session: Session, layer: Any) -> None:
    heard = await layer.new_channel()
    await layer.group_add(events.PAGES, heard)
    bell, gone = events.Doorbell(), uuid4()
    bell.attend()
    # On this loop's own thread, so that it comes to nothing else in between.
    for number in range(200):
        bell.ring(lambda rung, number=number: rung.frames[session.pk].append({"seq": number}))  # type: ignore[misc]
    bell.ring(lambda rung: rung.gone.append(gone))
    told = await layer.receive(heard)
    assert [frame["seq"] for frame in told["frames"][str(session.pk)]] == list(range(200))
    assert told["gone"] == [str(gone)]
    bell.ring(lambda rung: rung.frames[session.pk].append({"seq": 200}))
    assert (await layer.receive(heard))["frames"] == {str(session.pk): [{"seq": 200}]}
