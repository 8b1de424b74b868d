"""The queue of reviews by keyboard."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import PHONE, Visitor, looks
from tests.browser.drafts import drafted
from tests.browser.test_access import assert_accessible
from tests.browser.test_conversation import Album
from tests.browser.test_efforts import folder
from tests.fakes.provider import FakeProvider

__all__ = ["folder"]

pytestmark = pytest.mark.browser


@looks(PHONE, "dark")
def test_a_summary_is_found_by_keyboard_and_listed_elsewhere_once_it_is_rolled_back(
    guest: Visitor, provider: FakeProvider, folder: Path, width: int, theme: str
) -> None:
    page, album = guest.page(width=width, theme=theme), Album(folder, f"queue-{width}-{theme}")
    page.goto("/review/?tab=not-checked")
    expect(page.get_by_text("A summary that nobody could check against its log comes here")).to_be_visible()
    assert_accessible(page)
    album.take(page, "empty")
    drafted(page, provider)
    review = page.url
    page.goto("/review/?tab=accepted")
    assert_accessible(page)
    album.take(page, "accepted")
    links = page.locator("#queue .what a")
    page.keyboard.press("j")
    expect(links.first).to_be_focused()
    for _ in range(links.count()):
        page.keyboard.press("j")
    expect(page.locator("#says")).to_have_text("That was the last one.")
    expect(links.last).to_be_focused()
    for _ in range(links.count()):
        page.keyboard.press("k")
    expect(page.locator("#says")).to_have_text("That was the first one.")
    page.keyboard.press("Enter")
    expect(page).to_have_url(review)

    # Whoever comes back to the list finds it as it is now, and the focus where it was.
    page.goto("/review/?tab=accepted")
    row = page.locator(f"#queue .what a[href$='{urlsplit(review).path}']")
    expect(row).to_be_visible()
    page.locator("#tab-accepted").focus()
    other = page.context.new_page()
    other.goto(review)
    other.locator("#rollback").click()
    other.locator("#dialog button.primary").click()
    expect(other.locator("#standing")).to_contain_text("Rolled back.")
    other.close()
    page.evaluate("window.dispatchEvent(new Event('focus'))")
    expect(row).to_have_count(0)
    expect(page.locator("#tab-accepted")).to_be_focused()
