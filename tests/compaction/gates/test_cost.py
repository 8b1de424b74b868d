"""Gate E."""

from __future__ import annotations

from dataclasses import replace

import pytest

from compaction.domain.artifact import Usage
from compaction.domain.gates.cost import percentile
from compaction.domain.verdicts import Gate, Judged, Measure, Outcome
from tests.compaction.gates import cases
from tests.compaction.gates.broken import with_generation
from tests.compaction.gates.cases import attempt, judged


def measures(given: Judged) -> dict[str, Measure]:
    return {measure.name: measure for measure in cases.verdict(given, Gate.COST).measures}


def failed(given: Judged) -> list[str]:
    return cases.rules(given, Gate.COST)


def test_all_attempts_and_all_kinds_of_tokens_count() -> None:
    usage = Usage(input=10_000, cache_read=8000, cache_creation=1000, output=1000, source="provider")
    given = with_generation(attempts=(attempt(usage=usage), attempt(usage=usage)))
    assert measures(given)["tokens"].value == 40_000
    assert failed(given) == []
    one_more = usage.model_copy(update={"output": 1001})
    assert failed(with_generation(attempts=(attempt(usage=usage), attempt(usage=one_more)))) == ["over_cap"]


def test_what_is_not_known_is_not_nothing() -> None:
    assert failed(with_generation(attempts=(attempt(usage=None),))) == ["no_usage"]
    assert failed(with_generation(attempts=())) == ["no_usage"]


@pytest.mark.parametrize("drafter", ["extractive", "edit"])
def test_without_a_model_the_usage_is_zero(drafter: str) -> None:
    given = with_generation(drafter=drafter, attempts=())
    assert failed(given) == []
    assert measures(given)["tokens"].value == 0


def test_an_extractive_draft_pays_for_the_attempts_before_it() -> None:
    assert failed(with_generation(drafter="extractive", attempts=(attempt(41_000),))) == ["over_cap"]


@pytest.mark.parametrize(
    ("changes", "rule"), [({"cap": 0}, "no_cap"), ({"cap": -1}, "no_cap"), ({"timeout_ms": 0}, "no_timeout")]
)
def test_no_limit_is_no_pass(changes: dict[str, int], rule: str) -> None:
    assert rule in failed(with_generation(**changes))


def test_the_run_ends_within_its_timeout() -> None:
    assert failed(with_generation(elapsed_ms=90_000)) == []
    assert failed(with_generation(elapsed_ms=90_001)) == ["too_long"]


def test_below_twenty_runs_this_run_decides() -> None:
    given = replace(judged(), latest=(*[None] * 18, 4000))
    assert failed(given) == []
    assert "19 of 20, this run decides" in cases.verdict(given, Gate.COST).says
    one = measures(given)["elapsed_ms_p95"]
    assert (one.value, one.numerator, one.denominator) == (None, 19, 20)


def test_from_twenty_runs_on_one_in_twenty_may_be_slow() -> None:
    assert failed(replace(judged(), latest=(*[4000] * 19, None))) == []
    assert failed(replace(judged(), latest=(*[4000] * 18, None, None))) == ["slow_runs"]
    assert failed(replace(judged(), latest=(*[4000] * 18, 90_001, 90_001))) == ["slow_runs"]


def test_only_the_last_fifty_runs_count() -> None:
    assert failed(replace(judged(), latest=(*[None] * 40, *[4000] * 50))) == []


@pytest.mark.parametrize(
    ("latest", "value"),
    [
        ([5], 5),
        ([1, 2, 3, 4], 4),
        (list(range(1, 21)), 19),
        (list(range(1, 41)), 38),
        ([*range(19), None], 18),
        ([None], None),
    ],
)
def test_the_percentile_is_a_run_that_was(latest: list[int | None], value: int | None) -> None:
    assert percentile(latest) == value


def test_what_stands_in_is_smaller_than_what_it_stands_for() -> None:
    whole = cases.count(cases.SOURCE.text)
    assert failed(replace(judged(), tokens=whole - 1)) == []
    verdict = cases.verdict(replace(judged(), tokens=whole), Gate.COST)
    assert verdict.outcome == Outcome.FAIL
    assert "cannot be accepted" in verdict.says


def test_the_compression_is_shown_and_no_gate() -> None:
    given = replace(judged(), tokens=cases.count(cases.SOURCE.text) - 1)
    ratio = measures(given)["compression_ratio"]
    assert ratio.value is not None
    assert ratio.value > ratio.threshold
    assert cases.verdict(given, Gate.COST).passed


def test_nothing_is_below_zero() -> None:
    below = Usage.model_construct(input=-5000, cache_read=0, cache_creation=0, output=0, source="provider")
    assert "negative" in failed(with_generation(elapsed_ms=-1))
    assert "negative" in failed(with_generation(attempts=(attempt(), attempt(usage=None), attempt(elapsed_ms=-1))))
    assert "negative" in failed(replace(judged(), latest=(-1,)))
    assert "negative" in failed(replace(judged(), tokens=-1))
    made = cases.generation(attempts=(attempt(), attempt().model_copy(update={"usage": below})))
    given = judged()
    assert given.artifact
    assert "negative" in failed(replace(given, artifact=given.artifact.model_copy(update={"generation": made})))
