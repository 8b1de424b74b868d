"""A network that goes, a server that is killed, a second tab, a person who signs out."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import LINK, Visitor, begin, is_in_state, is_live, reply_of, say, session_of, turn
from tests.fakes.provider import FakeProvider, Reply
from tests.house.process import manage

pytestmark = [pytest.mark.browser, pytest.mark.slow]

# What a browser logs about a network that is not there.
NO_NETWORK = (
    r"ERR_INTERNET_DISCONNECTED|ERR_CONNECTION_RE(FUSED|SET)|WebSocket connection|ERR_NETWORK_CHANGED"
    r"|htmx:(sendError|afterRequest)"
)


@pytest.fixture
def gate() -> Iterator[threading.Event]:
    gate = threading.Event()
    yield gate
    gate.set()


def lamp(page: Page, state: str) -> None:
    expect(page.locator("#connection")).to_have_attribute("data-state", state)


def users_messages(guest: Visitor, page: Page) -> list[str]:
    query = "SELECT text FROM efforts_message WHERE role = 'user' AND session_id = ? ORDER BY id"
    return [text for (text,) in guest.app.rows(query, session_of(page))]


def test_two_tabs_show_the_same_text_as_it_comes_and_signing_out_in_one_closes_the_other(
    guest: Visitor, provider: FakeProvider, gate: threading.Event
) -> None:
    provider.script = [Reply("Grüße 👋🏽 an alle, in beiden Fenstern", gate=gate, gate_after=3)]
    said = manage("sign_in_link", "owner", "--base", guest.app.url.rstrip("/"), CCM_HOME=str(guest.app.home)).stdout
    context = guest.context(signed_in=False)
    one = context.new_page()
    one.goto(re.sub(r"\s.*", "", LINK.search(said)[0]))  # type: ignore[index]
    begin(one, "Say it twice.")
    expect(turn(one, 1).locator(".live")).to_have_text("Grüße 👋🏽 an")
    two = context.new_page()
    two.goto(one.url)
    is_live(two)
    expect(turn(two, 1).locator(".live")).to_have_text("Grüße 👋🏽 an")
    gate.set()
    for page in (one, two):
        is_in_state(page, 1, "completed")
    assert [reply_of(one, 1)] == [reply_of(two, 1)] == guest.app.replies(one)
    say(two, "From the other one.")
    is_in_state(one, 2, "completed")

    guest.watch.report()
    guest.watch.expect("403|401|htmx")
    one.locator("#text").press_sequentially("A secret draft")
    one.locator(".side .foot summary").click()
    one.get_by_role("button", name="Sign out").click()
    one.wait_for_url("**/sign-in/**")
    assert one.evaluate("Object.keys(localStorage).filter((key) => key.startsWith('ccm.draft'))") == []
    two.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    lamp(two, "closed")
    expect(two.locator("#alerts")).to_contain_text("signed out")
    # What several parts of the page run into is told once.
    for panel in ("context", "efforts"):
        with two.expect_response(lambda answer: answer.status == 401):
            two.evaluate("name => { document.body.dispatchEvent(new CustomEvent(name)) }", panel)
    expect(two.locator("#alerts").get_by_text("this page is too old")).to_have_count(1)


# When the network went, what the lamp was told since this page began, and when.
LAMP = """addEventListener('DOMContentLoaded', () => {
  window.shown = [];
  const lamp = document.getElementById('connection');
  if (!lamp) return;
  new MutationObserver(() => window.shown.push([lamp.dataset.state, performance.now()]))
    .observe(lamp, { attributes: true, attributeFilter: ['data-state'] });
  addEventListener('offline', () => { window.gone = performance.now(); });
})"""


def test_offline_nothing_that_comes_or_is_written_is_lost(
    guest: Visitor, provider: FakeProvider, gate: threading.Event
) -> None:
    guest.watch.expect(NO_NETWORK)
    provider.script = [Reply("Seen before the gap and after it", gate=gate, gate_after=3)]
    context = guest.context()
    context.add_init_script(LAMP)
    page = context.new_page()
    begin(page, "Go on.")
    expect(turn(page, 1).locator(".live")).to_have_text("Seen before the")
    context.set_offline(True)
    lamp(page, "offline")
    told = page.evaluate("window.shown.find(([state]) => state === 'offline')[1] - window.gone")
    assert told >= 2_900, "a drop of two seconds is shown to nobody"
    what_cannot_be_read_again_alarms_nobody(page)
    gate.set()
    with page.expect_response("**/conversations/**"):
        context.set_offline(False)
    is_live(page)
    is_in_state(page, 1, "completed")
    assert [reply_of(page, 1)] == guest.app.replies(page) == ["Seen before the gap and after it"]
    expect(page.locator("[data-missed]")).to_have_count(0)
    expect(page.locator("#alerts")).to_be_empty()
    # A reload tells of no lost connection.
    page.reload()
    is_live(page)
    say(page, "Still there?")
    is_in_state(page, 2, "completed")
    assert {state for state, _ in page.evaluate("window.shown")} == {"live"}
    expect(page.locator("#alerts")).to_be_empty()

    # What is written meanwhile is taken back, or waits, survives its tab, and is sent once.
    context.set_offline(True)
    lamp(page, "offline")
    say(page, "Better not.")
    page.locator("#pending").get_by_role("button", name="Cancel").click()
    expect(page.locator("#text")).to_have_value("Better not.")
    say(page, "On the train.")
    say(page, "In the tunnel.")
    expect(page.locator("#pending .said")).to_have_text(["On the train.", "In the tunnel."])
    expect(page.locator("#connection")).to_have_text("Offline, 2 messages waiting")
    address = page.url
    page.close()
    context.set_offline(False)
    later = context.new_page()
    later.goto(address)
    is_in_state(later, 4, "completed")
    expect(later.locator("#pending")).to_be_empty()
    assert users_messages(guest, later) == ["Go on.", "Still there?", "On the train.", "In the tunnel."]


def what_cannot_be_read_again_alarms_nobody(page: Page) -> None:
    """It is read when the connection is back."""
    for panel in ("conversations", "efforts", "context"):
        with page.expect_event("requestfailed"):
            page.evaluate("name => { document.body.dispatchEvent(new CustomEvent(name)) }", panel)
    # With the efforts the count of waiting reviews is asked for.
    expect(page.locator("[data-missed]")).to_have_count(4)


def test_a_killed_server_comes_back_with_all_that_was_seen(
    guest: Visitor, provider: FakeProvider, gate: threading.Event
) -> None:
    guest.watch.expect(NO_NETWORK)
    provider.script = [Reply("These words were seen and these were not", gate=gate, gate_after=4)]
    page = guest.page()
    begin(page, "Go on.")
    expect(turn(page, 1).locator(".live")).to_have_text("These words were seen")
    guest.app.kill()
    say(page, "Sent to nobody.")
    lamp(page, "reconnecting")
    guest.app.start_again()
    is_live(page)
    is_in_state(page, 2, "completed")
    is_in_state(page, 1, "interrupted")
    assert reply_of(page, 1) == "These words were seen"
    assert users_messages(guest, page) == ["Go on.", "Sent to nobody."]

    # Retry is offered where the last turn was cut off.
    provider.script = [Reply("Cut off here and there", gate=gate, gate_after=2), Reply("Whole again.")]
    say(page, "And on.")
    expect(turn(page, 3).locator(".live")).to_have_text("Cut off")
    guest.app.kill()
    guest.app.start_again()
    is_in_state(page, 3, "interrupted")
    is_live(page)
    turn(page, 3).get_by_role("button", name="Retry").click()
    is_in_state(page, 3, "completed")
    assert reply_of(page, 3) == "Whole again."
