"""What a turn asks of the database does not grow with the history, nor with the number of efforts."""

from __future__ import annotations

from functools import partial

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext

from benchmarks.scenes import Exchange, play
from efforts import actions
from efforts.domain.effort.states import SummaryState
from efforts.domain.prompt.planner import plan
from efforts.models import EffortState, RetrievalItem, Session
from efforts.turns import recording
from efforts.turns.orchestrator import first_inputs, look_back
from efforts.turns.recording import COMPLETED, CallReply
from efforts.turns.summaries import summarise_now
from tests.efforts.chosen import choose
from tests.efforts.talk import Talk

pytestmark = pytest.mark.django_db
# Of a plain turn, from its message to its end; on PostgreSQL, where reading at one moment takes one more, and so does a
# start that does not wait for the disk.
STATEMENTS = 64


def said(text: str) -> Exchange:
    return Exchange(user=text, reply="All right, that is noted. " * 16)


def in_effort(session: Session, name: str, turns: int) -> None:
    actions.open_effort(actions.here(session, actor=session.owner), name)
    play(session, [said(f"{name}, part {number}.") for number in range(turns)])


def conclude(session: Session) -> None:
    """By the person: the summary stands at once."""
    place = actions.here(session, actor=session.owner)
    actions.close_effort(place, None)
    for state in EffortState.objects.filter(branch=place.branch, summary=SummaryState.DUE):
        summarise_now(state)


def history(owner: User, *, efforts: int, turns: int) -> Session:
    """Ambient turns, and so many efforts of each kind: concluded, expanded, open."""
    session = actions.create_session(owner)
    play(session, [said("The code of the gate is 4711.")])
    play(session, [said(f"Ambient {number}.") for number in range(12 * turns)])
    for number in range(2 * efforts):
        in_effort(session, f"done {number}", turns)
        conclude(session)
    for number in range(2 * efforts):
        in_effort(session, f"open {number}", turns)
    for number in range(efforts):
        actions.expand_effort(actions.here(session, actor=owner), f"done-{number}")
    return session


def one_turn(session: Session) -> int:
    """The queries from the message to the end of the turn, for which something was recalled."""
    asked = asked_in(session)
    assert RetrievalItem.objects.filter(retrieval__run__turn=session.turns.latest("number"), included=True).exists()
    return len(asked)


def asked_in(session: Session) -> list[str]:
    """What is asked of the database from the message to the end of the turn."""
    with CaptureQueriesContext(connection) as asked:
        actions.send_message(
            session,
            text="Which was the code of the gate?",
            client_id=f"turn-{session.turns.count()}",
            actor=session.owner,
        )
        [lease] = recording.claim_runs("test", 1)
        run = recording.claimed_run(lease)
        drafted = plan(first_inputs(run))
        found = look_back(run, drafted)
        recording.record_plan(lease, 1, found.added_to(drafted), partial(found.keep, run))
        recording.record_reply(lease, CallReply(call=1, text="Now this."), COMPLETED)
    return [query["sql"] for query in asked]


# A hundred turns that begin at once wait for each other's statements: each takes Django half a millisecond.
@pytest.mark.django_db(transaction=True)
def test_a_plain_turn_takes_so_many_statements_and_transactions(alice: User) -> None:
    session = actions.create_session(alice, title="Plain")
    asked_in(session)
    asked = [sql.split(" ", 1)[0] for sql in asked_in(session)]
    begun = asked.count("BEGIN")
    ends = asked.count("COMMIT")
    assert (begun, ends) == (5, 5)
    assert asked.count("SAVEPOINT") == 0
    # SQLite is told when to flush without being asked for anything.
    assert len(asked) - begun - ends - asked.count("PRAGMA") <= STATEMENTS


def test_a_long_history_of_many_efforts_takes_as_many_queries_as_a_short_one(alice: User) -> None:
    short = one_turn(history(alice, efforts=1, turns=1))
    assert one_turn(history(alice, efforts=1, turns=5)) == short
    assert one_turn(history(alice, efforts=5, turns=2)) == short


def chosen_history(owner: User, *, summaries: int) -> Session:
    """Pairs of turns, each in short, and one of them expanded."""
    session = actions.create_session(owner)
    play(session, [said("The code of the gate is 4711.")])
    play(session, [said(f"Pair {number // 2} of the talk, part {number % 2}.") for number in range(36)])
    talk = Talk(session)
    for number in range(summaries):
        pair, text = (2 + 2 * number, 3 + 2 * number), f"Pair {number} in short."
        choose(talk, *pair, text=text, body=f"{text}\nAll of it.")
    actions.expand_effort(talk.place, "turns-2-3")
    return session


def test_many_summaries_of_chosen_turns_take_as_many_queries_as_few(alice: User) -> None:
    few = one_turn(chosen_history(alice, summaries=2))
    assert one_turn(chosen_history(alice, summaries=11)) == few


@pytest.mark.skipif(connection.vendor != "postgresql", reason="only PostgreSQL plans a question anew each time")
def test_postgresql_plans_what_turns_ask_time_and_again_once(alice: User) -> None:
    session = history(alice, efforts=1, turns=1)
    play(session, [said(f"Part {number}.") for number in range(4)])
    with connection.cursor() as cursor:
        cursor.execute("SELECT statement FROM pg_prepared_statements")
        kept = [statement for (statement,) in cursor.fetchall()]
    for table in ("efforts_run", "efforts_message", "efforts_effortstate"):
        assert any(f'FROM "{table}"' in statement for statement in kept), table
