"""Branches by keyboard alone: edit a message, switch to its sibling, fork, compare; and two tabs on two of them."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from tests.fakes.provider import FakeProvider, Reply

from .conftest import WIDE, Visitor, begin, choose, interceptable, is_in_state, is_live, looks, say, turn

pytestmark = pytest.mark.browser

WRAPS = "Say it in a long sentence that wraps. "


def focus(page: Page, number: int, which: str = "user") -> None:
    """With the keys that lead from message to message."""
    page.locator("#scroller").focus()
    wanted = turn(page, number).locator(f".msg.{which}")
    page.keyboard.press("g")
    page.keyboard.press("g")
    for _ in range(10):
        if wanted.evaluate("node => node === document.activeElement"):
            return
        page.keyboard.press("j")
    raise AssertionError(f"The {which} message of turn {number} is not reached by keys.")


def goes(page: Page, act: Callable[[], Any]) -> None:
    with page.expect_navigation():
        act()
    is_live(page)


def talk(page: Page, first: str = "What is a queue?") -> None:
    begin(page, first)
    is_in_state(page, 1, "completed")
    say(page, "And a stack?")
    is_in_state(page, 2, "completed")


@looks(WIDE, "dark")
def test_by_keyboard_a_message_is_edited_its_versions_switched_forked_and_compared(
    guest: Visitor, provider: FakeProvider, width: int, theme: str
) -> None:
    """And nothing is cut off or spills over."""
    page = guest.page(width=width, theme=theme)
    talk(page, f"What is a queue? {WRAPS * 6}")
    main = page.url
    focus(page, 2)
    page.keyboard.press("E")
    editor = page.get_by_label("New text for the message of turn 2")
    expect(editor).to_be_focused()
    expect(editor).to_have_value("And a stack?")
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("And a tree?")
    shot(page, f"editor-{width}-{theme}")
    provider.script = [Reply("A tree has branches.")]
    goes(page, lambda: page.keyboard.press("Enter"))
    is_in_state(page, 2, "completed")
    expect(turn(page, 2)).to_contain_text("A tree has branches.")
    expect(turn(page, 2).locator(".siblings")).to_contain_text("2/2")
    expect(page.locator("#branch-chip")).to_contain_text("Edited turn 2")
    shot(page, f"sibling-{width}-{theme}")

    # One writes on; out of the field the keys of its versions work at once.
    expect(page.locator("#text")).to_be_focused()
    page.keyboard.press("Escape")
    goes(page, lambda: page.keyboard.press(","))
    assert page.url == f"{main}#turn-2"
    expect(turn(page, 2)).to_contain_text("And a stack?")
    goes(page, lambda: page.keyboard.press("."))
    expect(turn(page, 2)).to_contain_text("And a tree?")

    focus(page, 1, "reply")
    goes(page, lambda: page.keyboard.press("F"))
    expect(page.locator("#branch-chip")).to_contain_text("From turn 1")
    expect(turn(page, 2)).to_have_count(0)
    expect(page.locator("#text")).to_be_focused()

    page.keyboard.press("Escape")
    page.keyboard.press("B")
    dialog = page.locator("#dialog")
    expect(dialog.get_by_role("listitem")).to_have_count(3)
    shot(page, f"tree-{width}-{theme}")
    dialog.get_by_role("link", name="Compare with Edited turn 2").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Compare branches")).to_be_visible()
    expect(page.locator(".compare")).to_contain_text("Turn 1 is the same in both.")
    expect(page.get_by_label("Turn 2 of Edited turn 2")).to_contain_text("A tree has branches.")
    expect(page.locator(".side-turn")).to_have_count(2)
    shot(page, f"compare-{width}-{theme}")


def test_an_edit_survives_what_happens_meanwhile_and_a_turn_is_asked_again_or_forked_before(page: Page) -> None:
    interceptable(page)
    talk(page)
    focus(page, 1)
    page.keyboard.press("E")
    editor = page.get_by_label("New text for the message of turn 1")
    expect(editor).to_be_focused()
    page.keyboard.type(" Really?")
    page.evaluate("document.querySelector('#turn-1').dataset.state = 'running'")
    page.evaluate("window.dispatchEvent(new PageTransitionEvent('pageshow', {persisted: true}))")
    expect(turn(page, 1)).to_have_attribute("data-state", "completed")
    expect(editor).to_have_value("What is a queue? Really?")
    expect(editor).to_be_focused()
    page.keyboard.press("Escape")
    expect(editor).to_have_count(0)
    expect(turn(page, 1).locator(".said")).to_be_visible()
    expect(turn(page, 1).locator(".msg.user")).to_be_focused()

    # An editor that was asked for comes although its turn is read again meanwhile.
    held: list[Route] = []
    page.route("**/turns/1/edit/", lambda route: held.append(route))
    with page.expect_request("**/turns/1/edit/"):
        turn(page, 1).locator("[data-edit]").press("Enter")
    with page.expect_response("**/turns/1/") as read:
        choose(page, 1, "A good answer", "reply")
    read.value.finished()
    # Until what was read is on the page.
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    held[0].continue_()
    expect(page.get_by_label("New text for the message of turn 1")).to_be_focused()
    expect(turn(page, 1).locator(".verdict")).to_contain_text("Good")
    page.keyboard.press("Escape")

    focus(page, 2, "reply")
    goes(page, lambda: page.keyboard.press("R"))
    is_in_state(page, 2, "completed")
    expect(turn(page, 2).locator(".siblings")).to_contain_text("2/2")
    focus(page, 2)
    goes(page, lambda: page.keyboard.press("F"))
    expect(page.locator("#text")).to_have_value("And a stack?")
    assert "?" not in page.url


def test_two_tabs_on_two_branches_get_only_their_own_and_each_says_that_the_other_runs(
    guest: Visitor, provider: FakeProvider
) -> None:
    context = guest.context()
    here = context.new_page()
    talk(here)
    focus(here, 1, "reply")
    main = here.url
    goes(here, lambda: here.keyboard.press("F"))
    there = context.new_page()
    there.goto(main)
    is_live(there)
    here.locator("#text").fill("a draft of this branch")
    here.reload()
    expect(here.locator("#text")).to_have_value("a draft of this branch")
    is_live(here)
    there.reload()
    expect(there.locator("#text")).to_have_value("")
    provider.script = [Reply("one two three")]
    say(here, "Only here.")
    is_in_state(here, 2, "completed")
    expect(turn(here, 2)).to_contain_text("one two three")
    expect(turn(there, 2)).to_contain_text("And a stack?")
    expect(turn(there, 2).locator(".siblings")).to_contain_text("1/2")
    expect(there.locator("#log")).not_to_contain_text("Only here.")


def shot(page: Page, name: str) -> None:
    wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert wide <= 0, f"{name} is {wide} pixels too wide"
    if folder := os.environ.get("CCM_SHOTS"):
        page.screenshot(path=f"{folder}/branches-{name}.png")
