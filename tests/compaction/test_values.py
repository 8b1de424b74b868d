"""What a text names exactly, equal however it is written."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from itertools import combinations
from time import process_time

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from compaction.domain.values import is_left_to_reader, is_worked_out, missing, names_of, values_of


def named(text: str) -> list[tuple[str, str, str]]:
    return [(value.type.name, value.value, value.unit) for value in values_of(text) if not value.loose]


def test_each_value_stands_where_it_says_whatever_stands_before_it() -> None:
    text = "On 3 March 2026 at 08:30 we moved 40 GB to v1.2.3 in /srv/data, and 7 files were left"
    found = values_of(text)
    assert len(found) >= 6
    assert [text[one.start : one.end] for one in found] == [one.shown for one in found]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("30 s for reads, €5 and five %", [("NUMBER", "30", "s"), ("NUMBER", "5", "€"), ("NUMBER", "5", "%")]),
        ("1,000 or 1.000 or 1'000,50", [("NUMBER", "1000", ""), ("NUMBER", "1000", ""), ("NUMBER", "1000.50", "")]),
        ("0.250 kg, 3.10 and 3.1", [("NUMBER", "0.250", "kg"), ("NUMBER", "3.10", ""), ("NUMBER", "3.1", "")]),
        ("12 thousand rows and 5k tokens", [("NUMBER", "12000", ""), ("NUMBER", "5000", "")]),
        ("the 1st and 2nd of May", [("NUMBER", "1", ""), ("DATE", "*-5-2", "")]),
        ("Oct 3, 2024 or 14. Okt.", [("DATE", "2024-10-3", ""), ("DATE", "*-10-14", "")]),
        ("on Thursday in March, as it may march", [("DATE", "weekday 4", ""), ("DATE", "*-3-*", "")]),
        ("at 08:30 on 14.05.2024", [("TIME", "8:30", ""), ("DATE", "2024-5-14", "")]),
        ("4 a.m. or 15:00", [("TIME", "4:00", "am"), ("TIME", "3:00", "pm")]),
        ("v1.2.3 and 2.0.1", [("VERSION", "1.2.3", ""), ("VERSION", "2.0.1", "")]),
        ("edit `src/queue/app.py` now", [("PATH", "src/queue/app.py", "")]),
        ("edit src/queue/app.py.", [("PATH", "src/queue/app.py", "")]),
        ("GET /reservations/{id}", [("PATH", "/reservations/{id}", "")]),
        ("CHANGELOG.md and Dockerfile", [("PATH", "CHANGELOG.md", "")]),
        ("with --dry-run or -v", [("FLAG", "--dry-run", ""), ("FLAG", "-v", "")]),
        (
            "ErrUnknownState in parse_window()",
            [("IDENTIFIER", "ErrUnknownState", ""), ("IDENTIFIER", "parse_window", "")],
        ),
        ("https://a.example/b?c=1.", [("URL", "https://a.example/b?c=1", "")]),
        ("commit deadbeef12 gave E1042", [("IDENTIFIER", "deadbeef12", ""), ("IDENTIFIER", "E1042", "")]),
        ("a T_V_ and an L_C_D_, and/or either one of them", []),
        ("no well-known names. Or so, e.g. here", []),
    ],
)
def test_values_are_found_with_their_units(text: str, expected: list[tuple[str, str, str]]) -> None:
    assert named(text) == expected


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("The limit is twenty-five percent of it.", "25", "%"),
        ("It is two hundred and fifty days.", "250", "d"),
        ("Es sind einundzwanzig Tage bis zu der Prüfung.", "21", "d"),
        ("Il y a quatre-vingt-dix minutes pour le film.", "90", "min"),
        ("Son dos mil trescientos euros para el viaje.", "2300", "€"),
    ],
)
def test_numbers_are_read_in_the_words_of_four_languages(text: str, value: str, unit: str) -> None:
    assert ("NUMBER", value, unit) in named(text)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("1,800 s", "1800 seconds"),
        ("30 minutes", "1800 s"),
        ("eleven", "11"),
        ("4.2 %", "4.2 percent"),
        ("€3.50", "3.5 EUR"),
        ("11 April", "April 11"),
        ("14 Oct", "14. Oktober"),
        ("2024-05-14", "May 14, 2024"),
        ("3 o'clock", "15:00"),
        ("10:00", "10 am"),
        ("`app.py`", "src/app.py"),
        ("both of them", "2 of them"),
        ("1 of them", "one of them"),
    ],
)
def test_the_same_is_the_same_however_it_is_written(one: str, other: str) -> None:
    assert missing(one, [other]) == ()


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        ("0.4 %", "0.4 points"),
        ("34 hours", "34 minutes"),
        ("32 USD", "32 EUR"),
        ("73 rows", "37 rows"),
        ("11 April", "11 March"),
        ("11 April 2025", "11 April 2024"),
        ("on Friday", "on Thursday"),
        ("4 a.m.", "4 p.m."),
        ("imports/models/prices.py", "imports/prices.py"),
        ("select_related()", "select_for_update()"),
    ],
)
def test_another_value_or_unit_is_missing(claim: str, text: str) -> None:
    assert len(missing(claim, [text])) == 1


def test_a_unit_is_asked_for_only_where_both_have_one() -> None:
    assert missing("30 s", ["leave it at 30"]) == ()
    assert missing("30", ["30 s"]) == ()


def test_day_and_month_may_stand_apart() -> None:
    assert missing("on 24 September", ["from 20 to 27 September", "on the 24th"]) == ()
    assert missing("on 24 September", ["from 20 to 27 September", "on 24 August"]) != ()


def test_a_weekday_stands_where_a_date_falls_on_it() -> None:
    assert missing("on Friday", ["2026-03-06"]) == ()
    assert missing("on Friday", ["2026-03-05"]) != ()


def test_words_that_may_mean_no_number_ask_for_none() -> None:
    assert missing("One of them, first a second, a pair, hundreds", ["nothing"]) == ()
    assert missing("We went once for the elf, as it was the size of that", ["nothing"]) == ()


@given(st.integers(min_value=0, max_value=10**9))
def test_a_number_is_the_same_with_and_without_groups(number: int) -> None:
    assert missing(f"{number:,}", [str(number)]) == ()
    assert missing(str(number), [f"{number:,}".replace(",", ".")]) == ()
    assert missing(f"{number:,}".replace(",", " "), [str(number)]) == ()


@given(st.integers(min_value=0, max_value=10**9), st.integers(min_value=0, max_value=10**9))
def test_another_number_is_missing(number: int, other: int) -> None:
    assert bool(missing(f"{number} apples", [f"{other} apples"])) == (number != other)


@given(st.text(max_size=200))
def test_a_text_lacks_nothing_of_itself(text: str) -> None:
    assert missing(text, [text]) == ()


def left(claim: str, *texts: str) -> Sequence[str]:
    return [value.shown for value in missing(claim, texts) if is_left_to_reader(value, texts)]


def test_how_many_things_are_listed_is_left_to_the_reader() -> None:
    assert left("There are four criteria.", "Criteria: craft, planning, leadership, hygiene.") == ["four"]
    assert left("There are 40 criteria.", "Criteria: craft, planning, leadership, hygiene.") == []


def test_what_a_text_counts_otherwise_is_not() -> None:
    assert left("There are three criteria.", "Four criteria: craft, planning, leadership, hygiene.") == []


def test_simple_sums_differences_and_products_are_left_to_the_reader() -> None:
    said = ("It was 310 in Q1.", "In Q2 it was 702, at 4 € each.")
    assert left("1012 in all, 392 more", *said) == ["1012", "392"]
    assert left("2808 €", *said) == ["2808 €"]
    assert left("2809 €, 393 more, 392 %", *said) == []


@given(st.integers(min_value=13, max_value=10**6), st.integers(min_value=13, max_value=10**6))
def test_whatever_two_numbers_add_up_to_is_left(one: int, other: int) -> None:
    assume(one != other)
    assert left(f"{one + other} in all", f"{one} and {other}") == [str(one + other)]


def test_of_thousands_of_numbers_it_is_told_at_once() -> None:
    said = [
        " and ".join(f"{7 * number} apples" for number in range(start, start + 500)) for start in range(1, 6_000, 500)
    ]
    began = process_time()
    assert left("There are 9,999,991 of them.", *said) == []
    assert process_time() - began < 4


NUMBERS = st.tuples(st.integers(min_value=0, max_value=12), st.sampled_from(["", " km", " %", ".5"]))


@given(NUMBERS, st.lists(NUMBERS, max_size=6))
def test_it_is_worked_out_of_two_that_are_not_the_same(wanted: tuple[int, str], told: list[tuple[int, str]]) -> None:
    (value,) = values_of("".join(map(str, wanted)))
    others = [found for one in told for found in values_of("".join(map(str, one)))]
    pairs = combinations({(Decimal(one.value), one.unit) for one in others}, 2)
    found = any(
        Decimal(value.value) in (a + b, abs(a - b), a * b) and value.unit in ("", first, second)
        for (a, first), (b, second) in pairs
    )
    assert is_worked_out(value, others) == found


def test_names_have_a_capital_inside_a_sentence_and_are_no_other_value() -> None:
    names = names_of("Then Farid's team asks Berit on Friday. Nobody from ACME or parse_window() does.")
    assert [(name.value, name.loose) for name in names] == [
        ("then", True),
        ("farid", False),
        ("berit", False),
        ("nobody", True),
    ]
    assert [name.value for name in names_of("So it is 30€Farid.")] == ["so", "farid"], "right behind a value"
