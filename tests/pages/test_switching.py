"""Who answers: switched in the composer, and for one reply that is made again."""

from __future__ import annotations

from collections.abc import Callable
from html import unescape

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from efforts.context.connections import switchable, switched_to
from efforts.models import Branch, Endpoint, Run, Session
from efforts.pages.forms import SessionSettingsForm
from efforts.turns import recording

from .conftest import HTMX, Scene

Address = Callable[..., str]


@pytest.fixture
def other(alice: User) -> Endpoint:
    return Endpoint.objects.create(owner=alice, name="Lab", base_url="http://127.0.0.1:9/v1", model="nova-2")


def test_with_one_model_there_is_nothing_to_switch(as_alice: Client, scene: Scene, address: Address) -> None:
    scene.ask("Hello", "Hi.")
    page = as_alice.get(address()).content.decode()
    assert 'id="model"' not in page
    assert "Regenerate with" not in page


def test_the_composer_switches_from_the_next_message_on(
    as_alice: Client, scene: Scene, address: Address, other: Endpoint, session: Session
) -> None:
    first = scene.ask("Hello", "Hi.")
    assert "nova-2 · Lab" in as_alice.get(address()).content.decode()
    as_alice.post(address("model/"), {"model": f"endpoint:{other.pk}"})
    session.refresh_from_db()
    assert (session.endpoint, switched_to(session, switchable(session))) == (other, f"endpoint:{other.pk}")
    # What an open page reads again, whoever has switched it.
    assert f'value="endpoint:{other.pk}" selected' in as_alice.get(address("switch/")).content.decode()
    scene.session = session
    second = scene.ask("And now?", "Now.")
    labels = {turn.pk: turn.run.settings["label"] for turn in (first, second) if turn.run}
    assert labels == {first.pk: "Built-in engine", second.pk: "nova-2 · Lab"}


def test_the_composer_says_how_much_each_model_takes(
    as_alice: Client, scene: Scene, address: Address, other: Endpoint, alice: User
) -> None:
    Endpoint.objects.create(owner=alice, name="Large", base_url="http://x.test/v1", model="m", context_window=131_072)
    scene.ask("Hello", "Hi.")
    page = as_alice.get(address()).content.decode()
    assert ">m · Large · context window 131,072</option>" in page
    # Of what tells no window none is told.
    assert ">nova-2 · Lab</option>" in page


def test_a_name_that_was_typed_for_one_connection_is_not_asked_of_another(
    as_alice: Client, alice: User, scene: Scene, other: Endpoint, session: Session
) -> None:
    scene.ask("Hello", "Hi.")
    third = Endpoint.objects.create(owner=alice, name="Large", base_url="http://x.test/v1", model="m")
    Session.objects.filter(pk=session.pk).update(endpoint=other, model="nova-3")
    settings = reverse("session_settings", args=[session.pk])
    form = SessionSettingsForm(Session.objects.get(pk=session.pk))
    kept = {name: form[name].value() for name in form.fields if form[name].value() not in (None, False)}
    as_alice.post(settings, {**kept, "endpoint": f"endpoint:{third.pk}"})
    session.refresh_from_db()
    assert (session.endpoint, session.model) == (third, "")
    as_alice.post(settings, {**kept, "endpoint": f"endpoint:{other.pk}", "model": "nova-4"})
    session.refresh_from_db()
    assert (session.endpoint, session.model) == (other, "nova-4")


def test_where_the_window_leaves_less_than_the_budget_settings_and_chip_say_so(
    as_alice: Client, scene: Scene, address: Address, other: Endpoint, session: Session
) -> None:
    scene.ask("Hello", "Hi.")
    settings = reverse("session_settings", args=[session.pk])
    assert "The window of" not in as_alice.get(settings, headers=HTMX).content.decode()
    Endpoint.objects.update(context_window=8192)
    as_alice.post(address("model/"), {"model": f"endpoint:{other.pk}"})
    told = "The window of nova-2 · Lab leaves 5,888 tokens for a prompt."
    assert told in as_alice.get(settings, headers=HTMX).content.decode()
    assert f'title="{told}"' in as_alice.get(address()).content.decode()


def test_where_the_window_leaves_too_little_what_to_do_is_said_and_no_sum_stands_beside_it(
    as_alice: Client, scene: Scene, address: Address, other: Endpoint
) -> None:
    scene.ask("Hello", "Hi.")
    Endpoint.objects.update(context_window=4096)
    as_alice.post(address("model/"), {"model": f"endpoint:{other.pk}"})
    page = as_alice.get(address()).content.decode()
    assert "4,000 is the least. Choose a model with a larger window." in unescape(page)
    assert "everything said so far would be" not in page


def test_a_name_that_was_typed_is_among_the_choices(session: Session, other: Endpoint) -> None:
    session.endpoint, session.model = other, "nova-3"
    assert [one.label for one in switchable(session)] == ["Built-in engine", "nova-2 · Lab", "nova-3 · Lab"]
    assert switched_to(session, switchable(session)) == f"endpoint:{other.pk}:nova-3"


def test_a_model_of_somebody_else_is_none(
    as_alice: Client, scene: Scene, address: Address, bob: User, session: Session
) -> None:
    theirs = Endpoint.objects.create(owner=bob, name="Theirs", base_url="http://127.0.0.1:9/v1", model="x")
    scene.ask("Hello", "Hi.")
    assert as_alice.post(address("model/"), {"model": f"endpoint:{theirs.pk}"}).status_code == 422
    assert as_alice.post(address("turns/1/again/"), {"answer": f"endpoint:{theirs.pk}"}).status_code == 422
    assert Branch.objects.filter(session=session).count() == 1


def test_a_reply_is_made_again_by_another_model_for_this_one_message(
    as_alice: Client, scene: Scene, address: Address, other: Endpoint, session: Session
) -> None:
    scene.ask("Hello", "Hi.")
    turn = as_alice.get(address("turns/1/"), headers=HTMX).content.decode()
    assert f'name="answer" value="endpoint:{other.pk}"' in turn
    as_alice.post(address("turns/1/again/"), {"answer": f"endpoint:{other.pk}"})
    lease = scene.start()
    run = Run.objects.select_related("turn__session", "branch").get(pk=lease.run_id)
    assert (run.settings["label"], run.settings["model"]) == ("nova-2 · Lab", "nova-2")
    recording.record_reply(lease, recording.CallReply(call=1, text="Hello from the lab."), recording.COMPLETED)
    # The version says who wrote it, and the conversation is answered as before.
    shown = as_alice.get(run.branch.address("turn", 1), headers=HTMX).content.decode()
    assert "<span>nova-2 · Lab</span>" in shown
    session.refresh_from_db()
    assert session.endpoint is None
