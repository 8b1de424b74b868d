"""Commands, typed where messages are written."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import PHONE, WIDE, Visitor, begin, is_in_state, looks, say, session_of, turn
from tests.browser.test_access import assert_accessible
from tests.browser.test_conversation import Album
from tests.fakes.provider import FakeProvider

pytestmark = [pytest.mark.browser, pytest.mark.slow]

RULE = "Never touch the production database."


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = Path(os.environ.get("CCM_SHOTS", tmp_path))
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def said(visitor: Visitor, page: Page) -> list[str]:
    query = "SELECT text FROM efforts_message WHERE role = 'user' AND session_id = ? ORDER BY id"
    return [text for (text,) in visitor.app.rows(query, session_of(page))]


def goes_to(page: Page, slug: str) -> None:
    expect(page.locator("#destinations-row")).to_have_attribute("data-active", slug)


@looks(PHONE, "dark")
def test_commands_are_completed_by_keyboard(guest: Visitor, folder: Path, width: int, theme: str) -> None:
    page = guest.page(width=width, theme=theme)
    album = Album(folder, f"commands-{width}-{theme}")
    begin(page, "Hello.")
    is_in_state(page, 1, "completed")
    field, options = page.locator("#text"), page.locator("#commands [role=option]")
    field.press_sequentially("/")
    expect(options).to_have_count(13)
    expect(field).to_have_role("combobox")
    expect(field).to_have_attribute("aria-activedescendant", "command-effort")
    album.take(page, "listed")
    # HTML knows no combobox of several lines; while the list is open screen readers need to hear of one all the same.
    assert_accessible(page, {"rules": {"aria-allowed-role": {"enabled": False}}})
    page.keyboard.press("ArrowDown")
    expect(field).to_have_attribute("aria-activedescendant", "command-done")
    expect(page.locator("#command-done")).to_have_attribute("aria-selected", "true")
    page.keyboard.press("Escape")
    expect(page.locator("#commands")).to_be_hidden()
    expect(field).to_have_role("textbox")
    expect(field).to_be_focused()
    page.keyboard.type("ef")
    expect(options).to_have_count(1)
    page.keyboard.press("Enter")
    expect(field).to_have_value("/effort ")
    expect(page.locator("#commands")).to_be_hidden()
    page.keyboard.type("Payment webhook")
    page.keyboard.press("Control+Enter")
    goes_to(page, "payment-webhook")
    expect(field).to_have_value("")
    say(page, "/effort Vacation")
    goes_to(page, "vacation")
    field.press_sequentially("/sw")
    page.keyboard.press("Tab")
    expect(options).to_have_count(1)
    expect(options).to_contain_text("payment-webhook")
    album.take(page, "ids")
    page.keyboard.press("Tab")
    expect(field).to_have_value("/switch payment-webhook")
    expect(page.locator("#commands")).to_be_hidden()
    expect(page.locator("#price")).to_be_empty()
    page.keyboard.press("Control+Enter")
    goes_to(page, "payment-webhook")
    field.press_sequentially("/done")
    page.keyboard.press("Control+Enter")
    goes_to(page, "vacation")
    assert said(guest, page) == ["Hello."]


@looks(WIDE, "dark")
def test_an_aside_and_notes(guest: Visitor, provider: FakeProvider, folder: Path, width: int, theme: str) -> None:
    page = guest.page(width=width, theme=theme)
    album = Album(folder, f"aside-{width}-{theme}")
    begin(page, "/effort Bug")
    goes_to(page, "bug")
    say(page, "/aside What time is it?")
    is_in_state(page, 1, "completed")
    alone = page.get_by_label("Just this message: no effort")
    alone.check()
    page.locator("#text").fill("And in Lisbon?")
    album.take(page, "chip")
    page.locator("#send").click()
    is_in_state(page, 2, "completed")
    expect(alone).not_to_be_checked()
    goes_to(page, "bug")
    for number in (1, 2):
        expect(turn(page, number).locator(".of-turn")).to_contain_text("no effort")
    asked = len(provider.bodies)
    say(page, f"/rule {RULE}")
    is_in_state(page, 3, "noted")
    expect(turn(page, 3).locator(".said")).to_have_text(f"/rule {RULE}")
    expect(turn(page, 3).locator(".of-turn")).to_contain_text("Bug")
    expect(turn(page, 3).locator(".reply")).to_have_count(0)
    say(page, "/todo Ask Dana for the key.")
    is_in_state(page, 4, "noted")
    assert len(provider.bodies) == asked
    album.take(page, "notes")
    assert_accessible(page)
    say(page, "/done")
    goes_to(page, "")
    expect(alone).to_be_hidden()


@looks(WIDE, "light")
def test_a_near_miss_keeps_the_text_and_asks_and_what_is_complete_is_sent(
    guest: Visitor, folder: Path, width: int, theme: str
) -> None:
    page = guest.page(width=width, theme=theme)
    album = Album(folder, f"near-miss-{width}-{theme}")
    begin(page, "The signing key is in the vault.")
    is_in_state(page, 1, "completed")
    asked = page.locator("#asked")
    say(page, "/efort Bug")
    expect(asked).to_contain_text("There is no /efort. Did you mean /effort? Send it as a message?")
    expect(page.locator("#text")).to_have_value("/efort Bug")
    album.take(page, "asked")
    assert_accessible(page)
    say(page, "/switch nothing")
    expect(asked).to_contain_text("There is no effort 'nothing' here.")
    expect(page.locator("#text")).to_have_value("/switch nothing")
    page.locator("#text").fill("/efort Bug, what is that?")
    expect(asked).to_be_empty()
    page.locator("#send").click()
    asked.get_by_role("button", name="Send as a message").click()
    is_in_state(page, 2, "completed")
    expect(asked).to_be_empty()
    say(page, "//done is a command.")
    is_in_state(page, 3, "completed")
    assert said(guest, page) == ["The signing key is in the vault.", "/efort Bug, what is that?", "/done is a command."]
    an_option_is_pressed_the_sheet_lists_all_and_search_opens(page)


def an_option_is_pressed_the_sheet_lists_all_and_search_opens(page: Page) -> None:
    say(page, "/effort Bug")
    goes_to(page, "bug")
    page.locator("#text").press_sequentially("/")
    page.locator("#command-done").click()
    expect(page.locator("#text")).to_have_value("/done ")
    expect(page.locator("#text")).to_be_focused()
    expect(page.locator("#commands [role=option]")).to_have_count(1)
    page.keyboard.press("Enter")
    goes_to(page, "")
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    expect(page.locator("#dialog")).to_contain_text("/rule TEXT")
    expect(page.locator("#dialog")).to_contain_text("Sets a rule that stands in every prompt.")
    page.keyboard.press("Escape")
    say(page, "/search signing key")
    page.wait_for_url("**/search/?q=signing+key")
    expect(page.locator("main")).to_contain_text("vault")
