"""A conversation that grows, each call with the layout that the one before it left: the prompt grows at its end."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from efforts.context.prompts import system_text
from efforts.domain.effort.states import RunState
from efforts.domain.prompt.budget import Budget
from efforts.domain.prompt.conversation import CurrentTurn, Headline, OlderTurns, PastTurn
from efforts.domain.prompt.layers import layers_of
from efforts.domain.prompt.plan import Layout, Plan, PlanInputs
from efforts.domain.prompt.planner import plan
from efforts.domain.prompt.reasons import Reason
from efforts.domain.prompt.toolbox import TOOLS
from tests.planner.invariants import items_of, kept_of, kept_turns
from tests.planner.strategies import Log, four_letters, histories, read_past
from tests.planner.test_every_plan import RANDOM, plan_or_refusal

TURNS = 60
PUSHED_OUT = (Reason.OVER_BUDGET, Reason.EFFORT_OVER_BUDGET, Reason.BEFORE_FIRST_KEPT)


def talk(
    sizes: list[tuple[int, int]], *, window: int = 10, budget: int = 4_000, prefer_cache: bool = False
) -> Iterator[tuple[PlanInputs, Plan]]:
    """Turns of so many words asked and answered, one call each."""
    log, layout = Log(count=four_letters), Layout()
    turns: list[PastTurn] = []
    for number, (asked, answered) in enumerate(sizes, 1):
        user = log.said("user", "word " * asked)
        past, older = read_past(turns, window)
        inputs = PlanInputs(
            budget=Budget(setting=budget),
            params={"model": "any"},
            system_text=system_text(),
            tools=TOOLS,
            past=past,
            older=older,
            current=CurrentTurn(number=number, user=user),
            ambient_window=window,
            layout=layout,
            count=four_letters,
            prefer_cache=prefer_cache,
        )
        planned = plan(inputs)
        yield inputs, planned
        layout = planned.layout
        reply = log.said("assistant", "word " * answered)
        turns.append(PastTurn(number=number, state=RunState.COMPLETED, messages=(user, reply)))


def after(inputs: PlanInputs, planned: Plan, *, budget: int | None = None) -> PlanInputs:
    """The turn was answered, and the person says something short."""
    log = Log(count=inputs.count)
    log.ids = iter(range(100_000, 100_010))
    said = (inputs.current.user, *inputs.current.episodes, log.said("assistant", "All right."))
    done = PastTurn(number=inputs.current.number, state=RunState.COMPLETED, messages=said, recalled=planned.stays)
    active = any(effort.kind == "active" for effort in inputs.efforts)
    past, older = read_past([*inputs.past, *([] if active else [done])], inputs.ambient_window, inputs.older)
    return replace(
        inputs,
        past=past,
        older=older,
        efforts=tuple(
            replace(effort, turns=(*effort.turns, done)) if effort.kind == "active" else effort
            for effort in inputs.efforts
        ),
        current=CurrentTurn(number=done.number + 1, user=log.said("user", "Go on.")),
        layout=planned.layout,
        recalled=(),
        budget=replace(inputs.budget, setting=budget, window=None) if budget else inputs.budget,
    )


def first_shown(inputs: PlanInputs, planned: Plan) -> int:
    kept = kept_turns(inputs, planned)
    return kept[0].number if kept else inputs.current.number


def moved_by_the_budget(calls: list[tuple[PlanInputs, Plan]]) -> int:
    """Calls whose ambient layer begins elsewhere than before, and not where the window begins."""
    firsts = [first_shown(*call) for call in calls]
    windows = [inputs.past[0].number if inputs.past else 1 for inputs, _ in calls]
    return sum(
        first != before and first > window
        for (before, first), window in zip(pairwise(firsts), windows[1:], strict=True)
    )


def chatter(seed: int, mean: int) -> list[tuple[int, int]]:
    """Short questions and middling answers, one in ten of them long."""
    random = Random(seed)
    return [
        (1 + int(random.expovariate(5 / mean)), 1 + int(random.expovariate(1 / mean) * random.choice((1,) * 9 + (5,))))
        for _ in range(TURNS)
    ]


@pytest.mark.parametrize(("mean", "most"), [(200, 0.2), (350, 0.25), (700, 0.35)])
def test_at_the_smallest_budget_the_beginning_seldom_moves(mean: int, most: float) -> None:
    # Seen: .33 of all calls at most, with 1,700 of the 4,000 tokens in system text, tools and the notes of each turn.
    talks = [list(talk(chatter(seed, mean))) for seed in range(10)]
    moved = sum(map(moved_by_the_budget, talks))
    assert moved / (TURNS * len(talks)) < most


@given(sizes=st.lists(st.tuples(st.integers(1, 1_800), st.integers(1, 6_000)), min_size=TURNS, max_size=TURNS))
@settings(RANDOM, max_examples=15)
def test_no_call_of_a_growing_conversation_exceeds_its_budget(sizes: list[tuple[int, int]]) -> None:
    assert all(planned.tokens <= inputs.budget.effective for inputs, planned in talk(sizes))


@given(inputs=histories())
@settings(RANDOM, max_examples=60)
def test_what_the_budget_pushed_out_stays_out_while_it_is_the_same(inputs: PlanInputs) -> None:
    planned = plan_or_refusal(inputs)
    if not isinstance(planned, Plan):
        return
    following = after(inputs, planned)
    again = plan(following)
    for layer in layers_of(following):
        out = [item.turns for item in items_of(layer, planned) if item.turns and item.reason in PUSHED_OUT]
        shown = {turn.number for turn in kept_of(layer, again)}
        back = {number for first, last in out for number in range(first, last + 1)} & shown
        assert not back, layer.key


@given(inputs=histories(windows=st.just(40), cuts=False))
@settings(RANDOM, max_examples=60)
def test_the_request_before_is_a_prefix_of_the_next_while_nothing_slid_and_nothing_was_cut(inputs: PlanInputs) -> None:
    planned = plan_or_refusal(inputs)
    if not isinstance(planned, Plan) or not kept_turns(inputs, planned) or grows_in_its_middle(inputs):
        return
    following = after(inputs, planned)
    again = plan(following)
    before = planned.request["messages"]
    # What is told of now stands in this turn, and leaves with it.
    before = before[: -1 - len(inputs.current.episodes)]
    if stands(following, again) == stands(inputs, planned):
        assert again.request["messages"][: len(before)] == before


def test_whole_summaries_stand_in_the_order_of_their_headlines_from_the_first_call_on() -> None:
    *_, (inputs, _) = talk([(20, 100)] * 3, budget=16_000)
    of_old, of_late = (
        Headline(pointer=pointer, slug=slug, chosen=True, turns=turns, text="Agreed.", body=f"In short {pointer}.")
        for pointer, slug, turns in ((41, "turns-1-1", (1, 1)), (51, "turns-2-2", (2, 2)))
    )
    # The older one had been removed under another budget: its headline comes back, and last.
    inputs = replace(inputs, headlines=(of_old, of_late), layout=Layout(base="another", dropped=(41,)))
    planned = plan(inputs)
    again = plan(after(inputs, planned))
    assert planned.layout.headlines == (51, 41)
    assert bodies_of(planned) == bodies_of(again) == ["In short 51.", "In short 41."]


def bodies_of(planned: Plan) -> list[str]:
    sent = "".join(str(message.get("content", "")) for message in planned.request["messages"])
    return re.findall(r"In short \d+\.", sent)


def grows_in_its_middle(inputs: PlanInputs) -> bool:
    """A turn of no effort is said while efforts are shown, which stand after all such turns."""
    return bool(inputs.efforts) and not any(effort.kind == "active" for effort in inputs.efforts)


def stands(inputs: PlanInputs, planned: Plan) -> object:
    """Where each layer begins, what is cut, listed, whole or pinned, and for which turns something is quoted."""
    layers = {layer.key: [turn.number for turn in kept_of(layer, planned)][:1] for layer in layers_of(inputs)}
    pins = [(item.title, item.reason) for item in planned.items if item.section == "pin" and item.included]
    whole = [item.title for item in planned.items if item.included and item.section == "body"]
    blocks = {number for entry in planned.recipe for number in entry.get("recalled", {})}
    asked = {str(inputs.current.number)} if planned.recalled else set()
    return layers, cuts(planned), planned.layout.headlines, whole, pins, blocks | asked


def cuts(planned: Plan) -> set[str]:
    return {id for entry in planned.recipe for id in entry.get("cuts", {})}


def test_a_conversation_that_fits_only_ever_grows_at_its_end() -> None:
    requests = [planned.request["messages"] for _, planned in talk([(20, 100)] * 9)]
    for (*before, last), following in pairwise(requests[1:]):
        assert following[: len(before)] == before
        mark, _, _ = last["content"].partition("[Notes for this turn")
        assert following[len(before)]["content"].startswith(mark)


def test_a_higher_budget_brings_back_what_a_smaller_one_pushed_out() -> None:
    *_, (inputs, planned) = talk([(20, 400)] * 11)
    assert len(kept_turns(inputs, planned)) < 10
    assert Reason.BEFORE_FIRST_KEPT in {item.reason for item in planned.items}
    following = after(inputs, planned, budget=16_000)
    assert kept_turns(following, plan(following)) == list(following.past)
    assert planned.layout.under(following.base) == Layout(base=following.base)


def test_a_message_that_was_cut_stays_cut_and_a_higher_budget_shows_it_whole() -> None:
    *_, (inputs, planned) = talk([(20, 1_500), (20, 1_500), (20, 100), (20, 100)])
    assert cuts(planned) == {"2", "4"}
    small = replace(after(inputs, planned), past=inputs.past[1:], older=OlderTurns(last=1, tokens=inputs.past[0].cost))
    assert cuts(plan(small)) == {"4"}
    assert cuts(plan(after(inputs, planned, budget=16_000))) == set()


def test_a_cut_frees_headroom_so_that_the_next_turns_need_none() -> None:
    calls = list(talk([(20, 420)] * 30, window=20))
    firsts = [first_shown(*call) for call in calls]
    steps = [following - before for before, following in pairwise(firsts)]
    assert max(steps) >= 2
    assert steps.count(0) > len(steps) / 2


def test_where_the_cache_is_preferred_a_full_window_loses_a_block_and_grows_again() -> None:
    shown = [len(kept_turns(*call)) for call in talk([(5, 20)] * 24, budget=16_000, prefer_cache=True)]
    assert shown == [*range(11), 6, 7, 8, 9, 10, 6, 7, 8, 9, 10, 6, 7, 8]


def test_a_block_that_left_says_so_and_a_change_of_effort_brings_nothing_back() -> None:
    *_, (inputs, planned) = talk([(5, 20)] * 13, budget=16_000, prefer_cache=True)
    [out] = [item for item in planned.items if item.reason == Reason.WINDOW_IN_BLOCKS]
    assert out.turns == (3, 5)
    assert "Prefer the cache" in out.remedy
    following = replace(after(inputs, planned), epoch=inputs.epoch + 1)
    assert first_shown(following, plan(following)) == first_shown(inputs, planned) == 6


def test_without_it_the_window_slides_and_the_layout_keeps_no_block() -> None:
    *_, (inputs, planned) = talk([(5, 20)] * 13, budget=16_000)
    assert len(kept_turns(inputs, planned)) == 10
    assert "block" not in planned.layout.to_json()
    *_, (inputs, planned) = talk([(5, 20)] * 13, budget=16_000, prefer_cache=True)
    assert Layout.from_json(planned.layout.to_json()) == planned.layout
    assert planned.layout.block == 6


def test_a_window_of_one_turn_keeps_one() -> None:
    calls = talk([(5, 20)] * 5, window=1, budget=16_000, prefer_cache=True)
    assert [len(kept_turns(*call)) for call in calls] == [0, 1, 1, 1, 1]
