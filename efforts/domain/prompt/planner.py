"""`plan(inputs) -> Plan`, one pure function: the same inputs give the same bytes in every process.

Build the required set, take what is pinned for good, share the room that is left among the layers, fill each with a
contiguous newest run of whole turns, say what was left out and why, render, count, hash. What the budget pushes out
leaves in a block with headroom, and stays out until budget or effort change, so that the prompt grows at its end
(tests/planner/test_growth.py measures it: at the smallest budget the beginning moves in a fifth of the calls, with a
third as much headroom in two).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from functools import lru_cache
from math import ceil

from efforts.domain.prompt.assembly import Rendered, build, rendered, required_parts
from efforts.domain.prompt.code import code_tokens, fit_code
from efforts.domain.prompt.conversation import Headline, PastTurn
from efforts.domain.prompt.layers import (
    NOTHING,
    NUMBER,
    Choice,
    Kept,
    Layer,
    beside,
    block_start,
    body_tokens,
    headline_tokens,
    layer_tokens,
    layers_of,
    pinned_efforts,
    slugs_of,
    turn_tokens,
    whole,
    with_cuts,
)
from efforts.domain.prompt.pins import fit_pins, pins_tokens, sticky_cap, unshown
from efforts.domain.prompt.plan import LayerCut, Plan, PlanInputs, RequiredTooLarge
from efforts.domain.prompt.recall import (
    fit_free,
    less_recalled,
    most,
    recall_demand,
    recall_room,
    recall_tokens,
    with_recalled,
)
from efforts.domain.prompt.shares import CAPS, ORDER, allot

# When the budget forces turns or messages out, this share of it is freed, so that the next turns need no new cut.
HEADROOM = 0.3
# Kept free for the note on what is not shown at all, and for what joining messages adds.
SPARE = 64


def plan(inputs: PlanInputs) -> Plan:
    """Raises `BudgetTooSmall` or `RequiredTooLarge`; otherwise the plan is within its budget."""
    # While a plan is fitted the same texts are counted again and again; the cache goes when the plan is made.
    inputs = replace(without_left_out(inputs), count=lru_cache(maxsize=None)(inputs.count))
    limit = inputs.budget.effective
    choice = fill(inputs, room_of(inputs))
    sent = rendered(inputs, choice)
    # `fill` adds up stored sums; joined messages and stubs can add a little. The rendered request decides.
    while sent.tokens > limit:
        choice = shed(inputs, choice)
        sent = rendered(inputs, choice)
    return with_free_room(inputs, choice, sent)


def without_left_out(inputs: PlanInputs) -> PlanInputs:
    """Earlier turns stand without the passages of what is left out that were recalled for them."""
    if not inputs.left_out:
        return inputs

    def stripped(turn: PastTurn) -> PastTurn:
        kept = (one for one in turn.recalled if not is_left_out(inputs, one.turn))
        return replace(turn, recalled=tuple(kept)) if turn.recalled else turn

    efforts = (replace(effort, turns=tuple(map(stripped, effort.turns))) for effort in inputs.efforts)
    holds = (replace(hold, turn=stripped(hold.turn)) if hold.turn else hold for hold in inputs.holds)
    return replace(inputs, past=tuple(map(stripped, inputs.past)), efforts=tuple(efforts), holds=tuple(holds))


def is_left_out(inputs: PlanInputs, number: int) -> bool:
    return any(first <= number <= last for first, last in (one.turns for one in inputs.left_out))


def with_free_room(inputs: PlanInputs, choice: Choice, sent: Rendered) -> Plan:
    """With what else was found, as far as room is left that nothing else needs; nothing gives way to it."""
    more = fit_free(inputs, choice, inputs.budget.effective - sent.tokens - SPARE)
    while more:
        wider = replace(choice, recalled=(*choice.recalled, *more), on_free_room=len(more))
        planned = build(inputs, wider, rendered(inputs, wider))
        if planned.tokens <= inputs.budget.effective and planned.sections["recall"] <= most(inputs):
            return planned
        more = more[:-1]
    return build(inputs, choice, sent)


def room_of(inputs: PlanInputs) -> int:
    """Tokens that are left beside what must be sent. Raises `RequiredTooLarge` where that alone is over the budget."""
    limit = inputs.budget.effective
    required = rendered(inputs, Choice())
    # If that is over the budget nothing may be sent, and its items say what needs how much.
    if required.tokens > limit:
        raise RequiredTooLarge(required_parts(build(inputs, Choice(), required)), limit)
    return limit - required.tokens - SPARE


def expansion_price(inputs: PlanInputs, slug: str) -> tuple[int, int]:
    """Tokens that the expanded effort `slug` needs whole, and that are free for it (design.md section 5)."""
    needed = log_tokens(inputs)[slug]
    return needed, expansion_room(inputs) + needed


def expansion_room(inputs: PlanInputs) -> int:
    """Tokens that are free for one more expansion; below 0 where more is expanded than has room."""
    room = room_of(inputs)
    choice = fill(inputs, room)
    sticky = [pin for pin in choice.pins if pin.hold.is_sticky]
    room -= pins_tokens(inputs, sticky) + recall_tokens(inputs, choice) + code_tokens(inputs, choice.code)
    cap = int(max(room, 0) * CAPS["expanded"])
    return cap - sum(log_tokens(inputs).values())


def budget_for(inputs: PlanInputs, slug: str) -> int:
    """Tokens of a budget in which the expanded effort `slug` would have its room."""
    needed, free = expansion_price(inputs, slug)
    return inputs.budget.effective + ceil(max(needed - free, 0) / CAPS["expanded"])


def log_tokens(inputs: PlanInputs) -> dict[str, int]:
    """What each expanded effort needs whole, by its log or by the body of its summary."""
    logs = {
        layer.key: layer_tokens(inputs, layer, whole(inputs, layer)) + layer.older.tokens
        for layer in layers_of(inputs)
        if layer.kind == "expanded"
    }
    return logs | {one.slug: body_tokens(inputs, (one,)) for one in inputs.headlines if one.asked}


def fill(inputs: PlanInputs, room: int) -> Choice:
    """With code, and with what is recalled, which have their room before the layers: of what these show nothing is
    recalled. Whatever is pinned for good keeps its room before code."""
    sticky = fit_pins(inputs, [hold for hold in inputs.holds if hold.is_sticky], min(sticky_cap(inputs), room))
    code = fit_code(inputs, room - pins_tokens(inputs, sticky))
    room -= code_tokens(inputs, code)
    return replace(fill_beside_code(inputs, room), code=code)


def fill_beside_code(inputs: PlanInputs, room: int) -> Choice:
    choice = fill_layers(inputs, room, 0)
    wanted = recall_demand(inputs, choice)
    if not wanted:
        return choice
    choice = fill_layers(inputs, room, wanted)
    return with_recalled(inputs, choice, recall_room(inputs, wanted, room, choice.pins))


def fill_layers(inputs: PlanInputs, room: int, recalling: int) -> Choice:
    """Pins that no layer shows stand in the notes. What they take there can push out turns that are pinned too."""
    noted: set[int] = set()
    while True:
        choice = fill_beside(inputs, room, noted, recalling)
        missing = unshown(inputs, choice)
        if missing <= noted:
            return choice if missing == noted else with_pins_of(inputs, choice, missing, room, recalling)
        noted |= missing


def with_pins_of(inputs: PlanInputs, choice: Choice, missing: Collection[int], room: int, recalling: int) -> Choice:
    """With less room a layer may be cut otherwise, and show what it did not before. What is pinned for good and found
    no place beside that in the notes stands there now, as far as room is left that nothing else has."""
    pins = [pin for pin in choice.pins if pin.hold.id in missing]
    sticky = [pin for pin in pins if pin.hold.is_sticky]
    leases = tuple(pin for pin in pins if not pin.hold.is_sticky)
    recalled = recall_room(inputs, recalling, room, [pin for pin in choice.pins if pin.hold.is_sticky])
    free = room - recalled - filled_tokens(inputs, replace(choice, pins=leases))
    for_good = [hold for hold in inputs.holds if hold.is_sticky and hold.id in missing]
    fitted = fit_pins(inputs, for_good, min(sticky_cap(inputs), max(free, pins_tokens(inputs, sticky))))
    return replace(choice, pins=(*fitted, *leases))


def filled_tokens(inputs: PlanInputs, choice: Choice) -> int:
    """What stands in the layers, the summaries and the pins of a choice."""
    logs = sum(layer_tokens(inputs, layer, choice.of(layer)) for layer in layers_of(inputs))
    stand_ins = body_tokens(inputs, choice.bodies) + headline_tokens(inputs, choice.shown_headlines)
    return logs + stand_ins + pins_tokens(inputs, choice.pins)


def fill_beside(inputs: PlanInputs, room: int, noted: Collection[int], recalling: int) -> Choice:
    """`noted`: ids of the holds that are to stand in the notes; `recalling`: tokens that recall could use."""
    holds = [hold for hold in inputs.holds if hold.id in noted]
    sticky = fit_pins(inputs, [hold for hold in holds if hold.is_sticky], min(sticky_cap(inputs), room))
    leases = [hold for hold in holds if not hold.is_sticky]
    room -= pins_tokens(inputs, sticky) + recall_room(inputs, recalling, room, sticky)
    layout = inputs.layout.under(inputs.base)
    layers = layers_of(inputs)
    cuts = {layer.key: begun(inputs, layer, layout.cuts.get(layer.key, LayerCut())) for layer in layers}
    standing = {layer.key: stand(inputs, layer, cuts[layer.key]) for layer in layers}
    headlines, returning = in_order(inputs), returning_headlines(inputs)
    asked, bodies = bodies_of(inputs)
    demands = dict.fromkeys(ORDER, 0) | {"body": body_tokens(inputs, bodies), "expanded": body_tokens(inputs, asked)}
    for layer in layers:
        demands[layer.kind] += layer_tokens(inputs, layer, standing[layer.key])
    demands["lease"] = pins_tokens(inputs, fit_pins(inputs, leases, room))
    # With those that are pinned for a while: what finds no room there stands as a summary.
    demands["summary"] = headline_tokens(inputs, beside((*headlines, *returning), pinned_efforts(sticky)))
    given = allot(demands, room)
    # Before the logs that are expanded: of those a part can stand.
    in_full = (*fit_bodies(inputs, asked, given["expanded"]), *fit_bodies(inputs, bodies, given["body"]))
    given["expanded"] -= body_tokens(inputs, [one for one in in_full if one.asked])
    chosen: dict[str, Kept] = {}
    # Of several in one class the one that was active last is filled first.
    for layer in sorted(layers, key=lambda layer: (-layer.active_turn, layer.key)):
        kept = fit(inputs, layer, standing[layer.key], given[layer.kind], cuts[layer.key].cut_through)
        given[layer.kind] -= layer_tokens(inputs, layer, kept)
        chosen[layer.key] = kept
    pins = (*sticky, *fit_pins(inputs, leases, given["lease"]))
    elsewhere = pinned_efforts(pins) | slugs_of(in_full)
    stand_in = fit_headlines(inputs, headlines, returning, given["summary"], elsewhere)
    return Choice(layers=chosen, headlines=stand_in, bodies=as_listed(in_full, stand_in), pins=pins)


def bodies_of(inputs: PlanInputs) -> tuple[tuple[Headline, ...], tuple[Headline, ...]]:
    """Those that were asked for, and those that stand unless the budget has removed them."""
    shortened = frozenset(inputs.layout.under(inputs.base).shortened)
    whole_ones = [one for one in inputs.headlines if one.body and not one.expanded]
    standing = (one for one in whole_ones if not one.asked and one.pointer not in shortened)
    return tuple(one for one in whole_ones if one.asked), tuple(standing)


def as_listed(bodies: Iterable[Headline], headlines: Iterable[Headline]) -> tuple[Headline, ...]:
    """Those that were asked for first, each in the places that their headlines have: the next call keeps these."""
    places = {one.pointer: place for place, one in enumerate(headlines)}
    return tuple(sorted(bodies, key=lambda one: (not one.asked, places.get(one.pointer, len(places)), one.pointer)))


def fit_bodies(inputs: PlanInputs, bodies: tuple[Headline, ...], room: int) -> tuple[Headline, ...]:
    """As many as fit, those that were accepted last before the others."""
    fitting: set[int] = set()
    for one in sorted(bodies, key=lambda one: -one.pointer):
        tokens = body_tokens(inputs, (one,))
        if tokens <= room:
            room -= tokens
            fitting.add(one.pointer)
    return tuple(one for one in bodies if one.pointer in fitting)


def begun(inputs: PlanInputs, layer: Layer, cut: LayerCut) -> LayerCut:
    """Where a layer begins before the budget is asked."""
    block = block_start(inputs) if layer.kind == "ambient" else 0
    return replace(cut, first_kept=max(cut.first_kept, block))


def stand(inputs: PlanInputs, layer: Layer, cut: LayerCut) -> Kept:
    """A layer as the last call left it: an unchanged beginning is what a model's cache can use again."""
    turns = tuple(turn for turn in layer.turns if turn.number >= cut.first_kept)
    episodes = (episode for turn in turns for episode in turn.episodes)
    left = {message.id for episode in episodes for message in episode if episode[0].id <= cut.left_through}
    kept = Kept(turns=turns, left=frozenset(left), recall_through=cut.recall_through)
    return with_cuts(inputs, kept, cut.cut_through, None)


def fit(inputs: PlanInputs, layer: Layer, standing: Kept, room: int, through: int) -> Kept:
    """A contiguous newest run, as it stands while it fits; else cut with headroom, messages before turns."""
    if layer_tokens(inputs, layer, standing) <= room:
        return standing
    # Cutting just enough would mean to cut again at the next turn, and each cut has the model read all of it anew.
    roomy = room - min(int(inputs.budget.effective * HEADROOM), room // 2)
    standing = without_oldest(inputs, layer, standing, roomy)
    if layer_tokens(inputs, layer, standing) <= room:
        return standing
    cut = with_cuts(inputs, standing, through, roomy)
    # Messages before turns: of a cut message the beginning and end are still there.
    if layer_tokens(inputs, layer, cut) <= room:
        return cut
    all_cut = frozenset(message.id for turn in standing.turns for message in turn.visible)
    # Rather no headroom than no turns at all.
    for within in (roomy, room):
        if kept := newest_run(inputs, layer, replace(standing, cuts=all_cut), within):
            return with_cuts(inputs, replace(standing, turns=kept), through, roomy)
    return part_of_turn(inputs, layer, standing, room)


def without_oldest(inputs: PlanInputs, layer: Layer, standing: Kept, room: int) -> Kept:
    """Without what was recalled for its oldest turns, as far as the room demands: it can be found again."""
    for turn in standing.turns:
        if layer_tokens(inputs, layer, standing) <= room:
            break
        if turn.recalled:
            standing = replace(standing, recall_through=max(turn.number, standing.recall_through))
    return standing


def part_of_turn(inputs: PlanInputs, layer: Layer, standing: Kept, room: int) -> Kept:
    """The newest turn, too large by itself, without the oldest of its tool calls; nothing where that is no help."""
    left = set(standing.left)
    for episode in standing.turns[-1].episodes if standing.turns else ():
        left |= {message.id for message in episode}
        kept = with_cuts(inputs, replace(standing, turns=standing.turns[-1:], left=frozenset(left)), 0, 0)
        if layer_tokens(inputs, layer, kept) <= room:
            return kept
    return NOTHING


def newest_run(inputs: PlanInputs, layer: Layer, standing: Kept, room: int) -> tuple[PastTurn, ...]:
    kept: list[PastTurn] = []
    after = 0
    for turn in reversed(standing.turns):
        room -= turn_tokens(inputs, (turn,), standing)
        # A turn that the next one does not follow stands under a label of its own, and each other one has its mark.
        mark = NUMBER.format(number=after) if turn.number + 1 == after else layer.label(turn.number)
        room -= inputs.count(mark) + 1
        # Not `continue`: an older turn must not stand where a newer one is missing.
        if room < 0:
            break
        kept.insert(0, turn)
        after = turn.number
    return tuple(kept)


def in_order(inputs: PlanInputs) -> tuple[Headline, ...]:
    """The headlines of the last call in their places, new ones after them."""
    by_pointer = {headline.pointer: headline for headline in inputs.headlines}
    kept = [by_pointer.pop(pointer) for pointer in inputs.layout.headlines if pointer in by_pointer]
    held = {hold.effort for hold in inputs.holds}
    # New ones, and those that were evicted and are referred to again: what comes back comes last.
    new = (by_pointer[pointer] for pointer in sorted(by_pointer))
    dropped = frozenset(inputs.layout.dropped)
    return (*kept, *(headline for headline in new if headline.pointer not in dropped or headline.slug in held))


def returning_headlines(inputs: PlanInputs) -> tuple[Headline, ...]:
    """What the budget removed comes back only when the effort or the budget changes."""
    if inputs.layout.base == inputs.base:
        return ()
    standing = {headline.pointer for headline in in_order(inputs)}
    back = (headline for headline in inputs.headlines if headline.pointer not in standing)
    return tuple(sorted(back, key=lambda headline: headline.pointer))


def fit_headlines(
    inputs: PlanInputs,
    headlines: tuple[Headline, ...],
    returning: tuple[Headline, ...],
    room: int,
    elsewhere: Collection[str],
) -> tuple[Headline, ...]:
    """All while they fit; else the oldest leave, in a block. What returns takes what room is left, and stands last."""
    shown, back = beside(headlines, elsewhere), beside(returning, elsewhere)
    if headline_tokens(inputs, (*shown, *back)) <= room:
        return (*headlines, *returning)
    roomy = int(room * (1 - HEADROOM))
    standing = headline_tokens(inputs, shown)
    # Never in place of one that stands: the beginning of the prompt is worth more than an old summary.
    if standing <= room:
        fitting = newest_within(inputs, back, roomy - standing)
        return (*headlines, *(headline for headline in returning if headline in fitting or headline not in back))
    gone = oldest_beyond(inputs, shown, roomy)
    return tuple(headline for headline in headlines if headline not in gone)


def oldest_beyond(inputs: PlanInputs, headlines: tuple[Headline, ...], room: int) -> list[Headline]:
    """Those that must leave, so that the others fit the room."""
    gone: list[Headline] = []
    left = headline_tokens(inputs, headlines)
    for headline in sorted(headlines, key=lambda headline: headline.pointer):
        if left <= room:
            break
        left -= headline_tokens(inputs, (headline,))
        gone.append(headline)
    return gone


def newest_within(inputs: PlanInputs, headlines: tuple[Headline, ...], room: int) -> tuple[Headline, ...]:
    kept: list[Headline] = []
    for headline in reversed(headlines):
        if headline_tokens(inputs, [headline, *kept]) > room:
            break
        kept.insert(0, headline)
    return tuple(kept)


def shed(inputs: PlanInputs, choice: Choice) -> Choice:
    """One thing less, from what is filled last."""
    if choice.shown_headlines:
        oldest = min(choice.shown_headlines, key=lambda headline: headline.pointer)
        return replace(choice, headlines=tuple(one for one in choice.headlines if one is not oldest))
    if any(not pin.hold.is_sticky for pin in choice.pins):
        return replace(choice, pins=choice.pins[:-1])
    if choice.code.cards:
        return replace(choice, code=replace(choice.code, cards=choice.code.cards[:-1]))
    if choice.recalled or choice.line:
        return less_recalled(choice)
    if choice.code.map:
        return replace(choice, code=replace(choice.code, map=""))
    filled = [layer for layer in layers_of(inputs) if choice.of(layer).turns]
    if not filled and not choice.bodies:
        return replace(choice, pins=choice.pins[:-1])
    after = [layer for layer in filled if ORDER.index(layer.kind) > ORDER.index("body")]
    if choice.bodies and not after:
        return replace(choice, bodies=choice.bodies[1:])
    last = max(filled, key=lambda layer: (ORDER.index(layer.kind), -layer.active_turn, layer.key))
    kept = choice.of(last)
    quoting = [turn.number for turn in kept.turns if kept.recalled_for(turn)]
    less = replace(kept, recall_through=quoting[0]) if quoting else replace(kept, turns=kept.turns[1:])
    return replace(choice, layers={**choice.layers, last.key: less})
