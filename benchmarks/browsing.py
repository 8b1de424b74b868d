"""What a person waits for in Chromium: a conversation to open, their own message, a key, and the text that streams.

Times on the clock say what a quiet machine does. Beside them stands the time that processor cores worked for it, of the
page's own thread and of the server, which another's load changes little.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client
from playwright.sync_api import Page, sync_playwright

from benchmarks import servers
from benchmarks.importing import import_talk
from benchmarks.long_session import words
from benchmarks.measures import FRAMES, PACE, percentiles
from benchmarks.replay import Exchange, Said, Talk
from tests.conftest import BROWSER_ARGS, installed_browser

SHORT, LONG = 200, 5_000
OPENED, SENT, KEYS = 15, 20, 100
# Milliseconds between two keys: those of a key that is held down, and no hands are faster. Keys without a pause measure
# how many of them a page does at once, as it paints when none waits.
HELD = 33
# About as many turns as a page ever has.
READ_BACK = 100
# Milliseconds in which a busy machine does anything.
PATIENCE = 120_000
CODE = "```python\ndef total(rows):\n    return sum(row.price for row in rows)\n```"
TABLE = "| part | tokens |\n|---|---|\n| system | 1,499 |\n| open | 8,200 |"
# A wait for the next frame and what comes after it: then the change is painted.
PAINTED = """
window.painted = (then) => requestAnimationFrame(() => {
  const after = new MessageChannel();
  after.port1.onmessage = () => then(performance.now());
  after.port2.postMessage(0);
});
"""
FIRST_PAINT = """
() => new Promise((resolve) => {
  const look = () => {
    const paint = performance.getEntriesByName("first-contentful-paint")[0];
    if (!paint) return;
    seen.disconnect();
    resolve({ paint: paint.startTime, bytes: performance.getEntriesByType("navigation")[0].encodedBodySize });
  };
  const seen = new PerformanceObserver(look);
  seen.observe({ type: "paint", buffered: true });
  look();
})
"""
# It is on the page before the server has it, below the log.
WATCH_SENDING = """
() => {
  window.own = [];
  let pressed = 0;
  const noted = (event) => { if (event.key === "Enter") pressed = event.timeStamp; };
  document.querySelector("#text").addEventListener("keydown", noted, true);
  new MutationObserver((changes) => {
    if (!pressed || !changes.some((change) => change.addedNodes.length)) return;
    const from = pressed;
    pressed = 0;
    painted((now) => own.push(now - from));
  }).observe(document.querySelector("#pending"), { childList: true });
}
"""
WATCH_KEYS = """
() => {
  const watched = "keys" in window;
  window.keys = [];
  if (watched) return;
  const noted = (event) => painted((now) => keys.push(now - event.timeStamp));
  document.querySelector("#text").addEventListener("keydown", noted, true);
}
"""
# Each stamp once, when a frame has painted it.
WATCH_STREAM = """
() => {
  window.stamps = [];
  const seen = new Set();
  new MutationObserver(() => {
    const all = document.querySelector("#log > .turn:last-of-type")?.textContent.match(/t\\d+ /g) ?? [];
    const fresh = all.filter((one) => !seen.has(one));
    if (!fresh.length) return;
    fresh.forEach((one) => seen.add(one));
    painted((now) => stamps.push(...fresh.map((one) => [one.slice(1), now])));
  }).observe(document.querySelector("#log"), { childList: true, subtree: true, characterData: true });
}
"""


def browsing() -> dict[str, Any]:
    """On the database of the settings, in a server process of its own."""
    call_command("migrate", verbosity=0)
    owner = User.objects.create_user("bench")
    addresses = {count: f"/s/{conversation(owner, count)}/" for count in (SHORT, LONG)}
    before = os.getloadavg()
    with (
        servers.paced_provider() as provider,
        servers.product(provider, **servers.UNBOUNDED) as (port, pid),
        signed_in(owner, port) as page,
    ):
        work = Work(page, pid)
        opened = {count: opening(page, address, work) for count, address in addresses.items()}
        page.goto(addresses[LONG])
        page.locator("#connection[data-state=live]").wait_for(state="attached")
        found = {
            "key_ms": typing(page, work),
            "key_beside_100_turns_ms": typing_beside(page, work),
            "own_message_ms": sending(page, work),
            "streamed_ms": streaming(page, work),
        }
    return {
        "load": {"before": before[0], "after": os.getloadavg()[0], "cores": os.cpu_count()},
        "first_paint_ms": opened,
        **found,
    }


class Work:
    """What cores do for the page, in milliseconds for each of several times."""

    def __init__(self, page: Page, server: int) -> None:
        self.browser = page.context.new_cdp_session(page)
        # The time that the thread ran, not that which went by meanwhile.
        self.browser.send("Performance.enable", {"timeDomain": "threadTicks"})
        self.server = Path(f"/proc/{server}/stat")
        self.last = self.now()

    def now(self) -> tuple[float, float]:
        metrics = {one["name"]: one["value"] for one in self.browser.send("Performance.getMetrics")["metrics"]}
        ran = self.server.read_text().rsplit(")", 1)[1].split()
        return metrics["TaskDuration"] * 1000, (int(ran[11]) + int(ran[12])) * 1000 / os.sysconf("SC_CLK_TCK")

    def begin(self) -> None:
        self.last = self.now()

    def of(self, times: int) -> dict[str, float]:
        """Since it began."""
        page, server = ((now - last) / times for now, last in zip(self.now(), self.last, strict=True))
        return {"page_cpu": round(page, 2), "server_cpu": round(server, 2)}


def conversation(owner: User, turns: int) -> str:
    random = Random(turns)
    exchanges = tuple(exchange(random, number) for number in range(turns))
    talk = Talk(id=f"{turns} turns", source="bench", sessions=(exchanges,), numbers=(1,), dates=("",))
    made = import_talk(owner, talk)
    assert made is not None
    return str(made.session.pk)


def exchange(random: Random, number: int) -> Exchange:
    """What is written every day: prose, and now and then code or a table."""
    parts = [words(random, 60), *([CODE] if number % 5 == 0 else []), *([TABLE] if number % 7 == 0 else [])]
    return Exchange(
        user=Said(role="user", speaker="", text=words(random, 30)),
        replies=(Said(role="assistant", speaker="", text="\n\n".join([*parts, words(random, 40)])),),
    )


@contextmanager
def signed_in(owner: User, port: int) -> Iterator[Page]:
    client = Client()
    client.force_login(owner)
    name = settings.SESSION_COOKIE_NAME
    url = f"http://127.0.0.1:{port}"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=installed_browser(playwright.chromium.executable_path), args=BROWSER_ARGS
        )
        # What looks into the page is not of the page.
        context = browser.new_context(viewport={"width": 1280, "height": 800}, base_url=url, bypass_csp=True)
        context.set_default_timeout(PATIENCE)
        context.add_cookies([{"name": name, "value": client.cookies[name].value, "url": url}])
        context.add_init_script(PAINTED)
        yield context.new_page()
        browser.close()


def opening(page: Page, address: str, work: Work) -> dict[str, Any]:
    """From the click to the first paint with content, which is the newest turns: the server's part is in it. Once
    before it counts, as whoever reads has been here before."""
    page.goto(address)
    found = []
    work.begin()
    for _ in range(OPENED):
        page.reload()
        found.append(page.evaluate(FIRST_PAINT))
    size = round(found[-1]["bytes"] / 1024)
    return {**percentiles([one["paint"] for one in found]), **work.of(OPENED), "kb": size}


def typing(page: Page, work: Work) -> dict[str, float]:
    """From a key to the frame that shows it."""
    page.evaluate(WATCH_KEYS)
    page.locator("#text").click()
    text = words(Random(1), KEYS)[:KEYS]
    work.begin()
    for key in text:
        page.keyboard.press("Space" if key == " " else key)
        page.wait_for_timeout(HELD)
    page.wait_for_function(f"keys.length >= {len(text)}")
    waited = page.evaluate("keys")
    used = work.of(len(text))
    page.locator("#text").fill("")
    return {**percentiles(waited), "most": round(max(waited), 2), **used}


def typing_beside(page: Page, work: Work) -> dict[str, float]:
    """After somebody has read back so far."""
    turns = page.locator("#log .turn")
    while turns.count() < READ_BACK:
        before = turns.count()
        page.locator("#scroller").evaluate("scroller => { scroller.scrollTop = 0 }")
        page.wait_for_function(f"document.querySelectorAll('#log .turn').length > {before}")
    return typing(page, work)


def sending(page: Page, work: Work) -> dict[str, float]:
    """From Enter to the frame that shows the own message; the work is of the whole turn."""
    page.evaluate(WATCH_SENDING)
    work.begin()
    for number in range(SENT):
        page.locator("#text").fill(f"Message {number}.\nstream 2 0.01")
        page.locator("#text").press("Enter")
        page.wait_for_function(f"own.length > {number}")
        page.locator(f"#turn-{LONG + number + 1}[data-state=completed]").wait_for()
    return {**percentiles(page.evaluate("own")), **work.of(SENT)}


def streaming(page: Page, work: Work) -> dict[str, float]:
    """From the provider's sending of a word to the frame that shows it, at one stream; the work is of one word."""
    page.evaluate(WATCH_STREAM)
    offset = clock_offset(page)
    page.locator("#text").fill(f"stream {FRAMES} {PACE}")
    work.begin()
    page.locator("#text").press("Enter")
    page.wait_for_function(f"stamps.length >= {FRAMES}")
    used = work.of(FRAMES)
    late = [shown + offset - int(re.sub(r"\D", "", stamp)) / 1e6 for stamp, shown in page.evaluate("stamps")]
    return {**percentiles(late), **used}


def clock_offset(page: Page) -> float:
    """What the page's clock lacks to the machine's, in milliseconds: of the look that took least."""
    looks: list[tuple[float, float]] = []
    for _ in range(50):
        asked = time.monotonic_ns() / 1e6
        there = float(page.evaluate("performance.now()"))
        answered = time.monotonic_ns() / 1e6
        looks.append((answered - asked, (asked + answered) / 2 - there))
    return min(looks)[1]
