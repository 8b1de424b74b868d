"""Gate C: what must not be lost is told in the text that stands."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from compaction.domain.artifact import Section, Status
from compaction.domain.gates import retention
from compaction.domain.verdicts import GateVerdict, Outcome
from tests.compaction.gates import cases

DECIDED = cases.entry("decision-7", Section.DECISION, Status.ACCEPTED, "Compute the matrix outside.", "3.2")
TESTED = cases.entry("open_work-8", Section.OPEN_WORK, Status.OPEN, "Jonas tests it by Friday.", "3.3")
RULED = cases.entry("constraint-9", Section.RULE, Status.IN_FORCE, "Never touch the production database.", "1.3")


def judge(**changes: Any) -> GateVerdict:
    return retention.judge(cases.judged(**changes))


def value(verdict: GateVerdict, name: str) -> float | int | None:
    return next(measure.value for measure in verdict.measures if measure.name == name)


def test_all_that_was_listed_is_told() -> None:
    found = judge()
    assert found.outcome == Outcome.PASS
    assert [value(found, name) for name in ("decision_recall", "open_work_recall", "rule_recall")] == [1.0, 1.0, 1.0]
    assert found.says == f"Kept: 3 of 3 in the list that {cases.MODEL} made of the log."


def test_an_entry_that_no_claim_tells_is_missing_and_named_with_its_turn() -> None:
    check = cases.checked(cases.claims())
    told = {**check.told, "listed-3": ()}
    found = judge(check=replace(check, told=told))
    assert found.outcome == Outcome.FAIL
    [failure] = found.failures
    assert (failure.rule, failure.about) == ("lost_open_work", "listed-3")
    assert "(turn 2)" in failure.text
    assert "(4.2)" in failure.told


def test_what_only_a_claim_outside_the_text_that_stands_tells_is_lost() -> None:
    told = cases.claims({"id": "3", "section": "fact", "status": "stated"})
    check = cases.checked(told)
    entry = cases.entry("listed-3", Section.OPEN_WORK, Status.OPEN, "Write the mail.", "4.2", listed=True)
    content = next(one.content for one in told if one.id == "3")
    check = replace(check, listed=(*check.listed, entry), told={**check.told, "listed-3": (content,)})
    assert judge(told=told, check=check).outcome == Outcome.FAIL
    short = cases.artifact(told, short=("1", "2", "3", "4"))
    assert judge(told=told, artifact=short, check=check).outcome == Outcome.PASS


def test_of_the_ledger_the_mapping_decides_not_what_a_claim_says_of_itself() -> None:
    told = cases.claims({"id": "2", "ledger_ref": "decision-7"})
    check = cases.checked(told)
    lost = replace(check, listed=(), told={"decision-7": ()})
    assert judge(told=told, entries=(DECIDED,), check=lost).outcome == Outcome.FAIL
    kept = replace(check, listed=(), told={"decision-7": (told[1].content,)})
    assert judge(told=told, entries=(DECIDED,), check=kept).outcome == Outcome.PASS


def test_open_work_that_only_a_rule_tells_is_lost_as_a_rule_says_of_nothing_whether_it_is_done() -> None:
    told = cases.claims({"id": "4", "text": "Jonas tests it by Friday.", "cites": ["3.3"]}, without=("3",))
    check = cases.checked(told)
    by_rule, by_both = ({"listed-3": tuple(told[i].content for i in places)} for places in ((2,), (1, 2)))
    entry = cases.entry("listed-3", Section.OPEN_WORK, Status.OPEN, "Jonas tests it by Friday.", "3.3", listed=True)
    listed = (*check.listed, entry)
    assert told[2].section == Section.RULE
    found = judge(told=told, check=replace(check, listed=listed, told={**check.told, **by_rule}))
    assert [failure.about for failure in found.failures] == ["listed-3"]
    assert judge(told=told, check=replace(check, listed=listed, told={**check.told, **by_both})).outcome == Outcome.PASS


def test_of_what_is_told_but_for_a_part_the_part_is_named() -> None:
    check = cases.checked(cases.claims())
    check = replace(check, told={**check.told, "listed-2": ()}, missing={"listed-2": "that it starts at 2"})
    [lost] = judge(check=check).failures
    assert lost.text.endswith(": no claim says “that it starts at 2”")
    assert "told by no claim" not in lost.text


def test_an_entry_and_what_was_listed_by_its_sentences_are_one() -> None:
    check = cases.checked(cases.claims())
    told = {**check.told, "decision-7": check.told["listed-2"]}
    found = judge(entries=(DECIDED,), check=replace(check, told=told))
    assert "1 of 1 on the list of this conversation" in found.says
    assert "2 of 2" in found.says


def test_a_rule_in_the_system_message_counts_as_kept() -> None:
    told = cases.claims(without=("4",))
    check = replace(cases.checked(told), told=cases.checked(told).told)
    assert judge(told=told, entries=(replace(RULED, in_system=True),), check=check).outcome == Outcome.PASS
    assert judge(told=told, entries=(RULED,), check=check).outcome == Outcome.FAIL


def test_without_a_check_a_missing_entry_of_the_ledger_fails_and_else_nothing_is_judged() -> None:
    assert judge(check=None, entries=(TESTED,)).outcome == Outcome.FAIL
    assert judge(check=None, entries=(DECIDED,)).outcome == Outcome.NOT_JUDGED
    assert judge(check=None).outcome == Outcome.NOT_JUDGED


def test_a_valid_check_that_lists_nothing_passes() -> None:
    check = replace(cases.checked(cases.claims()), listed=(), told={})
    assert judge(check=check).outcome == Outcome.PASS


def test_what_a_person_does_not_need_is_not_wanted() -> None:
    check = cases.checked(cases.claims())
    check = replace(check, told={**check.told, "listed-3": ()})
    assert judge(check=check, not_needed=frozenset({"listed-3"})).outcome == Outcome.PASS


def test_where_nothing_could_be_hidden_the_inventory_is_not_proven_and_it_says_so() -> None:
    assert "was not tested" in judge(check=replace(cases.checked(cases.claims()), hidden=False)).says
    assert "not proven" not in judge().says
