"""`manage.py proof_run`: what the seeds claim, measured."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from io import StringIO
from pathlib import Path
from typing import Any
from unittest.mock import ANY
from xml.etree import ElementTree

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import transaction

from benchmarks import proofs
from benchmarks.management.commands.proof_run import beside
from benchmarks.proofs import PROOFS, Proof, Step, counting
from benchmarks.proofs import slices as told
from compaction.domain.lifecycle import ArtifactState
from compaction.models import Artifact, GateRun
from compaction.standing import accepting
from efforts.actions import pointers
from efforts.context import planning
from efforts.domain.prompt.budget import Budget
from efforts.domain.prompt.plan import Layout
from efforts.domain.prompt.rendering import count_request
from efforts.llm.tokens import TiktokenCounter
from efforts.memory import ageing, references
from efforts.models import Branch, ContextPointer, EffortState, Event, Message, Session
from efforts.standins import compacting

pytestmark = [pytest.mark.django_db, pytest.mark.long]


def proof_run(*names: str, **options: Any) -> str:
    out = StringIO()
    call_command("proof_run", *names, stdout=out, **options)
    return out.getvalue()


@cache
def measured(name: str) -> dict[str, Any]:
    """Once for all tests: it takes seconds, and is the same every time."""
    document: dict[str, Any] = json.loads(proof_run(name, json=True))
    assert document["holds"] is True
    (proof,) = document["proofs"]
    assert isinstance(proof, dict)
    return proof


def test_both_slices_hold_and_say_so_beside_the_seed_s_figures() -> None:
    report = proof_run("slice1", "slice2")
    assert "FAILS" not in report
    assert report.count("holds ") == 10
    assert "80-94 %" in report


def test_all_proofs_run_where_none_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(session: Session) -> Proof:
        return Proof(name="nothing", title="Nothing", session=session)

    for name in PROOFS:
        monkeypatch.setitem(PROOFS, name, nothing)
    assert len(json.loads(proof_run(json=True))["proofs"]) == len(PROOFS)


def test_the_effort_s_layer_is_four_fifths_smaller_once_it_is_concluded() -> None:
    *_, worked, after = measured("slice1")["steps"]
    assert after["layers"]["summary"] <= 0.2 * worked["layers"]["active"]
    assert after["prompt"] < worked["prompt"]
    assert "active" not in after["layers"]


def test_expanding_and_collapsing_is_a_round_trip_in_the_table_too() -> None:
    steps = measured("slice2")["steps"]
    before, expanded, answered, collapsed = (step["prompt"] for step in steps[1:5])
    assert expanded > before
    assert collapsed - before == answered - expanded


@pytest.mark.parametrize("name", ["slice3", "slice4"])
def test_memory_manages_itself_as_the_seeds_say(name: str) -> None:
    proof = measured(name)
    assert [claim["text"] for claim in proof["claims"] if not claim["holds"]] == []
    assert len(proof["claims"]) >= 10


def test_the_rows_of_slice_3_are_the_seed_s() -> None:
    *rows, _ = measured("slice3")["steps"]
    assert [(row["sent"] or row["next"])["expanded"] for row in rows] == [[], *[["auth-bug"]] * 5, [], ["auth-bug"]]
    assert [row["says"].rpartition(": ")[2] for row in rows[1:6]] == ["0", "0", "1", "2", "3 -> auto-collapsed"]
    assert [row["seed"] for row in rows] == ["180", "780", "860", "940", "1,020", "1,100", "580", "1,180"]
    assert rows[5]["prompt"] < rows[4]["prompt"]
    assert rows[7]["sent"]["tokens"] > rows[6]["sent"]["tokens"]


def test_the_rows_of_slice_4_are_the_seed_s_but_where_it_contradicts_itself() -> None:
    rows = measured("slice4")["steps"]
    shown = [row["sent"] or row["next"] for row in rows]
    auth, perf, *others = shown[0]["summaries"]
    assert [len(one["summaries"]) for one in shown] == [5, 5, 2, 1, 0, 0]
    assert (shown[2]["summaries"], shown[3]["summaries"]) == ([auth, perf], ["db-migration"])
    assert [row["next"]["summaries"] for row in rows[2:]] == [[], ["db-migration"], [], ["db-migration"]]
    assert [one["expanded"] for one in shown] == [*[[]] * 4, *[["db-migration"]] * 2]
    assert {one["ambient"] for one in shown} == {10}
    assert len(others) == 3
    assert "21 - 1 >= 20. The rule holds" in rows[2]["note"]


def test_what_a_row_has_besides_tokens_and_where_the_seed_contradicts_itself_is_printed() -> None:
    collapsed, contradicted = (Step(**measured(name)["steps"][row]) for name, row in (("slice3", 5), ("slice4", 2)))
    assert "auth-bug: 3 -> auto-collapsed (seed: auth-bug: 3 -> AUTO-COLLAPSE)" in "".join(beside(collapsed))
    assert "Note: The seed keeps 1 and 2" in "".join(beside(contradicted))


@pytest.mark.parametrize("first", [0, 3])
def test_rolling_back_gives_the_request_that_was_before(first: int) -> None:
    waits, stands, back = measured("rollback")["steps"][first : first + 3]
    assert back["says"] == f"{waits['says']}, the same as before"
    assert stands["says"].endswith(", another than before")
    summaries = [step["layers"].get("summary", 0) for step in (waits, stands, back)]
    assert summaries[0] == summaries[2] < summaries[1]
    assert stands["prompt"] < waits["prompt"]


SAME_BYTES = "Once they are rolled back for {}, the request has the same bytes as before"


def test_a_rollback_that_changes_nothing_fails_its_claim(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(compacting.registered()), "roll_back", lambda *arguments: [])
    assert {SAME_BYTES.format(name) for name in ("auth-bug", "turns 5-12")} < set(failing("rollback"))


def test_each_proof_is_drawn_beside_everything_said(tmp_path: Path) -> None:
    proof_run("slice1", "rollback", plot=tmp_path / "proof.svg")
    drawn = ElementTree.parse(tmp_path / "proof-slice1.svg").getroot()
    said = "".join(drawn.itertext())
    last = measured("slice1")["steps"][-1]
    assert f"It is concluded: {last['prompt']:,} of {last['said']:,}" in said
    assert "Everything said" in said
    assert (tmp_path / "proof-rollback.svg").exists()


@pytest.mark.server
@pytest.mark.slow
def test_a_server_killed_in_the_middle_of_an_answer_loses_nothing_committed(tmp_path: Path) -> None:
    home = tmp_path / "home"
    document = json.loads(proof_run("kill", json=True, home=home))
    claims = document["proofs"][0]["claims"]
    assert (len(claims), document["holds"]) == (5, True)
    assert (home / "db.sqlite3").exists()


def test_a_folder_that_is_there_is_left_alone(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="is there already"):
        proof_run("kill", home=tmp_path)
    with pytest.raises(CommandError, match="--home is for kill"):
        proof_run("slice1", home=tmp_path / "new")


def late(now: int, last: int, threshold: int) -> bool:
    return now - last > threshold


def early(now: int, last: int, threshold: int) -> bool:
    return now - last >= threshold - 1


def never(now: int, last: int, threshold: int) -> bool:
    return False


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("slice3", late),
        pytest.param("slice4", early, marks=pytest.mark.slow),
        pytest.param("slice3", early, marks=pytest.mark.slow),
        pytest.param("slice3", never, marks=pytest.mark.slow),
        pytest.param("slice4", late, marks=pytest.mark.slow),
        pytest.param("slice4", never, marks=pytest.mark.slow),
    ],
)
def test_a_broken_rule_fails_claims(monkeypatch: pytest.MonkeyPatch, name: str, rule: Callable[..., bool]) -> None:
    monkeypatch.setattr(ageing, "stale", rule)
    assert failing(name)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "threshold"), [("slice3", "decay_threshold"), ("slice4", "eviction_threshold")])
def test_another_threshold_fails_claims(monkeypatch: pytest.MonkeyPatch, name: str, threshold: str) -> None:
    proof = PROOFS[name]

    def with_other(session: Session) -> Proof:
        setattr(session, threshold, getattr(session, threshold) + 1)
        session.save(update_fields=[threshold])
        return proof(session)

    monkeypatch.setitem(PROOFS, name, with_other)
    assert failing(name)


Patch = pytest.MonkeyPatch


def no_references(patch: Patch) -> None:
    patch.setattr("efforts.memory.references.find_references", lambda branch, text: [])


def no_keyword_references(patch: Patch) -> None:
    patch.setattr("efforts.context.references.by_keywords", lambda *arguments, **options: iter(()))


def no_reply_references(patch: Patch) -> None:
    patch.setattr(references, "of_reply", lambda run, said: None)


def restores_nothing_earlier(patch: Patch) -> None:
    patch.setattr(pointers, "restore_before", lambda branch, pointer: [])


def stays_expanded(patch: Patch) -> None:
    def rolled_back(branch: Branch, pointer: ContextPointer, **options: Any) -> list[ContextPointer]:
        states = EffortState.objects.filter(branch=branch, effort=pointer.effort)
        before = states.values_list("expanded_turn", flat=True).first()
        restored = pointers.roll_back(branch, pointer, **options)
        states.update(expanded_turn=before)
        return restored

    patch.setattr(accepting, "roll_back", rolled_back)


def writes_no_history(patch: Patch) -> None:
    patch.setattr(pointers, "note", lambda *arguments, **options: None)


def without_gates(patch: Patch) -> None:
    judged = accepting.check_judged

    def passed(artifact: Artifact, log: Any, **options: Any) -> GateRun:
        artifact.state = ArtifactState.REPLACEABLE
        return judged(artifact, log, **options)

    patch.setattr(accepting, "check_judged", passed)


def of_a_stale_log(patch: Patch) -> None:
    patch.setattr(accepting, "inputs_of", lambda *arguments: ANY)


def ignores_the_layout(patch: Patch) -> None:
    patch.setattr(planning, "read_layout", lambda branch, key: Layout())


ANEW = "A reference begins the count anew"
MOVED = "Once the budget is reached the log loses its oldest turns in blocks, and not one in each prompt"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "broken", "claim"),
    [
        ("slice3", no_references, ANEW),
        ("slice3", no_keyword_references, "Words of its summary refer to it where its name is not said"),
        ("slice3", no_reply_references, "What the assistant says refers to it too"),
        ("rollback", restores_nothing_earlier, SAME_BYTES.format("turns 5-12")),
        ("rollback", stays_expanded, SAME_BYTES.format("auth-bug")),
        ("rollback", writes_no_history, "The history has each of these steps, and whose it was"),
        ("rollback", without_gates, "What the gates do not pass cannot stand"),
        ("rollback", of_a_stale_log, "Nor can excerpts of a log that has grown since"),
        ("budget", ignores_the_layout, MOVED),
    ],
)
def test_what_is_broken_fails_its_claim(
    monkeypatch: Patch, name: str, broken: Callable[[Patch], None], claim: str
) -> None:
    broken(monkeypatch)
    assert claim in failing(name)


COUNTED = "Each plan says as many tokens as its request has, system text and schemas of tools among them"


def fifty_more(patch: Patch) -> None:
    patch.setattr(Budget, "effective", property(lambda budget: budget.setting + 50))


def counted_low(patch: Patch) -> None:
    count = TiktokenCounter.count
    patch.setattr(TiktokenCounter, "count", lambda counter, text: int(count(counter, text) * 0.9))


def without_schemas(patch: Patch) -> None:
    def without(request: dict[str, Any], count: Callable[[str], int]) -> int:
        return count_request({**request, "tools": []}, count)

    patch.setattr("efforts.domain.prompt.assembly.count_request", without)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("broken", "claim"),
    [
        (fifty_more, "The longest message that fits is sent, and one of a token more is not"),
        (counted_low, COUNTED),
        (without_schemas, COUNTED),
    ],
)
def test_what_is_miscounted_fails_its_claim_after_a_turn_already(
    monkeypatch: Patch, broken: Callable[[Patch], None], claim: str
) -> None:
    monkeypatch.setattr(counting, "TURNS", 1)
    broken(monkeypatch)
    # That its log is not cut by then is no fault.
    assert claim in failing("budget")


def failing(name: str) -> list[str]:
    """The claims that do not hold; the exit status says so too."""
    out = StringIO()
    with pytest.raises(SystemExit) as ended:
        call_command("proof_run", name, json=True, stdout=out)
    assert ended.value.code == 1
    document = json.loads(out.getvalue())
    assert document["holds"] is False
    return [claim["text"] for claim in document["proofs"][0]["claims"] if not claim["holds"]]


# The budget's takes as long as three others.
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] if name == "budget" else []) for name in PROOFS]
)
def test_each_step_s_layers_make_up_its_prompt(name: str) -> None:
    for step in measured(name)["steps"]:
        assert sum(step["layers"].values()) == step["prompt"]
        assert step["talk"] == step["prompt"] - step["layers"]["system"]


def test_nothing_of_it_stays_in_the_database(alice: User) -> None:
    proof_run("slice3")
    assert list(User.objects.all()) == [alice]
    assert not any(rows.objects.exists() for rows in (Session, Message, Event))


@pytest.mark.parametrize("name", ["slice2", pytest.param("slice3", marks=pytest.mark.slow)])
def test_it_gives_the_same_figures_whatever_model_answers_otherwise(settings: Any, name: str) -> None:
    before = measured(name)
    settings.CCM_MODEL_URL = "http://nowhere.invalid/v1"
    assert measured.__wrapped__(name) == before


def test_a_claim_that_does_not_hold_is_told_by_the_exit_status(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(told, "SMALLER", 0.999)
    with pytest.raises(SystemExit) as ended:
        proof_run("slice1")
    assert ended.value.code == 1


def test_an_unknown_proof_is_refused() -> None:
    with pytest.raises(CommandError, match="no proof 'slice9'"):
        proof_run("slice9")


def test_a_proof_that_breaks_leaves_nothing_either(monkeypatch: pytest.MonkeyPatch) -> None:
    def breaks(session: Session) -> Proof:
        raise ZeroDivisionError

    monkeypatch.setitem(PROOFS, "slice1", breaks)
    with pytest.raises(ZeroDivisionError), transaction.atomic():
        proofs.run("slice1")
    assert not Session.objects.exists()
