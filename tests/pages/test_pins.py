"""Pins on the page: set on a turn, an effort and every row of a plan, listed, taken back, suggested."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from efforts import actions
from efforts.domain.effort.states import HoldScope
from efforts.models import ContextPlan, Hold, Session
from tests.efforts.talk import Talk

from .conftest import HTMX, Scene

Address = Callable[..., str]
JSON = {"Accept": "application/json"}


@pytest.fixture
def talk(session: Session) -> Talk:
    actions.configure_session(session, actor=session.owner, endpoint=None, model="", budget=16_000, ambient_window=1)
    talk = Talk(session)
    for text in ("The port is 8443.", "Thanks.", "And the weather?", "Well."):
        talk.ask(text)
    return talk


def pin(client: Client, address: Address, **fields: str) -> dict[str, int]:
    answer = client.post(address("pins/"), fields, headers=JSON)
    assert answer.status_code == 200, answer.content
    return answer.json()  # type: ignore[no-any-return]


def context(client: Client, address: Address) -> str:
    return client.get(address("context/"), headers=HTMX).content.decode()


def part(html: str, title: str) -> str:
    return html.partition(f'id="{title}"')[2].partition("</section>")[0]


def test_an_excluded_row_is_pinned_with_one_click_and_the_meter_is_right_at_once(
    as_alice: Client, talk: Talk, address: Address
) -> None:
    before = context(as_alice, address)
    assert 'aria-label="Pin Turn 4"' in before
    assert pin(as_alice, address, turn="1")["pin"] == Hold.objects.get().pk
    after = context(as_alice, address)
    assert 'aria-label="Unpin Turn 1"' in part(after, "in-title")
    assert "Pinned for good." in part(after, "in-title")
    assert 'data-section="pin"' in after.partition('id="meter"')[2]


def test_a_row_of_many_turns_asks_which_one(as_alice: Client, talk: Talk, address: Address) -> None:
    assert "pins/new/?first=1&amp;last=3" in context(as_alice, address)
    form = as_alice.get(address("pins/new/?first=1&last=3"), headers=HTMX).content.decode()
    assert "Turn, 1 to 3" in form
    assert "<html" not in form
    refused = as_alice.post(address("pins/new/"), {"turn": "9", "scope": "always", "first": "1", "last": "3"})
    assert refused.status_code == 422
    assert "There is no turn 9 here." in refused.content.decode()
    assert 'value="9"' in refused.content.decode()
    answer = as_alice.post(address("pins/new/"), {"turn": "2", "scope": "turns"}, headers=HTMX)
    assert (answer.status_code, answer["HX-Trigger"]) == (204, '{"closeDialog": null, "context": null}')
    assert list(Hold.objects.values_list("turn__number", "scope", "turns")) == [(2, "turns", 5)]


@pytest.mark.parametrize("turn", ["", "x", "٣x", "-1", "9" * 30])
def test_what_is_no_turn_is_refused_in_words(as_alice: Client, talk: Talk, address: Address, turn: str) -> None:
    answer = as_alice.post(address("pins/"), {"turn": turn}, headers=JSON)
    assert (answer.status_code, answer.json()["text"]) == (422, "Which turn? Enter its number.")
    answer = as_alice.post(address("pins/"), {"turn": "1", "scope": "for ever"}, headers=JSON)
    assert answer.status_code == 422
    assert not Hold.objects.exists()


def test_the_pins_are_listed_with_age_tokens_how_long_and_where_they_stand(
    as_alice: Client, talk: Talk, address: Address
) -> None:
    slug = talk.concluded("Auth bug", "The token expires.")
    actions.pin_turn(talk.place, 1, HoldScope.UNREFERENCED, 3)
    actions.pin_turn(talk.place, 4)
    actions.expand_effort(talk.place, slug)
    talk.ask("Hm.")
    panel = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", part(context(as_alice, address), "pins-title")))
    assert "Pinned 1 turn ago, until 3 turns do not mention it. In the notes at the head of the prompt." in panel
    assert "Pinned 1 turn ago, for good." in panel
    assert "Expanded 1 turn ago. Collapses in 2 turns unless mentioned. Shown by its turns." in panel
    assert panel.count("Unpin") == 2


def test_what_does_not_fit_is_a_warning_with_a_way_out(as_alice: Client, talk: Talk, address: Address) -> None:
    for number in range(5, 13):
        talk.ask("Long words that fill a prompt. " * 120 + str(number))
    for number in range(5, 13):
        actions.pin_turn(talk.place, number)
    html = context(as_alice, address)
    assert "pins do not fit" in html.partition('id="meter"')[2]
    assert "pins may take a quarter of the budget, 4,000 tokens" in part(html, "out-title")
    assert "Does not fit." in part(html, "pins-title")


def test_suggestions_wait_at_the_end_of_the_list(as_alice: Client, talk: Talk, address: Address) -> None:
    talk.ask(
        "Keep it?",
        ("suggest_pin", {"ref": "turn 1", "why": "The <port> matters."}),
        ("suggest_pin", {"ref": "turn 2", "why": "It is polite."}),
    )
    html = context(as_alice, address)
    assert html.index('id="in-title"') < html.index('id="out-title"') < html.index("Suggested pins (2)")
    assert "The &lt;port&gt; matters." in part(html, "next-suggested-title")
    first, second = Hold.objects.order_by("pk")
    as_alice.post(address(f"pins/{first.pk}/accept/"), headers=JSON)
    as_alice.post(address(f"pins/{second.pk}/dismiss/"), headers=JSON)
    assert "Suggested pins" not in context(as_alice, address)
    assert list(Hold.objects.order_by("pk").values_list("state", flat=True)) == ["standing", "dismissed"]


def test_a_stored_plan_has_the_controls_and_a_plain_form_leads_back_to_it(
    as_alice: Client, scene: Scene, address: Address
) -> None:
    plan = ContextPlan.objects.get(run=scene.ask("The port is 8443.", "Noted.").run_id)
    page = address(f"plans/{plan.pk}/")
    html = as_alice.get(page).content.decode()
    assert 'aria-label="Pin Turn 1"' in part(html, "in-title")
    answer = as_alice.post(address("pins/"), {"turn": "1", "next": page}, headers={"Accept": "text/html"})
    assert (answer.status_code, answer["Location"]) == (302, page)
    assert 'aria-label="Unpin Turn 1"' in as_alice.get(page, headers=HTMX).content.decode()
    elsewhere = as_alice.post(
        address("pins/"), {"turn": "1", "next": "https://example.org/"}, headers={"Accept": "text/html"}
    )
    assert elsewhere["Location"] == address()


def test_a_message_says_that_it_is_pinned_and_its_form_takes_it_back(
    as_alice: Client, talk: Talk, address: Address
) -> None:
    pin(as_alice, address, turn="1")
    turn = as_alice.get(address("turns/1/"), headers=HTMX).content.decode()
    assert "</svg>Pinned</span>" in turn
    form = as_alice.get(address("pins/new/?turn=1")).content.decode()
    assert "Pinned for good." in form
    answer = as_alice.post(address("pins/new/"), {"turn": "1", "unpin": str(Hold.objects.get().pk)})
    assert answer.status_code == 302
    assert Hold.objects.get().ended == "released"


def test_an_effort_is_pinned_in_its_panel_once_it_is_concluded(as_alice: Client, talk: Talk, address: Address) -> None:
    slug = talk.concluded("Auth bug", "The token expires.")
    assert f"pins/new/?effort={slug}" in as_alice.get(address("efforts/"), headers=HTMX).content.decode()
    as_alice.post(address("pins/new/"), {"effort": slug, "scope": "always"})
    assert "pinned ·" in as_alice.get(address("efforts/"), headers=HTMX).content.decode()
    assert 'aria-label="Unpin Auth bug, in the list of pins"' in context(as_alice, address)
    actions.open_effort(talk.place, "Vacation")
    refused = as_alice.post(address("pins/new/"), {"effort": "vacation", "scope": "always"})
    assert (refused.status_code, "is open, and shown already" in refused.content.decode()) == (422, True)


def test_what_left_by_itself_is_noted_with_undo(as_alice: Client, talk: Talk, address: Address) -> None:
    actions.pin_turn(talk.place, 1, HoldScope.TURNS, 1)
    talk.ask("Go on.")
    turn = as_alice.get(address("turns/5/"), headers=HTMX).content.decode()
    assert "Unpinned: turn 1 (was pinned for 1 turn)" in turn
    [event] = talk.events("hold.ended")
    assert f"efforts/undo/{event['seq']}/" in turn
    as_alice.post(address(f"efforts/undo/{event['seq']}/"), headers=JSON)
    assert "taken back" in as_alice.get(address("turns/5/"), headers=HTMX).content.decode()


def test_a_stranger_finds_no_pins(client: Client, talk: Talk, address: Address) -> None:
    row = actions.pin_turn(talk.place, 1)
    client.force_login(User.objects.create_user("mallory"))
    for rest in ("pins/", f"pins/{row.pk}/unpin/"):
        assert client.post(address(rest), {"turn": "1"}).status_code == 404
    assert client.get(address("pins/new/?turn=1")).status_code == 404
    row.refresh_from_db()
    assert row.state == "standing"


def test_the_admin_lists_pins_and_leads_to_the_page(as_alice: Client, talk: Talk, alice: User) -> None:
    User.objects.filter(pk=alice.pk).update(is_staff=True, is_superuser=True)
    row = actions.pin_turn(talk.place, 1)
    html = as_alice.get(reverse("admin:efforts_hold_changelist")).content.decode()
    assert "turn 1" in html
    assert talk.session.get_absolute_url() in html
    assert as_alice.get(reverse("admin:efforts_hold_change", args=[row.pk])).status_code == 200
