"""A real server process, Chromium signed in by the printed link, and an eye on everything that goes wrong in a page."""

from __future__ import annotations

import os
import re
import sqlite3
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from time import monotonic
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, expect

from efforts.pages.themes import PANEL_COOKIE
from tests.empty import empty_home
from tests.fakes.provider import FakeProvider, Reply
from tests.house.process import manage, start

# Long enough for a busy machine and for the longest pause before the page connects again.
PATIENCE_MS = 30_000
LINK = re.compile(r"(http://127\.0\.0\.1:\d+)(/sign-in/[\w-]+/)")
PHONE = 390
WIDE = 1280

expect.set_options(timeout=PATIENCE_MS)


def looks(width: int, theme: str) -> pytest.MarkDecorator:
    """A journey in one width and theme, of which others have the others; in all four where pictures are wanted."""
    every = [(WIDE, "light"), (PHONE, "dark"), (WIDE, "dark"), (PHONE, "light")]
    return pytest.mark.parametrize(("width", "theme"), every if "CCM_SHOTS" in os.environ else [(width, theme)])


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Dozens of processes share two cores in CI, and now and then a browser is late there. What fails is tried once
    more, and the report counts it as rerun; what fails twice has failed."""
    for item in items:
        if "browser" in item.keywords and os.environ.get("CI") == "true":
            item.add_marker(pytest.mark.flaky(reruns=1))


class App:
    """`manage.py serve` with a folder of its own, and what it says."""

    def __init__(self, home: Path, **settings: str) -> None:
        self.home = home
        self.settings = settings
        self.said: list[str] = []
        self.ready = threading.Event()
        self.link = ""
        self.process = self._start()

    @property
    def url(self) -> str:
        return LINK.sub(r"\1", self.link)

    def _start(self, port: int = 0) -> subprocess.Popen[str]:
        process = start("serve", "--port", str(port), CCM_HOME=str(self.home), **self.settings)
        self.listener = threading.Thread(target=self._listen, args=(process,), daemon=True)
        self.listener.start()
        if not self.ready.wait(120):
            process.kill()
            raise AssertionError(f"The server printed no link: {''.join(self.said)}")
        return process

    def _listen(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        with process.stdout:
            for line in process.stdout:
                self.said.append(line)
                if found := LINK.search(line):
                    self.link = found[0]
                    self.ready.set()

    def kill(self) -> None:
        self.process.kill()
        self._wait()

    def _wait(self) -> None:
        self.process.wait(20)
        self.listener.join(20)

    def start_again(self) -> None:
        self.ready.clear()
        self.process = self._start(int(self.url.rsplit(":", 1)[1]))

    def close(self) -> None:
        self.process.terminate()
        self._wait()

    def rows(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        with closing(sqlite3.connect(self.home / "db.sqlite3", timeout=10)) as database:
            return database.execute(query, values).fetchall()

    def replies(self, page: Page) -> list[str]:
        """The text of every assistant message of the page's conversation, as stored."""
        query = "SELECT text FROM efforts_message WHERE role = 'assistant' AND session_id = ? ORDER BY id"
        return [text for (text,) in self.rows(query, session_of(page))]


class Watch:
    """What a page must not do: log errors, throw, break the content security policy."""

    def __init__(self) -> None:
        self.problems: list[str] = []
        self.expected: list[str] = []

    def expect(self, pattern: str) -> None:
        self.expected.append(pattern)

    def over(self, page: Page) -> None:
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.problems.append(f"{page.url}: {error}"))

    def _console(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.problems.append(f"{message.text} {message.location.get('url', '')}")

    def report(self) -> None:
        wrong = [text for text in self.problems if not any(re.search(one, text) for one in self.expected)]
        assert wrong == []


class Visitor:
    """One person's browser: opens pages of one size and theme, all of them watched."""

    def __init__(self, browser: Browser, app: App, signed_in: Any) -> None:
        self.browser, self.app, self.signed_in = browser, app, signed_in
        self.watch = Watch()
        self.contexts: list[BrowserContext] = []

    def context(
        self,
        *,
        width: int = 1280,
        theme: str = "light",
        signed_in: bool = True,
        panel: bool = True,
        language: str = "en-US",
    ) -> BrowserContext:
        """`panel`: the context panel is open, as this person has left it."""
        phone = width <= PHONE
        context = self.browser.new_context(
            base_url=self.app.url,
            viewport={"width": width, "height": 844 if phone else 800},
            has_touch=phone,
            locale=language,
            is_mobile=phone,
            color_scheme="dark" if theme == "dark" else "light",
            storage_state=self.signed_in if signed_in else None,
            permissions=["clipboard-read", "clipboard-write"],
        )
        context.set_default_timeout(PATIENCE_MS)
        if panel:
            context.add_cookies([{"name": PANEL_COOKIE, "value": "open", "url": self.app.url}])
        context.on("page", self.watch.over)
        self.contexts.append(context)
        return context

    def page(self, **options: Any) -> Page:
        return self.context(**options).new_page()

    def close(self) -> None:
        for context in self.contexts:
            context.close()


def interceptable(page: Page) -> Page:
    """What is routed later is held at once. Where a page has its first route while it is open, its next request may
    pass by it, and is then never said to have been made."""
    page.route("**/nothing-is-here/", lambda route: route.abort())
    return page


@contextmanager
def serving(browser: Browser, home: Path, **settings: str) -> Iterator[tuple[App, Any]]:
    app = App(empty_home(home), **settings)
    try:
        context = browser.new_context()
        context.new_page().goto(app.link)
        state = context.storage_state()
        context.close()
        yield app, state
    finally:
        app.close()
    assert not [line for line in app.said if "Traceback" in line], "".join(app.said)


@pytest.fixture(scope="session")
def built_in(chromium: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[App, Any]]:
    with serving(chromium, tmp_path_factory.mktemp("app"), CCM_BUILTIN_PACE="0.04", CCM_UNDO_SECONDS="3") as served:
        yield served


@pytest.fixture(scope="session")
def stage() -> Iterator[FakeProvider]:
    with FakeProvider() as provider:
        yield provider


@pytest.fixture
def provider(stage: FakeProvider) -> FakeProvider:
    stage.script = []
    stage.otherwise = Reply("All right.")
    stage.key = None
    stage.bodies.clear()
    return stage


@pytest.fixture(scope="session")
def directed(
    chromium: Browser, stage: FakeProvider, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[App, Any]]:
    """An app whose standard model is the fake provider, so that a test says when which word comes."""
    settings = {"CCM_MODEL_URL": stage.url, "CCM_MODEL_NAME": "scripted"}
    with serving(chromium, tmp_path_factory.mktemp("app"), **settings) as served:
        examine(served[0], stage.url)
        yield served


def examine(app: App, url: str) -> None:
    """The model has passed its exam, whatever it is made to say later."""
    code = f"from tests.browser.prepared import examine; examine({url!r})"
    done = manage("shell", "-v", "0", "-c", code, CCM_HOME=str(app.home))
    assert done.returncode == 0, done.stderr


@pytest.fixture
def visitor(chromium: Browser, built_in: tuple[App, Any]) -> Iterator[Visitor]:
    yield from visit(chromium, *built_in)


@pytest.fixture
def guest(chromium: Browser, directed: tuple[App, Any], provider: FakeProvider) -> Iterator[Visitor]:
    yield from visit(chromium, *directed)


@pytest.fixture
def page(guest: Visitor) -> Page:
    """A page of the app that the fake provider answers."""
    return guest.page()


def visit(browser: Browser, app: App, state: Any) -> Iterator[Visitor]:
    visitor = Visitor(browser, app, state)
    yield visitor
    visitor.close()
    visitor.watch.report()


# What a person does


def session_of(page: Page) -> str:
    return page.url.rstrip("/").rsplit("/", 1)[1].replace("-", "")


def begin(page: Page, text: str) -> None:
    """From the start page, by its first message."""
    page.goto("/")
    page.get_by_label("First message").fill(text)
    page.get_by_role("button", name="Send", exact=True).click()
    page.wait_for_url("**/s/*/")
    is_live(page)


def until(page: Page, has_happened: Callable[[], object]) -> None:
    """What a page's event handlers note here; they run while the page is asked something."""
    latest = monotonic() + PATIENCE_MS / 1000
    while not has_happened():
        assert monotonic() < latest
        page.evaluate("1")


def is_live(page: Page) -> None:
    expect(page.locator("#connection")).to_have_attribute("data-state", "live")


def say(page: Page, text: str) -> None:
    page.locator("#text").fill(text)
    page.locator("#send").click()


def turn(page: Page, number: int) -> Any:
    return page.locator(f"#turn-{number}")


def is_in_state(page: Page, number: int, state: str) -> None:
    expect(turn(page, number)).to_have_attribute("data-state", state)


def reply_of(page: Page, number: int) -> str:
    """The source of the reply that stands on the page."""
    raw = turn(page, number).locator(".reply template.raw")
    return "\n\n".join(raw.evaluate_all("nodes => nodes.map((node) => node.content.textContent)"))


def choose(page: Page, number: int, entry: str, of: str = "user") -> None:
    """In the menu of a message of that turn."""
    tools = turn(page, number).locator(f".msg.{of} .tools")
    tools.locator("summary").click()
    tools.locator(".sheet").get_by_text(entry).click()
