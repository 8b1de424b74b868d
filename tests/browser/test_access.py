"""Every kind of page and state, in both themes, as axe reads it."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests.browser.conftest import Visitor, begin, choose, is_in_state, is_live, turn
from tests.fakes.provider import FakeProvider, Reply, Status

pytestmark = pytest.mark.browser

TEXT = """# A title

Words, `code`, a [link](https://example.com) and

> a quote

```python
x = 1  # why
```

| a | b |
|---|---|
| 1 | 2 |
"""


SETTLED = """() => Promise.all(document.getAnimations()
    .filter((one) => one.effect.getTiming().iterations !== Infinity).map((one) => one.finished)).then(() => null)"""
# On a phone the other tabs stand in the place of the main part; it is one touch away.
IN_A_TAB = {"rules": {name: {"enabled": False} for name in ("landmark-one-main", "page-has-heading-one")}}


def assert_accessible(page: Page, options: dict | None = None) -> None:
    page.evaluate(SETTLED)
    # What is in order is not told node by node: of a long page that took seconds.
    results = Axe().run(page, options={"resultTypes": ["violations"], **(options or {})})
    assert results.violations_count == 0, results.generate_report()


def on_start(page: Page, provider: FakeProvider) -> None:
    page.goto("/")


def in_an_empty_chat(page: Page, provider: FakeProvider) -> None:
    page.goto("/")
    page.evaluate("document.querySelector('#first textarea').name = ''; document.getElementById('first').submit()")
    page.wait_for_url("**/s/*/")
    is_live(page)


def in_a_finished_turn(page: Page, provider: FakeProvider) -> None:
    provider.script = [Reply(TEXT)]
    begin(page, "Everything, please.")
    is_in_state(page, 1, "completed")
    turn(page, 1).locator(".facts summary").click()


def in_a_failed_turn(page: Page, provider: FakeProvider) -> None:
    provider.script = [Status(401, "No")]
    begin(page, "Hello?")
    is_in_state(page, 1, "failed")


def in_a_dialog(page: Page, provider: FakeProvider) -> None:
    in_a_finished_turn(page, provider)
    page.locator("#meter a.chip").click()
    expect(page.locator("#dialog")).to_be_visible()


def in_the_sheet_of_keys(page: Page, provider: FakeProvider) -> None:
    in_a_finished_turn(page, provider)
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    expect(page.locator("#dialog")).to_be_visible()


def in_the_drawer(page: Page, provider: FakeProvider) -> None:
    in_a_finished_turn(page, provider)
    turn(page, 1).get_by_role("link", name="What was sent").click()
    expect(page.locator("#outcome")).to_be_visible()


def in_the_tree_of_branches(page: Page, provider: FakeProvider) -> None:
    in_a_finished_turn(page, provider)
    with page.expect_navigation():
        page.locator("#again-1").click()
    is_live(page)
    is_in_state(page, 1, "completed")
    page.locator("#branch-chip").click()
    expect(page.locator("#dialog")).to_contain_text("Turn 1 again")


def in_a_comparison(page: Page, provider: FakeProvider) -> None:
    in_the_tree_of_branches(page, provider)
    page.locator("#dialog").get_by_role("link", name="Compare").click()
    expect(page.locator(".side-turn")).to_have_count(2)


def in_an_editor(page: Page, provider: FakeProvider) -> None:
    in_a_finished_turn(page, provider)
    turn(page, 1).locator("[data-edit]").click()
    expect(page.locator(".edit textarea")).to_be_focused()


def on_the_plan(page: Page, provider: FakeProvider) -> None:
    in_the_drawer(page, provider)
    page.locator("#drawer").get_by_role("link", name="Open as page").click()
    page.wait_for_url("**/plans/**")
    for summary in page.locator(".pieces summary").all():
        summary.click()


def in_a_trial_of_settings(page: Page, provider: FakeProvider) -> None:
    in_a_finished_turn(page, provider)
    page.goto(page.url + "what-if/")
    page.get_by_label("Next message").fill("word " * 20_000)
    expect(page.locator("#what-if-result")).to_contain_text("Nothing would be sent.")


def before_what_does_not_fit(page: Page, provider: FakeProvider) -> None:
    in_a_finished_turn(page, provider)
    page.locator("#text").fill("word " * 20_000)
    expect(page.locator("#fit")).to_contain_text("This does not fit.")


def in_a_verdict(page: Page, provider: FakeProvider) -> None:
    in_a_finished_turn(page, provider)
    choose(page, 1, "A bad answer", "reply")
    turn(page, 1).get_by_role("link", name="Say why").click()
    expect(page.locator("#dialog")).to_be_visible()


def in_where_it_was_sent(page: Page, provider: FakeProvider) -> None:
    in_a_finished_turn(page, provider)
    choose(page, 1, "Where was this sent?")
    expect(page.locator("#dialog")).to_be_visible()


def in_the_health_of_models(page: Page, provider: FakeProvider) -> None:
    in_a_failed_turn(page, provider)
    page.goto("/settings/health/")


def on_the_metrics(page: Page, provider: FakeProvider) -> None:
    in_a_finished_turn(page, provider)
    page.goto(page.url + "metrics/")
    for summary in page.locator("main summary").all():
        summary.click()


def on_the_metrics_of_all(page: Page, provider: FakeProvider) -> None:
    in_a_finished_turn(page, provider)
    page.goto("/metrics/")


def in_the_search_dialog(page: Page, provider: FakeProvider) -> None:
    in_a_finished_turn(page, provider)
    page.keyboard.press("Control+k")
    page.locator("#box-q").press_sequentially("everything")
    expect(page.locator("#dialog .hit").first).to_be_visible()


def on_the_search_page(page: Page, provider: FakeProvider) -> None:
    in_a_finished_turn(page, provider)
    page.goto("/search/?q=everything")
    page.locator(".hit summary").first.click()


def in_settings(page: Page, provider: FakeProvider) -> None:
    page.goto("/settings/")


def at_a_new_model(page: Page, provider: FakeProvider) -> None:
    page.goto("/settings/endpoints/new/")


def at_the_sign_in(page: Page, provider: FakeProvider) -> None:
    page.context.clear_cookies()
    page.goto("/")
    page.wait_for_url("**/sign-in/**")


def at_a_link_that_was_used(page: Page, provider: FakeProvider) -> None:
    page.context.clear_cookies()
    page.goto("/sign-in/used-up/")


PLACES = (
    on_start,
    in_an_empty_chat,
    in_a_finished_turn,
    in_a_failed_turn,
    in_a_dialog,
    in_the_sheet_of_keys,
    in_the_drawer,
    in_the_tree_of_branches,
    in_a_comparison,
    in_an_editor,
    on_the_plan,
    in_a_trial_of_settings,
    before_what_does_not_fit,
    in_a_verdict,
    in_where_it_was_sent,
    in_the_health_of_models,
    on_the_metrics,
    on_the_metrics_of_all,
    in_the_search_dialog,
    on_the_search_page,
    in_settings,
    at_a_new_model,
    at_the_sign_in,
    at_a_link_that_was_used,
)


@pytest.mark.parametrize("go", PLACES, ids=lambda go: go.__name__)
def test_there_is_nothing_to_complain_about(
    guest: Visitor, provider: FakeProvider, go: Callable[[Page, FakeProvider], None]
) -> None:
    guest.watch.expect("410")
    page = guest.page()
    go(page, provider)
    for theme in ("light", "dark"):
        page.evaluate("theme => { document.documentElement.dataset.theme = theme }", theme)
        assert_accessible(page)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_phone_in_mid_stream_has_nothing_to_complain_about(
    guest: Visitor, provider: FakeProvider, theme: str
) -> None:
    gate = threading.Event()
    provider.script = [Reply("Words that come and more", gate=gate, gate_after=3)]
    page = guest.page(width=390, theme=theme)
    begin(page, "Go on.")
    expect(turn(page, 1).locator(".live")).to_contain_text("Words that come")
    assert_accessible(page)
    for tab in ("side", "aside"):
        page.locator(f".tabs [data-tab={tab}]").click()
        assert_accessible(page, IN_A_TAB)
    gate.set()
