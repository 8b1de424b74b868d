"""What the evaluation says of gates: a gate that cannot fail, or that always does, is found out."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from compaction.domain.artifact import Section, Status
from compaction.domain.gates import evaluate as evaluate_gates
from compaction.domain.gates import judged_by
from compaction.domain.verdicts import Failure, Gate, Judged, Outcome, Verdict
from compaction.evaluating.cases import TRAITS, Case, read_case, read_cases
from compaction.evaluating.counting import lacking, to_retain, wilson
from compaction.evaluating.mutants import KINDS
from compaction.evaluating.mutants.kinds import Good
from compaction.evaluating.offering import Judge
from compaction.evaluating.reporting import as_json
from compaction.evaluating.running import evaluate
from compaction.evaluating.tables import table
from efforts.llm.tokens import get_counter
from tests.compaction.case_files import put, small
from tests.house.process import ROOT, manage

SET = ROOT / "compaction/evaluation/cases"
# A few scopes of the set in which nearly every kind of defect can be planted.
FEW = ("chat-inventory-timeouts", "chat-phone-columns", "life-wedding-table")

count = get_counter().count


@pytest.fixture(scope="module")
def few() -> list[Case]:
    return [read_case(SET / "dev" / f"{name}.json") for name in FEW]


@pytest.fixture(scope="module")
def whole() -> tuple[Case, ...]:
    return read_cases(SET)


def with_gate(gate: Gate, change: Callable[[Verdict], Verdict]) -> Judge:
    def judge(by: Gate, judged: Judged) -> Verdict:
        verdict = judged_by(by, judged)
        return change(verdict) if by == gate else verdict

    return judge


def passing(verdict: Verdict) -> Verdict:
    return replace(verdict, outcome=Outcome.PASS, failures=())


def failing(verdict: Verdict) -> Verdict:
    return replace(verdict, outcome=Outcome.FAIL)


def found(cases: list[Case], judge: Judge, gate: Gate) -> dict[str, Any]:
    kinds = [kind for kind in KINDS if kind.gate == gate]
    return as_json(evaluate(cases, count=count, judge=judge, kinds=kinds))


def demand(report: dict[str, Any], says: str) -> dict[str, Any]:
    return next(demand for demand in report["demands"] if demand["says"] == says)


@pytest.mark.parametrize("gate", Gate)
def test_a_gate_that_always_passes_lets_every_planted_defect_pass(gate: Gate, few: list[Case]) -> None:
    report = found(few, with_gate(gate, passing), gate)
    assert not report["holds"]
    assert demand(report, "planted defects that passed")["value"] == report["mutants"]["tried"] > 0


@pytest.mark.parametrize("gate", Gate)
def test_a_gate_that_always_fails_accepts_no_good_artifact_and_tries_no_defect(gate: Gate, few: list[Case]) -> None:
    report = found(few, with_gate(gate, failing), gate)
    assert not report["holds"]
    assert demand(report, "good artifacts accepted, dev")["value"] == 0
    assert demand(report, f"kinds of defects planted for gate {gate}") == {
        "says": f"kinds of defects planted for gate {gate}",
        "value": 0,
        "threshold": 3,
        "holds": False,
    }


def test_one_gate_asked_alone_says_what_it_says_among_all(few: list[Case]) -> None:
    judged = Good(few[0], count).judged
    assert tuple(judged_by(gate, judged) for gate in Gate) == evaluate_gates(judged)


def test_the_recalls_of_the_report_are_those_that_the_gate_measures(few: list[Case]) -> None:
    good = as_json(evaluate(few, count=count, kinds=()))["splits"]["dev"]["good"]
    retained = Counter(entry.section for case in few for entry in to_retain(case))
    assert {name: recall["of"] for name, recall in good["recalls"].items()} == {
        "decision_recall": retained[Section.DECISION],
        "open_work_recall": retained[Section.OPEN_WORK],
        "constraint_recall": retained[Section.CONSTRAINT],
    }
    assert min(retained.values()) > 0


def test_a_refusal_is_told_with_case_gate_rule_and_text(few: list[Case]) -> None:
    def refused(verdict: Verdict) -> Verdict:
        return replace(
            verdict, outcome=Outcome.FAIL, failures=(Failure(rule="too_blue", about="i1", text="It is blue."),)
        )

    report = found(few[:1], with_gate(Gate.TRACEABILITY, refused), Gate.TRACEABILITY)
    assert report["splits"]["dev"]["good"]["refusals"] == [
        {"case": FEW[0], "gate": "B", "rule": "too_blue", "about": "i1", "text": "It is blue."}
    ]
    assert report["splits"]["dev"]["good"]["refused_by"] == {"A": 0, "B": 1, "C": 0, "D": 0, "E": 0}


def test_an_artifact_that_is_accepted_without_an_entry_is_counted_without_the_gates(few: list[Case]) -> None:
    def lenient(gate: Gate, judged: Judged) -> Verdict:
        return passing(judged_by(gate, judged))

    case = few[0]
    less = replace(case, draft=case.draft.model_copy(update={"items": case.draft.items[1:], "headline_items": ()}))
    report = as_json(evaluate([less], count=count, judge=lenient, kinds=()))
    assert demand(report, "accepted without an entry of the ledger")["value"] == 1
    assert report["splits"]["dev"]["good"]["lacking"][0]["case"] == case.id


def test_a_rule_inside_another_needs_no_item_of_its_own(few: list[Case]) -> None:
    case, rule = next((case, entry) for case in few for entry in to_retain(case) if entry.section == Section.CONSTRAINT)
    shorter = replace(rule, id="inside", text=rule.text.rsplit(" ", 1)[0])
    assert lacking(replace(case, ledger=(*case.ledger, shorter)), Good(case, count).artifact) == []


def test_nothing_is_lacking_in_the_good_artifacts(whole: tuple[Case, ...]) -> None:
    assert [(case.id, missed) for case in whole if (missed := lacking(case, Good(case, count).artifact))] == []


def test_every_planted_defect_but_those_of_structure_is_a_draft_that_can_be_read(few: list[Case]) -> None:
    mutants = [mutant for kind in KINDS for case in few for mutant in kind.of(Good(case, count))]
    assert all(mutant.judged.artifact is not None for mutant in mutants)
    assert all(mutant.changed for mutant in mutants)


def test_every_planted_defect_is_another_input_than_the_good_artifact(few: list[Case]) -> None:
    same = [
        kind.name
        for kind in KINDS
        for case in few
        for good in [Good(case, count)]
        for mutant in kind.of(good)
        if mutant.judged == good.judged
    ]
    assert same == []


def test_each_gate_has_kinds_of_defects_each_with_a_name_of_its_own() -> None:
    per_gate = Counter(kind.gate for kind in KINDS)
    assert all(per_gate[gate] >= 12 for gate in Gate)
    assert len({kind.name for kind in KINDS}) == len(KINDS) >= 90


# The set


def test_the_test_scopes_are_enough_to_say_something(whole: tuple[Case, ...]) -> None:
    test = [case for case in whole if case.split == "test"]
    entries = Counter((entry.section, entry.status) for case in test for entry in case.ledger)
    assert entries[Section.DECISION, Status.ACCEPTED] >= 60
    assert entries[Section.OPEN_WORK, Status.OPEN] + entries[Section.OPEN_WORK, Status.BLOCKED] >= 60


def test_there_are_scopes_of_others_and_written_ones(whole: tuple[Case, ...]) -> None:
    origins = Counter(case.origin == "written" for case in whole)
    assert origins[False] >= 30
    assert origins[True] >= 30


@pytest.mark.parametrize("trait", sorted(TRAITS))
def test_every_trait_is_in_the_set(trait: str, whole: tuple[Case, ...]) -> None:
    assert [case.id for case in whole if trait in case.traits]


def test_no_conversation_is_in_both_splits() -> None:
    by_split = {
        split: {json.loads(path.read_text())["origin"].get("conversation") for path in (SET / split).glob("*.json")}
        for split in ("dev", "test")
    }
    assert by_split["dev"] & by_split["test"] <= {None}


def test_texts_of_others_are_of_sources_whose_licence_is_named() -> None:
    licences = (SET.parent / "LICENCES.md").read_text()
    sources = {json.loads(path.read_text())["origin"]["source"] for path in SET.rglob("*.json")} - {"written"}
    assert sources
    assert all(f"| {source}" in licences for source in sources)


@pytest.fixture(scope="module")
def of_the_whole_set(whole: tuple[Case, ...]) -> dict[str, Any]:
    return as_json(evaluate(whole, count=count))


ASKED = (
    "good artifacts accepted, dev",
    "good artifacts accepted, test",
    "extractive drafts accepted, dev",
    "extractive drafts accepted, test",
    "drafts parsed",
    "accepted without an entry of the ledger",
    "planted defects that passed",
    "kinds of defects planted too seldom",
    *(f"kinds of defects planted for gate {gate}" for gate in Gate),
)


@pytest.mark.slow
@pytest.mark.parametrize("says", ASKED)
def test_what_is_asked_of_the_gates_holds_over_the_whole_set(says: str, of_the_whole_set: dict[str, Any]) -> None:
    asked = demand(of_the_whole_set, says)
    assert asked["holds"], asked


@pytest.mark.slow
def test_each_kind_of_defect_can_be_planted_often_enough_whatever_the_gates_say(
    of_the_whole_set: dict[str, Any],
) -> None:
    planted = {kind["kind"]: kind["tried"] + kind["skipped"] for kind in of_the_whole_set["mutants"]["kinds"]}
    assert {kind.name: planted[kind.name] for kind in KINDS if planted[kind.name] < kind.least} == {}
    assert sum(planted.values()) >= 5_000


@pytest.mark.slow
def test_everything_that_is_asked_is_asked_here(of_the_whole_set: dict[str, Any]) -> None:
    assert sorted(demand["says"] for demand in of_the_whole_set["demands"]) == sorted(ASKED)


# The command


def test_a_directory_with_one_wrong_annotation_is_refused_by_name(tmp_path: Path) -> None:
    file = small()
    file["annotations"]["decisions"][0]["spans"][0]["quote"] = "We take the leather case."
    path = put(file, tmp_path)
    with pytest.raises(CommandError, match="d1 quotes what message 1 does not say") as error:
        call_command("evaluate_gates", str(tmp_path))
    assert str(path) in str(error.value)


def test_a_directory_without_cases_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="has no cases"):
        call_command("evaluate_gates", str(tmp_path))


@pytest.mark.slow
def test_the_document_has_the_table_that_is_printed_with_the_counts_of_the_set(
    of_the_whole_set: dict[str, Any],
) -> None:
    printed = [row.split("|") for row in table(of_the_whole_set)]
    document = (ROOT / "docs/compaction.md").read_text()
    written = [row.split("|") for row in document.partition("| | dev |")[2].splitlines()[1:] if row.startswith("|")]
    assert [row[1] for row in written[1:]] == [row[1] for row in printed[2:]]
    assert [row[2:4] for row in written[1:5]] == [row[2:4] for row in printed[2:6]]


def test_what_the_artifact_says_otherwise_than_its_annotation_is_a_refusal_and_exit_status_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = json.loads((SET / "dev" / f"{FEW[0]}.json").read_text())
    file["annotations"]["decisions"][0]["status"] = "rejected"
    put(file, tmp_path)
    with pytest.raises(SystemExit) as ended:
        call_command("evaluate_gates", str(tmp_path), "--fast")
    assert ended.value.code == 1
    printed = capsys.readouterr().out
    assert "good: 0 of 1 accepted" in printed
    assert "FAILS  good artifacts accepted, dev: 0 (threshold 0.95)" in printed


DRAFT = {"case": FEW[0], "model": "some-model", "stop_reason": "stop", "usage": None, "elapsed_ms": 1_500}


def test_recorded_drafts_are_shown_by_model_and_change_no_demand(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    case = SET / "dev" / f"{FEW[0]}.json"
    (tmp_path / "dev").mkdir()
    shutil.copy(case, tmp_path / "dev")
    written = json.dumps(json.loads(case.read_text())["artifact"])
    drafts = tmp_path / "drafts.jsonl"
    drafts.write_text(json.dumps(DRAFT | {"text": written}) + "\n" + json.dumps(DRAFT | {"text": "Sorry."}) + "\n")
    reports = []
    for options in ([], ["--drafts", str(drafts)]):
        with suppress(SystemExit):
            call_command("evaluate_gates", str(tmp_path), "--fast", "--json", *options)
        reports.append(json.loads(capsys.readouterr().out))
    plain, beside = reports
    assert beside["demands"] == plain["demands"]
    assert beside["recorded"]["some-model"]["drafts"] == 2
    assert beside["recorded"]["some-model"]["parse_success_rate"] == 0.5
    assert beside["recorded"]["some-model"]["refused_by"]["E"] == 2  # of the first nobody knows the usage


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (json.dumps(DRAFT | {"text": "{}", "case": "no-such"}), "line 1: there is no case no-such"),
        (json.dumps(DRAFT), "line 1: text: Field required"),
        ("{", "line 1: not JSON"),
    ],
)
def test_recorded_drafts_that_cannot_be_read_are_refused(line: str, says: str, tmp_path: Path) -> None:
    drafts = tmp_path / "drafts.jsonl"
    drafts.write_text(line)
    with pytest.raises(CommandError, match=says):
        call_command("evaluate_gates", str(SET), "--drafts", str(drafts))


@pytest.mark.slow
def test_the_bytes_are_the_same_in_another_process_and_there_is_no_database(tmp_path: Path) -> None:
    (tmp_path / "dev").mkdir()
    shutil.copy(SET / "dev" / f"{FEW[0]}.json", tmp_path / "dev")
    home = tmp_path / "home"
    runs = [
        manage("evaluate_gates", str(tmp_path), "--json", CCM_HOME=str(home), PYTHONHASHSEED=seed)
        for seed in ("1", "2")
    ]
    assert runs[0].stdout == runs[1].stdout
    assert json.loads(runs[0].stdout)["splits"]["dev"]["cases"] == 1
    assert not list(home.rglob("*.sqlite3"))


@pytest.mark.parametrize(
    ("part", "whole", "interval"),
    [(0, 0, (0, 1)), (10, 10, (0.7225, 1)), (0, 10, (0, 0.2775)), (95, 100, (0.8882, 0.9785))],
)
def test_an_interval_is_wilson_s(part: int, whole: int, interval: tuple[float, float]) -> None:
    assert wilson(part, whole) == pytest.approx(interval, abs=1e-4)
