"""The example project."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from efforts.actions import send_message
from efforts.context.planning import main_branch
from efforts.context.plans import preview
from efforts.models import Session, Turn
from efforts.turns.example import EXCHANGES, PROMPTS, open_example


def test_opening_it_twice_opens_the_same_conversation(as_alice: Client) -> None:
    first = as_alice.post(reverse("example"))
    second = as_alice.post(reverse("example"))
    assert first["Location"] == second["Location"]
    assert Session.objects.get().is_example


def test_it_is_longer_than_the_window_so_that_there_is_something_to_find(alice: User) -> None:
    plan = preview(main_branch(open_example(alice)))
    assert plan.excluded[0].title == "Turns 1-4"
    assert plan.first_turn == 5
    assert plan.everything_tokens > plan.sections[1].tokens


def test_its_running_sums_are_those_of_its_turns(alice: User) -> None:
    open_example(alice)
    turns = list(Turn.objects.order_by("number"))
    assert len(turns) == len(EXCHANGES)
    assert [turn.tokens_before for turn in turns] == [sum(t.tokens for t in turns[:n]) for n in range(len(turns))]


@pytest.mark.parametrize("prompt", PROMPTS)
def test_it_offers_questions_until_one_is_asked(as_alice: Client, alice: User, prompt: str) -> None:
    session = open_example(alice)
    offered = as_alice.get(session.get_absolute_url()).content.decode()
    assert f'value="{prompt}"' in offered
    send_message(session, text=prompt, client_id="asked", actor=alice)
    assert 'id="suggestions"' not in as_alice.get(session.get_absolute_url()).content.decode()
