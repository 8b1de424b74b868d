"""The next version of an artifact: what was kept, edited and added, and nothing else."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from compaction.domain.artifact import HEADLINE, Artifact, Item, is_mere_quotation, parse_artifact
from compaction.domain.editing import Decision, claims_of, edited, edits_of, is_quoted
from compaction.domain.lifecycle import ClaimVerdictValue as Say
from compaction.domain.rendering import quotations
from tests.compaction.gates.cases import GOOD, artifact_of, count


def with_quotations(artifact: Artifact) -> Artifact:
    """Every item also as a mere quotation of what it links to."""
    shown = [
        item.model_copy(
            update={"id": f"x-{item.id}", "text": item.links[0].quote, "ledger_ref": None, "verbatim": True}
        )
        for item in artifact.items
        if item.links
    ]
    return artifact.model_copy(update={"items": (*artifact.items, *shown)})


BEFORE = with_quotations(artifact_of(GOOD))
CLAIMS = sorted(claims_of(BEFORE))


def added(number: int) -> Decision:
    item = BEFORE.items[0].model_copy(update={"id": f"add-{number}", "text": f"Added {number}."})
    return Decision(item=item.id, verdict=Say.ADDED, added=item)


@st.composite
def decisions(draw: st.DrawFn) -> list[Decision]:
    """Any that a reviewer may make, at most one of each claim."""
    made = [added(number) for number in range(draw(st.integers(0, 3)))]
    for claim in draw(st.lists(st.sampled_from(CLAIMS), unique=True)):
        allowed = [Say.KEPT, Say.STRUCK] if is_quoted(BEFORE, claim) else [Say.KEPT, Say.EDITED, Say.NEEDS_SOURCE]
        if claim != HEADLINE and Say.STRUCK not in allowed:
            allowed.append(Say.STRUCK)
        verdict = draw(st.sampled_from(allowed))
        made.append(Decision(item=claim, verdict=verdict, text="Other words." if verdict == Say.EDITED else ""))
    return draw(st.permutations(made))


def is_struck(item: Item, said: dict[str, Say]) -> bool:
    """By itself, or with all that is quoted of its message."""
    if item.id in said:
        return said[item.id] == Say.STRUCK
    groups = [group.key for group in quotations(BEFORE.items) if item in group.items]
    return is_mere_quotation(item) and any(said.get(key) == Say.STRUCK for key in groups)


@settings(max_examples=150, deadline=None)
@given(decided=decisions())
def test_whatever_is_decided_the_next_version_has_exactly_what_was_kept_edited_and_added(
    decided: list[Decision],
) -> None:
    said = {one.item: one.verdict for one in decided}
    after = edited(BEFORE, edits_of(BEFORE, decided), version=2, count=count)
    kept = [item.id for item in BEFORE.items if not is_struck(item, said)]
    assert [item.id for item in after.items] == kept + [one.item for one in decided if one.added]
    old = {item.id: item for item in BEFORE.items}
    for item in after.items:
        if said.get(item.id) == Say.EDITED:
            assert item == old[item.id].model_copy(update={"text": "Other words.", "verbatim": False})
        elif item.id in old:
            assert item == old[item.id]
    assert after.headline == ("Other words." if said.get(HEADLINE) == Say.EDITED else BEFORE.headline)
    assert set(after.headline_items) <= {item.id for item in after.items}
    # It is a whole document, with an id and bytes of its own.
    assert parse_artifact(after.document) == after
    assert after.artifact_id != BEFORE.artifact_id


def test_an_edit_asked_no_model_and_used_nothing() -> None:
    made = edited(BEFORE, edits_of(BEFORE, []), version=7, count=count).generation
    assert (made.drafter, made.model, made.attempts, made.elapsed_ms) == ("edit", "", (), 0)
    assert made.params == {"edited_from": BEFORE.artifact_id, "version": 7}
    assert (made.cap, made.timeout_ms) == (BEFORE.generation.cap, BEFORE.generation.timeout_ms)


def test_what_is_added_twice_is_there_once() -> None:
    once = edited(BEFORE, edits_of(BEFORE, [added(1)]), version=2, count=count)
    twice = edited(once, edits_of(once, [added(1)]), version=3, count=count)
    assert twice.items == once.items
