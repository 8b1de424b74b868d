"""Where the efforts of a branch stand, told from its events alone; the rows say the same."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from efforts.domain.effort.states import EffortStatus, SummaryState, Via

# How a turn came to its effort, as `TurnLabel.By` has it.
BEGAN, CLOSED, OPENED, MOVED = "began", "closed", "opened", "moved"


@dataclass(frozen=True, kw_only=True)
class Happening:
    """One event of a branch."""

    seq: int
    kind: str
    data: Mapping[str, Any]

    @property
    def turn(self) -> int:
        return int(self.data["turn"])

    @property
    def slug(self) -> str:
        """Id of the effort, or of the chosen turns, that it is of."""
        return str(self.data.get("effort") or self.data["id"])

    @property
    def clock(self) -> int:
        # Events from before there was a clock in them.
        return int(self.data.get("clock", self.data["turn"]))


@dataclass(frozen=True, kw_only=True)
class Label:
    slug: str
    by: str


@dataclass(kw_only=True)
class Stand:
    """One effort."""

    status: EffortStatus = EffortStatus.OPEN
    opened_turn: int
    active_turn: int = 0
    concluded_turn: int | None = None
    via: str = ""
    said: str = ""
    expanded_turn: int | None = None
    expanded_what: str = "raw"
    referenced_clock: int = 0
    evicted_clock: int | None = None

    def refer(self, clock: int) -> None:
        self.referenced_clock, self.evicted_clock = max(self.referenced_clock, clock), None


@dataclass(kw_only=True)
class Course:
    """What has come of a branch; `efforts` in the order in which they were opened."""

    efforts: dict[str, Stand] = field(default_factory=dict)
    labels: dict[int, Label] = field(default_factory=dict)
    active: str | None = None
    # What a person has named as the focus.
    focus: str | None = None
    epoch: int = 0
    begun: set[int] = field(default_factory=set)
    told: dict[int, Happening] = field(default_factory=dict)
    # Artifacts whose text stands for chosen turns, in the order in which they came to.
    scopes: dict[str, None] = field(default_factory=dict)
    # Efforts whose summary a person has rolled back, so that nothing stands for them.
    rolled_back: set[str] = field(default_factory=set)
    # By effort, the artifact whose headline came to stand for it last; of next to nothing there is none.
    summaries: dict[str, str] = field(default_factory=dict)

    def take(self, event: Happening) -> None:
        self.told[event.seq] = event
        if step := STEPS.get(event.kind):
            step(self, event)

    def activate(self, slug: str | None, turn: int) -> None:
        self.active, self.epoch = slug, self.epoch + 1
        self.touch(slug, turn)

    def touch(self, slug: str | None, turn: int) -> None:
        if slug in self.efforts:
            stand = self.efforts[slug]
            stand.active_turn = max(stand.active_turn, turn)

    def is_open(self, slug: str | None) -> bool:
        return slug in self.efforts and self.efforts[slug].status == EffortStatus.OPEN

    def latest_open(self) -> str | None:
        # Of two that were active in the same turn, the one opened later.
        order = {slug: place for place, slug in enumerate(self.efforts)}
        opened = (slug for slug in self.efforts if self.is_open(slug))
        return max(opened, key=lambda slug: (self.efforts[slug].active_turn, order[slug]), default=None)

    def put(self, turn: int, slug: str | None, by: str) -> None:
        if slug in self.efforts:
            self.labels[turn] = Label(slug=slug, by=by)
        else:
            self.labels.pop(turn, None)


# Turns


def started(course: Course, event: Happening) -> None:
    first = event.turn not in course.begun and event.turn not in course.labels
    if first and not event.data.get("aside"):
        course.put(event.turn, course.active, BEGAN)
    course.begun.add(event.turn)
    settled(course, event)


def settled(course: Course, event: Happening) -> None:
    if label := course.labels.get(event.turn):
        course.touch(label.slug, event.turn)


def ended(course: Course, event: Happening) -> None:
    # What the model did in the turn may have moved it without an event of its own.
    if "effort" in event.data:
        course.put(event.turn, event.data["effort"], event.data["by"])
    settled(course, event)


def moved(course: Course, event: Happening) -> None:
    course.put(event.data["moved"], event.data["target"], MOVED)


# Efforts


def opened(course: Course, event: Happening) -> None:
    course.efforts[event.slug] = Stand(opened_turn=event.turn, referenced_clock=event.clock)
    course.activate(event.slug, event.turn)


def concluded(course: Course, event: Happening) -> None:
    stand = course.efforts[event.slug]
    stand.status, stand.via = EffortStatus.CONCLUDED, event.data["via"]
    # Events from before there were such words.
    stand.said = event.data.get("said", "")
    stand.concluded_turn, stand.expanded_turn = event.turn, None
    stand.refer(event.clock)
    course.activate(event.data["next"], event.turn)


def reopened(course: Course, event: Happening) -> None:
    reopen(course, event.slug)
    course.efforts[event.slug].refer(event.clock)
    course.activate(event.slug, event.turn)


def reopen(course: Course, slug: str) -> None:
    stand = course.efforts[slug]
    stand.status, stand.concluded_turn, stand.via, stand.said = EffortStatus.OPEN, None, "", ""
    course.rolled_back.discard(slug)


def switched(course: Course, event: Happening) -> None:
    course.activate(event.slug, event.turn)


def expanded(course: Course, event: Happening) -> None:
    course.efforts[event.slug].expanded_turn = event.turn
    # Events from before there was a choice.
    course.efforts[event.slug].expanded_what = event.data.get("what", "raw")
    course.efforts[event.slug].refer(event.clock)


def referenced(course: Course, event: Happening) -> None:
    # What the model opened may have been taken back while its turn went on.
    if event.slug in course.efforts:
        course.efforts[event.slug].refer(event.clock)


def focused(course: Course, event: Happening) -> None:
    course.focus = event.slug
    # What it was on goes on to age from now.
    for slug in filter(None, (event.data["before"], event.slug)):
        course.efforts[slug].refer(event.clock)


def unfocused(course: Course, event: Happening) -> None:
    course.focus = None
    course.efforts[event.slug].refer(event.clock)


def evicted(course: Course, event: Happening) -> None:
    course.efforts[event.slug].evicted_clock = event.clock


def collapsed(course: Course, event: Happening) -> None:
    course.efforts[event.slug].expanded_turn = None


# Summaries that were accepted or rolled back


def summarised(course: Course, event: Happening) -> None:
    course.rolled_back.discard(event.slug)
    course.summaries[event.slug] = event.data.get("artifact", "")
    take_over(course, event)


def aged(course: Course, event: Happening) -> None:
    course.efforts[event.slug].refer(event.clock)


def due_again(course: Course, event: Happening) -> None:
    course.rolled_back.discard(event.slug)


def forked(course: Course, event: Happening) -> None:
    course.summaries.update(event.data.get("summaries", {}))


def take_over(course: Course, event: Happening) -> None:
    for artifact in event.data.get("took_over", ()):
        course.scopes.pop(artifact, None)


def rolled_back(course: Course, event: Happening) -> None:
    course.efforts[event.slug].expanded_turn = None
    if event.data["own"]:
        course.summaries[event.slug] = event.data["standing"]
    else:
        course.rolled_back.add(event.slug)
    restore(course, event)


def restore(course: Course, event: Happening) -> None:
    # Events from before anything stood again when a turn was tried again.
    course.scopes.update(dict.fromkeys(event.data.get("restored", ())))


def accepted(course: Course, event: Happening) -> None:
    take_over(course, event)
    course.scopes[event.data["artifact"]] = None


def gone(course: Course, event: Happening) -> None:
    course.scopes.pop(event.data["artifact"], None)


def scope_gone(course: Course, event: Happening) -> None:
    gone(course, event)
    restore(course, event)


# What was taken back


def undone(course: Course, event: Happening) -> None:
    was = course.told[event.data["of"]]
    INVERSES[was.kind](course, was, event.turn)
    if event.slug in course.efforts and was.kind != "turn.moved":
        course.efforts[event.slug].refer(event.clock)


def unopened(course: Course, was: Happening, turn: int) -> None:
    before, gone = was.data["before"], was.slug
    for number in [number for number, label in course.labels.items() if label.slug == gone]:
        course.put(number, before, BEGAN)
    del course.efforts[gone]
    give_way(course, gone, before, turn)


def unconcluded(course: Course, was: Happening, turn: int) -> None:
    reopen(course, was.slug)
    if not was.data["was_active"]:
        return_turn(course, was, CLOSED, was.data["next"])
    back = was.data["was_active"] and course.active == was.data["next"]
    course.activate(was.slug if back else course.active, turn)


def concluded_again(course: Course, was: Happening, turn: int) -> None:
    stand = course.efforts[was.slug]
    stand.status = EffortStatus.CONCLUDED
    stand.concluded_turn, stand.via = was.data["concluded_turn"], was.data["concluded_via"]
    stand.said = was.data.get("concluded_said", "")
    if was.data.get("rolled_back") is not None:
        course.rolled_back.add(was.slug)
    return_turn(course, was, OPENED, was.data["before"])
    give_way(course, was.slug, was.data["before"], turn)


def switched_back(course: Course, was: Happening, turn: int) -> None:
    return_turn(course, was, OPENED, was.data["before"])
    course.activate(was.data["before"], turn)


def unexpanded(course: Course, was: Happening, turn: int) -> None:
    course.efforts[was.slug].expanded_turn = None


def expanded_again(course: Course, was: Happening, turn: int) -> None:
    course.efforts[was.slug].expanded_turn = turn


def unaged(course: Course, was: Happening, turn: int) -> None:
    course.summaries.pop(was.slug, None)
    if was.data["was"]["summary"] != SummaryState.ROLLED_BACK:
        course.rolled_back.discard(was.slug)


def moved_back(course: Course, was: Happening, turn: int) -> None:
    course.put(was.data["moved"], was.data["source"], MOVED)


def give_way(course: Course, slug: str, before: str | None, turn: int) -> None:
    if course.active != slug:
        course.activate(course.active, turn)
    elif before is None:
        course.activate(None, turn)
    else:
        course.activate(before if course.is_open(before) else course.latest_open(), turn)


def return_turn(course: Course, was: Happening, by: str, before: str | None) -> None:
    if was.data["via"] == Via.MODEL and course.labels.get(was.turn) == Label(slug=was.slug, by=by):
        course.put(was.turn, before, BEGAN)


STEPS: Mapping[str, Callable[[Course, Happening], None]] = {
    "branch.forked": forked,
    "run.queued": settled,
    "run.started": started,
    "run.ended": ended,
    "turn.cancelled": settled,
    "turn.moved": moved,
    "effort.opened": opened,
    "effort.concluded": concluded,
    "effort.reopened": reopened,
    "effort.switched": switched,
    "effort.expanded": expanded,
    "effort.collapsed": collapsed,
    "effort.decayed": collapsed,
    "effort.focused": focused,
    "effort.unfocused": unfocused,
    "effort.referenced": referenced,
    "effort.evicted": evicted,
    "effort.summarised": summarised,
    "effort.digested": summarised,
    "effort.aged": aged,
    "effort.summary_due": due_again,
    "effort.rolled_back": rolled_back,
    "effort.undone": undone,
    "compaction.accepted": accepted,
    "compaction.rolled_back": scope_gone,
    "compaction.invalidated": scope_gone,
}
INVERSES: Mapping[str, Callable[[Course, Happening, int], None]] = {
    "effort.opened": unopened,
    "effort.concluded": unconcluded,
    "effort.reopened": concluded_again,
    "effort.switched": switched_back,
    "effort.expanded": unexpanded,
    "effort.collapsed": expanded_again,
    "effort.decayed": expanded_again,
    "effort.aged": unaged,
    "turn.moved": moved_back,
}
