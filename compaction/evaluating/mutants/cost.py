"""Runs that cost or took too much, or of which that is not known (gate E)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from compaction.domain.artifact import Attempt, Usage
from compaction.domain.verdicts import Gate
from compaction.evaluating.offering import CAP, LATEST, TIMEOUT_MS, USUAL_MS

from .kinds import Good, Mutant, kind, kinds_in

planted = partial(kind, Gate.COST, least=50, by_turns=True)


def usage_of(**tokens: int) -> Usage:
    """Also what no document can have: an endpoint may report anything."""
    none = Usage(input=0, cache_read=0, cache_creation=0, output=0, source="provider")
    return none.model_copy(update=tokens)


def attempt(usage: Usage | None, elapsed_ms: int = USUAL_MS) -> Attempt:
    return Attempt(usage=usage, stop_reason="stop", error="", elapsed_ms=elapsed_ms)


@planted()
def usage_that_nobody_knows(good: Good) -> Iterator[Mutant]:
    """Of the only attempt, or of the first of two."""
    yield good.with_generation("usage null", attempts=(attempt(None),))
    known = attempt(usage_of(input=1_000, output=200))
    yield good.with_generation("usage null of the first of two attempts", attempts=(attempt(None), known))


@planted()
def a_model_s_draft_without_an_attempt(good: Good) -> Iterator[Mutant]:
    """A model was asked, and nothing is known of it."""
    yield good.with_generation("no attempts", attempts=())


@planted()
def one_token_over_the_cap(good: Good) -> Iterator[Mutant]:
    """Whichever of the four it is."""
    for name in ("input", "cache_read", "cache_creation", "output"):
        usage = usage_of(**{"input": 1_000, "output": 200} | {name: 0})
        over = usage.model_copy(update={name: CAP + 1 - usage.total})
        yield good.with_generation(f"{CAP + 1:,} tokens, most of them {name}", attempts=(attempt(over),))


@planted()
def two_attempts_over_the_cap_together(good: Good) -> Iterator[Mutant]:
    """Each by itself is within it."""
    half = CAP // 2
    attempts = (attempt(usage_of(input=half)), attempt(usage_of(input=half, output=1)))
    yield good.with_generation(f"two attempts, {CAP + 1:,} tokens together", attempts=attempts)


@planted()
def tokens_below_zero(good: Good) -> Iterator[Mutant]:
    """What they take away may hide as many."""
    over = usage_of(input=CAP, cache_read=-500, output=200)
    yield good.with_generation("cache_read -500", attempts=(attempt(over),))


@planted()
def no_cap(good: Good) -> Iterator[Mutant]:
    for cap in (0, -1):
        yield good.with_generation(f"cap {cap}", cap=cap)


@planted()
def no_timeout(good: Good) -> Iterator[Mutant]:
    for timeout in (0, -1):
        yield good.with_generation(f"timeout {timeout}", timeout_ms=timeout)


@planted()
def a_millisecond_over_the_timeout(good: Good) -> Iterator[Mutant]:
    late = TIMEOUT_MS + 1
    yield good.with_generation(f"{late:,} ms, the first run", latest=(late,), elapsed_ms=late)
    others = (*good.judged.latest[1:], late)
    yield good.with_generation(f"{late:,} ms, one slow run of many", latest=others, elapsed_ms=late)


@planted()
def a_time_below_zero(good: Good) -> Iterator[Mutant]:
    yield good.with_generation("elapsed -1 ms", elapsed_ms=-1)


@planted()
def six_in_a_hundred_timed_out(good: Good) -> Iterator[Mutant]:
    """This run was quick; 3 of the last 50 have no time, or one over the timeout."""
    for late in (None, TIMEOUT_MS + 1):
        latest = (late,) * 3 + (USUAL_MS,) * (LATEST - 3)
        yield good.with_generation(f"3 of {LATEST} took {late or 'for ever'}", latest=latest)


@planted()
def two_of_twenty_timed_out(good: Good) -> Iterator[Mutant]:
    """As few runs as are counted."""
    yield good.with_generation("2 of 20 timed out", latest=(None, None, *(USUAL_MS,) * 18))


@planted()
def a_text_as_large_as_its_source(good: Good) -> Iterator[Mutant]:
    for more in (0, 1):
        tokens = good.artifact.source.source_tokens + more
        yield Mutant(changed=f"{tokens:,} tokens for as many", judged=replace(good.judged, tokens=tokens))


KINDS = kinds_in(globals())
