"""Decisions and open work, from the words they were said in to the ledger, and what becomes of them there."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import PHONE, WIDE, Visitor, begin, choose, is_in_state, looks, say, turn
from tests.browser.test_access import assert_accessible
from tests.browser.test_conversation import Album
from tests.browser.test_efforts import folder
from tests.fakes.provider import Call, FakeProvider, Reply

__all__ = ["folder"]

pytestmark = [pytest.mark.browser, pytest.mark.slow]

CHOSEN = "We decided on Postgres for billing."
LEFT = "TODO: rotate the signing key."
SELECT = """
text => {
  const said = document.querySelector("#turn-2 .prose");
  const walker = document.createTreeWalker(said, NodeFilter.SHOW_TEXT);
  let node = walker.nextNode();
  while (node && !node.textContent.includes(text)) node = walker.nextNode();
  const range = document.createRange();
  range.setStart(node, node.textContent.indexOf(text));
  range.setEnd(node, node.textContent.indexOf(text) + text.length);
  getSelection().removeAllRanges();
  getSelection().addRange(range);
}
"""


def record(kind: str, text: str) -> Call:
    return Call("record", json.dumps({"kind": kind, "text": text}))


def entry(page: Page, text: str) -> Locator:
    return page.locator("#ledger li", has=page.get_by_text(text, exact=True))


@looks(WIDE, "light")
def test_what_the_model_proposes_is_kept_and_replaced_and_work_is_done(
    guest: Visitor, provider: FakeProvider, folder: Path, width: int, theme: str
) -> None:
    page, album = guest.page(width=width, theme=theme), Album(folder, f"ledger-{width}-{theme}")
    provider.script = [
        Reply(calls=(record("decision", CHOSEN), record("open_work", LEFT))),
        Reply("I noted both."),
    ]
    begin(page, f"Two things. {CHOSEN} {LEFT}")
    is_in_state(page, 1, "completed")
    line = turn(page, 1).locator("details.notes", has_text="Keep 1 decision and 1 to-do?")
    line.locator("summary").first.click()
    album.take(page, "asked")
    line.get_by_role("button", name="Keep: Decision").click()
    question = turn(page, 1).locator(".note", has_text=f"To-do? “{LEFT}”")
    question.get_by_role("button", name="Keep").click()
    expect(question).to_have_count(0)

    provider.script = [Reply("Then we use **MySQL** for the reports.\n\nNothing else.")]
    say(page, "And the reports?")
    is_in_state(page, 2, "completed")
    turn(page, 2).locator(".msg.reply").hover()
    page.evaluate(SELECT, "for the reports.")
    choose(page, 2, "Note as decision, to-do or rule", "reply")
    dialog = page.locator("#dialog")
    field = dialog.locator("textarea")
    expect(field).to_have_value("for the reports.")
    expect(field).to_be_focused()
    field.fill("MySQL for the reports.")
    assert_accessible(page)
    album.take(page, "form")
    dialog.get_by_role("button", name="Decision", exact=True).click()
    expect(dialog).to_be_hidden()

    if width == PHONE:
        page.locator(".tabs [data-tab=aside]").click()
    expect(page.locator("#context")).to_contain_text("2 decisions, 1 to-do")
    album.take(page, "side")
    page.get_by_role("link", name="Show all").click()
    expect(entry(page, "MySQL for the reports.")).to_be_visible()
    assert_accessible(page)
    album.take(page, "ledger")

    entry(page, CHOSEN).get_by_role("link", name="Replace").click()
    expect(dialog).to_contain_text("What replaces it?")
    album.take(page, "replace")
    dialog.get_by_role("button", name="MySQL for the reports.").click()
    past = page.locator("#decision-past")
    past.locator("summary").click()
    expect(past).to_contain_text("Replaced by: MySQL for the reports.")
    work = entry(page, LEFT)
    name = re.sub(r"\D", "", work.get_attribute("id") or "")
    work.get_by_role("button", name="Done").click()
    expect(page.locator("#open_work-past")).to_contain_text("1 done")
    expect(past).to_have_attribute("open", "")
    page.locator("#open_work-past summary").click()
    work.get_by_role("button", name="Reopen").click()
    expect(work.get_by_role("button", name="Done")).to_be_visible()
    assert_accessible(page)
    album.take(page, "past")

    work.locator("a.num").click()
    expect(page.locator("#turn-1")).to_be_in_viewport()
    provider.script = [
        Reply(calls=(Call("resolve_open_work", json.dumps({"id": f"work-{name}"})),)),
        Reply("I noted that."),
    ]
    page.goto(page.url.split("log/")[0])
    say(page, "The key is rotated.")
    is_in_state(page, 3, "completed")
    asked = turn(page, 3).locator(".note", has_text=f"Done? “{LEFT}”")
    album.take(page, "done")
    asked.get_by_role("button", name="It is done").click()
    expect(asked).to_have_count(0)
