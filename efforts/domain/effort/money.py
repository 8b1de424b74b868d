"""What calls cost, by the prices that their model had then. Amounts are decimals; prices are per million tokens."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

MILLION = 1_000_000
SYMBOLS = {"USD": "$", "EUR": "€", "GBP": "£"}
# Smaller amounts are shown as less than this.
LEAST = Decimal("0.000001")


@dataclass(frozen=True, kw_only=True)
class Price:
    """`cached`: of what the provider had read before; the same as `prompt` where none is set."""

    prompt: Decimal
    completion: Decimal
    cached: Decimal
    currency: str

    def stored(self) -> dict[str, str]:
        """As it is kept with a run: exact in JSON."""
        amounts = {"prompt": self.prompt, "completion": self.completion, "cached": self.cached}
        return {**{name: str(amount) for name, amount in amounts.items()}, "currency": self.currency}

    @classmethod
    def read(cls, stored: Mapping[str, Any] | None) -> Price | None:
        if not stored:
            return None
        amounts = {name: Decimal(stored[name]) for name in ("prompt", "completion", "cached")}
        return cls(**amounts, currency=stored["currency"])

    def of(self, used: Used) -> Decimal:
        cached = min(used.cached, used.prompt)
        whole = (used.prompt - cached) * self.prompt + cached * self.cached + used.completion * self.completion
        return whole / MILLION


@dataclass(frozen=True, kw_only=True)
class Used:
    """Tokens of calls; `counted`: the provider did not report some of them, so they are our own count."""

    prompt: int = 0
    cached: int = 0
    completion: int = 0
    counted: bool = False


@dataclass(frozen=True, kw_only=True)
class Money:
    amount: Decimal
    currency: str
    about: bool = False

    def __add__(self, other: Money) -> Money:
        return Money(amount=self.amount + other.amount, currency=self.currency, about=self.about or other.about)

    def __str__(self) -> str:
        sign = SYMBOLS.get(self.currency, "")
        shown = digits(abs(self.amount))
        text = f"{sign}{shown}" if sign else f"{shown} {self.currency}"
        return f"{'~' if self.about else ''}{'−' if self.amount < 0 else ''}{text}"


def digits(amount: Decimal) -> str:
    """Two decimals; of less than a cent two digits that say something."""
    if not amount:
        return "0.00"
    if amount < LEAST:
        return f"less than {LEAST:f}"
    places = 2 if amount >= Decimal("0.1") else min(1 - amount.adjusted(), 6)
    return f"{amount:,.{places}f}"


def cost(price: Price | None, used: Used) -> Money | None:
    """Of the tokens that were used; None where no price is known."""
    return Money(amount=price.of(used), currency=price.currency, about=used.counted) if price else None


def summed(amounts: Iterable[Money]) -> tuple[Money, ...]:
    """One for each currency."""
    found: dict[str, Money] = {}
    for one in amounts:
        found[one.currency] = found[one.currency] + one if one.currency in found else one
    return tuple(found[currency] for currency in sorted(found))


def said(amounts: Iterable[Money]) -> str:
    """Amounts in words, each in its currency."""
    return " + ".join(map(str, amounts))
