"""People read an effort's name wherever a prompt, and the model, know it by its id."""

from __future__ import annotations

import html
import re

import pytest
from django.contrib.auth.models import User
from django.test import Client

from benchmarks.scenes import Exchange, concludes, expands, opens, play
from efforts import actions
from efforts.domain.effort.states import HoldScope
from efforts.models import ContextPlan, Session

from .conftest import HTMX, Scene
from .test_exports import text_of

NAME, SLUG = "Q3 off-site (Ghent)", "q3-off-site-ghent"
PARTY = "Summer party"
WORK = (
    Exchange(
        user="Where do we go in autumn?",
        reply="To Ghent, as the train is direct. The house by the river has twelve rooms and a kitchen, costs 2,400 "
        "euros for three nights, and takes back a booking until four weeks before, so that nobody decides today.",
        acts=(opens(NAME),),
    ),
    Exchange(user="Done, it is booked.", reply="Concluded.", acts=(concludes(),)),
    Exchange(user="And the party?", reply="In July, in the garden of the boat club.", acts=(opens(PARTY),)),
)


@pytest.fixture
def session(alice: User) -> Session:
    session = actions.create_session(alice, title="Plans")
    play(session, WORK)
    return session


def words(client: Client, address: str) -> str:
    answer = client.get(address, headers=HTMX)
    assert answer.status_code == 200
    return plain(answer.content.decode())


def plain(page: str) -> str:
    """Its words; no tag parts what stands in one line."""
    return html.unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", re.sub(r"</?span[^>]*>", "", page))))


def labels(client: Client, address: str) -> list[str]:
    return re.findall(r'aria-label="((?:Unp|P)in [^"]+)"', html.unescape(client.get(address).content.decode()))


def test_the_next_call_calls_efforts_by_their_names(as_alice: Client, session: Session) -> None:
    panel = words(as_alice, f"/s/{session.pk}/context/")
    assert f"{PARTY}: turn 3" in panel
    assert f" {NAME} " in panel
    assert SLUG not in panel
    assert "summer-party" not in panel
    assert f"Pin {NAME}" in labels(as_alice, f"/s/{session.pk}/context/")


def test_a_plan_and_what_changed_since_the_one_before_call_them_so(as_alice: Client, session: Session) -> None:
    scene = Scene(session)
    place = actions.here(session, actor=session.owner)
    scene.ask("Hello", "Hi.")
    actions.pin_effort(place, SLUG)
    pinned = ContextPlan.objects.get(run=scene.ask("Again?", "Yes.").run_id)
    play(session, [Exchange(user="Which train?", reply="The 8:14.", acts=(expands(SLUG),))])
    expanded = ContextPlan.objects.get(run=scene.ask("And now?", "Now.").run_id)
    told = words(as_alice, pinned.get_absolute_url())
    assert f"Pin: {NAME}" in told
    told += words(as_alice, expanded.get_absolute_url())
    assert f"{NAME}: turns 1-2" in told
    assert not re.search(rf"{SLUG}|summer-party", told.partition("Result")[0])


def test_a_pin_until_an_effort_is_concluded_says_which_one(as_alice: Client, session: Session) -> None:
    actions.pin_turn(actions.here(session, actor=session.owner), 1, HoldScope.EFFORT)
    panel = words(as_alice, f"/s/{session.pk}/context/")
    assert panel.count(f"until {PARTY} is concluded") == 2
    play(session, [Exchange(user="All paid.", reply="Fine.", acts=(concludes(),))])
    assert f"Unpinned: turn 1 (was pinned until {PARTY} is concluded)" in words(as_alice, f"/s/{session.pk}/log/")


def test_trying_other_settings_calls_them_so(as_alice: Client, session: Session) -> None:
    fields = {"budget": 16_000, "ambient_window": 10, "expanded": [SLUG], "text": ""}
    tried = plain(as_alice.post(f"/s/{session.pk}/what-if/", fields, headers=HTMX).content.decode())
    assert f"{NAME}: turns 1-2" in tried
    assert f"{SLUG}: " not in tried


def test_an_exported_document_with_plans_calls_them_so(as_alice: Client, session: Session) -> None:
    Scene(session).ask("Hello", "Hi.")
    answer = as_alice.get(f"/s/{session.pk}/export/?form=md&plans=1")
    text = text_of(answer)
    assert f"Included: {PARTY}: turn 3" in text
    assert "summer-party: " not in text


def test_a_row_of_several_efforts_that_dropped_out_offers_no_pin(as_alice: Client, session: Session) -> None:
    actions.configure_session(session, actor=session.owner, eviction_threshold=1)
    play(session, [Exchange(user="Who cooks?", reply="The club.")] * 2)
    panel = as_alice.get(f"/s/{session.pk}/context/", headers=HTMX).content.decode()
    row = panel.partition("1 concluded effort<")[2].partition("</li>")[0]
    assert "All of them, on the memory page" in row
    assert "button" not in row


def test_a_name_that_is_a_word_of_the_page_stays_as_it_is(as_alice: Client, alice: User) -> None:
    session = actions.create_session(alice)
    play(
        session,
        [
            Exchange(user="Let's write them.", reply="Yes.", acts=(opens("Rules"),)),
            Exchange(user="Done.", reply="Good.", acts=(concludes(),)),
        ],
    )
    answer = as_alice.get(f"/s/{session.pk}/context/", headers={**HTMX, "accept-language": "de"})
    assert '<b dir="auto">Rules</b>' in answer.content.decode()
