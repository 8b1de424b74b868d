"""From a message to its calls, and from call to call by key."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import PHONE, Visitor, begin, choose, is_in_state, say, turn

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def talked(page: Page) -> None:
    begin(page, "The key is password=hunter22.")
    is_in_state(page, 1, "completed")
    say(page, "And now?")
    is_in_state(page, 2, "completed")


def what_was_sent(page: Page, number: int) -> Locator:
    turn(page, number).locator(".facts > summary").press("Enter")
    opener: Locator = turn(page, number).get_by_role("link", name="What was sent, and what was left out")
    opener.press("Enter")
    return opener


def test_a_plan_opens_over_the_chat_and_on_a_page_of_its_own_whose_keys_lead_from_call_to_call(guest: Visitor) -> None:
    page = guest.page()
    talked(page)
    chat, drawer = page.url, page.locator("#drawer")
    page.locator("#meter").get_by_role("link", name="Other messages").press("Enter")
    item = page.locator("#context .item[data-section=ambient]")
    expect(item.first).to_be_focused()
    expect(item.first).to_have_class(re.compile(r"\blit\b"))
    opener = what_was_sent(page, 2)
    expect(drawer.get_by_role("heading", name="Plan of turn 2, call 1")).to_be_focused()
    for heading in ("Since the previous call", "Included", "Left out, and why", "Result"):
        expect(drawer.get_by_role("heading", name=heading)).to_be_visible()
    drawer.locator(".meter").get_by_role("link", name="This turn").press("Enter")
    sent = drawer.locator(".item[data-section=turn]").first
    expect(sent).to_be_focused()
    expect(sent).to_have_class(re.compile(r"\blit\b"))
    # Of the panel beside it nothing is lit for that.
    expect(page.locator("#context [data-section=turn].lit")).to_have_count(0)
    drawer.get_by_role("link", name="Previous").press("Enter")
    expect(drawer.get_by_role("heading", name="Plan of turn 1, call 1")).to_be_focused()
    # The request unfolds with its secrets masked; who downloads it has them.
    drawer.get_by_text("2, user").click()
    expect(page.locator(".pieces details[open] pre")).to_contain_text("password=[masked]")
    with page.expect_download() as download:
        page.get_by_role("link", name="Download JSON").click()
    assert "hunter22" in download.value.path().read_text()
    page.keyboard.press("Escape")
    expect(drawer).not_to_be_visible()
    expect(opener).to_be_focused()
    assert page.url.partition("#")[0] == chat, "the chat is still there"
    choose(page, 1, "Where was this sent?")
    dialog = page.locator("#dialog")
    expect(dialog.locator(".stretch")).to_have_count(2)
    dialog.get_by_role("link", name="turn 1, call 1").click()
    drawer.get_by_role("link", name="Open as page").click()
    page.wait_for_url("**/plans/*/")
    expect(page.locator("#difference")).to_contain_text("This is the first call of the conversation.")
    first = page.url
    # Keys work once the page's scripts have run.
    page.wait_for_load_state()
    page.keyboard.press(".")
    expect(page.locator("#difference")).to_contain_text("Turn 1")
    page.wait_for_load_state()
    page.keyboard.press(",")
    page.wait_for_url(first)
    it_fits_a_phone(guest.page(width=PHONE), chat)


def it_fits_a_phone(page: Page, chat: str) -> None:
    page.goto(f"{chat}turns/2/plans/")
    page.get_by_role("link", name="turn 2, call 1").click()
    page.locator("#drawer").get_by_role("link", name="Open as page").click()
    page.wait_for_url("**/plans/*-*/")
    expect(page.locator("#difference")).to_contain_text("Added")
    for summary in page.locator(".pieces summary").all():
        summary.click()
    assert page.locator(".page").evaluate("node => node.scrollWidth - node.clientWidth") == 0


def test_an_answer_is_judged_by_key_as_its_plan_says_and_other_settings_are_tried_while_they_are_typed(
    page: Page,
) -> None:
    talked(page)
    turn(page, 2).locator(".reply .tools summary").press("Enter")
    turn(page, 2).get_by_role("button", name="A bad answer").press("Enter")
    turn(page, 2).get_by_role("link", name="Say why").press("Enter")
    page.get_by_label("Why", exact=True).fill("It was Kiel.")
    page.get_by_role("button", name="Save").press("Enter")
    expect(page.locator("#dialog")).to_be_hidden()
    expect(turn(page, 2).locator(".verdict")).to_contain_text("It was Kiel.")
    what_was_sent(page, 2)
    outcome = page.locator("#drawer #outcome")
    expect(outcome).to_contain_text("It was Kiel.")
    outcome.get_by_role("link", name="Change").press("Enter")
    page.get_by_role("button", name="Take back").press("Enter")
    expect(outcome).to_contain_text("none Give a verdict")
    page.keyboard.press("Escape")
    expect(turn(page, 2).locator(".verdict")).to_have_count(0)
    other_settings_are_tried(page)


def other_settings_are_tried(page: Page) -> None:
    page.locator("#context").get_by_role("link", name="What if?").press("Enter")
    page.wait_for_url("**/what-if/")
    page.get_by_label("Window (turns)").fill("1")
    page.get_by_label("Next message").press_sequentially("And tomorrow?")
    result = page.locator("#what-if-result")
    expect(result.locator("#difference")).to_contain_text("Older than the last turn.")
    expect(page.get_by_label("Next message")).to_be_focused()
    page.get_by_label("Prompt budget (tokens)").fill("12")
    page.get_by_label("Prompt budget (tokens)").press("Enter")
    assert page.evaluate("document.querySelector('#id_budget').validity.rangeUnderflow")
    page.get_by_label("Prompt budget (tokens)").fill("5000")
    page.get_by_label("Next message").fill("word " * 6_000)
    expect(result).to_contain_text("Nothing would be sent.")
    expect(result).to_contain_text("System text and tools")
