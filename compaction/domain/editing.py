"""Versions: the next one has what reviewers kept, edited and added; and what two of them have in common."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

from compaction.domain.artifact import Artifact, Claim, is_short, with_id
from compaction.domain.lifecycle import ClaimVerdictValue
from compaction.domain.rendering import line_of


@dataclass(frozen=True, kw_only=True)
class Decision:
    """A reviewer's verdict on a claim. `text` are its new words, `added` is a claim of the reviewer's."""

    claim: str
    verdict: ClaimVerdictValue
    text: str = ""
    added: Claim | None = None


def edited(artifact: Artifact, decisions: Iterable[Decision]) -> Artifact:
    """The next version. What stood in the short form does so still, and what is new where its section does."""
    by_claim = {one.claim: one for one in decisions}
    known = artifact.by_id
    kept = (reworded(claim, by_claim.get(claim.id)) for claim in artifact.claims)
    added = [one.added for one in by_claim.values() if one.added and one.added.id not in known]
    claims = (*(claim for claim in kept if claim is not None), *added)
    short = tuple(claim.id for claim in claims if claim.id in artifact.short or (claim in added and is_short(claim)))
    return with_id(artifact.model_copy(update={"claims": claims, "short": short}))


def reworded(claim: Claim, decision: Decision | None) -> Claim | None:
    """None where it was struck."""
    if decision is None:
        return claim
    if decision.verdict == ClaimVerdictValue.STRUCK:
        return None
    changes = decision.verdict == ClaimVerdictValue.EDITED and decision.text
    return claim.model_copy(update={"text": decision.text}) if changes else claim


@dataclass(frozen=True, kw_only=True)
class DiffPiece:
    """Words that both texts have, or that are only in the old or the new one."""

    kind: Literal["same", "gone", "new"]
    text: str


@dataclass(frozen=True, kw_only=True)
class ClaimChange:
    """`item` is the id of the claim; `before` is empty of what was added, `after` of what was struck."""

    item: str
    kind: Literal["added", "struck", "changed"]
    before: str
    after: str
    words: tuple[DiffPiece, ...]


def word_diff(old: str, new: str) -> tuple[DiffPiece, ...]:
    """What is the same or gone is `old`, what is the same or new is `new`; white space apart."""
    before, after = old.split(), new.split()
    pieces = []
    for tag, i, j, k, m in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if tag == "equal":
            pieces.append(DiffPiece(kind="same", text=" ".join(before[i:j])))
            continue
        if i < j:
            pieces.append(DiffPiece(kind="gone", text=" ".join(before[i:j])))
        if k < m:
            pieces.append(DiffPiece(kind="new", text=" ".join(after[k:m])))
    return tuple(pieces)


def version_diff(a: Artifact, b: Artifact) -> tuple[ClaimChange, ...]:
    """From version `a` to version `b`: claims in their order, added ones last."""
    old, new = told(a), told(b)
    changes = [change(id, text, new.get(id, "")) for id, text in old.items() if new.get(id) != text]
    return (*changes, *(change(id, "", text) for id, text in new.items() if id not in old))


def told(artifact: Artifact) -> dict[str, str]:
    return {claim.id: line_of(claim) for claim in artifact.claims}


def change(item: str, before: str, after: str) -> ClaimChange:
    kind: Literal["added", "struck", "changed"] = "changed" if before and after else "struck" if before else "added"
    return ClaimChange(item=item, kind=kind, before=before, after=after, words=word_diff(before, after))
