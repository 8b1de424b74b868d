"""The README's pictures, taken of the example in a server of its own: make pictures."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from django.core.management.base import BaseCommand
from playwright.sync_api import Page, sync_playwright

from efforts.pages.themes import PANEL_COOKIE, TIPS_COOKIE
from tests.browser.conftest import App
from tests.conftest import BROWSER_ARGS, installed_browser

FOLDER = Path(__file__).parents[3] / "docs" / "pictures"
# Milliseconds in which a busy machine makes the example.
WEEK = 600_000


class Command(BaseCommand):
    help = "Take the pictures of the README, of the example."

    def handle(self, *args: Any, **options: Any) -> None:
        with TemporaryDirectory() as home, sync_playwright() as playwright:
            app = App(Path(home))
            try:
                browser = playwright.chromium.launch(
                    executable_path=installed_browser(playwright.chromium.executable_path), args=BROWSER_ARGS
                )
                context = browser.new_context(
                    viewport={"width": 1280, "height": 800}, device_scale_factor=1, base_url=app.url
                )
                context.add_cookies(
                    [{"name": name, "value": "open", "url": app.url} for name in (PANEL_COOKIE, TIPS_COOKIE)]
                )
                page = context.new_page()
                page.set_default_timeout(WEEK)
                page.goto(app.link)
                take_all(page)
            finally:
                app.close()


def take_all(page: Page) -> None:
    page.goto("/")
    page.get_by_role("button", name="Open the example").click()
    page.wait_for_url("**/s/*/")
    page.locator("#connection[data-state=live]").wait_for()
    page.locator("#suggestions").evaluate("node => node.remove()")
    page.locator("#scroller").evaluate("node => { node.scrollTop = node.scrollHeight }")
    take(page, "chat")
    page.goto("/review/")
    page.get_by_role("link", name="Payment webhook").click()
    page.locator("#claim-1").wait_for()
    page.get_by_text("Being worked out…").wait_for(state="detached")
    take(page, "review")


def take(page: Page, name: str) -> None:
    page.evaluate("document.activeElement?.blur()")
    page.screenshot(path=FOLDER / f"{name}.png", animations="disabled", caret="hide")
