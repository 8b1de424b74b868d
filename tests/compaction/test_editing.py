"""The next version of an artifact: what was kept, edited and added, and nothing else."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from compaction.domain.artifact import is_short, parse_artifact
from compaction.domain.editing import Decision, edited
from compaction.domain.lifecycle import ClaimVerdictValue as Say
from tests.compaction.gates import cases

BEFORE = cases.artifact(cases.claims())
IDS = [claim.id for claim in BEFORE.claims]


def added(number: int, section: str = "fact", status: str = "stated") -> Decision:
    claim = cases.claim(id=f"add-{number}", section=section, status=status, text=f"Added {number}.")
    return Decision(claim=claim.id, verdict=Say.ADDED, added=claim)


@st.composite
def decisions(draw: st.DrawFn) -> list[Decision]:
    """Any that a reviewer may make, at most one of each claim."""
    made = [added(number) for number in range(draw(st.integers(0, 3)))]
    for id in draw(st.lists(st.sampled_from(IDS), unique=True)):
        verdict = draw(st.sampled_from([Say.KEPT, Say.EDITED, Say.STRUCK, Say.NEEDS_SOURCE]))
        made.append(Decision(claim=id, verdict=verdict, text="Other words." if verdict == Say.EDITED else ""))
    return draw(st.permutations(made))


@given(decided=decisions())
def test_whatever_is_decided_the_next_version_has_exactly_what_was_kept_edited_and_added(
    decided: list[Decision],
) -> None:
    said = {one.claim: one.verdict for one in decided}
    after = edited(BEFORE, decided)
    kept = [id for id in IDS if said.get(id) != Say.STRUCK]
    assert [claim.id for claim in after.claims] == kept + [one.claim for one in decided if one.added]
    for claim in after.claims:
        if said.get(claim.id) == Say.EDITED:
            assert claim == BEFORE.by_id[claim.id].model_copy(update={"text": "Other words."})
        elif claim.id in IDS:
            assert claim == BEFORE.by_id[claim.id]
    assert set(after.short) == {claim.id for claim in after.claims if claim.id in BEFORE.short}
    # It is a whole document, known by its own bytes.
    assert parse_artifact(after.document) == after
    assert (after.artifact_id == BEFORE.artifact_id) == (after.claims == BEFORE.claims)


def test_what_is_added_stands_where_its_section_does() -> None:
    after = edited(BEFORE, [added(1), added(2, "decision", "accepted")])
    assert {"add-1", "add-2"} & set(after.short) == {"add-2"}
    assert all(is_short(after.by_id[id]) for id in after.short)


def test_what_is_added_twice_is_there_once() -> None:
    once = edited(BEFORE, [added(1)])
    assert edited(once, [added(1)]).claims == once.claims
