"""Gate B: every claim leads to its sentences, and no reader found it unsupported."""

from __future__ import annotations

from typing import Any

import pytest

from compaction.domain.check.answers import Entailment as Said
from compaction.domain.gates import traceability
from compaction.domain.verdicts import GateVerdict, Outcome
from tests.compaction.gates import cases


def judge(*changes: Any, **more: Any) -> GateVerdict:
    return traceability.judge(cases.judged(cases.claims(*changes), **more))


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ({"id": "5", "cites": ["9.1"]}, "unknown_cite"),
        ({"id": "5", "cites": []}, "no_cites"),
        ({"id": "5", "text": "The pooler kills idle transactions after 900 seconds."}, "number_not_cited"),
        ({"id": "3", "text": "The report mail for Tarek has to be written."}, "name_not_cited"),
        ({"id": "4", "text": "Avoid the production database."}, "not_word_for_word"),
    ],
)
def test_what_stands_in_none_of_its_sentences_fails(change: dict[str, Any], rule: str) -> None:
    found = judge(change)
    assert found.outcome == Outcome.FAIL
    assert [(one.rule, one.about) for one in found.failures] == [(rule, change["id"])]


def test_a_claim_of_the_short_form_fails_alone_where_others_may_be_within_the_threshold() -> None:
    many = [{"id": f"f{number}", "text": "The import dies after 40 minutes.", "cites": ["1.1"]} for number in range(60)]
    wrong = {"text": "The import dies after 47 minutes."}
    assert judge(*many, {**many[0], **wrong}).outcome == Outcome.PASS
    short = {"section": "decision", "status": "accepted"}
    assert judge(*many, {**many[0], **wrong, **short}).outcome == Outcome.FAIL


def test_a_claim_that_a_reader_finds_unsupported_fails_with_the_phrase() -> None:
    told = cases.claims()
    found = judge(check=cases.checked(told, ("2", Said.UNSUPPORTED)))
    assert found.outcome == Outcome.FAIL
    [failure] = found.failures
    assert (failure.rule, failure.about) == ("unsupported", "2")
    assert "computed outside the transaction" in failure.text


def test_a_doubt_that_a_person_has_set_aside_counts_no_more() -> None:
    told = cases.claims()
    check = cases.checked(told, ("2", Said.UNSUPPORTED))
    [failure] = judge(check=check).failures
    assert judge(check=check, set_aside=frozenset({failure.id})).outcome == Outcome.PASS


def test_unread_it_says_that_only_sentences_and_values_were_looked_at() -> None:
    assert "nobody has read" in judge(check=None).says


def test_a_summary_of_another_log_fails() -> None:
    other = cases.source((*cases.SAID, ("user", "And one more thing.")))
    assert judge(source=other, artifact=cases.artifact(cases.claims())).outcome == Outcome.FAIL
