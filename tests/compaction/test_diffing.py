"""What two versions have in common."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from compaction.domain.diffing import Piece, version_diff, word_diff
from compaction.domain.editing import Edits, edited
from tests.compaction.gates.cases import GOOD, artifact_of, count

TEXTS = st.lists(st.sampled_from(["a", "retry", "limit", "of", "3.", "5.", "is", "\n"]), max_size=12).map(" ".join)


def joined(pieces: tuple[Piece, ...], without: str) -> list[str]:
    return [word for piece in pieces if piece.kind != without for word in piece.text.split()]


def test_what_was_changed_stands_beside_what_it_became() -> None:
    assert word_diff("The limit is 3.", "The limit is 5 now.") == (
        Piece(kind="same", text="The limit is"),
        Piece(kind="gone", text="3."),
        Piece(kind="new", text="5 now."),
    )


def test_of_nothing_all_is_new() -> None:
    assert word_diff("", "A rule.") == (Piece(kind="new", text="A rule."),)


@settings(max_examples=100)
@given(old=TEXTS, new=TEXTS)
def test_both_texts_can_be_read_in_it(old: str, new: str) -> None:
    pieces = word_diff(old, new)
    assert (joined(pieces, "new"), joined(pieces, "gone")) == (old.split(), new.split())


def test_two_versions_differ_in_what_was_edited_struck_and_added_and_in_nothing_else() -> None:
    before = artifact_of(GOOD)
    new = before.items[0].model_copy(update={"id": "add-1", "text": "Added."})
    edits = Edits(
        headline="Other words.", texts={"i2": "Edited."}, struck=frozenset({before.items[-1].id}), added=(new,)
    )
    after = edited(before, edits, version=2, count=count)
    told = {item.id: item.text for item in before.items}
    assert [(one.item, one.kind, one.before, one.after) for one in version_diff(before, after)] == [
        ("headline", "changed", before.headline, "Other words."),
        ("i2", "changed", told["i2"], "Edited."),
        (before.items[-1].id, "struck", before.items[-1].text, ""),
        ("add-1", "added", "", "Added."),
    ]
    assert [one.kind for one in version_diff(after, before)] == ["changed", "changed", "struck", "added"]


def test_a_change_tells_which_words_went_and_which_came() -> None:
    before = artifact_of(GOOD)
    after = edited(before, Edits(headline=f"{before.headline} Soon."), version=2, count=count)
    [change] = version_diff(before, after)
    assert change.words == (Piece(kind="same", text=before.headline), Piece(kind="new", text="Soon."))


def test_a_version_does_not_differ_from_itself() -> None:
    assert version_diff(artifact_of(GOOD), artifact_of(GOOD)) == ()
