"""Gate A."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from compaction.domain.artifact import Item, Section, Status
from compaction.domain.verdicts import Gate, Offered, Outcome
from tests.compaction.gates import cases
from tests.compaction.gates.broken import forged_link


@pytest.mark.parametrize(
    ("stop_reason", "says"),
    [
        ("length", "cut at its length limit"),
        ("content_filter", "filter cut"),
        ("refused", "refused"),
        ("timeout", "did not end in time"),
        ("", "not known how"),
        ("tool_calls", "ended with “tool_calls”"),
    ],
)
def test_only_a_model_that_said_all_it_had_to_say_passes(stop_reason: str, says: str) -> None:
    given = cases.judged()
    verdict = cases.verdict(replace(given, offered=replace(given.offered, stop_reason=stop_reason)), Gate.STRUCTURE)
    assert verdict.outcome == Outcome.FAIL
    assert says in verdict.says


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(cases.GOOD)[:-1],
        f"Here it is: {json.dumps(cases.GOOD)}",
        f"```json\n{json.dumps(cases.GOOD)}\n```",
        json.dumps({key: value for key, value in cases.GOOD.items() if key != "headline_items"}),
        json.dumps({**cases.GOOD, "mood": "good"}),
        json.dumps({**cases.GOOD, "headline_items": ["i77"]}),
        json.dumps(cases.draft_with(cases.item("i1", status="done"))),
        json.dumps(cases.draft_with(cases.item("i1", section="wish"))),
        json.dumps({**cases.GOOD, "items": [cases.item("i1"), cases.item("i1")]}),
        json.dumps({**cases.GOOD, "headline": "One\x00two."}),
        json.dumps(cases.draft_with(cases.item("i1", text="One\x00two."))),
        "",
    ],
)
def test_nothing_is_repaired(text: str) -> None:
    given = replace(cases.judged(), offered=Offered(text=text, form="draft"))
    assert cases.rules(given, Gate.STRUCTURE) == ["malformed"]


@pytest.mark.parametrize("id", ["headline", ".", "..", "one\ntwo", "i\u202e1", "i\x001"])
def test_a_claim_is_called_by_no_name_that_means_something_else_or_that_no_address_can_have(id: str) -> None:
    """A verdict on a claim called "headline" would be one on the headline."""
    given = replace(cases.judged(), offered=Offered(text=json.dumps({**cases.GOOD, **only(id)}), form="draft"))
    assert cases.rules(given, Gate.STRUCTURE) == ["malformed"]


def only(id: str) -> dict[str, object]:
    return {"headline_items": [], "items": [{**cases.item("i1"), "id": id}]}


def test_the_measure_is_one_of_one_or_none_of_one() -> None:
    (good,) = cases.verdict(cases.judged(), Gate.STRUCTURE).measures
    (bad,) = cases.verdict(replace(cases.judged(), offered=Offered(text="{", form="draft")), Gate.STRUCTURE).measures
    assert (good.value, good.numerator, good.denominator) == (1.0, 1, 1)
    assert (bad.value, bad.numerator, bad.denominator) == (0.0, 0, 1)


def appended(**changes: object) -> Item:
    given = cases.judged().artifact
    assert given
    more = {
        "id": "k1",
        "section": Section.DECISION,
        "status": Status.UNCONFIRMED,
        "text": given.items[1].links[0].quote,
        "verbatim": True,
        "ledger_ref": None,
    }
    return given.items[1].model_copy(update={**more, **changes})


def with_items(*items: Item) -> list[str]:
    given = cases.judged()
    assert given.artifact
    artifact = given.artifact.model_copy(update={"items": items})
    return cases.rules(replace(given, artifact=artifact), Gate.STRUCTURE)


def test_code_may_append_quotations_that_it_marks_as_unconfirmed_and_nothing_else() -> None:
    given = cases.judged().artifact
    assert given
    assert with_items(*given.items, appended()) == []
    assert with_items(*given.items, appended(status=Status.ACCEPTED)) == ["other_artifact"]
    assert with_items(*given.items, appended(verbatim=False)) == ["other_artifact"]


def test_items_of_the_draft_are_all_there_unchanged_and_in_their_order() -> None:
    given = cases.judged().artifact
    assert given
    first, second, *others = given.items
    assert with_items(*given.items) == []
    assert with_items(second, first, *others) == ["other_artifact"]
    assert with_items(first, second, *others[:-1]) == ["other_artifact"]
    assert with_items(first.model_copy(update={"text": "Else."}), second, *others) == ["other_artifact"]
    assert with_items(first.model_copy(update={"links": second.links}), second, *others) == ["other_artifact"]


def test_a_document_is_the_artifact_byte_for_byte() -> None:
    given = cases.with_artifact(cases.judged())
    assert given.artifact
    assert cases.verdict(given, Gate.STRUCTURE).passed
    other = replace(given, artifact=given.artifact.model_copy(update={"redactions": 3}))
    assert cases.rules(other, Gate.STRUCTURE) == ["other_artifact"]


def test_a_document_with_another_id_than_its_hash_is_none() -> None:
    given = cases.with_artifact(cases.judged())
    text = given.offered.text.replace('"redactions":0', '"redactions":1')
    assert cases.rules(replace(given, offered=replace(given.offered, text=text)), Gate.STRUCTURE) == ["malformed"]


def test_a_forged_link_is_well_formed() -> None:
    assert cases.verdict(forged_link(), Gate.STRUCTURE).passed
