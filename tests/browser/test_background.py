"""What goes on in a conversation that nobody is looking at, and how its end is told."""

from __future__ import annotations

import re
import threading

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Visitor, begin, is_in_state, is_live, turn
from tests.browser.test_accepting import waiting
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


def test_a_turn_goes_on_while_one_is_elsewhere_and_its_end_is_told(guest: Visitor, provider: FakeProvider) -> None:
    gate = threading.Event()
    context = guest.context()
    context.add_init_script(NOTIFICATIONS)
    page = context.new_page()
    provider.script = [Reply("It took a while.", gate=gate, gate_after=2)]
    begin(page, "The osprey report, please.")
    address = page.url
    expect(turn(page, 1).locator(".live")).to_contain_text("It took")
    begin(page, "Meanwhile something else.")
    is_in_state(page, 1, "completed")
    expect(row(page, "The osprey report")).to_contain_text("Replying")
    expect(page).not_to_have_title(re.compile(r"^\("))
    page.locator(".side .foot summary").click()
    page.get_by_role("button", name="Notify me of replies").click()
    expect(page.locator("#notify")).to_have_text("Stop notifying me")
    page.keyboard.press("Escape")
    page.locator("#text").focus()
    gate.set()
    expect(row(page, "The osprey report")).to_contain_text("New")
    expect(page).to_have_title(re.compile(r"^\(\d+\) Meanwhile something else"))
    assert ["There is something new", "The osprey report, please."] in page.evaluate("window.notified")
    # Who presses the notification is led there, where it is new no more.
    before = page.title()
    page.evaluate("window.newest.dispatchEvent(new Event('click'))")
    page.wait_for_url(address)
    is_live(page)
    is_in_state(page, 1, "completed")
    expect(row(page, "The osprey report")).not_to_contain_text("New")
    assert page.title() != before


def test_a_page_that_is_left_open_comes_to_know_of_a_summary_that_waits(guest: Visitor, provider: FakeProvider) -> None:
    idle = guest.page()
    idle.clock.install()
    idle.goto("/settings/")
    badge = idle.locator("#reviews-waiting")
    before = badge.inner_text()
    waiting(guest.page(), provider)
    expect(badge).to_have_text(before)
    with idle.expect_response("**/review/waiting/"):
        idle.clock.fast_forward("01:01")
    expect(badge).to_contain_text("wait for you")
    expect(badge).not_to_have_text(before)
