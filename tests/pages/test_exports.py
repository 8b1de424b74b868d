"""A conversation and an effort as files."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from efforts import actions
from efforts.domain.effort.states import RunState
from efforts.models import Session, Turn
from efforts.models.threads import run_here
from efforts.pages.presenters import chat
from efforts.turns.recording import Ending
from tests.compaction.review import SLUG, STATES, Room
from tests.efforts.talk import Talk

from .conftest import Scene

Address = Callable[..., str]
Download = Callable[[str], str]
SECRET = "sk-proj-abcdefghij0123456789"


@pytest.fixture
def download(as_alice: Client, address: Address) -> Download:
    return lambda rest: text_of(as_alice.get(address(rest)))


def text_of(response: Any) -> str:
    return bytes_of(response).decode()


def bytes_of(response: Any) -> bytes:
    async def read() -> bytes:
        return b"".join([piece async for piece in response.streaming_content])

    return run_here(read())


def test_a_conversation_as_markdown_has_every_word_in_order(
    scene: Scene, download: Download, as_alice: Client, address: Address
) -> None:
    scene.ask("# Not a heading\nsecond line", "A **bold** reply.")
    scene.ask(f"My key is {SECRET}", "```python\nx = 1")
    scene.ask("And after that?", "", Ending(state=RunState.FAILED, code="timeout", text="It took too long."))
    text = download("export/?form=md")
    said = ["### Turn 1", "> # Not a heading\n> second line", "A **bold** reply.", "### Turn 2", "And after that?"]
    places = [text.index(one) for one in said]
    assert places == sorted(places)
    assert SECRET not in text
    assert "My key is sk-[masked]" in text
    # A fence that a reply leaves open takes in nothing that follows.
    assert "```python\nx = 1\n```\n\n### Turn 3" in text
    assert "*The reply failed. It took too long.*" in text
    assert "Sent with call" not in text
    response = as_alice.get(address("export/?form=md"))
    assert response["Content-Disposition"].startswith("attachment; ")


def test_a_document_says_when_by_the_clock_of_the_pages(
    scene: Scene, download: Download, as_alice: Client, address: Address, settings: Any
) -> None:
    turn = scene.ask("Hello", "Hi.")
    Turn.objects.filter(pk=turn.pk).update(created_at=datetime(2026, 3, 5, 23, 30, tzinfo=UTC))
    settings.TIME_ZONE = "Europe/Berlin"
    assert "6 Mar 2026, 00:30" in as_alice.get(address()).content.decode()
    assert "### Turn 1 · 2026-03-06 00:30" in download("export/?form=md")


def test_what_is_asked_for_comes_with_it(session: Session, scene: Scene, download: Download) -> None:
    scene.ask("Hello", "Hi.")
    actions.set_constraint(actions.here(session, actor=session.owner), "Answer in one sentence.", turn=1)
    text = download("export/?form=md&plans=1&ledger=1&summaries=1")
    assert "## Rules\n\n- Answer in one sentence." in text
    assert "**Sent with call 1: " in text
    assert "- Included: System text and tools, " in text


def test_a_document_is_in_the_language_of_who_asks(
    session: Session, scene: Scene, as_alice: Client, address: Address
) -> None:
    actions.open_effort(actions.here(session, actor=session.owner), "Rules")
    scene.ask("Messages", "You")
    actions.set_constraint(actions.here(session, actor=session.owner), "Messages", turn=1)

    def read(rest: str) -> str:
        return text_of(as_alice.get(address(rest), headers={"accept-language": "de"}))

    text = read("export/?form=md&plans=1&ledger=1")
    assert "aus CCM Web exportiert. Geheimnisse wie Schlüssel sind verdeckt." in text
    assert "## Regeln\n\n- Messages" in text
    # What was said stays as it was said.
    assert "### Runde 1 · Rules · " in text
    assert "**Sie**\n\n> Messages" in text
    assert "**Gesendet mit Aufruf 1: " in text
    assert "- Enthalten: Systemtext und Werkzeuge, " in text
    page = read("export/?form=html")
    assert '<html lang="de">' in page
    assert "<p>You</p>" in page
    text = read("efforts/rules/export/?form=md&log=1")
    assert "# Übergabe: Rules" in text
    assert "Es ist offen. Es hat 1 Runde: Runde 1." in text


def test_as_html_nothing_in_it_is_a_tag(scene: Scene, download: Download) -> None:
    scene.ask("<script>alert(1)</script>", "<img src=x onerror=alert(1)> and **this**")
    page = download("export/?form=html")
    assert page.startswith("<!doctype html>")
    assert page.rstrip().endswith("</html>")
    assert "<script" not in page
    assert "<img" not in page
    assert "<strong>this</strong>" in page


def test_as_lines_of_json_each_turn_is_one(scene: Scene, download: Download) -> None:
    scene.ask("Hello", "Hi.")
    lines = [json.loads(line) for line in download("export/?form=jsonl&plans=1").splitlines()]
    assert [line.get("line", "plan") for line in lines] == ["conversation", "turn", "plan"]
    assert (lines[1]["user"], lines[1]["reply"]) == ("Hello", [{"text": "Hi."}])


def test_nothing_is_drawn_for_a_document_that_has_the_text(
    scene: Scene, download: Download, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene.ask("Make it bold.", "It is **bold**.")
    drawn = list[str]()
    monkeypatch.setattr(chat, "render", lambda text, cited: drawn.append(text))
    assert "It is **bold**." in download("export/?form=md")
    assert drawn == []


def test_the_dialog_offers_what_there_is(as_alice: Client, as_bob: Client, address: Address) -> None:
    page = as_alice.get(address("export/")).content.decode()
    assert "What each request held, and why" in page
    assert as_bob.get(address("export/?form=md")).status_code == 404


def test_a_handover_says_what_was_decided_what_is_open_and_where_it_was_said(room: Room, as_alice: Client) -> None:
    STATES["stands"](room)
    address = f"{room.talk.session.get_absolute_url()}efforts/{SLUG}/export/"
    text = text_of(as_alice.get(f"{address}?form=md&log=1"))
    assert text.startswith("# Handover: ")
    assert "It was concluded in turn 3. It has 3 turns: turns 1-3." in text
    said = ["## Summary", "### Result", "Orders are stored in Postgres", "### Decisions", "### Sources", "## Log"]
    places = [text.index(one) for one in said]
    assert places == sorted(places)
    # A claim leads to its sentence by a number.
    assert "\\[1\\]" in text
    assert "Turn 1, you: “We decided on Postgres for the storage of orders.”" in text
    assert as_alice.get(address.replace(SLUG, "nothing") + "?form=md").status_code == 404


def test_an_open_effort_is_handed_over_without_a_summary(alice: User, as_alice: Client, session: Session) -> None:
    talk = Talk(session)
    actions.open_effort(talk.place, "Payment webhook")
    talk.ask("The webhook answers 500.", reply="Which event?")
    text = text_of(as_alice.get(f"{session.get_absolute_url()}efforts/payment-webhook/export/?form=md"))
    assert "No summary has replaced its log." in text
    assert "It is open. It has 1 turn: turn 1." in text
    assert "**You:** The webhook answers 500." in text
    assert "## Log" not in text
