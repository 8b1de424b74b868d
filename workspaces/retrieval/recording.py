"""What a look into code found, as it is stored: a retrieval set of efforts, and a hit for each symbol."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from efforts.domain.effort.states import Trigger
from efforts.domain.text.canonical import canonical_json, sha256
from efforts.log.timelines import last_said_before
from efforts.models import ContextPlan, RetrievalSet, Run
from workspaces.domain.ranking import Scored
from workspaces.models import CodeHit, Snapshot, Symbol
from workspaces.retrieval.cards import FoundCard, why_of
from workspaces.retrieval.search import STRATEGY, CodeSearch


def record(
    run: Run,
    snapshot: Snapshot,
    found: CodeSearch,
    trigger: Trigger,
    cards: Sequence[FoundCard] = (),
    mode: str = "",
    results: Sequence[str] = (),
    words_alone: str = "",
    is_beside: bool = False,
) -> RetrievalSet:
    """With `cards` what a prompt may show of it, and `results`: what it tells of earlier proposals; `words_alone`: why
    meanings were not compared, where they should have been; `is_beside`: the message points at nothing in the code."""
    plan = ContextPlan.objects.filter(run=run).order_by("-call").values_list("pk", flat=True).first()
    row = RetrievalSet.objects.create(
        session_id=run.turn.session_id,
        branch_id=run.branch_id,
        run=run,
        plan_id=plan if trigger == Trigger.TOOL else None,
        trigger=trigger,
        query=found.query,
        query_hash=sha256(found.query),
        snapshot=last_said_before(run.branch, run.turn.number),
        strategy=STRATEGY,
        params={
            "workspace": str(snapshot.workspace_id),
            "code_snapshot": snapshot.pk,
            "sha256": snapshot.sha256,
            "stage": snapshot.stage,
            "mode": mode,
            "most": len(found.scored),
            **({"meaning": found.meant.params} if found.meant else {}),
            **({"words_alone": words_alone} if words_alone else {}),
            **({"is_beside": True} if is_beside else {}),
            **({"results": list(results)} if results else {}),
        },
        found=found.found,
        result_hash=result_hash(found),
    )
    shown = {card.symbol.pk: card for card in cards}
    # With cards their order is kept: what is pinned stands first, found by no words.
    found_rows = [(one, found.rows[one.symbol]) for one in found.scored if one.symbol in found.rows]
    ordered = [(card.scored, card.symbol) for card in cards] or found_rows
    CodeHit.objects.bulk_create(hits(row, found, ordered, shown))
    return row


def hits(
    row: RetrievalSet, found: CodeSearch, ordered: Iterable[tuple[Scored, Symbol]], cards: dict[int, FoundCard]
) -> Iterable[CodeHit]:
    for rank, (one, symbol) in enumerate(ordered, 1):
        card = cards.get(symbol.pk)
        shown: dict[str, Any] = {"text": card.text, "short": card.short} if card else {}
        yield CodeHit(
            retrieval=row,
            rank=rank,
            symbol=symbol.pk,
            kind=symbol.kind,
            qualified=symbol.qualified,
            path=symbol.file.path,
            first_line=symbol.first_line,
            last_line=symbol.last_line,
            sha256=symbol.file.sha256,
            score=one.score,
            ranks={**one.ranks, **({"named": 1} if one.exact else {})},
            why=list(card.why if card else why_of(found, one)),
            **shown,
        )


def result_hash(found: CodeSearch) -> str:
    return sha256(canonical_json([found.found, [[one.symbol, one.score] for one in found.scored]]))
