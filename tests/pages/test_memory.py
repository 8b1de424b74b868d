"""The three tiers on their page, what keeps an effort in the first of them, and the notice of one that faded."""

from __future__ import annotations

import html
import re

import pytest
from django.contrib.auth.models import User
from django.test import Client

from benchmarks.scenes import Exchange, concludes, opens, play
from efforts import actions
from efforts.context.planning import main_branch
from efforts.context.plans import preview
from efforts.models import Session
from tests.compaction.artifacts import accept
from tests.compaction.review import STATES, Room

pytestmark = pytest.mark.django_db

WEATHER = Exchange(user="Will it rain on Sunday?", reply="Nobody knows.")
WORK = (
    Exchange(
        user="Users see 401 errors: no refresh token was ever requested.",
        reply="Then request a refresh token at sign-in, and the 401 goes. Ask for it once, keep it where the access "
        "token is kept, and renew that five minutes before it ends, so that nobody notices.",
        acts=(opens("Auth bug"),),
    ),
    Exchange(user="Done, it is fixed.", reply="Concluded.", acts=(concludes(),)),
)


@pytest.fixture
def session(alice: User) -> Session:
    session = actions.create_session(alice)
    play(session, WORK)
    return session


def text_of(page: str) -> str:
    """The words on the page, one space between them."""
    page = re.sub(r"<(script|style|title).*?</\1>", " ", page, flags=re.DOTALL)
    words = " ".join(html.unescape(re.sub(r"<[^>]+>", " ", page)).split())
    return re.sub(r" ([,.;:])", r"\1", words)


def part(client: Client, session: Session, address: str) -> str:
    answer = client.get(f"/s/{session.pk}/{address}", headers={"hx-request": "true"})
    assert answer.status_code == 200
    return text_of(answer.content.decode())


def expand(session: Session) -> None:
    actions.expand_effort(actions.here(session, actor=session.owner), "auth-bug")


def test_the_panel_says_when_an_expansion_fades(as_alice: Client, session: Session) -> None:
    expand(session)
    said = []
    for _ in range(3):
        said.append(part(as_alice, session, "efforts/"))
        play(session, [WEATHER])
    assert ["collapses in 3 turns" in said[0], "collapses in 2 turns" in said[1], "collapses in 1 turn" in said[2]] == [
        True
    ] * 3
    assert "collapses" not in part(as_alice, session, "efforts/")


def test_a_faded_expansion_is_noted_and_comes_back_with_one_click(as_alice: Client, session: Session) -> None:
    expand(session)
    play(session, [WEATHER] * 3)
    noted = part(as_alice, session, "turns/5/")
    assert "Auto-collapsed effort: Auth bug (inactive for 3 turns)" in noted
    assert all(word in noted for word in ("Expand again", "Too early", "Why?"))
    decayed = session.events.get(kind="effort.decayed")
    assert as_alice.post(f"/s/{session.pk}/efforts/undo/{decayed.seq}/").status_code == 200
    assert main_branch(session).effort_states.get().expanded_turn == 5
    assert not session.events.filter(kind="effort.too_early").exists()
    assert "taken back" in part(as_alice, session, "turns/5/")


def test_too_early_expands_it_again_and_is_counted_apart(as_alice: Client, session: Session) -> None:
    expand(session)
    play(session, [WEATHER] * 3)
    decayed = session.events.get(kind="effort.decayed")
    answer = as_alice.post(f"/s/{session.pk}/efforts/too-early/{decayed.seq}/", headers={"accept": "application/json"})
    assert answer.status_code == 200
    assert main_branch(session).effort_states.get().expanded_turn == 5
    assert session.events.get(kind="effort.too_early").data["of"] == decayed.seq
    again = as_alice.post(f"/s/{session.pk}/efforts/too-early/{decayed.seq}/", headers={"accept": "application/json"})
    assert again.status_code == 409


def test_what_the_focus_is_on_says_so_where_others_say_when_they_drop_out(as_alice: Client, session: Session) -> None:
    assert "drops out in 20 turns · Why?" in part(as_alice, session, "memory/")
    actions.focus_effort(actions.here(session, actor=session.owner), "auth-bug")
    assert "focus: stays · Why?" in part(as_alice, session, "memory/")


def test_why_says_what_was_looked_for_and_what_was_found(as_alice: Client, session: Session) -> None:
    play(session, [WEATHER, Exchange(user="And the auth-bug?", reply="Fixed."), WEATHER])
    why = part(as_alice, session, "efforts/auth-bug/memory/")
    assert "It drops out in 19 turns unless mentioned" in why
    assert "counted from turn 4, in which it was mentioned." in why
    assert "Auth bug or the ID auth-bug, in any spelling" in why
    assert "Turn 4 · Your message called it by its name: auth-bug" in why
    assert "any two of these words of its beginning, in any form: 401 errors refresh requested token" in why


def test_its_age_is_counted_from_what_happened_and_says_what_that_was(as_alice: Client, session: Session) -> None:
    assert "in which it was concluded." in part(as_alice, session, "efforts/auth-bug/memory/")
    expand(session)
    assert "in which it was expanded." in part(as_alice, session, "efforts/auth-bug/memory/")


def test_words_that_referred_to_it_are_shown_as_they_were_said(as_alice: Client, session: Session) -> None:
    play(session, [WEATHER, Exchange(user="Is the token still refreshed, with errors?", reply="It is.")])
    why = part(as_alice, session, "efforts/auth-bug/memory/")
    [told] = re.findall(r"Your message has words of its summary: (.*?) What happened", why)
    assert set(told.split(", ")) == {"token", "refreshed", "errors"}


def test_a_reply_that_cites_an_effort_mentions_it_and_the_box_says_so(as_alice: Client, session: Session) -> None:
    play(session, [Exchange(user="What was it?", reply="A missing permission [auth-bug, turn 1].")])
    why = part(as_alice, session, "efforts/auth-bug/memory/")
    assert "So does a reply that cites it, as in [auth-bug, turn 4]." in why
    assert "The reply called it by its name: auth-bug" in why


def test_the_counts_of_concluded_efforts_add_up(as_alice: Client, room: Room) -> None:
    STATES["waits"](room)
    told = part(as_alice, room.talk.session, "memory/")
    assert "1 concluded effort, " in told
    assert "0 in the prompt, 1 there with its turns in full, 0 only found by search." in told


def test_of_a_summary_the_words_of_its_result_are_looked_for_too(as_alice: Client, room: Room) -> None:
    STATES["stands"](room)
    why = part(as_alice, room.talk.session, "efforts/storage/memory/")
    assert "any two of these words" in why
    for word in ("nightly", "backups", "Postgres"):
        assert word in why


def test_a_summary_that_waits_has_taken_no_place(as_alice: Client, room: Room) -> None:
    row = STATES["waits"](room)
    assert "Its summary replaced its log" not in part(as_alice, room.talk.session, "efforts/storage/memory/")
    accept(row)
    memory = part(as_alice, room.talk.session, "efforts/storage/memory/")
    assert memory.index("Its summary replaced its log") < memory.index("· Concluded")


def test_what_left_says_why_and_what_brings_it_back(as_alice: Client, session: Session) -> None:
    play(session, [WEATHER] * 20)
    why = part(as_alice, session, "efforts/auth-bug/memory/")
    assert (
        "Its excerpts dropped out of the prompt: nothing has mentioned it for 20 turns; it drops out after 20." in why
    )
    assert "a mention, a search or Expand brings it back" in why
    assert "Turn 22 · Dropped out of the prompt: nothing mentioned it" in why
    panel = part(as_alice, session, "efforts/")
    assert "not in the prompt" in panel
    assert "Dropped out of the prompt: nothing mentioned it for 20 turns." in panel
    told = part(as_alice, session, "turns/22/")
    assert "Dropped out of the prompt: Auth bug (not mentioned for 20 turns). A mention brings it back." in told


def test_what_a_single_turn_without_a_mention_ends_is_said_in_the_singular(as_alice: Client, session: Session) -> None:
    session.decay_threshold = session.eviction_threshold = 1
    session.save(update_fields=["decay_threshold", "eviction_threshold"])

    play(session, [WEATHER] * 2)
    told = "".join(part(as_alice, session, f"turns/{number}/") for number in (3, 4))
    assert "Dropped out of the prompt: Auth bug (not mentioned for 1 turn). A mention brings it back." in told
    assert "Dropped out of the prompt: nothing mentioned it for 1 turn." in part(as_alice, session, "efforts/")
    expand(session)
    play(session, [WEATHER])
    assert "Auto-collapsed effort: Auth bug (inactive for 1 turn)" in part(as_alice, session, "turns/5/")


def test_what_is_left_out_names_the_efforts_that_dropped_out_and_the_numbers_add_up(
    as_alice: Client, session: Session
) -> None:
    context = part(as_alice, session, "context/")
    assert "All of them, on the memory page" not in context
    play(session, [WEATHER] * 20)
    left_out = part(as_alice, session, "context/").partition("Left out, and why")[2]
    assert "Nothing has mentioned them for 20 turns." in left_out
    assert "Auth bug · All of them, on the memory page" in left_out
    plan = preview(main_branch(session))
    told = f"{plan.tokens:,} used and {plan.free:,} free make the budget of {plan.budget:,} tokens."
    assert told in part(as_alice, session, "context/")
    assert plan.tokens + plan.free == plan.budget


def test_the_page_shows_what_is_where_and_how_it_moved(as_alice: Client, session: Session) -> None:
    play(session, [Exchange(user="Plan a party.", reply="When?", acts=(opens("Party"),)), *[WEATHER] * 19])
    page = text_of(as_alice.get(f"/s/{session.pk}/memory/").content.decode())
    assert "1 concluded effort, " in page
    assert "0 in the prompt, 1 only found by search" in page
    assert "Party" in page
    assert "Turns 22" in page
    assert "Messages 44" in page
    assert "0 expanded, 0 collapsed automatically, 1 dropped out of the prompt, 0 came back." in page
    play(session, [Exchange(user="How was it with the auth bug?", reply="Fixed.")])
    page = text_of(as_alice.get(f"/s/{session.pk}/memory/").content.decode())
    assert "1 in the prompt, 0 only found by search" in page
    assert "1 came back." in page
    assert "Came back: something mentioned it" in page


def test_its_lists_and_the_metrics_name_efforts_as_people_call_them(as_alice: Client, session: Session) -> None:
    expand(session)
    actions.rename_effort(actions.here(session, actor=session.owner), "auth-bug", "Login trouble")
    _, _, changed = as_alice.get(f"/s/{session.pk}/memory/").content.decode().partition("What changed")
    assert "Login trouble Expanded: its log came back" in text_of(changed)
    _, _, expanded = as_alice.get(f"/s/{session.pk}/metrics/").content.decode().partition("Expansions over time")
    assert "Login trouble: " in expanded
    assert "auth-bug" not in expanded


def test_an_empty_conversation_says_what_will_stand_there(as_alice: Client, alice: User) -> None:
    page = text_of(as_alice.get(f"/s/{actions.create_session(alice).pk}/memory/").content.decode())
    assert "No effort is concluded yet." in page
    assert "Nothing yet." in page


def test_a_stranger_finds_nothing(client: Client, bob: User, session: Session) -> None:
    client.force_login(bob)
    assert client.get(f"/s/{session.pk}/memory/").status_code == 404
    assert client.get(f"/s/{session.pk}/efforts/auth-bug/memory/").status_code == 404
    assert client.post(f"/s/{session.pk}/efforts/too-early/1/").status_code == 404


def test_an_effort_that_is_not_there_is_a_404(as_alice: Client, session: Session) -> None:
    assert as_alice.get(f"/s/{session.pk}/efforts/nothing/memory/").status_code == 404
