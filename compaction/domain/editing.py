"""What reviewers do to a version: the next one has what they kept, edited and added, and nothing that they struck."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from .artifact import Artifact, Claim, is_short, with_id
from .lifecycle import ClaimVerdictValue


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
