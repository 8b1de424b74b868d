"""A newcomer's first five minutes, on the example: what is kept, what has left and why, and how all of it is undone."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import PHONE, Visitor, is_live
from tests.browser.test_access import IN_A_TAB, assert_accessible
from tests.browser.test_search import hits, is_in_view, open_search

pytestmark = [pytest.mark.browser, pytest.mark.long]

# So that no key is pressed for ever where its aim is not on the page.
MOST_STEPS = 60
# A week of turns is answered before the page opens.
WEEK_MS = 300_000
RULE = "Never touch the production database by hand."
WHY_IT_LEFT = "Nothing has mentioned them for 12 turns."
TIPS = ("#meter", "#efforts", "#reviews")


def is_open(page: Page) -> str:
    page.wait_for_url("**/s/*/", timeout=WEEK_MS)
    is_live(page)
    return page.url


def row(page: Page, slug: str) -> Locator:
    return page.locator(f"#effort-{slug}-row")


def reach(page: Page, aim: Locator, key: str = "Tab") -> None:
    """With the keyboard alone."""
    expect(aim).to_be_visible()
    for _ in range(MOST_STEPS):
        if aim.evaluate("node => node === document.activeElement"):
            return
        page.keyboard.press(key)
    raise AssertionError(f"No {key} leads there.")


def skip_to_content(page: Page) -> None:
    """Past the list of conversations, which may be long."""
    reach(page, page.get_by_role("link", name="Skip to content"))
    page.keyboard.press("Enter")


def test_by_pointer(visitor: Visitor) -> None:
    page = visitor.page(panel=False)
    page.goto("/")
    assert_accessible(page)
    page.get_by_role("button", name="Open the example").click()
    example = is_open(page)
    assert_accessible(page)

    tips = page.locator("#tips")
    for place, pointed in enumerate(TIPS, start=1):
        expect(tips).to_contain_text(f"{place} of 3")
        expect(page.locator(f"{pointed}.pointed")).to_be_visible()
        # Another visit goes on with the tip that was shown last.
        page.reload()
        expect(tips).to_contain_text(f"{place} of 3")
        tips.locator("[data-tips=next]").click()
    expect(tips).to_have_count(0)

    # What is kept, and why the rest is not. Tips and panel stay as they were left.
    context = page.locator("#context")
    expect(context).to_be_hidden()
    page.locator(".bar [data-key=panel]").click()
    expect(context).to_contain_text(RULE)
    expect(context).to_contain_text(WHY_IT_LEFT)
    page.reload()
    is_live(page)
    expect(tips).to_have_count(0)
    expect(context).to_be_visible()
    assert_accessible(page)

    # What a reply was made from.
    last = page.locator("#turn-34")
    last.locator(".facts summary").click()
    last.get_by_role("link", name="What was sent").click()
    expect(page.locator("#drawer")).to_contain_text(RULE)
    assert_accessible(page)
    page.keyboard.press("Escape")

    # What has left comes back.
    row(page, "back-pain").click()
    page.locator("#effort-back-pain").get_by_role("button", name="Expand").click()
    expect(page.locator("#log")).to_contain_text("Expanded effort: back pain", ignore_case=True)

    open_search(page).press_sequentially("footrest")
    expect(page.locator('#dialog .results[data-query="footrest"]')).to_be_visible()
    assert_accessible(page)
    hits(page).first.click()
    is_in_view(page, 10)

    # What waits is read, accepted, and taken back.
    page.locator("#reviews").click()
    page.wait_for_url("**/review/")
    page.get_by_role("link", name="Summary of Payment webhook").click()
    standing = page.locator("#standing")
    expect(page.locator("#claim-1")).to_be_visible()
    assert_accessible(page)
    standing.locator("#accept").click()
    page.locator("#dialog button.primary").click()
    expect(standing).to_contain_text("In the prompt instead of")
    standing.get_by_role("button", name="Roll back").click()
    page.locator("#dialog button.primary").click()
    expect(standing).to_contain_text("Rolled back.")

    on_a_phone(visitor.page(width=PHONE, theme="dark", panel=False), example)


def on_a_phone(page: Page, example: str) -> None:
    page.goto(example)
    is_live(page)
    tips = page.locator("#tips")
    for place in range(1, 4):
        expect(tips).to_contain_text(f"{place} of 3")
        pointed, tip = page.locator(".pointed").bounding_box(), tips.bounding_box()
        assert pointed
        assert tip
        assert tip["y"] + tip["height"] <= pointed["y"], "it covers what it is about"
        assert_accessible(page)
        tips.locator("[data-tips=next]").tap()
    for tab in ("efforts", "aside"):
        page.locator(f".tabs [data-tab={tab}]").tap()
        assert_accessible(page, IN_A_TAB)
    expect(page.locator("#context")).to_contain_text(WHY_IT_LEFT)


def test_by_keyboard_alone(visitor: Visitor) -> None:
    page = visitor.page(panel=False)
    page.goto("/")
    reach(page, page.get_by_role("button", name="Open the example"))
    page.keyboard.press("Enter")
    is_open(page)

    further = page.locator("#tips [data-tips=next]")
    reach(page, further, "Shift+Tab")
    for place in (2, 3):
        page.keyboard.press("Enter")
        expect(page.locator("#tips")).to_contain_text(f"{place} of 3")
    page.keyboard.press("Enter")
    expect(page.locator("#tips")).to_have_count(0)
    expect(page.locator("#text")).to_be_focused()

    context = page.locator("#context")
    page.keyboard.press("Alt+p")
    expect(context).to_contain_text(RULE)
    expect(context).to_contain_text(WHY_IT_LEFT)
    page.keyboard.press("Alt+i")
    expect(page.locator("#drawer")).to_be_visible()
    page.keyboard.press("Escape")

    page.keyboard.press("Escape")
    # Straight to the efforts: of conversations before them there may be hundreds.
    page.keyboard.press("e")
    reach(page, row(page, "campaign-budget"))
    page.keyboard.press("Enter")
    reach(page, page.locator("#effort-campaign-budget").get_by_role("button", name="Expand"))
    page.keyboard.press("Enter")
    expect(page.locator("#log")).to_contain_text("Expanded effort: campaign budget", ignore_case=True)

    open_search(page)
    page.keyboard.type("footrest")
    expect(page.locator('#dialog .results[data-query="footrest"]')).to_be_visible()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    is_in_view(page, 10)

    page.keyboard.press("/")
    reach(page, page.locator("#reviews"), "Shift+Tab")
    page.keyboard.press("Enter")
    page.wait_for_url("**/review/**")
    skip_to_content(page)
    # It waits, or was taken back by who looked at the example before.
    summary = page.get_by_role("link", name="Summary of Payment webhook")
    reach(page, page.get_by_role("link", name="No longer in use"))
    if not summary.count():
        page.keyboard.press("Enter")
        expect(summary).to_be_visible()
        skip_to_content(page)
    reach(page, summary)
    page.keyboard.press("Enter")
    standing = page.locator("#standing")
    expect(page.locator("#claim-1")).to_be_visible()
    reach(page, standing.locator("#accept"), "Shift+Tab")
    page.keyboard.press("Enter")
    expect(page.locator("#dialog button.primary")).to_be_focused()
    page.keyboard.press("Enter")
    expect(standing).to_contain_text("In the prompt instead of")
    page.keyboard.press("R")
    expect(page.locator("#reason")).to_be_focused()
    page.keyboard.type("The load test is missing.")
    page.keyboard.press("Enter")
    expect(standing).to_contain_text("Rolled back.")
