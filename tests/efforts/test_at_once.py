"""Two branches of a conversation get efforts and names at once: each its own."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.db import connection, transaction

from efforts import actions
from efforts.models import Branch, Effort
from tests.efforts.talk import Talk
from tests.waiting import beside, wait_until_somebody_waits

pytestmark = [
    pytest.mark.grown,
    pytest.mark.skipif(connection.vendor == "sqlite", reason="SQLite has one writer at a time."),
    pytest.mark.django_db(transaction=True),
]


@pytest.fixture
def talk(alice: User) -> Talk:
    talk = Talk(actions.create_session(alice))
    talk.ask("Where shall we go?")
    return talk


def test_two_branches_open_an_effort_of_one_name(talk: Talk, alice: User) -> None:
    child = actions.fork(talk.branch, after=1, actor=alice)
    there = actions.here(talk.session, actor=alice, branch=child)
    with transaction.atomic():
        actions.open_effort(talk.place, "Trip")
        thread, got = beside(lambda: actions.open_effort(there, "Trip").effort.slug)
        wait_until_somebody_waits()
    thread.join()
    assert got == ["trip-2"]
    assert set(Effort.objects.values_list("slug", "name")) == {("trip", "Trip"), ("trip-2", "Trip")}


def test_two_branches_are_forked_under_one_name(talk: Talk, alice: User) -> None:
    child = actions.fork(talk.branch, after=1, actor=alice, name="Another")
    Talk(talk.session, child).ask("By train?")
    with transaction.atomic():
        actions.fork(talk.branch, after=1, actor=alice, name="Plan")
        thread, got = beside(lambda: actions.fork(child, after=2, actor=alice, name="Plan").name)
        wait_until_somebody_waits()
    thread.join()
    assert got == ["Plan (2)"]


def test_a_name_that_another_branch_gets_meanwhile_is_refused(talk: Talk, alice: User) -> None:
    child = actions.fork(talk.branch, after=1, actor=alice)
    with transaction.atomic():
        actions.rename_branch(talk.branch, name="Plan", actor=alice)
        thread, got = beside(lambda: actions.rename_branch(child, name="Plan", actor=alice))
        wait_until_somebody_waits()
    thread.join()
    assert got == ["Another branch has that name. Choose another."]
    assert Branch.objects.filter(name="Plan").count() == 1
