"""Searching what was said: what is meant is found, in its order, and nothing that is somebody else's."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from efforts import actions
from efforts.domain.effort.policy import ContextMode
from efforts.models import Branch, Turn
from efforts.pages.presenters.owner_search import Filters, HitKind, OwnerResults, search_owner
from efforts.retrieval.efforts import search_efforts
from efforts.retrieval.recall import FEW, recall
from efforts.retrieval.search import search_branch
from tests.efforts.talk import Talk

pytestmark = pytest.mark.django_db

TODAY = date(2026, 11, 20)
# The seed's example (002, example 1).
AUTH_BUG = "Fixed 401 errors: the refresh token was never requested, so sessions ended after an hour."
SYNTAX = [
    '"',
    "'",
    "NEAR(a b)",
    "a*",
    "(",
    ")",
    "a:b",
    "-a",
    "^a",
    "a OR",
    "AND",
    "NOT a",
    "{a}",
    "\\",
    "%",
    "_",
    "';--",
]


def said_in(talk: Talk, query: str, **more: Any) -> list[int]:
    """The numbers of the turns that are found, best first."""
    found = search_branch(talk.branch, query, before=talk.branch.head + 1, today=TODAY, **more)
    return list(dict.fromkeys(one.found.number for one in found.ranked if one.own))


def efforts_in(talk: Talk, query: str) -> list[str]:
    return [hit.slug for hit in search_efforts(talk.branch, query, before=talk.branch.head + 1, today=TODAY).hits]


def found_by(owner: User, query: str, **filters: Any) -> list[tuple[str, str]]:
    return [(hit.kind, hit.text) for hit in search_owner(owner, query, Filters(**filters)).hits]


@pytest.fixture
def seeds_talk(talk: Talk) -> Talk:
    talk.concluded("db migration", "The orders table gets a new index.", "Migrated, 12 minutes.")
    slug = talk.concluded("auth bug", "Users see errors after an hour.", "It was the refresh of the token.")
    talk.branch.pointers.filter(effort__slug=slug).update(headline=AUTH_BUG)
    talk.concluded("trip to Kiel", "We author a letter to the harbour.", "The building has a nice UI.")
    return talk


@pytest.mark.parametrize(
    "query", ["auth fix", "401", "auth", "the auth thing", "token refresh", "errors 401s", "Auth-Bug", "auth_bug"]
)
def test_the_seeds_effort_is_found_by_each_way_of_asking_for_it(seeds_talk: Talk, query: str) -> None:
    assert efforts_in(seeds_talk, query)[0] == "auth-bug"


def test_a_part_of_a_word_is_no_word(seeds_talk: Talk) -> None:
    assert "trip-to-kiel" not in efforts_in(seeds_talk, "auth")
    assert efforts_in(seeds_talk, "build") == ["trip-to-kiel"]


def test_an_effort_with_four_of_the_words_goes_before_one_with_two(talk: Talk) -> None:
    two, four = talk.concluded("First", "Nothing here."), talk.concluded("Second", "Nothing there.")
    talk.branch.pointers.filter(effort__slug=two).update(headline="The token was renewed.")
    talk.branch.pointers.filter(effort__slug=four).update(headline="The token was renewed when the session expired.")
    assert efforts_in(talk, "token renewed session expired") == [four, two]


@pytest.mark.parametrize(
    ("said", "query"),
    [
        ("来週の日本旅行を計画しています。", "日本旅行"),
        ("我们决定使用刷新令牌。", "刷新令牌"),
        ("الاجتماع يوم الخميس في المكتبة", "المكتبة"),
        ("Мы решили перенести авторизацию на сервер.", "авторизация"),
        ("The release is out 🎉", "🎉"),
        ("set retry_limit in src/jobs/queue.py", "retryLimit"),
        ("set retry_limit in src/jobs/queue.py", "queue.py"),
        ("The synchronisation of calendars fails.", "syncronisation"),
        ("Deployed 3.11.4 at last.", "3.11.4"),
    ],
)
def test_what_was_said_in_any_script_is_found(talk: Talk, said: str, query: str) -> None:
    talk.ask("Good morning, how are you?")
    talk.ask(said)
    talk.ask("Nothing to do with it.")
    assert said_in(talk, query)[:1] == [2]


def test_a_search_ends_at_its_snapshot_and_before_its_turn(talk: Talk) -> None:
    talk.ask("The harbour of Kiel.")
    last = talk.branch.session.messages.latest("id").pk
    talk.ask("The harbour of Hamburg.")
    assert said_in(talk, "harbour") == [1, 2] or said_in(talk, "harbour") == [2, 1]
    assert said_in(talk, "harbour", snapshot=last) == [1]
    found = search_branch(talk.branch, "harbour", before=2, today=TODAY)
    assert {one.found.number for one in found.ranked} == {1}


def test_later_talk_does_not_change_what_a_snapshot_gave(talk: Talk) -> None:
    for text in ("The harbour of Kiel.", "A letter to the harbour master.", "Ships."):
        talk.ask(text)
    last = talk.branch.session.messages.latest("id").pk
    then = search_branch(talk.branch, "harbour letter", before=4, today=TODAY, snapshot=last)
    for _ in range(3):
        talk.ask("harbour letter harbour letter")
    assert search_branch(talk.branch, "harbour letter", before=4, today=TODAY, snapshot=last) == then


def test_a_branch_finds_its_own_and_what_was_said_before_the_fork(talk: Talk) -> None:
    talk.ask("The harbour of Kiel.")
    fork: Branch = actions.fork(talk.branch, after=1, actor=talk.session.owner)
    talk.ask("The harbour of Hamburg.")
    other = Talk(talk.session, fork)
    other.ask("The harbour of Lisbon.")
    found = search_branch(fork, "harbour", before=3, today=TODAY)
    rows = talk.session.messages.filter(pk__in=[one.found.message for one in found.ranked if one.own])
    texts = set(rows.values_list("text", flat=True))
    assert texts == {"The harbour of Kiel.", "The harbour of Lisbon."}


def test_what_was_said_in_a_month_that_is_named_goes_first(talk: Talk) -> None:
    for _ in range(2):
        talk.ask("We met the harbour master.")
    for number, day in ((1, date(2026, 3, 1)), (2, date(2026, 6, 1))):
        moved = Turn.objects.filter(branch=talk.branch_id, number=number)
        talk.session.messages.filter(turn__in=moved).update(created_at=f"{day}T12:00Z")
        moved.update(created_at=f"{day}T12:00Z")
    assert said_in(talk, "harbour master in June")[0] == 2
    assert said_in(talk, "harbour master in March")[0] == 1


@pytest.mark.parametrize(
    ("query", "role"),
    [
        ("Which retry limit did you suggest?", "assistant"),
        ("What was your advice on the retry limit?", "assistant"),
        ("Which retry limit did I mention?", "user"),
    ],
)
def test_the_words_of_the_one_who_is_asked_for_go_first(talk: Talk, query: str, role: str) -> None:
    talk.ask("Say something of the retry limit, please.", reply="A retry limit, as many have it.")
    best = search_branch(talk.branch, query, before=2, today=TODAY).ranked[0]
    assert best.found.role == role
    assert best.spoken


def test_why_tells_the_words_as_they_were_typed(talk: Talk) -> None:
    talk.ask("Refreshing tokens is what the harbour needs.")
    found = search_branch(talk.branch, "token refreshed", before=2, today=TODAY)
    assert found.why(found.ranked[0]) == ("Has 2 of 2 words: token, refreshed.",)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(st.one_of(st.sampled_from(SYNTAX), st.text(max_size=8)), max_size=8).map(" ".join))
def test_no_text_is_syntax(alice: User, query: str) -> None:
    search_owner(alice, query)
    assert search_owner(alice, f"{query} zebra").hits == ()


def test_syntax_and_endless_text_find_what_they_say_or_nothing(talk: Talk) -> None:
    talk.ask("The harbour of Kiel.")
    for query in (*SYNTAX, "\x00", "harbour\x00", "x" * 100_000, "zebra " * 20_000, '"harbour" NEAR(*'):
        assert said_in(talk, query) in ([], [1])
    assert said_in(talk, '"harbour" AND (NEAR*') == [1]
    assert said_in(talk, "harbour" + " zebra" * 20_000) == [1]


def test_a_person_finds_efforts_summaries_rules_and_what_was_said(talk: Talk) -> None:
    talk.concluded("Harbour", "The harbour of Kiel.")
    talk.branch.pointers.update(text="The harbour was chosen.")
    actions.set_constraint(talk.place, "Never call the harbour master.")
    found = found_by(talk.session.owner, "harbour")
    assert {kind for kind, _ in found} == set(HitKind)
    assert (HitKind.MESSAGE, "The harbour of Kiel.") in found
    assert [kind for kind, _ in found_by(talk.session.owner, "harbour", kinds=[HitKind.RULE])] == [HitKind.RULE]
    hit = search_owner(talk.session.owner, "harbour", Filters(kinds=[HitKind.MESSAGE])).hits[0]
    assert [hit.text[start:end] for start, end in hit.marks] == ["harbour"]
    assert (hit.session, hit.branch, hit.turn, hit.effort) == (talk.session, talk.branch, 1, "harbour")


def test_a_word_that_is_only_begun_finds_what_begins_so(talk: Talk) -> None:
    talk.ask("The harbour of Kiel.")
    talk.ask("The harbours of Lisbon and a harness.")
    owner = talk.session.owner
    assert len(found_by(owner, "harb")) == 2
    assert found_by(owner, "Lisbon harn")[0] == (HitKind.MESSAGE, "The harbours of Lisbon and a harness.")
    hit = search_owner(owner, "harb").hits[0]
    assert [hit.text[start:end] for start, end in hit.marks] in (["harbour"], ["harbours"])
    assert found_by(owner, "harb ") == []


def test_a_search_is_bound_by_session_and_by_day(talk: Talk) -> None:
    owner = talk.session.owner
    talk.ask("The harbour of Kiel.")
    other = Talk(actions.create_session(owner))
    other.ask("The harbour of Lisbon.")
    assert len(found_by(owner, "harbour")) == 2
    assert found_by(owner, "harbour", session=other.session) == [(HitKind.MESSAGE, "The harbour of Lisbon.")]
    now = other.session.created_at
    assert found_by(owner, "harbour", until=now - timedelta(days=1)) == []
    assert len(found_by(owner, "harbour", since=now - timedelta(days=1))) == 2


def test_nothing_of_another_owner_is_found_counted_or_weighed(talk: Talk, bob: User) -> None:
    alice = talk.session.owner
    talk.concluded("Harbour", "The harbour of Kiel has two cranes.")
    before = search_owner(alice, "harbour cranes Kiel")
    assert search_owner(bob, "harbour") == OwnerResults()
    his = Talk(actions.create_session(bob))
    for number in range(5):
        his.concluded(f"Harbour {number}", "The harbour of Kiel has cranes, cranes, cranes.")
    assert search_owner(alice, "harbour cranes Kiel") == before
    assert {hit.session.owner for hit in search_owner(bob, "harbour").hits if hit.session} == {bob}


def recalled(talk: Talk, text: str, mode: ContextMode = ContextMode.LIGHT, shown: tuple[int, ...] = ()) -> list[str]:
    found = recall(talk.branch, text, before=talk.branch.head + 1, mode=mode, today=TODAY, shown=shown)
    return [one.message.text[one.start : one.end] for one in found.passages]


def test_what_a_question_needs_is_recalled_and_nothing_for_a_remark(talk: Talk) -> None:
    talk.ask("The retry limit is three.", reply="Noted: three.")
    for place in ("Kiel", "Lisbon", "Genoa", "Porto"):
        talk.ask(f"Tell me of {place}.", reply=f"{place} has a harbour.")
    assert recalled(talk, "What is the retry limit?")[0] == "The retry limit is three."
    assert recalled(talk, "Thanks for the retry limit.") == []
    assert recalled(talk, "What is the retry limit?", ContextMode.OFF) == []
    assert recalled(talk, "What is the retry limit?", shown=(1,)) == []


def test_a_message_that_asks_in_passing_brings_the_best_few(talk: Talk) -> None:
    for place in ("Kiel", "Lisbon", "Genoa", "Porto", "Bergen"):
        talk.ask(f"The harbour of {place} has two cranes.")
    assert len(recalled(talk, "Which harbour has two cranes?")) == 5
    told = "And so that is how it is with all of this for us now. Which harbour has two cranes?"
    assert len(recalled(talk, told)) == FEW


def test_heavy_recalls_whole_exchanges(talk: Talk) -> None:
    talk.ask("The retry limit is three.", reply="Noted: three.")
    for _ in range(9):
        talk.ask("Something else entirely.")
    heavy = recalled(talk, "What is the retry limit?", ContextMode.HEAVY)
    assert heavy[:2] == ["The retry limit is three.", "Noted: three."]
