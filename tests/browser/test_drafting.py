"""The switch that stops models from drafting, and a conversation that starts from two others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import PHONE, WIDE, Visitor, begin, is_in_state, looks, say
from tests.browser.drafts import TALK, long, webhook_model
from tests.browser.test_access import assert_accessible
from tests.browser.test_conversation import Album
from tests.browser.test_efforts import folder
from tests.fakes.provider import FakeProvider, Reply

__all__ = ["folder"]

pytestmark = [pytest.mark.browser, pytest.mark.slow]


PARCELS = long(
    [
        ("How do the parcels get their labels?", "The warehouse prints them one by one today."),
        ("We decided that the carrier prints the labels.", "Then the warehouse only packs from now on."),
    ]
)


def talk(page: Page, provider: FakeProvider, exchanges: Any) -> None:
    provider.script = [Reply(answer) for _, answer in exchanges]
    for number, (question, _) in enumerate(exchanges, 1):
        speak = begin if number == 1 else say
        speak(page, question)
        is_in_state(page, number, "completed")


def checked(page: Page, album: Album, step: str) -> None:
    assert_accessible(page)
    # No page is wider than its window.
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    album.take(page, step)


@looks(WIDE, "light")
def test_one_key_press_stops_what_a_model_drafts_and_one_allows_it_again(
    guest: Visitor, folder: Path, width: int, theme: str
) -> None:
    page, album = guest.page(width=width, theme=theme), Album(folder, f"switch-{width}-{theme}")
    page.goto("/settings/drafting/")
    expect(page.get_by_text("Models may draft")).to_be_visible()
    checked(page, album, "allowed")
    page.locator("#switch").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_text("Models may not draft")).to_be_visible()
    expect(page.locator("#switch")).to_be_focused()
    checked(page, album, "stopped")
    page.goto("/settings/drafting/runs/all/30/")
    expect(page.get_by_text("a model was asked")).to_be_visible()
    checked(page, album, "counted")
    page.goto("/settings/drafting/")
    page.locator("#switch").press("Enter")
    expect(page.get_by_text("Models may draft")).to_be_visible()
    expect(page.locator("#switch")).to_be_focused()
    page.get_by_label("Model", exact=True).fill("reader-1")
    page.locator("#choose-checker").press("Enter")
    expect(page.locator("#checker")).to_contain_text("reader-1 checks your summaries")
    checked(page, album, "checker")
    page.get_by_label("Model", exact=True).fill("")
    page.locator("#choose-checker").press("Enter")
    expect(page.locator("#checker")).to_contain_text("The model of a conversation checks its summaries")
    page.get_by_label("Most tokens a day").fill("12")
    guest.watch.expect("422")
    page.locator("#save-cap").press("Enter")
    expect(page.locator("#id_tokens_error")).to_be_visible()
    checked(page, album, "wrong-cap")


@looks(PHONE, "dark")
def test_two_conversations_start_a_third(
    guest: Visitor, provider: FakeProvider, folder: Path, width: int, theme: str
) -> None:
    page, album = guest.page(width=width, theme=theme), Album(folder, f"seeds-{width}-{theme}")
    titles = []
    model = webhook_model()
    model.writes("result", "Then the warehouse only packs", "The warehouse only packs from now on.")
    model.writes("decision", "We decided that the carrier", "The carrier prints the labels.")
    for exchanges in (TALK, PARCELS):
        talk(page, provider, exchanges)
        titles.append(page.url.rstrip("/").rsplit("/", 1)[1])
    provider.otherwise = model
    page.goto("/review/seeds/")
    checked(page, album, "none")
    page.get_by_role("link", name="New package").click()
    for id in titles:
        page.locator(f"#session-{id}").check()
        expect(page.locator(f"#offer input[value='{id}']")).to_have_count(1)
    expect(page.locator("#offer tbody tr")).to_have_count(2)
    checked(page, album, "offer")
    page.get_by_label("Title of the new conversation").fill("Webhook and parcels")
    page.locator("#seed-make").press("Enter")
    page.wait_for_url("**/review/seeds/*/")
    expect(page.get_by_text("2 of 2 stages ready")).to_be_visible()
    checked(page, album, "stages")
    page.locator("#package-next").press("Enter")
    expect(page.locator("#package-next")).to_have_text("Start a conversation")
    expect(page.locator("#package-next")).to_be_focused()
    checked(page, album, "together")
    page.locator("#package-next").press("Enter")
    page.wait_for_url("**/s/*/")
    before = len(provider.requests)
    say(page, "What is still open about the parcels?")
    is_in_state(page, 1, "completed")
    album.take(page, "started")
    sent = provider.requests[before]["messages"]
    assert any("carrier prints the labels" in message["content"] for message in sent)
