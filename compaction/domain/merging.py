"""Claims of several windows, or stages of several conversations, as those of one artifact: merged by code.

What a later part overtakes is named by a model and told here; equal parts give equal claims.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from uuid import UUID

from efforts.domain.text.canonical import sha256
from efforts.domain.text.source_text import Source, SourcePart

from .artifact import LONGEST_ID, Artifact, Claim, Section
from .check.answers import Loose, Void, answered
from .check.result import Checked, Opinion
from .ledger import Entry


class How(StrEnum):
    """What has become of a claim that a later one overtakes."""

    SUPERSEDED = "superseded"
    DONE = "done"
    DROPPED = "dropped"


class Overtaken(Loose):
    note: int
    by: int
    how: How


class OvertakenAnswer(Loose):
    overtaken: tuple[Overtaken, ...]


@dataclass(frozen=True, kw_only=True)
class Stage:
    """One window of a conversation: what is made of it, and its place among the stages, from 1."""

    place: int
    session: UUID
    source: Source
    artifact: Artifact | None = None


@dataclass(frozen=True, kw_only=True)
class Joined(Source):
    """The sources of all stages, one after the other; sentences are told apart by their stage's place: `2:12.3`."""

    stages: tuple[Stage, ...] = ()


def joined(stages: Iterable[Stage]) -> Joined:
    """The stages in their order as one source; the numbers of messages begin anew in each."""
    in_order = tuple(sorted(stages, key=lambda stage: stage.place))
    return Joined(
        parts=tuple(placed(part, stage.place) for stage in in_order for part in stage.source.parts),
        masked=sum(stage.source.masked for stage in in_order),
        stages=in_order,
    )


def placed(part: SourcePart, place: int) -> SourcePart:
    sentences = tuple(replace(sentence, id=f"{place}:{sentence.id}") for sentence in part.sentences)
    return replace(part, sentences=sentences)


def prefixed(claims: Iterable[Claim], place: int, *, cites: bool) -> list[Claim]:
    """With ids that are theirs alone among all parts; `cites`: those of sentences too, where sources are joined."""
    found = []
    for claim in claims:
        changed: dict[str, object] = {"id": placed_id(place, claim.id)}
        if cites:
            changed["cites"] = tuple(f"{place}:{id}" for id in claim.cites)
            changed["ledger_ref"] = f"{place}:{claim.ledger_ref}" if claim.ledger_ref else ""
        found.append(claim.model_copy(update=changed))
    return found


def placed_id(place: int, id: str) -> str:
    """One that gets too long is told by its hash."""
    return whole if len(whole := f"{place}.{id}") <= LONGEST_ID else f"{place}.{sha256(id)[:16]}"


def read_overtaken(answer: str, parts: Sequence[Sequence[Claim]]) -> dict[str, How]:
    """By the id of each overtaken claim what has become of it. Raises `Void` where it names what does not exist, or a
    claim that is no earlier than the one that overtakes it."""
    numbered = [(claim.id, place) for place, claims in enumerate(parts) for claim in claims]
    found: dict[str, How] = {}
    for one in answered(OvertakenAnswer, answer).overtaken:
        if not (1 <= one.note <= len(numbered) and 1 <= one.by <= len(numbered)):
            raise Void("It names a note that does not exist.")
        (id, place), (_, by) = numbered[one.note - 1], numbered[one.by - 1]
        if place >= by:
            raise Void(f"It lets note {one.by} overtake note {one.note}, which is no earlier.")
        found[id] = one.how
    return found


def merged(parts: Sequence[Sequence[Claim]], overtaken: Collection[str]) -> tuple[Claim, ...]:
    """Each matter once, in the order of the parts, without what a later part overtakes.

    Of one entry of the ledger the last claim says how it stands; what says the same in the same words stands
    once. Of results the first tells what was wanted, and those of the last part that has any how it ended.
    """
    by_part = [[claim for claim in part if claim.section == Section.RESULT] for part in parts]
    results = [of_part for of_part in by_part if of_part]
    first, last = (results[0][:1], results[-1]) if results else ([], [])
    told = [claim for part in parts for claim in part if claim.section != Section.RESULT and claim.id not in overtaken]
    kept: dict[tuple[str, ...], Claim] = {}
    for claim in (*first, *last, *told):
        key = (claim.ledger_ref,) if claim.ledger_ref else (claim.section, claim.status, folded(claim.text))
        # The newest by an entry's id; of equal words the first, whose verdict stands.
        if claim.ledger_ref or key not in kept:
            kept[key] = claim
    return tuple(kept.values())


def carried(stages: Sequence[Stage], checks: Sequence[Checked | None]) -> list[Checked | None]:
    """What was said of the claims of each stage, said of them among those of all."""
    found = []
    for stage, check in zip(stages, checks, strict=True):
        before = stage.artifact.claims if stage.artifact else ()
        found.append(moved(check, before, prefixed(before, stage.place, cites=True), stage.place) if check else None)
    return found


def moved(check: Checked, before: Sequence[Claim], after: Sequence[Claim], place: int) -> Checked:
    """What was said of claims, said of them with the names that they have among those of other stages."""
    contents = {old.content: new.content for old, new in zip(before, after, strict=True)}
    # Entries of the ledger are told apart by their stage; those of an inventory are renamed with all others.
    listed = {entry.id for entry in check.listed}
    names = {id: id if id in listed else f"{place}:{id}" for id in check.told}
    return replace(
        check,
        opinions={contents[old]: said for old, said in check.opinions.items() if old in contents},
        listed=tuple(
            replace(entry, sentences=tuple(f"{place}:{id}" for id in entry.sentences)) for entry in check.listed
        ),
        told={names[id]: tuple(contents[old] for old in told if old in contents) for id, told in check.told.items()},
        missing={names[id]: words for id, words in check.missing.items()},
    )


def merged_checks(checks: Sequence[Checked | None], gone: Collection[str]) -> Checked | None:
    """Of the parts' checks one; None where a part has none. What only claims told that are gone is not wanted any more:
    a later part has overtaken it."""
    found = [check for check in checks if check is not None]
    if not found or len(found) < len(checks):
        return None
    opinions: dict[str, tuple[Opinion, ...]] = {}
    listed: list[Entry] = []
    told: dict[str, tuple[str, ...]] = {}
    missing: dict[str, str] = {}
    for place, check in enumerate(found, start=1):
        opinions.update(check.opinions)
        names = {entry.id: f"{place}.{entry.id}" for entry in check.listed}
        for id, contents in check.told.items():
            left = tuple(content for content in contents if content not in gone)
            if left or not contents:
                told[names.get(id, id)] = left
        missing.update({names.get(id, id): words for id, words in check.missing.items()})
        listed += [
            replace(entry, id=names[entry.id])
            for entry in check.listed
            if entry.id not in check.told or names[entry.id] in told
        ]
    return Checked(
        by=", ".join(dict.fromkeys(check.by for check in found)),
        opinions=opinions,
        listed=tuple(listed),
        listed_by=", ".join(dict.fromkeys(check.listed_by for check in found)),
        told=told,
        missing=missing,
        hidden=all(check.hidden for check in found),
        examined=all(check.examined for check in found),
        caught=sum(check.caught for check in found),
        planted=sum(check.planted for check in found),
    )


def folded(text: str) -> str:
    return " ".join(text.casefold().split())
