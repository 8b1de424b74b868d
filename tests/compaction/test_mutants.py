"""What makes sure that a planted defect is one."""

from __future__ import annotations

import json
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
    follows_alike,
    negated,
    repeats,
    replaced,
    says_enough,
    sentences,
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


@pytest.mark.parametrize(
    ("text", "quote", "alike"),
    [
        ("Test it before the release.", "Run the tests before release, please.", True),
        ("The guide comes after the consent form.", "The form first. The guide after that.", False),
        ("It stays open until then.", "The list stays open until then.", False),
    ],
)
def test_an_order_is_of_the_same_where_the_same_follows_and_is_named(text: str, quote: str, alike: bool) -> None:
    word = next(word for word in ("before", "after", "until") if word in text)
    assert follows_alike(text, quote, word) is alike


@pytest.mark.parametrize(
    ("text", "before", "enough"),
    [
        ("Plan A is out, they want it.", "Plan A is out, they don't want it.", False),
        ("A customer counts as lost with an order.", "A customer counts as lost without an order.", True),
    ],
)
def test_what_is_turned_has_words_of_its_own(text: str, before: str, enough: bool) -> None:
    assert says_enough(text, before) is enough


def test_a_claim_repeats_a_sentence_when_each_has_most_words_of_the_other() -> None:
    first, second = sentences("We print the pay: 31,500 gross. The board meets next Tuesday.")
    assert repeats("The pay is printed: 31,500 gross.", first)
    assert not repeats("The pay is printed: 31,500 gross.", second)
    assert not repeats("Tuesday.", second)


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


def offered_items(good: Good, name: str) -> list[Any]:
    kind = next(kind for kind in KINDS if kind.name == name)
    return [json.loads(mutant.judged.offered.text)["items"] for mutant in kind.of(good)]


def test_who_only_quotes_is_wrong_about_an_entry_where_he_offers_it_as_that_entry(tmp_path: Path) -> None:
    def phrased(file: dict[str, Any]) -> None:
        work = file["artifact"]["items"][1]
        work["text"] = "It is Jo who orders 40, by Friday."

    [told], [quoted] = (
        [items[1]["ledger"] for items in offered_items(one, "open work told as done")]
        for one in (good(tmp_path, phrased), good(tmp_path))
    )
    assert (told, quoted) == (None, "w1")


def test_a_decision_that_is_told_as_a_rule_is_kept(tmp_path: Path) -> None:
    def ruled(file: dict[str, Any]) -> None:
        file["artifact"]["items"][0] |= {"section": "constraint", "status": "in_force"}

    assert [pair.item.id for pair in kept(good(tmp_path, ruled), Section.DECISION)] == ["i1"]


@pytest.mark.parametrize("gate", "BCDE")
def test_all_but_defects_of_structure_offer_bytes_that_can_be_read(gate: str, tmp_path: Path) -> None:
    offered = [mutant.judged.offered for kind in KINDS if kind.gate == gate for mutant in kind.of(good(tmp_path))]
    assert offered
    for one in offered:
        if one.form == "draft":
            parse_draft(one.text)
