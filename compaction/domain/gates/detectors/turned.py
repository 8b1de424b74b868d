"""Claims that turn round what they quote: denied, more or less binding, of more or fewer, in another order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from ...artifact import Status
from ...denials import denial
from ...polarity import (
    ALONE,
    COMPANY,
    DENIED,
    LASTING,
    MODALS,
    MORE_OR_LESS,
    ORDERS,
    QUANTITIES,
    SENTENCE,
    exchanged,
    rebound,
)
from ..entries import says_open
from ..judging import shortened
from .case import Case, Claim, Found, is_like

Turned = tuple[str, str] | None
Look = Callable[[str, Sequence[str]], Turned]
UNFINISHED = frozenset({Status.OPEN, Status.BLOCKED})


def denied(case: Case) -> Iterator[Found]:
    found = [*turned(case, "denied", opposite), *turned(case, "denied", in_other_company)]
    yield from found
    yield from against_ledger(case, {one.about for one in found})


def opposite(text: str, said: Sequence[str]) -> Turned:
    return denial(text, said)


def in_other_company(text: str, said: Sequence[str]) -> Turned:
    return rebound(text, said, COMPANY)


def against_ledger(case: Case, known: set[str]) -> Iterator[Found]:
    for claim in case.phrased:
        for entry in case.kept_by(claim):
            silent = claim.about in known or says_open(claim.text, entry)
            if not silent and (found := denial(claim.text, [entry.text])):
                text = f"“{shortened(found[0])}” against the ledger: “{shortened(entry.text)}”"
                yield Found(rule="denied", about=claim.about, text=text)


def bound_otherwise(case: Case) -> Iterator[Found]:
    yield from turned(case, "other_modality", lambda text, said: exchanged(text, said, MODALS))


def of_others(case: Case) -> Iterator[Found]:
    yield from turned(case, "other_scope", in_other_scope)


def in_other_scope(text: str, said: Sequence[str]) -> Turned:
    return (
        rebound(text, said, QUANTITIES)
        or exchanged(text, said, QUANTITIES)
        or rebound(text, said, ALONE)
        or rebound(text, said, MORE_OR_LESS)
    )


def in_other_order(case: Case) -> Iterator[Found]:
    yield from turned(case, "other_order", in_order)


def in_order(text: str, said: Sequence[str]) -> Turned:
    return rebound(text, said, ORDERS) or rebound(text, said, LASTING)


def turned(case: Case, rule: str, look: Look) -> Iterator[Found]:
    for claim in case.phrased:
        found = look(claim.text, claim.said)
        if found and not is_confirmed(claim, look) and not (rule == "denied" and is_task(claim, found[0])):
            mine, theirs = found
            yield Found(
                rule=rule,
                about=claim.about,
                text=f"“{shortened(mine)}” against what it quotes: “{shortened(theirs)}”",
            )


def is_confirmed(claim: Claim, look: Look) -> bool:
    """The ledger has it in nearly the same words, and so as the claim has it."""
    alike = [entry for entry in claim.entries if is_like(claim, entry)]
    return any(look(entry.text, claim.said) and not look(claim.text, [entry.text]) for entry in alike)


def is_task(claim: Claim, clause: str) -> bool:
    """A task is told as what was not done: "ask the painter" of "I have not asked him"."""
    unfinished = claim.item is not None and claim.item.status in UNFINISHED
    return unfinished and not SENTENCE.search(clause) and not DENIED.search(clause)
