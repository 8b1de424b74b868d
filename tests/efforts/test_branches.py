"""Branches: from any turn a conversation goes on as it stood then, and what was there before stays as it is."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from uuid import UUID

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from efforts import actions
from efforts.actions.branches import LONGEST_NAME
from efforts.context.planning import run_inputs
from efforts.context.plans import replay
from efforts.context.replanning import Replanned, plan_again
from efforts.domain.effort.lineage import last_common_turn
from efforts.domain.errors import Refused
from efforts.domain.prompt.planner import plan
from efforts.domain.text.canonical import canonical_json, sha256
from efforts.log.timelines import branch_turns
from efforts.models import Branch, ContextPlan, ContextPointer, EffortState, Run, Session
from efforts.turns import recording
from efforts.turns.recording import Lease
from tests.efforts.talk import Talk
from tests.efforts.test_efforts_stay_whole import FAILED


def fork(talk: Talk, after: int) -> Talk:
    return Talk(talk.session, actions.fork(talk.branch, after=after, actor=talk.session.owner))


def numbers(talk: Talk) -> list[tuple[int, str]]:
    """The turns of its timeline, each with the branch it belongs to."""
    return list(branch_turns(talk.branch).order_by("number").values_list("number", "branch__name"))


def planned(talk: Talk, lease: Lease) -> ContextPlan:
    run = Run.objects.select_related("turn__session", "branch").get(pk=lease.run_id)
    recording.record_plan(lease, 1, plan(run_inputs(run)))
    return ContextPlan.objects.get(run=run)


def ask(talk: Talk, text: str, reply: str = "All right.") -> ContextPlan:
    lease = talk.begin(text)
    row = planned(talk, lease)
    talk.finish(lease, reply)
    return row


# Where a branch begins


def test_a_branch_whose_name_is_taken_gets_another_that_is_no_longer_than_names_may_be(talk: Talk) -> None:
    talk.ask("one")
    longest = "n" * LONGEST_NAME
    names = {actions.fork(talk.branch, after=1, actor=talk.session.owner, name=longest).name for _ in range(3)}
    assert len(names) == 3
    assert max(map(len, names)) == LONGEST_NAME


def test_a_fork_shares_the_turns_before_it_and_goes_on_by_itself(talk: Talk) -> None:
    for text in ("one", "two", "three"):
        talk.ask(text)
    other = fork(talk, 2)
    other.ask("another third")
    assert numbers(other) == [(1, "main"), (2, "main"), (3, "From turn 2")]
    assert numbers(talk) == [(1, "main"), (2, "main"), (3, "main")]
    assert (other.branch.head, other.branch.clock) == (3, 3)


def test_a_fork_belongs_to_the_branch_that_owns_its_last_shared_turn(talk: Talk) -> None:
    talk.ask("one")
    first = fork(talk, 1)
    first.ask("two")
    for number in range(3):
        edited = actions.edit_turn(first.branch, 2, text="again", client_id=f"edit-{number}", actor=talk.session.owner)
        assert edited.branch.parent_id == talk.branch_id
    second = fork(first, 2)
    assert [one.branch for one in second.branch.ancestors] == [str(talk.branch_id), str(first.branch_id)]
    assert fork(second, 1).branch.parent_id == fork(second, 0).branch.parent_id == talk.branch_id


def test_efforts_are_as_they_stood_when_the_turn_had_ended(talk: Talk) -> None:
    talk.ask("On the bug.", ("open_effort", {"name": "bug"}))
    talk.ask("More on the bug.")
    talk.ask("Done.", ("close_effort", {}))
    talk.ask("The holidays.", ("open_effort", {"name": "holidays"}))
    other = fork(talk, 2)
    assert (other.active, other.states(), other.labels()) == ("bug", {"bug": "open"}, {1: "bug", 2: "bug"})
    assert talk.states() == {"bug": "concluded", "holidays": "open"}
    actions.close_effort(other.place)
    other.ask("And now?")
    assert talk.labels() == {1: "bug", 2: "bug", 3: "bug", 4: "holidays"}


def test_what_was_changed_between_two_turns_counts_to_the_first(talk: Talk) -> None:
    talk.ask("On the bug.", ("open_effort", {"name": "bug"}))
    actions.rename_effort(talk.place, "bug", "the bug")
    actions.move_turn(talk.place, 1, None)
    talk.ask("More.")
    actions.move_turn(talk.place, 1, "bug")
    assert fork(talk, 1).labels() == {}
    assert fork(talk, 2).labels() == {1: "bug", 2: "bug"}


def test_a_summary_of_just_these_turns_comes_along_and_any_other_is_written_anew(talk: Talk) -> None:
    taxes = talk.concluded("tax return", "The form", "The date")
    talk.concluded("bug", "It crashes.")
    actions.move_turn(talk.place, 1, None)
    talk.ask("Anything else?")
    actions.move_turn(talk.place, 1, taxes)
    same, fewer = fork(talk, 3), fork(talk, 2)
    assert [covered(pointer) for pointer in same.branch.pointers.all()] == [("bug", "In short.", [3])]
    assert {state.effort.slug: state.summary for state in states(same)} == {"bug": "stands", taxes: "due"}
    assert [covered(pointer) for pointer in fewer.branch.pointers.all()] == [(taxes, "In short.", [1, 2])]
    assert fewer.states() == {taxes: "concluded", "bug": "open"}


def covered(pointer: ContextPointer) -> tuple[str, str, list[int]]:
    numbers = pointer.scope.filter(active=True).order_by("turn__number").values_list("turn__number", flat=True)
    return pointer.effort.slug if pointer.effort else "", pointer.text, list(numbers)


def states(talk: Talk) -> Iterator[EffortState]:
    return iter(EffortState.objects.filter(branch=talk.branch_id).select_related("effort"))


def test_only_what_has_ended_is_shared(talk: Talk) -> None:
    talk.ask("one")
    lease = talk.begin("two")
    for after in (2, 3):
        with pytest.raises(Refused) as refused:
            fork(talk, after)
        assert refused.value.code == {2: "unfinished", 3: "unknown_turn"}[after]
    assert fork(talk, 1).branch.head == 1
    talk.finish(lease)
    assert fork(talk, 2).branch.head == 2


def test_a_turn_that_another_branch_shares_is_not_tried_again(talk: Talk) -> None:
    talk.ask("one", ending=FAILED)
    other = fork(talk, 1)
    turn = talk.session.turns.select_related("run", "session").get()
    with pytest.raises(Refused, match="“From turn 1” goes on from this turn"):
        actions.retry_turn(turn, actor=talk.session.owner)
    again = actions.regenerate(other.branch, 1, actor=talk.session.owner)
    assert (again.branch.name, again.messages.get().text) == ("Regenerated turn 1", "one")


# Other words, and the same again


def test_edited_and_sent_it_is_a_sibling_and_sent_twice_one(talk: Talk) -> None:
    talk.ask("one")
    talk.ask("two")
    sent = [
        actions.edit_turn(talk.branch, 2, text="zwei", client_id="edit", actor=talk.session.owner) for _ in range(2)
    ]
    assert sent[0] == sent[1]
    assert [branch.name for branch in talk.session.branches.order_by("created_at")] == ["main", "Edited turn 2"]
    assert list(talk.session.messages.filter(turn__number=2, role="user").values_list("text", flat=True)) == [
        "two",
        "zwei",
    ]


def test_a_refused_edit_leaves_no_branch(talk: Talk) -> None:
    talk.ask("one")
    for text, number, code in ((" ", 1, "empty"), ("two", 2, "unknown_turn")):
        with pytest.raises(Refused) as refused:
            actions.edit_turn(talk.branch, number, text=text, client_id="edit", actor=talk.session.owner)
        assert refused.value.code == code
    assert talk.session.branches.count() == 1


def test_a_turn_that_is_running_or_was_not_sent_is_not_edited(talk: Talk) -> None:
    lease = talk.begin("one")
    waiting = talk.say("two")
    with pytest.raises(Refused, match="Turn 1 has not ended"):
        actions.regenerate(talk.branch, 1, actor=talk.session.owner)
    actions.cancel_turn(waiting, actor=talk.session.owner)
    talk.finish(lease)
    with pytest.raises(Refused, match="Turn 2 was not sent"):
        actions.regenerate(talk.branch, 2, actor=talk.session.owner)


def test_asked_again_it_is_the_same_request_whatever_has_happened_since(talk: Talk) -> None:
    talk.concluded("tax return", "The form")
    actions.open_effort(talk.place, "bug")
    for number in range(4):
        ask(talk, f"On the bug, {number}. " + "word " * 200)
    first = ask(talk, "And now?")
    actions.close_effort(talk.place)
    actions.reopen_effort(talk.place, "tax-return")
    ask(talk, "Something else.")
    again = actions.regenerate(talk.branch, first.run.turn.number, actor=talk.session.owner)
    sibling = Talk(talk.session, again.branch)
    assert planned(sibling, sibling.claim()).request_sha256 == first.request_sha256


# At the same time


@pytest.mark.parametrize("seed", range(4))
def test_two_branches_advanced_at_once_have_the_plans_of_two_advanced_in_turn(alice: User, seed: int) -> None:
    one_after_the_other = advanced(alice, ["first"] * 12 + ["second"] * 12)
    mixed = ["first", "second"] * 12
    Random(seed).shuffle(mixed)
    assert advanced(alice, mixed) == one_after_the_other
    assert len(one_after_the_other) == 8


def advanced(owner: User, order: list[str]) -> dict[tuple[str, int], str]:
    """The request of each turn of two branches, which take their steps in `order`."""
    talk = Talk(
        actions.configure_session(
            actions.create_session(owner), actor=owner, endpoint=None, model="", budget=4_000, ambient_window=10
        )
    )
    talk.concluded("tax return", "The form", "The date")
    for number in range(3):
        ask(talk, f"Shared {number}. " + "word " * 150)
    branches = {name: fork(talk, 4) for name in ("first", "second")}
    steps = {name: steps_of(branch, name) for name, branch in branches.items()}
    for name in order:
        next(steps[name], None)
    hashes = {}
    for row in ContextPlan.objects.filter(branch__parent=talk.branch_id).select_related("branch", "run__turn"):
        name = next(name for name, branch in branches.items() if branch.branch_id == row.branch_id)
        hashes[name, row.run.turn.number] = row.request_sha256
        assert sha256(canonical_json(replay(row))) == row.request_sha256
        assert plan_again(row) == Replanned()
    return hashes


def steps_of(talk: Talk, name: str) -> Iterator[object]:
    for number in range(4):
        if number == 1:
            yield actions.open_effort(talk.place, name)
        lease = talk.begin(f"{name} {number}. " + "word " * 150)
        yield lease
        yield planned(talk, lease)
        talk.finish(lease, "Answer. " + "word " * 150)
        yield lease


# What it costs


def test_the_queries_of_a_call_do_not_grow_with_the_lineage(talk: Talk) -> None:
    Session.objects.filter(pk=talk.session.pk).update(ambient_window=1)
    talk.concluded("tax return", "The form")
    for text in ("one", "two", "three"):
        ask(talk, text)
    counts = []
    for _ in range(6):
        talk = fork(talk, talk.branch.head)
        ask(talk, "The first of its own.")
        with CaptureQueriesContext(connection) as queries:
            ask(talk, "The second.")
        counts.append(len(queries))
    assert len(talk.branch.lineage) == 6
    assert len(set(counts)) == 1


# Names, and out of sight


def test_names_are_unique_and_can_be_changed(talk: Talk) -> None:
    talk.ask("one")
    first, second = fork(talk, 1).branch, fork(talk, 1).branch
    assert (first.name, second.name) == ("From turn 1", "From turn 1 (2)")
    actions.rename_branch(first, name="  The  plan ", actor=talk.session.owner)
    assert Branch.objects.get(pk=first.pk).name == "The plan"
    for name, code in (("The plan", "taken"), (" ", "empty"), ("x" * 101, "too_long"), ("a\x07", "not_text")):
        with pytest.raises(Refused) as refused:
            actions.rename_branch(second, name=name, actor=talk.session.owner)
        assert refused.value.code == code


def test_a_branch_is_put_away_and_comes_back_when_somebody_writes_in_it(talk: Talk) -> None:
    talk.ask("one")
    other = fork(talk, 1)
    actions.archive_branch(other.branch, actor=talk.session.owner)
    assert other.branch.archived_at
    other.ask("two")
    assert other.branch.archived_at is None
    kinds = [event["kind"] for event in talk.events("branch.forked", "branch.archived", "branch.unarchived")]
    assert kinds == ["branch.forked", "branch.archived", "branch.unarchived"]


def test_neither_the_main_branch_nor_one_that_answers_is_put_away(talk: Talk) -> None:
    with pytest.raises(Refused, match="main branch"):
        actions.archive_branch(talk.branch, actor=talk.session.owner)
    other = fork(talk, 0)
    other.begin("one")
    with pytest.raises(Refused, match="is answering"):
        actions.archive_branch(other.branch, actor=talk.session.owner)


@pytest.mark.parametrize(
    ("first", "second", "common"),
    [
        ([("m", 5)], [("m", 3), ("a", 7)], 3),
        ([("m", 3), ("a", 7)], [("m", 3), ("b", 9)], 3),
        ([("m", 3), ("a", 7)], [("m", 3), ("a", 5), ("b", 9)], 5),
        ([("m", 0), ("a", 7)], [("m", 4)], 0),
        ([("m", 2), ("a", 7)], [("m", 4), ("b", 9)], 2),
        ([("m", 3), ("a", 7)], [("m", 3), ("a", 7)], 7),
    ],
)
def test_two_timelines_have_the_turns_in_common_before_they_part(
    first: list[tuple[str, int]], second: list[tuple[str, int]], common: int
) -> None:
    assert last_common_turn(first, second) == last_common_turn(second, first) == common


@pytest.mark.parametrize("parent", [None, UUID(int=3)])
@pytest.mark.parametrize(
    ("name", "args"),
    [("chat", ()), ("turn", (7,)), ("turn_edit", (7_000,)), ("effort_price", ("a-b",)), ("rule", (3, "set"))],
)
def test_an_address_is_the_one_that_leads_there(parent: UUID | None, name: str, args: tuple[object, ...]) -> None:
    branch = Branch(session_id=UUID(int=1), id=UUID(int=2), parent_id=parent)
    where = [branch.session_id, branch.pk] if parent else [branch.session_id]
    assert branch.address(name, *args) == reverse(name, args=[*where, *args])
