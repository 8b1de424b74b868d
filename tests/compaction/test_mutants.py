"""What makes sure that a planted defect is one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compaction.domain.artifact import Section, parse_draft
from compaction.evaluating.cases import read_case
from compaction.evaluating.mutants import KINDS
from compaction.evaluating.mutants.keeping import kept
from compaction.evaluating.mutants.kinds import Good
from compaction.evaluating.mutants.words import (
    affirmed,
    another_figure,
    figures,
    negated,
    replaced,
    share,
    spread,
    stands_alike,
)
from efforts.llm.tokens import get_counter
from tests.compaction.case_files import put, small

count = get_counter().count


@given(st.integers(0, 10**6), st.lists(st.integers(0, 10**4)))
def test_another_figure_is_one_that_the_source_has_nowhere(figure: int, said: list[int]) -> None:
    source = f"{figure} and " + ", ".join(map(str, said))
    new = another_figure(str(figure), source)
    assert new not in source
    assert figures(new) == [new]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("30 s for reads, 60s for writes", ["30", "60"]),
        ("4,500 euros, by the 3rd.", ["4,500", "3"]),
        ("v2, 2024-05-01, a/3, C3.", []),
        ("fifteen", []),
    ],
)
def test_figures_stand_by_themselves(text: str, found: list[str]) -> None:
    assert figures(text) == found


def test_a_figure_is_replaced_as_a_whole() -> None:
    assert replaced("3 of 30, then 3", "3", "7") == "7 of 30, then 7"


@pytest.mark.parametrize(
    ("text", "language", "turned"),
    [
        ("The buffer is limited to 500M.", "en", "The buffer is not limited to 500M."),
        ("Die Anmeldung wird verschoben.", "de", "Die Anmeldung wird nicht verschoben."),
        ("The buffer is not limited.", "en", None),
        ("Ask what is new.", "en", None),
        ("The box is a crate.", "en", None),
        ("Le gîte est pris.", "fr", None),
    ],
)
def test_the_main_clause_is_negated_where_its_verb_is_plain(text: str, language: str, turned: str | None) -> None:
    assert negated(text, language) == turned


@pytest.mark.parametrize(
    ("text", "turned"),
    [
        ("They must not open a port.", "They must open a port."),
        ("Prices are never cached.", "Prices are always cached."),
        ("No drilling, and do not knock.", None),
        ("It is no longer there.", None),
        ("All is well.", None),
    ],
)
def test_the_only_negation_is_left_out(text: str, turned: str | None) -> None:
    assert affirmed(text) == turned


@pytest.mark.parametrize(
    ("text", "quote", "alike"),
    [
        ("test it before the release", "Test everything before the release.", True),
        ("test it before the release", "Before we go: the release is tested.", False),
        ("the jobs have to go", "the old jobs have to be removed", True),
    ],
)
def test_a_word_stands_alike_beside_the_same_word(text: str, quote: str, alike: bool) -> None:
    word = "before" if "before" in text else "have to"
    assert stands_alike(text, quote, word) is alike


@given(st.lists(st.integers()), st.integers(1, 5))
def test_spread_takes_some_evenly_with_the_first(values: list[int], most: int) -> None:
    taken = spread(values, most)
    assert len(taken) == min(len(values), most)
    assert taken[:1] == values[:1]


def test_a_share_of_no_words_is_none() -> None:
    assert share("a b", "a b") == 0


def good(tmp_path: Path, change: Callable[[dict[str, Any]], Any] = lambda file: None) -> Good:
    file = small()
    change(file)
    return Good(read_case(put(file, tmp_path)), count)


def names(good: Good, gate: str) -> set[str]:
    return {kind.name for kind in KINDS if kind.gate == gate and list(kind.of(good))}


def test_an_entry_is_kept_by_the_item_that_says_it(tmp_path: Path) -> None:
    pairs = kept(good(tmp_path), Section.OPEN_WORK)
    assert [(pair.entry.id, pair.item.id) for pair in pairs] == [("w1", "i2")]


def test_where_a_second_item_says_the_same_none_is_left_out(tmp_path: Path) -> None:
    def again(file: dict[str, Any]) -> None:
        items = file["artifact"]["items"]
        items.append(items[0] | {"id": "i4", "text": "A rubber case was taken."})

    twins = good(tmp_path, again)
    assert kept(twins, Section.DECISION) == []
    assert "a decision left out" in names(good(tmp_path), "C")
    assert "a decision left out" not in names(twins, "C")


def test_a_rule_that_two_items_hold_is_not_left_out(tmp_path: Path) -> None:
    def again(file: dict[str, Any]) -> None:
        items = file["artifact"]["items"]
        items.append(items[2] | {"id": "i4", "text": "Never touch the old stock."})

    assert "a rule left out" in names(good(tmp_path), "C")
    assert "a rule left out" not in names(good(tmp_path, again), "C")


def test_nothing_is_revived_where_nothing_was_superseded_rejected_or_done(tmp_path: Path) -> None:
    assert not {name for name in names(good(tmp_path), "D") if "superseded" in name or "rejected proposal" in name}


@pytest.mark.parametrize("gate", "BCDE")
def test_all_but_defects_of_structure_offer_bytes_that_can_be_read(gate: str, tmp_path: Path) -> None:
    offered = [mutant.judged.offered for kind in KINDS if kind.gate == gate for mutant in kind.of(good(tmp_path))]
    assert offered
    for one in offered:
        if one.form == "draft":
            parse_draft(one.text)
