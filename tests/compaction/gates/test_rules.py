"""Each rule of each gate is broken by something, and is then named."""

from __future__ import annotations

import pytest

from compaction.domain.gates.rules import RULES
from compaction.domain.verdicts import Gate, Outcome
from tests.compaction.gates import cases
from tests.compaction.gates.broken import BROKEN

GATE_OF = {rule: gate for gate, rules in RULES.items() for rule in rules}


@pytest.mark.parametrize("rule", GATE_OF)
def test_what_breaks_a_rule_fails_its_gate_by_that_name(rule: str) -> None:
    verdict = cases.verdict(BROKEN[rule](), GATE_OF[rule])
    assert verdict.outcome == Outcome.FAIL
    assert rule in [failure.rule for failure in verdict.failures]


@pytest.mark.parametrize("rule", BROKEN)
def test_no_gate_names_a_rule_that_is_not_in_the_table(rule: str) -> None:
    given = BROKEN[rule]()
    assert {(rule, gate) for gate in Gate for rule in cases.rules(given, gate)} <= set(GATE_OF.items())


def test_a_rule_has_one_gate() -> None:
    assert len(GATE_OF) == sum(len(rules) for rules in RULES.values())
