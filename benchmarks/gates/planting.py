"""Mistakes planted in the claims of a good summary, several in one variant of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from compaction.domain.artifact import Claim, Draft, Section, Status

from .cases import Case, Defect, quoted_in, sentences_with
from .converting import SECTIONS

# In one variant.
MOST = 4
ADDED = "added"
LINE = re.compile(r"- (?P<section>\w+)/(?P<status>\w+)/\w+ \| (?P<text>.+?) \| (?P<message>\d+): (?P<quote>.+)")
VALUES = ("number", "unit", "deadline", "date")
NAMED = re.compile(r"[^\s,;:()“”\"]*[\dA-Z/_][^\s,;:()“”\"]*")


@dataclass(frozen=True, kw_only=True)
class Planted:
    """`before` and `after` are the claim without and with it; one is None where a claim was added or left out."""

    defect: Defect
    before: Claim | None
    after: Claim | None

    @property
    def claim(self) -> str:
        return one.id if (one := self.after or self.before) else ""

    @property
    def cites(self) -> frozenset[str]:
        return frozenset(id for one in (self.before, self.after) if one for id in one.cites)

    @property
    def is_omission(self) -> bool:
        return self.after is None


def is_of_value(defect: Defect) -> bool:
    return any(word in defect.kind for word in VALUES)


def is_of_words(defect: Defect) -> bool:
    """No number, name or path is other than it was; only what is said of them."""
    named = set(NAMED.findall(defect.replace)) == set(NAMED.findall(defect.by))
    return bool(defect.replace) and named and not is_of_value(defect)


def planted(defect: Defect, case: Case, claims: Sequence[Claim]) -> Planted | None:
    """None where the words or the claim that it is about are not there."""
    by_id = {claim.id: claim for claim in claims}
    if defect.add_line:
        return Planted(defect=defect, before=None, after=added(defect, case))
    if defect.drop:
        before = by_id.get(defect.drop)
        return Planted(defect=defect, before=before, after=None) if before else None
    for before in [by_id[id] for id in ids_of(defect) if id in by_id]:
        after = changed(before, defect, case)
        if after and after != before:
            return Planted(defect=defect, before=before, after=after)
    return None


def ids_of(defect: Defect) -> tuple[str, ...]:
    return ("r1", "r2") if defect.claim == "headline" else (defect.claim,)


def changed(claim: Claim, defect: Defect, case: Case) -> Claim | None:
    if defect.section_status:
        section, status = state_of(*defect.section_status.split("/"))
        return claim.model_copy(update={"section": section, "status": status})
    if defect.quotes:
        ids = dict.fromkeys(id for quote in defect.quotes for id in quoted_in(quote, case.source, claim.id))
        return claim.model_copy(update={"cites": tuple(ids)})
    if not defect.replace or defect.replace not in claim.text:
        return None
    notes = {name: with_change(getattr(claim, name), defect) for name in ("owner", "due")}
    return claim.model_copy(update={"text": claim.text.replace(defect.replace, defect.by, 1), **notes})


def with_change(note: str, defect: Defect) -> str:
    """Owner and due date say what the changed text says."""
    old, new = defect.replace.split(), defect.by.split()
    for kind, i, j, k, m in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        words = " ".join(old[i:j]).strip(".,;")
        if kind == "replace" and words in note:
            note = note.replace(words, " ".join(new[k:m]).strip(".,;"), 1)
    return note


def added(defect: Defect, case: Case) -> Claim:
    found = LINE.fullmatch(defect.add_line)
    assert found is not None
    section, status = state_of(found["section"], found["status"])
    cites = sentences_with(int(found["message"]), found["quote"], case.source)
    return Claim(id=ADDED, section=section, status=status, text=found["text"], cites=cites)


def state_of(section: str, status: str) -> tuple[Section, Status]:
    return Section(SECTIONS.get(section, section)), Status(status)


def is_of_quotation(defect: Defect) -> bool:
    """Claims quote nothing any more."""
    return bool(defect.quote_replace)


def packed(found: Iterable[Planted]) -> list[tuple[Planted, ...]]:
    """Each in the first variant that has room and is of other claims."""
    variants: list[list[Planted]] = []
    for one in found:
        fitting = (v for v in variants if len(v) < MOST and all(one.claim != other.claim for other in v))
        variant = next(fitting, None)
        if variant is None:
            variants.append([one])
        else:
            variant.append(one)
    return [tuple(variant) for variant in variants]


def with_planted(claims: Sequence[Claim], found: Sequence[Planted]) -> Draft:
    by_id = {one.claim: one.after for one in found}
    kept = [by_id.pop(claim.id, claim) for claim in claims]
    return Draft(claims=tuple(claim for claim in (*kept, *by_id.values()) if claim))


def bare(claims: Iterable[Claim]) -> Iterator[Claim]:
    yield from (claim.model_copy(update={"ledger_ref": ""}) for claim in claims)
