"""Every kind of page and state, in both themes, as axe reads it."""

from __future__ import annotations

import threading

import pytest
from axe_playwright_python.base import AxeResults
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests.browser.conftest import PHONE, WIDE, Visitor, begin, choose, is_in_state, is_live, turn
from tests.browser.drafts import drafted
from tests.fakes.provider import FakeProvider, Reply, Status

pytestmark = [pytest.mark.browser, pytest.mark.slow]

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


# The rest is the same whatever the colours are.
OF_COLOURS = {"runOnly": ["color-contrast", "link-in-text-block"]}
AXE = Axe()


def assert_accessible(page: Page, options: dict | None = None) -> None:
    page.evaluate(SETTLED)
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE.axe_script)
    # What is in order is not told node by node: of a long page that took seconds.
    asked = {"resultTypes": ["violations"], **(options or {})}
    results = AxeResults(page.evaluate("options => axe.run(document, options)", asked))
    assert results.violations_count == 0, f"{page.url}: {results.generate_report()}"


def assert_clean(page: Page, **options: object) -> None:
    """In both themes, one put in the place of the other."""
    for theme, of_theme in (("light", {}), ("dark", OF_COLOURS)):
        page.evaluate("theme => { document.documentElement.dataset.theme = theme }", theme)
        assert_accessible(page, {**options, **of_theme})


def finished(page: Page, provider: FakeProvider) -> str:
    """A conversation of one turn; its address."""
    provider.script = [Reply(TEXT)]
    begin(page, "Everything, please.")
    is_in_state(page, 1, "completed")
    return page.url


def test_a_chat_and_what_opens_over_it(page: Page, provider: FakeProvider) -> None:
    chat = finished(page, provider)
    dialog = page.locator("#dialog")
    turn(page, 1).locator(".facts summary").click()
    assert_clean(page)

    page.locator("#meter a.chip").click()
    expect(dialog).to_be_visible()
    assert_clean(page)

    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    expect(dialog).to_be_visible()
    assert_clean(page)

    page.keyboard.press("Escape")
    choose(page, 1, "Where was this sent?")
    expect(dialog).to_be_visible()
    assert_clean(page)

    page.keyboard.press("Escape")
    choose(page, 1, "A bad answer", "reply")
    turn(page, 1).get_by_role("link", name="Say why").click()
    expect(dialog).to_be_visible()
    assert_clean(page)

    page.keyboard.press("Escape")
    page.keyboard.press("Control+k")
    page.locator("#box-q").press_sequentially("everything")
    expect(dialog.locator(".hit").first).to_be_visible()
    assert_clean(page)

    page.goto(chat)
    is_live(page)
    turn(page, 1).locator("[data-edit]").click()
    expect(page.locator(".edit textarea")).to_be_focused()
    assert_clean(page)

    page.keyboard.press("Escape")
    page.locator("#text").fill("word " * 20_000)
    expect(page.locator("#fit")).to_contain_text("This does not fit.")
    assert_clean(page)


def test_the_plan_of_a_turn_its_trial_and_its_branches(page: Page, provider: FakeProvider) -> None:
    chat = finished(page, provider)
    turn(page, 1).locator(".facts summary").click()
    turn(page, 1).get_by_role("link", name="What was sent").click()
    expect(page.locator("#outcome")).to_be_visible()
    assert_clean(page)

    page.locator("#drawer").get_by_role("link", name="Open as page").click()
    page.wait_for_url("**/plans/**")
    for summary in page.locator(".pieces summary").all():
        summary.click()
    assert_clean(page)

    page.goto(chat + "what-if/")
    page.get_by_label("Next message").fill("word " * 20_000)
    expect(page.locator("#what-if-result")).to_contain_text("Nothing would be sent.")
    assert_clean(page)

    page.goto(chat)
    is_live(page)
    with page.expect_navigation():
        page.locator("#again-1").click()
    is_live(page)
    is_in_state(page, 1, "completed")
    page.locator("#branch-chip").click()
    expect(page.locator("#dialog")).to_contain_text("Regenerated turn 1")
    assert_clean(page)

    page.locator("#dialog").get_by_role("link", name="Compare").click()
    expect(page.locator(".side-turn")).to_have_count(2)
    assert_clean(page)


def test_where_a_turn_failed_the_pages_beside_a_chat_and_who_is_not_signed_in(
    guest: Visitor, provider: FakeProvider
) -> None:
    page = guest.page()
    page.goto("/")
    assert_clean(page)

    page.evaluate("document.querySelector('#first textarea').name = ''; document.getElementById('first').submit()")
    page.wait_for_url("**/s/*/")
    is_live(page)
    assert_clean(page)

    provider.script = [Status(401, "No")]
    begin(page, "Hello?")
    is_in_state(page, 1, "failed")
    assert_clean(page)

    page.goto("/settings/health/")
    assert_clean(page)

    chat = finished(page, provider)
    page.goto(chat + "metrics/")
    for summary in page.locator("main summary").all():
        summary.click()
    assert_clean(page)

    page.goto("/search/?q=everything")
    page.locator(".hit summary").first.click()
    assert_clean(page)

    for address in ("/metrics/", "/settings/", "/settings/endpoints/new/"):
        page.goto(address)
        assert_clean(page)

    guest.watch.report()
    guest.watch.expect("410")
    page = guest.page(signed_in=False)
    page.goto("/")
    page.wait_for_url("**/sign-in/**")
    assert_clean(page)
    page.goto("/sign-in/used-up/")
    assert_clean(page)


SPILLS = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"
TURN_ROUND = "document.documentElement.dir = 'rtl'"


def test_in_german_and_from_right_to_left_too(guest: Visitor, provider: FakeProvider) -> None:
    drafted(guest.page(), provider)
    begun = guest.page()
    chat = finished(begun, provider)
    for width in (WIDE, PHONE):
        page = guest.page(width=width, language="de-DE")
        page.goto("/review/?tab=accepted")
        review = page.locator("#queue .what a").first.get_attribute("href") or ""
        for address in ("/", chat, "/review/", review, "/settings/", "/search/?q=everything", "/metrics/"):
            page.goto(address)
            expect(page.locator("html")).to_have_attribute("lang", "de")
            for turned in (False, True):
                if turned:
                    page.evaluate(TURN_ROUND)
                assert page.evaluate(SPILLS) <= 0, f"{address} is wider than the window"
                assert_clean(page)
        page.goto(chat)
        is_live(page)
        page.evaluate(TURN_ROUND)
        if width == PHONE:
            tabs_are_clean(page)
        else:
            menus_stay_on_the_page(page)


def tabs_are_clean(page: Page) -> None:
    for tab in ("side", "efforts", "aside"):
        page.locator(f".tabs [data-tab={tab}]").click()
        assert page.evaluate(SPILLS) <= 0, f"{tab} is wider than the window"
        assert_accessible(page, IN_A_TAB)


def menus_stay_on_the_page(page: Page) -> None:
    message = turn(page, 1).locator(".msg.user")
    message.hover()
    menus = message.locator(".tools .menu"), page.locator(".side .menu.up"), page.locator("#conversations .menu").first
    for menu in menus:
        menu.locator("summary").click()
        expect(menu.locator(".sheet")).to_be_in_viewport(ratio=1)
        page.keyboard.press("Escape")


def test_a_phone_in_mid_stream_and_what_a_tap_on_a_message_shows(guest: Visitor, provider: FakeProvider) -> None:
    page = guest.page(width=PHONE, panel=False)
    finished(page, provider)
    a_tap_shows_the_buttons_of_a_message(page)
    # One line to write in and one with the buttons, below where the message goes.
    heights = [page.locator(part).evaluate("node => node.offsetHeight") for part in ("#composer", "#text", "#send")]
    assert heights[0] <= heights[1] + heights[2] + 24

    gate = threading.Event()
    provider.script = [Reply("Words that come and more", gate=gate, gate_after=3)]
    page = guest.page(width=PHONE)
    begin(page, "Go on.")
    expect(turn(page, 1).locator(".live")).to_contain_text("Words that come")
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme="dark" if theme == "dark" else "light")
        assert_accessible(page)
        for tab in ("side", "aside", "main"):
            page.locator(f".tabs [data-tab={tab}]").click()
            assert_accessible(page, IN_A_TAB)
    gate.set()


def a_tap_shows_the_buttons_of_a_message(page: Page) -> None:
    reply = turn(page, 1).locator(".msg.reply")
    tools = reply.locator(".tools")
    expect(tools).to_have_css("opacity", "0")
    expect(tools).to_have_css("pointer-events", "none")
    reply.locator(".prose > p").first.tap()
    expect(tools).to_have_css("opacity", "1")
    # Icons with names, and the rest in words behind the last.
    for name in ("Copy the reply as Markdown", "Regenerate the reply"):
        expect(tools.get_by_role("button", name=name)).to_be_visible()
    tools.locator("summary").tap()
    entries = tools.locator(".sheet :is(button, a)")
    assert all(words.strip() for words in entries.all_inner_texts())
    expect(entries.filter(has_text="Fork after this reply")).to_be_visible()
    page.keyboard.press("Escape")
