"""A dry run of the next call: other settings, and what they would change."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.apps import apps
from django.contrib.auth.models import User
from django.test import Client

from efforts import actions
from efforts.context import plans
from efforts.context.planning import main_branch
from efforts.models import Session
from efforts.pages.presenters import what_if
from tests.efforts.talk import Talk

from .conftest import HTMX, Scene

Address = Callable[..., str]


def tried(client: Client, address: Address, status: int = 200, **changes: Any) -> str:
    sent = {"budget": 16_000, "ambient_window": 10, "text": "", **changes}
    answer = client.post(address("what-if/"), sent, headers=HTMX)
    assert answer.status_code == status
    return answer.content.decode()


def rows() -> dict[str, int]:
    return {model.__name__: model._default_manager.count() for model in apps.get_models()}


def test_a_smaller_window_leaves_turns_out_and_says_why(as_alice: Client, scene: Scene, address: Address) -> None:
    for text in ("One", "Two", "Three"):
        scene.ask(text, "Noted.")
    shown = tried(as_alice, address, ambient_window=1)
    left = shown.partition("<h3>Taken out</h3>")[2]
    assert '<b dir="auto">Turns <span class="whole">1-2</span></b>' in left
    assert "Older than the last turn." in left
    assert "As it is" in shown
    assert "What if" in shown


def test_the_same_settings_change_nothing(as_alice: Client, scene: Scene, address: Address) -> None:
    scene.ask("One", "Noted.")
    shown = tried(as_alice, address)
    assert "Everything else is unchanged" in shown
    assert "+0 tokens" in shown


def test_it_gives_the_plan_that_the_change_then_gives(scene: Scene, session: Session) -> None:
    for text in ("One", "Two", "Three"):
        scene.ask(text, "Noted.")
    branch = main_branch(session)
    found = what_if.what_if(branch, budget=5_000, ambient_window=2, expanded=[], text="Four")
    actions.configure_session(session, actor=session.owner, endpoint=None, model="", budget=5_000, ambient_window=2)
    after = plans.preview(main_branch(session), draft_text="Four")
    assert found.then.made == after.made
    assert found.then.tokens == after.tokens


def test_expanding_is_tried_with_its_price(as_alice: Client, alice: User) -> None:
    talk = Talk(actions.create_session(alice))
    slug = talk.concluded("Payment webhook", "The signature has expired.")
    branch = talk.branch
    found = what_if.what_if(branch, budget=16_000, ambient_window=10, expanded=[slug], text="")
    price = actions.expand_effort(talk.place, slug)
    assert found.difference is not None
    assert found.difference.more == price
    assert [section.key for section in found.then.sections if section.key == "expanded"] == ["expanded"]
    page = as_alice.get(f"{talk.session.get_absolute_url()}what-if/").content.decode()
    assert f'name="expanded" value="{slug}"' in page
    assert "checked" in page.partition(f'value="{slug}"')[2].partition(">")[0], "it is expanded now"


def test_what_does_not_fit_says_which_part_needs_how_much(as_alice: Client, scene: Scene, address: Address) -> None:
    scene.ask("One", "Noted.")
    shown = tried(as_alice, address, budget=4_000, text="word " * 5_000)
    assert "Nothing would be sent." in shown
    assert "Your message: 5," in shown
    assert "System text and tools: 1," in shown
    assert "one of the two would not be sent" in shown


def test_nothing_is_stored(as_alice: Client, scene: Scene, session: Session, address: Address) -> None:
    scene.ask("One", "Noted.")
    before, seq = rows(), Session.objects.get().event_seq
    for changes in ({}, {"budget": 4_000, "text": "Two"}, {"ambient_window": 0}, {"text": "word " * 20_000}):
        tried(as_alice, address, **changes)
    assert rows() == before
    session.refresh_from_db()
    assert (session.budget, session.ambient_window, session.event_seq) == (16_000, 10, seq)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"budget": 12}, "greater than or equal to 4000"),
        ({"budget": "much"}, "Enter a whole number."),
        ({"ambient_window": 900}, "less than or equal to 200"),
        ({"expanded": ["nothing"]}, "nothing is not one of the available choices"),
    ],
)
def test_bad_settings_are_said(
    as_alice: Client, scene: Scene, address: Address, changes: dict[str, Any], said: str
) -> None:
    scene.ask("One", "Noted.")
    assert said in tried(as_alice, address, 422, **changes)


def test_without_a_script_it_is_a_page_with_its_form(as_alice: Client, scene: Scene, address: Address) -> None:
    scene.ask("One", "Noted.")
    assert f'href="{address("what-if/")}"' in as_alice.get(address()).content.decode()
    page = as_alice.get(address("what-if/")).content.decode()
    assert 'name="budget" value="16000"' in page
    sent = as_alice.post(address("what-if/"), {"budget": 5_000, "ambient_window": 3, "text": "And?"})
    page = sent.content.decode()
    assert "<html" in page
    assert 'name="budget" value="5000"' in page
    assert "of 5,000" in page


def test_a_stranger_tries_nothing(as_bob: Client, scene: Scene, address: Address) -> None:
    scene.ask("One", "Noted.")
    assert as_bob.get(address("what-if/")).status_code == 404
    assert as_bob.post(address("what-if/"), {"budget": 5_000}).status_code == 404
