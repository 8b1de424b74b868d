"""What was said early comes back by itself, on the built-in engine, which can only quote its prompt."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import PHONE, Visitor, begin, is_in_state, looks, reply_of, say, turn
from tests.browser.test_access import assert_accessible
from tests.browser.test_conversation import Album
from tests.browser.test_efforts import folder

__all__ = ["folder"]

pytestmark = [pytest.mark.browser, pytest.mark.slow]

EARLY = "The harbour master of Kiel is called Jensen, and his gate opens at six."
SINCE = ("The weather is fine this week.", "Let us buy bread and cheese.", "The sails were mended in spring.")
ASKED = "Who is the harbour master of Kiel?"


def has_talked(page: Page) -> int:
    """An early fact, turns since, and a window that shows the last of them; the number of the next turn."""
    begin(page, EARLY)
    is_in_state(page, 1, "completed")
    page.locator("#meter a.chip").last.click()
    page.get_by_label("Window").fill("1")
    page.get_by_label("Context mode").select_option("light")
    page.locator("#dialog").get_by_role("button", name="Save").click()
    expect(page.locator("#dialog")).not_to_be_visible()
    expect(page.locator("#context-mode")).to_contain_text("Context mode: Light")
    for number, text in enumerate(SINCE, 2):
        say(page, text)
        is_in_state(page, number, "completed")
    return len(SINCE) + 2


@looks(1280, "light")
def test_an_early_fact_comes_back_by_itself_and_says_why_and_not_with_the_mode_off(
    visitor: Visitor, folder: Path, width: int, theme: str
) -> None:
    page = visitor.page(width=width, theme=theme)
    album = Album(folder, f"recall-{width}-{theme}")
    number = has_talked(page)
    say(page, ASKED)
    is_in_state(page, number, "completed")
    line = turn(page, number).locator(".recall")
    expect(line).to_contain_text(re.compile(r"Recall \(Light\): \d passages?, \d+ tokens"))
    assert "Jensen" in reply_of(page, number)
    expect(turn(page, number).locator(".tool")).to_have_count(0)
    expect(turn(page, 2).locator(".recall")).to_have_count(0)
    line.scroll_into_view_if_needed()
    album.take(page, "line")
    assert_accessible(page)
    if width == PHONE:
        line.get_by_role("link").click()
    else:
        page.keyboard.press("Alt+i")
    expect(page.locator("#drawer-title")).to_contain_text(f"Plan of turn {number}")
    expect(page.locator("#drawer #looked-for h3").first).to_be_in_viewport()
    expect(page.locator("#looked-for")).to_be_focused()
    item = page.locator('#drawer .item[data-section="recall"]').first
    expect(item).to_contain_text("Recalled for this message, quoted.")
    expect(item).to_contain_text("Turn 1")
    item.scroll_into_view_if_needed()
    album.take(page, "why")
    page.locator("#outcome-title").scroll_into_view_if_needed()
    album.take(page, "what-was-found")

    # With the mode off nothing comes back. The engine finds it all the same: it searches, as any model may.
    page.keyboard.press("Escape")
    a_key_changes_the_mode(page)
    # So that the window shows no answer to it.
    for further, text in ((number + 1, SINCE[0]), (number + 2, ASKED)):
        say(page, text)
        is_in_state(page, further, "completed")
    expect(turn(page, further).locator(".recall")).to_have_count(0)
    expect(turn(page, further).locator(".tool")).not_to_have_count(0)
    album.take(page, "off")
    # Of the last turn it is said, and not of one for which something was recalled.
    page.keyboard.press("Alt+i")
    expect(page.locator("#drawer-title")).to_contain_text(f"Plan of turn {further}")
    expect(page.locator("#outcome")).to_contain_text("The context mode was Off for this message")
    page.keyboard.press("Escape")
    the_mode_is_chosen_for_this_conversation_alone(page)


def a_key_changes_the_mode(page: Page) -> None:
    page.locator("#text").focus()
    told_of = {"Heavy": "adds whole", "Off": "adds nothing", "Light": "adds the best"}
    for mode in ("Heavy", "Off", "Light", "Heavy", "Off"):
        told = told_of[mode]
        page.keyboard.press("Alt+m")
        expect(page.locator("#context-mode")).to_contain_text(f"Context mode: {mode}")
        expect(page.locator("#says")).to_contain_text(f"Context mode {mode}: {told}")
        expect(page.locator("#text")).to_be_focused()
        expect(page.locator("#shortly")).to_contain_text(f"Context mode {mode}: {told}")


def the_mode_is_chosen_for_this_conversation_alone(page: Page) -> None:
    """In its menu, which says what each adds. The keys are named in their sheet."""
    chip = page.locator("#context-mode")
    chip.click()
    expect(chip).to_contain_text("Context mode: Off")
    modes = page.locator("#modes button")
    expect(modes).to_have_count(3)
    expect(modes.nth(0)).to_contain_text("Adds nothing from earlier")
    expect(page.locator("#modes button[aria-pressed=true]")).to_contain_text("Off")
    modes.nth(2).click()
    expect(chip).to_contain_text("Context mode: Heavy")
    expect(modes.nth(2)).to_be_hidden()
    expect(chip).to_be_focused()
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    expect(page.locator("#dialog")).to_contain_text("Context mode: off, light, heavy")
    expect(page.locator("#dialog")).to_contain_text("What was recalled for the turn, and why")
    begin(page, "Another conversation")
    expect(chip).to_contain_text("Context mode: Light")
