"""What a text names exactly."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compaction.domain.anchors import Type, anchors_of, missing


def named(text: str) -> list[tuple[str, str, str]]:
    return [(anchor.type.name, anchor.value, anchor.unit) for anchor in anchors_of(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("30 s for reads, €5 and five %", [("NUMBER", "30", "s"), ("NUMBER", "5", "€"), ("NUMBER", "5", "%")]),
        ("1,000 or 1.000 or 1'000,50", [("NUMBER", "1000", ""), ("NUMBER", "1000", ""), ("NUMBER", "1000.50", "")]),
        ("3.10 and 3.1", [("NUMBER", "3.10", ""), ("NUMBER", "3.1", "")]),
        ("twenty-five hundred", [("NUMBER", "2500", "")]),
        ("two hundred fifty days", [("NUMBER", "250", "d")]),
        ("the 1st and 2nd of May", [("NUMBER", "1", ""), ("NUMBER", "2", "")]),
        ("v1.2.3 and 2.0.1", [("VERSION", "1.2.3", ""), ("VERSION", "2.0.1", "")]),
        ("at 08:30 on 14.05.2024", [("TIME", "8:30", ""), ("DATE", "2024-05-14", "")]),
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
def test_names_and_numbers_are_found_with_their_value(text: str, expected: list[tuple[str, str, str]]) -> None:
    assert named(text) == expected


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


def test_one_asks_for_no_number_and_stands_for_one() -> None:
    assert missing("one of them", ["some of them"]) == ()
    assert missing("1 of them", ["one of them"]) == ()
    assert [anchor.type for anchor in missing("2 of them", ["one of them"])] == [Type.NUMBER]
