"""An expansion fades before the eyes of its reader, and comes back with a click; why, and where everything is."""

from __future__ import annotations

import json
import os

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import PHONE, WIDE, Visitor, begin, is_in_state, looks, say, turn
from tests.browser.test_access import assert_accessible
from tests.compaction.review import aside
from tests.fakes.provider import Call, FakeProvider, Reply

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def worked(page: Page, provider: FakeProvider) -> None:
    """An effort opened by the model in turn 1, concluded by the person and expanded; its row is open in the panel."""
    provider.script = [Reply(calls=(Call("open_effort", json.dumps({"name": "Auth bug"})),)), Reply("Which users?")]
    begin(page, "Users see 401 errors since the last release.")
    is_in_state(page, 1, "completed")
    # So much talk that its excerpts are shorter than its log.
    say(page, f"All whose refresh token was never requested. {aside(1)} {aside(2)}")
    is_in_state(page, 2, "completed")
    tab(page, "efforts")
    page.locator("#effort-auth-bug-row").click()
    page.locator("#effort-auth-bug").get_by_role("button", name="Conclude").click()
    expect(page.locator("li[data-standing=concluded] > #effort-auth-bug")).to_have_count(1)
    page.locator("#effort-auth-bug").get_by_role("button", name="Expand").click()
    expect(page.locator("li[data-standing=expanded] > #effort-auth-bug")).to_have_count(1)
    tab(page, "main")


def tab(page: Page, name: str) -> None:
    if page.viewport_size and page.viewport_size["width"] == PHONE:
        page.locator(f".tabs [data-tab={name}]").click()


@looks(WIDE, "dark")
def test_it_stands_on_the_page_of_memory_fades_is_noted_and_comes_back_with_one_click(
    guest: Visitor, provider: FakeProvider, width: int, theme: str
) -> None:
    page = guest.page(width=width, theme=theme)
    worked(page, provider)
    the_page_of_memory_is_legible_on_a_phone(guest.page(width=PHONE, theme=theme), page.url)
    row = page.locator("#effort-auth-bug-row")
    for number, text in ((3, "collapses in 2 turns"), (4, "collapses in 1 turn")):
        say(page, "Will it rain on Sunday?")
        is_in_state(page, number, "completed")
        expect(row).to_contain_text(text)
    say(page, "And on Monday?")
    note = turn(page, 5).locator(".note", has_text="Auto-collapsed effort: auth bug (inactive for 3 turns)")
    expect(note).to_be_visible()
    shot(page, f"faded-{width}-{theme}")
    note.get_by_role("link", name="Why?").click()
    why = page.locator("#dialog")
    expect(why).to_contain_text("Excerpts of it are in the prompt.")
    expect(why).to_contain_text("the name Auth bug or the ID auth-bug")
    assert_accessible(page)
    shot(page, f"why-{width}-{theme}")
    page.keyboard.press("Escape")
    note.get_by_role("button", name="Expand Auth bug again").click()
    expect(page.locator("li[data-standing=expanded] > #effort-auth-bug")).to_have_count(1)
    expect(note).to_contain_text("taken back")


def the_page_of_memory_is_legible_on_a_phone(page: Page, chat: str) -> None:
    page.goto(f"{chat.rstrip('/')}/memory/")
    expect(page.locator("#manifest")).to_contain_text("1 expanded there")
    assert_accessible(page)
    shot(page, "memory")
    page.locator("#working").get_by_role("link", name="Why? Auth bug").click()
    expect(page.locator("#dialog")).to_contain_text("Its log is expanded. It collapses in 3 turns")


def shot(page: Page, name: str) -> None:
    wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert wide <= 0, f"{name} is {wide} pixels too wide"
    if folder := os.environ.get("CCM_SHOTS"):
        page.screenshot(path=f"{folder}/fading-{name}.png")
