"""`manage.py proof_run`: what the seeds claim, measured."""

from __future__ import annotations

import json
from io import StringIO
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import transaction

from efforts import proofs
from efforts.models import Event, Message, Session
from efforts.proofs import PROOFS, Proof
from efforts.proofs import slices as told

pytestmark = pytest.mark.django_db


def proof_run(*names: str, **options: Any) -> str:
    out = StringIO()
    call_command("proof_run", *names, stdout=out, **options)
    return out.getvalue()


def measured(name: str) -> dict[str, Any]:
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


def test_all_proofs_run_where_none_is_named() -> None:
    assert [proof["name"] for proof in json.loads(proof_run(json=True))["proofs"]] == list(PROOFS)


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


def test_each_step_s_layers_make_up_its_prompt() -> None:
    for name in PROOFS:
        for step in measured(name)["steps"]:
            assert sum(step["layers"].values()) == step["prompt"]
            assert step["talk"] == step["prompt"] - step["layers"]["system"]


def test_nothing_of_it_stays_in_the_database(alice: User) -> None:
    proof_run()
    assert list(User.objects.all()) == [alice]
    assert not any(rows.objects.exists() for rows in (Session, Message, Event))


def test_it_gives_the_same_figures_whatever_model_answers_otherwise(settings: Any) -> None:
    before = proof_run(json=True)
    settings.CCM_MODEL_URL = "http://nowhere.invalid/v1"
    assert proof_run(json=True) == before


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
