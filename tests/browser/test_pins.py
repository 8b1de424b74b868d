"""Pins, by keyboard alone: from an answer to its plan, to what was left out of it, and into the next plan."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import PHONE, Visitor, begin, choose, is_in_state, looks, say, turn
from tests.browser.test_access import IN_A_TAB, assert_accessible
from tests.browser.test_conversation import Album
from tests.browser.test_efforts import folder
from tests.fakes.provider import Call, FakeProvider, Reply

__all__ = ["folder"]

pytestmark = [pytest.mark.browser, pytest.mark.slow]

MOST_STEPS = 150


def reach(page: Page, selector: str, key: str = "Tab") -> None:
    """Step by step, as who has no mouse."""
    for _ in range(MOST_STEPS):
        page.keyboard.press(key)
        if page.evaluate("selector => Boolean(document.activeElement?.matches(selector))", selector):
            return
    raise AssertionError(f"{selector} is not reached by {key}")


def open_plan(page: Page, number: int) -> None:
    reach(page, f"#facts-{number} > summary", "Shift+Tab")
    page.keyboard.press("Enter")
    reach(page, f"#plan-of-{number}")
    page.keyboard.press("Enter")
    expect(page.locator("#drawer-title")).to_be_focused()


def talked(page: Page) -> None:
    """Three turns of which a prompt shows the last."""
    begin(page, "The port is 8443.")
    is_in_state(page, 1, "completed")
    page.locator("#meter a.chip").last.click()
    page.get_by_label("Window").fill("1")
    page.locator("#dialog").get_by_role("button", name="Save").click()
    expect(page.locator("#dialog")).not_to_be_visible()
    for number, text in ((2, "Thanks."), (3, "And the weather?")):
        say(page, text)
        is_in_state(page, number, "completed")


def test_answer_plan_excluded_item_pin_next_plan_and_a_message_that_is_pinned_for_a_while(
    guest: Visitor, provider: FakeProvider
) -> None:
    page = guest.page()
    talked(page)
    assert "8443" not in json.dumps(provider.requests[-1])
    page.locator("#text").focus()
    open_plan(page, 3)
    reach(page, "#plan-pin-turn-1")
    excluded = page.locator("#drawer .item.out", has_text="Turn 1")
    expect(excluded.get_by_role("button", name="Pin Turn 1")).to_be_focused()
    page.keyboard.press("Enter")
    expect(excluded.get_by_role("button", name="Unpin Turn 1")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator("#plan-of-3")).to_be_focused()
    expect(page.locator("#meter [data-section=pin]")).to_have_count(1)
    reach(page, "#text")
    page.keyboard.type("Which port?")
    page.keyboard.press("Enter")
    is_in_state(page, 4, "completed")
    assert json.dumps(provider.requests[-1]).count("8443") == 1
    open_plan(page, 4)
    pinned = page.locator("#plan-items .item.layer-pin")
    expect(pinned).to_contain_text("Turn 1")
    expect(pinned).to_contain_text("Pinned for good.")
    expect(page.locator("#drawer #difference")).to_contain_text("Pin: Turn 1")
    page.keyboard.press("Escape")
    guest.watch.report()
    guest.watch.expect("422")
    a_message_is_pinned_for_a_while_and_says_so(page)


def a_message_is_pinned_for_a_while_and_says_so(page: Page) -> None:
    turn(page, 2).locator(".msg.user").hover()
    choose(page, 2, "Pin this turn")
    dialog = page.locator("#dialog")
    expect(dialog.get_by_role("button", name="Until I unpin it")).to_be_focused()
    assert_accessible(page)
    dialog.get_by_role("button", name="Next message only").press("Enter")
    expect(turn(page, 2).locator(".who .state", has_text="Pinned")).to_be_visible()
    say(page, "And now?")
    is_in_state(page, 5, "completed")
    expect(turn(page, 2).locator(".who .state", has_text="Pinned")).to_have_count(0)
    page.locator("#context").get_by_role("link", name="Pin one of the turns 1 to 4").press("Enter")
    expect(dialog.get_by_label("Turn, 1 to 4")).to_be_focused()
    # Until then the browser itself would send the form.
    expect(dialog).not_to_have_class(re.compile("htmx-settling"))
    page.keyboard.type("7")
    page.keyboard.press("Enter")
    expect(dialog.get_by_role("alert")).to_have_text("There is no turn 7 here.")
    dialog.get_by_label("Turn, 1 to 4").fill("2")
    page.keyboard.press("Enter")
    expect(turn(page, 2).locator(".who .state", has_text="Pinned")).to_be_visible()


@looks(PHONE, "light")
def test_pins_are_suggested_taken_listed_and_taken_back(
    guest: Visitor, provider: FakeProvider, folder: Path, width: int, theme: str
) -> None:
    page, album = guest.page(width=width, theme=theme), Album(folder, f"pins-{width}-{theme}")
    talked(page)
    provider.script = [
        Reply(calls=(Call("suggest_pin", json.dumps({"ref": "turn 1", "why": "All else needs the port."})),)),
        Reply("I suggested it."),
    ]
    say(page, "Anything to keep?")
    is_in_state(page, 4, "completed")
    page.locator("#meter").get_by_role("link", name="Suggested pins (1)").click()
    suggestion = page.locator("#context .suggested .item")
    expect(suggestion).to_contain_text("All else needs the port.")
    assert_accessible(page, IN_A_TAB if width == PHONE else None)
    album.take(page, "suggested")
    suggestion.get_by_role("button", name="Pin Turn 1, as suggested").click()
    expect(suggestion).to_have_count(0)
    pins = page.locator("#context li[data-section=pin]:not(.item)").filter(has_text="Turn 1")
    expect(pins).to_contain_text("Pinned just now, for good. In the notes at the head of the prompt.")
    album.take(page, "pinned")
    pins.get_by_role("button", name="Unpin").click()
    expect(pins).to_have_count(0)
    expect(page.locator("#meter rect.layer-pin")).to_have_count(0)
