"""What there is to say of a candidate beside its decision: id, priority, when it leaves, what it stands with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given

from efforts.domain.effort.states import HoldScope
from efforts.domain.prompt.candidates import PRIORITIES, id_of, leaves_in, needs_of, priority_of, stays
from efforts.domain.prompt.conversation import EffortLog, Headline, HoldInForce, PastTurn
from efforts.domain.prompt.plan import Item, Plan
from efforts.domain.prompt.planner import plan
from efforts.domain.prompt.shares import CAPS, FLOORS, ORDER, allot
from tests.planner.examples import about, turn
from tests.planner.strategies import Log
from tests.planner.test_layers import DEMANDS, ROOM
from tests.planner.test_recall import passage


def by_id(planned: Plan) -> dict[str, Item]:
    return {id_of(item): item for item in planned.items}


def told(planned: Plan) -> dict[str, str]:
    return {id: text for id, item in by_id(planned).items() if (text := stays(item))}


@given(demands=DEMANDS, room=ROOM)
def test_what_has_the_lower_priority_has_its_room_before_the_higher(demands: Mapping[str, int], room: int) -> None:
    given_out = allot(demands, room)
    for place, key in enumerate(ORDER):
        wanted = demands.get(key, 0)
        for later in ORDER[place + 1 :]:
            assert PRIORITIES[key] < PRIORITIES[later]
            if given_out[later] > int(max(room, 0) * FLOORS[later]):
                assert given_out[key] >= min(wanted, int(room * CAPS[key]))
            if given_out[later] > int(max(room, 0) * CAPS[later]):
                assert given_out[key] == wanted


def test_a_pin_for_good_comes_before_all_layers_and_one_for_a_while_behind_the_logs(log: Log) -> None:
    holds = tuple(
        HoldInForce(id=number, scope=scope, turns=3, turn=turn(log, number))
        for number, scope in ((1, HoldScope.ALWAYS), (2, HoldScope.TURNS))
    )
    found = by_id(plan(about(log, [turn(log, 5)], holds=holds)))
    assert [
        priority_of(found[id]) for id in ("system:System text and tools", "hold:1", "turns:ambient:5-5", "hold:2")
    ] == [
        0,
        PRIORITIES["pin"],
        PRIORITIES["ambient"],
        PRIORITIES["lease"],
    ]
    assert PRIORITIES["pin"] < PRIORITIES["ambient"] < PRIORITIES["lease"] < PRIORITIES["summary"]


def test_it_is_the_same_candidate_while_its_effort_is_concluded_and_expanded(log: Log) -> None:
    turns = (turn(log, 1), turn(log, 2))
    logs = (EffortLog(slug="tax", kind=kind, turns=turns) for kind in ("active", "open", "awaiting", "expanded"))
    assert all("turns:tax:1-2" in by_id(plan(about(log, efforts=(one,)))) for one in logs)


def test_when_each_leaves_by_itself_is_counted_and_said(log: Log) -> None:
    shown: dict[str, Any] = {"text": "Done.", "turns": (1, 2)}
    inputs = about(
        log,
        clock=10,
        efforts=(
            EffortLog(slug="auth", kind="expanded", turns=(turn(log, 3),), leaves_at=12),
            EffortLog(slug="care", kind="awaiting", turns=(turn(log, 6),), leaves_at=12),
            EffortLog(slug="logo", kind="active", turns=(turn(log, 9),)),
        ),
        headlines=(
            Headline(pointer=1, slug="tax", leaves_at=11, **shown),
            Headline(pointer=2, slug="old", leaves_at=7, **shown),
            Headline(pointer=3, slug="held", **shown),
            Headline(pointer=4, slug="turns-1-2", chosen=True, body="Done.\nDecisions:\n- x", leaves_at=30, **shown),
        ),
        holds=(
            HoldInForce(id=1, scope=HoldScope.TURNS, turns=3, turn=turn(log, 4), leaves_at=13),
            HoldInForce(id=2, scope=HoldScope.UNREFERENCED, turns=3, turn=turn(log, 5), leaves_at=11),
        ),
    )
    assert told(plan(inputs)) == {
        "turns:auth:3-3": "Collapses in 2 turns unless mentioned.",
        "turns:care:6-6": "Gives way to excerpts in 2 turns unless mentioned.",
        "summary:tax": "Drops out in 1 turn unless mentioned.",
        "summary:old": "Drops out when you next switch efforts, unless mentioned.",
        "body:turns-1-2": "Becomes one line in 20 turns unless mentioned.",
        "hold:1": "The pin ends in 3 turns.",
        "hold:2": "The pin ends in 1 turn unless it is mentioned.",
    }
    # A plan from before this was told counts none, and is made again the same.
    before = replace(
        inputs,
        efforts=tuple(replace(one, leaves_at=None) for one in inputs.efforts),
        headlines=tuple(replace(one, leaves_at=None) for one in inputs.headlines),
        holds=tuple(replace(one, leaves_at=None) for one in inputs.holds),
    )
    assert told(plan(before)) == {}
    assert not any("leaves_in" in item.values for item in plan(before).items)
    assert plan(before).request_sha256 == plan(inputs).request_sha256


def test_what_is_out_ages_too_and_says_so_to_programs_alone(log: Log) -> None:
    crowd = tuple(
        Headline(pointer=n, slug=f"effort-{n}", text="word " * 60, turns=(1, 2), leaves_at=n) for n in range(1, 41)
    )
    out = [item for item in plan(about(log, budget=4_000, headlines=crowd, clock=1)).items if not item.included]
    assert [leaves_in(item) for item in out] == [number - 1 for number in range(1, len(out) + 1)]
    assert out
    assert not any(map(stays, out))


def test_what_was_recalled_for_turns_stands_with_them_and_tools_with_the_message(log: Log) -> None:
    kiel = turn(log, 1, "We sail from Kiel.")
    later = PastTurn(number=8, state=kiel.state, messages=turn(log, 8).messages, recalled=(passage(kiel),))
    asked = about(log, [turn(log, 7), later])
    planned = plan(replace(asked, current=replace(asked.current, episodes=tuple(log.episode("", ["found"])))))
    needs = {id_of(item): needs_of(item, planned.items) for item in planned.items}
    assert {id: ids for id, ids in needs.items() if ids} == {
        "recalled_before:ambient:Recalled for turn 8": ("turns:ambient:7-8",),
        "turn:Tools used in this turn": ("turn:Your message",),
    }


@pytest.mark.parametrize("section", ["system", "turn"])
def test_what_is_always_sent_is_never_weighed(log: Log, section: str) -> None:
    assert {priority_of(item) for item in plan(about(log)).items if item.section == section} == {0}
