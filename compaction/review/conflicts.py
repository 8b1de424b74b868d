"""Where reviewers say different things of one claim, neither having seen what the other said."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from compaction.domain.artifact import parse_artifact
from compaction.models import Artifact, ClaimVerdict


@dataclass(frozen=True, kw_only=True)
class Side:
    """`words` are those that the reviewer wants: edited ones, else those of the version that was reviewed."""

    reviewer: str
    verdict: str
    words: str
    version: int


@dataclass(frozen=True, kw_only=True)
class Conflict:
    item: str
    sides: tuple[Side, ...]


def conflicts(artifact: Artifact) -> tuple[Conflict, ...]:
    """Over all versions up to this one. Whoever submits again on a later version has seen the other side: settled. Of a
    claim that is no longer there this may be a verdict on anything else."""
    of_family = ClaimVerdict.objects.filter(artifact__family=artifact.family, submitted_at__isnull=False)
    rows = of_family.filter(artifact__version__lte=artifact.version).select_related("artifact", "reviewer")
    last: dict[str, dict[int, ClaimVerdict]] = {}
    seen: dict[int, int] = {}
    for row in rows.order_by("submitted_at", "pk"):
        last.setdefault(row.item, {})[row.reviewer_id] = row
        seen[row.reviewer_id] = max(row.artifact.version, seen.get(row.reviewer_id, 0))
    there = parse_artifact(artifact.document).by_id if artifact.is_current else {}
    found = (conflict_of(item, list(of_item.values()), {} if item in there else seen) for item, of_item in last.items())
    return tuple(one for one in found if one)


def conflict_of(item: str, rows: Sequence[ClaimVerdict], seen: Mapping[int, int]) -> Conflict | None:
    """`rows`: the last word of each reviewer; `seen`: the newest version of which a reviewer said anything."""
    against = {row.pk: row for pair in clashing(rows) for row in pair}
    newest = max((row.artifact.version for row in against.values()), default=0)
    if any(seen.get(row.reviewer_id, 0) > newest for row in against.values()):
        return None
    return Conflict(item=item, sides=tuple(map(side_of, against.values()))) if against else None


def clashing(rows: Sequence[ClaimVerdict]) -> Iterator[tuple[ClaimVerdict, ClaimVerdict]]:
    for earlier, later in combinations(sorted(rows, key=lambda row: (row.submitted_at, row.pk)), 2):
        unseen = later.artifact.version <= earlier.artifact.version
        if unseen and (earlier.verdict, earlier.text) != (later.verdict, later.text):
            yield earlier, later


def side_of(row: ClaimVerdict) -> Side:
    claim = parse_artifact(row.artifact.document).by_id.get(row.item) if row.artifact.is_current else None
    words = row.text or (row.added or {}).get("text") or (claim.text if claim else "")
    return Side(
        reviewer=row.reviewer.get_username(),
        verdict=row.verdict,
        words=words,
        version=row.artifact.version,
    )
