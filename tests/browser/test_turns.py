"""A turn on the page: streamed, stopped, failed, waiting; and what the reader's scroll position is worth."""

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


HEARD = """() => {
  window.heard = [];
  for (const id of ["says", "alerts"]) {
    const region = document.getElementById(id);
    new MutationObserver(() => region.textContent && window.heard.push(region.textContent))
      .observe(region, { childList: true, characterData: true, subtree: true });
  }
}"""


def test_a_reply_shows_while_it_comes_is_heard_when_it_is_complete_and_is_left_alone_while_it_stands(
    page: Page, provider: FakeProvider, gate: threading.Event
) -> None:
    interceptable(page)
    provider.script = [
        Reply("Some **bold** words\n\n- one\n- two", gate=gate, gate_after=3),
        Reply("One word after another, and none of them read out.", pace_seconds=0.01),
    ]
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

    # A screen reader hears how a turn stands, and not each word.
    page.evaluate(HEARD)
    say(page, "Go on.")
    is_in_state(page, 2, "completed")
    page.wait_for_function("() => window.heard.includes('The reply is complete')")
    assert page.evaluate("window.heard") == ["Preparing the reply", "The reply is complete"]
    expect(page.locator("#log")).to_have_attribute("aria-live", "off")
    expect(page.locator("#log :is([aria-live], [role=status], [role=alert])")).to_have_count(0)

    # A finished turn that reads as before is not put in its own place.
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


def test_a_turn_is_stopped_before_its_first_word_and_by_a_key_after_it(
    guest: Visitor, provider: FakeProvider, gate: threading.Event
) -> None:
    page = guest.page()
    provider.script = [NoAnswer(), Reply("Here I am."), Reply("Word after word after word", gate=gate, gate_after=3)]
    begin(page, "Are you there?")
    expect(turn(page, 1)).to_contain_text("Waiting for the model")
    page.locator("#stop").click()
    is_in_state(page, 1, "stopped")
    expect(page.locator("#text")).to_be_focused()
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


def test_a_model_that_is_silent_for_long_is_said_to_be_waited_for_and_how_long(
    page: Page, provider: FakeProvider, gate: threading.Event
) -> None:
    provider.script = [Reply("There.", gate=gate)]
    page.clock.install()
    begin(page, "Read all of it.")
    waiting = turn(page, 1).locator(".when-preparing")
    expect(waiting).to_have_text("Waiting for the model")
    page.clock.run_for(15_000)
    expect(waiting).to_have_text(re.compile(r"Waiting for the model · \d\d s"))
    gate.set()
    is_in_state(page, 1, "completed")


def test_what_failed_is_tried_again_and_what_waits_is_cancelled_or_goes_when_its_time_has_come(
    page: Page, provider: FakeProvider, gate: threading.Event
) -> None:
    refused = Status(401, "Incorrect API key provided")
    provider.script = [refused, Reply("Now it works."), Reply("Half of an", ending=CUT)]
    begin(page, "Hello?")
    is_in_state(page, 1, "failed")
    expect(turn(page, 1)).to_contain_text("Incorrect API key provided")
    turn(page, 1).get_by_role("button", name="Retry").click()
    is_in_state(page, 1, "completed")
    say(page, "Tell me.")
    is_in_state(page, 2, "failed")
    expect(turn(page, 2).locator(".prose")).to_have_text("Half of an")
    expect(turn(page, 2)).to_contain_text("broke off")
    expect(turn(page, 2).get_by_role("button", name="Retry")).to_be_visible()
    say(page, "Never mind.")
    is_in_state(page, 3, "completed")
    expect(turn(page, 2).get_by_role("button", name="Retry")).to_have_count(0)

    # What waits is cancelled and put back, or goes when its time has come.
    asked = len(provider.requests)
    provider.script = [Reply("First things first", gate=gate, gate_after=2), Reply("And the third.")]
    say(page, "First.")
    expect(turn(page, 4).locator(".live")).to_have_text("First things")
    say(page, "Second, in a hurry.")
    is_in_state(page, 5, "queued")
    expect(turn(page, 5)).to_contain_text("Waiting for the previous turn")
    turn(page, 5).hover()
    turn(page, 5).get_by_role("button", name="Cancel").click()
    is_in_state(page, 5, "cancelled")
    turn(page, 5).get_by_role("button", name="Put back").click()
    expect(page.locator("#text")).to_have_value("Second, in a hurry.")
    say(page, "Third.")
    is_in_state(page, 6, "queued")
    gate.set()
    is_in_state(page, 6, "completed")
    assert [reply_of(page, 4), reply_of(page, 6)] == ["First things first", "And the third."]
    assert len(provider.requests) == asked + 2


LONG = "\n\n".join(f"Paragraph {number} has a few words to fill a line or two of the page." for number in range(1, 60))
GROWS_BEFORE_THE_SCROLL_EVENT = """async () => {
  const scroller = document.getElementById('scroller');
  const more = document.createElement('div');
  more.style.height = '300px';
  document.getElementById('log').append(more);
  scroller.dispatchEvent(new Event('scroll'));
  await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  return scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight;
}"""


def test_a_long_reply_is_followed_but_by_a_reader_who_scrolled_up_until_they_send(
    page: Page, provider: FakeProvider, gate: threading.Event
) -> None:
    half = len(Reply(LONG).pieces()) // 2
    provider.script = [
        Reply(LONG, pace_seconds=0.002),
        Reply(LONG, gate=gate, gate_after=half),
        Reply(LONG, pace_seconds=0.002),
    ]
    begin(page, "At length, please.")
    latest, scroller = page.locator("#latest"), page.locator("#scroller")
    stands_at_the_end_of(page, 1)
    # Text that grows between two frames is not taken for a reader who scrolls.
    assert page.evaluate(GROWS_BEFORE_THE_SCROLL_EVENT) < 2
    expect(latest).to_be_hidden()

    # Who scrolled up is left alone.
    say(page, "And once more.")
    expect(turn(page, 2).locator(".live")).to_contain_text("Paragraph 28")
    scroller.hover()
    page.mouse.wheel(0, -400)
    expect(latest).to_be_visible()
    page.evaluate("() => new Promise(requestAnimationFrame)")
    top = scroller.evaluate("node => node.scrollTop")
    gate.set()
    expect(turn(page, 2)).to_contain_text("Paragraph 59")
    assert abs(scroller.evaluate("node => node.scrollTop") - top) < 2
    page.get_by_role("button", name="Newest").click()
    stands_at_the_end_of(page, 2)

    # Who sends from further up is led to the end, and follows the reply.
    scroller.hover()
    page.mouse.wheel(0, -600)
    expect(latest).to_be_visible()
    say(page, "And a third time.")
    expect(latest).to_be_hidden()
    stands_at_the_end_of(page, 3)


def stands_at_the_end_of(page: Page, number: int) -> None:
    is_in_state(page, number, "completed")
    expect(turn(page, number).get_by_text("Paragraph 59")).to_be_in_viewport()
    expect(page.locator("#latest")).to_be_hidden()


def test_what_a_reply_may_hold_html_scripts_of_either_direction_code_and_calls(
    page: Page, provider: FakeProvider
) -> None:
    attack = "<img src=x onerror='window.hacked = 1'><script>window.hacked = 2</script> [x](javascript:hacked=3)"
    provider.script = [
        Reply(attack),
        Reply("שלום. התשובה היא 42."),
        Reply("これは日本語の返事です。"),
        Reply("Look:\n\n```python\nx = " + "1 + " * 200 + "1 < 2\n```"),
        Reply("Let me write that down.", calls=(Call("open_effort", '{"name": "auth bug"}'),)),
        Reply("It is written down."),
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

    # A call has room before and after it.
    say(page, "Users are logged out.")
    is_in_state(page, 5, "completed")
    boxes = page.locator("#turn-5 .reply > :is(.prose, .tool)").evaluate_all(
        "all => all.map(one => one.getBoundingClientRect()).map(({ top, bottom }) => [top, bottom])"
    )
    assert len(boxes) == 3
    assert min(after[0] - before[1] for before, after in pairwise(boxes)) >= 4
