"""Every change can be taken back while nothing else has happened to its effort; the log keeps both."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import pytest

from efforts import actions
from efforts.actions.places import Place
from efforts.context.courses import course_at, course_now
from efforts.domain.errors import Refused
from efforts.models import Branch, ContextPointer, EffortState, PointerTurn
from tests.efforts.talk import Talk

# The function of the same name hides it.
undo_module = import_module("efforts.actions.undo")


def last(talk: Talk, kind: str) -> int:
    return int(talk.events(kind)[-1]["seq"])


def undo(talk: Talk, kind: str) -> None:
    """The last change of this kind, by the person."""
    actions.undo(talk.place, last(talk, kind))


def test_an_opening_taken_back_leaves_the_turns_to_the_effort_before(talk: Talk) -> None:
    actions.open_effort(talk.place, "Vacation")
    talk.ask("Let's find the bug.", ("open_effort", {"name": "Bug"}))
    talk.ask("It is in the parser.")
    assert talk.labels() == {1: "bug", 2: "bug"}
    undo(talk, "effort.opened")
    assert talk.states() == {"vacation": "open"}
    assert talk.active == "vacation"
    assert talk.labels() == {1: "vacation", 2: "vacation"}
    assert talk.state("vacation").turns == 2
    event = talk.events("effort.undone")[-1]
    assert (event["of"], event["undone"], event["effort"]) == (last(talk, "effort.opened"), "effort.opened", "bug")


def test_where_none_was_active_before_an_opening_its_turns_become_ambient(talk: Talk) -> None:
    talk.ask("Let's find the bug.", ("open_effort", {"name": "Bug"}))
    undo(talk, "effort.opened")
    assert (talk.states(), talk.labels(), talk.active) == ({}, {}, None)


def test_an_effort_opened_again_after_undo_has_its_id_again(talk: Talk) -> None:
    actions.open_effort(talk.place, "Bug")
    undo(talk, "effort.opened")
    assert actions.open_effort(talk.place, "BUG").effort.slug == "bug"
    assert talk.state("bug").effort.name == "BUG"


def test_an_opening_is_not_taken_back_once_a_turn_was_moved_into_the_effort(talk: Talk) -> None:
    talk.ask("Hello.")
    actions.open_effort(talk.place, "Bug")
    actions.move_turn(talk.place, 1, "bug")
    with pytest.raises(Refused, match=r"More has happened to bug since\. Use its controls\."):
        undo(talk, "effort.opened")
    assert talk.states() == {"bug": "open"}


def test_a_conclusion_taken_back_leaves_the_effort_open_and_active(talk: Talk) -> None:
    talk.concluded("Bug")
    undo(talk, "effort.concluded")
    state = talk.state("bug")
    assert (state.status, state.summary, state.concluded_turn, state.via) == ("open", "none", None, "")
    assert talk.active == "bug"
    assert ContextPointer.objects.get().state == "invalidated"
    assert not PointerTurn.objects.filter(active=True).exists()


def test_taking_a_conclusion_back_does_not_call_the_person_back_from_elsewhere(talk: Talk) -> None:
    talk.concluded("Bug")
    actions.open_effort(talk.place, "Vacation")
    undo(talk, "effort.concluded")
    assert talk.states() == {"bug": "open", "vacation": "open"}
    assert talk.active == "vacation"


def test_a_turn_that_only_concluded_another_effort_goes_back_with_the_conclusion(talk: Talk) -> None:
    actions.open_effort(talk.place, "Bug")
    actions.open_effort(talk.place, "Vacation")
    talk.ask("The bug is fixed.", ("close_effort", {"id": "bug"}))
    assert talk.labels() == {1: "bug"}
    undo(talk, "effort.concluded")
    assert talk.labels() == {1: "vacation"}


def test_a_reopening_taken_back_before_a_turn_was_added_restores_the_summary(talk: Talk) -> None:
    talk.concluded("Bug")
    actions.open_effort(talk.place, "Vacation")
    actions.reopen_effort(talk.place, "bug")
    undo(talk, "effort.reopened")
    state = talk.state("bug")
    assert (state.status, state.summary, state.concluded_turn, state.via) == ("concluded", "stands", 1, "control")
    assert talk.active == "vacation"
    assert ContextPointer.objects.get().state == "active"
    assert PointerTurn.objects.get().active


def test_a_reopening_by_the_model_taken_back_restores_the_summary_too(talk: Talk) -> None:
    talk.concluded("Bug")
    talk.ask("Look at the bug again.", ("reopen_effort", {"id": "bug"}))
    assert talk.labels() == {1: "bug", 2: "bug"}
    undo(talk, "effort.reopened")
    assert talk.labels() == {1: "bug"}
    assert talk.active is None
    assert talk.state("bug").summary == "stands"


def test_a_reopening_taken_back_after_a_turn_has_the_effort_summarised_anew(talk: Talk) -> None:
    talk.concluded("Bug")
    actions.reopen_effort(talk.place, "bug")
    talk.ask("There is more to it.")
    undo(talk, "effort.reopened")
    assert (talk.state("bug").status, talk.state("bug").summary) == ("concluded", "due")
    assert ContextPointer.objects.get().state == "invalidated"
    assert talk.labels() == {1: "bug", 2: "bug"}


def test_a_reopening_taken_back_while_a_turn_runs_in_the_effort_has_it_summarised_anew(talk: Talk) -> None:
    talk.concluded("Bug")
    actions.reopen_effort(talk.place, "bug")
    lease = talk.begin("There is more to it.")
    undo(talk, "effort.reopened")
    talk.finish(lease)
    assert talk.state("bug").summary == "due"
    assert talk.state("bug").turns == 2


def test_an_opening_taken_back_while_its_turn_runs_leaves_the_turn_to_the_effort_before(talk: Talk) -> None:
    actions.open_effort(talk.place, "Bug")
    lease = talk.begin("Now the vacation.")
    talk.call(lease, "open_effort", name="Vacation")
    assert talk.labels() == {1: "vacation"}
    undo(talk, "effort.opened")
    assert (talk.active, talk.labels()) == ("bug", {1: "bug"})
    talk.finish(lease)
    assert talk.labels() == {1: "bug"}


def test_a_switch_taken_back_returns_to_the_effort_before(talk: Talk) -> None:
    actions.open_effort(talk.place, "Bug")
    actions.open_effort(talk.place, "Vacation")
    talk.ask("Back to the bug.", ("switch_effort", {"id": "bug"}))
    assert talk.labels() == {1: "bug"}
    undo(talk, "effort.switched")
    assert talk.active == course_now(talk.branch)[0].active == "vacation"
    assert talk.labels() == {1: "vacation"}


def test_a_switch_is_not_taken_back_to_an_effort_that_was_concluded(talk: Talk) -> None:
    actions.open_effort(talk.place, "Bug")
    actions.open_effort(talk.place, "Vacation")
    actions.switch_effort(talk.place, "bug")
    actions.close_effort(talk.place, "vacation")
    with pytest.raises(Refused, match="has changed since"):
        undo(talk, "effort.switched")
    assert talk.active == "bug"


def test_an_expansion_and_a_collapse_take_each_other_back(talk: Talk) -> None:
    talk.concluded("Bug")
    actions.expand_effort(talk.place, "bug")
    undo(talk, "effort.expanded")
    assert talk.state("bug").expanded_turn is None
    actions.expand_effort(talk.place, "bug")
    actions.new_work_session(talk.place)
    undo(talk, "effort.collapsed")
    assert talk.state("bug").expanded_turn == 1


def test_a_collapse_is_not_taken_back_where_there_is_no_room_any_more(talk: Talk) -> None:
    talk.concluded("Bug", "word " * 3_000)
    actions.expand_effort(talk.place, "bug")
    actions.collapse_effort(talk.place, "bug")
    talk.session.budget = 4_000
    talk.session.save()
    with pytest.raises(Refused, match="tokens,"):
        undo(talk, "effort.collapsed")
    assert talk.state("bug").expanded_turn is None


def test_a_moved_turn_goes_back(talk: Talk) -> None:
    actions.open_effort(talk.place, "Bug")
    talk.ask("Hello.")
    actions.move_turn(talk.place, 1, None)
    undo(talk, "turn.moved")
    assert talk.labels() == {1: "bug"}
    assert talk.state("bug").turns == 1


def test_of_two_moves_only_the_last_is_taken_back_first(talk: Talk) -> None:
    actions.open_effort(talk.place, "Bug")
    talk.ask("Hello.")
    actions.move_turn(talk.place, 1, None)
    first = last(talk, "turn.moved")
    actions.move_turn(talk.place, 1, "bug")
    with pytest.raises(Refused, match="More has happened"):
        actions.undo(talk.place, first)
    undo(talk, "turn.moved")
    actions.undo(talk.place, first)
    assert talk.labels() == {1: "bug"}


def test_nothing_is_taken_back_twice(talk: Talk) -> None:
    talk.concluded("Bug")
    undo(talk, "effort.concluded")
    with pytest.raises(Refused, match="was taken back already"):
        undo(talk, "effort.concluded")


def test_what_was_done_since_and_taken_back_is_no_hindrance(talk: Talk) -> None:
    actions.open_effort(talk.place, "Bug")
    actions.close_effort(talk.place)
    undo(talk, "effort.concluded")
    undo(talk, "effort.opened")
    assert talk.states() == {}


def test_a_conclusion_is_not_taken_back_after_its_effort_was_expanded(talk: Talk) -> None:
    talk.concluded("Bug")
    actions.expand_effort(talk.place, "bug")
    with pytest.raises(Refused, match="More has happened to bug since"):
        undo(talk, "effort.concluded")
    assert talk.states() == {"bug": "concluded"}


@pytest.mark.parametrize("kind", ["effort.undone", "effort.renamed", "session.created"])
def test_some_changes_have_no_undo(talk: Talk, kind: str) -> None:
    actions.open_effort(talk.place, "Bug")
    actions.rename_effort(talk.place, "bug", "Parser bug")
    actions.close_effort(talk.place)
    undo(talk, "effort.concluded")
    with pytest.raises(Refused):
        undo(talk, kind)


def test_an_unknown_change_is_refused(talk: Talk) -> None:
    with pytest.raises(Refused, match="no such change"):
        actions.undo(talk.place, 99)


def test_taking_back_a_change_of_effort_is_one(talk: Talk) -> None:
    actions.open_effort(talk.place, "Vacation")
    actions.open_effort(talk.place, "Bug")
    steps: list[tuple[str, Any]] = [
        ("effort.switched", lambda: actions.switch_effort(talk.place, "vacation")),
        ("effort.concluded", lambda: actions.close_effort(talk.place, "bug")),
        ("effort.opened", lambda: actions.open_effort(talk.place, "Third")),
    ]
    for kind, change in steps:
        change()
        before = talk.branch.effort_epoch
        undo(talk, kind)
        assert talk.branch.effort_epoch == before + 1


def test_the_other_efforts_are_untouched(talk: Talk) -> None:
    talk.concluded("Vacation")
    talk.concluded("Bug")
    before = EffortState.objects.get(effort__slug="vacation")
    undo(talk, "effort.concluded")
    after = EffortState.objects.get(effort__slug="vacation")
    assert (after.status, after.turns, after.summary) == (before.status, before.turns, "stands")


def test_what_happens_while_an_undo_waits_for_its_turn_is_not_forgotten(
    talk: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The log is read before the branch is locked, and what came since once it is."""
    actions.open_effort(talk.place, "Vacation")
    talk.ask("Let's find the bug.", ("open_effort", {"name": "Bug"}))
    waits = undo_module.changing

    @contextmanager
    def meanwhile(place: Place) -> Iterator[Branch]:
        monkeypatch.setattr(undo_module, "changing", waits)
        actions.open_effort(talk.place, "Taxes")
        with waits(place) as branch:
            yield branch

    monkeypatch.setattr(undo_module, "changing", meanwhile)
    undo(talk, "effort.opened")
    assert talk.states() == {"vacation": "open", "taxes": "open"}
    assert (talk.active, talk.labels()) == ("taxes", {1: "vacation"})
    course, _ = course_now(talk.branch)
    assert (course.active, set(course.efforts)) == ("taxes", {"vacation", "taxes"})


def test_a_log_that_was_read_is_read_on_from_there(talk: Talk) -> None:
    actions.open_effort(talk.place, "Vacation")
    talk.ask("Hello.")
    before = course_now(talk.branch)
    told = set(before[0].told)
    talk.ask("Let's find the bug.", ("open_effort", {"name": "Bug"}))
    course, last = course_now(talk.branch, before)
    assert (course, last) == course_now(talk.branch)
    assert told < set(course.told)


def test_a_log_that_was_read_too_far_is_read_anew(talk: Talk) -> None:
    """As by somebody who branches off while the next turn begins."""
    talk.ask("Let's find the bug.", ("open_effort", {"name": "Bug"}))
    talk.ask("It is in the parser.")
    too_far = course_now(talk.branch)
    assert course_at(talk.branch, 1, too_far) == course_at(talk.branch, 1)
    assert course_at(talk.branch, 1)[0].labels.keys() == {1}
