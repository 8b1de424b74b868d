"""A rule from the message it was said in to the prompt that holds it, and back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import PHONE, WIDE, Visitor, begin, choose, is_in_state, looks, say, turn
from tests.browser.test_access import IN_A_TAB, assert_accessible
from tests.browser.test_conversation import Album
from tests.browser.test_efforts import folder
from tests.fakes.provider import Call, FakeProvider, Reply

__all__ = ["folder"]

pytestmark = [pytest.mark.browser, pytest.mark.slow]

RULE = "Never touch the production database."
SELECT = """
text => {
  const node = document.querySelector("#turn-2 .said").firstChild;
  const range = document.createRange();
  range.setStart(node, node.textContent.indexOf(text));
  range.setEnd(node, node.textContent.indexOf(text) + text.length);
  getSelection().removeAllRanges();
  getSelection().addRange(range);
}
"""


def record(text: str) -> Call:
    return Call("record", json.dumps({"kind": "constraint", "text": text}))


def panel(page: Page, width: int) -> Locator:
    if width == PHONE:
        page.locator(".tabs [data-tab=aside]").click()
    return page.locator("#context .rules")


def back(page: Page, width: int) -> None:
    if width == PHONE:
        page.locator(".tabs [data-tab=main]").click()


@looks(WIDE, "light")
def test_a_rule_is_offered_set_sent_and_taken_back(
    guest: Visitor, provider: FakeProvider, folder: Path, width: int, theme: str
) -> None:
    page, album = guest.page(width=width, theme=theme), Album(folder, f"rules-{width}-{theme}")
    provider.script = [Reply(calls=(record(RULE),)), Reply("Shall that be a rule?")]
    begin(page, "Please fix the export, and keep away from the production database. Thanks a lot!")
    is_in_state(page, 1, "completed")
    note = turn(page, 1).locator(".note", has_text=f"Make this a rule? {RULE}")
    expect(note).to_be_visible()
    album.take(page, "offered")
    note.get_by_role("button", name="Set", exact=False).click()
    expect(note).to_have_count(0)
    expect(turn(page, 1).locator(".note", has_text=f"Rule set: {RULE}")).to_be_visible()
    expect(panel(page, width).locator("li")).to_contain_text([RULE])
    album.take(page, "panel")
    back(page, width)

    provider.script = [Reply(calls=(record("Answer in short sentences."),)), Reply("I will.")]
    say(page, "The export is slow.\nAnswer in short sentences. What can we do with the index of the table?")
    is_in_state(page, 2, "completed")
    assert provider.requests[-1]["messages"][0]["content"].endswith(f"1. {RULE}\n2. Answer in short sentences.")
    undo = turn(page, 2).get_by_role("button", name="Undo: Rule set")
    expect(undo).to_be_visible()
    album.take(page, "recorded")
    undo.click()
    # The turn is read again; what is selected before that is not selected after it.
    expect(undo).to_have_count(0)
    expect(panel(page, width).locator("li")).to_have_count(1)
    back(page, width)

    turn(page, 2).locator(".msg.user").hover()
    page.evaluate(SELECT, "The export is slow.")
    choose(page, 2, "Make this a rule")
    field = page.locator("#dialog textarea")
    expect(field).to_have_value("The export is slow.")
    expect(field).to_be_focused()
    field.fill("Keep the export fast.")
    assert_accessible(page)
    album.take(page, "form")
    page.locator("#dialog").get_by_role("button", name="Set").click()
    rules = panel(page, width).locator("li")
    expect(rules).to_have_count(2)
    rules.nth(0).get_by_role("button", name="Take back").click()
    expect(rules).to_contain_text(["Keep the export fast."])
    assert_accessible(page, IN_A_TAB if width == PHONE else None)
    album.take(page, "taken-back")
