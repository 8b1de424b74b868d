"""Nobody waits because one person asks for much."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from efforts import actions
from efforts.domain.effort.shares import Waiting, next_to_run
from efforts.domain.errors import Refused
from efforts.models import Run, Session
from efforts.turns import drafts, runner
from efforts.turns.drafts import MOST_DRAFTS, claim_from
from efforts.turns.recording import COMPLETED, CallReply, claim_runs, record_reply
from efforts.turns.runner import Runner
from efforts.turns.scopes import SCOPES
from efforts.turns.summaries import SUMMARIES
from tests.efforts.talk import Talk

people = st.integers(1, 5)

pytestmark = pytest.mark.django_db


@given(
    st.lists(people, max_size=80),
    st.dictionaries(people, st.integers(0, 9)),
    st.integers(0, 32),
    st.integers(0, 8),
    st.integers(1, 9),
)
def test_each_gets_a_share_before_anyone_gets_more(owners, running, room, reserved, each) -> None:
    places: dict[int, int] = {}
    waiting = []
    for number, person in enumerate(owners):
        places[person] = places.get(person, 0) + 1
        waiting.append(Waiting(run=number, person=person, place=places[person], since=number))
    chosen = next_to_run(waiting, running, room=room, reserved=reserved, each=each)
    assert len(chosen) <= room
    assert len(set(chosen)) == len(chosen)
    got = {person: [n for n in chosen if owners[n] == person] for person in set(owners)}
    for person, runs in got.items():
        assert not runs or running.get(person, 0) + len(runs) <= each
        # Their own stay in the order in which they were sent.
        assert runs == sorted(runs)
    # Who has none begins before anybody's second, as far as there is room at all.
    idle = {person for person in owners if not running.get(person, 0)}
    assert sum(bool(got[person]) for person in idle) == min(room, len(idle))


@pytest.fixture
def many(settings) -> None:
    settings.CCM_PERSON_SENDS = settings.CCM_PERSON_WAITING = 1_000


def ask(person: User, count: int) -> list[Session]:
    sessions = [actions.create_session(person) for _ in range(count)]
    for session in sessions:
        actions.take_typed(session, text="Tell me more.", client_id=uuid4().hex, actor=person)
    return sessions


async def test_where_nothing_waits_a_look_for_work_takes_one_place_among_the_writes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """On SQLite all writes stand in one line, and a runner looks with each message and each end of a turn."""
    written: list[Callable[..., Any]] = []

    async def find_nothing(function: Callable[..., Any], *args: Any) -> tuple[()]:
        return ()

    async def note(function: Callable[..., Any], *args: Any) -> tuple[()]:
        written.append(function)
        return ()

    for module in (runner, drafts):
        monkeypatch.setattr(module, "read", find_nothing)
        monkeypatch.setattr(module, "write", note)
    await Runner().sweep()
    assert written == [claim_runs]


@pytest.mark.usefixtures("many")
def test_another_begins_at_once_beside_a_person_with_sixty_turns(alice: User, bob: User) -> None:
    ask(alice, 60)
    first = claim_runs("here", 32, reserved=8)
    assert len(first) == 8
    (his,) = ask(bob, 1)
    assert [lease.session_id for lease in claim_runs("here", 32 - len(first), reserved=8)] == [his.pk]


def test_one_persons_drafts_of_both_kinds_leave_a_place_to_others(alice: User, bob: User) -> None:
    """Summaries of concluded efforts and of chosen turns are drafted by the same few."""
    for _ in range(3):
        talk = Talk(actions.create_session(alice))
        talk.ask("We keep it.")
        actions.compact_turns(talk.place, 1, 1)
        talk.ask("And now the shop.", ("open_effort", {"name": "Shop"}))
        actions.close_effort(talk.place, "shop")
    first = claim_from((SUMMARIES, SCOPES), "here", MOST_DRAFTS)
    assert len(first) == MOST_DRAFTS - 1
    his = Talk(actions.create_session(bob))
    his.ask("We keep it, too.")
    actions.compact_turns(his.place, 1, 1)
    (job,) = claim_from((SUMMARIES, SCOPES), "here", MOST_DRAFTS - len(first))
    assert job.branch_id == his.branch_id


def test_one_persons_many_drafts_do_not_hide_those_of_others(
    alice: User, bob: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many wait, of each person the oldest are looked at."""
    monkeypatch.setattr(drafts, "LOOKED_AT", MOST_DRAFTS - 1)
    places = [Talk(actions.create_session(owner)) for owner in (alice, alice, alice, alice, bob)]
    for talk in places:
        talk.ask("We keep it.")
        actions.compact_turns(talk.place, 1, 1)
    claimed = {job.branch_id for job in claim_from((SCOPES,), "here", MOST_DRAFTS)}
    assert claimed == {talk.branch_id for talk in (*places[: MOST_DRAFTS - 1], places[-1])}


@pytest.mark.usefixtures("many")
def test_where_there_is_room_for_one_it_is_of_whoever_has_none(alice: User, bob: User) -> None:
    ask(alice, 10)
    (his,) = ask(bob, 1)
    (lease,) = claim_runs("here", 1)
    assert lease.session_id != his.pk
    (lease,) = claim_runs("here", 1)
    assert lease.session_id == his.pk


def test_a_conversations_late_turn_does_not_wait_behind_everybodys_first(alice: User, bob: User) -> None:
    long = actions.create_session(bob)
    for number in range(3):
        actions.send_message(long, text="Go on.", client_id=f"a{number}", actor=bob)
        (lease,) = claim_runs("here", 1)
        record_reply(lease, CallReply(call=1, text="Well."), COMPLETED)
    actions.send_message(long, text="And then?", client_id="last", actor=bob)
    ask(alice, 20)
    assert claim_runs("here", 1)[0].session_id == long.pk


def test_with_defaults_three_conversations_answer_at_a_time(alice: User) -> None:
    ask(alice, 3)
    assert len(claim_runs("here", 32, reserved=8)) == 3


def test_messages_beyond_those_of_a_minute_are_refused_and_sending_again_is_not(alice: User, settings) -> None:
    settings.CCM_PERSON_SENDS = 3
    session = actions.create_session(alice)
    for number in range(3):
        actions.take_typed(session, text="More.", client_id=f"a{number}", actor=alice)
    with pytest.raises(Refused, match="within a minute") as refused:
        actions.take_typed(session, text="More.", client_id="a3", actor=alice)
    assert refused.value.code == "too_fast"
    turn = actions.take_typed(session, text="More.", client_id="a2", actor=alice).turn
    assert turn is not None
    assert turn.number == 3
    assert Run.objects.filter(turn__session=session).count() == 3


def test_messages_that_wait_have_an_end_and_are_given_back(as_alice: Client, alice: User, bob: User, settings) -> None:
    settings.CCM_PERSON_WAITING = 2
    session = actions.create_session(alice)
    for number in range(2):
        actions.take_typed(session, text="More.", client_id=f"a{number}", actor=alice)
    page = as_alice.post(
        f"/s/{session.pk}/send/", {"text": "One too many.", "client_id": "b"}, headers={"accept": "text/html"}
    )
    assert page.status_code == 422
    assert "2 of your messages wait" in page.content.decode()
    assert "One too many." in page.content.decode()
    ask(bob, 1)


def test_a_waiting_message_says_which_of_ones_own_it_is(as_alice: Client, alice: User) -> None:
    first, second = ask(alice, 2)
    assert "Waiting to begin" in as_alice.get(f"/s/{first.pk}/").content.decode()
    assert "Waiting: number 2 in your queue" in as_alice.get(f"/s/{second.pk}/").content.decode()
    actions.send_message(second, text="And?", client_id="x", actor=alice)
    assert "Waiting for the previous turn" in as_alice.get(f"/s/{second.pk}/").content.decode()
