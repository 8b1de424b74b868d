"""What else the quoted words may be: without a model nobody knows, and nothing that was decided may be lost for it.

A sentence that is quoted costs its words once, however many items show it (`rendering.quotations`). So each stands as
all that it may be: a decision, open work, a rule; by itself and with those beside it, and once for each of its parts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace

from .artifact import Section, Status
from .ledger import is_within
from .settling import Claim, Scope
from .units import Unit

Count = Callable[[str], int]

# Tokens of the line of a message beside its words, and of the joint of two quotations of it.
LINE, GAP = 6, 1
# Of fewer words nothing is a sentence.
FEWEST = 1
# Of a large scope so many sentences more are quoted than are heard as something.
MOST_MORE = 150
# What separates two matters of one sentence, and how many are looked for at most.
PARTS = re.compile(r"[,;:–—]\s|\s(?:and|und|et|y|but|aber|then|so)\s|[、。]")
MOST_PARTS = 2
# Sentences that are shown as one.
MOST_TOGETHER = 4


def room_left(chosen: Iterable[Claim], room: int, count: Count) -> int:
    """What of `room` the words of the claims leave, each counted once."""
    shown = {unit for claim in chosen for unit in claim.shown}
    alone = [unit for unit in shown if not any(unit != other and is_within(unit, other) for other in shown)]
    return room - sum(count(unit.text) + GAP for unit in alone) - LINE * len({place(unit) for unit in shown})


def more_units(
    scope: Scope, chosen: Sequence[Claim], room: int, count: Count, *, first: Collection[Unit]
) -> list[Unit]:
    """Of the sentences that nothing shows yet `first`, then those that fit, what sounds most like a decision before."""
    shown = {unit for claim in chosen for unit in claim.shown}
    lines = {place(unit) for unit in shown}
    more: list[Unit] = []
    heard = rank(scope)
    hidden = [unit for unit in scope.units if unit not in shown and (says_something(unit) or unit in first)]
    for unit in sorted(hidden, key=lambda unit: (unit not in first, heard(unit))):
        price = count(unit.text) + GAP + (0 if place(unit) in lines else LINE)
        if price <= room and len(more) < MOST_MORE:
            room -= price
            lines.add(place(unit))
            more.append(unit)
    return more


def says_something(unit: Unit) -> bool:
    return len(unit.plain.split()) >= FEWEST or not unit.text.isascii()


def rank(scope: Scope) -> Callable[[Unit], tuple[float, int]]:
    def key(unit: Unit) -> tuple[float, int]:
        heard = scope.heard[unit.order]
        return -max(heard.decision, heard.open_work, heard.constraint, heard.fact), unit.order

    return key


def place(unit: Unit) -> tuple[int, str]:
    return unit.message, unit.part


def all_that_they_may_be(scope: Scope, units: Iterable[Unit], settled: Collection[Unit]) -> Iterator[Claim]:
    """Each sentence by itself, but for those of which is known what became of them; and those that stand together as a
    whole: what was decided may take several of them."""
    ordered = sorted(set(units), key=lambda unit: (unit.order, unit.start))
    alone = [unit for unit in ordered if unit not in settled]
    for unit in alone:
        yield from readings(unit)
    for several in together(ordered):
        whole = joined(scope, several)
        yield from readings(whole)
    for unit in alone:
        if parts_of(unit.text) > 1:
            yield from readings(unit)


def together(ordered: Sequence[Unit]) -> Iterator[list[Unit]]:
    """Neighbours of one message, at most so many, each of them in one group or two."""
    group: list[Unit] = []
    for unit in ordered:
        follows = group and place(unit) == place(group[-1]) and unit.order - group[-1].order == 1
        if not follows or len(group) == MOST_TOGETHER:
            if len(group) > 1:
                yield group
            # A matter may stand across the cut.
            group = group[-1:] if follows else []
        group.append(unit)
    if len(group) > 1:
        yield group


def parts_of(text: str) -> int:
    return min(1 + len(PARTS.findall(text)), MOST_PARTS)


def joined(scope: Scope, units: Sequence[Unit]) -> Unit:
    first, last = units[0], units[-1]
    text = scope.source.by_place[first.message, first.part].text[first.start : last.end]
    return replace(first, end=last.end, text=text)


def readings(unit: Unit) -> Iterator[Claim]:
    base = Claim(section=Section.DECISION, status=Status.ACCEPTED, shown=(unit,), weight=0.0, by=unit.role)
    yield base
    yield replace(base, section=Section.OPEN_WORK, status=Status.OPEN)
    # What a person says without asking may be meant to last.
    if unit.role == "user" and not unit.asks:
        yield replace(base, section=Section.CONSTRAINT, status=Status.IN_FORCE)
