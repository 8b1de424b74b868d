"""When exactly an effort stands in the prompt, as the page of each call says."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client

from efforts import actions
from efforts.models import ContextPlan
from efforts.turns.recording import INTERRUPTED, STOPPED, Ending
from tests.efforts.talk import Talk
from tests.efforts.test_memory import DETAIL, FAILED, HEADLINE, WEATHER, sent
from tests.pages.test_memory import text_of

pytestmark = pytest.mark.django_db

IN_FULL = "You or the model asked for its details."
SUMMED_UP = "Concluded: a summary is sent in place of its turns."
LEFT = "Nothing has mentioned them for 20 turns."


@pytest.fixture
def talk(alice: User) -> Talk:
    """With auth-bug, concluded: its only turn was turn 1."""
    talk = Talk(actions.create_session(alice))
    slug = actions.open_effort(talk.place, "Auth bug").effort.slug
    talk.ask(DETAIL)
    actions.close_effort(talk.place, slug)
    talk.summarise(slug, HEADLINE)
    return talk


def told(client: Client, talk: Talk, turn: int) -> str:
    """How auth-bug stands in what the turn was sent."""
    called = ContextPlan.objects.get(branch=talk.branch_id, run__turn__number=turn)
    page = text_of(client.get(f"/s/{talk.session.pk}/plans/{called.pk}/").content.decode())
    (stands,) = [sentence for sentence in (IN_FULL, SUMMED_UP, LEFT) if sentence in page]
    return stands


def test_expanded_at_1_it_is_in_full_until_4(as_alice: Client, talk: Talk) -> None:
    actions.expand_effort(talk.place, "auth-bug")
    for _ in range(4):
        sent(talk)
    assert [told(as_alice, talk, turn) for turn in range(2, 6)] == [IN_FULL] * 3 + [SUMMED_UP]


def test_mentioned_at_4_it_is_in_full_until_7(as_alice: Client, talk: Talk) -> None:
    actions.expand_effort(talk.place, "auth-bug")
    for text in [WEATHER, WEATHER, "And the auth bug?", *[WEATHER] * 4]:
        sent(talk, text)
    assert [told(as_alice, talk, turn) for turn in range(2, 9)] == [IN_FULL] * 6 + [SUMMED_UP]


@pytest.mark.slow
def test_referred_to_at_10_its_summary_is_sent_at_30_and_not_at_31_and_a_mention_at_32_brings_it_back(
    as_alice: Client, talk: Talk
) -> None:
    said = {10: "What about the auth_bug?", 32: "Was it the 401, or the refresh?"}
    for turn in range(2, 33):
        sent(talk, said.get(turn, WEATHER))
    assert [told(as_alice, talk, turn) for turn in (10, 11, 30, 31, 32)] == [*[SUMMED_UP] * 3, LEFT, SUMMED_UP]


@pytest.mark.parametrize("ending", [STOPPED, FAILED, INTERRUPTED])
def test_turns_that_do_not_complete_age_nothing(as_alice: Client, talk: Talk, ending: Ending) -> None:
    actions.expand_effort(talk.place, "auth-bug")
    for _ in range(5):
        sent(talk, ending=ending)
    actions.cancel_turn(talk.say(WEATHER), actor=talk.session.owner)
    panel = as_alice.get(f"/s/{talk.session.pk}/efforts/", headers={"hx-request": "true"}).content.decode()
    assert "collapses in 3 turns" in text_of(panel)
    sent(talk)
    assert told(as_alice, talk, talk.branch.head) == IN_FULL


@pytest.mark.parametrize("text", ["They are building it.", "the author", "the capital", "auth-bugfix", "Fix it."])
def test_what_only_looks_like_a_mention_keeps_nothing(as_alice: Client, talk: Talk, text: str) -> None:
    actions.expand_effort(talk.place, "auth-bug")
    for said in (WEATHER, WEATHER, text, WEATHER):
        sent(talk, said)
    assert told(as_alice, talk, 5) == SUMMED_UP
    why = as_alice.get(f"/s/{talk.session.pk}/efforts/auth-bug/memory/").content.decode()
    assert "Turn 4 · Your message" not in text_of(why)


def test_of_30_ambient_turns_the_page_marks_the_last_10_as_sent(as_alice: Client, alice: User) -> None:
    talk = Talk(actions.create_session(alice))
    for number in range(1, 31):
        talk.ask(f"Say {number:02}.")
    log = as_alice.get(f"/s/{talk.session.pk}/log/", headers={"hx-request": "true"}).content.decode()
    assert log.index("Say 20.") < log.index("Turns above this line are not sent in full") < log.index("Say 21.")


def test_where_no_turn_is_out_the_page_says_what_a_short_version_leaves_out(as_alice: Client, talk: Talk) -> None:
    short = "Nothing was cut to fit the budget. What summaries and excerpts leave out"
    sent(talk)
    actions.expand_effort(talk.place, "auth-bug")
    sent(talk)
    called = [ContextPlan.objects.get(branch=talk.branch_id, run__turn__number=turn) for turn in (2, 3)]
    pages = [text_of(as_alice.get(f"/s/{talk.session.pk}/plans/{one.pk}/").content.decode()) for one in called]
    assert [(short in page, "Nothing is left out." in page) for page in pages] == [(True, False), (False, True)]
