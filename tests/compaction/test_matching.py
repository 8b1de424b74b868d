"""Pairs, as good as can be."""

from __future__ import annotations

from itertools import permutations

from hypothesis import given
from hypothesis import strategies as st

from compaction.domain.matching import best_pairs

ROWS, COLUMNS = ("r1", "r2", "r3", "r4"), ("c1", "c2", "c3", "c4")
WEIGHTS = st.dictionaries(
    st.tuples(st.sampled_from(ROWS), st.sampled_from(COLUMNS)), st.integers(min_value=1, max_value=9), max_size=12
)
Weights = dict[tuple[str, str], int]


def worth(pairs: dict[str, str], weights: Weights) -> tuple[int, int]:
    return len(pairs), sum(weights[pair] for pair in pairs.items())


def best_of_all(weights: Weights) -> tuple[int, int]:
    ways = (dict(zip(ROWS, way, strict=True)) for way in permutations(COLUMNS))
    kept = ({row: column for row, column in way.items() if (row, column) in weights} for way in ways)
    return max(worth(pairs, weights) for pairs in kept)


@given(WEIGHTS)
def test_no_other_way_to_pair_is_better(weights: Weights) -> None:
    assert worth(best_pairs(weights), weights) == best_of_all(weights)


@given(WEIGHTS)
def test_each_is_paired_at_most_once_and_only_where_it_may(weights: Weights) -> None:
    pairs = best_pairs(weights)
    assert len(set(pairs.values())) == len(pairs)
    assert set(pairs.items()) <= set(weights)


@given(WEIGHTS, st.randoms(use_true_random=False))
def test_the_order_in_which_they_come_changes_nothing(weights: Weights, random: object) -> None:
    shuffled = list(weights.items())
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert best_pairs(dict(shuffled)) == best_pairs(weights)


def test_more_pairs_are_better_than_one_good_one() -> None:
    assert best_pairs({("a", "x"): 900, ("a", "y"): 1, ("b", "x"): 1}) == {"a": "y", "b": "x"}


def test_nothing_is_paired_with_nothing() -> None:
    assert best_pairs({}) == {}
