"""What goes on in a conversation that nobody is looking at, and how its end is told."""

from __future__ import annotations

import re
import threading

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Visitor, begin, is_in_state, is_live, turn
from tests.fakes.provider import FakeProvider, Reply

pytestmark = [pytest.mark.browser, pytest.mark.slow]

# In the place of the system's, which no test can read.
NOTIFICATIONS = """
  window.notified = [];
  window.Notification = class extends EventTarget {
    static permission = "default";
    static async requestPermission() { return (this.permission = "granted"); }
    constructor(title, how) { super(); window.notified.push([title, how.body]); window.newest = this; }
  };
"""


def row(page: Page, title: str):
    return page.locator("#conversations li").filter(has_text=title)


def news(page: Page) -> int:
    """How many conversations have something new, those of other tests among them."""
    found = re.match(r"\((\d+)\)", page.title())
    return int(found[1]) if found else 0


def test_a_turn_goes_on_while_one_is_elsewhere_and_its_end_is_told(guest: Visitor, provider: FakeProvider) -> None:
    gate = threading.Event()
    context = guest.context()
    context.add_init_script(NOTIFICATIONS)
    page = context.new_page()
    provider.script = [Reply("It took a while.", gate=gate, gate_after=2)]
    begin(page, "The osprey report, please.")
    address = page.url
    expect(turn(page, 1).locator(".live")).to_contain_text("It took")
    known = news(page)
    begin(page, "Meanwhile something else.")
    is_in_state(page, 1, "completed")
    expect(row(page, "The osprey report")).to_contain_text("Replying")
    expect(page).to_have_title(re.compile(rf"^\({known}\) Meanwhile" if known else "^Meanwhile"))
    page.locator(".side .foot summary").click()
    page.get_by_role("button", name="Notify me of replies").click()
    expect(page.locator("#notify")).to_have_text("Stop notifying me")
    page.keyboard.press("Escape")
    page.locator("#text").focus()
    gate.set()
    expect(row(page, "The osprey report")).to_contain_text("New")
    expect(page).to_have_title(re.compile(rf"^\({known + 1}\) Meanwhile something else"))
    assert ["There is something new", "The osprey report, please."] in page.evaluate("window.notified")
    # Who presses the notification is led there, where it is new no more.
    before = page.title()
    page.evaluate("window.newest.dispatchEvent(new Event('click'))")
    page.wait_for_url(address)
    is_live(page)
    is_in_state(page, 1, "completed")
    expect(row(page, "The osprey report")).not_to_contain_text("New")
    assert page.title() != before


def test_who_deletes_from_the_list_stands_at_undo_and_then_at_the_row_again(guest: Visitor) -> None:
    page = guest.page()
    begin(page, "The plover report, please.")
    begin(page, "Meanwhile something else.")
    is_in_state(page, 1, "completed")
    plover = row(page, "The plover report")
    button = plover.locator("summary")
    button.focus()
    page.keyboard.press("Enter")
    plover.get_by_role("link", name="Delete").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#dialog").get_by_role("button", name="Delete")).to_be_focused()
    page.keyboard.press("Enter")
    undo = page.locator(".deleted button")
    expect(undo).to_be_focused()
    page.keyboard.press("Enter")
    expect(button).to_be_focused()
    # What is gone for good takes its Undo with it, and the focus stays in the list.
    page.keyboard.press("Enter")
    plover.get_by_role("link", name="Delete").focus()
    page.keyboard.press("Enter")
    page.locator("#dialog").get_by_role("button", name="Delete").click()
    expect(undo).to_be_focused()
    expect(undo).to_have_count(0)
    expect(page.locator("#conversations")).to_be_focused()
