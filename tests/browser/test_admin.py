"""The admin as the local owner sees it, in both themes; what its lists and rows say is asked in `tests/pages`."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Visitor
from tests.browser.drafts import drafted
from tests.browser.test_access import assert_clean
from tests.fakes.provider import FakeProvider

# What axe would load again to look for turned screens, the policy of contents forbids it.
AS_LOADED = {"preload": False}
OF_SUMMARIES = ("contextpointer", "pointermove", "scopedraft")

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def addresses(page: Page, selector: str) -> list[str]:
    found: list[str] = page.locator(selector).evaluate_all("links => links.map((link) => link.href)")
    return found


def opens(page: Page, address: str) -> None:
    answer = page.goto(address)
    assert answer is not None
    assert answer.status == 200, address


def test_the_menu_leads_there_and_lists_and_rows_are_accessible_in_both_themes(
    guest: Visitor, provider: FakeProvider
) -> None:
    page = guest.page()
    drafted(page, provider)
    page.locator(".side .foot summary").click()
    page.get_by_role("link", name="Admin").click()
    expect(page).to_have_url(f"{guest.app.url}/admin/")
    expect(page.locator("#content-main")).to_be_visible()
    for address in addresses(page, "#content-main tr[class*=model-] th a"):
        opens(page, address)
    opens(page, "/admin/compaction/")
    assert_clean(page, **AS_LOADED)
    lists = addresses(page, "#content-main tr[class*=model-] th a")
    assert len(lists) >= 18
    for address in (*lists, *(f"{guest.app.url}/admin/efforts/{name}/" for name in OF_SUMMARIES)):
        opens(page, address)
        assert_clean(page, **AS_LOADED)
        for row in addresses(page, "#result_list tbody tr:first-child th a")[:1]:
            opens(page, row)
            assert_clean(page, **AS_LOADED)
    opens(page, "/admin/compaction/artifact/")
    page.locator("#result_list tbody tr:first-child input").check()
    page.get_by_label("Action:").select_option("roll_back")
    page.get_by_role("button", name="Go", exact=True).click()
    expect(page.get_by_label("Reason (optional):")).to_be_visible()
    assert_clean(page, **AS_LOADED)
