"""What is a person's own: saved prompts, instructions, rules, what is left out of prompts, and files of it all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import PHONE, WIDE, Visitor, begin, is_in_state, looks, say
from tests.browser.test_access import assert_accessible
from tests.browser.test_conversation import Album

pytestmark = [pytest.mark.browser, pytest.mark.slow]

RULE = "Never touch the production database."


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = Path(os.environ.get("CCM_SHOTS", tmp_path))
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@looks(WIDE, "light")
def test_a_prompt_is_saved_and_typed_by_its_name_and_a_rule_set_for_every_conversation(
    guest: Visitor, folder: Path, width: int, theme: str
) -> None:
    page = guest.page(width=width, theme=theme)
    album = Album(folder, f"own-{width}-{theme}")
    name = f"standup-{width}-{theme}"
    page.goto("/settings/")
    page.get_by_role("link", name="Save a prompt").click()
    page.get_by_label("Name").fill(name)
    page.get_by_label("Text").fill("What did we decide yesterday, and what is still open?")
    album.take(page, "prompt")
    page.locator("#dialog").get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text(f"/{name}", exact=True)).to_be_visible()
    page.locator("a[href='/settings/instructions/']").click()
    field = page.get_by_label("What should every reply follow?")
    field.fill("")
    field.press_sequentially("Be brief.")
    expect(page.locator("#instructions-price")).to_contain_text("tokens to every request")
    album.take(page, "instructions")
    assert_accessible(page)
    with page.expect_navigation():
        page.locator("#dialog").get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("They add 11 tokens to every request.")).to_be_visible()
    album.take(page, "settings")
    begin(page, "Hello.")
    is_in_state(page, 1, "completed")
    page.locator("#text").press_sequentially(f"/{name[:-1]}")
    expect(page.locator("#commands [role=option]")).to_have_count(1)
    album.take(page, "typed")
    page.keyboard.press("Enter")
    expect(page.locator("#text")).to_have_value("What did we decide yesterday, and what is still open?")
    expect(page.locator("#commands")).to_be_hidden()
    takes_it_back(page, name)
    a_rule_is_set_in_the_settings(guest, folder)


def takes_it_back(page: Page, name: str) -> None:
    """Both are the person's, who has other conversations on this server."""
    page.goto("/settings/")
    page.get_by_role("button", name=f"Delete /{name}").click()
    expect(page.get_by_text(f"/{name}", exact=True)).to_have_count(0)
    page.locator("a[href='/settings/instructions/']").click()
    page.get_by_label("What should every reply follow?").fill("")
    with page.expect_navigation():
        page.locator("#dialog").get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("What you write here is sent with every request")).to_be_visible()


def a_rule_is_set_in_the_settings(guest: Visitor, folder: Path) -> None:
    for width, theme in ((WIDE, "dark"), (PHONE, "light")):
        page, album = guest.page(width=width, theme=theme), Album(folder, f"settings-{width}-{theme}")
        page.goto("/settings/")
        page.get_by_role("link", name="Add a rule").click()
        page.locator("#dialog textarea").fill(RULE)
        page.locator("#dialog").get_by_role("button", name="Set").click()
        rule = page.locator(".rules li")
        expect(rule).to_contain_text(RULE)
        assert_accessible(page)
        album.take(page, "rule")
        rule.get_by_role("button", name="Take back").click()
        expect(rule).to_have_count(0)


@looks(PHONE, "dark")
def test_a_message_is_left_out_and_the_conversation_exported(
    guest: Visitor, folder: Path, width: int, theme: str
) -> None:
    page = guest.page(width=width, theme=theme)
    album = Album(folder, f"left-out-{width}-{theme}")
    begin(page, "The staging server listens on port 7443.")
    is_in_state(page, 1, "completed")
    say(page, "Something else.")
    is_in_state(page, 2, "completed")
    page.locator("#turn-1 .msg.user").click()
    page.locator("#more-of-1").click()
    album.take(page, "menu")
    page.locator("#leave-out-1").click()
    expect(page.locator("#turn-1").get_by_text("Left out of prompts")).to_be_visible()
    album.take(page, "left-out")
    assert_accessible(page)
    page.locator("#turn-1 .msg.user").click()
    page.locator("#more-of-1").click()
    page.get_by_role("button", name="Put back into prompts").click()
    expect(page.locator("#turn-1").get_by_text("Left out of prompts")).to_have_count(0)
    page.goto(page.url.partition("#")[0] + "export/")
    album.take(page, "export")
    with page.expect_download() as download:
        page.get_by_role("button", name="Markdown").click()
    text = Path(download.value.path()).read_text()
    assert "> The staging server listens on port 7443." in text
