"""The review page on a slow line: what is pressed meanwhile is done in its order, and none of it is lost."""

from __future__ import annotations

import pytest
from playwright.sync_api import Dialog, Page, Route, expect

from tests.browser.conftest import Visitor, until
from tests.browser.drafts import claim, drafted
from tests.fakes.provider import FakeProvider

pytestmark = [pytest.mark.browser, pytest.mark.slow]


class Line:
    """Holds each request about a claim, or about them all, until it is let through."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.held: list[Route] = []
        page.route("**/claims/**", lambda route: self.held.append(route))
        page.route("**/undo/", lambda route: self.held.append(route))

    def only_one_waits(self) -> Route:
        until(self.page, lambda: self.held)
        [route] = self.held
        return route

    def let_through(self, count: int) -> None:
        for _ in range(count):
            route = self.only_one_waits()
            self.held.clear()
            route.continue_()


@pytest.fixture
def line(guest: Visitor, provider: FakeProvider) -> Line:
    line = Line(guest.page())
    drafted(line.page, provider)
    return line


@pytest.fixture
def review(line: Line) -> Page:
    return line.page


def decided(page: Page, count: int) -> None:
    expect(page.locator("#progress")).to_have_text(f"You have decided {count} of 4 claims")


def undo_all(page: Page, line: Line, count: int) -> None:
    for left in range(count - 1, -1, -1):
        page.keyboard.press("u")
        line.let_through(1)
        decided(page, left)


def test_what_is_pressed_on_a_slow_line_is_done_in_its_order_and_none_of_it_is_lost(review: Page, line: Line) -> None:
    verdicts_go_out_one_by_one(review, line)
    undo_all(review, line, 3)
    # The second thought about a claim is what stays.
    claim(review, 2).focus()
    for key in ("a", "k", "x"):
        review.keyboard.press(key)
    expect(claim(review, 3)).to_be_focused()
    line.let_through(2)
    expect(claim(review, 2)).to_contain_text("Struck")
    decided(review, 1)
    expect(claim(review, 3)).to_be_focused()
    undo_all(review, line, 1)
    # What is undone meanwhile is what was said last.
    claim(review, 1).focus()
    for key in ("a", "a", "a", "u", "u"):
        review.keyboard.press(key)
    line.let_through(5)
    decided(review, 1)
    expect(claim(review, 1)).to_contain_text("Kept")
    undo_all(review, line, 1)

    another_list_is_shown_and_all_reviews_are_gone_to_once_all_is_said(review, line)
    undo_all(review, line, 3)
    whoever_leaves_before_all_is_said_is_asked(review, line)


def verdicts_go_out_one_by_one(review: Page, line: Line) -> None:
    for key in ("n", "a", "a", "a"):
        review.keyboard.press(key)
    expect(claim(review, 4)).to_be_focused()
    line.let_through(3)
    expect(review.locator("#desk")).to_contain_text("3 verdicts saved")
    decided(review, 3)
    expect(claim(review, 4)).to_be_focused()


def another_list_is_shown_and_all_reviews_are_gone_to_once_all_is_said(review: Page, line: Line) -> None:
    address = review.url
    claim(review, 1).focus()
    for key in ("a", "a"):
        review.keyboard.press(key)
    review.locator("#show-dropped").click()
    line.let_through(3)
    expect(review.locator("#dropped-title")).to_be_visible()
    decided(review, 2)
    review.goto(address)
    for key in ("n", "a", "p"):
        review.keyboard.press(key)
    line.let_through(1)
    review.wait_for_url("**/review/")
    review.goto(address)
    decided(review, 3)


def whoever_leaves_before_all_is_said_is_asked(review: Page, line: Line) -> None:
    asked: list[Dialog] = []

    def stay(dialog: Dialog) -> None:
        asked.append(dialog)
        dialog.dismiss()

    address = review.url
    claim(review, 1).focus()
    for key in ("a", "a"):
        review.keyboard.press(key)
    review.on("dialog", stay)
    review.locator("#reviews").click(no_wait_after=True)
    until(review, lambda: asked)
    assert [dialog.type for dialog in asked] == ["beforeunload"]
    line.let_through(2)
    decided(review, 2)
    assert review.url == address
    review.keyboard.press("p")
    review.wait_for_url("**/review/")
