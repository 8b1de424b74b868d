"""Branches: every page of a conversation is also that of each of its branches."""

from __future__ import annotations

import re

import pytest
from django.contrib.auth.models import User
from django.test import Client

from efforts import actions
from efforts.models import Branch, Session
from efforts.snapshots import main_branch

from .conftest import HTMX, Scene


@pytest.fixture
def branch(scene: Scene) -> Branch:
    """From turn 1 of two."""
    scene.ask("What is a webhook?", "A call back.")
    scene.ask("And a queue?", "A line.")
    return actions.fork(main_branch(scene.session), after=1, actor=scene.session.owner)


def test_its_page_has_the_shared_turns_and_every_address_on_it_leads_to_it(as_alice: Client, branch: Branch) -> None:
    page = as_alice.get(branch.get_absolute_url()).content.decode()
    assert re.findall(r'id="turn-(\d+)"', page) == ["1"]
    base = f"/s/{branch.session_id}/"
    of_the_session = {"settings", "rename", "archive", "delete", "plans"}
    left = {found.split("/")[0] for found in re.findall(rf'(?:href|action|hx-get|data-price)="{base}([^"]+)"', page)}
    assert left <= of_the_session | {"b"}
    assert f'data-chat="{branch.get_absolute_url()}"' in page


def test_the_main_branch_keeps_the_short_addresses(as_alice: Client, branch: Branch) -> None:
    main = main_branch(branch.session)
    assert main.get_absolute_url() == branch.session.get_absolute_url()
    page = as_alice.get(main.get_absolute_url()).content.decode()
    assert re.findall(r'id="turn-(\d+)"', page) == ["1", "2"]
    assert f"/s/{branch.session_id}/b/" not in page


def test_what_is_sent_and_changed_there_stays_there(as_alice: Client, branch: Branch) -> None:
    base = branch.get_absolute_url()
    said = {"text": "And a topic?", "client_id": "there"}
    answer = as_alice.post(f"{base}send/", said, headers={"Accept": "text/html"})
    assert answer["Location"] == base
    assert branch.turns.get().number == 2
    as_alice.post(f"{base}efforts/new/", {"name": "queues"})
    assert branch.effort_states.get().effort.slug == "queues"
    assert not main_branch(branch.session).effort_states.exists()


def test_a_turn_that_is_not_in_the_branch_is_not_there(as_alice: Client, branch: Branch) -> None:
    base = branch.get_absolute_url()
    assert as_alice.get(f"{base}turns/1/", headers=HTMX).status_code == 200
    assert as_alice.get(f"{base}turns/2/", headers=HTMX).status_code == 404
    assert as_alice.get(f"{base}turns/2/move/").status_code == 404


@pytest.mark.parametrize("rest", ["", "log/", "context/", "efforts/", "where/", "turns/1/"])
def test_others_find_nothing(as_bob: Client, branch: Branch, rest: str) -> None:
    assert as_bob.get(f"{branch.get_absolute_url()}{rest}").status_code == 404


def test_a_branch_of_another_conversation_is_not_there(as_alice: Client, alice: User, branch: Branch) -> None:
    other: Session = actions.create_session(alice)
    assert as_alice.get(f"{other.get_absolute_url()}b/{branch.pk}/").status_code == 404
