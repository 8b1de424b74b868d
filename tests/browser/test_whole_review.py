"""From concluding an effort to rolling its summary back, by keyboard alone; and two people at one summary at once."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import PHONE, WIDE, App, Visitor, is_in_state, is_live, looks, session_of
from tests.browser.drafts import OPEN, RESULT, TALK, claim, webhook_model
from tests.browser.test_access import IN_A_TAB, assert_accessible
from tests.browser.test_conversation import Album
from tests.browser.test_efforts import folder
from tests.fakes.provider import Call, FakeProvider, Reply
from tests.house.process import manage

__all__ = ["folder"]

pytestmark = [pytest.mark.browser, pytest.mark.slow]

HERS = "An alert is still open for when the dead-letter list grows."
HIS = "There is no alert yet when the dead-letter list grows."
EDITED = "The webhook answers at once and a job then posts to the ledger."

FOCUSABLE = "a, button, input, select, textarea, summary, [tabindex]"
STANDS_BEHIND_THE_LINK = "node => document.activeElement === document.body && !!node.closest('#main')"
STANDS_BEFORE_THE_FOCUS = (
    "node => !!(document.activeElement.compareDocumentPosition(node) & Node.DOCUMENT_POSITION_PRECEDING)"
)


class Keyboard:
    """A person who has no mouse, and looks at every step."""

    def __init__(self, page: Page, album: Album) -> None:
        self.page, self.album = page, album

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def reach(self, node: Locator) -> None:
        """With Tab alone, past the list of conversations, which may be long."""
        expect(node).to_be_visible()
        # Before a page is painted the browser drops what is pressed.
        self.page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
        if node.evaluate(STANDS_BEHIND_THE_LINK):
            self.press("Tab", "Enter")
            expect(self.page.locator("#main")).to_be_focused()
        key = "Shift+Tab" if node.evaluate(STANDS_BEFORE_THE_FOCUS) else "Tab"
        for _ in range(self.page.locator(FOCUSABLE).count()):
            if node.evaluate("node => node === document.activeElement"):
                return
            self.press(key)
        expect(node).to_be_focused()

    def choose(self, node: Locator) -> None:
        self.reach(node)
        self.press("Enter")

    def write(self, text: str) -> None:
        self.press("ControlOrMeta+a")
        self.page.keyboard.type(text)

    def look(self, step: str, options: dict[str, Any] | None = None) -> None:
        assert_accessible(self.page, options)
        # No page is wider than its window.
        assert self.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        self.album.take(self.page, step)

    def say(self, number: int, text: str) -> None:
        """In a conversation, where this is turn `number`."""
        self.reach(self.page.locator("#text"))
        self.page.keyboard.insert_text(text)
        self.press("ControlOrMeta+Enter")
        is_in_state(self.page, number, "completed")

    def fork(self) -> None:
        """After the last reply."""
        self.page.locator("#scroller").focus()
        self.press("G")
        with self.page.expect_navigation():
            self.press("F")
        is_live(self.page)


def talk(one: Keyboard, provider: FakeProvider) -> None:
    """Three turns of an effort, in a conversation that asks about every summary."""
    model = webhook_model()
    # What is worded anew here is read by the checker too, which finds it in the log.
    model.believes("result", EDITED)
    for text in (HERS, HIS):
        model.believes("open_work", text)
    provider.otherwise = model
    provider.script = [
        Reply(calls=(Call("open_effort", '{"name": "payment-webhook"}'),)),
        *(Reply(answer) for _, answer in TALK),
    ]
    page = one.page
    page.goto("/")
    one.reach(page.get_by_label("First message"))
    page.keyboard.insert_text(TALK[0][0])
    one.press("ControlOrMeta+Enter")
    page.wait_for_url("**/s/*/")
    is_in_state(page, 1, "completed")
    ask_about_every_summary(one)
    one.say(2, TALK[1][0])
    one.say(3, TALK[2][0])


def ask_about_every_summary(one: Keyboard) -> None:
    page = one.page
    chat = page.url
    page.goto(f"{chat}settings/")
    mode = page.get_by_label("Summaries", exact=True)
    one.reach(mode)
    one.page.keyboard.type("Always")
    one.choose(page.get_by_role("button", name="Save"))
    page.goto(chat)
    is_live(page)


def conclude(one: Keyboard) -> None:
    """In the panel; then to the page of the draft."""
    page = one.page
    page.locator("#scroller").focus()
    one.press("e")
    row = page.locator("#effort-payment-webhook-row")
    one.choose(row)
    one.choose(page.locator("#effort-payment-webhook-conclude"))
    review = page.locator("#effort-payment-webhook").get_by_role("link", name="Review")
    expect(review).to_be_visible()
    one.look("concluded", IN_A_TAB)
    one.choose(review)
    page.wait_for_url("**/review/**")
    expect(page.locator("#standing")).to_contain_text("Not in the prompt:")


def plans(app: App, session: str) -> list[str]:
    """The hash of each request of the conversation's turns, the newest last."""
    rows = app.rows(
        "SELECT request_sha256 FROM efforts_contextplan WHERE session_id = ? ORDER BY created_at, id", session
    )
    return [sha256 for (sha256,) in rows]


@looks(WIDE, "light")
def test_by_keyboard_a_summary_is_edited_accepted_and_rolled_back_as_if_it_had_never_stood(
    guest: Visitor, provider: FakeProvider, folder: Path, width: int, theme: str
) -> None:
    page = guest.page(width=width, theme=theme)
    one = Keyboard(page, Album(folder, f"whole-{width}-{theme}"))
    talk(one, provider)
    session, chat = session_of(page), page.url
    conclude(one)
    review = page.url

    # A branch in which it is never accepted says what the prompts would have been. Nothing that is said from here on
    # has words of the log, so nothing of it is recalled.
    page.goto(chat)
    is_live(page)
    one.fork()
    one.say(4, "Hello?")
    one.say(5, "Goodbye!")
    never = plans(guest.app, session)[-1]

    page.goto(review)
    reads(one)
    edits(one)
    accepts(one)
    page.goto(chat)
    is_live(page)
    expect(page.locator("#turn-3")).to_contain_text("payment-webhook")
    one.look("chat-accepted")
    one.say(4, "Hello?")
    one.choose(page.locator("#more-of-4"))
    one.choose(page.locator("#sent-4"))
    one.choose(page.locator("#dialog a[href*='/plans/']").first)
    drawer = page.locator("#drawer")
    expect(drawer.locator("#plan-items")).to_contain_text("Concluded: a summary is sent in place of its turns.")
    expect(drawer.locator(".pieces")).to_contain_text(EDITED)
    one.look("plan")

    page.goto(f"{chat}summaries/")
    one.choose(page.locator("#summaries").get_by_role("link", name="Review"))
    page.wait_for_url("**/review/**")
    expect(page.locator("#standing")).to_contain_text("In the prompt instead of")
    rolls_back(one)
    page.goto(chat)
    is_live(page)
    one.say(5, "Goodbye!")
    assert plans(guest.app, session)[-1] == never
    assert len(set(plans(guest.app, session)[-2:])) == 2


def reads(one: Keyboard) -> None:
    """A claim, its words in the log, and back."""
    page = one.page
    one.press("j")
    expect(claim(page, 1)).to_be_focused()
    one.look("first-claim")
    one.press("j")
    expect(claim(page, 2)).to_be_focused()
    lit = page.locator("#source-log mark.on")
    expect(lit).to_have_text(OPEN)
    one.press("Tab")
    expect(page.locator("#source-log .src", has=page.locator("mark.on"))).to_be_focused()
    expect(lit).to_be_in_viewport()
    one.look("source")
    one.press("Tab")
    expect(claim(page, 2)).to_be_focused()


def edits(one: Keyboard) -> None:
    """The result gets other words, which makes a version that is judged again."""
    page = one.page
    one.press("k", "e")
    field = page.get_by_label("New words of claim 1")
    expect(field).to_be_focused()
    expect(field).to_have_value(RESULT)
    one.write(EDITED)
    one.look("editing")
    one.press("ControlOrMeta+Enter")
    expect(claim(page, 2)).to_be_focused()
    expect(claim(page, 1).locator("ins").first).to_be_visible()
    one.look("edited")
    one.press("ControlOrMeta+Enter")
    page.wait_for_url("**#claim-1")
    expect(claim(page, 1)).to_be_focused()
    expect(claim(page, 1)).to_contain_text(EDITED)
    expect(page.locator("#review-top")).to_contain_text("v2")
    for letter in "ABCDE":
        expect(page.locator(f"#gate-{letter} .state")).to_have_text("pass")
    one.look("version")
    one.press("d")
    expect(page.locator("ins").first).to_be_visible()
    one.look("compared")
    one.choose(page.locator("#compare-back"))
    expect(page.locator("#standing")).to_be_visible()
    page.wait_for_load_state()


def accepts(one: Keyboard) -> None:
    page, dialog = one.page, one.page.locator("#dialog")
    one.press("j", "A")
    expect(dialog).to_contain_text("Taken out of the next prompt")
    expect(dialog).to_contain_text(EDITED)
    expect(dialog).to_contain_text("Will be recorded as accepted by you (owner), edited by owner.")
    expect(dialog.locator("button.primary")).to_be_focused()
    one.look("accept")
    one.press("Enter")
    expect(page.locator("#standing")).to_contain_text("In the prompt instead of")
    expect(dialog).to_be_hidden()
    expect(claim(page, 1)).to_be_focused()
    one.look("accepted")


def rolls_back(one: Keyboard) -> None:
    page, standing = one.page, one.page.locator("#standing")
    one.press("j", "R")
    expect(page.locator("#reason")).to_be_focused()
    page.keyboard.type("The alert is not in it.")
    one.look("roll-back")
    one.press("Enter")
    expect(standing).to_contain_text("Rolled back.")
    expect(claim(page, 1)).to_be_focused()
    one.look("rolled-back")
    # Tab led from claim to source and back; now it leads on.
    one.press("Escape")
    one.choose(page.locator("#history > summary"))
    expect(standing.locator(".moves b")).to_have_text(["Rolled back", "Accepted"])
    expect(standing).to_contain_text("The alert is not in it.")
    one.look("history")


@looks(PHONE, "dark")
def test_two_who_edit_the_same_claim_at_once_lose_nothing_and_see_both_wordings(
    guest: Visitor, provider: FakeProvider, folder: Path, width: int, theme: str
) -> None:
    page = guest.page(width=width, theme=theme)
    album = Album(folder, f"two-{width}-{theme}")
    owner, dana = Keyboard(page, album), Keyboard(signed_in(guest, "dana", width, theme), album)
    talk(owner, provider)
    session = page.url
    guest.watch.expect("422")
    name_reviewer(owner, "dana")
    page.goto(session)
    is_live(page)
    conclude(owner)
    review = page.url
    dana.page.goto("/review/")
    # Where this test runs anew, the draft of before waits too.
    dana.choose(dana.page.locator(f"#queue .what a[href$='{urlsplit(review).path}']"))
    expect(dana.page).to_have_url(review)
    dana.look("the-other")

    rewords(owner, HERS)
    rewords(dana, HIS)
    page.reload()
    expect(page.locator("#review-top")).to_contain_text("dana is reviewing too")
    owner.look("also-here")
    submits(owner, "claim-1")
    expect(claim(page, 2)).to_contain_text(HERS)
    expect(page.locator("#conflicts")).to_have_count(0)

    # On the page as it was: what dana hands in is of the version before.
    submits(dana, "conflicts")
    told = dana.page.locator("#conflicts")
    expect(told).to_be_in_viewport()
    expect(told).to_contain_text(HERS)
    expect(told).to_contain_text(HIS)
    expect(dana.page.locator("#review-top")).to_contain_text("v2")
    expect(dana.page.locator("#desk")).to_contain_text("1 verdict saved, not submitted yet. Only you see it.")
    dana.look("conflict")
    both = guest.app.rows("SELECT text FROM compaction_claimverdict WHERE submitted_at IS NOT NULL ORDER BY id")
    assert [text for (text,) in both[-2:]] == [
        HERS,
        HIS,
    ]
    page.reload()
    owner.look("conflict-for-the-first")

    submits(dana, "claim-1")
    expect(dana.page.locator("#review-top")).to_contain_text("v3")
    expect(claim(dana.page, 2)).to_contain_text(HIS)
    expect(dana.page.locator("#conflicts")).to_have_count(0)
    dana.look("settled")


def signed_in(guest: Visitor, name: str, width: int, theme: str) -> Page:
    """Somebody else with an account here, in a browser of their own."""
    home = {"CCM_HOME": str(guest.app.home)}
    make = f"from django.contrib.auth.models import User; User.objects.get_or_create(username={name!r})"
    manage("shell", "-c", make, **home)
    link = json.loads(manage("sign_in_link", name, "--base", guest.app.url, "--json", **home).stdout)
    page = guest.page(width=width, theme=theme, signed_in=False)
    page.goto(link["url"])
    return page


def name_reviewer(one: Keyboard, name: str) -> None:
    # Past the link to its content the address of a page goes on.
    page = one.page
    page.goto(f"{page.url.partition('#')[0]}reviewers/")
    expect(page.get_by_text("Nobody but you reviews this conversation.")).to_be_visible()
    field = page.get_by_label("User name")
    one.reach(field)
    # Who cannot be named is told of where the name is written.
    page.keyboard.type("nobody-here")
    one.press("Enter")
    expect(page.get_by_text("There is no account with this user name")).to_be_visible()
    expect(field).to_have_value("nobody-here")
    expect(field).to_be_focused()
    one.look("unknown")
    one.write(name)
    one.press("Enter")
    expect(page.get_by_role("button", name=f"Remove {name}")).to_be_visible()
    one.look("named")


def rewords(one: Keyboard, text: str) -> None:
    """Claim 2."""
    one.press("n")
    expect(claim(one.page, 1)).to_be_focused()
    one.press("j", "e")
    expect(one.page.get_by_label("New words of claim 2")).to_be_focused()
    one.write(text)
    one.press("ControlOrMeta+Enter")
    expect(one.page.locator("#progress")).to_contain_text("1 of")
    expect(claim(one.page, 3)).to_be_focused()


def submits(one: Keyboard, leads_to: str) -> None:
    before = one.page.url.split("#")[0]
    one.press("ControlOrMeta+Enter")
    one.page.wait_for_url(re.compile(f"^(?!{re.escape(before)}).*#{leads_to}$"))
    expect(one.page.locator(f"#{leads_to}")).to_be_focused()
