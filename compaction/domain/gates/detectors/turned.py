"""Claims that turn round what they quote: denied, more or less binding, of more or fewer, in another order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from ...polarity import LASTING, MODALS, ORDERS, SCOPES, denial, exchanged, flat_denial, rebound
from ..judging import shortened
from .case import Case, Found

Turned = Callable[[str, Iterable[str]], tuple[str, str] | None]


def denied(case: Case) -> Iterator[Found]:
    found = list(turned(case, "denied", denial))
    yield from found
    known = {one.about for one in found}
    yield from against_ledger(case, known)


def against_ledger(case: Case, known: set[str]) -> Iterator[Found]:
    for claim in case.phrased:
        for entry in case.kept_by(claim):
            if claim.about not in known and (found := flat_denial(claim.text, [entry.text])):
                text = f"“{shortened(found[0])}” against the ledger: “{shortened(entry.text)}”"
                yield Found(rule="denied", about=claim.about, text=text)


def bound_otherwise(case: Case) -> Iterator[Found]:
    yield from turned(case, "other_modality", lambda claim, said: exchanged(claim, said, MODALS))


def of_others(case: Case) -> Iterator[Found]:
    yield from turned(
        case, "other_scope", lambda claim, said: rebound(claim, said, SCOPES) or exchanged(claim, said, SCOPES)
    )


def in_other_order(case: Case) -> Iterator[Found]:
    yield from turned(
        case, "other_order", lambda claim, said: rebound(claim, said, ORDERS) or rebound(claim, said, LASTING)
    )


def turned(case: Case, rule: str, look: Turned) -> Iterator[Found]:
    for claim in case.phrased:
        if found := look(claim.text, claim.said):
            mine, theirs = found
            yield Found(
                rule=rule,
                about=claim.about,
                text=f"“{shortened(mine)}” against what it quotes: “{shortened(theirs)}”",
            )
