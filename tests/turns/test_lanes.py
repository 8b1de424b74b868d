"""Pages go before turns."""

from __future__ import annotations

import asyncio

import pytest
from django.conf import settings

from ccmweb import asgi
from efforts.turns import lanes
from efforts.turns.lanes import Lane, Pages
from efforts.turns.lanes import pages as of_this_process


@pytest.fixture
def pages(monkeypatch: pytest.MonkeyPatch) -> Pages:
    own = Pages()
    monkeypatch.setattr(lanes, "pages", own)
    return own


async def take(lane: Lane, order: list[str]) -> None:
    async with lane:
        order.append("turn")


async def test_a_turn_goes_on_when_the_last_page_is_made(pages: Pages, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lanes, "LONGEST", 60.0)
    monkeypatch.setattr(lanes, "SHARED", 60.0)
    order: list[str] = []
    with pages.one():
        with pages.one():
            turn = asyncio.create_task(take(Lane(), order))
            await asyncio.sleep(0)
        order.append("page")
        await asyncio.sleep(0)
    order.append("last page")
    await turn
    assert order == ["page", "last page", "turn"]
    assert not pages.awaited


async def test_it_does_not_wait_for_ever(pages: Pages, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lanes, "LONGEST", 0.001)
    order: list[str] = []
    with pages.one():
        await take(Lane(), order)
        assert order == ["turn"]


async def test_the_more_turns_wait_the_shorter_each_waits_for_pages(
    pages: Pages, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: list[float] = []

    async def done(seconds: float) -> None:
        waited.append(seconds)

    monkeypatch.setattr(pages, "done", done)
    lane, order = Lane(), list[str]()
    async with lane:
        turns = [asyncio.create_task(take(lane, order)) for _ in range(6)]
        await asyncio.sleep(0)
    await asyncio.gather(*turns)
    assert waited == pytest.approx([0.1, 0.05, 0.06, 0.075, 0.1, 0.1, 0.1])


async def test_who_gives_up_keeps_nobody_else_waiting(pages: Pages, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lanes, "LONGEST", 60.0)
    monkeypatch.setattr(lanes, "SHARED", 60.0)
    lane, order = Lane(), list[str]()
    with pages.one():
        turn = asyncio.create_task(take(lane, order))
        await asyncio.sleep(0)
        turn.cancel()
        await asyncio.gather(turn, return_exceptions=True)
    await take(lane, order)
    assert order == ["turn"]


async def test_what_is_asked_by_http_counts_until_it_is_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    counts: list[int] = []

    async def answer(*_: object) -> None:
        counts.append(of_this_process.count)

    monkeypatch.setattr(asgi, "routed", answer)
    # No runner is started here.
    monkeypatch.setattr(settings, "CCM_RUNNER", "worker")
    for kind in ("http", "websocket"):
        await asgi.application({"type": kind}, None, None)
    assert counts == [1, 0]
    assert of_this_process.count == 0
