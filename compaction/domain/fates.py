"""What became of claims later in the scope: replaced, turned down, done, given up, lifted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from .artifact import Section, Status
from .settling import TROUBLE, TURNED, Claim, Scope, denied_stems, denies, lifts
from .units import Unit, stems_of

# Of the rarity of a claim's words, so much is in a sentence about the same matter.
SAME_MATTER, SAME_WORK, SAME_IN_TALK, SAME_RULE = 0.25, 0.34, 0.6, 0.2
# Words of a sentence that says of one thing only that it is taken instead.
SHORT = 14
# Words that speak of any rule, and the weight of what is surely one.
OF_RULES, SURE = "rule rules ban freeze limit restriction forget lifted cleared", 3.0
# What says nothing any more where the same is said later with other figures.
PASSING = frozenset({Section.FACT, Section.CONSTRAINT, Section.DECISION})
TURNS = frozenset({Section.DECISION, Section.REJECTED})
# Units after which trouble with a proposal is still about it.
SOON = 6


def fated(scope: Scope, claims: Sequence[Claim]) -> Iterator[Claim]:
    replaced = {claim.unit for turn in turns(scope, claims) for claim in replaced_by(scope, turn, claims)}
    lifted = [unit for unit in scope.units if lifts(unit)]
    rules = [rule_fate(scope, claim, lifted) for claim in claims if claim.section == Section.CONSTRAINT]
    revoked = {
        (rule.unit.message, rule.unit.start) for rule in rules if rule.status == Status.REVOKED and rule.weight >= SURE
    }
    for claim in claims:
        if (claim.unit.message, claim.unit.start) in revoked and claim.section == Section.DECISION:
            continue
        if claim.section in PASSING and any(scope.is_outdated(unit) for unit in claim.shown):
            continue
        if claim.section == Section.DECISION and claim.status == Status.ACCEPTED:
            yield decision_fate(scope, claim, claim.unit in replaced)
        elif claim.section == Section.OPEN_WORK:
            yield work_fate(scope, claim)
        elif claim.section == Section.CONSTRAINT:
            yield rule_fate(scope, claim, lifted)
        else:
            yield claim


def likeness(scope: Scope, claim: Claim, unit: Unit) -> float:
    """How much of the claim's words the unit has, rare ones counting for more; from 0 to 1."""
    whole = scope.shared(claim.stems, claim.stems)
    return scope.shared(claim.stems, unit.stems) / whole if whole else 0.0


def about(scope: Scope, one: Unit, other: Unit) -> float:
    whole = scope.shared(one.stems, one.stems)
    return scope.shared(one.stems, other.stems) / whole if whole else 0.0


# Decisions


def turns(scope: Scope, claims: Iterable[Claim]) -> Iterator[Claim]:
    """The claims that turn something round."""
    for claim in claims:
        if claim.section in TURNS and TURNED.search(claim.unit.plain):
            yield claim


def replaced_by(scope: Scope, turn: Claim, claims: Sequence[Claim]) -> Iterator[Claim]:
    """Earlier decisions about what the turn names, or about what was once listed together with it."""
    earlier = [claim for claim in claims if is_before(claim, turn)]
    denied = denied_stems(turn.unit)
    if said_no := [claim for claim in earlier if denied & claim.unit.stems and not denies(claim.unit)]:
        yield from said_no
    elif scope.talk:
        yield from (claim for claim in earlier if about(scope, claim.unit, turn.unit) >= SAME_IN_TALK)
    elif direct := [claim for claim in earlier if about(scope, claim.unit, turn.unit) >= SAME_MATTER]:
        yield from newest(direct)
    elif len(turn.unit.plain.split()) <= SHORT:
        yield from newest([claim for claim in earlier if any(names(unit, claim, turn) for unit in lists(scope, turn))])


def lists(scope: Scope, turn: Claim) -> list[Unit]:
    """What was listed earlier with something that the turn names."""
    orders = {order for stem in turn.unit.stems for order in scope.holders.get(stem, ()) if order < turn.unit.order}
    return [scope.units[order] for order in sorted(orders) if "," in scope.units[order].text]


def newest(claims: Sequence[Claim]) -> Iterator[Claim]:
    """The last one, and others about the same."""
    last = max(claims, key=lambda claim: claim.unit.order, default=None)
    return (claim for claim in claims if last and (claim is last or same_matter(claim, last)))


def same_matter(claim: Claim, other: Claim) -> bool:
    fewer, more = sorted((claim.unit.stems, other.unit.stems), key=len)
    return bool(fewer) and 2 * len(fewer & more) >= len(fewer)


def is_before(claim: Claim, turn: Claim) -> bool:
    return (
        claim.section == Section.DECISION
        and claim.status == Status.ACCEPTED
        and claim.unit.message < turn.unit.message
        and turn.unit not in claim.units
        and claim.weight >= 2.0
    )


def names(listing: Unit, claim: Claim, turn: Claim) -> bool:
    """Whether the list has a word of the claim that the turn has not: an alternative to it."""
    return listing.order < claim.unit.order and bool((listing.stems & claim.unit.stems) - turn.unit.stems)


def decision_fate(scope: Scope, claim: Claim, replaced: bool) -> Claim:
    if replaced:
        return replace(claim, status=Status.SUPERSEDED)
    soon = scope.units[claim.unit.order + 1 : claim.unit.order + 1 + SOON]
    if scope.talk and any(TROUBLE.search(unit.plain) and about(scope, claim.unit, unit) >= 0.5 for unit in soon):
        return replace(claim, status=Status.SUPERSEDED)
    return claim


# Open work


def work_fate(scope: Scope, claim: Claim) -> Claim:
    for order in sharing(scope, claim):
        unit = scope.units[order]
        if order in scope.endings and about(scope, claim.unit, unit) >= SAME_WORK and is_apart(claim, unit):
            return replace(claim, status=Status.DONE, behind=(unit, *claim.behind), weight=claim.weight - 2)
        if order in scope.partings and about(scope, claim.unit, unit) >= SAME_WORK:
            return replace(claim, status=Status.DROPPED, behind=(unit, *claim.behind), weight=claim.weight - 2)
    return claim


def sharing(scope: Scope, claim: Claim) -> list[int]:
    """The later sentences that end or drop something and have a word of the claim."""
    telling = scope.endings | scope.partings
    found = {order for stem in claim.stems for order in scope.holders.get(stem, ()) if order in telling}
    return sorted(order for order in found if order > claim.unit.order)


def is_apart(claim: Claim, unit: Unit) -> bool:
    return unit.message != claim.unit.message or unit.order == claim.unit.order + 1


# Rules


def rule_fate(scope: Scope, claim: Claim, lifted: Sequence[Unit]) -> Claim:
    """What a rule is about may stand beside the sentence that lifts it."""
    later = (unit for unit in lifted if unit.message > claim.unit.message)
    if found := next((unit for unit in later if is_about(scope, claim, unit)), None):
        return replace(claim, status=Status.REVOKED, behind=(found, *claim.behind))
    return claim


def is_about(scope: Scope, claim: Claim, unit: Unit) -> bool:
    beside = scope.shared(claim.stems, around(scope, unit))
    return bool((claim.stems & unit.stems) - stems_of(OF_RULES)) or beside > SAME_RULE * scope.shared(
        claim.stems, claim.stems
    )


def around(scope: Scope, unit: Unit) -> frozenset[str]:
    near = scope.units[max(unit.order - 2, 0) : unit.order + 1]
    return frozenset(stem for other in near if other.message == unit.message for stem in other.stems)
