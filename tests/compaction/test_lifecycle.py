"""What the gates make of an artifact, and how large a source one draft can have."""

from __future__ import annotations

import pytest

from compaction.domain.lifecycle import ArtifactState, state_of
from compaction.domain.limits import body_asked, fits, largest_source, packed, payback, price, reply_limit
from compaction.domain.verdicts import Gate, GateVerdict, Outcome

ROOM = 10**6


def verdicts(outcomes: dict[Gate, Outcome]) -> list[GateVerdict]:
    return [
        GateVerdict(
            gate=gate,
            outcome=outcomes.get(gate, Outcome.PASS),
            says="",
            measures=(),
            failures=(),
            evaluator_version="1",
            inputs={},
        )
        for gate in Gate
    ]


@pytest.mark.parametrize(
    ("failing", "state"),
    [
        ((), ArtifactState.REPLACEABLE),
        ((Gate.STRUCTURE,), ArtifactState.ADVISORY),
        ((Gate.TRACEABILITY,), ArtifactState.ADVISORY),
        ((Gate.COST,), ArtifactState.ADVISORY),
        ((Gate.RETENTION,), ArtifactState.REJECTED),
        ((Gate.CONTRADICTION,), ArtifactState.REJECTED),
        ((Gate.TRACEABILITY, Gate.RETENTION), ArtifactState.REJECTED),
    ],
)
def test_what_misses_or_contradicts_is_rejected_and_all_else_that_fails_can_only_be_read(
    failing: tuple[Gate, ...], state: ArtifactState
) -> None:
    assert state_of(verdicts(dict.fromkeys(failing, Outcome.FAIL))) == state


@pytest.mark.parametrize("gate", Gate)
def test_what_could_not_be_judged_and_fails_nowhere_is_unchecked(gate: Gate) -> None:
    assert state_of(verdicts({gate: Outcome.NOT_JUDGED})) == ArtifactState.UNCHECKED


@pytest.mark.parametrize("gate", Gate)
def test_what_fails_is_not_taken_for_unchecked(gate: Gate) -> None:
    outcomes = {**dict.fromkeys(Gate, Outcome.NOT_JUDGED), gate: Outcome.FAIL}
    assert state_of(verdicts(outcomes)) in (ArtifactState.ADVISORY, ArtifactState.REJECTED)


def test_what_nobody_judged_is_a_draft() -> None:
    assert state_of(()) == ArtifactState.DRAFT


# How large


@pytest.mark.parametrize(("cap", "check_cap"), [(40_000, 40_000), (40_000, 26_000), (15_000, 40_000)])
def test_the_largest_source_is_the_last_whose_draft_repair_and_check_stay_within_their_caps(
    cap: int, check_cap: int
) -> None:
    largest = largest_source(cap=cap, check_cap=check_cap, window=None)
    at_most, beyond = (price(tokens, cap=ROOM, check_cap=ROOM) for tokens in (largest, largest + 1))
    assert largest > 0
    assert at_most.draft <= cap
    assert at_most.check <= check_cap
    assert beyond.draft > cap or beyond.check > check_cap


def test_a_window_smaller_than_the_cap_is_the_limit_of_each_request() -> None:
    largest = largest_source(cap=40_000, check_cap=40_000, window=12_000)
    assert 0 < largest < largest_source(cap=40_000, check_cap=40_000, window=None)
    assert fits(largest, cap=40_000, check_cap=40_000, window=12_000)
    assert largest + reply_limit(largest, 12_000) < 12_000


def test_where_not_even_the_instructions_fit_nothing_does() -> None:
    assert largest_source(cap=1_000, check_cap=1_000, window=None) == 0


def test_a_reply_has_room_for_the_form_and_for_the_largest_source_and_none_beyond_its_model() -> None:
    assert reply_limit(500) == 3_000
    assert reply_limit(10_000) == 8_000
    assert reply_limit(10_000, window=14_000) < 4_000


def test_a_long_source_is_asked_for_less_than_its_body_may_take() -> None:
    assert body_asked(1_000) is None
    assert body_asked(10_000) == 2_800


def test_turns_are_packed_in_their_order_and_none_is_cut() -> None:
    sizes = [(1, 400), (2, 400), (3, 900), (4, 100), (5, 100)]
    assert packed(sizes, 1_000) == [[1, 2], [3, 4], [5]]
    assert packed(sizes, 1_000, longest=1) == [[1], [2], [3], [4], [5]]
    assert packed([(1, 5_000), (2, 10)], 1_000) == [[1], [2]]


def test_what_saves_nothing_is_never_earned_back() -> None:
    assert payback(1_000, 300) == 4
    assert payback(1_000, 0) is None
    assert payback(1_000, -5) is None
