"""A conversation is called by what is said in it, until a person gives it a name."""

from __future__ import annotations

from dataclasses import replace

import pytest
from django.contrib.auth.models import User

from efforts import actions
from efforts.actions import Place
from efforts.actions.names import TITLE_LENGTH, title_from
from efforts.domain.effort.states import Via
from efforts.models import Session
from tests.efforts.talk import Talk


@pytest.mark.parametrize("greeting", ["Hey, how's it going?", "Hello!", "Good morning", "Hi there", "???", "👋"])
def test_a_greeting_is_no_title(greeting: str) -> None:
    assert title_from(greeting) == ""


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("Why does the webhook time out?", "Why does the webhook time out?"),
        ("Hey!\n\nThe **webhook** times out.", "The webhook times out."),
        ("# Spring release\n- who signs it off?", "Spring release"),
        ("日本旅行の計画", "日本旅行の計画"),
        ("```\nTraceback (most recent call last):\n```", "Traceback (most recent call last):"),
    ],
)
def test_the_first_line_that_says_something_is_the_title(text: str, title: str) -> None:
    assert title_from(text) == title


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("My cat is four years old. She eats 60 g of dry food in the morning.", "My cat is four years old"),
        ("How old do cats get? She eats 60 g of dry food in the morning and more.", "How old do cats get?"),
        (
            "She eats 60 g of dry food in the morning, and the same in the evening.",
            "She eats 60 g of dry food in the morning",
        ),
        (
            "No. She eats 60 g of dry food in the morning and the same late at night",
            "No. She eats 60 g of dry food in the morning and the same…",
        ),
    ],
)
def test_a_long_line_ends_with_a_sentence_or_a_clause_that_says_something(text: str, title: str) -> None:
    assert title_from(text) == title


def test_a_long_line_is_cut_at_a_word() -> None:
    title = title_from("every word of this sentence is short enough to be cut behind it somewhere")
    assert title.endswith(" short enough to be cut…")
    assert len(title) <= TITLE_LENGTH


def test_of_a_long_message_only_the_beginning_is_looked_through() -> None:
    """It is done within the transaction that stores the message, which all others may wait for."""
    assert title_from("hi\n" * 2_000 + "The webhook times out.") == ""
    assert title_from("word " * 100_000).endswith("word…")


@pytest.mark.django_db
def test_the_first_message_that_says_something_names_the_conversation(alice: User) -> None:
    session = actions.create_session(alice)
    for number, text in enumerate(("Hey, how's it going?", "The webhook times out.", "The cache is stale.")):
        actions.send_message(session, text=text, client_id=f"m{number}", actor=alice)
    assert Session.objects.get().title == "The webhook times out."


def models_place(talk: Talk) -> Place:
    return replace(talk.place, via=Via.MODEL)


def test_the_first_effort_that_the_model_opens_names_it_better(talk: Talk) -> None:
    talk.ask("So the thing from yesterday, the webhook, it still times out.")
    actions.open_effort(models_place(talk), "payment webhook")
    actions.open_effort(models_place(talk), "stale cache")
    assert Session.objects.get().title == "Payment webhook"


def test_an_effort_that_is_opened_later_leaves_the_name_to_what_was_talked_of_before(talk: Talk) -> None:
    talk.ask("We fly to Lisbon in May and need a hotel.")
    talk.ask("New effort: fix the login bug.")
    actions.open_effort(models_place(talk), "fix login bug")
    assert Session.objects.get().title == "We fly to Lisbon in May and need a hotel."


def test_a_name_that_a_person_gave_stays(talk: Talk) -> None:
    actions.rename_session(talk.session, title="Mine", actor=talk.session.owner)
    talk.ask("The webhook times out.")
    actions.open_effort(models_place(talk), "payment webhook")
    assert Session.objects.get().title == "Mine"
