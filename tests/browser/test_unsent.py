"""Words that nobody has sent yet are there again, whatever became of their page, its tab or the connection."""

from __future__ import annotations

import threading

import pytest
from playwright.sync_api import FilePayload, Page, Route, expect

from tests.browser.conftest import Visitor, begin, choose, interceptable, is_in_state, is_live, say, turn, until
from tests.fakes.provider import FakeProvider, Reply

pytestmark = pytest.mark.browser

HIDDEN = """() => {
  Object.defineProperty(document, "hidden", { get: () => true, configurable: true });
  document.dispatchEvent(new Event("visibilitychange"));
}"""
DRAFTS = "() => Object.entries(localStorage).filter(([key]) => key.startsWith('ccm.draft')).map(([, words]) => words)"


def test_a_tab_in_which_nothing_was_written_takes_nothing_from_another(guest: Visitor) -> None:
    context = guest.context()
    one, two = context.new_page(), context.new_page()
    begin(one, "Hello.")
    is_in_state(one, 1, "completed")
    two.goto(one.url)
    is_live(two)
    one.locator("#text").press_sequentially("Half a thought")
    address = one.url
    one.goto("/settings/")
    two.evaluate(HIDDEN)
    one.goto(address)
    expect(one.locator("#text")).to_have_value("Half a thought")

    # What was sent in one is no draft of the other either.
    two.reload()
    expect(two.locator("#text")).to_have_value("Half a thought")
    is_live(one)
    one.locator("#send").click()
    is_in_state(one, 2, "completed")
    two.evaluate(HIDDEN)
    assert two.evaluate(DRAFTS) == []


def test_a_first_message_is_kept_until_it_has_arrived(guest: Visitor) -> None:
    page = guest.page()
    page.goto("/")
    field = page.get_by_label("First message")
    field.fill("The webhook times out.")
    [kept] = [cookie for cookie in page.context.cookies() if cookie["name"] == "sessionid"]
    page.context.clear_cookies(name="sessionid")
    page.get_by_role("button", name="Send", exact=True).click()
    page.wait_for_url("**/sign-in/**")
    page.context.add_cookies([{"name": "sessionid", "value": kept["value"], "url": guest.app.url}])
    page.goto("/")
    expect(field).to_have_value("The webhook times out.")
    page.get_by_role("button", name="Send", exact=True).click()
    page.wait_for_url("**/s/*/")
    page.goto("/")
    expect(field).to_have_value("")


def test_a_message_that_is_edited_is_kept_until_it_is_sent_or_left(page: Page) -> None:
    begin(page, "What is a queue?")
    is_in_state(page, 1, "completed")
    editor = page.get_by_label("New text for the message of turn 1")

    def edit() -> None:
        turn(page, 1).locator("[data-edit]").press("Enter")
        expect(editor).to_be_focused()

    edit()
    page.keyboard.type(" Really?")
    page.reload()
    is_live(page)
    edit()
    expect(editor).to_have_value("What is a queue? Really?")
    page.keyboard.press("Escape")
    edit()
    expect(editor).to_have_value("What is a queue?")
    page.keyboard.type(" Or a stack?")
    page.keyboard.press("Control+Enter")
    page.wait_for_url("**/b/*/**")
    is_in_state(page, 1, "completed")
    assert page.evaluate(DRAFTS) == []


def test_what_is_written_behind_the_name_of_a_saved_prompt_stays(page: Page) -> None:
    page.goto("/settings/prompts/new/")
    page.get_by_label("Name").fill("standup")
    page.get_by_label("Text").fill("What did I do yesterday?")
    page.get_by_role("button", name="Save").click()
    page.wait_for_url("**/settings/")
    begin(page, "Hello.")
    is_in_state(page, 1, "completed")
    page.locator("#text").press_sequentially("/standup today")
    expect(page.locator("#commands")).to_be_hidden()
    page.keyboard.press("Enter")
    expect(page.locator("body")).to_contain_text("/standup today")
    expect(page.locator("#text")).not_to_have_value("What did I do yesterday?")


def test_files_stay_where_the_list_of_them_cannot_be_read(guest: Visitor) -> None:
    context = guest.context()
    page, other = interceptable(context.new_page()), context.new_page()
    begin(page, "Hello.")
    is_in_state(page, 1, "completed")
    notes: list[FilePayload] = [
        {"name": name, "mimeType": "text/plain", "buffer": b"Hall 7."} for name in ("one.txt", "two.txt")
    ]
    page.locator("#file-picker").set_input_files(notes)
    chips = page.locator("#files [data-file]")
    expect(chips).to_have_count(2)
    guest.watch.expect("502")
    page.route("**/files/", lambda route: route.fulfill(status=502, body="<h1>Bad gateway</h1>"))
    other.goto(page.url)
    is_live(other)
    with page.expect_response("**/files/"):
        other.get_by_role("button", name="Remove one.txt").click()
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    expect(page.locator("#files")).not_to_contain_text("Bad gateway")
    assert "two.txt" in chips.all_inner_texts()[-1]


def test_a_log_that_could_not_be_read_is_read_once_it_can_be(guest: Visitor) -> None:
    page = interceptable(guest.page())
    begin(page, "Hello.")
    is_in_state(page, 1, "completed")
    guest.watch.expect("503")
    refused: list[Route] = []

    def refuse(route: Route) -> None:
        refused.append(route)
        route.fulfill(status=503, body="Busy") if len(refused) == 1 else route.continue_()

    page.route("**/log/?since=*", refuse)
    page.evaluate("document.getElementById('log').dataset.old = 'yes'")
    page.locator("#context-mode").click()
    page.locator("#modes button[aria-pressed=false]").first.click()
    until(page, lambda: refused)
    expect(page.locator("#log:not([data-old])")).to_be_visible()


def test_escape_in_another_field_stops_no_reply(page: Page, provider: FakeProvider) -> None:
    begin(page, "Hello.")
    is_in_state(page, 1, "completed")
    gate = threading.Event()
    provider.script = [Reply("It comes.", gate=gate)]
    say(page, "Go on.")
    is_in_state(page, 2, "running")
    page.locator("#filter").press_sequentially("Release")
    page.keyboard.press("Escape")
    expect(turn(page, 2)).not_to_have_attribute("data-phase", "stopping")
    gate.set()
    is_in_state(page, 2, "completed")


SAYS = """async (events) => {
  const script = performance.getEntriesByType("resource").find(({ name }) => name.includes("/js/efforts."));
  const { Efforts } = await import(script.name);
  const none = () => {};
  const efforts = new Efforts("heard", { refresh: none, reload: none, context: none });
  return events.map((event) => {
    efforts.happened({ turn: 1, effort: "x", ...event });
    return document.getElementById("says").textContent;
  });
}"""


def test_what_is_read_out_in_german_has_no_english_in_it(guest: Visitor) -> None:
    begun = guest.page()
    begin(begun, "Hello.")
    is_in_state(begun, 1, "completed")
    page = guest.page(language="de-DE")
    page.goto(begun.url)
    is_live(page)
    some, one = {"first": 3, "last": 9}, {"first": 3, "last": 3}
    assert page.evaluate(
        SAYS,
        [
            {"kind": "compaction.requested", **some},
            {"kind": "compaction.accepted", **one},
            {"kind": "compaction.rolled_back", "first": None, "last": None},
            {"kind": "compaction.expanded", "id": "turns-3-9"},
        ],
    ) == [
        "Wird zusammengefasst: Runden 3-9",
        "Als Zusammenfassung im Prompt: Runde 3",
        "Zurückgerollt: die Zusammenfassung (wovon diese Unterhaltung ausgeht)",
        "Aufgeklappt: Runden 3-9",
    ]
    choose(begun, 1, "Pin this turn")
    begun.locator("#dialog").get_by_role("button", name="Next message only").click()
    expect(page.locator("#says")).to_have_text("Angeheftet: Runde 1 mit einer Nachricht")
