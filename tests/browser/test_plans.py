"""From a message to its calls, and from call to call by key."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import PHONE, Visitor, begin, is_in_state, say, turn

pytestmark = pytest.mark.browser


def talked(page: Page) -> None:
    begin(page, "The key is password=hunter22.")
    is_in_state(page, 1, "completed")
    say(page, "And now?")
    is_in_state(page, 2, "completed")


def test_from_a_message_to_its_calls_and_on_by_key(page: Page) -> None:
    talked(page)
    page.get_by_label("Turn 1", exact=True).get_by_role("link", name="Where was this sent?").click()
    dialog = page.locator("#dialog")
    expect(dialog.locator(".stretch")).to_have_count(2)
    dialog.get_by_role("link", name="turn 1, call 1").click()
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


def test_the_request_unfolds_with_its_secrets_masked(page: Page) -> None:
    talked(page)
    turn(page, 1).locator(".facts > summary").click()
    turn(page, 1).get_by_role("link", name="What was sent, and what was left out").click()
    page.get_by_text("2, user").click()
    expect(page.locator(".pieces details[open] pre")).to_contain_text("password=[masked]")
    with page.expect_download() as download:
        page.get_by_role("link", name="Download JSON").click()
    assert "hunter22" in download.value.path().read_text()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_plan_fits_a_phone(guest: Visitor, theme: str) -> None:
    page = guest.page(width=PHONE, theme=theme)
    talked(page)
    page.goto(page.url + "turns/2/plans/")
    page.get_by_role("link", name="turn 2, call 1").click()
    expect(page.locator("#difference")).to_contain_text("Came in")
    for summary in page.locator(".pieces summary").all():
        summary.click()
    assert (
        page.evaluate(
            "() => { const page = document.querySelector('.page'); return page.scrollWidth - page.clientWidth }"
        )
        == 0
    )
