"""The admin as the local owner sees it: every list, one row of each, and the way back to the page."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Visitor, begin, is_in_state
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


def test_the_menu_leads_to_every_list_a_row_of_each_and_back_to_the_page(guest: Visitor) -> None:
    page = guest.page()
    begin(page, "A needle in the hay.")
    is_in_state(page, 1, "completed")
    begin(page, "Something to look at.")
    is_in_state(page, 1, "completed")
    page.locator(".side .foot summary").click()
    page.get_by_role("link", name="Admin").click()
    expect(page).to_have_url(f"{guest.app.url}/admin/")
    expect(page.locator("#content-main")).to_be_visible()
    lists = addresses(page, "#content-main .model-efforts th a, #content-main tr[class*=model-] th a")
    assert len(lists) >= 12
    for address in lists:
        opens(page, address)
        for row in addresses(page, "#result_list tbody tr:first-child th a")[:1]:
            opens(page, row)
    for model in ("session", "branch", "turn", "run", "message", "event"):
        opens(page, f"/admin/efforts/{model}/")
        page.get_by_role("link", name="Open", exact=True).first.click()
        page.wait_for_url("**/s/*/")
        expect(page.locator("#log")).to_be_visible()
    opens(page, "/admin/efforts/contextplan/")
    page.get_by_role("link", name="Open", exact=True).first.click()
    page.wait_for_url("**/plans/**")
    opens(page, "/admin/efforts/message/?q=needle+in+the+hay")
    expect(page.locator("#result_list")).to_contain_text("A needle in the hay.")
    expect(page.locator("#result_list")).not_to_contain_text("Something")


def test_lists_and_rows_about_summaries_are_accessible_in_both_themes(guest: Visitor, provider: FakeProvider) -> None:
    drafted(guest.page(), provider)
    page = guest.page()
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
