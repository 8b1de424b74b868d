"""Efforts from the first to the last on the built-in engine; and what the page keeps while they change under it."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.browser.conftest import (
    PHONE,
    WIDE,
    Visitor,
    begin,
    interceptable,
    is_in_state,
    is_live,
    looks,
    reply_of,
    say,
    session_of,
    turn,
)
from tests.browser.test_access import IN_A_TAB, assert_accessible
from tests.browser.test_conversation import Album
from tests.fakes.provider import Call, FakeProvider, Reply

pytestmark = [pytest.mark.browser, pytest.mark.slow]

WEBHOOK = "payment-webhook"
EXCHANGES = (
    "The webhook handler posts every event to the ledger before it answers, and a cold ledger needs 28 seconds.",
    "We change the handler: it stores the event by its id, answers with 202 at once and posts to the ledger in a job.",
    "The job tries three times, after 10, 60 and 300 seconds, and then puts the event on the dead-letter list.",
    "The load test sent 500 events through the webhook in 41 seconds, without a duplicate and with two retries.",
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = Path(os.environ.get("CCM_SHOTS", tmp_path))
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def called(slug: str) -> re.Pattern[str]:
    """By its name, which has the words of its id."""
    return re.compile(slug.replace("-", "[- ]") or "no effort", re.IGNORECASE)


# All that is read out, as one announcement takes the place of the other.
ANNOUNCED = """
() => {
  window.announced = [];
  const says = document.querySelector("#says");
  new MutationObserver(() => announced.push(says.textContent)).observe(says, { childList: true });
}
"""


class Journey:
    """One person on one page: says things, looks at the panel, takes pictures."""

    def __init__(self, visitor: Visitor, page: Page, album: Album, width: int) -> None:
        self.visitor, self.page, self.album, self.width = visitor, page, album, width
        self.said = 0

    def ask(self, text: str) -> int:
        """Say it and wait for the end; the number of the turn."""
        self.said += 1
        if self.said == 1:
            begin(self.page, text)
        else:
            say(self.page, text)
        is_in_state(self.page, self.said, "completed")
        return self.said

    def tab(self, name: str) -> None:
        if self.width == PHONE:
            self.page.locator(f".tabs [data-tab={name}]").click()

    def row(self, slug: str) -> Locator:
        return self.page.locator(f"#effort-{slug}")

    def control(self, slug: str, name: str) -> None:
        """Press a control in the panel."""
        self.tab("efforts")
        if not self.row(slug).get_attribute("open"):
            self.page.locator(f"#effort-{slug}-row").click()
        expect(self.row(slug)).to_have_attribute("open", "")
        self.album.take(self.page, f"panel-{name.lower().replace(' ', '-')}")
        shown = self.row(slug).get_by_role("button", name=name)
        if not shown.count():
            self.page.locator(f"#effort-{slug}-more > summary").click()
        shown.click()

    def stands(self, slug: str, standing: str) -> None:
        expect(self.page.locator(f"li[data-standing={standing}] > #effort-{slug}")).to_have_count(1)

    def goes_to(self, slug: str) -> None:
        """Where the next message will go, by the composer."""
        expect(self.page.locator("#destinations-row")).to_have_attribute("data-active", slug)

    def active(self) -> str:
        return self.page.locator("#destinations-row").get_attribute("data-active") or ""

    def belongs(self, number: int, slug: str) -> None:
        expect(turn(self.page, number).locator(".of-turn")).to_contain_text(called(slug))
        assert self.label(number) == slug

    def label(self, number: int) -> str:
        rows = self.visitor.app.rows(
            "SELECT e.slug FROM efforts_turnlabel l JOIN efforts_turn t ON t.id = l.turn_id "
            "JOIN efforts_effort e ON e.id = l.effort_id WHERE t.session_id = ? AND t.number = ?",
            session_of(self.page),
            number,
        )
        return rows[0][0] if rows else ""

    def note(self, number: int, text: str) -> Locator:
        # An effort's name has the words of its id.
        words = re.compile(re.escape(text).replace(r"\-", "[- ]"), re.IGNORECASE)
        note: Locator = turn(self.page, number).locator(".note", has_text=words)
        expect(note).to_be_visible()
        return note

    def meter(self) -> int:
        text = self.page.locator("#meter .meter-text > span").first.text_content() or ""
        found = re.search(r"~([\d,]+) of", text)
        assert found, text
        return int(found[1].replace(",", ""))


def small_talk_opens_nothing(one: Journey) -> None:
    one.ask("Hey, how's it going?")
    expect(one.page.locator(".note")).to_have_count(0)
    expect(turn(one.page, 1).locator(".of-turn")).to_be_hidden()
    one.goes_to("")
    one.album.take(one.page, "small-talk")


def a_problem_opens_an_effort(one: Journey) -> None:
    number = one.ask("Let's debug the payment webhook, it times out after 30 seconds")
    one.note(number, f"Started effort: {WEBHOOK}")
    one.goes_to(WEBHOOK)
    one.belongs(number, WEBHOOK)
    one.belongs(1, "")
    one.album.take(one.page, "opened")


def four_exchanges_belong_to_it(one: Journey) -> None:
    for text in EXCHANGES:
        one.belongs(one.ask(text), WEBHOOK)
    one.tab("efforts")
    one.stands(WEBHOOK, "active")
    one.album.take(one.page, "exchanges")
    one.tab("main")


def done_concludes_it_and_the_meter_falls(one: Journey) -> None:
    before = one.meter()
    number = one.ask("Done, the webhook works now")
    note = one.note(number, f"Concluded effort: {WEBHOOK}")
    expect(note).to_contain_text("The model sees excerpts instead of turns")
    expect(one.page.locator(f"li[data-standing=concluded] > #effort-{WEBHOOK}")).to_have_count(1)
    one.page.wait_for_function(
        "before => Number(document.querySelector('#meter .meter-text > span').textContent"
        ".match(/~([\\d,]+)/)[1].replaceAll(',', '')) < before",
        arg=before,
    )
    one.goes_to("")
    one.album.take(one.page, "concluded")


def a_question_about_it_expands_and_quotes_the_raw_log(one: Journey) -> None:
    number = one.ask("What exactly did we change for the payment webhook?")
    one.note(number, f"Expanded effort: {WEBHOOK} (")
    assert "stores the event by its id, answers with 202 at once" in reply_of(one.page, number)
    one.stands(WEBHOOK, "expanded")
    one.album.take(one.page, "expanded")


def two_more_efforts_and_each_message_in_the_active_one(one: Journey) -> tuple[str, str]:
    trip = opened_by(one, "Help me plan the team offsite in October")
    report = opened_by(one, "I need to write the quarterly report")
    one.belongs(one.ask("The report has six pages and goes to the board."), report)

    one.page.locator("#text").fill("We need rooms for")
    one.page.locator("#destinations-row").click()
    one.album.take(one.page, "destination")
    one.page.locator("#destinations .sheet").get_by_role("button", name=called(trip)).click()
    one.goes_to(trip)
    expect(one.page.locator("#text")).to_have_value("We need rooms for")
    rooms = one.ask("We need rooms for twelve people.")
    one.belongs(rooms, trip)
    switched = one.note(rooms - 1, f"Switched to effort: {trip}")
    expect(switched).to_contain_text("Undo")
    one.page.wait_for_load_state("networkidle")

    one.control(report, "Make active")
    one.stands(report, "active")
    one.tab("main")
    # Only the last one can be taken back: the one before says so without being opened anew.
    expect(switched).not_to_contain_text("Undo")
    one.belongs(one.ask("The numbers of March are still missing in it."), report)
    return trip, report


def opened_by(one: Journey, text: str) -> str:
    number = one.ask(text)
    slug = one.label(number)
    one.note(number, f"Started effort: {slug}")
    one.goes_to(slug)
    return slug


def said_in_notices(page: Page) -> list[str]:
    """But for what a summary saves, which comes when it is looked at."""
    texts: list[str] = page.locator(".note").evaluate_all(
        """notes => notes.map(note => {
            const copy = note.cloneNode(true);
            for (const saving of copy.querySelectorAll(".saving-of")) saving.remove();
            return copy.textContent;
        })"""
    )
    return texts


def undo_takes_a_conclusion_back(one: Journey, report: str) -> None:
    number = one.ask("The report is finished and sent.")
    note = one.note(number, f"Concluded effort: {report}")
    expect(note).to_contain_text("The model sees excerpts instead of turns")
    one.album.take(one.page, "before-undo")
    note.get_by_role("button", name="Undo").click()
    expect(one.note(number, f"Concluded effort: {report}")).to_contain_text("taken back")
    one.goes_to(report)
    one.stands(report, "active")
    one.album.take(one.page, "undone")


def a_turn_is_moved(one: Journey, trip: str) -> None:
    turn(one.page, 1).locator(".of-turn").click()
    expect(one.page.locator("#dialog")).to_be_visible()
    one.album.take(one.page, "moving")
    one.page.locator("#dialog").locator(f"button[value={trip}]").click()
    expect(one.page.locator("#dialog")).to_be_hidden()
    one.belongs(1, trip)
    one.album.take(one.page, "moved")


@looks(WIDE, "light")
def test_efforts_are_opened_concluded_expanded_switched_taken_back_and_moved(
    visitor: Visitor, folder: Path, width: int, theme: str
) -> None:
    page = visitor.page(width=width, theme=theme)
    one = Journey(visitor, page, Album(folder, f"efforts-{width}-{theme}"), width)
    small_talk_opens_nothing(one)
    a_problem_opens_an_effort(one)
    four_exchanges_belong_to_it(one)
    done_concludes_it_and_the_meter_falls(one)
    a_question_about_it_expands_and_quotes_the_raw_log(one)
    trip, report = two_more_efforts_and_each_message_in_the_active_one(one)
    undo_takes_a_conclusion_back(one, report)
    a_turn_is_moved(one, trip)
    notices = said_in_notices(page)
    page.reload()
    is_live(page)
    assert said_in_notices(page) == notices
    one.tab("efforts")
    assert_accessible(page, IN_A_TAB if width == PHONE else None)


# With a model whose every word the test chooses


def opens(name: str, text: str = "All right.") -> list[Any]:
    return [Reply(calls=(Call("open_effort", json.dumps({"name": name})),)), Reply(text)]


def begun(page: Page, provider: FakeProvider, name: str = "auth bug") -> None:
    provider.script = opens(name)
    begin(page, "Users are logged out after an hour.")
    is_in_state(page, 1, "completed")
    expect(page.locator("#destinations-row")).to_have_attribute("data-active", name.replace(" ", "-"))


def test_the_destination_flashes_when_it_changes_and_what_moves_in_the_list_stays_in_view(
    page: Page, provider: FakeProvider
) -> None:
    provider.script = [Reply("Hello."), *opens("auth bug")]
    begin(page, "Hello.")
    is_in_state(page, 1, "completed")
    # In a later turn: what happened before the page was there is no change that it could show.
    say(page, "Users are logged out after an hour.")
    expect(page.locator("#destination")).to_have_class(re.compile("flash"))
    page.get_by_role("link", name="New effort").first.click()
    page.get_by_label("Name", exact=True).fill("Guild feature")
    page.get_by_role("button", name="Begin").click()
    expect(page.locator("#destinations-row")).to_have_attribute("data-active", "guild-feature")
    page.locator("#destination").evaluate("node => node.classList.remove('flash')")
    page.evaluate(ANNOUNCED)
    say(page, "/done")
    expect(page.locator("#destinations-row")).to_have_attribute("data-active", "auth-bug")
    expect(page.locator("#destination")).to_have_class(re.compile("flash"))
    note = page.locator(".note").filter(has_text="Concluded effort: guild feature")
    expect(note).to_contain_text("auth bug is active again")
    page.wait_for_function("announced.includes('Concluded effort: Guild feature. auth bug is active again')")
    note.get_by_role("button", name="Undo").click()
    expect(page.locator("#destinations-row")).to_have_attribute("data-active", "guild-feature")
    say(page, "/done")
    expect(page.locator("#destinations-row")).to_have_attribute("data-active", "auth-bug")
    what_is_opened_or_moves_in_a_long_list_is_in_view(page)


def what_is_opened_or_moves_in_a_long_list_is_in_view(page: Page) -> None:
    for name in ("alpha", "beta", "gamma", "delta", "epsilon", "zeta"):
        say(page, f"/effort {name}")
        expect(page.locator("#destinations-row")).to_have_attribute("data-active", name)
        say(page, "/done")
        expect(page.locator("#destinations-row")).to_have_attribute("data-active", "auth-bug")
    last = page.locator("#effort-list .effort").last
    id = last.get_attribute("id")
    last.locator(":scope > summary").click()
    more = page.locator(f"#{id}-more > summary")
    expect(more).to_be_in_viewport(ratio=1)
    expect(page.locator(f"#{id}-row")).to_be_in_viewport(ratio=1)
    expect(page.locator(f"#{id}-row")).to_be_focused()
    more.click()
    page.locator(f"#{id}-reopen").click()
    expect(page.locator(f"[data-standing=active] #{id}")).to_have_attribute("open", "")
    expect(page.locator(f"#{id}-row")).to_be_in_viewport(ratio=1)
    # And a list that is read again leaves the reader where they are.
    page.locator("#efforts").evaluate("node => node.scrollTo(0, node.scrollHeight)")
    read_again(page, f"#{id}")
    expect(page.locator("#where-again")).to_be_in_viewport(ratio=1)


def read_again(page: Page, place: str) -> None:
    before = page.locator(place).element_handle()
    page.evaluate("document.body.dispatchEvent(new Event('efforts'))")
    page.wait_for_function("old => !old.isConnected", arg=before)


def test_from_its_row_an_effort_is_concluded_priced_expanded_and_read_up_on_while_panels_are_read_again(
    page: Page, provider: FakeProvider
) -> None:
    interceptable(page)
    provider.otherwise = Reply("It was the refresh token, which nobody asked for at sign-in.")
    begun(page, provider)
    what_a_panel_links_to_opens_while_it_is_read(page)
    what_is_open_focused_or_typed_stays(page)

    page.get_by_role("link", name="Where was I?").click()
    expect(page.locator("#dialog")).to_contain_text("Users are logged out after an hour.")
    assert_accessible(page)
    page.locator("#dialog").get_by_role("link", name="turn 1").click()
    expect(page.locator("#dialog")).to_be_hidden()
    expect(turn(page, 1)).to_be_focused()

    # The panel is read again while its button is pressed.
    page.locator("#effort-auth-bug-conclude").focus()
    before = page.locator("#effort-auth-bug").element_handle()
    held: dict[str, Route] = {}
    page.route("**/conclude/", lambda route: held.update(conclude=route))
    reading = re.compile(r"/efforts/(\?|$)")
    with page.expect_request(reading):
        page.route(reading, lambda route: held.update(panel=route), times=1)
        page.evaluate("document.body.dispatchEvent(new Event('efforts'))")
    with page.expect_request("**/conclude/"):
        page.keyboard.press("Enter")
    held["panel"].continue_()
    page.wait_for_function("old => !old.isConnected", arg=before)
    held["conclude"].continue_()
    expect(page.locator("#says")).to_contain_text("Concluded effort: auth bug")
    expect(page.locator("#effort-auth-bug-expand")).to_be_visible()
    # The focus follows the effort whose control was pressed.
    expect(page.locator("#effort-auth-bug-row")).to_be_focused()
    page.unroute("**/conclude/")

    expect(page.locator("#effort-auth-bug .price")).to_contain_text(re.compile(r"\+?-?\d+ tokens, \d+% → \d+%"))
    page.get_by_role("button", name="Expand auth bug").click()
    expect(page.locator("li[data-standing=expanded] > #effort-auth-bug")).to_have_count(1)
    page.get_by_role("button", name="New work session").click()
    expect(page.locator("li[data-standing=concluded] > #effort-auth-bug")).to_have_count(1)
    expect(turn(page, 1).locator(".note").first).to_be_visible()
    page.locator("#meter a.chip").click()
    page.get_by_label("Collapse the notes").check()
    page.locator("#dialog").get_by_role("button", name="Save").click()
    expect(turn(page, 1)).to_contain_text(re.compile(r"\d notes"))
    expect(turn(page, 1).locator(".note").first).to_be_hidden()


def what_is_open_focused_or_typed_stays(page: Page) -> None:
    page.locator("#scroller").focus()
    page.keyboard.press("e")
    expect(page.locator("#effort-auth-bug-row")).to_be_focused()
    page.keyboard.press("Enter")
    page.locator("#effort-auth-bug-conclude").focus()
    read_again(page, "#effort-auth-bug")
    expect(page.locator("#effort-auth-bug")).to_have_attribute("open", "")
    expect(page.locator("#effort-auth-bug-conclude")).to_be_focused()
    page.locator("#text").fill("Half a thought")
    page.locator("#destinations-row").click()
    read_again(page, "#destinations")
    expect(page.locator("#destinations")).to_have_attribute("open", "")
    expect(page.locator("#destinations-row")).to_be_focused()
    expect(page.locator("#text")).to_have_value("Half a thought")
    page.keyboard.press("Escape")


def what_a_panel_links_to_opens_while_it_is_read(page: Page) -> None:
    waiting: list[Route] = []
    for panel, address, link in (("efforts", "efforts", "Where was I?"), ("context", "price", "Add a rule")):
        reading = re.compile(rf"/{address}/(\?|$)")
        # Listening from before: the end of the turn may have it read just now, and what is asked then waits for that.
        with page.expect_request(reading):
            page.route(reading, lambda route: waiting.append(route))
            page.evaluate("(name) => document.body.dispatchEvent(new CustomEvent(name))", panel)
        page.get_by_role("link", name=link).click()
        expect(page.locator("#dialog")).to_be_visible()
        # Answered at the end, so that the panel was still being read when the click came.
        page.unroute(reading)
        while waiting:
            waiting.pop().fulfill(status=204)
        page.keyboard.press("Escape")
        expect(page.locator("#dialog")).to_be_hidden()


def test_a_refusal_is_shown_and_another_tab_sees_the_same_but_for_an_offer_that_was_put_off(
    guest: Visitor, provider: FakeProvider
) -> None:
    guest.watch.expect("422")
    context = guest.context()
    page, other = context.new_page(), context.new_page()
    begun(page, provider)
    page.locator("#effort-auth-bug-row").click()
    expect(page.locator("#effort-auth-bug-conclude")).to_be_visible()
    # Found, changed and pressed in one: the panel may be read again at any moment, and the form with it.
    page.evaluate(
        """() => {
            const button = document.getElementById("effort-auth-bug-conclude");
            button.form.action = button.form.action.replace("conclude", "collapse");
            button.click();
        }"""
    )
    expect(page.locator("#alerts")).to_contain_text("is not expanded")
    expect(page.locator("li[data-standing=active] > #effort-auth-bug")).to_have_count(1)
    say(page, "It works now, thank you.")
    is_in_state(page, 2, "completed")
    offer = turn(page, 2).locator("[data-offer]")
    expect(offer).to_contain_text("Conclude auth bug?")
    offer.get_by_role("button", name="Not now").click()
    expect(offer).to_be_hidden()
    page.reload()
    is_live(page)
    expect(turn(page, 2).locator("[data-offer]")).to_be_hidden()
    other.goto(page.url)
    is_live(other)
    turn(other, 2).get_by_role("button", name="Conclude auth bug").click()
    expect(turn(other, 2).locator("[data-offer]")).to_have_count(0)
    expect(other.locator("#destinations-row")).to_have_attribute("data-active", "")
    expect(turn(page, 2)).to_contain_text("Concluded effort: auth bug")
    expect(page.locator("#destinations-row")).to_have_attribute("data-active", "")
