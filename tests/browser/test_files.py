"""Files in a message, as a person has them: picked, dropped and pasted, priced, removed, sent, read, found, erased."""

from __future__ import annotations

import os
from pathlib import Path
from uuid import UUID

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import App, Visitor, is_in_state, is_live, looks, say, session_of, turn, until
from tests.browser.test_conversation import Album
from tests.browser.test_search import marked

pytestmark = [pytest.mark.browser, pytest.mark.slow]

NOTES = "The crane in hall 7 was serviced by Marisol on 3 May.\nNext service: November.\n"
# What a browser does with a file that is dropped, or pasted.
GIVE = """([target, kind, name, text]) => {
  const files = new DataTransfer();
  files.items.add(new File([text], name));
  const how = kind === "drop" ? { dataTransfer: files } : { clipboardData: files };
  const node = document.querySelector(target);
  const given = kind === "drop" ? new DragEvent(kind, { bubbles: true, cancelable: true, ...how })
    : new ClipboardEvent(kind, { bubbles: true, cancelable: true, ...how });
  node.dispatchEvent(given);
}"""


def kept(app: App, page: Page) -> list[Path]:
    return sorted((app.home / "files" / str(UUID(session_of(page)))).glob("*"))


@looks(1280, "light")
def test_files_go_with_a_message_and_with_its_conversation(
    visitor: Visitor, tmp_path: Path, width: int, theme: str
) -> None:
    album = Album(Path(os.environ.get("CCM_SHOTS", tmp_path)), f"files-{width}-{theme}")
    page = visitor.page(width=width, theme=theme)
    chips = page.locator("#files [data-file]")
    # A conversation begins with one that is dropped on the start page.
    page.goto("/")
    page.get_by_label("First message").fill("Hello.")
    page.evaluate(GIVE, ["body", "drop", "first.txt", "A first file."])
    page.wait_for_url("**/s/*/")
    is_live(page)
    expect(chips).to_have_count(1)
    expect(page.locator("#text")).to_have_value("Hello.")
    page.locator("#send").click()
    is_in_state(page, 1, "completed")
    (tmp_path / "notes.txt").write_text(NOTES)
    (tmp_path / "wrong.zip").write_bytes(b"PK\x03\x04" + bytes(200))

    # Picked, dropped and pasted; what cannot be read says why, and the others stay.
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Add file").click()
    chooser.value.set_files([tmp_path / "notes.txt", tmp_path / "wrong.zip"])
    expect(chips).to_have_count(1)
    expect(page.locator("#files .notice")).to_contain_text("wrong.zip was not added. It is a ZIP archive.")
    page.evaluate(GIVE, ["#log", "drop", "dropped.py", "print('dropped')"])
    expect(chips).to_have_count(2)
    page.evaluate(GIVE, ["#text", "paste", "pasted.csv", "a,b\n1,2"])
    expect(chips).to_have_count(3)
    expect(chips.first).to_contain_text("78 bytes · 33 tokens")
    expect(page.locator("#price")).to_contain_text("tokens")
    album.take(page, "composer")

    # Taken away again; still there after a reload.
    page.get_by_role("button", name="Remove pasted.csv").click()
    expect(chips).to_have_count(2)
    assert len(kept(visitor.app, page)) == 3
    page.reload()
    is_live(page)
    expect(chips).to_have_count(2)

    say(page, "When is the next service?")
    is_in_state(page, 2, "completed")
    expect(chips).to_have_count(0)
    # The built-in engine quotes what it finds in it.
    assert "Next service: November." in visitor.app.replies(page)[1]
    album.take(page, "answered")

    # Read where it was sent, and after a reload.
    page.reload()
    is_live(page)
    file = turn(page, 2).locator(".file", has_text="notes.txt")
    file.locator("summary").click()
    expect(file.locator("pre")).to_contain_text("Marisol on 3 May")
    album.take(page, "sent")

    page.goto("/search/?q=Marisol+crane")
    expect(page.get_by_text("Your file").first).to_be_visible()
    # A hit inside a file unfolds it.
    page.locator(".hit", has_text="Your file").first.locator(".place").click()
    until(page, lambda: {"Marisol", "crane"} <= set(marked(page)))
    expect(turn(page, 2).locator(".file pre").first).to_be_in_viewport()
    page.go_back()
    page.go_back()
    is_live(page)

    # Deleted, and its files with it.
    [folder] = {path.parent for path in kept(visitor.app, page)}
    token = page.evaluate("JSON.parse(document.body.getAttribute('hx-headers'))['x-csrftoken']")
    assert page.request.post(f"{page.url}delete/", headers={"X-CSRFToken": token}).ok
    until(page, lambda: not folder.exists())
