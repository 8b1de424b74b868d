"""A turn on the page: streamed, stopped, failed, waiting, too large; and what the reader's scroll position is worth."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from itertools import pairwise

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Visitor, begin, choose, interceptable, is_in_state, is_live, reply_of, say, turn
from tests.fakes.provider import CUT, Call, FakeProvider, NoAnswer, Reply, Status

pytestmark = pytest.mark.browser


@pytest.fixture
def gate() -> Iterator[threading.Event]:
    gate = threading.Event()
    yield gate
    gate.set()


def test_text_shows_while_it_comes_and_stands_as_markdown(
    page: Page, provider: FakeProvider, gate: threading.Event
) -> None:
    provider.script = [Reply("Some **bold** words\n\n- one\n- two", gate=gate, gate_after=3)]
    begin(page, "Say something.")
    expect(turn(page, 1).locator(".live")).to_have_text("Some **bold** words")
    gate.set()
    is_in_state(page, 1, "completed")
    expect(turn(page, 1).locator(".prose strong")).to_have_text("bold")
    expect(turn(page, 1).locator(".prose li")).to_have_count(2)
    expect(turn(page, 1).locator(".live")).to_have_count(0)
    turn(page, 1).get_by_role("button", name="Copy the reply as Markdown").click()
    expect(page.locator("#says")).to_have_text("Copied")
    assert page.evaluate("navigator.clipboard.readText()") == "Some **bold** words\n\n- one\n- two"


def test_a_turn_is_stopped_before_its_first_word_and_by_a_key_after_it(
    guest: Visitor, provider: FakeProvider, gate: threading.Event
) -> None:
    page = guest.page()
    provider.script = [NoAnswer(), Reply("Here I am."), Reply("Word after word after word", gate=gate, gate_after=3)]
    begin(page, "Are you there?")
    expect(turn(page, 1)).to_contain_text("Waiting for the model")
    page.locator("#stop").click()
    is_in_state(page, 1, "stopped")
    turn(page, 1).get_by_role("button", name="Retry").click()
    is_in_state(page, 1, "completed")
    assert reply_of(page, 1) == "Here I am."
    say(page, "Go on.")
    expect(turn(page, 2).locator(".live")).to_contain_text("Word after word")
    page.locator("#text").focus()
    page.keyboard.press("Escape")
    is_in_state(page, 2, "stopped")
    assert reply_of(page, 2) == "Word after word"
    expect(turn(page, 2).locator(".status-line")).to_contain_text("Stopped")
    # What the model goes on to write grows onto no page, not even one that is read again.
    gate.set()
    page.reload()
    is_live(page)
    assert [reply_of(page, 2)] == ["Word after word"] == guest.app.replies(page)[-1:]


def test_what_failed_is_explained_and_the_last_turn_alone_is_tried_again(page: Page, provider: FakeProvider) -> None:
    refused = Status(401, "Incorrect API key provided")
    provider.script = [refused, Reply("Now it works."), Reply("Half of an", ending=CUT)]
    begin(page, "Hello?")
    is_in_state(page, 1, "failed")
    expect(turn(page, 1)).to_contain_text("Incorrect API key provided")
    retry = "Retry"
    turn(page, 1).get_by_role("button", name=retry).click()
    is_in_state(page, 1, "completed")
    say(page, "Tell me.")
    is_in_state(page, 2, "failed")
    expect(turn(page, 2).locator(".prose")).to_have_text("Half of an")
    expect(turn(page, 2)).to_contain_text("broke off")
    expect(turn(page, 2).get_by_role("button", name=retry)).to_be_visible()
    say(page, "Never mind.")
    is_in_state(page, 3, "completed")
    expect(turn(page, 2).get_by_role("button", name=retry)).to_have_count(0)


def test_a_waiting_message_is_cancelled_and_put_back_or_goes_when_its_time_has_come(
    page: Page, provider: FakeProvider, gate: threading.Event
) -> None:
    provider.script = [Reply("First things first", gate=gate, gate_after=2), Reply("And the third.")]
    begin(page, "First.")
    expect(turn(page, 1).locator(".live")).to_have_text("First things")
    say(page, "Second, in a hurry.")
    is_in_state(page, 2, "queued")
    expect(turn(page, 2)).to_contain_text("Waiting for the previous turn")
    turn(page, 2).hover()
    turn(page, 2).get_by_role("button", name="Cancel").click()
    is_in_state(page, 2, "cancelled")
    turn(page, 2).get_by_role("button", name="Put back").click()
    expect(page.locator("#text")).to_have_value("Second, in a hurry.")
    say(page, "Third.")
    is_in_state(page, 3, "queued")
    gate.set()
    is_in_state(page, 3, "completed")
    assert [reply_of(page, 1), reply_of(page, 3)] == ["First things first", "And the third."]
    assert len(provider.requests) == 2


def test_a_message_over_the_budget_says_what_needs_how_much_and_how_to_go_on(page: Page) -> None:
    begin(page, "Short.")
    is_in_state(page, 1, "completed")
    for number, fix in ((2, "Send only the beginning and end"), (3, "Raise the budget")):
        page.locator("#text").fill("word " * 20_000)
        expect(page.locator("#price")).to_have_text(re.compile(r"over the budget\s*$"))
        page.locator("#send").click()
        is_in_state(page, number, "failed")
        expect(turn(page, number).locator(".notice")).to_contain_text(re.compile(r"20,\d\d\d"))
        turn(page, number).get_by_role("button", name=fix).click()
        is_in_state(page, number, "completed")


LONG = "\n\n".join(f"Paragraph {number} has a few words to fill a line or two of the page." for number in range(1, 60))
LAST_LINE = """page => {
  const walker = document.createTreeWalker(document.querySelector('#turn-1 .reply'), NodeFilter.SHOW_TEXT);
  let found;
  while (walker.nextNode()) if (walker.currentNode.textContent.includes('Omega')) found = walker.currentNode;
  const range = document.createRange();
  range.setStart(found, found.textContent.indexOf('Omega'));
  range.setEnd(found, found.textContent.indexOf('Omega') + 5);
  return range.getBoundingClientRect().top;
}"""


@pytest.mark.parametrize("before", ["", LONG + "\n\n"], ids=["short", "long"])
def test_nothing_jumps_when_markdown_replaces_the_text_as_it_came(
    page: Page, provider: FakeProvider, gate: threading.Event, before: str
) -> None:
    text = f"{before}Alpha one.\n\nBeta two.\n\nGamma three.\n\nDelta four.\n\nOmega last"
    provider.script = [Reply(text, gate=gate, gate_after=len(Reply(text).pieces()))]
    begin(page, "Five paragraphs, please.")
    expect(turn(page, 1).locator(".live")).to_contain_text("Omega last")
    shown = page.evaluate(LAST_LINE)
    gate.set()
    is_in_state(page, 1, "completed")
    assert abs(page.evaluate(LAST_LINE) - shown) < 22


GROWS_BEFORE_THE_SCROLL_EVENT = """async () => {
  const scroller = document.getElementById('scroller');
  const more = document.createElement('div');
  more.style.height = '300px';
  document.getElementById('log').append(more);
  scroller.dispatchEvent(new Event('scroll'));
  await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  return scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight;
}"""


def test_a_long_reply_is_followed_to_its_end_also_where_text_grows_between_two_frames(
    page: Page, provider: FakeProvider
) -> None:
    provider.script = [Reply(LONG, pace_seconds=0.002)]
    begin(page, "At length, please.")
    is_in_state(page, 1, "completed")
    expect(turn(page, 1).get_by_text("Paragraph 59")).to_be_in_viewport()
    expect(page.locator("#latest")).to_be_hidden()
    # It is not taken for a reader who scrolls.
    assert page.evaluate(GROWS_BEFORE_THE_SCROLL_EVENT) < 2
    expect(page.locator("#latest")).to_be_hidden()


def test_a_reader_who_scrolled_up_is_left_alone(page: Page, provider: FakeProvider, gate: threading.Event) -> None:
    pieces = Reply(LONG).pieces()
    provider.script = [Reply(LONG, gate=gate, gate_after=len(pieces) // 2)]
    begin(page, "At length, please.")
    expect(turn(page, 1).locator(".live")).to_contain_text("Paragraph 28")
    page.locator("#scroller").hover()
    page.mouse.wheel(0, -400)
    expect(page.locator("#latest")).to_be_visible()
    page.evaluate("() => new Promise(requestAnimationFrame)")
    top = page.locator("#scroller").evaluate("node => node.scrollTop")
    gate.set()
    expect(page.locator("#log")).to_contain_text("Paragraph 59")
    assert abs(page.locator("#scroller").evaluate("node => node.scrollTop") - top) < 2
    page.get_by_role("button", name="Newest").click()
    expect(page.locator("#latest")).to_be_hidden()
    is_in_state(page, 1, "completed")
    expect(turn(page, 1).get_by_text("Paragraph 59")).to_be_in_viewport()


def test_who_sends_from_further_up_is_led_to_the_end_and_follows_the_reply(page: Page, provider: FakeProvider) -> None:
    provider.script = [Reply(LONG), Reply(LONG, pace_seconds=0.002)]
    begin(page, "At length, please.")
    is_in_state(page, 1, "completed")
    page.locator("#scroller").hover()
    page.mouse.wheel(0, -600)
    expect(page.locator("#latest")).to_be_visible()
    say(page, "And once more.")
    expect(page.locator("#latest")).to_be_hidden()
    is_in_state(page, 2, "completed")
    expect(turn(page, 2).get_by_text("Paragraph 59")).to_be_in_viewport()


HEARD = """() => {
  window.heard = [];
  for (const id of ["says", "alerts"]) {
    const region = document.getElementById(id);
    new MutationObserver(() => region.textContent && window.heard.push(region.textContent))
      .observe(region, { childList: true, characterData: true, subtree: true });
  }
}"""


def test_a_screen_reader_hears_how_a_turn_stands_and_not_each_word(page: Page, provider: FakeProvider) -> None:
    provider.script = [
        Reply("All right."),
        Reply("One word after another, and none of them read out.", pace_seconds=0.01),
    ]
    begin(page, "Hello.")
    is_in_state(page, 1, "completed")
    page.evaluate(HEARD)
    say(page, "Go on.")
    is_in_state(page, 2, "completed")
    page.wait_for_function("() => window.heard.includes('The reply is complete')")
    assert page.evaluate("window.heard") == ["Preparing the reply", "The reply is complete"]
    expect(page.locator("#log")).to_have_attribute("aria-live", "off")
    expect(page.locator("#log :is([aria-live], [role=status], [role=alert])")).to_have_count(0)


def test_a_call_has_room_before_and_after_it(page: Page, provider: FakeProvider) -> None:
    call = Call("open_effort", '{"name": "auth bug"}')
    provider.script = [Reply("Let me write that down.", calls=(call,)), Reply("It is written down.")]
    begin(page, "Users are logged out.")
    is_in_state(page, 1, "completed")
    boxes = page.locator("#turn-1 .reply > :is(.prose, .tool)").evaluate_all(
        "all => all.map(one => one.getBoundingClientRect()).map(({ top, bottom }) => [top, bottom])"
    )
    assert len(boxes) == 3
    gaps = [after[0] - before[1] for before, after in pairwise(boxes)]
    assert min(gaps) >= 4


def test_what_a_reply_may_hold_html_scripts_of_either_direction_and_code(page: Page, provider: FakeProvider) -> None:
    attack = "<img src=x onerror='window.hacked = 1'><script>window.hacked = 2</script> [x](javascript:hacked=3)"
    provider.script = [
        Reply(attack),
        Reply("שלום. התשובה היא 42."),
        Reply("これは日本語の返事です。"),
        Reply("Look:\n\n```python\nx = " + "1 + " * 200 + "1 < 2\n```"),
    ]
    begin(page, attack)
    is_in_state(page, 1, "completed")
    assert page.evaluate("window.hacked") is None
    assert page.locator("#log img, #log script, #log a[href^=javascript], #side img").count() == 0
    expect(turn(page, 1).locator(".said")).to_have_text(attack)
    expect(page.locator("#title")).to_contain_text("<img src=x")

    say(page, "مرحبا، متى موعد الإصدار؟")
    is_in_state(page, 2, "completed")
    expect(turn(page, 2).locator(".said")).to_have_css("direction", "rtl")
    expect(turn(page, 2).locator(".prose")).to_have_css("direction", "rtl")
    say(page, "次のリリースはいつですか？" * 12)
    is_in_state(page, 3, "completed")
    expect(turn(page, 3).locator(".said")).to_have_css("direction", "ltr")
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")

    say(page, "Code, please.")
    is_in_state(page, 4, "completed")
    # The finished turn takes the place of the streamed one: the block is looked up anew until it is laid out.
    overflow = "() => (code => code?.scrollWidth %s code?.clientWidth)(document.querySelector('.code pre'))"
    page.wait_for_function(overflow % ">")
    turn(page, 4).locator(".code").get_by_role("button", name="Copy").click()
    expect(turn(page, 4).locator(".code").get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == "x = " + "1 + " * 200 + "1 < 2\n"
    turn(page, 4).get_by_role("button", name="Wrap").press("Enter")
    page.wait_for_function(overflow % "<=")
    page.reload()
    expect(turn(page, 4).get_by_role("button", name="Wrap")).to_have_attribute("aria-pressed", "true")
    page.wait_for_function(overflow % "<=")


def test_a_finished_turn_that_reads_as_before_is_left_alone(page: Page) -> None:
    interceptable(page)
    begin(page, "What is a queue?")
    is_in_state(page, 1, "completed")
    page.reload()
    is_live(page)
    turn(page, 1).evaluate("node => { node.dataset.mine = 'yes' }")
    page.route("**/turns/1/verdict/", lambda route: route.fulfill(json={}))
    for _ in range(2):
        with page.expect_response("**/turns/1/"):
            choose(page, 1, "A good answer", "reply")
    page.unroute("**/turns/1/verdict/")
    expect(turn(page, 1)).to_have_attribute("data-mine", "yes")
    choose(page, 1, "A good answer", "reply")
    expect(turn(page, 1)).not_to_have_attribute("data-mine", "yes")
