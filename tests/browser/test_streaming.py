"""A long reply while it comes: rendered block by block, and nothing moves under the reader."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, Route, WebSocketRoute, expect

from tests.browser.conftest import begin, interceptable, is_in_state, say, turn, until
from tests.fakes.provider import FakeProvider, Reply

SECTION = """## Section {0}

Some **bold** words of section {0}, long enough that they fill more than one line of the page, as paragraphs do,
and a `name` besides.

- first thing of {0}
- second thing
  - and a third below it

| name | count |
|------|------:|
| a    | {0}   |
| b    | 2     |

```python
def section_{0}(value):
    # a comment

    return value + {0}
```

1. one

2. two

"""
LONG = "".join(SECTION.format(number) for number in range(1, 13)) + "The last words."


pytestmark = pytest.mark.browser


@pytest.fixture
def gate() -> Iterator[threading.Event]:
    gate = threading.Event()
    yield gate
    gate.set()


PARAGRAPHS = "\n\n".join(f"Paragraph {number} has a few words to fill a line or two." for number in range(1, 60))
FIVE = "Alpha one.\n\nBeta two.\n\nGamma three.\n\nDelta four.\n\nOmega last"
LAST_LINE = """number => {
  const reply = document.querySelector(`#turn-${number} .reply`);
  const walker = document.createTreeWalker(reply, NodeFilter.SHOW_TEXT);
  let found;
  while (walker.nextNode()) if (walker.currentNode.textContent.includes('Omega')) found = walker.currentNode;
  const range = document.createRange();
  range.setStart(found, found.textContent.indexOf('Omega'));
  range.setEnd(found, found.textContent.indexOf('Omega') + 5);
  return range.getBoundingClientRect().top;
}"""
WATCH = """() => {
  window.shifts = [];
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) window.shifts.push([entry.startTime, entry.value]);
  }).observe({ type: 'layout-shift', buffered: true });
}"""
# As the browser's vendors define it: the worst window of at most five seconds, ended by one second of rest.
CUMULATIVE = """() => {
  let worst = 0, sum = 0, first = 0, last = -Infinity;
  for (const [at, value] of window.shifts) {
    if (at - last > 1000 || at - first > 5000) { sum = 0; first = at; }
    sum += value; last = at;
    worst = Math.max(worst, sum);
  }
  return worst;
}"""
BLOCKS = "node => [...node.querySelectorAll('.prose > *')].map((one) => one.outerHTML.replace(/ tabindex=\"0\"/g, ''))"


def test_nothing_shifts_while_a_long_reply_comes_and_when_it_ends(
    page: Page, provider: FakeProvider, gate: threading.Event
) -> None:
    provider.script = [Reply("All right."), Reply(LONG, pace_seconds=0.01)]
    begin(page, "Hello.")
    is_in_state(page, 1, "completed")
    page.evaluate(WATCH)
    say(page, "At length, please.")
    expect(turn(page, 2)).to_have_attribute("data-state", "completed", timeout=60_000)
    assert page.evaluate(CUMULATIVE) < 0.02
    # Nor does the last line jump when Markdown replaces the text as it came, short or long.
    for number, text in ((3, FIVE), (4, f"{PARAGRAPHS}\n\n{FIVE}")):
        gate.clear()
        provider.script = [Reply(text, gate=gate, gate_after=len(Reply(text).pieces()))]
        say(page, "Five paragraphs, please.")
        expect(turn(page, number).locator(".live")).to_contain_text("Omega last")
        shown = page.evaluate(LAST_LINE, number)
        gate.set()
        is_in_state(page, number, "completed")
        assert abs(page.evaluate(LAST_LINE, number) - shown) < 22


def test_a_long_line_of_code_makes_nothing_wider_while_a_reply_comes(
    page: Page, provider: FakeProvider, gate: threading.Event
) -> None:
    begin(page, "Go.")
    is_in_state(page, 1, "completed")
    text = f"```\n{'wide = ' * 60}\n```\n\n> ```\n> {'wide = ' * 60}\n> ```\n\nGiven: "
    provider.script = [Reply(text + "done.", gate=gate, gate_after=len(Reply(text).pieces()))]
    say(page, "Some code, please.")
    expect(turn(page, 2).locator(".live .finished pre")).to_have_count(2)
    assert page.locator("#scroller").evaluate("node => node.scrollWidth <= node.clientWidth")


def test_finished_blocks_are_rendered_while_the_rest_comes_and_a_quotation_has_its_line_and_no_marks(
    page: Page, provider: FakeProvider, gate: threading.Event
) -> None:
    begin(page, "Go.")
    is_in_state(page, 1, "completed")
    blocks_are_rendered(page, provider, gate)
    gate.clear()
    a_quotation_has_no_marks(page, provider, gate)


def blocks_are_rendered(page: Page, provider: FakeProvider, gate: threading.Event) -> None:
    text = SECTION.format(1) + "```sh\nmake run\n\nmake"
    whole = text + " check\n```\n"
    provider.script = [Reply(whole, gate=gate, gate_after=len(Reply(whole).pieces()) - 2)]
    say(page, "Go on.")
    reply = turn(page, 2).locator(".reply")
    expect(reply.locator(".finished table")).to_contain_text("count")
    expect(reply.locator(".finished .code")).to_contain_text("def section_1")
    expect(reply.locator(".finished ol li")).to_have_count(2)
    expect(reply.locator(".tail .code code")).to_have_text("make run\n\nmake")
    expect(reply.locator(".tail .code .label")).to_contain_text("sh")
    before = reply.evaluate(BLOCKS)[:6]
    page.reload()
    expect(reply.locator(".tail .code code")).to_have_text("make run\n\nmake")
    assert reply.evaluate(BLOCKS)[:6] == before
    gate.set()
    is_in_state(page, 2, "completed")
    assert reply.evaluate(BLOCKS)[:6] == before
    expect(reply.locator(".code").last).to_contain_text("make check")


def test_a_block_that_comes_before_its_text_is_shown_once(
    page: Page, provider: FakeProvider, gate: threading.Event
) -> None:
    """The socket is behind: what the page asks for by HTTP is of later text than it has been told."""
    held: list[Route] = []
    late: list[str] = []
    sockets: list[WebSocketRoute] = []

    def between(socket: WebSocketRoute) -> None:
        sockets.append(socket)
        server = socket.connect_to_server()
        server.on_message(lambda text: late.append(str(text)) if held else socket.send(text))

    interceptable(page).route_web_socket("**/ws/**", between)
    begin(page, "Go.")
    is_in_state(page, 1, "completed")
    page.route("**/blocks/**", lambda route: held.append(route))
    provider.script = [Reply(f"{FIVE}{' and on' * 40}", gate=gate, gate_after=2, pace_seconds=0.2)]
    say(page, "Go on.")
    live = turn(page, 2).locator(".live")
    expect(live).to_have_text("Alpha one.")
    gate.set()
    until(page, lambda: any("Omega" in text for text in late))
    with page.expect_response("**/blocks/**") as asked:
        held[0].continue_()
    asked.value.finished()
    page.unroute("**/blocks/**")
    for text in late:
        sockets[-1].send(text)
    held.clear()
    expect(live.locator(".finished")).to_contain_text("Delta four.")
    expect(live.locator(".tail")).to_contain_text("Omega last")
    for word in FIVE.split():
        assert live.inner_text().count(word) == 1
    page.locator("#stop").click()
    is_in_state(page, 2, "stopped")


def a_quotation_has_no_marks(page: Page, provider: FakeProvider, gate: threading.Event) -> None:
    whole = "You said:\n\n> The webhook answers at once.\n> > And then it waits.\n>\n> So it was.\n\nThat is all."
    so_far = Reply(whole[: whole.index(" was.")]).pieces()
    provider.script = [Reply(whole, gate=gate, gate_after=len(so_far))]
    say(page, "And then?")
    reply = turn(page, 3).locator(".reply")
    quote = reply.locator(".tail blockquote")
    expect(quote).to_contain_text("So it")
    expect(quote).not_to_contain_text(">")
    expect(quote).to_contain_text("The webhook answers at once.")
    page.reload()
    expect(quote).to_contain_text("And then it waits.")
    expect(quote).not_to_contain_text(">")
    gate.set()
    is_in_state(page, 3, "completed")
    expect(reply.locator(".prose > p").last).to_have_text("That is all.")
    expect(reply.locator(".prose > blockquote")).to_contain_text("So it was.")


def test_code_within_a_quotation_has_its_box_and_no_fence_while_it_comes(
    page: Page, provider: FakeProvider, gate: threading.Event
) -> None:
    begin(page, "Go.")
    is_in_state(page, 1, "completed")
    quote = turn(page, 2).locator(".tail blockquote")
    provider.script = [Reply("> Run this:\n> ```sh\n> make run\n>\n> make check", gate=gate, gate_after=9)]
    say(page, "And then?")
    expect(quote.locator(".code code")).to_contain_text("make run")
    expect(quote.locator(".code .label")).to_have_text("sh")
    expect(quote).not_to_contain_text("```")
    gate.set()
    is_in_state(page, 2, "completed")
    gate.clear()
    whole = "> Run this:\n> ```sh\n> make run\n>\n> make check\n> ```\n> It takes a minute or two."
    provider.script = [Reply(whole, gate=gate, gate_after=len(Reply(whole).pieces()) - 1)]
    say(page, "Once more?")
    quote = turn(page, 3).locator(".tail blockquote")
    expect(quote.locator("p")).to_have_text(["Run this:", "It takes a minute or"])
    expect(quote.locator(".code code")).to_have_text("make run\n\nmake check")
    expect(quote).not_to_contain_text("```")


def test_thinking_folds_away_above_the_reply_and_a_cut_reply_goes_on_in_place(
    page: Page, provider: FakeProvider, gate: threading.Event
) -> None:
    provider.script = [
        Reply("Hello there.", thinking="They greet me.", gate=gate, gate_after=3),
        Reply("The **sea is ca", finish_reason="length"),
        Reply("lm** tonight."),
    ]
    begin(page, "Hi")
    thinking = turn(page, 1).locator(".thinking")
    expect(thinking.locator("summary")).to_contain_text("Thinking")
    expect(thinking.locator(".thought")).to_be_hidden()
    thinking.locator("summary").click()
    expect(thinking.locator(".thought")).to_have_text("They greet me.")
    gate.set()
    is_in_state(page, 1, "completed")
    expect(thinking.locator("summary")).to_contain_text("Thought for")
    expect(thinking.locator(".thought")).to_be_visible()

    say(page, "A poem.")
    expect(turn(page, 2)).to_contain_text("Cut off at the limit")
    turn(page, 2).get_by_role("button", name="Continue").focus()
    page.keyboard.press("Enter")
    expect(turn(page, 2).locator(".prose strong")).to_have_text("sea is calm")
    expect(turn(page, 2)).not_to_contain_text("Cut off")
    # The button is gone; what it stood in has the focus, in sight.
    expect(turn(page, 2).locator(".msg.reply")).to_be_focused()
