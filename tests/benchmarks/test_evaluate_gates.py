"""What the evaluation of check and gates says: from answers that are recorded, for each mistake by itself."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from benchmarks.gates.cases import Case, Unreadable, read_cases
from benchmarks.gates.converting import conversion, converted
from benchmarks.gates.mutants import KINDS, Good, Mutants
from benchmarks.gates.pending import Pending, text_of
from benchmarks.gates.planting import MOST, is_of_value, is_of_words, packed, planted, with_planted
from benchmarks.gates.record import MODEL, Record, read_record, record_server
from compaction.domain.artifact import Draft
from compaction.drafting.requesting import Request, ask, drafting_again, request
from efforts.context.connections import ModelChoice
from efforts.turns.recording import count
from tests.benchmarks.case_files import put, small
from tests.benchmarks.reader import Reader, put_trust
from tests.house.process import ROOT

pytestmark = pytest.mark.long

SET = ROOT / "benchmarks/evaluation"
ROUNDS = 8


def choice(url: str) -> ModelChoice:
    return ModelChoice(kind="endpoint", label=MODEL, model=MODEL, base_url=url, timeout_seconds=10)


def asked(words: str = "What?", reply: int = 500) -> Request:
    return request(words, Draft, reply)


# The record


def test_a_recorded_answer_is_given_on_the_product_s_own_path_with_what_it_used() -> None:
    one = asked()
    with record_server(Record().with_answers({one.key: '{"claims": []}'}, "Ada")) as server:
        answer = asyncio.run(ask(one, choice(server.url)))
    assert (answer.text, answer.stop_reason, answer.error) == ('{"claims": []}', "stop", "")
    assert (answer.usage.source, answer.usage.output) == ("provider", count('{"claims": []}'))
    assert answer.usage.input > count(one.messages[0]["content"])
    assert server.used == {one.key}


def test_a_request_without_an_answer_fails_and_is_noted_as_pending() -> None:
    one = asked()
    with record_server(Record()) as server:
        answer = asyncio.run(ask(one, choice(server.url)))
    assert answer.text == ""
    assert answer.error
    assert list(server.pending) == [one.key]
    assert list(server.pending[one.key]) == list(one.messages)


def test_a_recorded_answer_is_cut_at_the_limit_of_the_reply() -> None:
    one = asked(reply=5)
    with record_server(Record().with_answers({one.key: "one two three four five six seven eight"}, "Ada")) as server:
        answer = asyncio.run(ask(one, choice(server.url)))
    assert answer.stop_reason == "length"
    assert "one two three four five six".startswith(answer.text)


def test_a_record_is_the_same_bytes_in_whatever_order_it_was_answered(tmp_path: Path) -> None:
    for name, keys in (("a", ("1" * 64, "2" * 64)), ("b", ("2" * 64, "1" * 64))):
        record = Record()
        for key in keys:
            record = record.with_answers({key: f"“{key}”\n"}, "Ada")
        record.write(tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert read_record(tmp_path / "a").answers["1" * 64].by == "Ada"


def test_an_exported_request_tells_no_more_than_its_step_its_log_and_its_words() -> None:
    again = drafting_again(asked("The log."), '{"claims": [1]}', ["claim 1: it cites no sentence"])
    lines = text_of(Pending(step="repair", log="07", request=again)).splitlines()
    assert lines[0] == "<!-- step: repair | log: 07 -->"
    assert [line for line in lines if line.startswith("=====")] == [
        "===== SYSTEM =====",
        "===== USER =====",
        "===== ASSISTANT =====",
        "===== USER =====",
    ]
    assert '{"claims": [1]}' in lines


# The command


@pytest.fixture
def case(tmp_path: Path) -> Case:
    put(small(), tmp_path / "cases")
    return put_trust(tmp_path)


def evaluate(folder: Path, *options: str) -> str:
    out = StringIO()
    call_command("evaluate_gates", str(folder), *options, "--trust", str(folder / "trust/dev.jsonl"), stdout=out)
    return out.getvalue()


def answer_all(folder: Path, reader: Reader) -> list[set[str]]:
    """Round by round what was asked, until nothing is pending."""
    rounds: list[set[str]] = []
    answers: list[str] = []
    for number in range(ROUNDS):
        asked = folder / f"asked{number}"
        with pytest.raises(SystemExit) as ended:
            evaluate(folder, "--export", str(asked), *answers)
        assert ended.value.code == 0
        given = folder / f"answers{number}"
        answers = ["--answers", str(given), "--by", "Ada"]
        if not (steps := reader.answer_all(asked, given)):
            return rounds
        rounds.append(set(steps))
    raise AssertionError(f"after {ROUNDS} rounds there still are requests")


def figures(folder: Path, *options: str) -> dict[str, Any]:
    out = StringIO()
    asked = ("--json", *options, "--trust", str(folder / "trust/dev.jsonl"))
    with pytest.raises(SystemExit):
        call_command("evaluate_gates", str(folder), *asked, stdout=out)
    found: dict[str, Any] = json.loads(out.getvalue())
    return found


def test_a_record_that_lacks_an_answer_fails_and_says_to_export_again(case: Case, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="Export again"):
        evaluate(tmp_path)


def test_answers_given_elsewhere_are_kept_with_who_gave_them_until_nothing_is_asked_any_more(
    case: Case, tmp_path: Path
) -> None:
    rounds = answer_all(tmp_path, Reader(case))
    assert rounds[0] == {"conversion", "inventory", "exam"}
    assert {"half", "mapping"} <= set.union(*rounds[1:])
    assert read_record(tmp_path / "record/answers.jsonl").by == ("Ada",)


@pytest.mark.slow
def test_the_record_is_whole_and_gives_the_figures_of_the_document() -> None:
    printed = StringIO()
    # It would end with status 1 where a demand were missed.
    call_command("evaluate_gates", str(SET), stdout=printed)
    document = (ROOT / "docs/compaction.md").read_text(encoding="utf-8")
    assert printed.getvalue().strip() in document


def test_a_reader_who_notices_every_mistake_refuses_all_and_no_true_claim(case: Case, tmp_path: Path) -> None:
    answer_all(tmp_path, Reader(case))
    found = figures(tmp_path)
    assert found["good summaries"]["first"]["passed"] == 1
    mistakes = found["planted mistakes"]
    assert (mistakes["judged"], mistakes["void"], len(mistakes["missed"])) == (7, 0, 0)
    assert mistakes["refused"]["omissions"]["part"] == 2
    assert mistakes["true_claims"]["doubted"]["part"] == 0
    # Whose words or claim are not there, and of quotations, which claims have none of.
    assert [one["kind"] for one in mistakes["not_plantable"]] == ["wrong owner"]
    assert mistakes["of_quotations_that_claims_no_more_have"] == 1


def test_of_a_reader_who_notices_nothing_only_what_code_can_tell_is_refused(case: Case, tmp_path: Path) -> None:
    answer_all(tmp_path, Reader(case, notices=False))
    mistakes = figures(tmp_path)["planted mistakes"]
    missed = {one["kind"] for one in mistakes["missed"]}
    assert {"wrong reason", "negation dropped"} <= missed
    assert "wrong number" not in missed
    assert mistakes["refused_by_exact_detectors_alone"]["values"]["part"] == 1
    assert mistakes["refused_by_exact_detectors_alone"]["words only"]["part"] == 0


def test_what_a_reader_who_is_asleep_says_is_counted_as_void_and_neither_as_refused_nor_as_passed(
    case: Case, tmp_path: Path
) -> None:
    answer_all(tmp_path, Reader(case, awake=False))
    found = figures(tmp_path)
    assert found["good summaries"]["first"]["void"] == 1
    mistakes = found["planted mistakes"]
    assert (mistakes["judged"], mistakes["void"]) == (0, 7)
    assert mistakes["checks"]["void"] == mistakes["checks"]["made"]


def test_an_endpoint_that_answers_as_the_record_does_has_the_same_figures_and_its_latency(
    case: Case, tmp_path: Path
) -> None:
    answer_all(tmp_path, Reader(case))
    recorded = figures(tmp_path)
    with record_server(read_record(tmp_path / "record/answers.jsonl")) as server:
        asked = figures(tmp_path, "--url", server.url, "--model", MODEL)
    assert asked["planted mistakes"] == recorded["planted mistakes"]
    assert asked["latency"]["elapsed_ms_p95"] > 0
    assert "latency" not in recorded


def test_recorded_answers_that_nothing_asks_for_are_dropped_when_pruned(case: Case, tmp_path: Path) -> None:
    answer_all(tmp_path, Reader(case))
    path = tmp_path / "record/answers.jsonl"
    needed = path.read_bytes()
    read_record(path).with_answers({"0" * 64: "?"}, "Bo").write(path)
    with pytest.raises(SystemExit):
        evaluate(tmp_path, "--prune")
    assert path.read_bytes() == needed


# Mistakes that are planted


def claims_of(case: Case) -> Draft:
    return converted(case, json.dumps({"claims": Reader(case).claims}))


def test_every_mistake_is_in_one_variant_which_has_few_and_no_two_of_one_claim(case: Case) -> None:
    claims = claims_of(case).claims
    found = [one for defect in case.defects if (one := planted(defect, case, claims))]
    variants = packed([*found, *found])
    assert Counter(id(one) for variant in variants for one in variant) == Counter(map(id, [*found, *found]))
    for variant in variants:
        assert len(variant) <= MOST
        assert len({one.claim for one in variant}) == len(variant)


def test_a_variant_differs_from_the_good_summary_in_its_mistakes_alone(case: Case) -> None:
    claims = claims_of(case).claims
    found = [one for defect in case.defects if (one := planted(defect, case, claims))]
    for variant in packed(found):
        told = with_planted(claims, variant).claims
        wrong = {one.claim for one in variant}
        assert [claim for claim in told if claim.id not in wrong] == [c for c in claims if c.id not in wrong]
        assert {claim.id for claim in told} & wrong == {one.claim for one in variant if one.after}


def test_owner_and_due_date_say_what_a_changed_text_says(case: Case) -> None:
    claims = claims_of(case).claims
    defect = case.defects[2].model_copy(
        update={"replace": "Jo orders 40 cases by Friday", "by": "Mara orders 40 cases by Monday"}
    )
    one = planted(defect, case, claims)
    assert one is not None
    assert one.after is not None
    assert (one.after.owner, one.after.due) == ("Mara", "Monday")


def test_mistakes_of_words_change_no_number_and_no_name(case: Case) -> None:
    assert [defect.kind for defect in case.defects if is_of_words(defect)] == [
        "wrong reason",
        "negation dropped",
        "headline: meaning inverted",
    ]
    assert [defect.kind for defect in case.defects if is_of_value(defect)] == ["wrong number"]


def test_what_a_conversion_changes_of_a_text_is_put_back_and_other_notes_are_refused(case: Case) -> None:
    claims = Reader(case).claims
    changed = [{**one, "text": f"{one['text']} Or so."} if one["id"] == "5" else one for one in claims]
    assert converted(case, json.dumps({"claims": changed})) == claims_of(case)
    with pytest.raises(Unreadable, match="not the same notes"):
        converted(case, json.dumps({"claims": claims[:-1]}))
    assert case.source.text in conversion(case).messages[1]["content"]


# The exact detectors


@pytest.fixture(scope="module")
def few() -> list[Case]:
    return list(read_cases(SET / "cases", ("dev",)))[::8]


def test_each_mutant_of_the_exact_detectors_is_refused_by_its_gate(few: list[Case]) -> None:
    mutants = Mutants(cases=few)
    mutants.measure()
    assert mutants.survivors == []
    assert {kind.gate for kind in KINDS if mutants.tried[kind.name]} == {kind.gate for kind in KINDS}


def test_no_mutant_is_what_its_good_summary_is(few: list[Case]) -> None:
    good = Good(few[0])
    for kind in KINDS:
        assert all(judged != good.judged for judged in kind.make(good)), kind.name
