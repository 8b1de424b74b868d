"""The page that says whether showing code helped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from efforts.models import Session
from workspaces import outcomes
from workspaces.domain.outcomes import Use
from workspaces.outcomes import ModeSum, ShownCard, TurnOutcome

# Turns of one page: the download has all.
NEWEST = 30


@dataclass(frozen=True, kw_only=True)
class CardView:
    card: ShownCard
    how: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class TurnView:
    turn: TurnOutcome
    cards: Sequence[CardView]


@dataclass(frozen=True, kw_only=True)
class OutcomesView:
    turns: Sequence[TurnView]
    modes: Sequence[ModeSum]
    shown: int
    used: int
    tokens: int
    accepted: tuple[int, int]
    passed: tuple[int, int]
    has_more: bool

    @property
    def percent(self) -> int:
        return round(100 * self.used / self.shown) if self.shown else 0

    @property
    def tokens_of_one(self) -> int | None:
        """Tokens of code for each card that was used."""
        return round(self.tokens / self.used) if self.used else None


def outcomes_view(session: Session) -> OutcomesView:
    rows = list(outcomes.runs_with_code(session)[: NEWEST + 1])
    turns = list(outcomes.outcomes(rows[:NEWEST]))
    modes = outcomes.sums(turns)
    return OutcomesView(
        turns=[TurnView(turn=one, cards=[card_view(card) for card in one.shown]) for one in turns],
        modes=modes,
        shown=sum(one.shown for one in modes),
        used=sum(one.used for one in modes),
        tokens=sum(one.tokens for one in modes),
        accepted=outcomes.parts(turns),
        passed=outcomes.passed(turns),
        has_more=len(rows) > NEWEST,
    )


def card_view(card: ShownCard) -> CardView:
    return CardView(card=card, how=tuple(Use(use).meaning for use in card.used))
