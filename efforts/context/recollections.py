"""What is recalled for a message: looked for before its turn is planned, and read again as it was kept."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from datetime import date, datetime
from typing import Any
from uuid import UUID

from django.db.models import F, Q, QuerySet

from efforts.context.embedders import Wording
from efforts.domain.effort.policy import ContextMode
from efforts.domain.effort.states import Trigger
from efforts.domain.prompt import need
from efforts.domain.prompt.conversation import Recalled
from efforts.domain.prompt.plan import Plan
from efforts.log.timelines import LOG_FIELDS, branch_turns, log_message_of
from efforts.models import Branch, RetrievalItem, VectorIndex
from efforts.models.prepared import prepared
from efforts.retrieval.recall import Recollection, recall
from efforts.retrieval.vectors import Asked

# Of an item and of what it leads to: a prompt is read with hundreds of them, and rows of the ORM cost more.
READ = (
    *("retrieval__run", "turn__number", "start", "end", "message__created_at", "effort__slug", "score", "why"),
    *(f"message__{name}" for name in LOG_FIELDS),
)


def recollect(
    branch: Branch, drafted: Plan, mode: ContextMode, *, today: date, wording: Wording | None = None
) -> Recollection | None:
    """What the message needs of what its prompt does not show, as `drafted` without it; None where nothing is to be
    recalled, or the prompt shows everything. `wording`: of the message, where the model of meanings is asked too; then
    no transaction may be open."""
    if mode == ContextMode.OFF:
        return None
    inputs = drafted.inputs
    number, shown = inputs.current.number, shown_turns(drafted)
    if shown.issuperset(range(1, number)):
        return None
    text = inputs.current.user.text
    known = VectorIndex.objects.filter(session=branch.session_id)
    asked = wording.compared_with(known) if wording and need.asks(text) else Asked()
    focus = branch.focus.slug if branch.focus else ""
    found = recall(branch, text, before=number, mode=mode, today=today, shown=shown, meant=asked.meant, focus=focus)
    return replace(found, params={**found.params, "words_alone": asked.fault}) if asked.fault else found


def shown_turns(planned: Plan) -> set[int]:
    """Numbers of the earlier turns of which all that anybody said is sent."""
    logs = [entry for entry in planned.recipe if "turns" in entry]
    cut = {id for entry in logs for id in entry["cuts"]}
    past = (*planned.inputs.past, *(turn for effort in planned.inputs.efforts for turn in effort.turns))
    # The results of tools are nobody's words.
    parts = {turn.number for turn in past for said in turn.visible if said.role != "tool" and str(said.id) in cut}
    spans = (entry["turns"] for entry in logs)
    return {number for first, last in spans for number in range(first, last + 1)} - parts


def recalled_for(run_id: UUID) -> tuple[Recalled, ...]:
    """All that was found for the run, the best first; its calls choose of it what they quote."""
    return read_recalled([run_id]).get(run_id, ())


def read_recalled(runs: Iterable[UUID], **which: Any) -> dict[UUID, tuple[Recalled, ...]]:
    found: dict[UUID, tuple[Recalled, ...]] = {}
    for run, *values in read_items(list(runs), **which):
        found[run] = (*found.get(run, ()), recalled(*values))
    return found


@prepared
def read_items(runs: list[UUID], **which: Any) -> QuerySet[RetrievalItem, tuple[Any, ...]]:
    items = RetrievalItem.objects.filter(retrieval__run__in=runs, retrieval__trigger=Trigger.AUTO, **which)
    return items.order_by("rank").values_list(*READ)


def recalled_from(branch: Branch, numbers: Collection[int]) -> dict[int, set[int]]:
    """By the number of the turn that they were recalled for and stay with, the turns of these that passages are of."""
    stays = Q(retrieval__run=F("retrieval__run__turn__run"), included=True, leaves=False)
    kept = RetrievalItem.objects.filter(stays, retrieval__trigger=Trigger.AUTO)
    of_these = kept.filter(retrieval__run__turn__in=branch_turns(branch), turn__number__in=numbers)
    found: dict[int, set[int]] = {}
    pairs = of_these.values_list("retrieval__run__turn__number", "turn__number").distinct().order_by()
    for asking, said in sorted(pairs):
        found.setdefault(asking, set()).add(said)
    return found


def recalled(
    turn: int,
    start: int | None,
    end: int | None,
    said_at: datetime,
    effort: str | None,
    score: float,
    why: Sequence[str],
    *message: Any,
) -> Recalled:
    """As `traces.record_recall` wrote it."""
    return Recalled(
        turn=turn,
        message=log_message_of(message),
        start=start or 0,
        end=end or 0,
        said_on=said_at.date().isoformat(),
        effort=effort or "",
        score=score,
        why=tuple(why),
    )
