"""Several people accept and roll back at once, each on a database connection of their own: in every round each of them
either gets what they asked for or is told why not, and what stands is what one of them has left."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Barrier
from time import sleep
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connections, transaction
from django.db.models import Count

from compaction import review
from compaction.admin.changing import roll_back_all
from compaction.domain.artifact import parse_artifact
from compaction.domain.lifecycle import ClaimVerdictValue
from compaction.models import Acceptance, Artifact, ClaimVerdict, Review
from compaction.standing import rolling
from efforts import actions
from efforts.actions.scopes import draft_turns
from efforts.context.planning import chosen_settings, draft_turn, plan_inputs
from efforts.domain.effort.states import ScopeKind
from efforts.domain.errors import Refused
from efforts.domain.prompt.planner import plan
from efforts.log import events
from efforts.models import Branch, ContextPointer, Event, PointerMove, PointerTurn, Session
from tests.compaction.artifacts import LongTalk, accept, concluded, of_effort, of_turns, roll_back, standing, summaries
from tests.efforts.talk import Talk

ROUNDS = 8
Act = Callable[[], Any]


@pytest.fixture
def talk(transactional_db: None, alice: User) -> Talk:
    talk = LongTalk(actions.create_session(alice))
    for number in range(1, 4):
        talk.ask(f"Message {number} about the harbour.")
    return talk


@pytest.fixture
def people() -> Iterator[ThreadPoolExecutor]:
    """Two threads; each has its connection."""
    with ThreadPoolExecutor(2) as pool:
        yield pool
        barrier = Barrier(2)
        for hung_up in [pool.submit(hang_up, barrier) for _ in range(2)]:
            hung_up.result()


def hang_up(barrier: Barrier) -> None:
    barrier.wait()
    connections.close_all()


def at_once(people: ThreadPoolExecutor, *acts: Act) -> list[Any]:
    """What each of them got: a result, or the code of what was refused."""
    barrier = Barrier(len(acts))
    return [each.result() for each in [people.submit(told, barrier, act) for act in acts]]


def told(barrier: Barrier, act: Act) -> Any:
    barrier.wait()
    try:
        return act()
    except Refused as refusal:
        return refusal.code


def check_whole(talk: Talk) -> None:
    active = PointerTurn.objects.filter(active=True)
    assert not active.exclude(pointer__state="active").exists()
    assert not PointerTurn.objects.filter(active=False, pointer__state="active").exists()
    assert not active.values("branch", "turn").annotate(times=Count("pk")).filter(times__gt=1).exists()
    there: set[int] = set()
    for move in PointerMove.objects.all():
        there = (there - set(move.before)) | set(move.after)
    assert there == set(ContextPointer.objects.filter(state="active").values_list("pk", flat=True))
    numbers = list(Event.objects.filter(session=talk.session).order_by("seq").values_list("seq", flat=True))
    assert numbers == list(range(1, len(numbers) + 1))


def test_the_same_summary_accepted_by_two_is_accepted_once(talk: Talk, people: ThreadPoolExecutor, bob: User) -> None:
    artifact = of_turns(talk.branch, [1, 2])
    for number in range(1, ROUNDS + 1):
        first, second = at_once(people, lambda: accept(artifact), lambda: accept(artifact, actor=bob))
        assert first == second
        assert Acceptance.objects.count() == number
        check_whole(talk)
        at_once(people, lambda: roll_back(artifact), lambda: roll_back(artifact, actor=bob))
        assert (standing(talk), PointerMove.objects.count()) == ([], 2 * number)


def test_of_two_that_share_a_turn_one_stands_and_the_other_is_told(talk: Talk, people: ThreadPoolExecutor) -> None:
    left, right = of_turns(talk.branch, [1, 2], "Left."), of_turns(talk.branch, [2, 3], "Right.")
    for _ in range(ROUNDS):
        got = at_once(people, lambda: accept(left), lambda: accept(right))
        assert got.count("clash") == 1
        (stands,) = [one for one in got if one != "clash"]
        assert standing(talk) in ([("Left.", [1, 2])], [("Right.", [2, 3])])
        check_whole(talk)
        roll_back(Artifact.objects.get(pk=stands.artifact))


def test_one_rolls_back_while_the_other_accepts_what_takes_over(talk: Talk, people: ThreadPoolExecutor) -> None:
    small, large = of_turns(talk.branch, [1, 2], "Small."), of_turns(talk.branch, [1, 2, 3], "Large.")
    for _ in range(ROUNDS):
        accept(small)
        back, _ = at_once(people, lambda: roll_back(small), lambda: accept(large))
        # Either it was gone before, or it had given way.
        assert back in ([], "not_standing")
        assert standing(talk) == [("Large.", [1, 2, 3])]
        check_whole(talk)
        restored = roll_back(large)
        assert [one.text for one in restored] == (["Small."] if back == "not_standing" else [])
        if restored:
            roll_back(small)


def test_one_accepts_while_the_other_rolls_the_same_back(talk: Talk, people: ThreadPoolExecutor) -> None:
    artifact = of_turns(talk.branch, [1, 2])
    for _ in range(ROUNDS):
        accept(artifact)
        at_once(people, lambda: accept(artifact), lambda: roll_back(artifact))
        assert standing(talk) in ([("Of chosen turns.", [1, 2])], [])
        check_whole(talk)
        if standing(talk):
            roll_back(artifact)


def stop_rolling(talk: Talk, alice: User) -> None:
    rolling.set_rolling(talk.session, False, actor=alice)


@transaction.atomic
def roll_back_everywhere(talk: Talk, alice: User) -> None:
    roll_back_all(Artifact.objects.get(), alice, "")


@pytest.mark.parametrize("act", [stop_rolling, roll_back_everywhere])
def test_who_acts_on_several_branches_waits_for_a_runner_and_the_runner_not_for_them(
    talk: Talk, people: ThreadPoolExecutor, alice: User, act: Callable[[Talk, User], None]
) -> None:
    """A runner that settles a draft has locked its branch, and locks the conversation when it says so."""
    accept(of_turns(talk.branch, [1, 2]))
    branch = actions.fork(talk.branch, after=3, actor=alice)
    Session.objects.update(rolling=True)
    draft_turns(actions.here(talk.session, actor=alice, branch=branch), [3], ScopeKind.ROLLING)
    with transaction.atomic():
        Branch.objects.select_for_update().get(pk=branch.pk)
        done = people.submit(act, talk, alice)
        # So long that it is waiting.
        sleep(0.5)
        events.append(talk.session.pk, "compaction.drafted")
    done.result()
    check_whole(talk)


def test_one_rolls_back_while_the_other_submits_and_both_happen(
    talk: Talk, people: ThreadPoolExecutor, alice: User, bob: User
) -> None:
    review.name_reviewer(talk.session, "bob", actor=alice)
    for number in range(ROUNDS):
        row = of_turns(talk.branch, [1, 2], f"Of the harbour, {number}.")
        accept(row)
        item = parse_artifact(row.document).claims[0].id
        review.decide(row, item, ClaimVerdictValue.KEPT, reviewer=bob)
        _, submitted = at_once(people, partial(roll_back, row), partial(review.submit, row, reviewer=bob))
        assert standing(talk) == []
        assert submitted == Review.objects.get(artifact=row)
        assert ClaimVerdict.objects.get(artifact=row, reviewer=bob).submitted_at
        kinds = set(Event.objects.filter(data__artifact=row.pk).values_list("kind", flat=True))
        assert {"review.submitted", "compaction.rolled_back"} <= kinds


def test_one_accepts_while_the_other_opens_the_effort_again(talk: Talk, people: ThreadPoolExecutor) -> None:
    slug, _ = concluded(talk, "Bug", "It crashes.")
    for number in range(ROUNDS):
        better = of_effort(talk, slug, f"Said better, {number}.")
        got, _ = at_once(people, partial(accept, better), lambda: actions.reopen_effort(talk.place, slug))
        assert got == "open" or got.artifact == better.pk
        assert (standing(talk), summaries(talk)) == ([], {slug: "none"})
        check_whole(talk)
        actions.close_effort(talk.place, slug)
        accept(of_effort(talk, slug))


def test_one_accepts_while_the_other_moves_a_turn_away(talk: Talk, people: ThreadPoolExecutor) -> None:
    slug, _ = concluded(talk, "Bug", "It crashes.", "Always.")
    for number in range(ROUNDS):
        better = of_effort(talk, slug, f"Said better, {number}.")
        got, _ = at_once(people, partial(accept, better), lambda: actions.move_turn(talk.place, 5, None))
        assert got == "stale" or got.artifact == better.pk
        assert (standing(talk), summaries(talk)) == ([], {slug: "due"})
        check_whole(talk)
        actions.move_turn(talk.place, 5, slug)
        accept(of_effort(talk, slug))


def test_what_was_done_is_seen_by_another_connection_and_the_next_plan_at_once(
    talk: Talk, people: ThreadPoolExecutor
) -> None:
    slug, artifact = concluded(talk, "Bug", "It crashes whenever the harbour is closed.", "Always, and on Mondays too.")
    with_it = next_request(talk)
    for _ in range(3):
        roll_back(artifact)
        assert people.submit(seen, talk).result() == ([], {slug: "rolled back"}, next_request(talk))
        without = next_request(talk)
        accept(artifact)
        assert people.submit(seen, talk).result() == ([("All about bug.", [4, 5])], {slug: "stands"}, with_it)
        assert without != with_it


def seen(talk: Talk) -> Any:
    return standing(talk), summaries(talk), next_request(talk)


def next_request(talk: Talk) -> str:
    branch = Branch.objects.select_related("session").get(pk=talk.branch_id)
    inputs = plan_inputs(branch, chosen_settings(branch.session), current=draft_turn(branch, "And now?"))
    return plan(inputs).request_sha256
