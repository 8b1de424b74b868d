"""The review page where something goes wrong: what was typed stays, and what did not arrive is not taken for said."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.conftest import Visitor, interceptable, until
from tests.browser.drafts import claim, drafted
from tests.fakes.provider import FakeProvider

pytestmark = [pytest.mark.browser, pytest.mark.slow]

WORDS = "An alert when the dead-letter list grows is still open for the webhook."


def fail(route: Route) -> None:
    route.fulfill(status=500)


def drop(route: Route) -> None:
    route.abort()


def sign_out(route: Route) -> None:
    """As the server answers a tab whose person has signed out in another."""
    route.fulfill(status=401)


SAID: dict[Callable[[Route], None], str] = {
    fail: "(500). Nothing was changed.",
    drop: "No connection.",
    sign_out: "You are signed out",
}


@pytest.fixture
def review(guest: Visitor, provider: FakeProvider) -> Page:
    guest.watch.expect("40[1-4]|422|500|ERR_FAILED|htmx")
    page = interceptable(guest.page())
    drafted(page, provider)
    return page


def edit(page: Page, words: str = WORDS) -> None:
    page.keyboard.press("e")
    field = page.get_by_label("New words of claim 2")
    expect(field).to_be_focused()
    field.fill(words)


def test_what_did_not_arrive_is_not_taken_for_said_and_its_button_has_the_focus_again(review: Page) -> None:
    review.keyboard.press("n")
    review.keyboard.press("a")
    expect(review.locator("#submit-verdicts")).to_be_visible()
    underway: list[Route] = []
    for happens, says in SAID.items():
        expect(claim(review, 2)).to_be_focused()
        review.route("**/claims/**", lambda route: underway.append(route))
        with review.expect_request("**/claims/**"):
            review.keyboard.press("a")
        review.keyboard.press("Control+Enter")
        # The request is said before it is held.
        until(review, lambda: underway)
        happens(underway.pop())
        expect(review.locator("#alerts")).to_contain_text(says)
        expect(claim(review, 2)).to_be_focused()
        expect(claim(review, 2)).to_contain_text("Undecided")
        expect(review.locator("#submit-verdicts")).to_be_visible()
        review.unroute("**/claims/**")
        review.keyboard.press("k")
        review.keyboard.press("n")
        expect(claim(review, 2)).to_be_focused()
        review.keyboard.press("a")
        expect(review.locator("#progress")).to_have_text("You have decided 2 of 4 claims")
        review.keyboard.press("u")
        expect(review.locator("#progress")).to_have_text("You have decided 1 of 4 claims")

    # What was told of verdicts is not taken for what is told of submitting.
    review.reload()
    button = review.locator("#submit-verdicts")
    expect(button).to_be_visible()
    for happens, says in SAID.items():
        slow = partial(slowly, review, happens)
        review.route("**/submit/", slow)
        button.focus()
        review.keyboard.press("Enter")
        expect(review.locator("#alerts")).to_contain_text(says)
        expect(button).to_be_focused()
        review.unroute("**/submit/", slow)


def test_words_that_could_not_be_saved_stay_and_keys_that_are_held_down_do_nothing_twice(review: Page) -> None:
    address = review.url.partition("#")[0]
    review.keyboard.press("n")
    # One claim is decided.
    held(review, "a")
    expect(claim(review, 2)).to_be_focused()
    expect(review.locator("#progress")).to_have_text("You have decided 1 of 4 claims")
    words_could_not_be_saved(review)
    # The keys that save an edit submit nothing.
    review.keyboard.down("Control")
    review.keyboard.down("Enter")
    expect(claim(review, 3)).to_be_focused()
    expect(claim(review, 2).locator("ins")).to_contain_text("for the webhook.")
    expect(review.locator("#submit-verdicts")).to_be_visible()
    for _ in range(5):
        review.keyboard.down("Enter")
    review.keyboard.up("Enter")
    review.keyboard.up("Control")
    review.keyboard.press("a")
    expect(review.locator("#progress")).to_have_text("You have decided 3 of 4 claims")
    assert review.url.partition("#")[0] == address
    assert review.evaluate("Object.keys(localStorage).filter((key) => key.includes('review'))") == []


def words_could_not_be_saved(review: Page) -> None:
    """They are there after a reload, and stay away once they are given up."""
    address = review.url.partition("#")[0]
    edit(review)
    review.keyboard.press("Escape")
    expect(claim(review, 2)).to_be_focused()
    review.keyboard.press("e")
    field = review.get_by_label("New words of claim 2")
    expect(field).to_be_focused()
    expect(field).not_to_have_value(WORDS)
    # Nothing is submitted over words that are not saved yet.
    field.fill(WORDS)
    review.locator("#submit-verdicts").click()
    expect(review.locator("#alerts")).to_contain_text("These words are not saved yet.")
    expect(field).to_be_focused()
    expect(field).to_have_value(WORDS)
    assert review.url.partition("#")[0] == address
    for happens, says in SAID.items():
        saving = partial(only_saving, happens)
        review.route("**/claims/**", saving)
        review.keyboard.press("Control+Enter")
        expect(review.locator("#alerts")).to_contain_text(says)
        expect(field).to_be_focused()
        expect(field).to_have_value(WORDS)
        review.unroute("**/claims/**", saving)
        review.reload()
        review.locator("#claim-2").focus()
        review.keyboard.press("e")
        expect(field).to_have_value(WORDS)


def only_saving(happens: Callable[[Route], None], route: Route) -> None:
    if route.request.method == "POST":
        happens(route)
    else:
        route.continue_()


def held(page: Page, key: str) -> None:
    """As a keyboard sends it whose key is held down."""
    page.keyboard.down(key)
    for _ in range(5):
        page.keyboard.down(key)
    page.keyboard.up(key)


def slowly(page: Page, happens: Callable[[Route], None], route: Route) -> None:
    """Until a frame is drawn in which the button is switched off."""
    page.evaluate("() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))")
    happens(route)
