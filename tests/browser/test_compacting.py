"""Chosen turns by keyboard: from a message's menu to a summary that waits, with a link to its review."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import PHONE, Visitor, begin, is_in_state, looks, say, turn
from tests.browser.test_access import assert_accessible
from tests.browser.test_conversation import Album

pytestmark = [pytest.mark.browser, pytest.mark.slow]

SAID = (
    "The webhook handler posts every event to the ledger before it answers, and a cold ledger needs 28 seconds.",
    "We decided on a retry limit of 3, after 10, 60 and 300 seconds. Still open: an alert for the dead-letter list.",
    "The load test sent 500 events through the webhook in 41 seconds, without a duplicate and with two retries.",
)


def say_all(page: Page) -> None:
    for number, text in enumerate(SAID, 1):
        begin(page, text) if number == 1 else say(page, text)
        is_in_state(page, number, "completed")


def box(page: Page) -> tuple[float, float]:
    """Where the dialog begins, and how high it is."""
    found = page.locator("#dialog").bounding_box()
    assert found is not None
    return found["y"], found["height"]


def top_of(one: Locator) -> float:
    found = one.bounding_box()
    assert found is not None
    return found["y"]


@looks(1280, "light")
def test_turns_are_chosen_drafted_reviewed_accepted_and_expanded_from_the_panel_after_their_price(
    visitor: Visitor, width: int, theme: str, tmp_path: Path
) -> None:
    visitor.watch.expect("422")
    page = visitor.page(width=width, theme=theme)
    album = Album(Path(os.environ.get("CCM_SHOTS", tmp_path)), f"compacting-{width}-{theme}")
    say_all(page)
    chooses_two_turns(page, album)
    note = turn(page, 3).locator(".note", has_text="There are excerpts of turns 1-2.")
    expect(note).to_be_visible()
    expect(page.locator(".scopes")).to_contain_text("Waits for you")
    assert_accessible(page)
    album.take(page, "waits")
    review = note.get_by_role("link", name="Review the excerpts of turns 1-2")
    review.focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/review/**")
    page.keyboard.press("A")
    page.locator("#dialog button.primary").click()
    expect(page.locator("#standing")).to_contain_text("In the prompt instead of")
    page.goto(page.locator("#review-back").get_attribute("href") or "")
    page.keyboard.press("Alt+p")
    note = turn(page, 3).locator(".note", has_text="Excerpts now replace turns 1-2.")
    expect(note.locator(".rule")).to_have_text("Excerpts now replace turns 1-2.")
    expect(note.get_by_text("Saves")).to_be_visible()
    review, back = note.get_by_role("link", name="Review"), note.get_by_role("button", name="Roll back")
    assert abs(top_of(review) - top_of(back)) < 1
    page.keyboard.press("Alt+p")
    if width == PHONE:
        page.locator('[data-tab="efforts"]').click()
    expands_and_collapses(page, album)


def chooses_two_turns(page: Page, album: Album) -> None:
    """By keyboard, from the menu of the first."""
    page.locator("#more-of-1").press("Enter")
    page.locator("#compact-from-1").press("Enter")
    expect(page.locator("#scope-last")).to_be_focused()
    expect(page.locator("#scope-first")).to_have_value("1")
    page.keyboard.press("Control+a")
    page.keyboard.type("9")
    expect(page.locator("#scope-refusal")).to_have_text("There is no turn 9 here. Choose turns from 1 to 3.")
    album.take(page, "refused")
    page.keyboard.press("Enter")
    expect(page.locator("#scope-error")).to_be_visible()
    page.keyboard.press("Control+a")
    page.keyboard.type("2")
    expect(page.locator(".scope-facts")).to_contain_text("excerpts: no model is connected")
    expect(page.locator(".scope-ends dd").first).to_contain_text("The webhook handler posts every event")
    expect(page.locator(".scope-ends dd").last).to_contain_text("We decided on a retry limit of 3")
    assert_accessible(page)
    album.take(page, "dialog")
    page.keyboard.press("Enter")
    expect(page.locator("#dialog")).to_be_hidden()


def expands_and_collapses(page: Page, album: Album) -> None:
    page.locator("#scope-turns-1-2-expand summary").click()
    expect(page.locator("#scope-turns-1-2-expand .price")).to_contain_text("Expanding:")
    assert_accessible(page)
    album.take(page, "price")
    page.locator("#scope-turns-1-2-expand-do").focus()
    page.keyboard.press("Enter")
    expect(page.locator(".scopes")).to_contain_text("In use, expanded now")
    expect(page.locator("#effort-turns-1-2-row")).to_be_focused()
    expect(turn(page, 3).locator(".note", has_text="Expanded: turns 1-2")).to_be_attached()
    expect(turn(page, 1).locator(".cover")).to_have_text("Summarised, expanded in the prompt")
    assert_accessible(page)
    album.take(page, "expanded")
    page.get_by_role("button", name="Collapse turns 1-2").click()
    expect(page.locator(".scopes")).to_contain_text("In the prompt as excerpts")
    expect(turn(page, 3).locator(".note", has_text="Collapsed: turns 1-2 (back to summary)")).to_be_attached()


@looks(390, "dark")
def test_the_dialog_stays_where_it_is_and_who_reads_elsewhere_is_told_of_the_draft_and_led_to_it(
    visitor: Visitor, width: int, theme: str, tmp_path: Path
) -> None:
    page = visitor.page(width=width, theme=theme)
    album = Album(Path(os.environ.get("CCM_SHOTS", tmp_path)), f"choosing-{width}-{theme}")
    say_all(page)
    page.locator("#compact-from-1").dispatch_event("click")
    expect(page.locator(".scope-ends dd").last).to_contain_text("The load test sent 500 events")
    album.take(page, "chosen")
    before = box(page)
    page.locator("#scope-last").fill("2")
    expect(page.locator(".scope-ends dd").last).to_contain_text("We decided on a retry limit of 3")
    assert box(page) == before
    page.locator("#scope-last").fill("9")
    expect(page.locator(".scope-ends dd").last).to_have_text("There is no such turn.")
    assert box(page) == before
    assert_accessible(page)
    album.take(page, "no-such-turn")
    page.keyboard.press("Escape")
    expect(page.locator("#dialog")).to_be_hidden()

    page.set_viewport_size({"width": width, "height": 480})
    page.locator("#scroller").evaluate("node => node.scrollTo(0, 0)")
    expect(turn(page, 1)).to_be_in_viewport()
    page.locator("#compact-from-1").dispatch_event("click")
    page.locator("#scope-last").fill("2")
    page.keyboard.press("Enter")
    told = page.locator("#alerts .told")
    expect(told).to_contain_text("Excerpts of turns 1-2 wait for you.")
    expect(page.locator("#reviews-waiting")).to_contain_text("wait for you")
    # The turn is read again for its notice, which is led to then.
    review = turn(page, 3).get_by_role("link", name="Review the excerpts of turns 1-2")
    expect(review).to_be_attached()
    told.get_by_role("link", name="Show").click()
    expect(told).to_have_count(0)
    expect(review).to_be_focused()


# What a page hears of efforts that are summarised after an import, by a script of the page itself.
HEARS = """async heard => {
  const script = performance.getEntriesByType("resource").find(({ name }) => name.includes("/js/efforts"));
  const { Efforts } = await import(script.name);
  const none = () => {};
  const efforts = new Efforts("heard", { refresh: none, reload: none, context: none });
  const say = ([kind, effort]) => efforts.happened({ kind, effort, turn: 1, names: { effort: effort.toUpperCase() } });
  heard.forEach(say);
}"""


def test_what_comes_of_several_efforts_is_told_in_one_notice_that_counts(visitor: Visitor) -> None:
    page = visitor.page()
    begin(page, "Good morning.")
    is_in_state(page, 1, "completed")
    told = page.locator("#alerts .told")
    page.evaluate(HEARS, [("effort.digested", "a"), ("effort.digested", "a")])
    expect(told).to_contain_text("A is shown as excerpts, not a summary.")
    page.evaluate(HEARS, [("effort.digested", "b"), ("effort.digested", "c"), ("effort.digested", "d")])
    expect(told).to_contain_text("3 efforts are shown as excerpts, not summaries.")
    # What is of another kind is no part of the count, nor what was closed.
    page.evaluate(HEARS, [("effort.digested", "e"), ("effort.summary_waiting", "f")])
    expect(told).to_contain_text("The summary of F needs your approval.")
    expect(told).to_have_count(1)
