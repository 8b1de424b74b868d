"""Accept and roll back by keyboard: what the dialogs say, what the model is shown after each, and what is on record."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import WIDE, Visitor, begin, is_in_state, looks, say
from tests.browser.test_access import assert_accessible
from tests.browser.test_conversation import Album
from tests.browser.test_efforts import folder
from tests.compaction.conftest import DECIDED, a_good_draft, is_draft
from tests.efforts.logs import WEBHOOK
from tests.fakes.provider import Call, FakeProvider, Reply

__all__ = ["folder"]

pytestmark = pytest.mark.browser

HEADLINE = "The webhook answers at once and a job posts to the ledger; the retry limit is 3."
SAID = "We decided on a retry limit of 3."


def draft(request: dict[str, Any]) -> str:
    return a_good_draft(request).replace(DECIDED, SAID)


def waiting(page: Page, provider: FakeProvider) -> None:
    """The model concludes by itself what the person has not called done, so that its draft waits; then its page."""
    questions = [WEBHOOK[0][0], WEBHOOK[1][0], f"{SAID} It holds under load so far."]
    answers = [answer for _, answer in WEBHOOK]
    provider.otherwise = lambda request: Reply(draft(request) if is_draft(request) else "All right.")
    provider.script = [
        Reply(calls=(Call("open_effort", '{"name": "payment-webhook"}'),)),
        *(Reply(answer) for answer in answers[:2]),
        Reply(calls=(Call.of("close_effort"),)),
        Reply(answers[2]),
    ]
    begin(page, questions[0])
    for number, question in enumerate(questions[1:], 1):
        is_in_state(page, number, "completed")
        say(page, question)
    is_in_state(page, 3, "completed")
    link = page.locator(".notes a[href*='/review/'], .note a[href*='/review/']").last
    expect(link).to_be_attached()
    page.goto(link.get_attribute("href") or "")
    expect(page.locator("#standing")).to_contain_text("Not in the prompt.")


def last_request(provider: FakeProvider) -> Any:
    return [request for request in provider.requests if not is_draft(request)][-1]


def sent_after(page: Page, provider: FakeProvider, number: int, text: str) -> str:
    """What the model is sent with the next message, turn `number`; ids of calls are others in each conversation."""
    review = page.url
    page.goto(page.locator("#review-back").get_attribute("href") or "")
    say(page, text)
    is_in_state(page, number, "completed")
    page.goto(review)
    return re.sub(r"c[0-9a-f]{16}-\d+-\d+", "a call", str(last_request(provider)["messages"]))


def accept(page: Page) -> None:
    page.keyboard.press("A")
    expect(page.locator("#dialog")).to_contain_text("Leaves the prompt")


@looks(WIDE, "light")
def test_what_is_accepted_stands_and_what_is_rolled_back_leaves_no_trace(
    guest: Visitor, provider: FakeProvider, folder: Path, width: int, theme: str
) -> None:
    page, album = guest.page(width=width, theme=theme), Album(folder, f"accepting-{width}-{theme}")
    waiting(page, provider)
    never = sent_after(page, provider, 4, "And now?")
    page = guest.page(width=width, theme=theme)
    waiting(page, provider)
    album.take(page, "before")

    page.keyboard.press("j")
    accept(page)
    dialog = page.locator("#dialog")
    expect(dialog).to_contain_text("the log of turns 1-3")
    expect(dialog).to_contain_text(HEADLINE)
    expect(dialog.locator("button.primary")).to_be_focused()
    album.take(page, "accept-dialog")
    assert_accessible(page)
    dialog.locator("summary").click()
    album.take(page, "accept-difference")
    assert_accessible(page)
    dialog.locator("button.primary").focus()
    page.keyboard.press("Enter")
    standing = page.locator("#standing")
    expect(standing).to_contain_text("Accepted.")
    expect(dialog).to_be_hidden()
    expect(page.locator("#claim-1")).to_be_focused()
    expect(standing.get_by_role("button", name="Roll back")).to_be_visible()
    album.take(page, "accepted")
    assert_accessible(page)

    page.keyboard.press("R")
    expect(dialog).to_contain_text("the log of turns 1-3")
    expect(page.locator("#reason")).to_be_focused()
    album.take(page, "rollback-dialog")
    assert_accessible(page)
    page.keyboard.type("It is too short.")
    page.keyboard.press("Enter")
    expect(standing).to_contain_text("Rolled back.")
    expect(page.locator("#claim-1")).to_be_focused()
    expect(page.locator("#review-top")).not_to_contain_text("In the prompt")
    standing.locator("summary").click()
    expect(standing).to_contain_text("It is too short.")
    expect(standing.locator(".moves b")).to_have_text(["Rolled back", "Accepted"])
    album.take(page, "rolled-back")
    assert_accessible(page)
    assert sent_after(page, provider, 4, "And now?") == never

    standing.locator("#accept").click()
    dialog.locator("button.primary").click()
    expect(standing).to_contain_text("Accepted.")
    expect(standing).to_be_focused()
    assert HEADLINE in sent_after(page, provider, 5, "And then?")
    page.goto(page.locator("#review-back").get_attribute("href") or "")
    address = page.locator("#context a[href$='/summaries/']").get_attribute("href")
    page.goto(address or "")
    expect(page.locator(".moves b")).to_have_text(["Accepted", "Rolled back", "Accepted"])
    album.take(page, "summaries")
    assert_accessible(page)
    page.locator("#summaries").get_by_role("link", name="Roll back").click()
    dialog.locator("button.primary").click()
    expect(page.locator(".moves b").first).to_have_text("Rolled back")
