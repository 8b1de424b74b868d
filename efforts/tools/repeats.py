"""What a search says beside its matches: that it was made already in this turn, or what to try instead."""

from __future__ import annotations

from typing import Any

from efforts.domain.effort.states import Trigger
from efforts.domain.text.terms import query_terms
from efforts.models import RetrievalSet, Run

REPEATED = "You searched for this already in this turn. Read or expand what was found, or answer."
FOUND_NOTHING = {
    "search_efforts": "No effort has these words. Try others, or search_messages.",
    "search_messages": "Nothing has these words. Try fewer or others: names, numbers, file names; or no filter.",
    "search_code": "No code has these words. Try others, or a name with look_up.",
}


def with_hint(name: str, result: dict[str, Any], run: Run) -> dict[str, Any]:
    """The result of a tool; of a search with a hint where one is due."""
    if name not in FOUND_NOTHING:
        return result
    hint = REPEATED if is_repeated(run) else "" if result["matches"] else FOUND_NOTHING[name]
    return {**result, "hint": hint} if hint else result


def is_repeated(run: Run) -> bool:
    """Whether the last search of the run looks for what an earlier one of its kind looked for."""
    searches = RetrievalSet.objects.filter(run=run, trigger=Trigger.TOOL).order_by("-created_at")
    rows = searches.values_list("strategy", "query", "params")
    made = [
        # All that was asked for, by its words in any order.
        (strategy, frozenset(query_terms(query)), {**params.get("asked", {}), "query": ""})
        for strategy, query, params in rows
    ]
    return bool(made) and made[0] in made[1:]
