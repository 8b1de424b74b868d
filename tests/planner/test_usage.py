"""What is learned from counting beside a provider."""

from __future__ import annotations

import pytest

from efforts.domain.prompt.usage import Counted, cached_share, correction, off_share


def calls(*pairs: tuple[int, int]) -> list[Counted]:
    return [Counted(counted=counted, reported=reported) for counted, reported in pairs]


def test_the_correction_is_the_median_of_reported_over_counted() -> None:
    assert correction(calls((100, 110), (100, 500), (100, 105))) == pytest.approx(1.1)


def test_it_follows_the_newest_fifty_calls() -> None:
    newest, old = calls(*[(100, 120)] * 50), calls(*[(100, 100)] * 500)
    assert correction([*newest, *old]) == pytest.approx(1.2)


def test_without_calls_nothing_is_known() -> None:
    assert (correction([]), off_share([]), cached_share([])) == (None, None, None)


@pytest.mark.parametrize(
    ("counted", "reported", "is_off"),
    [(100, 100, False), (110, 100, False), (111, 100, True), (90, 100, False), (89, 100, True)],
)
def test_a_call_is_off_by_more_than_a_tenth_of_what_was_reported(counted: int, reported: int, is_off: bool) -> None:
    assert off_share(calls((counted, reported))) == float(is_off)


def test_the_cached_share_is_of_tokens_and_of_providers_that_tell() -> None:
    told = [Counted(counted=1, reported=900, cached=0), Counted(counted=1, reported=100, cached=100)]
    silent = Counted(counted=1, reported=5_000)
    assert cached_share([*told, silent]) == pytest.approx(0.1)
