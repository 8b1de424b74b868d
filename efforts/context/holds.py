"""What is pinned, as prompts and pages show it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from django.db.models import QuerySet

from efforts.context.layers import FinishedTurn, past_turns
from efforts.domain.effort.ageing import turns_left
from efforts.domain.effort.holds import leaves_at, turns_said, until
from efforts.domain.effort.policy import STICKY_SHARE
from efforts.domain.effort.states import EffortStatus, HoldKind, HoldScope, HoldState
from efforts.domain.prompt.conversation import HoldInForce as Held
from efforts.domain.prompt.items import YOUR_MESSAGE
from efforts.domain.prompt.pins import TURN
from efforts.domain.prompt.reasons import Reason
from efforts.log.exclusions import is_left_out
from efforts.log.timelines import finished_turns
from efforts.models import Branch, EffortState, Hold
from efforts.models.prepared import prepared
from efforts.models.said import OwnWords

if TYPE_CHECKING:
    from efforts.context.plans import ItemView, PlanView

IN_NOTES = "In the notes at the head of the prompt."
CUT_IN_NOTES = "In the notes at the head of the prompt, long messages cut."
DOES_NOT_FIT = "Does not fit."
IN_PLACE = "Shown where it was said."
BY_ITS_TURNS = "Shown by its turns."
NOT_NOW = "Not in the next prompt."
STAYS_PINNED = "Stays while it is pinned"
STAYS_IN_FOCUS = "Stays while the focus is on it"


@dataclass(frozen=True, kw_only=True)
class PinView:
    """What a row's control pins: a turn, an effort, or one of several turns; `hold` is the pin that stands already."""

    key: str
    turn: int | None = None
    effort: str = ""
    called: str = ""
    first: int = 0
    last: int = 0
    hold: int | None = None

    @property
    def what(self) -> str:
        return TURN.format(self.turn) if self.turn else OwnWords(self.called or self.effort)


@dataclass(frozen=True, kw_only=True)
class HoldView:
    """`where` is how the next prompt has it, `fits` whether at all; `age` is in turns. An expansion has no id."""

    id: int
    turn: int | None
    effort: str
    called: str = ""
    until: str
    tokens: int
    age: int = 0
    sticky: bool = False
    why: str = ""
    where: str = ""
    fits: bool = True
    in_notes: bool = False

    @property
    def what(self) -> str:
        return f"Turn {self.turn}" if self.turn else OwnWords(self.called or self.effort)


@dataclass(frozen=True, kw_only=True)
class HoldsView:
    standing: tuple[HoldView, ...] = ()
    expansions: tuple[HoldView, ...] = ()
    suggested: tuple[HoldView, ...] = ()
    cap: int = 0

    @property
    def all(self) -> tuple[HoldView, ...]:
        return (*self.standing, *self.expansions)

    @property
    def sticky_tokens(self) -> int:
        """What counts against the share of what is pinned for good."""
        return sum(one.tokens for one in self.standing if one.sticky and one.in_notes)

    def of(self, *, turn: int | None = None, effort: str = "") -> int | None:
        """Id of what stands of a turn or an effort."""
        return next((one.id for one in self.standing if (one.turn, one.effort) == (turn, effort)), None)


def read_holds(branch: Branch, rows: Sequence[Hold], *, before: int) -> tuple[Held, ...]:
    """Those that stand, in the order of the prompt: for good first, each by its grant. `rows`: all of them."""
    numbers = [row.turn_id for row in rows if row.turn_id]
    turns = (
        FinishedTurn.read(finished_turns(branch, before=before).filter(pk__in=numbers).exclude(is_left_out(branch)))
        if numbers
        else ()
    )
    past = {turn.number: turn for turn in past_turns(turns)}
    held = [
        Held(
            id=row.pk,
            kind=HoldKind(row.kind),
            scope=HoldScope(row.scope),
            turns=row.turns,
            within=row.within.slug if row.within else "",
            turn=past.get(row.turn.number) if row.turn else None,
            effort=row.effort.slug if row.effort else "",
            leaves_at=leaves_at(
                HoldScope(row.scope), row.turns, granted=row.granted_clock, refreshed=row.refreshed_clock
            ),
        )
        for row in rows
    ]
    return tuple(sorted((hold for hold in held if hold.turn or hold.effort), key=lambda hold: not hold.is_sticky))


def rows_of(branch: Branch, state: HoldState) -> QuerySet[Hold]:
    rows = Hold.objects.filter(branch=branch, state=state).select_related("turn", "effort", "within")
    return rows.order_by("granted_clock", "pk")


@prepared
def read_standing(branch: Branch) -> QuerySet[Hold]:
    return rows_of(branch, HoldState.STANDING)


@prepared
def read_suggested(branch: Branch) -> QuerySet[Hold]:
    return rows_of(branch, HoldState.SUGGESTED)


@prepared
def read_expanded(branch: Branch) -> QuerySet[EffortState]:
    expanded = EffortState.objects.filter(branch=branch, expanded_turn__isnull=False).select_related("effort")
    return expanded.order_by("expanded_turn", "pk")


def holds_view(branch: Branch, plan: PlanView | None = None) -> HoldsView:
    """What stands and what is suggested; and how the plan of the next call has it, where that is given."""
    suggested = tuple(hold_view(row) for row in read_suggested(branch))
    if plan is None:
        return HoldsView(standing=standing_holds(branch), suggested=suggested)
    standing = read_standing(branch)
    pinned = {row.effort_id for row in standing}
    return HoldsView(
        standing=tuple(standing_view(row, branch, plan) for row in standing),
        expansions=tuple(
            expansion_view(state, branch, plan, pinned=state.effort_id in pinned) for state in read_expanded(branch)
        ),
        suggested=suggested,
        cap=int(plan.budget * STICKY_SHARE),
    )


def standing_holds(branch: Branch) -> tuple[HoldView, ...]:
    """Without a plan: what is pinned, not how it is sent."""
    return tuple(hold_view(row) for row in read_standing(branch))


def hold_view(row: Hold, **more: Any) -> HoldView:
    within = row.within.name if row.within else ""
    return HoldView(
        id=row.pk,
        turn=row.turn.number if row.turn else None,
        effort=row.effort.slug if row.effort else "",
        called=row.effort.name if row.effort else "",
        until=until(HoldScope(row.scope), row.turns, within),
        sticky=row.kind == HoldKind.STICKY,
        why=row.why,
        **{"tokens": row.turn.tokens if row.turn else 0, **more},
    )


def standing_view(row: Hold, branch: Branch, plan: PlanView) -> HoldView:
    age = max(branch.clock - row.granted_clock, 0)
    items = (*plan.included, *plan.excluded)
    if item := next((item for item in items if item.hold == row.pk), None):
        where = IN_NOTES if item in plan.included else DOES_NOT_FIT
        cut = item.rule == Reason.PINNED_CUT
        noted = item in plan.included
        return hold_view(
            row, age=age, tokens=item.tokens, where=CUT_IN_NOTES if cut else where, fits=noted, in_notes=noted
        )
    if row.effort:
        shown = plan.tokens_of(row.effort.slug)
        return hold_view(row, age=age, tokens=shown, where=BY_ITS_TURNS if shown else NOT_NOW, fits=bool(shown))
    in_place = row.turn is not None and plan.shows(row.turn.number)
    return hold_view(row, age=age, where=IN_PLACE if in_place else NOT_NOW, fits=in_place)


def leaves_in(branch: Branch, state: EffortState, *, collapsed: bool = False) -> int | None:
    """Turns that do not refer to it, until it leaves the prompt; None for what does not leave by itself.

    `collapsed`: as it would be without its expansion.
    """
    if state.status == EffortStatus.OPEN or state.effort_id == branch.focus_id:
        return None
    session = branch.session
    is_collapsed = collapsed or state.expanded_turn is None
    threshold = session.eviction_threshold if is_collapsed else session.decay_threshold
    return turns_left(branch.clock, state.referenced_clock, threshold)


def expansion_view(state: EffortState, branch: Branch, plan: PlanView, *, pinned: bool) -> HoldView:
    leaves = leaves_in(branch, state)
    stays = STAYS_PINNED if pinned else STAYS_IN_FOCUS
    more = turns_said(leaves or 0)
    return HoldView(
        id=0,
        turn=None,
        effort=state.effort.slug,
        called=state.effort.name,
        until=stays if pinned or leaves is None else f"Collapses in {more} unless mentioned",
        age=max(branch.head - (state.expanded_turn or 0), 0),
        tokens=plan.tokens_of(state.effort.slug),
        where=BY_ITS_TURNS,
    )


def with_pins(plan: PlanView, holds: HoldsView, *, turn: int | None = None) -> PlanView:
    """The plan with what can be pinned, or taken back, at each of its rows. `turn`: of the message that it answers."""
    noted = {item.title for item in (*plan.included, *plan.excluded) if item.section == "pin"}
    fresh = partial(pinnable, holds=holds, noted=noted, asked=turn)
    return replace(
        plan,
        included=tuple(replace(item, pin=fresh(item)) for item in plan.included),
        excluded=tuple(replace(item, pin=fresh(item)) for item in plan.excluded),
    )


def pinnable(item: ItemView, *, holds: HoldsView, noted: Collection[str], asked: int | None) -> PinView | None:
    if item.section == "turn":
        return turn_pin(asked, holds) if asked and item.title == YOUR_MESSAGE else None
    if item.section in ("pin", "summary"):
        if item.effort:
            return effort_pin(item, holds)
        # Of several efforts in one row none can be meant.
        return turn_pin(item.turns[0], holds) if item.turns else None
    if item.turns is None:
        return None
    first, last = item.turns
    if first < last:
        return PinView(first=first, last=last, key=f"{item.section}-{first}-{last}")
    # The row of the pin itself has the control.
    return None if TURN.format(first) in noted else turn_pin(first, holds)


def turn_pin(number: int, holds: HoldsView) -> PinView:
    return PinView(turn=number, key=f"turn-{number}", hold=holds.of(turn=number))


def effort_pin(item: ItemView, holds: HoldsView) -> PinView:
    slug = item.effort
    return PinView(effort=slug, called=item.called, key=f"effort-{slug}", hold=holds.of(effort=slug))
