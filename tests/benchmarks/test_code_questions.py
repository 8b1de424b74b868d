"""Questions that a package's own pages make, and what counts as a card that an answer used."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.code_questions import Question, documented
from benchmarks.code_turns import counted

PAGE = """
.. class:: Basket(owner)

   Keeps what a customer wants to buy until the whole order is paid for and shipped.

   .. method:: empty()

      .. versionadded:: 2.0

      Takes out everything, so that :meth:`~Basket.fill` begins with nothing again tomorrow morning.

.. function:: rate(currency)

Says how much of a foreign ``currency`` one gets for an euro on a given working day.

.. function:: twice()

Does the same thing two times in a row, one after the other, without waiting for anybody.
"""
SYMBOLS = {"a.Basket": "a.py", "a.Basket.empty": "a.py", "a.rate": "a.py", "a.twice": "a.py", "b.twice": "b.py"}


def test_pages_ask_for_the_symbols_that_they_name_without_their_names(tmp_path: Path) -> None:
    (tmp_path / "basket.txt").write_text(PAGE)
    asked = {one.qualified: one.text for one in documented(tmp_path, SYMBOLS, 9)}
    # Of two of one name none is asked for.
    assert asked == {
        "a.Basket": "Keeps what a customer wants to buy until the whole order is paid for and shipped.",
        "a.Basket.empty": "Takes out everything, so that fill begins with nothing again tomorrow morning.",
        "a.rate": "Says how much of a foreign currency one gets for an euro on a given working day.",
    }
    assert len(list(documented(tmp_path, SYMBOLS, 2))) == 2


def test_about_half_of_the_questions_are_held_back() -> None:
    held = sum(Question("", "", f"a.b{number}").is_held_back for number in range(400))
    assert 150 < held < 250


@pytest.mark.parametrize(
    ("cards", "changed", "used"),
    [
        ({("a.py", "a.Basket.empty")}, 1, 1),
        ({("a.py", "a.rate"), ("b.py", "b.other")}, 0, 1),
        # The same name in another file was not changed.
        ({("b.py", "a.Basket.empty")}, 0, 0),
        (set(), 0, 0),
    ],
)
def test_a_card_is_used_where_the_change_touches_or_names_its_symbol(
    cards: set[tuple[str, str]], changed: int, used: int
) -> None:
    turn = {"changed": [["a.py", "a.Basket.empty"]], "words": ["rate"]}
    found = counted(turn, cards, 100)
    assert (found["cards"], found["changed"], found["used"]) == (len(cards), changed, used)
    assert (found["turns with one used"], found["tokens"]) == (int(used > 0), 100)
