"""Invariants over random conversations, and the same bytes in every process."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from functools import lru_cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from efforts.domain.prompt.plan import Plan, PlanInputs, RequiredTooLarge
from efforts.domain.prompt.planner import plan
from efforts.llm.tokens import get_counter
from tests.planner.invariants import INVARIANTS
from tests.planner.strategies import histories

RANDOM = settings(suppress_health_check=list(HealthCheck))
# The same sayings stand in most conversations.
MEASURED = histories(count=lru_cache(maxsize=4_096)(get_counter().count))


def assert_invariants(inputs: PlanInputs) -> None:
    """Either nothing is sent and the refusal says how much is needed, or everything holds."""
    planned = plan_or_refusal(inputs)
    if isinstance(planned, RequiredTooLarge):
        assert planned.needed > planned.budget == inputs.budget.effective
        return
    for holds in INVARIANTS:
        holds(inputs, planned)


def plan_or_refusal(inputs: PlanInputs) -> Plan | RequiredTooLarge:
    try:
        return plan(inputs)
    except RequiredTooLarge as refusal:
        return refusal


@given(inputs=histories())
@settings(RANDOM, max_examples=150)
def test_every_plan_holds_the_invariants(inputs: PlanInputs) -> None:
    assert_invariants(inputs)


@given(inputs=MEASURED)
@settings(RANDOM, max_examples=40)
def test_every_plan_holds_the_invariants_with_the_real_tokenizer(inputs: PlanInputs) -> None:
    assert_invariants(inputs)


@pytest.mark.soak
@given(inputs=histories())
@settings(RANDOM, max_examples=2_000)
def test_thousands_of_plans_hold_the_invariants(inputs: PlanInputs) -> None:
    assert_invariants(inputs)


@pytest.mark.soak
@given(inputs=MEASURED)
@settings(RANDOM, max_examples=500)
def test_many_plans_hold_the_invariants_with_the_real_tokenizer(inputs: PlanInputs) -> None:
    assert_invariants(inputs)


def digests(many: list[PlanInputs]) -> list[str]:
    """Of each plan the hash of its request and its body, keys in the order in which they were put there."""
    made = map(plan_or_refusal, many)
    return [f"{one.request_sha256} {one.body()!r}" if isinstance(one, Plan) else repr(one.parts) for one in made]


IN_ANOTHER_PROCESS = """
import pickle, sys
from tests.planner.test_every_plan import digests
sys.stdout.buffer.write(pickle.dumps(digests(pickle.load(sys.stdin.buffer))))
"""


@given(many=st.lists(histories(), min_size=8, max_size=8))
@settings(RANDOM, max_examples=2)
def test_another_process_with_another_hash_seed_makes_the_same_plan(many: list[PlanInputs]) -> None:
    here = Path(__file__).parents[2]
    environment = {**os.environ, "PYTHONHASHSEED": "4321", "PYTHONPATH": str(here)}
    command = [sys.executable, "-c", IN_ANOTHER_PROCESS]
    ran = subprocess.run(command, input=pickle.dumps(many), env=environment, capture_output=True, check=True)
    assert pickle.loads(ran.stdout) == digests(many)
