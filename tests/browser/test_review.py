"""The review page, by keyboard: from claim to claim, to the words in the log, and what one says of each."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import PHONE, WIDE, Visitor, looks
from tests.browser.drafts import ALERT, OPEN, TALK, claim, drafted, long
from tests.browser.test_access import assert_accessible
from tests.browser.test_conversation import Album
from tests.browser.test_efforts import folder
from tests.fakes.provider import FakeProvider
from tests.fakes.summariser import Summariser

__all__ = ["folder"]

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@looks(WIDE, "light")
def test_a_claim_leads_to_its_words_and_back_by_keyboard(
    guest: Visitor, provider: FakeProvider, folder: Path, width: int, theme: str
) -> None:
    page, album = guest.page(width=width, theme=theme), Album(folder, f"review-{width}-{theme}")
    drafted(page, provider)
    album.take(page, "page")
    assert_accessible(page)
    page.keyboard.press("j")
    expect(claim(page, 1)).to_be_focused()
    page.keyboard.press("j")
    expect(claim(page, 2)).to_be_focused()
    # Each button says which key it has.
    expect(claim(page, 2).locator(".verbs kbd")).to_have_text(["A", "E", "X", "Q"])
    expect(claim(page, 2)).to_contain_text("checker: in the log")
    page.keyboard.press("Enter")
    expect(claim(page, 2).locator("blockquote")).to_contain_text(OPEN)
    album.take(page, "claim")
    lit = page.locator("#source-log mark.on")
    expect(lit).to_have_text(OPEN)
    page.keyboard.press("Tab")
    row = page.locator("#source-log .src", has=page.locator("mark.on"))
    expect(row).to_be_focused()
    expect(lit).to_be_in_viewport()
    expect(row).to_contain_text("used by claim 2")
    album.take(page, "source")
    page.keyboard.press("ArrowUp")
    expect(page.locator("#source-log .src:focus .unless")).to_be_visible()
    assert_accessible(page)
    page.keyboard.press("Tab")
    expect(claim(page, 2)).to_be_focused()
    page.keyboard.press("3")
    expect(page.locator("#drawer")).to_contain_text("Listed decisions kept")
    assert_accessible(page)
    album.take(page, "gate")
    page.keyboard.press("Escape")
    expect(page.locator("#drawer")).to_be_hidden()
    expect(claim(page, 2)).to_be_focused()


def test_from_what_is_missing_tab_leads_to_the_message_that_says_it(guest: Visitor, provider: FakeProvider) -> None:
    page = guest.page()
    drafted(page, provider)
    claim(page, 2).focus()
    page.keyboard.press("x")
    page.keyboard.press("Control+Enter")
    page.wait_for_url("**#claim-1")
    page.keyboard.press("v")
    missing = page.locator("#claims .gap")
    expect(missing).to_be_focused()
    page.keyboard.press("j")
    page.keyboard.press("Tab")
    expect(page.locator("#source-log .src", has_text=OPEN)).to_be_focused()
    page.keyboard.press("Tab")
    expect(missing).to_be_focused()


QUEUES = list(enumerate("abcdefghijklmnopqrs", 2))
SENTENCES = [f"We decided that queue {name} retries {number} times." for number, name in QUEUES]
MANY = (
    (f"{TALK[0][0]} {' '.join(SENTENCES)}", TALK[0][1]),
    ("How many queues are that? There are more of them than I remember.", "Nineteen queues, each with its own limit."),
    long([("Done, the webhook works now.", "All queues retry as they should now.")])[0],
)


def of_many() -> Summariser:
    """A result, and nineteen decisions of the first message, each in words of its own."""
    model = Summariser()
    model.writes("result", "All queues retry as they should now.")
    for (number, name), said in zip(QUEUES, SENTENCES, strict=True):
        model.writes("decision", said, f"Queue {name} retries {number} times.")
    return model


WHOLLY_SEEN = """rows => rows.filter(row => {
    const box = row.getBoundingClientRect(), pane = document.querySelector(".review-foot").getBoundingClientRect();
    return box.top >= 0 && box.bottom <= pane.top;
}).length"""


class Keys:
    """A keyboard that counts."""

    def __init__(self, page: Page) -> None:
        self.page, self.pressed = page, 0

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)
            self.pressed += 1


def test_twenty_claims_of_which_six_are_in_sight_at_once_are_decided_with_forty_keys(
    guest: Visitor, provider: FakeProvider
) -> None:
    page = guest.page()
    page.set_viewport_size({"width": 1440, "height": 900})
    drafted(page, provider, of_many(), MANY)
    keys = Keys(page)
    expect(page.locator("#claims .claim")).to_have_count(20)
    assert page.locator("#claims .claim").evaluate_all(WHOLLY_SEEN) >= 6
    page.set_viewport_size({"width": WIDE, "height": 800})
    all_of_it = page.locator("#source-log .src").count()
    expect(page.locator("#seen")).to_contain_text(f"of {all_of_it} messages of the log seen")
    for number in range(all_of_it):
        page.locator("#source-log .src").nth(number).scroll_into_view_if_needed()
    expect(page.locator("#seen")).to_have_text(f"· {all_of_it} of {all_of_it} messages of the log seen")
    keys.press("n")
    for number in range(1, 20):
        expect(claim(page, number)).to_be_focused()
        keys.press("a" if number % 5 else "x")
    expect(claim(page, 20)).to_be_focused()
    keys.press("a")
    expect(page.locator("#progress")).to_have_text("You have decided 20 of 20 claims")
    keys.press("Control+Enter")
    page.wait_for_url("**#claim-1")
    expect(page.locator("#review-top")).to_contain_text("compare v1")
    assert keys.pressed <= 40
    expect(page.locator("#claims .claim")).to_have_count(17)


def test_of_twenty_claims_two_are_doubted_come_first_and_are_decided_with_two_keys(
    guest: Visitor, provider: FakeProvider
) -> None:
    page, model = guest.page(), of_many()
    for name in "cq":
        model.doubts(f"Queue {name} retries", "contradicted", phrase="retries")
    drafted(page, provider, model, MANY)
    keys = Keys(page)
    expect(page.locator("#claims .claim")).to_have_count(20)
    # It opens on the first of them; the checker's suggestion is one key away, and leads on to the next.
    for number, name in enumerate("cq", 1):
        expect(claim(page, number)).to_be_focused()
        expect(claim(page, number)).to_contain_text(f"Queue {name}")
        keys.press("w")
    for number in range(3, 21):
        expect(claim(page, number)).to_be_focused()
        keys.press("w")
    expect(page.locator("#progress")).to_have_text("You have decided 20 of 20 claims")
    keys.press("Control+Enter")
    page.wait_for_url("**#claim-1")
    # Struck they are missed: what they were to tell is a decision of the log.
    expect(page.locator("#review-state")).to_contain_text("2 things that must not be lost are missing")
    expect(page.locator("#claims .claim")).to_have_count(18)
    assert keys.pressed == 21


@looks(PHONE, "dark")
def test_by_keyboard_a_claim_is_edited_and_the_checks_run_again(
    guest: Visitor, provider: FakeProvider, folder: Path, width: int, theme: str
) -> None:
    page, album = guest.page(width=width, theme=theme), Album(folder, f"verdicts-{width}-{theme}")
    guest.watch.expect("422")
    drafted(page, provider)
    page.keyboard.press("n")
    expect(claim(page, 1)).to_be_focused()
    page.keyboard.press("a")
    expect(claim(page, 2)).to_be_focused()
    page.keyboard.press("e")
    field = page.get_by_label("New words of claim 2")
    expect(field).to_be_focused()
    page.keyboard.press("Control+Enter")
    expect(claim(page, 2)).to_contain_text("Nothing is changed yet")
    expect(field).to_be_focused()
    assert_accessible(page)
    album.take(page, "same")
    page.keyboard.press("Escape")
    expect(claim(page, 2)).to_be_focused()
    page.keyboard.press("e")
    expect(field).to_be_focused()
    field.fill(f"{ALERT.removesuffix('.')} for the webhook.")
    page.keyboard.press("Control+Enter")
    expect(claim(page, 3)).to_be_focused()
    expect(claim(page, 2).locator("ins")).to_contain_text("for the webhook.")
    album.take(page, "edited")
    assert_accessible(page)
    page.keyboard.press("q")
    expect(claim(page, 4)).to_be_focused()
    expect(claim(page, 3)).to_contain_text("Needs a source")
    page.keyboard.press("u")
    expect(claim(page, 3)).to_be_focused()
    expect(page.locator("#progress")).to_have_text("You have decided 2 of 4 claims")
    page.keyboard.press("v")
    expect(page.locator("#dropped-title")).to_be_visible()
    album.take(page, "dropped")
    assert_accessible(page)
    page.keyboard.press("v")
    expect(claim(page, 1)).to_be_focused()
    page.keyboard.press("Control+Enter")
    page.wait_for_url("**#claim-1")
    expect(claim(page, 1)).to_be_focused()
    expect(claim(page, 2)).to_contain_text("is still open for the webhook.")
    expect(page.locator("#gate-A .state")).to_have_text("pass")
    album.take(page, "version")
    assert_accessible(page)
    page.keyboard.press("d")
    expect(page.locator("ins")).to_contain_text("for the webhook.")
    album.take(page, "compared")
    assert_accessible(page)
