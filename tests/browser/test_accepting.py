"""Accept and roll back by keyboard: what the dialogs say, what the model is shown after each, and what is on record."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import WIDE, Visitor, is_in_state, looks, say
from tests.browser.drafts import RESULT, drafted
from tests.browser.test_access import assert_accessible
from tests.browser.test_conversation import Album
from tests.browser.test_efforts import folder
from tests.fakes.provider import FakeProvider
from tests.fakes.summariser import step_of

__all__ = ["folder"]

pytestmark = pytest.mark.browser


def waiting(page: Page, provider: FakeProvider) -> None:
    """The model concludes by itself what the person has not called done, so that its draft waits; then its page."""
    drafted(page, provider, said="")
    expect(page.locator("#standing")).to_contain_text("Not in the prompt:")


def last_request(provider: FakeProvider) -> Any:
    said = [request for request in provider.requests if step_of(request["messages"][-1]["content"]) == "chat"]
    return said[-1]


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
    expect(page.locator("#dialog")).to_contain_text("Taken out of the next prompt")


@contextmanager
def learns_of_it(idle: Page) -> Iterator[None]:
    """A page that is left open comes to know of a summary that waits."""
    idle.clock.install()
    idle.goto("/settings/")
    badge = idle.locator("#reviews-waiting")
    before = badge.inner_text()
    yield
    expect(badge).to_have_text(before)
    with idle.expect_response("**/review/waiting/"):
        idle.clock.fast_forward("01:01")
    expect(badge).to_contain_text("wait for you")
    expect(badge).not_to_have_text(before)


@looks(WIDE, "light")
def test_what_is_accepted_stands_and_what_is_rolled_back_leaves_no_trace(
    guest: Visitor, provider: FakeProvider, folder: Path, width: int, theme: str
) -> None:
    page, album = guest.page(width=width, theme=theme), Album(folder, f"accepting-{width}-{theme}")
    with learns_of_it(guest.page()):
        waiting(page, provider)
    never = sent_after(page, provider, 4, "And now?")
    page = guest.page(width=width, theme=theme)
    waiting(page, provider)
    album.take(page, "before")

    badge = page.locator("#reviews-waiting")
    expect(badge).to_contain_text("wait for you")
    waited = int(badge.inner_text().split()[0])
    page.keyboard.press("j")
    accept(page)
    dialog = page.locator("#dialog")
    expect(dialog).to_contain_text("the log of turns 1-3")
    expect(dialog).to_contain_text(RESULT)
    expect(dialog.locator("button.primary")).to_be_focused()
    album.take(page, "accept-dialog")
    assert_accessible(page)
    dialog.locator("summary").click()
    album.take(page, "accept-difference")
    assert_accessible(page)
    dialog.locator("button.primary").focus()
    page.keyboard.press("Enter")
    standing = page.locator("#standing")
    expect(standing).to_contain_text("In the prompt instead of")
    expect(dialog).to_be_hidden()
    left = str(waited - 1) if waited > 1 else ""
    expect(badge).to_have_text(re.compile(rf"^\s*{left}(\s*wait for you)?\s*$"))
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
    expect(page.locator("#review-top")).not_to_contain_text("In use")
    standing.locator("summary").click()
    expect(standing).to_contain_text("It is too short.")
    expect(standing.locator(".moves b")).to_have_text(["Rolled back", "Accepted"])
    album.take(page, "rolled-back")
    assert_accessible(page)
    assert sent_after(page, provider, 4, "And now?") == never

    standing.locator("#accept").click()
    dialog.locator("button.primary").click()
    expect(standing).to_contain_text("In the prompt instead of")
    expect(standing).to_be_focused()
    assert RESULT in sent_after(page, provider, 5, "And then?")
    page.goto(page.locator("#review-back").get_attribute("href") or "")
    address = page.locator("#context a[href$='/summaries/']").get_attribute("href")
    page.goto(address or "")
    expect(page.locator(".moves b")).to_have_text(["Used again", "Rolled back", "Accepted"])
    album.take(page, "summaries")
    assert_accessible(page)
    page.locator("#summaries").get_by_role("link", name="Roll back").click()
    dialog.locator("button.primary").click()
    expect(page.locator(".moves b").first).to_have_text("Rolled back")
