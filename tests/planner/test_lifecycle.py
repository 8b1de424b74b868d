"""The states of a run: one table, nothing outside it."""

from __future__ import annotations

import pytest

from efforts.domain.effort.states import (
    CONSTRAINT_MOVES,
    ENTRY_MOVES,
    LIVE_ENTRIES,
    RETRYABLE,
    RUN_LABELS,
    RUN_MOVES,
    UNFINISHED,
    ConstraintState,
    EntryKind,
    EntryState,
    RunState,
)

FINAL = set(RunState) - UNFINISHED


def test_the_table_knows_every_state_and_leads_to_no_other() -> None:
    assert set(RUN_MOVES) == set(RunState) == set(RUN_LABELS)
    assert set().union(*RUN_MOVES.values()) <= set(RunState)


@pytest.mark.parametrize("state", sorted(FINAL - {RunState.COMPLETED}))
def test_a_run_that_has_ended_never_moves_again(state: RunState) -> None:
    assert RUN_MOVES[state] == frozenset()


def test_a_completed_reply_can_only_go_on() -> None:
    assert RUN_MOVES[RunState.COMPLETED] == {RunState.QUEUED}


def test_a_run_begins_waiting_and_reaches_every_other_state() -> None:
    reached = {RunState.QUEUED}
    while more := set().union(*(RUN_MOVES[state] for state in reached)) - reached:
        reached |= more
    assert reached == set(RunState)
    assert [state for state, moves in RUN_MOVES.items() if RunState.QUEUED in moves] == [RunState.COMPLETED]


def test_what_was_cancelled_never_ran() -> None:
    assert {state for state, moves in RUN_MOVES.items() if RunState.CANCELLED in moves} == {RunState.QUEUED}


def test_only_what_ended_otherwise_than_wanted_can_be_tried_again() -> None:
    assert FINAL - {RunState.COMPLETED, RunState.CANCELLED, RunState.NOTED} == RETRYABLE


def test_a_rule_that_was_taken_back_stays_so_and_what_is_in_force_is_no_suggestion_again() -> None:
    assert set(CONSTRAINT_MOVES) == set(ConstraintState)
    assert CONSTRAINT_MOVES[ConstraintState.SUGGESTED] == {ConstraintState.IN_FORCE, ConstraintState.REVOKED}
    assert CONSTRAINT_MOVES[ConstraintState.IN_FORCE] == {ConstraintState.REVOKED}
    assert CONSTRAINT_MOVES[ConstraintState.REVOKED] == frozenset()


@pytest.mark.parametrize("kind", EntryKind)
def test_an_entry_is_proposed_then_confirmed_and_ends_as_its_kind_does(kind: EntryKind) -> None:
    moves = ENTRY_MOVES[kind]
    assert set(moves) == set(EntryState)
    assert moves[EntryState.PROPOSED] == {EntryState.CONFIRMED, EntryState.DISMISSED}
    own = EntryState.SUPERSEDED if kind == EntryKind.DECISION else EntryState.DONE
    assert moves[EntryState.CONFIRMED] == {own, EntryState.DISMISSED}
    again = {state for state in set(EntryState) - LIVE_ENTRIES if moves[state]}
    assert again == (set() if kind == EntryKind.DECISION else {EntryState.DONE})
