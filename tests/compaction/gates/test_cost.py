"""Gate E: caps, timeouts and sizes."""

from __future__ import annotations

from typing import Any

import pytest

from compaction.domain.artifact import Kind
from compaction.domain.gates import cost
from compaction.domain.limits import Purpose
from compaction.domain.rendering import BODY_FROM
from compaction.domain.verdicts import GateVerdict, Outcome, Spent
from tests.compaction.gates import cases


def judge(**changes: Any) -> GateVerdict:
    return cost.judge(cases.judged(**changes))


def spent(**changes: Any) -> tuple[Spent, ...]:
    base = {"purpose": "compaction_eval", "tokens": 100, "cap": 40_000, "slowest_ms": 10, "timeout_ms": 90_000}
    return (Spent(**{**base, **changes}),)


def rules(verdict: GateVerdict) -> list[str]:
    return [failure.rule for failure in verdict.failures]


@pytest.mark.parametrize(
    ("changes", "rule"),
    [
        ({"tokens": 40_001}, "over_cap"),
        ({"tokens": None}, "no_usage"),
        ({"tokens": -1}, "negative"),
        ({"cap": 0}, "no_cap"),
        ({"timeout_ms": 0}, "no_timeout"),
        ({"slowest_ms": 90_001}, "too_slow"),
    ],
)
def test_each_purpose_has_its_cap_and_each_request_its_timeout(changes: dict[str, Any], rule: str) -> None:
    found = judge(spent=spent(**changes))
    assert found.outcome == Outcome.FAIL
    assert rule in rules(found)


def test_on_the_cap_is_within_it() -> None:
    assert judge(spent=spent(tokens=40_000, slowest_ms=90_000)).outcome == Outcome.PASS


def test_what_is_not_smaller_than_its_source_fails() -> None:
    whole = cases.count(cases.source().said)
    assert judge(tokens=whole - 1).outcome == Outcome.PASS
    assert rules(judge(tokens=whole)) == ["not_smaller"]


def test_a_body_of_a_long_source_takes_a_third_and_of_a_short_one_what_it_needs() -> None:
    made = cases.artifact(cases.claims())
    long = made.model_copy(update={"source": made.source.model_copy(update={"source_tokens": BODY_FROM + 500})})
    assert judge(artifact=long, body_tokens=700).outcome == Outcome.PASS
    assert rules(judge(artifact=long, body_tokens=701)) == ["too_long"]
    short = made.model_copy(update={"source": made.source.model_copy(update={"source_tokens": BODY_FROM})})
    assert judge(artifact=short, body_tokens=1_400).outcome == Outcome.PASS


def test_slow_runs_are_told_and_bar_nothing() -> None:
    found = judge(latest=(None,) * 3 + (500,) * 47)
    assert found.outcome == Outcome.PASS
    measure = next(one for one in found.measures if one.name == "elapsed_ms_p95")
    assert (measure.value, measure.denominator) == (None, 50)


def test_beside_the_slowest_runs_stands_the_longest_time_that_a_request_may_take() -> None:
    drafted = spent(purpose=Purpose.COMPACTION, timeout_ms=90_000)
    checked = spent(purpose=Purpose.CHECK, timeout_ms=30_000)
    found = judge(spent=(*drafted, *checked))
    measure = next(one for one in found.measures if one.name == "elapsed_ms_p95")
    assert measure.threshold == 90_000


def test_excerpts_are_measured_by_the_text_that_stands() -> None:
    made = cases.artifact(cases.claims())
    for kind, numerator in ((Kind.CONCLUSION, 12), (Kind.DIGEST, 40)):
        found = judge(artifact=made.model_copy(update={"kind": kind}), tokens=40, body_tokens=12)
        measure = next(one for one in found.measures if one.name == "compression_ratio")
        assert (measure.numerator, measure.value) == (numerator, numerator / made.source.source_tokens)
