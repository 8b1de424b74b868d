"""Gate E: what was asked is within its caps and timeouts, and the text within its limits, smaller than its source."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from ..artifact import Artifact, Kind
from ..digest import digest_limit
from ..limits import Purpose
from ..rendering import BODY_FROM, body_limit, short_limit
from ..verdicts import Failure, Gate, GateVerdict, Judged, Measure, Spent
from .judging import not_judged, of_whole, verdict

# Runs from which the 95th percentile is told, and how many of the last ones count.
ENOUGH_RUNS, LAST_RUNS = 20, 50
PERCENTILE = 95


def judge(judged: Judged) -> GateVerdict:
    """Gate E: whether all requests stayed within their caps and timeouts, and the text within its limits, in tokens."""
    artifact = judged.artifact
    if artifact is None:
        return not_judged(Gate.COST, judged)
    failures = [fault for spent in judged.spent for fault in faults_of(spent)]
    failures += faults_of_size(judged, artifact)
    return verdict(
        Gate.COST,
        judged,
        failures=failures,
        says=f"{failures[0].text}." if failures else says(judged, artifact),
        measures=measures(judged, artifact),
    )


def faults_of(spent: Spent) -> Iterator[Failure]:
    if spent.cap <= 0:
        yield of_whole("no_cap", f"The cap on tokens is {spent.cap:,}: without one nothing is within it")
    if spent.timeout_ms <= 0:
        yield of_whole("no_timeout", f"The timeout is {spent.timeout_ms:,} ms: without one nothing is within it")
    if spent.tokens is None:
        yield of_whole("no_usage", "What one of the requests used is not known")
    elif spent.tokens > spent.cap:
        yield of_whole("over_cap", f"Its {spent.purpose} used {spent.tokens:,} tokens of at most {spent.cap:,}")
    if min(spent.slowest_ms, spent.tokens or 0) < 0:
        yield of_whole("negative", "A count below zero")
    if spent.slowest_ms > spent.timeout_ms:
        yield of_whole("too_slow", f"One request took {spent.slowest_ms:,} ms of at most {spent.timeout_ms:,}")


def faults_of_size(judged: Judged, artifact: Artifact) -> Iterator[Failure]:
    whole = artifact.source.source_tokens
    if judged.tokens < 0 or whole < 0:
        yield of_whole("negative", "A count below zero")
    if judged.tokens >= whole:
        yield of_whole("not_smaller", f"Not smaller than its source ({judged.tokens:,} tokens for {whole:,})")
    most = body_limit(whole)
    if most is not None and artifact.kind != Kind.SEED and judged.body_tokens > most:
        yield of_whole(
            "too_long", f"Too long: {judged.body_tokens:,} tokens, {most:,} of {whole:,} at most. Shorten it"
        )


def percentile(latest: Sequence[int | None]) -> int | None:
    """By nearest rank; a run that did not end lasts for ever."""
    ranked = sorted(latest, key=lambda run: math.inf if run is None else run)
    return ranked[-(-PERCENTILE * len(ranked) // 100) - 1]


def says(judged: Judged, artifact: Artifact) -> str:
    asked = " and ".join(map(spent_on, judged.spent))
    return (
        f"{judged.tokens:,} tokens of text, the words of the log have {artifact.source.source_tokens:,}; "
        f"{f'{asked}, within the caps' if asked else 'no model was asked'}."
    )


def spent_on(spent: Spent) -> str:
    number = spent.tokens or 0
    return f"{number:,} to {'check' if spent.purpose == Purpose.CHECK else 'draft'} it"


def measures(judged: Judged, artifact: Artifact) -> Iterator[Measure]:
    whole, runs = artifact.source.source_tokens, len(judged.latest)
    # Excerpts have no longer form than what stands.
    size = judged.tokens if artifact.kind == Kind.DIGEST else judged.body_tokens
    enough = runs >= ENOUGH_RUNS
    for spent in judged.spent:
        yield Measure(name=f"tokens_{spent.purpose}", value=spent.tokens, threshold=spent.cap)
        yield Measure(name=f"slowest_ms_{spent.purpose}", value=spent.slowest_ms, threshold=spent.timeout_ms)
    yield Measure(
        name="elapsed_ms_p95",
        value=percentile(judged.latest[-LAST_RUNS:]) if enough else None,
        threshold=max((spent.timeout_ms for spent in judged.spent), default=0),
        numerator=min(runs, LAST_RUNS),
        denominator=LAST_RUNS if enough else ENOUGH_RUNS,
    )
    yield Measure(name="standing_tokens", value=judged.tokens, threshold=whole)
    goal = digest_limit(whole) if artifact.kind == Kind.DIGEST else short_limit(whole)
    yield Measure(name="short_tokens", value=judged.tokens, threshold=goal)
    yield Measure(
        name="compression_ratio",
        value=size / whole if whole > 0 else None,
        threshold=(body_limit(whole) or whole) / whole if whole > BODY_FROM else 1.0,
        numerator=size,
        denominator=whole,
    )
