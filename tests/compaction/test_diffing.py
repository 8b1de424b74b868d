"""What two versions have in common."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from compaction.domain.editing import Decision, DiffPiece, edited, version_diff, word_diff
from compaction.domain.lifecycle import ClaimVerdictValue as Say
from tests.compaction.gates import cases

TEXTS = st.lists(st.sampled_from(["a", "retry", "limit", "of", "3.", "5.", "is", "\n"]), max_size=12).map(" ".join)


def joined(pieces: tuple[DiffPiece, ...], without: str) -> list[str]:
    return [word for piece in pieces if piece.kind != without for word in piece.text.split()]


def test_what_was_changed_stands_beside_what_it_became() -> None:
    assert word_diff("The limit is 3.", "The limit is 5 now.") == (
        DiffPiece(kind="same", text="The limit is"),
        DiffPiece(kind="gone", text="3."),
        DiffPiece(kind="new", text="5 now."),
    )


def test_of_nothing_all_is_new() -> None:
    assert word_diff("", "A rule.") == (DiffPiece(kind="new", text="A rule."),)


@settings(max_examples=100)
@given(old=TEXTS, new=TEXTS)
def test_both_texts_can_be_read_in_it(old: str, new: str) -> None:
    pieces = word_diff(old, new)
    assert (joined(pieces, "new"), joined(pieces, "gone")) == (old.split(), new.split())


BEFORE = cases.artifact(cases.claims())


def test_two_versions_differ_in_what_was_edited_struck_and_added_and_in_nothing_else() -> None:
    new = cases.claim(id="add-1", text="Added.")
    decided = [
        Decision(claim="2", verdict=Say.EDITED, text="Edited."),
        Decision(claim="5", verdict=Say.STRUCK),
        Decision(claim="add-1", verdict=Say.ADDED, added=new),
    ]
    after = edited(BEFORE, decided)
    assert [(one.item, one.kind, one.before, one.after) for one in version_diff(BEFORE, after)] == [
        ("2", "changed", BEFORE.by_id["2"].text, "Edited."),
        ("5", "struck", BEFORE.by_id["5"].text, ""),
        ("add-1", "added", "", "Added."),
    ]
    assert [one.kind for one in version_diff(after, BEFORE)] == ["changed", "struck", "added"]


def test_a_change_tells_which_words_went_and_which_came() -> None:
    text = BEFORE.by_id["1"].text
    after = edited(BEFORE, [Decision(claim="1", verdict=Say.EDITED, text=f"{text} Soon.")])
    [change] = version_diff(BEFORE, after)
    assert change.words == (DiffPiece(kind="same", text=text), DiffPiece(kind="new", text="Soon."))


def test_another_owner_or_due_date_is_a_change() -> None:
    after = BEFORE.model_copy(update={"claims": cases.claims({"id": "3", "owner": "Jonas", "due": "Friday"})})
    [change] = version_diff(BEFORE, after)
    assert change.after.endswith("(Jonas, due Friday)")


def test_a_version_does_not_differ_from_itself() -> None:
    assert version_diff(BEFORE, BEFORE) == ()
