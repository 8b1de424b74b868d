"""Whatever has happened in a conversation since, each of its plans is made again from what it was made from, and each
search finds again what it found."""

from __future__ import annotations

from collections import Counter

import pytest
from django.contrib.auth.models import User

from efforts.context.replanning import CoursePass, plan_again
from efforts.models import Branch, ContextPlan, Event, RetrievalSet, Session
from efforts.tools.again import EFFORTS_CHANGED, TURNS_MOVED, retrieve_again
from tests.efforts.eventful import Eventful

pytestmark = pytest.mark.django_db
# The shortest with an expansion, a conclusion, a fork and other settings before its last turns.
EVENTFUL = 2
# What must have happened before later turns, or planning again would prove little.
HAPPENED = {
    "branch.forked",
    "effort.concluded",
    "effort.digested",
    "effort.renamed",
    "effort.reopened",
    "effort.rolled_back",
    "session.configured",
    "turn.moved",
}


def made_again(session: Session) -> Counter[str]:
    """How many plans are the same, and what is wrong with the others; each branch in one pass over its events."""
    found = Counter[str]()
    for branch in session.branches.all():
        told = CoursePass(branch)
        for row in ContextPlan.objects.filter(branch=branch).select_related("branch", "run").order_by("created_at"):
            again = plan_again(row, told)
            found[again.problem or again.apart or "same"] += 1
    return found


def found_again() -> Counter[str]:
    """How many searches find the same, why others need not, and which should."""
    rows = RetrievalSet.objects.select_related("branch", "run__turn").order_by("created_at")
    results = [(row.query, retrieve_again(row)) for row in rows]
    return Counter("same" if again.same else again.apart or query for query, again in results)


def test_after_whatever_happened_every_plan_is_the_same(alice: User) -> None:
    played = Eventful(alice, seed=EVENTFUL)
    played.play(14)
    assert made_again(played.session) == {"same": ContextPlan.objects.count()}
    found = found_again()
    assert found["same"] >= 5
    assert set(found) <= {"same", EFFORTS_CHANGED, TURNS_MOVED}


@pytest.mark.soak
def test_two_hundred_plans_and_searches_are_the_same_after_conclusions_forks_rollbacks_renames_and_other_settings(
    alice: User,
) -> None:
    happened = set()
    for seed in (1, 2, 7):
        played = Eventful(alice, seed=seed)
        played.play(75)
        plans = ContextPlan.objects.filter(session=played.session).count()
        assert made_again(played.session) == {"same": plans}
        happened |= set(Event.objects.filter(session=played.session).values_list("kind", flat=True))
    assert ContextPlan.objects.count() >= 200
    assert happened >= HAPPENED
    found = found_again()
    assert found["same"] >= 200
    # A search reads efforts, and what turns are about, as they are now: what need not be the same says so.
    assert set(found) <= {"same", EFFORTS_CHANGED, TURNS_MOVED}


def test_what_the_log_does_not_tell_is_named(alice: User) -> None:
    played = Eventful(alice, seed=EVENTFUL)
    played.opens()
    played.turn()
    played.turn()
    assert made_again(played.session) == {"same": ContextPlan.objects.count()}
    [opened] = Event.objects.filter(kind="effort.opened")
    Event.objects.filter(pk=opened.pk).update(kind="effort.offered")
    problems = made_again(played.session)
    assert "same" not in problems
    slug = opened.data["effort"]
    for problem in problems:
        assert problem.startswith("the event log does not tell what it was made from: the count of changes of effort")
        assert f"{slug} as active" in problem


def test_a_pass_that_is_asked_for_what_lies_behind_it_begins_again(alice: User) -> None:
    played = Eventful(alice, seed=EVENTFUL)
    played.opens()
    last = Event.objects.latest("seq").seq
    told = CoursePass(Branch.objects.get())
    assert told.up_to(last).active
    assert not told.up_to(1).active
    assert told.up_to(last).active
