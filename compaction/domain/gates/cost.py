"""Gate E: what the run took is within its caps, and the text is smaller than what it stands for."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from ..artifact import Artifact, Generation
from ..verdicts import Failure, Gate, Judged, Measure, Verdict
from .judging import not_evaluable, verdict

# Runs from which the 95th percentile decides, and how many of the last ones count.
ENOUGH_RUNS, LAST_RUNS = 20, 50
PERCENTILE = 95
# Shown, and no gate: a body takes so much of its source.
TARGET_RATIO = 0.35


def judge(judged: Judged) -> Verdict:
    artifact = judged.artifact
    if artifact is None:
        return not_evaluable(Gate.COST, judged)
    failures = [*faults_of_limits(artifact.generation), *faults_of_run(artifact), *faults_of_size(judged, artifact)]
    failures += faults_of_latest(judged.latest, artifact.generation)
    return verdict(
        Gate.COST,
        judged,
        failures=failures,
        says=f"{failures[0].text}." if failures else says(judged, artifact),
        measures=measures(judged, artifact),
    )


def failure(rule: str, text: str) -> Failure:
    return Failure(rule=rule, about="", text=text)


def faults_of_limits(made: Generation) -> Iterator[Failure]:
    if made.cap <= 0:
        yield failure("no_cap", f"The cap on tokens is {made.cap:,}: without one nothing is within it")
    if made.timeout_ms <= 0:
        yield failure("no_timeout", f"The timeout is {made.timeout_ms:,} ms: without one nothing is within it")


def faults_of_run(artifact: Artifact) -> Iterator[Failure]:
    made = artifact.generation
    used = tokens_used(made)
    if made.drafter == "model" and not made.attempts:
        yield failure("no_usage", "A model drafted it, and no request is recorded")
    if used is None:
        yield failure("no_usage", "What one of the requests used is not known")
    elif used > made.cap:
        yield failure("over_cap", f"It used {used:,} tokens of at most {made.cap:,}")
    if is_negative(made):
        yield failure("negative", "A count below zero")
    if made.elapsed_ms > made.timeout_ms:
        yield failure("too_long", f"It took {made.elapsed_ms:,} ms of at most {made.timeout_ms:,}")


def tokens_used(made: Generation) -> int | None:
    """Of all attempts; None where that of one is not known."""
    total = 0
    for attempt in made.attempts:
        if attempt.usage is None:
            return None
        total += attempt.usage.total
    return total


def is_negative(made: Generation) -> bool:
    used = [attempt.usage for attempt in made.attempts if attempt.usage]
    counts = [count for usage in used for count in (usage.input, usage.cache_read, usage.cache_creation, usage.output)]
    return min([made.elapsed_ms, *counts, *(attempt.elapsed_ms for attempt in made.attempts)]) < 0


def faults_of_size(judged: Judged, artifact: Artifact) -> Iterator[Failure]:
    whole = artifact.source.source_tokens
    if judged.tokens < 0 or whole < 0:
        yield failure("negative", "A count below zero")
    if judged.tokens >= whole:
        yield failure(
            "not_smaller",
            f"Not smaller than its source: cannot be accepted ({judged.tokens:,} tokens for {whole:,})",
        )


def faults_of_latest(latest: Sequence[int | None], made: Generation) -> Iterator[Failure]:
    if any(run is not None and run < 0 for run in latest):
        yield failure("negative", "A count below zero")
    if len(latest) < ENOUGH_RUNS:
        return
    slowest = percentile(latest[-LAST_RUNS:])
    if slowest is None or slowest > made.timeout_ms:
        took = "did not end in time or failed" if slowest is None else f"took {slowest:,} ms or more"
        yield failure("slow_runs", f"More than 5 % of the last {min(len(latest), LAST_RUNS)} runs {took}")


def percentile(latest: Sequence[int | None]) -> int | None:
    """By nearest rank; a run that did not end lasts for ever."""
    ranked = sorted(latest, key=lambda run: math.inf if run is None else run)
    return ranked[-(-PERCENTILE * len(ranked) // 100) - 1]


def says(judged: Judged, artifact: Artifact) -> str:
    made = artifact.generation
    runs = len(judged.latest)
    which = f"; {runs} of {ENOUGH_RUNS}, this run decides" if runs < ENOUGH_RUNS else ""
    used = f"{tokens_used(made) or 0:,} tokens of {made.cap:,}"
    return f"{used}, {made.elapsed_ms / 1000:.1f} of {made.timeout_ms / 1000:g} s{which}."


def measures(judged: Judged, artifact: Artifact) -> Iterator[Measure]:
    made, whole, runs = artifact.generation, artifact.source.source_tokens, len(judged.latest)
    enough = runs >= ENOUGH_RUNS
    yield Measure(name="tokens", value=tokens_used(made), threshold=made.cap)
    yield Measure(name="elapsed_ms", value=made.elapsed_ms, threshold=made.timeout_ms)
    yield Measure(
        name="elapsed_ms_p95",
        value=percentile(judged.latest[-LAST_RUNS:]) if enough else None,
        threshold=made.timeout_ms,
        numerator=min(runs, LAST_RUNS),
        denominator=LAST_RUNS if enough else ENOUGH_RUNS,
    )
    yield Measure(name="standing_tokens", value=judged.tokens, threshold=whole)
    yield Measure(
        name="compression_ratio",
        value=judged.tokens / whole if whole > 0 else None,
        threshold=TARGET_RATIO,
        numerator=judged.tokens,
        denominator=whole,
    )
