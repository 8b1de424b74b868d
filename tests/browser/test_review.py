"""The review page, by keyboard: from claim to claim, to the words in the log, and what one says of each."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import PHONE, WIDE, Visitor, begin, is_in_state, looks, say
from tests.browser.test_access import assert_accessible
from tests.browser.test_conversation import Album
from tests.browser.test_efforts import folder
from tests.compaction.conftest import HEADER, a_good_draft, is_draft, item
from tests.efforts.logs import WEBHOOK, Exchanges
from tests.fakes.provider import Call, FakeProvider, Reply

__all__ = ["folder"]

pytestmark = pytest.mark.browser

Drafts = Callable[[dict[str, Any]], str]


def drafted(page: Page, provider: FakeProvider, draft: Drafts = a_good_draft, said: Exchanges = WEBHOOK) -> None:
    """Three turns of an effort that the model concludes, and the page of its summary."""
    (first, *questions), answers = zip(*said, strict=True)
    provider.otherwise = lambda request: Reply(draft(request) if is_draft(request) else "All right.")
    provider.script = [
        Reply(calls=(Call("open_effort", '{"name": "payment-webhook"}'),)),
        Reply(answers[0]),
        Reply(answers[1]),
        Reply(calls=(Call.of("close_effort"),)),
        Reply(answers[2]),
    ]
    begin(page, first)
    for number, question in enumerate(questions, 1):
        is_in_state(page, number, "completed")
        say(page, question)
    is_in_state(page, 3, "completed")
    link = page.locator(".notes a[href*='/review/'], .note a[href*='/review/']").last
    expect(link).to_be_attached()
    page.goto(link.get_attribute("href") or "")


def claim(page: Page, number: int) -> Locator:
    return page.locator(f"#claim-{number}")


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
    page.keyboard.press("j")
    expect(claim(page, 3)).to_be_focused()
    album.take(page, "claim")
    lit = page.locator("#source-log mark.on")
    expect(lit).to_have_text("Still open: an alert when the dead-letter list grows.")
    page.keyboard.press("Tab")
    row = page.locator("#source-log .src", has=page.locator("mark.on"))
    expect(row).to_be_focused()
    expect(lit).to_be_in_viewport()
    expect(row).to_contain_text("claims 3")
    album.take(page, "source")
    page.keyboard.press("ArrowUp")
    expect(page.locator("#source-log .src:focus .unless")).to_be_visible()
    assert_accessible(page)
    page.keyboard.press("Tab")
    expect(claim(page, 3)).to_be_focused()
    page.keyboard.press("3")
    expect(page.locator("#drawer")).to_contain_text("Decisions kept")
    assert_accessible(page)
    album.take(page, "gate")
    page.keyboard.press("Escape")
    expect(page.locator("#drawer")).to_be_hidden()
    expect(claim(page, 3)).to_be_focused()


QUEUES = list(enumerate("abcdefghijklmnopqrs", 2))
SENTENCES = [f"We decided that queue {name} retries {number} times." for number, name in QUEUES]


def of_many(request: dict[str, Any]) -> str:
    """Nineteen decisions of the first message, each in words of its own."""
    message = int(HEADER.findall(request["messages"][1]["content"])[0][0])
    items = [
        item(str(number), "decision", "accepted", "user", f"Queue {name} retries {number} times.", message, said)
        for (number, name), said in zip(QUEUES, SENTENCES, strict=True)
    ]
    return json.dumps({"headline": "Queue a retries 2 times.", "headline_items": ["2"], "items": items})


MANY: Exchanges = (
    (" ".join(SENTENCES), "Noted."),
    ("How many queues are that?", "Nineteen queues."),
    ("Good, that was it.", "All right."),
)


class Keys:
    """A keyboard that counts."""

    def __init__(self, page: Page) -> None:
        self.page, self.pressed = page, 0

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)
            self.pressed += 1


def test_twenty_claims_are_decided_with_forty_keys(guest: Visitor, provider: FakeProvider) -> None:
    page = guest.page()
    drafted(page, provider, of_many, MANY)
    keys = Keys(page)
    expect(page.locator("#claims .claim")).to_have_count(20)
    keys.press("n")
    for number in range(1, 20):
        expect(claim(page, number)).to_be_focused()
        keys.press("a" if number % 5 else "x")
    expect(claim(page, 20)).to_be_focused()
    keys.press("a")
    expect(page.locator("#progress")).to_have_text("20 of 20 claims decided")
    keys.press("Control+Enter")
    page.wait_for_url("**#claim-1")
    expect(page.locator("#review-top")).to_contain_text("compare v1")
    assert keys.pressed <= 40
    expect(page.locator("#claims .claim")).to_have_count(17)


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
    field.fill("The retry limit is 3 for the webhook.")
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
    expect(page.locator("#progress")).to_have_text("2 of 4 claims decided")
    page.keyboard.press("v")
    expect(page.locator("#dropped-title")).to_be_visible()
    album.take(page, "dropped")
    assert_accessible(page)
    page.keyboard.press("v")
    expect(claim(page, 1)).to_be_focused()
    page.keyboard.press("Control+Enter")
    page.wait_for_url("**#claim-1")
    expect(claim(page, 1)).to_be_focused()
    expect(claim(page, 2)).to_contain_text("The retry limit is 3 for the webhook.")
    expect(page.locator("#gate-A .state")).to_have_text("pass")
    album.take(page, "version")
    assert_accessible(page)
    page.keyboard.press("d")
    expect(page.locator("ins")).to_contain_text("for the webhook.")
    album.take(page, "compared")
    assert_accessible(page)
