"""The field where messages are written."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, Route, expect

from efforts.actions import LARGEST_MESSAGE
from tests.browser.conftest import PHONE, Visitor, begin, interceptable, is_in_state, is_live, session_of, turn, until

pytestmark = pytest.mark.browser


@pytest.fixture
def chat(page: Page) -> Page:
    begin(page, "Hello.")
    is_in_state(page, 1, "completed")
    return page


def test_what_is_written_is_kept_for_its_conversation_until_it_is_sent(guest: Visitor) -> None:
    context = guest.context()
    page = context.new_page()
    page.goto("/")
    page.get_by_label("First message").press_sequentially("Half a")
    page.reload()
    expect(page.get_by_label("First message")).to_have_value("Half a")
    what_is_too_large_is_told_where_it_stands(page)
    first, field = page.url, page.locator("#text")
    field.press_sequentially("Half a thou")
    page.reload()
    is_live(page)
    expect(field).to_have_value("Half a thou")
    field.focus()
    page.keyboard.press("Enter")
    is_in_state(page, 2, "completed")
    page.reload()
    expect(field).to_have_value("")

    field.press_sequentially("Of the first")
    begin(page, "The second.")
    is_in_state(page, 1, "completed")
    second = page.url
    expect(field).to_have_value("")
    field.press_sequentially("Of the second")
    page.wait_for_function("() => Object.values(localStorage).includes('Of the second')")
    # What this tab would keep when it is left does not count: one that dies has no time for it.
    again = context.new_page()
    for address, words in ((second, "Of the second"), (first, "Of the first")):
        again.goto(address)
        expect(again.locator("#text")).to_have_value(words)


def what_is_too_large_is_told_where_it_stands(page: Page) -> None:
    """And is kept; what is not begins the conversation."""
    form, field, told = page.locator("#first"), page.get_by_label("First message"), page.locator("#first [role=alert]")
    expect(form).to_have_attribute("data-text-bytes", str(LARGEST_MESSAGE))
    # Megabytes take a browser half a minute to lay out.
    form.evaluate("node => { node.dataset.textBytes = 1500; }")
    long = "é" * 800
    field.fill(long)
    page.get_by_role("button", name="Send", exact=True).click()
    expect(told).to_contain_text("The message has 1,600 bytes; 1,500 is the most.")
    expect(field).to_have_value(long)
    field.fill("A short one.")
    expect(told).to_be_hidden()
    page.get_by_role("button", name="Send", exact=True).click()
    page.wait_for_url("**/s/*/")
    is_in_state(page, 1, "completed")


def test_enter_sends_but_on_touch_shift_enter_begins_a_line_and_nothing_is_sent_by_mistake(
    chat: Page, guest: Visitor
) -> None:
    field = chat.locator("#text")
    field.fill("  \n ")
    expect(chat.locator("#send")).to_be_disabled()
    chat.keyboard.press("Enter")
    expect(chat.locator("#pending")).to_be_empty()
    # The Enter that ends a composition, as most browsers tell it and as Safari does.
    field.fill("にほん")
    for told in ("isComposing: true", "keyCode: 229"):
        left_alone = field.evaluate(
            "node => node.dispatchEvent(new KeyboardEvent('keydown',"
            f" {{key: 'Enter', code: 'Enter', {told}, bubbles: true, cancelable: true}}))"
        )
        assert left_alone, told
        expect(field).to_have_value("にほん")
    expect(chat.locator("#pending")).to_be_empty()
    field.fill("")
    field.press_sequentially("One")
    chat.keyboard.press("Shift+Enter")
    chat.keyboard.type("Two")
    chat.keyboard.press("Enter")
    is_in_state(chat, 2, "completed")
    expect(turn(chat, 2).locator(".said")).to_have_text("One\nTwo", use_inner_text=True)
    field.fill("By both keys")
    chat.keyboard.press("Control+Enter")
    is_in_state(chat, 3, "completed")
    expect(turn(chat, 3).locator(".said")).to_have_text("By both keys")
    # Also in a narrow window, where there is a mouse.
    chat.set_viewport_size({"width": 390, "height": 800})
    field.press_sequentially("One")
    chat.keyboard.press("Enter")
    is_in_state(chat, 4, "completed")
    enter_begins_a_line_on_touch(guest.page(width=PHONE))


def test_enter_sends_where_there_is_no_pointer_at_all(page: Page) -> None:
    page.add_init_script(
        "const asked = window.matchMedia;"
        "window.matchMedia = (query) => asked.call(window, query.includes('pointer') ? 'not all' : query);"
    )
    page.goto("/")
    page.locator("#first textarea").fill("Hello.")
    page.keyboard.press("Enter")
    page.wait_for_url("**/s/*/")
    is_in_state(page, 1, "completed")


def test_beside_the_message_enter_is_only_named_where_it_sends(page: Page) -> None:
    page.goto("/")
    sends = page.get_by_text("Enter sends", exact=False)
    expect(sends).to_be_visible()
    page.keyboard.press("Escape")
    page.locator(".foot [data-key=keys]").dispatch_event("click")
    page.get_by_label("Enter sends the message").uncheck()
    page.keyboard.press("Escape")
    expect(sends).to_be_hidden()
    page.reload()
    expect(sends).to_be_hidden()


def enter_begins_a_line_on_touch(page: Page) -> None:
    begin(page, "Hello.")
    page.locator("#text").press_sequentially("One")
    page.keyboard.press("Enter")
    page.keyboard.type("Two")
    expect(page.locator("#text")).to_have_value("One\nTwo")
    # Unless it is chosen otherwise, which this browser keeps.
    page.locator(".foot [data-key=keys]").dispatch_event("click")
    page.get_by_label("Enter sends the message").check()
    page.reload()
    is_live(page)
    page.locator("#text").press("Enter")
    is_in_state(page, 2, "completed")


def test_price_meter_and_panel_follow_what_is_written(chat: Page) -> None:
    segment = chat.locator("#meter").get_by_role("link", name="This turn")
    line = chat.locator("#next-turn")
    before = segment.get_attribute("aria-label")
    chat.locator("#text").press_sequentially("word " * 30)
    expect(chat.locator("#price")).to_have_text(re.compile(r"^~\d+ tokens\s*$"))
    expect(segment).not_to_have_attribute("aria-label", before or "")
    longer = segment.get_attribute("aria-label") or ""
    expect(line).to_contain_text(re.findall(r"[\d,]+", longer)[0])
    expect(chat.locator("#text")).to_be_focused()
    chat.locator("#text").fill("")
    expect(segment).to_have_attribute("aria-label", before or "")
    expect(chat.locator("#price")).to_be_empty()
    # A segment may be two pixels wide: with the focus on one, the bar is outlined and the others fade.
    chat.keyboard.press("Tab")
    expect(chat.locator("#meter svg.meter")).to_have_css("outline-style", "solid")
    expect(segment).to_have_css("opacity", "0.35")
    chat.locator("#text").focus()

    # A request that a newer one replaces, or that is left with its page, is no error: what a console says otherwise
    # fails every journey.
    chat.evaluate(
        "() => document.body.addEventListener('htmx:sendAbort', ({ target }) => { target.dataset.ended = '' })"
    )
    held: list[Route] = []
    interceptable(chat).route("**/price/", lambda route: held.append(route))
    chat.locator("#text").fill("One")
    until(chat, lambda: len(held) == 1)
    chat.locator("#text").fill("One more")
    until(chat, lambda: len(held) == 2)
    expect(chat.locator("[data-ended]")).to_have_count(1)
    chat.get_by_role("link", name="New", exact=True).click()
    expect(chat.get_by_label("First message")).to_be_visible()


def test_what_does_not_fit_is_made_to_fit_before_it_is_sent_or_after_it_failed(chat: Page, guest: Visitor) -> None:
    fit, text = chat.locator("#fit"), "word " * 20_000 + "zebra"
    chat.locator("#text").fill(text)
    expect(fit).to_contain_text("This does not fit.")
    for name in ("Raise the budget", "Send only the beginning and end"):
        button = fit.get_by_role("button", name=name)
        button.focus()
        before = button.element_handle()
        chat.evaluate("document.body.dispatchEvent(new Event('context'))")
        chat.wait_for_function("button => !button.isConnected", arg=before)
        expect(button).to_be_focused()
    fit.get_by_role("button", name="Send only the beginning and end").press("Enter")
    is_in_state(chat, 2, "completed")
    expect(fit).to_be_empty()
    query = "SELECT text FROM efforts_message WHERE role = 'user' AND session_id = ? ORDER BY id DESC LIMIT 1"
    assert guest.app.rows(query, session_of(chat)) == [(text,)]
    chat.locator("#text").fill(text)
    fit.get_by_role("button", name="Raise the budget").press("Enter")
    expect(fit).to_be_empty()
    expect(chat.locator("#price")).to_have_text(re.compile(r"^~20,\d+ tokens\s*$"))
    expect(chat.locator("#text")).to_be_focused()
    chat.locator("#send").click()
    is_in_state(chat, 3, "completed")

    # Sent all the same it fails, and says what needs how much and how to go on.
    for number, way_out in ((4, "Send only the beginning and end"), (5, "Raise the budget")):
        chat.locator("#text").fill("word " * 30_000)
        expect(chat.locator("#price")).to_have_text(re.compile(r"over the budget\s*$"))
        chat.locator("#send").click()
        is_in_state(chat, number, "failed")
        expect(turn(chat, number).locator(".notice")).to_contain_text(re.compile(r"30,\d\d\d"))
        turn(chat, number).get_by_role("button", name=way_out).click()
        is_in_state(chat, number, "completed")


def test_letters_belong_to_text_fields_lead_between_messages_and_to_the_filter_and_can_be_switched_off(
    chat: Page,
) -> None:
    chat.locator("#text").press_sequentially("? j k c y gg")
    expect(chat.locator("#dialog")).to_be_hidden()
    chat.locator("#text").fill("")
    chat.keyboard.press("Escape")
    chat.keyboard.press("?")
    sheet = chat.locator("#dialog")
    for words in (
        "Send; on touch a new line",
        "Stop the reply",
        "Next message",
        "Filter conversations",
        "Search",
        "These keys",
    ):
        expect(sheet).to_contain_text(words)
    # A capital is a letter with Shift.
    assert sheet.locator(".keys dt").all_inner_texts().count("Shift E") == 1
    chat.keyboard.press("j")
    expect(sheet).to_be_visible()
    chat.keyboard.press("Escape")
    expect(sheet).to_be_hidden()
    reply = turn(chat, 1).locator(".reply")
    chat.keyboard.press("G")
    expect(reply).to_be_focused()
    # The log is read again, and the focus stays where it is.
    chat.evaluate("document.getElementById('log').dataset.old = 'yes'")
    chat.evaluate("window.dispatchEvent(new PageTransitionEvent('pageshow', {persisted: true}))")
    expect(chat.locator("#log[data-old]")).to_have_count(0)
    expect(reply).to_be_focused()
    chat.keyboard.press("k")
    expect(turn(chat, 1).locator(".user")).to_be_focused()
    chat.keyboard.press("y")
    assert chat.evaluate("navigator.clipboard.readText()") == "Hello."
    chat.keyboard.press("c")
    expect(chat.locator("#text")).to_be_focused()
    chat.keyboard.press("Escape")
    a_key_leads_to_the_filter(chat)
    chat.locator("#scroller").focus()
    chat.keyboard.press("?")
    chat.get_by_label("Single letters work").uncheck()
    chat.keyboard.press("Escape")
    chat.locator("#scroller").focus()
    chat.keyboard.press("?")
    expect(sheet).to_be_hidden()


def a_key_leads_to_the_filter(page: Page) -> None:
    """Which finds a conversation; another key opens and closes the context panel."""
    switch = page.locator(".bar [data-key=panel]")
    expect(switch).to_have_attribute("aria-expanded", "true")
    page.keyboard.press("Alt+p")
    expect(page.locator("#context")).to_be_hidden()
    expect(switch).to_have_attribute("aria-expanded", "false")
    page.keyboard.press("Alt+p")
    expect(page.locator("#context")).to_be_visible()
    expect(switch).to_have_attribute("aria-expanded", "true")
    begin(page, "A quite peculiar heading")
    page.locator("#scroller").focus()
    page.keyboard.press("/")
    expect(page.locator("#filter")).to_be_focused()
    page.locator("#filter").fill("peculiar")
    expect(page.locator("#conversations .list li")).to_have_count(1)
    page.locator("#filter").fill("nowhere to be found")
    expect(page.locator("#conversations")).to_contain_text("No title or folder contains")


def test_a_key_costs_no_more_beside_a_long_log_than_without_one(chat: Page) -> None:
    """In the time of the page's thread that laying out takes, which another's load changes little."""
    chat.locator("#log").evaluate(
        "log => { for (let at = 0; at < 150; at++) log.append(log.querySelector('.turn').cloneNode(true)) }"
    )
    browser = chat.context.new_cdp_session(chat)
    browser.send("Performance.enable", {"timeDomain": "threadTicks"})

    def laying_out() -> float:
        metrics = {one["name"]: one["value"] for one in browser.send("Performance.getMetrics")["metrics"]}
        return float(metrics["LayoutDuration"])

    def of_keys(*, hidden: bool) -> float:
        chat.locator("#log").evaluate("(log, hidden) => log.toggleAttribute('hidden', hidden)", hidden)
        chat.locator("#text").press_sequentially("Two ")
        begun = laying_out()
        chat.locator("#text").press_sequentially("more words of some length")
        return laying_out() - begun

    rounds = [(of_keys(hidden=False), of_keys(hidden=True)) for _ in range(3)]
    beside, without = map(min, zip(*rounds, strict=True))
    assert beside < 3 * without
