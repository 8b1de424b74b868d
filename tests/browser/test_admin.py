"""The admin as the local owner sees it: every list, one row of each, and the way back to the page."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Visitor, begin, is_in_state

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def addresses(page: Page, selector: str) -> list[str]:
    found: list[str] = page.locator(selector).evaluate_all("links => links.map((link) => link.href)")
    return found


def opens(page: Page, address: str) -> None:
    answer = page.goto(address)
    assert answer is not None
    assert answer.status == 200, address


def test_every_list_and_a_row_of_each_can_be_opened(guest: Visitor) -> None:
    page = guest.page()
    begin(page, "Something to look at.")
    is_in_state(page, 1, "completed")
    opens(page, "/admin/")
    lists = addresses(page, "#content-main .model-efforts th a, #content-main tr[class*=model-] th a")
    assert len(lists) >= 12
    for address in lists:
        opens(page, address)
        for row in addresses(page, "#result_list tbody tr:first-child th a")[:1]:
            opens(page, row)


def test_open_leads_to_the_page_and_a_list_can_be_searched(guest: Visitor) -> None:
    page = guest.page()
    begin(page, "A needle in the hay.")
    is_in_state(page, 1, "completed")
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


def test_the_menu_leads_to_the_admin(guest: Visitor) -> None:
    page = guest.page()
    page.goto("/")
    page.locator(".side .foot summary").click()
    page.get_by_role("link", name="Admin").click()
    expect(page).to_have_url(f"{guest.app.url}/admin/")
