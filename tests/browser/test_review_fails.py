"""The review page where something goes wrong: what was typed stays, and what did not arrive is not taken for said."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.conftest import Visitor, interceptable, until
from tests.browser.drafts import claim, drafted
from tests.fakes.provider import FakeProvider

pytestmark = pytest.mark.browser

WORDS = "An alert when the dead-letter list grows is still open for the webhook."


def fail(route: Route) -> None:
    route.fulfill(status=500)


def drop(route: Route) -> None:
    route.abort()


def sign_out(route: Route) -> None:
    """As the server answers a tab whose person has signed out in another."""
    route.fulfill(status=401)


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


@pytest.mark.parametrize(
    ("happens", "says"),
    [(fail, "(500). Nothing was changed."), (drop, "No connection."), (sign_out, "You are signed out")],
)
def test_a_verdict_that_did_not_arrive_leaves_the_claim_undecided_and_nothing_is_submitted_without_it(
    review: Page, happens: Callable[[Route], None], says: str
) -> None:
    review.keyboard.press("n")
    review.keyboard.press("a")
    expect(review.locator("#submit-verdicts")).to_be_visible()
    expect(claim(review, 2)).to_be_focused()
    underway: list[Route] = []
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


@pytest.mark.parametrize("happens", [fail, drop, sign_out])
def test_words_that_could_not_be_saved_stay_and_are_there_after_a_reload(
    review: Page, happens: Callable[[Route], None]
) -> None:
    review.route("**/claims/**", lambda route: happens(route) if route.request.method == "POST" else route.continue_())
    review.locator("#claim-2").focus()
    edit(review)
    field = review.get_by_label("New words of claim 2")
    review.keyboard.press("Control+Enter")
    expect(review.locator("#alerts .notice")).to_be_visible()
    expect(field).to_be_focused()
    expect(field).to_have_value(WORDS)
    review.unroute("**/claims/**")
    review.reload()
    review.locator("#claim-2").focus()
    review.keyboard.press("e")
    expect(field).to_have_value(WORDS)
    review.keyboard.press("Control+Enter")
    expect(claim(review, 3)).to_be_focused()
    expect(claim(review, 2).locator("ins")).to_contain_text("for the webhook.")
    assert review.evaluate("Object.keys(localStorage).filter((key) => key.includes('review'))") == []


def test_words_that_are_given_up_do_not_come_back(review: Page) -> None:
    review.locator("#claim-2").focus()
    edit(review)
    review.keyboard.press("Escape")
    expect(claim(review, 2)).to_be_focused()
    review.keyboard.press("e")
    field = review.get_by_label("New words of claim 2")
    expect(field).to_be_focused()
    expect(field).not_to_have_value(WORDS)


def test_nothing_is_submitted_over_words_that_are_not_saved_yet(review: Page) -> None:
    address = review.url
    review.keyboard.press("n")
    review.keyboard.press("a")
    expect(claim(review, 2)).to_be_focused()
    edit(review)
    review.locator("#submit-verdicts").click()
    field = review.get_by_label("New words of claim 2")
    expect(review.locator("#alerts")).to_contain_text("These words are not saved yet.")
    expect(field).to_be_focused()
    expect(field).to_have_value(WORDS)
    assert review.url.partition("#")[0] == address.partition("#")[0]


def held(page: Page, key: str) -> None:
    """As a keyboard sends it whose key is held down."""
    page.keyboard.down(key)
    for _ in range(5):
        page.keyboard.down(key)
    page.keyboard.up(key)


def test_a_key_that_is_held_down_decides_one_claim(review: Page) -> None:
    review.keyboard.press("n")
    held(review, "a")
    expect(claim(review, 2)).to_be_focused()
    expect(review.locator("#progress")).to_have_text("You have decided 1 of 4 claims")


def test_the_keys_that_save_an_edit_held_down_submit_nothing(review: Page) -> None:
    address = review.url
    review.locator("#claim-2").focus()
    edit(review)
    review.keyboard.down("Control")
    review.keyboard.down("Enter")
    expect(claim(review, 3)).to_be_focused()
    expect(review.locator("#submit-verdicts")).to_be_visible()
    for _ in range(5):
        review.keyboard.down("Enter")
    review.keyboard.up("Enter")
    review.keyboard.up("Control")
    review.keyboard.press("a")
    expect(review.locator("#progress")).to_have_text("You have decided 2 of 4 claims")
    assert review.url.partition("#")[0] == address.partition("#")[0]


@pytest.mark.parametrize("happens", [fail, drop])
def test_a_button_whose_request_failed_has_the_focus_again(review: Page, happens: Callable[[Route], None]) -> None:
    review.keyboard.press("n")
    review.keyboard.press("a")
    button = review.locator("#submit-verdicts")
    expect(button).to_be_visible()

    def slowly(route: Route) -> None:
        # Until a frame is drawn in which the button is switched off.
        review.evaluate("() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))")
        happens(route)

    review.route("**/submit/", slowly)
    button.focus()
    review.keyboard.press("Enter")
    expect(review.locator("#alerts .notice")).to_be_visible()
    expect(button).to_be_focused()
