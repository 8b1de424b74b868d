"""The pages of a process share one ear: what is rung comes to all of them, and idle ones cost next to nothing."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

import pytest

from efforts import actions
from efforts.models import Session
from efforts.models.threads import write
from efforts.turns import consumers
from efforts.turns.listeners import listeners
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
