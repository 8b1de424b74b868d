"""Further back in a long conversation: what is there stays true, and what cannot be read is told."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.conftest import App, Visitor, interceptable, is_live, turn, until
from tests.browser.test_search import numbers_on, prepared, reads_on, scroll_to, top_of

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture(scope="module")
def address(built_in: tuple[App, Any]) -> str:
    """Of a conversation of 100 long turns."""
    return prepared(built_in[0], "long_log(100, 1, 'The gannet dives at noon.')")


def at(visitor: Visitor, address: str) -> Page:
    page = visitor.page(panel=False)
    interceptable(page).goto(address)
    is_live(page)
    return page


def read_back(page: Page) -> None:
    reading = numbers_on(page)[0]
    scroll_to(page, "0")
    until(page, partial(reads_on, page, 0, reading))


def test_turns_that_one_has_scrolled_back_to_say_at_once_that_excerpts_replace_them(
    visitor: Visitor, address: str
) -> None:
    page = at(visitor, address)
    read_back(page)
    read_back(page)
    shown = numbers_on(page)
    page.locator("#more-of-20").press("Enter")
    page.locator("#compact-from-20").press("Enter")
    page.locator("#scope-last").fill("29")
    page.locator("#scope-last").press("Enter")
    # In the chat and in the panel.
    review = page.get_by_role("link", name="Review the excerpts of turns 20-29").first
    expect(review).to_be_attached()
    other = page.context.new_page()
    other.goto(review.get_attribute("href") or "")
    turn(page, 21).evaluate("node => node.scrollIntoView()")
    before = top_of(page, 21)
    other.keyboard.press("A")
    other.get_by_label("Use it all the same").check()
    other.locator("#dialog button.primary").click()
    expect(turn(page, 21).locator(".cover")).to_have_text("In the prompt as excerpts")
    assert numbers_on(page) == shown
    assert abs(top_of(page, 21) - before) < 60


@pytest.mark.parametrize(("end", "asked"), [("earlier", "before"), ("later", "after")])
def test_what_the_server_cannot_give_is_told_where_it_is_missed_and_nothing_jumps_when_it_comes(
    visitor: Visitor, address: str, end: str, asked: str
) -> None:
    visitor.watch.expect("500|503|htmx")
    page = at(visitor, f"{address}log/?around=50#turn-50")
    statuses = [500, 503]
    page.route(f"**/log/?{asked}=*", lambda route: route.fulfill(status=statuses.pop(0)))
    link, place = page.locator(f"#{end}"), 0 if end == "earlier" else -1
    reading = numbers_on(page)[place]
    scroll_to(page, "0" if end == "earlier" else "node.scrollHeight")
    expect(link).to_have_text(f"{end.capitalize()} messages could not be loaded. Try again")
    link.dispatch_event("click")
    until(page, lambda: not statuses)
    expect(page.locator("#alerts")).to_be_empty()
    # Who has read on meanwhile stays where they are.
    turn(page, 50).evaluate("node => node.scrollIntoView()")
    before = top_of(page, 50)
    page.unroute(f"**/log/?{asked}=*")
    link.dispatch_event("click")
    until(page, partial(reads_on, page, place, reading))
    page.evaluate("() => new Promise(requestAnimationFrame)")
    assert abs(top_of(page, 50) - before) < 2


def test_who_asks_for_the_newest_while_the_log_is_read_again_gets_there(visitor: Visitor, address: str) -> None:
    page = at(visitor, f"{address}log/?around=30#turn-30")
    held: list[Route] = []
    page.route("**/log/?around=*", lambda route: held.append(route))
    page.evaluate("dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))")
    until(page, lambda: held)
    page.get_by_role("button", name="Newest").click()
    page.unroute("**/log/?around=*")
    held[0].continue_()
    expect(turn(page, 100)).to_be_in_viewport()
    expect(page.locator("#latest")).to_be_hidden()
