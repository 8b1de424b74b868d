"""The whole way through a conversation on the built-in engine, at a desk and on a phone, in light and in dark."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import PHONE, Visitor, begin, is_in_state, is_live, looks, reply_of, say, session_of, turn
from tests.fakes.provider import FakeProvider, Reply

pytestmark = pytest.mark.browser

TALK = (
    "The spring release goes out on 14 May, and Dana signs it off. The release needs a changelog.",
    "We keep the retry limit at 3, with 10, 60 and 300 seconds between two tries of the webhook.",
    "Priya is on call this week and looks at the dead-letter list every morning before nine.",
    "When is the release, and who signs it off?",
    "What did we say about the retry limit?",
)
# Quotes all of the above: long enough to be stopped, and reloaded, in the middle.
LAST = "What have we talked about so far?"


class Album:
    """Pictures of each step, in the folder named by CCM_SHOTS; none without it, as each takes as long as its step."""

    def __init__(self, folder: Path, name: str) -> None:
        self.folder, self.name, self.count = folder, name, 0

    def take(self, page: Page, step: str) -> None:
        if "CCM_SHOTS" not in os.environ:
            return
        self.count += 1
        page.screenshot(path=self.folder / f"{self.name}-{self.count:02}-{step}.png", animations="disabled")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = Path(os.environ.get("CCM_SHOTS", tmp_path))
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def show_list(page: Page, width: int) -> None:
    if width == PHONE:
        page.locator(".tabs [data-tab=side]").click()


def show_chat(page: Page, width: int) -> None:
    if width == PHONE:
        page.locator(".tabs [data-tab=main]").click()


def choose_in_menu(page: Page, width: int, entry: str) -> None:
    show_list(page, width)
    row = page.locator("#conversations li.current")
    row.hover()
    row.locator("summary").click()
    row.get_by_text(entry, exact=True).click()
    expect(page.locator("#dialog")).to_be_visible()


def starts_at_the_start_page(page: Page, album: Album) -> None:
    page.goto("/")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    album.take(page, "start")
    # One of its prompts begins a conversation too.
    page.locator(".prompts button").nth(1).click()
    is_live(page)
    is_in_state(page, 1, "completed")
    expect(turn(page, 1).locator(".prose")).to_contain_text("14 May")


def talks(page: Page, album: Album) -> None:
    begin(page, TALK[0])
    for number, text in enumerate(TALK[1:], 2):
        is_in_state(page, number - 1, "completed")
        say(page, text)
    is_in_state(page, len(TALK), "completed")
    assert "14 May" in reply_of(page, 4)
    assert "10, 60 and 300" in reply_of(page, 5)
    album.take(page, "talk")


def stops_the_sixth_in_mid_stream(page: Page, album: Album) -> None:
    say(page, LAST)
    expect(turn(page, 6).locator(".live")).to_contain_text(re.compile(r"\w+ \w+ \w+"))
    album.take(page, "streaming")
    seen = turn(page, 6).locator(".live").text_content()
    page.locator("#stop").click()
    is_in_state(page, 6, "stopped")
    assert seen
    # Blocks that are drawn stand a line apart, which what is still being written does not yet, and a quotation has its
    # mark only until its words come.
    whole, seen = (re.sub(r"^> ?", "", text, flags=re.MULTILINE) for text in (reply_of(page, 6), seen))
    assert " ".join(whole.split()).startswith(" ".join(seen.split()))
    album.take(page, "stopped")


def retries_it_and_reloads_while_it_streams(page: Page, album: Album) -> None:
    turn(page, 6).get_by_role("button", name="Retry").click()
    expect(turn(page, 6)).to_contain_text("attempt 2")
    expect(turn(page, 6).locator(".live")).to_contain_text(re.compile(r"\w+ \w+"))
    page.reload()
    is_live(page)
    is_in_state(page, 6, "completed")
    expect(turn(page, 6)).to_have_count(1)
    album.take(page, "retried")


def renames(page: Page, album: Album, width: int) -> None:
    choose_in_menu(page, width, "Rename or file")
    page.get_by_label("Title").fill("Spring release & <b>webhook</b>")
    album.take(page, "renaming")
    page.locator("#dialog").get_by_role("button", name="Save").click()
    expect(page.locator("#title")).to_have_text("Spring release & <b>webhook</b>")
    expect(page.locator("#conversations li.current")).to_contain_text("Spring release")
    album.take(page, "list")
    show_chat(page, width)


def deletes_it_with_a_moment_to_undo(page: Page, album: Album, width: int) -> None:
    choose_in_menu(page, width, "Delete")
    album.take(page, "delete")
    page.locator("#dialog").get_by_role("button", name="Delete").click()
    page.wait_for_url(lambda url: "/s/" not in url)
    show_list(page, width)
    expect(page.get_by_role("button", name="Undo")).to_be_visible()
    album.take(page, "deleted")


def texts(page: Page) -> list[str]:
    return [reply_of(page, number) for number in range(1, 7)]


@looks(PHONE, "dark")
def test_a_conversation_from_the_first_message_to_its_deletion(
    visitor: Visitor, folder: Path, width: int, theme: str
) -> None:
    context = visitor.context(width=width, theme=theme)
    page, album = context.new_page(), Album(folder, f"{width}-{theme}")
    starts_at_the_start_page(page, album)
    talks(page, album)
    stops_the_sixth_in_mid_stream(page, album)
    retries_it_and_reloads_while_it_streams(page, album)
    renames(page, album, width)

    second = context.new_page()
    second.goto(page.url)
    is_live(second)
    session = session_of(page)
    stored = visitor.app.rows(
        "SELECT m.text FROM efforts_message m JOIN efforts_turn t ON t.run_id = m.run_id "
        "WHERE m.role = 'assistant' AND m.text != '' AND m.session_id = ? ORDER BY m.id",
        session,
    )
    assert texts(second) == texts(page) == [text for (text,) in stored]

    deletes_it_with_a_moment_to_undo(page, album, width)
    expect(second.locator("#connection")).to_have_attribute("data-state", "closed")
    album.take(second, "gone-in-the-other-tab")
    expect(page.get_by_role("button", name="Undo")).to_have_count(0)
    assert visitor.app.rows("SELECT * FROM efforts_message WHERE session_id = ?", session) == []
    assert visitor.app.rows("SELECT * FROM efforts_event WHERE session_id = ?", session) == []


def test_keys_reach_the_words_a_new_conversation_and_what_was_sent_and_the_title_renames(
    page: Page, provider: FakeProvider
) -> None:
    provider.otherwise = Reply("It waits for the ledger.")
    begin(page, "Why does the webhook time out?")
    is_in_state(page, 1, "completed")
    expect(turn(page, 1).locator(".turn-number")).to_have_text("turn 1")
    page.locator("#scroller").focus()
    page.keyboard.press("?")
    words = page.locator("#dialog")
    expect(words.get_by_role("heading", name="Words", exact=True)).to_be_visible()
    expect(
        words.get_by_text("A piece of work with a name. It is open, waiting for its summary, concluded or expanded.")
    ).to_be_visible()
    page.keyboard.press("Escape")
    page.locator("#what-is-an-effort > summary").click()
    page.get_by_role("button", name="Other words").click()
    expect(words.get_by_role("heading", name="Words", exact=True)).to_be_focused()
    expect(words.get_by_text("Turn", exact=True)).to_be_in_viewport()
    page.keyboard.press("Escape")
    # Nothing was looked for here: the plan of the turn says what was sent.
    page.keyboard.press("Alt+i")
    expect(page.locator("#drawer")).to_be_visible()
    page.keyboard.press("Escape")
    page.locator("#title").click()
    page.get_by_label("Title").fill("The webhook")
    page.locator("#dialog").get_by_role("button", name="Save").click()
    expect(page.locator("#title")).to_have_text("The webhook")
    expect(page.locator("#dialog")).to_be_hidden()
    page.keyboard.press("Alt+n")
    expect(page.get_by_role("textbox", name="First message")).to_be_visible()
