"""What was said is found: by a key, by a page, by a citation; and each leads to its place."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import PHONE, WIDE, App, Visitor, begin, is_in_state, is_live, looks, say, turn, until
from tests.browser.test_conversation import Album
from tests.fakes.provider import FakeProvider, Reply
from tests.house.process import manage

pytestmark = [pytest.mark.browser, pytest.mark.slow]

MARK = "kestrel"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = Path(os.environ.get("CCM_SHOTS", tmp_path))
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def talk(page: Page, provider: FakeProvider) -> str:
    """A conversation in which something was said early, and much after it; its address."""
    long = "\n\n".join(f"Paragraph {number} of an answer that fills the page." for number in range(30))
    provider.script = [
        Reply(f"The {MARK} build is signed by Dana on 14 May."),
        Reply(long),
        Reply("Dana signs it [turn 1]; not [turn 7]. `[turn 1]`"),
    ]
    begin(page, f"Who signs the {MARK} build?")
    is_in_state(page, 1, "completed")
    say(page, "Tell me more.")
    is_in_state(page, 2, "completed")
    say(page, "Who was it again?")
    is_in_state(page, 3, "completed")
    return page.url


def open_search(page: Page) -> Any:
    page.keyboard.press("Control+k")
    box = page.locator("#box-q")
    expect(box).to_be_focused()
    return box


def hits(page: Page) -> Any:
    return page.locator("#dialog .hit .place")


def is_in_view(page: Page, number: int) -> None:
    expect(turn(page, number)).to_be_in_viewport()
    expect(turn(page, number)).to_have_class("turn arrived")
    expect(turn(page, number)).to_be_focused()


MARKED = "[...(CSS.highlights.get('found') ?? [])].map(range => range.toString())"


def marked(page: Page) -> list[str]:
    found: list[str] = page.evaluate(MARKED)
    return found


def prepared(app: App, call: str) -> str:
    """What a function of `tests/browser/prepared.py` answers."""
    code = f"from tests.browser import prepared; print(prepared.{call})"
    done = manage("shell", "-v", "0", "-c", code, CCM_HOME=str(app.home))
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def top_of(page: Page, number: int) -> float:
    return float(turn(page, number).evaluate("node => node.getBoundingClientRect().top"))


def numbers_on(page: Page) -> list[int]:
    """Of the turns that are on the page."""
    numbers: list[int] = page.locator(".turn").evaluate_all("all => all.map(one => Number(one.dataset.turn))")
    return numbers


def reads_on(page: Page, end: int, reading: int) -> bool:
    return numbers_on(page)[end] != reading


def scroll_to(page: Page, place: str) -> None:
    page.locator("#scroller").evaluate(f"node => {{ node.scrollTop = {place} }}")


def test_a_hit_far_back_opens_in_the_log_which_reads_on_in_both_directions(
    guest: Visitor, provider: FakeProvider, folder: Path
) -> None:
    page = guest.page()
    address = prepared(guest.app, "long_log(210, 100, 'The gannet **dives** at noon.')")
    page.goto("/search/?q=gannets+dive")
    page.locator(".hit .place").first.click()
    page.wait_for_url(f"**{address}log/?around=100&*#turn-100")
    is_live(page)
    assert marked(page) == ["gannet", "dives"]
    expect(turn(page, 100).get_by_text("The gannet dives at noon.")).to_be_in_viewport()
    Album(folder, "search").take(page, "place")
    # Upwards and downwards turns come by themselves, what is read stays where it is, and what is far away goes.
    for place, end in (("0", 0), ("0", 0), ("node.scrollHeight", -1), ("node.scrollHeight", -1), ("0", 0)):
        reading = numbers_on(page)[end]
        scroll_to(page, place)
        before = top_of(page, reading)
        until(page, partial(reads_on, page, end, reading))
        page.evaluate("() => new Promise(requestAnimationFrame)")
        assert abs(top_of(page, reading) - before) < 60
        numbers = numbers_on(page)
        assert numbers == list(range(numbers[0], numbers[-1] + 1))
        assert len(numbers) <= 120
    # What is said elsewhere meanwhile makes no hole in what is read here.
    prepared(guest.app, f"one_more_turn({address!r})")
    newest = page.get_by_role("button", name="Newest")
    expect(newest).to_be_visible()
    newest.click()
    expect(turn(page, 211)).to_be_in_viewport()
    expect(newest).to_be_hidden()
    assert page.url.endswith(address)
    numbers = numbers_on(page)
    assert numbers == list(range(numbers[0], 212))
    # It opens with the newest alone; before one gets to their beginning there are more, and the address leads to any.
    page.reload()
    is_live(page)
    assert numbers_on(page) == list(range(200, 212))
    scroll_to(page, "400")
    before = top_of(page, 201)
    until(page, lambda: numbers_on(page)[0] == 160)
    assert abs(top_of(page, 201) - before) < 60
    page.goto(f"{address}#turn-5")
    page.wait_for_url(f"**{address}log/?around=5#turn-5")
    expect(turn(page, 5)).to_be_in_viewport()


def test_a_key_opens_the_dialog_arrows_lead_through_what_is_found_and_each_result_to_its_place(
    guest: Visitor, provider: FakeProvider
) -> None:
    page = guest.page()
    address = talk(page, provider)
    what_is_typed_while_the_dialog_comes_is_looked_for(page)
    page.goto("/settings/")
    field = open_search(page)
    box = field.bounding_box()
    field.press_sequentially(f"who signs the {MARK}")
    expect(hits(page).first).to_contain_text("turn 1")
    # Where one types stays where it is, however much is found.
    assert field.bounding_box() == box
    expect(page.locator("#dialog .results")).to_have_attribute("data-query", f"who signs the {MARK}")
    page.keyboard.press("Enter")
    page.wait_for_url(f"{address}log/?around=1&found=*#turn-1")
    is_in_view(page, 1)
    assert marked(page) == ["signs", MARK]

    page.goto(address)
    is_live(page)
    arrows_lead_through_the_results_and_escape_back(page)
    # Without reading it again.
    open_search(page).press_sequentially(MARK)
    page.get_by_label("Only in").check()
    expect(hits(page)).to_have_count(2)
    hits(page).first.click()
    expect(page.locator("#dialog")).to_be_hidden()
    is_in_view(page, 1)
    assert page.url == address
    expect(page.locator("#text")).to_have_value("A draft")
    # And by a citation.
    page.reload()
    is_live(page)
    cited = turn(page, 3).locator("a.cite")
    expect(cited).to_have_count(1)
    expect(turn(page, 1)).not_to_be_in_viewport()
    cited.click()
    is_in_view(page, 1)
    assert page.url == address
    page.reload()
    is_live(page)
    page.goto(page.url + "log/?around=3#turn-2")
    is_in_view(page, 2)


def what_is_typed_while_the_dialog_comes_is_looked_for(page: Page) -> None:
    """Before htmx has wired the field, as a fast hand does it."""
    page.evaluate(
        """word => document.addEventListener("htmx:afterSwap", () => {
            const field = document.getElementById("box-q");
            if (field && !field.value) field.value = word;
        })""",
        MARK,
    )
    page.keyboard.press("Control+k")
    expect(hits(page).first).to_contain_text(MARK)


def arrows_lead_through_the_results_and_escape_back(page: Page) -> None:
    page.locator("#text").fill("A draft")
    box = open_search(page)
    box.press_sequentially(MARK)
    expect(page.locator(f'#dialog .results[data-query="{MARK}"]')).to_be_visible()
    page.keyboard.press("ArrowDown")
    expect(hits(page).first).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(hits(page).nth(1)).to_be_focused()
    # Results that come anew leave the focus on the same one.
    hits(page).nth(1).evaluate("link => { link.dataset.old = 'yes' }")
    page.evaluate("document.querySelector('.search-box').dispatchEvent(new Event('change'))")
    expect(page.locator("#dialog [data-old]")).to_have_count(0)
    expect(hits(page).nth(1)).to_be_focused()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    expect(box).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator("#dialog")).to_be_hidden()
    expect(page.locator("#text")).to_be_focused()


@looks(WIDE, "light")
def test_the_search_page_finds_filters_and_teaches_and_leads_into_panels(
    guest: Visitor, provider: FakeProvider, folder: Path, width: int, theme: str
) -> None:
    page, album = guest.page(width=width, theme=theme), Album(folder, f"search-{width}-{theme}")
    efforts_and_rules_open_in_their_panels(guest, talk(page, provider))
    guest.watch.report()
    guest.watch.expect("422")
    open_search(page).press_sequentially(MARK)
    expect(page.locator(f'#dialog .results[data-query="{MARK}"]')).to_be_visible()
    album.take(page, "dialog")
    page.get_by_role("button", name="All results and filters").click()
    page.wait_for_url("**/search/?q=*")
    expect(page.locator(".hit mark").first).to_have_text(MARK)
    page.locator(".hit summary").first.click()
    album.take(page, "page")
    page.get_by_label("Rules", exact=True).check()
    expect(page.locator("#found")).to_contain_text("Searched rules in all your conversations.")
    album.take(page, "nothing")
    with page.expect_navigation():
        page.get_by_role("link", name="Search everything").click()
    expect(page.locator(".hit").first).to_be_visible()
    page.get_by_label("From").fill("2026-02-02")
    page.get_by_label("To").fill("2026-02-01")
    expect(page.locator("#found")).to_contain_text("The end date is before the start date.")
    page.goto("/search/")
    expect(page.locator("#q")).to_be_focused()
    album.take(page, "empty")
    page.keyboard.type(MARK)
    page.locator(".hit .place").first.click()
    is_live(page)
    page.go_back()
    expect(page.locator("#q")).to_have_value(MARK)
    expect(page.locator(".hit mark").first).to_have_text(MARK)


def efforts_and_rules_open_in_their_panels(guest: Visitor, address: str) -> None:
    page, session = guest.page(), address.split("/")[-2]
    page.goto(address)
    is_live(page)
    for opener, label, button in (("New effort", "Name", "Begin"), ("Add a rule", "Rule", "Set")):
        page.get_by_role("link", name=opener).click()
        page.get_by_label(label, exact=True).fill("Paint the gannet")
        page.get_by_role("button", name=button, exact=True).click()
        expect(page.locator("#dialog")).to_be_hidden()
    for width in (WIDE, PHONE):
        reader = guest.page(width=width)
        for kind, place in (("effort", "#effort-paint-the-gannet-row"), ("rule", ".rules li")):
            reader.goto(f"/search/?q=gannet&kind={kind}&session={session}")
            reader.locator(".hit .place").click()
            is_live(reader)
            expect(reader.locator(place)).to_be_in_viewport()
            expect(reader.locator(place)).to_be_focused()
