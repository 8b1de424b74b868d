"""The review page in each state of a summary: what it says then, where the focus is, and axe in both themes."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import PHONE, WIDE, App, Visitor
from tests.browser.prepared import HERS, HIS
from tests.browser.test_access import assert_accessible
from tests.browser.test_conversation import Album
from tests.browser.test_efforts import folder
from tests.browser.test_review import WHOLLY_SEEN
from tests.house.process import manage

__all__ = ["folder"]

pytestmark = [pytest.mark.browser, pytest.mark.slow]

Places = dict[str, str]


@pytest.fixture(scope="session")
def places(built_in: tuple[App, Any]) -> Places:
    """Where a summary in each state is."""
    code = "from tests.browser.prepared import main; print(main())"
    done = manage("shell", "-v", "0", "-c", code, CCM_HOME=str(built_in[0].home))
    assert done.returncode == 0, done.stderr
    found: Places = json.loads(done.stdout.splitlines()[-1])
    return found


DESK = 1440


# Of each width one theme, so that all rules are asked of both themes and colours of every width; in all six where
# pictures are wanted.
EVERY = [(width, theme) for width in (PHONE, WIDE, DESK) for theme in ("light", "dark")]
LOOKS = EVERY if "CCM_SHOTS" in os.environ else [(PHONE, "dark"), (WIDE, "light"), (DESK, "dark")]


def clean_in_every_width(page: Page, album: Album, step: str) -> None:
    for width, theme in LOOKS:
        page.set_viewport_size({"width": width, "height": 900 if width == DESK else 800})
        page.emulate_media(color_scheme="dark" if theme == "dark" else "light")
        album.take(page, f"{step}-{width}-{theme}")
        assert_accessible(page)
    page.emulate_media(color_scheme="light")
    page.set_viewport_size({"width": WIDE, "height": 800})


SAYS = {
    "waiting": ("#review-top", "Waits for you"),
    "contradicting": ("#review-top", "Blocked"),
    "unchecked": ("#review-top", "Not checked"),
    "stale": ("#review-stale", "Changed since it was judged:"),
    "accepted": ("#next-up", "Next: "),
    "rolled_back": ("#standing", "Rolled back. You can use it again."),
    "turned_down": ("#review-top", "Rejected by"),
    "excerpts": ("#claims", "Word for word from the log; nothing was reworded."),
    "earlier": ("#earlier-note", "Made in an earlier form."),
    "old_version": ("#review-top", "v2 is newer"),
    "conflict": (".conflicts", "Nothing was lost: both sides are kept."),
}


# Of these the foot has most to say.
FEET = ("waiting", "contradicting", "accepted", "rolled_back", "turned_down", "conflict")


def test_each_state_is_said_in_words_and_is_accessible(visitor: Visitor, places: Places, folder: Path) -> None:
    page, phone, album = visitor.page(), visitor.page(width=PHONE), Album(folder, "review-state")
    for state, (where, words) in SAYS.items():
        page.goto(places[state])
        expect(page.locator(where)).to_contain_text(words)
        clean_in_every_width(page, album, state)
    for state in FEET:
        phone.goto(places[state])
        expect(phone.locator("#standing")).to_be_visible()
        foot = phone.locator(".review-foot").bounding_box()
        assert foot is not None
        slim = 0.1 if state == "waiting" else 0.25
        assert foot["height"] < slim * phone.evaluate("innerHeight"), f"{state}: too little is left to the claims"
    # However much keeps a draft from standing.
    phone.goto(places["contradicting"])
    phone.locator(".blocker").evaluate("row => { for (let n = 0; n < 5; n++) row.after(row.cloneNode(true)); }")
    foot = phone.locator(".review-foot").bounding_box()
    assert foot is not None
    assert foot["height"] < 0.25 * phone.evaluate("innerHeight")


HEIGHTS = "rows => rows.map(row => row.getBoundingClientRect().height)"


def takes_back(page: Page, *left: int) -> None:
    """Verdicts, one by one; so many are left after each."""
    for count in left:
        page.keyboard.press("u")
        expect(page.locator("#claims [data-do=undo]")).to_have_count(count)


def nothing_moves_or_is_hidden_while_one_decides(page: Page, places: Places) -> None:
    page.goto(places["accepted"])
    expect(page.locator("#claims")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollHeight - innerHeight") == 0

    page.goto(places["waiting"])
    rows = page.locator("#claims .claim")
    before = rows.evaluate_all(HEIGHTS)
    page.locator("#claim-1").focus()
    for number in range(1, 5):
        page.keyboard.press("a")
        expect(page.locator(f"#claim-{number}").get_by_role("button", name="Undo")).to_be_visible()
    assert rows.evaluate_all(HEIGHTS) == before
    takes_back(page, 3, 2, 1, 0)
    assert rows.evaluate_all(HEIGHTS) == before

    page.reload()
    for key in ("j", "j", "j", "e"):
        page.keyboard.press(key)
    expect(page.get_by_label("New words of claim postgres")).to_be_focused()
    expect(page.get_by_role("button", name="Save edit")).to_be_in_viewport(ratio=1)


def opens_on_excerpts(page: Page, places: Places) -> Locator:
    """The text that is sent instead of the turns."""
    page.goto(places["no_model"])
    expect(page.locator("#claim-1")).to_be_in_viewport()
    sent = page.locator("#standing-text")
    expect(sent).to_contain_text("Excerpts, not a summary")
    return sent


def test_on_a_phone_claims_come_first_and_what_is_behind_a_button_is_one_touch_away(
    visitor: Visitor, places: Places
) -> None:
    page = visitor.page(width=PHONE)
    page.goto(places["contradicting"])
    expect(page.locator("#claims")).to_be_in_viewport()
    assert page.locator("#claims .claim").evaluate_all(WHOLLY_SEEN) >= 1
    # What is told above them alone has the whole width.
    told = page.locator("#in-prompt").bounding_box()
    assert told is not None
    assert told["width"] > 0.8 * PHONE
    expect(page.locator("#source-pane")).to_be_hidden()
    expect(page.locator("#text-pane")).to_be_hidden()
    page.get_by_role("button", name="Prompt text").click()
    expect(page.locator("#standing-text")).to_be_in_viewport()
    expect(page.locator("#claims-pane")).to_be_hidden()

    # Gates are one line that opens them.
    page.goto(places["waiting"])
    short = page.get_by_role("button", name=re.compile(r"^5 gates: "))
    expect(page.locator("#gate-A")).to_be_hidden()
    short.press("Enter")
    expect(short).to_have_attribute("aria-expanded", "true")
    for letter in "ABCDE":
        expect(page.locator(f"#gate-{letter} .word")).to_be_visible()
    assert_accessible(page)

    # The claim that one is at is never under the foot.
    page.goto(places["waiting"])
    for key in ("j", "a", "a"):
        page.keyboard.press(key)
    expect(page.locator("#desk")).to_contain_text("2 verdicts saved")
    expect(page.locator("#claim-3")).to_be_focused()
    expect(page.locator("#claim-3")).to_be_in_viewport(ratio=1)
    takes_back(page, 1, 0)

    expect(opens_on_excerpts(page, places)).to_be_hidden()
    nothing_moves_or_is_hidden_while_one_decides(page, places)


def test_at_a_desk_what_is_sent_stands_beside_the_claims_and_a_history_leaves_them_their_room(
    visitor: Visitor, places: Places
) -> None:
    page = visitor.page(width=WIDE)
    expect(opens_on_excerpts(page, places)).to_be_visible()
    nothing_moves_or_is_hidden_while_one_decides(page, places)

    page.set_viewport_size({"width": DESK, "height": 900})
    page.goto(places["rolled_back"])
    page.locator("#history > summary").click()
    expect(page.locator("#moves")).to_be_visible()
    page.locator("#moves").evaluate(
        "node => node.append(...Array.from({length: 40}, () => node.firstElementChild.cloneNode(true)))"
    )
    assert page.locator("#moves").evaluate("node => node.clientHeight / innerHeight") <= 0.25
    assert page.locator("#claims .claim").evaluate_all(WHOLLY_SEEN) >= 2


def test_keys_show_what_the_prompt_would_get_say_what_cannot_be_done_and_lead_to_the_next_and_to_all(
    visitor: Visitor, places: Places
) -> None:
    page = visitor.page()
    the_text_follows_each_verdict(page, places)

    page.goto(places["old_version"])
    page.keyboard.press("j")
    expect(page.locator("#claim-1")).to_be_focused()
    page.keyboard.press("a")
    expect(page.locator("#says")).to_have_text("This cannot be done with it.")
    expect(page.locator("#claim-1")).to_be_focused()
    expect(page.locator("#claims form")).to_have_count(0)

    page.goto(places["excerpts"])
    expect(page.locator("#claims form")).to_have_count(0)
    for key in ("n", "s", "a", "u", "v"):
        page.keyboard.press(key)
    expect(page.locator("#says")).to_have_text("What excerpts leave out is told below the quotes.")

    page.goto(places["waiting"])
    page.keyboard.press("J")
    expect(page.locator("#says")).to_have_text("Submit or accept this one first, or press p for all reviews.")
    page.goto(places["accepted"])
    upcoming = page.locator("#review-next").get_attribute("href") or ""
    page.keyboard.press("J")
    page.wait_for_url(f"**{upcoming}")
    page.keyboard.press("p")
    page.wait_for_url("**/review/")


def the_text_follows_each_verdict(page: Page, places: Places) -> None:
    page.goto(places["waiting"])
    page.keyboard.press("t")
    words = "Nightly backups to the second site are decided."
    expect(page.locator("#standing-text")).to_contain_text(words)
    page.keyboard.press("j")
    while words not in (page.locator(".claim:focus").text_content() or ""):
        page.keyboard.press("j")
    page.keyboard.press("x")
    expect(page.locator("#standing-text")).not_to_contain_text(words)
    expect(page.locator("#preview")).to_contain_text("With your verdicts so far.")
    page.keyboard.press("u")
    expect(page.locator("#standing-text")).to_contain_text(words)
    page.keyboard.press("t")
    expect(page.locator("#source-log")).to_be_visible()
    # From the head one gets to the sentences that are left out.
    listed = page.locator("#left-out-sentences li").first
    expect(listed).to_be_hidden()
    page.locator(".glance").get_by_role("link", name="sentences").click()
    expect(listed).to_be_in_viewport()
    expect(page.locator("#left-out-sentences > summary")).to_be_focused()


UNCHECKED = ["Draft again", "Choose a checker", "Review the draft"]
NOTICES = {
    "good": (
        "In use",
        "Checked by drafter-1, which wrote it. The model sees the summary instead of turns 1-3. When a message "
        "refers to details of these turns, matching passages are found and sent with it. Nothing is deleted.",
        ["Roll back"],
    ),
    "contradicting": ("Blocked", "Gate D: The checker doubts claim", ["Draft again", "Review the draft"]),
    "void": (
        "Not checked",
        "The check by drafter-1 does not count.",
        UNCHECKED,
    ),
    "unchecked": ("Not checked", "in its exam it found 0 of 20", UNCHECKED),
    "no_draft": ("In use", "The draft failed. The reply is not in the form", ["Draft again"]),
    "no_model": (
        "In use",
        "The model sees excerpts instead of turns 1-3. When a message refers to details of these turns, matching "
        "passages are found and sent with it.",
        ["Choose a model", "Open the excerpts"],
    ),
}


def test_in_the_chat_the_notice_says_what_happened_and_what_can_be_done(
    visitor: Visitor, places: Places, folder: Path
) -> None:
    page, album = visitor.page(), Album(folder, "notice")
    for state, (word, why, offers) in NOTICES.items():
        page.goto(places[f"talk of {state}"])
        note = page.locator(".note", has_text="Concluded effort: storage").last
        expect(note.locator(".more .state").first).to_have_text(word)
        expect(note).to_contain_text(why)
        for offer in offers:
            expect(note.get_by_text(offer).first).to_be_visible()
        clean_in_every_width(page, album, state)
    # From the notice of excerpts one gets to their words, and to what takes them back.
    page.goto(places["talk of no_model"])
    page.get_by_role("link", name="Open the excerpts of storage").click()
    page.wait_for_url("**/review/**")
    expect(page.locator("#text-pane")).to_contain_text("Excerpts, not a summary.")
    expect(page.locator("#standing")).to_contain_text("In the prompt instead of turns 1-3.")
    expect(page.locator("#rollback")).to_be_visible()


def test_the_page_of_a_doubted_claim_opens_on_it_and_a_few_keys_mend_accept_and_roll_back(
    visitor: Visitor, places: Places
) -> None:
    page = visitor.page()
    page.goto(places["talk of doubted"])
    page.get_by_role("link", name="Review the draft").first.focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/review/**")
    expect(page.locator("#claim-1")).to_be_focused()
    expect(page.locator("#claim-1 .doubt")).to_contain_text("drafter-1 doubts")
    page.keyboard.press("e")
    field = page.locator("#claim-1 textarea")
    expect(field).to_be_focused()
    page.keyboard.press("Control+a")
    page.keyboard.type("They decided on nightly backups to the second site.")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#claim-1")).to_contain_text("Edited")
    page.keyboard.press("Control+Enter")
    page.wait_for_url("**#claim-1")
    expect(page.locator("#review-state")).to_contain_text("Waits for you")
    page.keyboard.press("A")
    dialog = page.locator("#dialog")
    expect(dialog.get_by_role("button", name="Accept")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#standing")).to_contain_text("In the prompt instead of")
    expect(page.locator("#saving")).to_contain_text("Saves ")
    page.keyboard.press("R")
    expect(dialog.locator("input[name=reason]")).to_be_visible()
    dialog.get_by_role("button", name="Roll back").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#standing")).to_contain_text("Rolled back. You can use it again.")
    page.keyboard.press("A")
    expect(dialog.get_by_role("button", name="Use again")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#review-state")).to_contain_text("In use")


def test_what_a_checker_doubts_is_decided_by_its_key_or_set_aside_and_put_back(
    visitor: Visitor, places: Places, folder: Path
) -> None:
    page, album = visitor.page(), Album(folder, "review-state-finding")
    page.goto(places["contradicting"])
    expect(page.locator("#claim-1")).to_be_focused()
    page.keyboard.press("w")
    expect(page.locator("#claim-1")).to_contain_text("Struck")
    page.keyboard.press("w")
    expect(page.locator("#claim-2")).to_contain_text("Kept")
    takes_back(page, 1, 0)

    visitor.watch.report()
    visitor.watch.expect("422")
    page.goto(places["contradicting"])
    expect(page.locator("#claim-1")).to_be_focused()
    page.keyboard.press("4")
    drawer = page.locator("#drawer")
    opener = drawer.get_by_text("This is not a contradiction…")
    expect(opener).to_be_visible()
    clean_in_every_width(page, album, "failing")
    opener.focus()
    page.keyboard.press("Enter")
    why = drawer.get_by_label("Why")
    why.focus()
    page.keyboard.type("   ")
    page.keyboard.press("Enter")
    expect(drawer).to_contain_text("Say in a few words why.")
    expect(why).to_be_focused()
    clean_in_every_width(page, album, "no-reason")
    why.fill("It is only worded badly.")
    page.keyboard.press("Enter")
    back = drawer.get_by_role("button", name="Put back")
    expect(back).to_be_focused()
    expect(drawer).to_contain_text("“It is only worded badly.”")
    expect(page.locator("#gate-D .state")).to_have_text("pass")
    expect(page.locator("#gate-D")).to_have_count(1)
    expect(page.locator("#claim-1")).to_contain_text("set aside the doubt of")
    expect(page.locator("#show-doubted")).to_have_count(0)
    clean_in_every_width(page, album, "set-aside")
    page.keyboard.press("Enter")
    expect(opener).to_be_focused()
    expect(page.locator("#gate-D .state")).to_have_text("fail")
    expect(page.locator("#show-doubted")).to_have_count(1)
    page.keyboard.press("Escape")
    expect(page.locator("#claim-1")).to_be_focused()


def test_by_keyboard_what_is_lost_stale_in_conflict_or_unchecked_is_dealt_with(
    visitor: Visitor, places: Places, folder: Path
) -> None:
    page, album = visitor.page(), Album(folder, "review-state-dealt-with")
    page.goto(places["losing"])
    says_that_it_is_not_needed(page, album)
    page.goto(places["stale"])
    judges_again(page)
    page.goto(places["conflict"])
    reads_both_wordings(page)
    page.goto(places["unchecked"])
    accepts_unchecked(page, album)


def says_that_it_is_not_needed(page: Page, album: Album) -> None:
    page.keyboard.press("v")
    expect(page.locator("#claims .claim.gap")).to_be_focused()
    page.keyboard.press("x")
    expect(page.get_by_label("Why")).to_be_focused()
    clean_in_every_width(page, album, "reason")
    page.keyboard.type("It was taken back.")
    page.keyboard.press("Enter")
    expect(page.locator("#claims")).to_contain_text("“It was taken back.”")
    expect(page.locator("#gate-C .state")).to_have_text("pass")


def judges_again(page: Page) -> None:
    """It is stale no more, and the focus stays where it was."""
    page.locator("#judge-again").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#review-stale")).to_have_count(0)
    expect(page.locator("#review-top")).to_be_focused()


def reads_both_wordings(page: Page) -> None:
    """They stand beside each other, and lead to the claim."""
    sides = page.locator(".conflict .sides > div")
    expect(sides).to_have_count(2)
    for words in (HERS, HIS):
        expect(sides.filter(has_text=words)).to_have_count(1)
    page.locator(".conflict a").focus()
    page.keyboard.press("Enter")
    expect(page.locator(".claim:focus")).to_contain_text("Postgres")


def accepts_unchecked(page: Page, album: Album) -> None:
    """What nobody has checked, and it is marked as that."""
    page.keyboard.press("A")
    button = page.locator("#dialog button.primary")
    expect(button).to_have_text("Accept unchecked")
    clean_in_every_width(page, album, "dialog")
    button.click()
    expect(page.locator("#standing")).to_contain_text("In the prompt instead of")
    expect(page.locator("#standing")).to_contain_text("Not checked")


def test_what_is_only_kept_is_submitted_and_the_page_tells_that_it_was_rolled_back_meanwhile(
    visitor: Visitor, places: Places
) -> None:
    reading, elsewhere = visitor.page(), visitor.page()
    for page in (reading, elsewhere):
        page.goto(places["good"])
    reading.locator("#claim-1").focus()
    reading.keyboard.press("a")
    expect(reading.locator("#desk")).to_contain_text("1 verdict saved, not submitted yet.")
    elsewhere.locator("#rollback").click()
    elsewhere.locator("#dialog button.primary").click()
    expect(elsewhere.locator("#standing")).to_contain_text("Rolled back. You can use it again.")
    reading.keyboard.press("Control+Enter")
    expect(reading.locator("#review-state")).to_contain_text("Rolled back")
    expect(reading.locator("#desk")).not_to_contain_text("not submitted yet")
    expect(reading.locator("#claim-1")).to_contain_text("Kept")
