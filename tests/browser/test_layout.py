"""Where things stand: nothing runs out of the window or lies over another, and edges are in one line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.conftest import PHONE, App, Visitor, begin, is_in_state, is_live, say, turn, visit
from tests.browser.test_first_minutes import is_open

pytestmark = [pytest.mark.browser, pytest.mark.long]

DESKTOP = 1440
MARGIN = 16
PAGES = ("/", "/settings/", "/settings/endpoints/new/", "/search/?q=migration", "/review/", "/metrics/")

# What is wider than its window, also where that is scrolled or hides the rest.
WIDER = """() => [document.scrollingElement, ...document.querySelectorAll("main, .page, .scroller, .side, .aside")]
  .filter((node) => node.scrollWidth > node.clientWidth)
  .map((node) => `${node.tagName}.${node.className}: ${node.scrollWidth} of ${node.clientWidth}`)"""
# Pairs of what can be pressed in a header, or in the tabs, and lies over another.
OVERLAPPING = """() => {
  const all = [...document.querySelectorAll("header.bar, .tabs, .side .top")].flatMap((bar) =>
    [...bar.querySelectorAll("a, button, input, select, summary")].filter((node) => node.checkVisibility()));
  const over = (one, other) => {
    const [a, b] = [one.getBoundingClientRect(), other.getBoundingClientRect()];
    const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
    const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
    return wide > 0.5 && high > 0.5;
  };
  return all.flatMap((one, at) => all.slice(at + 1).filter((other) => !one.contains(other) && over(one, other))
    .map((other) => `${one.outerHTML} / ${other.outerHTML}`));
}"""
TWICE_AS_LARGE = "addEventListener('DOMContentLoaded', () => { document.documentElement.style.fontSize = '200%' })"
BOX = "node => node.getBoundingClientRect().toJSON()"
OUTLINE = "node => [getComputedStyle(node).outlineStyle, getComputedStyle(node).outlineWidth]"
PLACES = "nodes => nodes.map((node) => [node.offsetLeft, node.offsetTop, node.offsetWidth, node.offsetHeight])"
CUT = """nodes => nodes.filter((node) => !node.classList.contains("clip") && node.scrollWidth > node.clientWidth)
  .map((node) => node.textContent)"""


@pytest.fixture(scope="module")
def example(chromium: Browser, built_in: tuple[App, Any]) -> Iterator[str]:
    """The address of the example; who has one goes on with it."""
    with contextmanager(visit)(chromium, *built_in) as visitor:
        page = visitor.page(panel=False)
        page.goto("/")
        page.get_by_role("button", name="Open the example").click()
        yield is_open(page)


def at(visitor: Visitor, address: str, width: int, *, panel: bool = False) -> Page:
    page = visitor.page(width=width, panel=panel)
    page.goto(address)
    return page


def edges(found: Locator) -> set[tuple[int, int]]:
    expect(found.first).to_be_visible()
    return {(round(one["left"]), round(one["right"])) for one in map(box, found.all())}


def box(found: Locator) -> dict[str, float]:
    sides: dict[str, float] = found.evaluate(BOX)
    return sides


def test_no_page_is_wider_than_its_window_and_nothing_in_a_header_lies_over_another(
    visitor: Visitor, example: str
) -> None:
    for width in (PHONE, DESKTOP):
        page = at(visitor, example, width, panel=width == DESKTOP)
        is_live(page)
        for address in (example, *PAGES):
            page.goto(address)
            expect(page.locator("main")).to_be_visible()
            assert page.evaluate(WIDER) == [], f"{address} at {width}"
            assert page.evaluate(OVERLAPPING) == [], f"{address} at {width}"


def test_with_text_twice_as_large_a_phone_shows_all_of_it_and_no_figure_lies_over_its_name(
    visitor: Visitor, example: str
) -> None:
    for width in (PHONE, 1280):
        page = visitor.page(width=width)
        page.add_init_script(TWICE_AS_LARGE)
        for address in (example, *PAGES) if width == PHONE else (example,):
            page.goto(address)
            expect(page.locator("main")).to_be_visible()
            if width == PHONE:
                assert page.evaluate(WIDER) == [], address
            assert page.locator(".legend li > :nth-child(2)").evaluate_all(CUT) == []


def what_stands_below_the_message_box_has_room(visitor: Visitor, example: str) -> None:
    """On a phone, in German too."""
    for language in ("en-US", "de-DE"):
        page = visitor.page(width=PHONE, language=language, panel=False)
        page.goto(example)
        is_live(page)
        line = page.locator(".meter-text").first
        assert all(box(one)["right"] <= PHONE - MARGIN / 2 for one in line.locator("> *:visible").all()), language
        assert line.locator(".chip").evaluate_all(CUT) == [], language


def test_on_a_phone_everything_has_room_and_keeps_the_same_distance_from_both_sides(
    visitor: Visitor, example: str
) -> None:
    what_stands_below_the_message_box_has_room(visitor, example)
    page = at(visitor, example, PHONE)
    is_live(page)
    whole = {(MARGIN, PHONE - MARGIN)}
    for boxes in (".user .said", ".composer", "#tips .tips", "#meter .meter"):
        assert edges(page.locator(boxes).last) == whole, boxes
    page.locator("[data-tab=side]").click()
    for boxes in ("#search", "#reviews", "#filter", "#conversations .current"):
        assert edges(page.locator(boxes)) == whole, boxes
    page.locator("[data-tab=efforts]").click()
    assert edges(page.locator("#efforts .effort > summary")) == whole
    for address, boxes in (("/", ".welcome .composer"), ("/settings/", ".card"), ("/search/?q=migration", ".results")):
        page.goto(address)
        assert edges(page.locator(boxes)) == whole, address
    # What waits may have been decided by whoever was here before; something is always in use.
    page.goto("/review/?tab=accepted")
    assert edges(page.locator(".row-of-queue")) == whole


def test_long_names_of_efforts_leave_the_buttons_of_a_message_their_room_and_fit_the_list_to_move_it_to(
    visitor: Visitor,
) -> None:
    page = visitor.page(width=PHONE, panel=False)
    begin(page, "/effort Letters to everybody who waits for an answer from the archive of the town, and copies")
    say(page, "The first letter goes to Anna.")
    is_in_state(page, 1, "completed")
    # One row: no gap above the message, whose buttons come with a tap.
    head = turn(page, 1).locator(".msg.user .who")
    assert head.evaluate("node => node.clientHeight < 2 * node.querySelector('.of-turn').offsetHeight")
    turn(page, 1).locator(".of-turn").click()
    choices = page.locator("#dialog .choices")
    expect(choices).to_be_visible()
    assert choices.evaluate("node => node.scrollWidth <= node.clientWidth")


def test_the_list_of_commands_is_as_wide_as_the_composer_and_the_frame_that_a_key_leads_to_is_whole(
    visitor: Visitor, example: str
) -> None:
    for width in (PHONE, DESKTOP):
        page = at(visitor, example, width)
        is_live(page)
        page.locator("#text").fill("/")
        commands_are_in_line(page)
        if width == DESKTOP:
            page.set_viewport_size({"width": 760, "height": 800})
            commands_are_in_line(page)
            page.set_viewport_size({"width": DESKTOP, "height": 800})
        page.locator("#text").fill("")
        page.locator("#scroller").focus()
        for _ in range(4):
            page.keyboard.press("k")
            message = page.locator(".msg:focus")
            style = message.evaluate(OUTLINE)
            assert style == ["solid", "2px"]
        # Offset and width of the frame.
        inner, outer = box(message), box(page.locator("#scroller"))
        assert inner["top"] - 8 >= outer["top"]
        assert inner["left"] - 8 >= outer["left"]
        assert inner["right"] + 8 <= outer["right"]


def commands_are_in_line(page: Page) -> None:
    """No word of the list is cut off."""
    commands = page.locator("#commands")
    assert edges(commands) == edges(page.locator(".composer"))
    assert commands.locator("li > *").evaluate_all(CUT) == []
    assert box(commands)["top"] >= 0


def test_at_a_desk_efforts_figures_and_both_lists_of_the_sidebar_have_their_room(
    visitor: Visitor, example: str
) -> None:
    an_effort_offers_what_its_state_asks_for_first(visitor, example)
    what_is_read_of_one_figure_moves_and_widens_no_other(visitor, example)
    both_lists_of_the_sidebar_have_the_room_that_is_there(visitor.page())


def an_effort_offers_what_its_state_asks_for_first(visitor: Visitor, example: str) -> None:
    """And the rest behind More."""
    page = at(visitor, example, DESKTOP)
    is_live(page)
    for row in page.locator(".effort").all():
        row.locator(":scope > summary").click()
        buttons = row.locator(".of-effort > .row .button")
        assert 2 <= buttons.locator("visible=true").count() <= 4
        row.locator(".rest > summary").press("Enter")
        expect(row.get_by_text("Hand over")).to_be_visible()
        within = box(row)
        for sides in map(box, buttons.locator("visible=true").all()):
            assert within["left"] + 4 <= sides["left"] < sides["right"] <= within["right"] - 4
        assert buttons.evaluate_all(CUT) == []
    # Read again, the panel keeps what is open and what has the focus.
    last = page.locator(".effort[open] .rest > summary")
    expect(last).to_be_focused()
    with page.expect_response(lambda answer: "/efforts/" in answer.url):
        page.evaluate("document.body.dispatchEvent(new Event('efforts'))")
    expect(page.locator(".effort[open] .rest[open] > summary")).to_be_focused()


def what_is_read_of_one_figure_moves_and_widens_no_other(visitor: Visitor, example: str) -> None:
    page = at(visitor, f"{example.split('#')[0]}metrics/", DESKTOP)
    cards = page.locator(".measure")
    before = cards.evaluate_all(PLACES)
    for why in page.locator(".measure summary").all():
        why.click()
        assert cards.evaluate_all(PLACES) == before
        expect(page.locator(".measure .why").locator("visible=true")).to_have_count(1)
        why.click()


def both_lists_of_the_sidebar_have_the_room_that_is_there(page: Page) -> None:
    page.set_viewport_size({"width": 1280, "height": 700})
    for number in range(6):
        begin(page, f"What is the weather like in town {number}?")
    page.locator("#filter").press_sequentially("town")
    expect(page.locator("#conversations li")).to_have_count(6)
    lists = page.locator(".side .mid, .side .efforts")
    cut_off = lists.evaluate_all("lists => lists.map((one) => one.scrollHeight - one.clientHeight)")
    assert cut_off == [0, 0]
