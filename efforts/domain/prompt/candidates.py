"""What there is to say of a candidate beside its decision: its id, what has room before it, how long it stays, and what
it cannot stand without."""

from __future__ import annotations

from collections.abc import Iterable

from efforts.domain.effort.holds import UNTIL, turns_said
from efforts.domain.effort.states import HoldScope
from efforts.domain.prompt.items import YOUR_MESSAGE
from efforts.domain.prompt.plan import Item
from efforts.domain.prompt.reasons import Reason
from efforts.domain.prompt.shares import ORDER

# Always sent; then what is pinned for good, code and what is recalled, which have their room before the layers.
PRIORITIES = {
    **dict.fromkeys(("system", "instruction", "constraint", "turn"), 0),
    **{key: place for place, key in enumerate(("pin", "code", "recall", *ORDER), 1)},
}
# Of these there is one in a plan for each title.
TITLED = ("system", "instruction", "code", "turn")
IN_PLACE = (Reason.PINNED_IN_PLACE, Reason.PINNED_IN_PLACE_CUT)
COLLAPSES = "Collapses in {turns} unless mentioned."
DROPS_OUT = "Drops out in {turns} unless mentioned."
DROPS_OUT_LATER = "Drops out when you next switch efforts, unless mentioned."
TO_EXCERPTS = "Gives way to excerpts in {turns} unless mentioned."
TO_EXCERPTS_LATER = "Gives way to excerpts when you next switch efforts, unless mentioned."
SHORTENED = "Becomes one line in {turns} unless mentioned."
SHORTENED_LATER = "Becomes one line when you next switch efforts, unless mentioned."
PIN_ENDS = "The pin ends in {turns}."
PIN_ENDS_UNLESS = "The pin ends in {turns} unless it is mentioned."


def id_of(item: Item) -> str:
    """The same in each plan of a branch that has the candidate; of a run of turns the first and the last are part."""
    values, reason = item.values, str(item.reason)
    for key in ("hold", "constraint", "symbol", "message"):
        if key in values:
            return f"{key}:{values[key]}"
    if item.section in TITLED:
        return f"{item.section}:{item.title}"
    if item.section == "recall":
        return f"recall:{item.turns[0] if item.turns else reason}"
    if item.section in ("summary", "body"):
        return f"{item.section}:{item.whose or reason}"
    what = "turns" if item.turns and item.reason != Reason.LEFT_OUT else reason
    span = f"{item.turns[0]}-{item.turns[1]}" if item.turns else item.title
    return f"{what}:{item.whose or 'ambient'}:{span}"


def priority_of(item: Item) -> int:
    """The lower is given its room before the higher; 0 is always sent."""
    if item.section == "pin" and item.values.get("until") != UNTIL[HoldScope.ALWAYS]:
        return PRIORITIES["lease"]
    return PRIORITIES[item.section]


def needs_of(item: Item, items: Iterable[Item]) -> tuple[str, ...]:
    """Ids of those among the `items` of its plan that it stands with: where none of them is sent, nor is it."""
    if item.section == "turn":
        return () if item.title == YOUR_MESSAGE else tuple(id_of(one) for one in items if one.title == YOUR_MESSAGE)
    if item.reason not in (Reason.RECALLED_BEFORE, Reason.RECALLED_BEFORE_LEFT, Reason.TOOL_CALLS_OVER_BUDGET):
        return ()
    log = (
        one for one in items if one.included and one.turns and (one.section, one.whose) == (item.section, item.whose)
    )
    return tuple(map(id_of, log))


def leaves_in(item: Item) -> int | None:
    """Turns that do not refer to it until it leaves by itself; None where none are counted."""
    return item.values.get("leaves_in")


def stays(item: Item) -> str:
    """When what is sent leaves by itself, as people read it; empty where no turns are counted."""
    left = leaves_in(item)
    # What leaves is the rest of its effort.
    if left is None or not item.included or item.reason in IN_PLACE:
        return ""
    return ending_of(item, later=not left).format(turns=turns_said(left))


def ending_of(item: Item, *, later: bool) -> str:
    """`later`: it is old enough, and waits for the next change of effort."""
    if item.section == "pin":
        return PIN_ENDS_UNLESS if "mention" in item.values["until"] else PIN_ENDS
    if item.section == "expanded" or item.reason == Reason.EXPANDED_BODY:
        return COLLAPSES
    if item.section == "body":
        return SHORTENED_LATER if later else SHORTENED
    if item.reason == Reason.AWAITING_SUMMARY:
        return TO_EXCERPTS_LATER if later else TO_EXCERPTS
    return DROPS_OUT_LATER if later else DROPS_OUT
