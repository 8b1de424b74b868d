"""What a diff means for a text: where its hunks stand, and what comes of those that are accepted."""

from __future__ import annotations

from difflib import unified_diff

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workspaces.domain.edits import BadDiff, Changes, Hunk, apply_hunks, changes, read_diff

TEXT = "a\nb\nc\nd\ne\nf\ng\nh\ni\n"
TWO = "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n@@ -7,3 +7,4 @@\n g\n-h\n+H\n+HH\n i\n"
LINES = st.lists(st.sampled_from(["", "a", "b", "c", "-- d", "++ e", "@ f", "\\ g"]), max_size=12)


@given(LINES, LINES)
def test_a_diff_of_two_texts_makes_one_of_the_other(old: list[str], new: list[str]) -> None:
    before, after = ("".join(f"{line}\n" for line in lines) for lines in (old, new))
    diff = "".join(unified_diff(before.splitlines(True), after.splitlines(True), "a/x", "b/x"))
    if before != after:
        hunks = read_diff("x", diff, before)
        assert apply_hunks(before, hunks, range(len(hunks))) == after


@pytest.mark.parametrize(
    ("accepted", "result"),
    [
        ((), TEXT),
        ((0,), "a\nB\nc\nd\ne\nf\ng\nh\ni\n"),
        ((1,), "a\nb\nc\nd\ne\nf\ng\nH\nHH\ni\n"),
        ((0, 1), "a\nB\nc\nd\ne\nf\ng\nH\nHH\ni\n"),
    ],
)
def test_each_hunk_is_accepted_or_not(accepted: tuple[int, ...], result: str) -> None:
    assert apply_hunks(TEXT, read_diff("x", TWO, TEXT), accepted) == result


def test_a_hunk_with_wrong_numbers_is_taken_where_its_lines_stand() -> None:
    (hunk,) = read_diff("x", "--- a/x\n+++ b/x\n@@ -40,9 +41,2 @@\n d\n-e\n+E\n", TEXT)
    assert (hunk.first, hunk.source) == (3, ["d", "e"])


def test_lines_keep_their_ends_and_the_last_one_stays_without() -> None:
    text = "a\r\nb\r\nc"
    hunks = read_diff("x", "@@ -1,2 +1,3 @@\n a\n-b\n+B\n+BB\n", text)
    assert apply_hunks(text, hunks, (0,)) == "a\r\nB\r\nBB\r\nc"


@pytest.mark.parametrize(
    ("diff", "result"),
    [
        ("@@ -3,1 +3,2 @@\n c\n+d\n", "a\r\nb\r\nc\r\nd"),
        ("@@ -3,1 +3,1 @@\n-c\n+C\n", "a\r\nb\r\nC"),
        ("@@ -2,2 +2,1 @@\n b\n-c\n", "a\r\nb"),
        ("@@ -1,1 +1,1 @@\n-a\n+A\n", "A\r\nb\r\nc"),
    ],
)
def test_a_file_of_windows_that_ends_without_a_line_end_stays_one(diff: str, result: str) -> None:
    text = "a\r\nb\r\nc"
    assert apply_hunks(text, read_diff("x", diff, text), (0,)) == result


@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_the_mark_at_the_beginning_of_a_file_stays_whether_a_diff_has_it_or_not(mark: str) -> None:
    """Some editors put one there, which nobody sees."""
    text = "\ufeffa\nb\n"
    hunks = read_diff("x", f"@@ -1,2 +1,2 @@\n-{mark}a\n+{mark}A\n b\n", text)
    assert apply_hunks(text, hunks, (0,)) == "\ufeffA\nb\n"


@pytest.mark.parametrize(
    ("diff", "says"),
    [
        ("", "has no hunk"),
        ("please change b to B", "has no hunk"),
        ("@@ -2,1 +2,1 @@\n-x\n+B\n", "line 2 of the file is 'b', and the diff has 'x'"),
        ("@@ -1,1 +1,1 @@\n a\n", "changes nothing"),
        ("--- a/../y\n+++ b/../y\n@@ -2,1 +2,1 @@\n-b\n+B\n", "Propose one file at a time"),
        ("@@ -2,1 +2,1 @@\n-b\n+B\n" * 51, "more than 50 hunks"),
        ("+" * 100_001, "more than 100,000 characters"),
        ("@@ -7,1 +7,1 @@\n-g\n+G\n@@ -2,1 +2,1 @@\n-b\n+B\n", "Hunks go from top to bottom"),
        ("@@ -99,0 +99,1 @@\n+B\n", "Give lines of the file around them"),
    ],
)
def test_a_diff_that_does_not_fit_says_what_to_do(diff: str, says: str) -> None:
    with pytest.raises(BadDiff, match=says.replace("(", r"\(")):
        read_diff("x", diff, TEXT)


def test_of_long_lines_that_differ_the_beginnings_are_told() -> None:
    with pytest.raises(BadDiff) as bad:
        read_diff("x", f"@@ -1,1 +1,1 @@\n-{'m' * 200}\n+B\n", "f" * 200)
    assert f"is '{'f' * 120}', and the diff has '{'m' * 120}'. Hunks" in str(bad.value)


def test_a_hunk_that_fits_in_several_places_is_not_guessed() -> None:
    with pytest.raises(BadDiff, match="fits in several places"):
        read_diff("x", "@@ -3,1 +3,1 @@\n-a\n+A\n", "a\nb\nc\na\n")


def test_hunks_are_stored_and_read_again() -> None:
    hunks = read_diff("x", TWO, TEXT)
    assert tuple(Hunk.from_json(hunk.to_json()) for hunk in hunks) == hunks


def test_other_ends_of_lines_are_no_changed_lines() -> None:
    assert changes("a\nb\n", "a\r\nb\r\n") == Changes()


def test_what_has_changed_is_counted_and_shown() -> None:
    found = changes(TEXT, TEXT.replace("c\n", "C\nCC\n"))
    assert (found.added, found.removed, found.first) == (2, 1, 3)
    assert {"-c", "+C", "+CC"} <= set(found.lines)


def test_a_change_of_too_many_lines_to_compare_is_told_as_one() -> None:
    """Between the lines that are the same at both ends."""
    before = ["head", *(f"old {place}" for place in range(2100)), "tail"]
    now = ["head", *(f"new {place}" for place in range(2000)), "tail"]
    found = changes("\n".join(before), "\n".join(now))
    assert (found.added, found.removed, found.first) == (2000, 2100, 2)
    assert found.lines[:2] == ("@@ -2,2100 +2,2000 @@", "-old 0")
    assert len(found.lines) == 40
