"""Connecting a model, trying it, and choosing model and budget of a conversation."""

from __future__ import annotations

from uuid import uuid4

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.conftest import Visitor, begin, is_in_state, turn
from tests.fakes.provider import FakeProvider, Reply

pytestmark = [pytest.mark.browser, pytest.mark.slow]

KEY = "sk-very-secret-1234567890"


def connect(page: Page, provider: FakeProvider, begins: str) -> str:
    name = f"{begins} {uuid4().hex[:6]}"  # of no other attempt
    page.goto("/settings/")
    page.get_by_role("link", name="Connect a model").click()
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_label("Address").fill(provider.url)
    page.get_by_label("Key", exact=True).fill(KEY)
    page.get_by_label("Model", exact=True).fill("small")
    # The first model would be used by every test that comes later.
    page.get_by_label("Default for new conversations").uncheck()
    page.get_by_role("button", name="Test and save").click()
    return name


def the_settings_switch_what_the_composer_shows(page: Page, name: str) -> None:
    for label in ("Built-in engine", f"small · {name}"):
        page.locator("#chosen-model").click()
        page.locator("#dialog").get_by_label("Model", exact=True).select_option(label=label)
        page.locator("#dialog").get_by_role("button", name="Save", exact=True).click()
        expect(page.locator("#dialog")).to_be_hidden()
        expect(page.locator("#chosen-model")).to_contain_text(label)
        expect(page.locator("#model option:checked")).to_have_text(label)


def card(page: Page, name: str):
    return page.locator("article.card").filter(has_text=name)


def test_a_model_is_connected_tried_used_asked_for_its_models_and_removed(
    visitor: Visitor, provider: FakeProvider
) -> None:
    provider.key = KEY
    provider.otherwise = Reply("Small but real.")
    page = visitor.page()
    name = connect(page, provider, "Local box")
    page.wait_for_url("**/settings/")
    box = card(page, name)
    box.get_by_role("button", name="Test").click()
    expect(box).to_contain_text("Small but real.")
    box.get_by_role("button", name="Use for new conversations").click()
    expect(box).to_contain_text("Default for new conversations")
    begin(page, "Hello, small one.")
    is_in_state(page, 1, "completed")
    expect(turn(page, 1)).to_contain_text(f"small · {name}")
    the_settings_switch_what_the_composer_shows(page, name)
    page.goto("/settings/")
    box.get_by_role("link", name="Edit").click()
    page.wait_for_url("**/settings/endpoints/*/")
    it_is_asked_for_its_models_before_the_scripts_are_there(page)
    page.goto("/settings/")
    box.get_by_role("link", name="Remove").click()
    page.locator("#dialog").get_by_role("button", name="Remove").click()
    expect(box).to_have_count(0)


def it_is_asked_for_its_models_before_the_scripts_are_there(page: Page) -> None:
    """What is pressed then counts."""
    late: list[Route] = []
    page.route("**/app*.js", lambda route: late.append(route))
    page.goto(page.url, wait_until="commit")
    button = page.get_by_role("button", name="Show its models")
    for _ in range(2):
        button.click()
    [script] = late
    with page.expect_request("**/look/") as asked:
        script.continue_()
    page.get_by_label("It offers 2 models").select_option("large")
    expect(page.get_by_label("Model", exact=True)).to_have_value("large")
    assert asked.value.method == "POST"
    page.unroute("**/app*.js")


def test_a_wrong_address_and_a_wrong_key_are_told_in_their_own_words_and_corrected(
    visitor: Visitor, provider: FakeProvider
) -> None:
    page = visitor.page()
    page.goto("/settings/endpoints/new/")
    address, button = page.get_by_label("Address"), page.get_by_role("button", name="Show its models")
    address.fill("http://127.0.0.1:9/v1")
    button.click()
    expect(page.locator("#models-list")).to_contain_text("nothing listens on port 9 of 127.0.0.1")
    address.fill(provider.url)
    button.click()
    expect(page.get_by_label("It offers 2 models")).to_be_visible()
    expect(page.locator(".notice.bad")).to_have_count(0)

    # Of a wrong key the provider's own words are shown, and no key.
    visitor.watch.report()
    visitor.watch.expect("422")
    provider.key = "another"
    name = connect(page, provider, "Wrong key")
    expect(page.locator(".notice.bad")).to_contain_text("Incorrect API key provided")
    assert KEY not in page.content()
    page.get_by_role("button", name="Save anyway").click()
    box = card(page, name)
    box.get_by_role("button", name="Test").click()
    expect(box).to_contain_text("Incorrect API key provided")
    assert KEY not in page.content()
    box.get_by_role("link", name="Edit").click()
    expect(page.get_by_label("Key", exact=True)).to_have_value("")
    assert KEY not in page.content()


def test_a_conversation_is_archived_and_brought_back_and_its_budget_changed(guest: Visitor) -> None:
    page = guest.page()
    title = f"To be put away: {uuid4().hex[:8]}"  # of no other attempt
    begin(page, title)
    is_in_state(page, 1, "completed")
    row = page.locator("#conversations li").filter(has_text=title)
    row.hover()
    row.locator("summary").click()
    row.get_by_role("button", name="Archive").click()
    expect(row).to_have_count(0)
    page.get_by_role("button", name="Archived").click()
    row.hover()
    row.locator("summary").click()
    row.get_by_role("button", name="Bring back").click()
    expect(row).to_have_count(0)
    page.get_by_role("button", name="Back", exact=True).click()
    expect(row).to_have_count(1)

    guest.watch.report()
    guest.watch.expect("422")
    page.locator("#meter a.chip").click()
    dialog = page.locator("#dialog")
    dialog.get_by_label("Prompt budget").fill("100")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog.locator(".error")).to_contain_text("from 4,000")
    dialog.get_by_label("Prompt budget").fill("9000")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_be_hidden()
    expect(page.locator("#meter")).to_contain_text("of 9,000 tokens")
