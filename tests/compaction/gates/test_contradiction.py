"""Gate D: what a reader found wrong, and what code can tell exactly."""

from __future__ import annotations

from typing import Any

from compaction.domain.artifact import Section, Status
from compaction.domain.check.answers import Entailment as Said
from compaction.domain.gates import contradiction
from compaction.domain.verdicts import GateVerdict, Outcome
from tests.compaction.gates import cases


def judge(*changes: Any, **more: Any) -> GateVerdict:
    return contradiction.judge(cases.judged(cases.claims(*changes), **more))


def test_one_contradiction_fails_and_says_which_claim_is_wrong() -> None:
    found = judge(check=cases.checked(cases.claims(), ("2", Said.CONTRADICTED)))
    assert found.outcome == Outcome.FAIL
    assert [(one.rule, one.about) for one in found.failures] == [("read", "2")]


def test_to_people_a_reader_s_finding_is_a_doubt_and_the_drafter_hears_that_it_is_wrong() -> None:
    check = cases.checked(cases.claims(), ("2", Said.CONTRADICTED), ("3", Said.CONTRADICTED))
    both = judge(check=check)
    assert both.says.startswith("2 doubts or contradictions: the checker doubts claim 2")
    assert both.failures[0].told.startswith("claim 2 is wrong")
    one = judge(check=check, set_aside=frozenset({both.failures[0].id}))
    assert one.says.startswith("The checker doubts claim 3")


def test_what_was_stored_before_is_worded_as_a_doubt_too_and_nothing_since() -> None:
    assert contradiction.worded("1 contradiction: claim 2 is wrong.", "6") == "The checker doubts claim 2."
    assert contradiction.worded("2 contradictions: claim 2 is wrong.", "6").startswith(
        "2 doubts or contradictions: the"
    )
    assert contradiction.worded("2 contradictions: claims 2 and 3 differ.", "6") == (
        "2 contradictions: claims 2 and 3 differ."
    )
    quoted = "The checker doubts claim 2: it says that claim 3 is wrong."
    assert contradiction.worded(quoted, "7") == quoted


def test_set_aside_it_counts_no_more_and_is_told() -> None:
    check = cases.checked(cases.claims(), ("2", Said.CONTRADICTED))
    [failure] = judge(check=check).failures
    found = judge(check=check, set_aside=frozenset({failure.id}))
    assert (found.outcome, found.failures) == (Outcome.PASS, ())
    assert "1 finding set aside" in found.says


def test_unread_it_is_not_judged() -> None:
    assert judge(check=None).outcome == Outcome.NOT_JUDGED


def test_read_in_part_it_is_not_judged() -> None:
    check = cases.checked(cases.claims(without=("5",)))
    assert judge(check=check).outcome == Outcome.NOT_JUDGED


def test_what_the_ledger_calls_done_is_not_open_whoever_has_read_it() -> None:
    done = cases.entry("open_work-3", Section.OPEN_WORK, Status.DONE, "The report mail for Marta.", "4.2")
    told = cases.claims({"id": "3", "ledger_ref": "open_work-3"})
    found = judge({"id": "3", "ledger_ref": "open_work-3"}, entries=(done,), check=cases.checked(told))
    assert found.outcome == Outcome.FAIL
    assert [one.about for one in found.failures] == ["3"]
    assert judge({"id": "3", "ledger_ref": "open_work-3"}, entries=(done,), check=None).outcome == Outcome.FAIL
