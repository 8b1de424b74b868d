"""Who comes with hundreds of conversations: what came of them, and the list of them all."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, WebSocketRoute, expect

from tests.browser.conftest import PHONE, Visitor, is_live, say, serving, visit

pytestmark = [pytest.mark.browser, pytest.mark.slow]

MANY = 130
NEWEST = datetime(2026, 1, 31, tzinfo=UTC).timestamp()


def conversation(number: int) -> dict[str, Any]:
    """As ChatGPT has it; the higher its number, the older it is."""
    at = NEWEST - number * 40_000

    def node(id: str, parent: str | None, role: str) -> dict[str, Any]:
        content = {"content_type": "text", "parts": [f"About thing {number}."]}
        message = {"author": {"role": role}, "content": content, "create_time": at}
        return {"id": id, "parent": parent, "message": message}

    tree = {"q": node("q", None, "user"), "a": node("a", "q", "assistant")}
    told = {"title": f"Thing {number}", "create_time": at, "conversation_id": f"c-{number}"}
    return {**told, "current_node": "a", "mapping": tree}


@pytest.fixture(scope="module")
def crowded(chromium: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Any, Any]]:
    with serving(chromium, tmp_path_factory.mktemp("many"), CCM_UNDO_SECONDS="8") as served:
        visitor = Visitor(chromium, *served)
        page = visitor.page()
        page.goto("/")
        import_all(page, [conversation(number) for number in range(MANY)])
        expect(page.locator("#dialog")).to_contain_text(f"{MANY} of {MANY} conversations imported")
        visitor.close()
        yield served


@pytest.fixture
def visitor(chromium: Browser, crowded: tuple[Any, Any]) -> Iterator[Visitor]:
    yield from visit(chromium, *crowded)


def import_all(page: Page, conversations: list[dict[str, Any]]) -> None:
    page.get_by_role("link", name="Import").click()
    data = json.dumps(conversations).encode()
    page.locator("#import-file").set_input_files(
        {"name": "conversations.json", "mimeType": "application/json", "buffer": data}
    )
    page.locator("#dialog").get_by_role("button", name="Import").click()


def go_down_to(page: Page, title: str) -> Locator:
    listed = page.locator("#conversations")
    row = listed.locator("li").filter(has=page.get_by_title(title, exact=True))
    while not row.count():
        known = listed.locator("li").count()
        listed.evaluate("node => node.scrollTo(0, node.scrollHeight)")
        expect(listed.locator("li")).not_to_have_count(known)
    row.evaluate("node => node.scrollIntoView({ block: 'center' })")
    return row


def scrolled(page: Page) -> int:
    return int(page.locator("#conversations").evaluate("node => node.scrollTop"))


@pytest.mark.parametrize("width", [1280, PHONE])
def test_far_down_a_long_list_everything_is_as_at_its_top(visitor: Visitor, width: int) -> None:
    page = visitor.page(width=width)
    page.goto("/")
    if width == PHONE:
        page.locator(".tabs [data-tab=side]").click()
    row = go_down_to(page, "Thing 100")
    row.hover()
    button = row.locator("summary")
    button.click()
    menu, place = row.locator(".sheet").bounding_box(), button.bounding_box()
    assert menu
    assert place
    assert min(abs(menu["y"] - place["y"] - place["height"]), abs(menu["y"] + menu["height"] - place["y"])) < 8
    # It does not stay behind at another row.
    page.locator("#conversations").evaluate("node => node.scrollBy(0, 40)")
    expect(row.locator(".sheet")).to_be_hidden()
    before = scrolled(page)
    button.click()
    row.get_by_role("link", name="Delete").click()
    page.locator("#dialog").get_by_role("button", name="Delete").click()
    undo = page.locator(".deleted button")
    expect(undo).to_be_focused()
    expect(undo).to_be_in_viewport()
    assert scrolled(page) == before
    undo.click()
    expect(button).to_be_focused()
    expect(row).to_be_in_viewport()
    assert scrolled(page) == before
    # What a filter finds is seen from its first row on.
    page.locator("#filter").fill("Thing 1")
    expect(page.get_by_title("Thing 1", exact=True)).to_be_in_viewport()


def without_messages(page: WebSocketRoute) -> None:
    """A connection on which what a person sends is lost."""
    server = page.connect_to_server()
    page.on_message(lambda frame: None if '"kind":"send"' in frame else server.send(frame))


DELETE = """async (page) => {
  const { "x-csrftoken": token } = JSON.parse(document.body.getAttribute("hx-headers"));
  await fetch(`${page}delete/`, { method: "POST", headers: { "X-CSRFToken": token, "HX-Request": "true" } });
}"""


def test_a_page_of_a_deleted_conversation_goes_on_once_another_page_has_brought_it_back(visitor: Visitor) -> None:
    visitor.watch.expect("404")
    context = visitor.context()
    page, other = context.new_page(), context.new_page()
    page.route_web_socket("**/ws/s/*/", without_messages)
    page.goto("/")
    page.locator("#conversations li > a").nth(2).click()
    page.wait_for_url("**/s/*/")
    is_live(page)
    say(page, "Which wood?")
    page.locator("#text").fill("And how thick?")
    other.goto("/")
    other.evaluate(DELETE, page.url)
    expect(page.locator("#connection")).to_have_attribute("data-state", "closed")
    expect(page.locator("#pending")).to_contain_text("Not sent")
    other.reload()
    other.locator(".deleted button").click()
    is_live(page)
    expect(page.locator("#text")).to_have_value("And how thick?")
    expect(page.locator("#pending")).to_contain_text("Which wood?")


def test_what_was_sent_just_before_a_deletion_does_not_stand_at_sending(visitor: Visitor) -> None:
    visitor.watch.expect("404")
    page = visitor.page()
    page.route("**/turns/*/", lambda route: route.fulfill(status=404))
    page.goto("/")
    page.locator("#conversations li > a").nth(3).click()
    page.wait_for_url("**/s/*/")
    is_live(page)
    say(page, "Which wood?")
    expect(page.locator("#pending [data-turn]")).to_have_count(1)
    page.evaluate(DELETE, page.url)
    expect(page.locator("#connection")).to_have_attribute("data-state", "closed")
    expect(page.locator("#pending")).not_to_contain_text("Sending")


@pytest.mark.parametrize("width", [1280, PHONE])
def test_who_deletes_a_conversation_on_its_own_page_stands_at_its_undo(visitor: Visitor, width: int) -> None:
    # What its page had just asked for.
    visitor.watch.expect("404")
    page = visitor.page(width=width)
    page.goto("/")
    if width == PHONE:
        page.locator(".tabs [data-tab=side]").click()
    page.locator("#conversations li").first.locator("a").first.click()
    page.wait_for_url("**/s/*/")
    address = page.url
    if width == PHONE:
        page.locator(".tabs [data-tab=side]").click()
    current = page.locator("#conversations li.current")
    current.hover()
    current.locator("summary").click()
    current.get_by_role("link", name="Delete").click()
    page.locator("#dialog").get_by_role("button", name="Delete").click()
    # Beside those of others.
    undo = page.locator(".deleted button").last
    expect(undo).to_be_focused()
    expect(undo).to_be_in_viewport()
    page.keyboard.press("Enter")
    page.wait_for_url(address)


def test_while_a_reply_runs_a_list_of_three_parts_is_read_again_a_third_as_often(visitor: Visitor) -> None:
    page = visitor.page()
    page.clock.install()
    page.goto("/")
    expect(page.locator("#conversations .deleted")).to_have_count(0, timeout=20_000)
    go_down_to(page, f"Thing {MANY - 1}")
    asked = list[str]()
    page.on("request", lambda request: asked.append(request.url) if "/conversations/" in request.url else None)
    page.locator("#conversations").evaluate(
        "node => { node.querySelector('li').dataset.running = ''; node.dispatchEvent(new Event('htmx:afterRequest')) }"
    )
    page.clock.run_for(14_000)
    assert asked == []
    with page.expect_response(lambda response: "/conversations/" in response.url):
        page.clock.run_for(2_000)
