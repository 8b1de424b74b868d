"""What a prompt is made of is read in many queries, while others write."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import count, cycle
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection, connections

from efforts import actions
from efforts.context.plans import preview
from efforts.models import Run
from efforts.turns.orchestrator import read_and_plan
from tests.efforts.talk import Talk


@pytest.fixture
def talk(transactional_db: None, alice: User) -> Talk:
    talk = Talk(actions.create_session(alice))
    actions.open_effort(talk.place, "Harbour")
    for number in range(1, 4):
        talk.ask(f"Message {number} about the harbour.")
    return talk


@pytest.fixture
def other() -> Iterator[ThreadPoolExecutor]:
    """A thread with a connection of its own."""
    with ThreadPoolExecutor(1) as pool:
        yield pool
        pool.submit(connections.close_all).result()


class Between:
    """Has `act` done by another before the query with this number."""

    def __init__(self, other: ThreadPoolExecutor, number: int, act: Callable[[], object]) -> None:
        self.other, self.left, self.act = other, number, act
        self.done = False

    def __call__(self, execute: Callable[..., Any], sql: str, params: Any, many: bool, context: Any) -> Any:
        if sql.startswith("SELECT"):
            self.left -= 1
            if self.left == 0:
                self.other.submit(self.act).result()
                self.done = True
        return execute(sql, params, many, context)


def conclude(talk: Talk) -> None:
    actions.close_effort(talk.place, "harbour")
    talk.summarise("harbour")


def reopen(talk: Talk) -> None:
    actions.reopen_effort(talk.place, "harbour")


def test_whatever_is_written_meanwhile_a_prompt_is_that_of_before_or_of_after(
    talk: Talk, other: ThreadPoolExecutor
) -> None:
    run = Run.objects.get(pk=talk.begin("And now?").run_id)

    def sha256() -> str:
        return read_and_plan(run, offer_tools=True).request_sha256

    before, seen = sha256(), set()
    for number, act in zip(count(1), cycle((conclude, reopen))):
        between = Between(other, number, partial(act, talk))
        with connection.execute_wrapper(between):
            found = sha256()
        if not between.done:
            break
        after = sha256()
        assert found in (before, after), f"neither: {act.__name__} before query {number}"
        assert before != after
        seen.add(found == after)
        before = after
    assert number > 10
    assert seen == {True, False}


def test_the_next_prompt_is_shown_while_the_first_turn_of_an_effort_ends(talk: Talk, other: ThreadPoolExecutor) -> None:
    for number in count(1):
        actions.open_effort(talk.place, f"Quay {number}")
        lease = talk.begin("How long is it?")
        between = Between(other, number, partial(talk.finish, lease))
        branch = talk.branch
        with connection.execute_wrapper(between):
            found = preview(branch)
        if not between.done:
            break
        assert not found.problem
    assert number > 10
