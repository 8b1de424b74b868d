"""Two plans of one branch side by side: what came in, what left and why, what stands otherwise than before."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from efforts.domain.prompt.items import SYSTEM_TITLE, TOOLS_USED, title_of
from efforts.domain.prompt.layers import runs_of, span_title
from efforts.domain.prompt.pins import TURN
from efforts.domain.prompt.plan import FINGERPRINT, NOTES, Item
from efforts.domain.prompt.reasons import Reason
from efforts.domain.prompt.rendering import Recipe

SUMMARISED = "Its summary is sent in their place."
QUOTED_NOW = "Excerpts of them are sent in their place."
SHOWN_BY_TURNS = "Its turns are shown instead."
# Of what stands for turns in both plans, with other words: what it was, and what it is.
OTHER_SUMMARY = "Another text of its summary is sent now."
OTHER_EXCERPTS = "Other excerpts are sent now."
SUMMARY_INSTEAD = "Its summary is sent now, instead of excerpts."
EXCERPTS_INSTEAD = "Excerpts are sent now, instead of its summary."
GROWN = "More was asked and found."
OTHER_TOOLS = "The system text or the tools on offer changed."
SUMMARY_OF = "{}: summary"
EXCERPTS_OF = "{}: excerpts"
PIN_OF = "Pin: {}"
SHOWN_IN_PLACE = "Its own layer shows it now."
UNPINNED = "It is not pinned any more."
OTHER_WORDS = {
    (False, False): OTHER_SUMMARY,
    (True, True): OTHER_EXCERPTS,
    (True, False): SUMMARY_INSTEAD,
    (False, True): EXCERPTS_INSTEAD,
}
GONE = "No longer among what could be sent."
QUOTED = "Pinned, so it stays: quoted in the notes now."
IN_PLACE = "Pinned, so it stays: sent in its place again."


@dataclass(frozen=True, kw_only=True)
class MadePlan:
    """A plan as it is stored; `turn` is the number of the turn that it answers."""

    turn: int
    items: tuple[Item, ...]
    recipe: Recipe
    sections: Mapping[str, int]

    @classmethod
    def from_body(cls, turn: int, body: Mapping[str, Any]) -> MadePlan:
        items = tuple(Item.from_json(item) for item in body["items"])
        return cls(turn=turn, items=items, recipe=body["recipe"], sections=body["sections"])

    @property
    def sent_turns(self) -> dict[int, Item]:
        """Every earlier turn that is sent as a log, with the item that it is part of."""
        runs = [(entry.get("effort", ""), *entry["turns"]) for entry in self.recipe if "turns" in entry]
        found = {
            number: self.turn_item(effort, number, included=True)
            for effort, first, last in runs
            for number in range(first, last + 1)
        }
        return {number: item for number, item in found.items() if item}

    def turn_item(self, effort: str, number: int, *, included: bool) -> Item | None:
        mine = (item for item in self.items if item.included == included and is_log(item) and item.whose == effort)
        return next((item for item in mine if item.turns and item.turns[0] <= number <= item.turns[1]), None)

    @property
    def headlines(self) -> dict[str, Item]:
        """Of concluded efforts, by their ids; sent or not."""
        return {item.whose: item for item in self.items if item.section == "summary"}

    @property
    def pins(self) -> dict[str, Item]:
        """What is pinned and shown by no layer, by title; sent or not."""
        return {item.title: item for item in self.items if item.section == "pin"}

    def fixed(self, title: str) -> Item | None:
        return next((item for item in self.items if item.title == title and not is_log(item)), None)


@dataclass(frozen=True, kw_only=True)
class PlanChange:
    """`turns` are the numbers of the turns it is about; else `tokens` is what came, went, or was added. `effort` is the
    id that the title begins with."""

    section: str
    title: str
    why: str
    effort: str = ""
    remedy: str = ""
    turns: tuple[int, ...] = ()
    tokens: int = 0


@dataclass(frozen=True, kw_only=True)
class Difference:
    """`sections`: key, tokens before, tokens now; only those that differ."""

    entered: tuple[PlanChange, ...]
    left: tuple[PlanChange, ...]
    changed: tuple[PlanChange, ...]
    sections: tuple[tuple[str, int, int], ...]


def difference(before: MadePlan, now: MadePlan) -> Difference:
    """What came in, what left and why, and what stands otherwise than in the plan before."""
    was, stands = before.sent_turns, now.sent_turns
    came = {number: item for number, item in stands.items() if number not in was}
    moved = {number: item for number, item in stands.items() if number in was and stands_otherwise(was[number], item)}
    left = {number: item for number, item in was.items() if number not in stands}
    # A pinned turn goes from its place to the notes, or back: it stays in the prompt all the same.
    noted, back = quoted_instead(left, before, now), quoted_instead(came, now, before)
    left = {number: item for number, item in left.items() if number not in noted}
    came = {number: item for number, item in came.items() if number not in back}
    kept = {TURN.format(number) for number in (*noted, *back)}
    return Difference(
        entered=(
            *notes_in(sent(before.pins), sent(now.pins), kept),
            *notes_in(sent(before.headlines), sent(now.headlines)),
            *grouped(came, shown_as),
            *tools_in(before, now),
        ),
        left=(
            *pins_out(before, now, kept),
            *headlines_out(before, now),
            *grouped(left, lambda number, item: gone(number, item, now)),
        ),
        changed=(
            *changed_items(before, now),
            *grouped(moved, shown_as),
            *(PlanChange(section="pin", title=TURN.format(n), why=QUOTED, tokens=by) for n, by in noted.items()),
            *(PlanChange(section="pin", title=TURN.format(n), why=IN_PLACE, tokens=-by) for n, by in back.items()),
        ),
        sections=tuple(changed_sections(before.sections, now.sections)),
    )


def quoted_instead(gone: Mapping[int, Item], before: MadePlan, now: MadePlan) -> dict[int, int]:
    """Of the turns that are not sent in their place any more, those that a pin quotes instead, and has not before; with
    the tokens that this adds, where the turn was an item of its own."""
    was, stands = sent(before.pins), sent(now.pins)
    return {
        number: stands[title].tokens - item.tokens if item.turns == (number, number) else 0
        for number, item in gone.items()
        if (title := TURN.format(number)) in stands and title not in was
    }


def is_log(item: Item) -> bool:
    return item.turns is not None and item.section not in NOTES


def is_excerpts(item: Item) -> bool:
    return item.reason == Reason.EXCERPTS


def stand_in_title(item: Item) -> str:
    return (EXCERPTS_OF if is_excerpts(item) else SUMMARY_OF).format(item.title)


def stands_otherwise(was: Item, item: Item) -> bool:
    return (was.section, was.reason, was.whose) != (item.section, item.reason, item.whose)


def shown_as(number: int, item: Item) -> PlanChange:
    return PlanChange(section=item.section, title="", effort=item.whose, why=item.sentence, turns=(number,))


def gone(number: int, was: Item, now: MadePlan) -> PlanChange:
    why, remedy = why_gone(number, was.whose, now)
    return PlanChange(section=was.section, title="", effort=was.whose, why=why, remedy=remedy, turns=(number,))


def why_gone(number: int, effort: str, now: MadePlan) -> tuple[str, str]:
    """Why an earlier turn is not sent in its place, and what would bring it in."""
    pin = now.pins.get(TURN.format(number))
    if pin and pin.included:
        return pin.sentence, ""
    headline = now.headlines.get(effort)
    if headline and headline.included:
        return (QUOTED_NOW if is_excerpts(headline) else SUMMARISED), ""
    out = now.turn_item(effort, number, included=False) or headline
    return (out.sentence, out.remedy) if out else (GONE, "")


def grouped(items: Mapping[int, Item], change_of: Any) -> Iterator[PlanChange]:
    """Turns to which the same happened are one change."""
    groups: dict[PlanChange, list[int]] = {}
    for number in sorted(items):
        change = change_of(number, items[number])
        groups.setdefault(replace(change, turns=()), []).append(number)
    for change, numbers in groups.items():
        yield replace(change, title=title_of(span_title(runs_of(numbers)), change.effort), turns=tuple(numbers))


def sent(notes: Mapping[str, Item]) -> dict[str, Item]:
    return {key: item for key, item in notes.items() if item.included}


def note_change(item: Item, why: str, remedy: str = "") -> PlanChange:
    """Of a pin, or of what stands for turns."""
    title = PIN_OF.format(item.title) if item.section == "pin" else stand_in_title(item)
    return PlanChange(section=item.section, title=title, effort=item.whose, why=why, remedy=remedy, tokens=item.tokens)


def notes_in(was: Mapping[str, Item], stands: Mapping[str, Item], kept: Collection[str] = ()) -> Iterator[PlanChange]:
    """`kept`: pins of turns that only changed their place."""
    for key, item in stands.items():
        if key not in was and key not in kept:
            yield note_change(item, item.sentence)


def pins_out(before: MadePlan, now: MadePlan, kept: Collection[str]) -> Iterator[PlanChange]:
    stands = sent(now.pins)
    for title, item in sent(before.pins).items():
        if title not in stands and title not in kept:
            yield note_change(item, *why_pin_gone(item, now))


def why_pin_gone(was: Item, now: MadePlan) -> tuple[str, str]:
    if out := now.pins.get(was.title):
        return out.sentence, out.remedy
    # A turn that only went back to its place is not among these.
    shown = was.whose and was.whose in efforts_shown(now.items)
    return (SHOWN_IN_PLACE if shown else UNPINNED), ""


def headlines_out(before: MadePlan, now: MadePlan) -> Iterator[PlanChange]:
    stands, shown = {**sent(now.headlines), **sent(now.pins)}, efforts_shown(now.items)
    for slug, item in sent(before.headlines).items():
        if slug not in stands:
            out = now.headlines.get(slug)
            other = SHOWN_BY_TURNS if slug in shown else GONE
            yield note_change(item, *((out.sentence, out.remedy) if out else (other,)))


def efforts_shown(items: Iterable[Item]) -> Collection[str]:
    return {item.whose for item in items if item.included and is_log(item)}


def tools_in(before: MadePlan, now: MadePlan) -> Iterator[PlanChange]:
    # Of another turn they are other tools: that is no news of what was here before.
    used = now.fixed(TOOLS_USED)
    if used and before.turn == now.turn and not before.fixed(TOOLS_USED):
        yield PlanChange(section="turn", title=used.title, why=used.sentence, tokens=used.tokens)


def changed_items(before: MadePlan, now: MadePlan) -> Iterator[PlanChange]:
    titles = {SYSTEM_TITLE: OTHER_TOOLS, **({TOOLS_USED: GROWN} if before.turn == now.turn else {})}
    for title, why in titles.items():
        was, item = before.fixed(title), now.fixed(title)
        if was and item and was.tokens != item.tokens:
            yield PlanChange(section=item.section, title=title, why=why, tokens=item.tokens - was.tokens)
    stood = sent(before.headlines)
    for slug, item in sent(now.headlines).items():
        # In plans stored before these were shortened the hashes are whole.
        if slug in stood and stood[slug].sha256[:FINGERPRINT] != item.sha256[:FINGERPRINT]:
            added = item.tokens - stood[slug].tokens
            why = OTHER_WORDS[is_excerpts(stood[slug]), is_excerpts(item)]
            yield replace(note_change(item, why), tokens=added)


def changed_sections(before: Mapping[str, int], now: Mapping[str, int]) -> Iterator[tuple[str, int, int]]:
    for key in {**before, **now}:
        was, stands = before.get(key, 0), now.get(key, 0)
        if was != stands:
            yield key, was, stands
