"""What could answer a query: the same on both databases, and what plain Python finds in the same log."""

from __future__ import annotations

from datetime import timedelta
from unittest.mock import patch

import pytest
from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from efforts.domain.text.spelling import near_terms
from efforts.domain.text.terms import terms_of
from efforts.models import Branch, Message, Session
from efforts.retrieval import candidates
from efforts.retrieval.candidates import Narrowed, Scope, find, near_words, of_branch, turns_rows
from tests.retrieval.logs import Said, counted, forked, ids, new_session, ought, say, standing

pytestmark = pytest.mark.django_db

WORDS = ["oak", "elm", "ash", "fir", "auth_bug", "日本", "401"]
TERMS = ["oak", "elm", "ash", "fir", "authbug", "日本", "401"]
TEXT = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join)
SAID = st.builds(Said, TEXT, st.lists(TEXT, max_size=2).map(tuple), st.booleans())
# Where each turn is said: in one of the branches, or in a new one from one of their turns.
LOG = st.lists(st.tuples(SAID, st.integers(0, 99), st.integers(0, 5)), min_size=1, max_size=12)


def play(owner: User, log: list[tuple[Said, int, int]]) -> list[Branch]:
    branches = [new_session(owner)]
    for said, pick, fork in log:
        branch = branches[pick % len(branches)]
        if fork == 0 and branch.head:
            branch = forked(branch, pick % (branch.head + 1))
            branches.append(branch)
        say(branch, said)
    return branches


@given(LOG, st.lists(st.sampled_from(TERMS), min_size=1, max_size=4, unique=True), st.integers(1, 8), st.data())
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_in_every_log_every_query_finds_what_plain_python_finds(
    alice: User, bob: User, log: list[tuple[Said, int, int]], terms: list[str], most: int, data: st.DataObject
) -> None:
    with transaction.atomic():
        branch = data.draw(st.sampled_from(play(alice, log)))
        play(bob, log[:3])
        before = data.draw(st.integers(1, branch.head + 1))
        messages = list(Message.objects.filter(session=branch.session).values_list("pk", flat=True))
        snapshot = data.draw(st.sampled_from([None, *messages]))
        # What came after the snapshot is counted here, or by the database.
        few = patch.object(candidates, "FEW", data.draw(st.sampled_from([0, 50])))
        with few, patch.object(candidates, "COMMON", 5), patch("tests.retrieval.logs.COMMON", 5):
            found = find(of_branch(branch, before=before), terms, snapshot=snapshot, most=most)
            rows = [row for row in standing(branch, before) if snapshot is None or row.message_id <= snapshot]
            passages, frequencies = counted(branch.session, terms, snapshot)
            assert (found.passages, found.frequencies) == (passages, frequencies)
            assert ids(found.rows) == ought(rows, frequencies, most)
        texts = {row.pk: row.terms.split() for row in rows}
        assert [row.counts for row in found.rows] == [
            tuple(texts[row.passage].count(term) for term in terms) for row in found.rows
        ]
        transaction.set_rollback(True)


@pytest.fixture
def branch(alice: User) -> Branch:
    return new_session(alice)


def texts(found: candidates.Candidates) -> list[str]:
    rows = Message.objects.in_bulk([row.message for row in found.rows])
    return [rows[row.message].text[row.start : row.end] for row in found.rows]


def test_a_row_says_where_it_was_said_and_by_whom(branch: Branch) -> None:
    turn = say(branch, Said("oak oak elm"))
    [row] = find(of_branch(branch), ["elm", "oak", "fir"]).rows
    message = turn.messages.get(role="user")
    assert (row.message, row.session, row.turn, row.number, row.branch) == (
        message.pk, branch.session_id, turn.pk, 1, branch.pk,
    )  # fmt: skip
    assert (row.role, row.created_at, row.start, row.end, row.length) == ("user", message.created_at, 0, 11, 3)
    assert row.counts == (1, 2, 0)


def test_the_rarest_word_goes_first_and_where_a_word_does_not_fit_those_with_another_one(branch: Branch) -> None:
    for text in ("oak and elm", "ash", *["oak"] * 6):
        say(branch, Said(text, ()))
        branch.turns.get(number=branch.head).runs.update(state="completed")
    assert texts(find(of_branch(branch), ["oak", "ash"], most=3)) == ["oak", "oak", "ash"]
    assert texts(find(of_branch(branch), ["oak", "elm"], most=3)) == ["oak", "oak", "oak and elm"]


def test_a_common_word_finds_nothing_beside_a_telling_one_and_all_where_it_stands_alone(branch: Branch) -> None:
    for text in ("elm", "oak", "oak", "oak"):
        say(branch, Said(text))
    with patch.object(candidates, "COMMON", 2):
        assert texts(find(of_branch(branch), ["oak", "elm"])) == ["elm"]
        assert texts(find(of_branch(branch), ["oak"])) == ["oak"] * 3


def test_nothing_of_another_owner_is_found_or_counted(alice: User, bob: User) -> None:
    mine, theirs = new_session(alice), new_session(bob)
    say(mine, Said("oak"))
    before = find(Scope(owner=alice.pk), ["oak", "elm"]), find(Scope(session=mine.session.pk), ["oak", "elm"])
    say(theirs, Said("oak elm", ("elm",)))
    assert (find(Scope(owner=alice.pk), ["oak", "elm"]), find(Scope(session=mine.session.pk), ["oak", "elm"])) == before
    assert find(Scope(owner=alice.pk), ["elm"]).rows == ()
    assert len(find(Scope(owner=bob.pk), ["elm"]).rows) == 2


def test_all_conversations_of_an_owner_are_searched_at_once(alice: User) -> None:
    first, second = new_session(alice), new_session(alice)
    say(first, Said("oak elm"))
    say(second, Said("oak"))
    found = find(Scope(owner=alice.pk), ["oak", "elm"])
    assert (texts(found), found.passages, found.frequencies) == (["oak", "oak elm"], 4, {"oak": 2, "elm": 1})


def test_what_is_to_be_erased_does_not_take_the_place_of_what_stands(alice: User) -> None:
    kept, gone = new_session(alice), new_session(alice)
    say(kept, Said("oak"))
    for _ in range(3):
        say(gone, Said("oak"))
    Session.objects.filter(pk=gone.session_id).update(erase_at=timezone.now())
    assert texts(find(Scope(owner=alice.pk), ["oak"], most=2)) == ["oak"]


def test_of_a_session_all_branches_are_searched_and_of_a_branch_its_timeline(branch: Branch) -> None:
    say(branch, Said("oak one"))
    child = forked(branch, 1)
    say(branch, Said("oak main"))
    say(child, Said("oak child"))
    assert texts(find(Scope(session=branch.session.pk), ["oak"])) == ["oak child", "oak main", "oak one"]
    assert texts(find(of_branch(branch), ["oak"])) == ["oak main", "oak one"]
    assert texts(find(of_branch(child), ["oak"])) == ["oak child", "oak one"]
    assert texts(find(of_branch(child, before=2), ["oak"])) == ["oak one"]


def test_a_search_can_be_held_to_days_and_speakers(alice: User, branch: Branch) -> None:
    old, new = say(branch, Said("oak old", ("oak reply",))), say(branch, Said("oak new"))
    day = timedelta(days=1)
    Message.objects.filter(turn=old).update(created_at=new.created_at - 10 * day)
    assert texts(find(Scope(owner=alice.pk, narrowed=Narrowed(since=new.created_at - day)), ["oak"])) == ["oak new"]
    assert texts(find(Scope(owner=alice.pk, narrowed=Narrowed(until=new.created_at - day)), ["oak"])) == [
        "oak reply",
        "oak old",
    ]


def test_what_a_snapshot_found_is_found_again_whatever_was_said_since(branch: Branch) -> None:
    last = say(branch, Said("oak elm", ("oak",)))
    snapshot = last.messages.order_by("pk").last()
    assert snapshot is not None
    before = find(of_branch(branch, before=2), ["oak", "elm"], snapshot=snapshot.pk)
    for _ in range(3):
        say(branch, Said("oak elm fir"))
    assert find(of_branch(branch, before=2), ["oak", "elm"], snapshot=snapshot.pk) == before
    assert before.frequencies == {"oak": 2, "elm": 1}


def test_turns_are_read_whole_in_the_order_of_the_log(branch: Branch) -> None:
    for text in ("oak", "elm", "ash"):
        say(branch, Said(text, (f"{text} lost", f"{text} again")))
    child = forked(branch, 2)
    say(child, Said("fir"))
    found = [(row.number, row.role, row.counts) for row in turns_rows(child, {2, 3, 9}, ["elm", "again"])]
    assert found == [
        (2, "user", (1, 0)),
        (2, "assistant", (1, 1)),
        (3, "user", (0, 0)),
        (3, "assistant", (0, 0)),
    ]


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("authentcation", "authentication"),
        ("deploymnet", "deployment"),
        ("kubernetees", "kubernetes"),
        ("конфигурция", "конфигурация"),
    ],
)
def test_one_wrong_letter_in_a_long_word_is_near_the_right_one(branch: Branch, wrong: str, right: str) -> None:
    say(branch, Said(f"The {right} fails."))
    say(branch, Said("Something else."))
    assert near_words(of_branch(branch), *terms_of(wrong)) == tuple(terms_of(right))


def test_a_word_of_the_letters_of_many_alphabets_is_near_none(branch: Branch) -> None:
    """Each letter could be any of hundreds of others: more words than a database takes in one question."""
    alphabets = "aбγდაա\u05d0\u0627\u0905\u0985\u0a05\u0a85\u0b05\u0b85\u0c05\u0c85\u0d05\u0d85"
    [term] = terms_of(alphabets)
    assert near_words(of_branch(branch), term) == ()
    assert len(near_terms(term)) == 0


def test_a_short_word_a_later_one_and_one_of_others_are_near_none(branch: Branch, bob: User) -> None:
    first = say(branch, Said("oaks"))
    assert near_words(of_branch(branch), "oakx") == ()
    say(branch, Said("kubernetes"))
    last = first.messages.order_by("pk").last()
    assert last is not None
    assert near_words(of_branch(branch), "kubernetex", snapshot=last.pk) == ()
    assert near_words(Scope(owner=bob.pk), "kubernetex") == ()
