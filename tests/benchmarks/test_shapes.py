"""Conversations of which only the shape is known."""

from __future__ import annotations

import pytest

from benchmarks.replay import SHAPES, recomputed, shape_talk
from efforts.llm.tokens import get_counter


def test_there_are_807_turns_in_43_efforts() -> None:
    table = [phase for phases in SHAPES.values() for phase in phases]
    assert (len(table), sum(phase.turns for phase in table)) == (43, 807)


@pytest.mark.parametrize("name", SHAPES)
def test_the_made_up_texts_have_the_tokens_of_the_table(name: str) -> None:
    count, talk = get_counter().count, shape_talk(name)
    said = [sum(count(one.text) for turn in turns for one in (turn.user, *turn.replies)) for turns in talk.sessions]
    assert said == [phase.raw for phase in SHAPES[name]]
    assert [len(turns) for turns in talk.sessions] == [phase.turns for phase in SHAPES[name]]
    assert [count(summary) for summary in talk.summaries] == [phase.summary for phase in SHAPES[name]]


@pytest.mark.parametrize(
    ("name", "peak", "mean", "saved"),
    [("A", 52_135, 11_336, 0.816), ("B", 34_633, 10_699, 0.901), ("C", 10_009, 4_073, 0.853)],
)
def test_what_the_open_phase_adds_is_recomputed_from_the_table(name: str, peak: int, mean: int, saved: float) -> None:
    found = recomputed(name)
    assert (found["peak"], found["mean"], found["saved"]) == (peak, mean, saved)
