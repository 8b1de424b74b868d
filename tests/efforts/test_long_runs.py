"""Long talk by somebody who wants the memory to thrash, and mentions things just before they leave, as they leave, or
just after. What the rules say is counted beside it; rows, events, prompts and searches must agree.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import date
from random import Random
from typing import Any
from uuid import UUID

import pytest
from django.contrib.auth.models import User
from django.db import transaction
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from efforts import actions
from efforts.context.courses import course_at
from efforts.context.planning import chosen_settings, draft_turn, plan_inputs, run_inputs
from efforts.domain.effort.states import RunState
from efforts.domain.errors import Refused
from efforts.domain.prompt.budget import SMALLEST_BUDGET
from efforts.domain.prompt.plan import Plan
from efforts.domain.prompt.planner import plan
from efforts.domain.prompt.reasons import Reason
from efforts.memory.holds import standing
from efforts.models import Branch, ContextPointer, Effort, EffortState, Message, Run, Session
from efforts.retrieval.efforts import search_efforts
from efforts.turns import recording
from efforts.turns.recording import COMPLETED, INTERRUPTED, STOPPED, Ending, Lease
from tests.efforts.talk import Talk

FAILED = Ending(state=RunState.FAILED, code="broken_stream", text="The stream broke.")
ENDINGS = [COMPLETED] * 16 + [STOPPED, FAILED, INTERRUPTED]
# Turns until expansions fade, and until summaries leave; in the last two both come at once, or the wrong way round.
THRESHOLDS = [(3, 20), (3, 20), (2, 6), (5, 5), (8, 4)]
SYLLABLES = [consonant + vowel for consonant in "bdfgklmnprtvz" for vowel in "aiou"]
MOST_EFFORTS, MOST_BRANCHES = 16, 4
# Results of a search that count, and the share of the first one's score that they need.
TOP, SHARE = 3, 0.5
FOUND = 5
A_DAY = date(2026, 1, 5)
BY_USER = ("name", "keywords")
BY_REPLY = ("reply's name", "reply's keywords")
BY_TOOL = ("search", "read", "expand")


def word(number: int) -> str:
    """Of no language, and none like another."""
    first, rest = divmod(number * 7919 % len(SYLLABLES) ** 3, len(SYLLABLES) ** 2)
    return SYLLABLES[first] + "".join(SYLLABLES[part] for part in divmod(rest, len(SYLLABLES))) + "k"


@dataclass(frozen=True, kw_only=True)
class Topic:
    """What an effort is called and about; its words are nobody else's."""

    number: int

    def word(self, place: int) -> str:
        return word(10 * self.number + place + 1)

    @property
    def name(self) -> str:
        return f"{self.word(0)} {self.word(1)}"

    @property
    def slug(self) -> str:
        return self.name.replace(" ", "-")

    @property
    def headline(self) -> str:
        return f"The {self.word(2)} was {self.word(3)}, so {self.word(4)} is {self.word(5)}."

    def said(self, how: str, chance: Random) -> str:
        if "name" in how:
            return chance.choice([self.name, self.slug, self.name.upper(), self.name.replace(" ", "_")])
        return " and ".join(chance.sample([self.word(place) for place in (2, 3, 4, 5)], 2))


@dataclass(kw_only=True)
class Stand:
    """An effort as the rules have it. `wait`: the age at which it is mentioned next."""

    topic: Topic
    referenced: int
    is_open: bool = True
    expanded: bool = False
    evicted: bool = False
    wait: int = 0

    def refer(self, clock: int) -> None:
        self.referenced, self.evicted, self.wait = max(self.referenced, clock), False, 0


@dataclass(kw_only=True)
class Timeline:
    """A branch by the rules alone; `ends`: as it stood when the turn after that number began."""

    clock: int = 0
    efforts: dict[str, Stand] = field(default_factory=dict)
    ends: dict[int, tuple[int, dict[str, Stand]]] = field(default_factory=dict)

    @property
    def concluded(self) -> list[str]:
        return [slug for slug, stand in self.efforts.items() if not stand.is_open]

    @property
    def active(self) -> str | None:
        return next((slug for slug, stand in self.efforts.items() if stand.is_open), None)

    def settle(self, decay: int, eviction: int, pinned: set[str]) -> dict[str, str]:
        """What becomes of each effort when a completed turn is settled: one thing at most."""
        changes: dict[str, str] = {}
        for slug, stand in self.efforts.items():
            age = self.clock - stand.referenced
            if slug in pinned:
                continue
            if stand.expanded and age >= decay:
                stand.expanded, stand.wait, changes[slug] = False, 0, "effort.decayed"
            elif not (stand.expanded or stand.is_open or stand.evicted) and age >= eviction:
                stand.evicted, changes[slug] = True, "effort.evicted"
        return changes


class LongRun:
    def __init__(self, seed: int) -> None:
        self.chance = Random(seed)
        self.session = actions.create_session(User.objects.create_user("alice"))
        self.decay, self.eviction = self.chance.choice(THRESHOLDS)
        Session.objects.filter(pk=self.session.pk).update(
            budget=SMALLEST_BUDGET,
            context_mode="off",
            decay_threshold=self.decay,
            eviction_threshold=self.eviction,
        )
        self.session.refresh_from_db()
        self.talks = [Talk(self.session)]
        self.timelines = {self.talks[0].branch_id: Timeline()}
        self.where = 0
        self.topics = 0
        self.turns = 0
        self.messages: dict[int, str] = {}
        self.logs: dict[tuple[UUID, str], list[str]] = {}
        self.happened: Counter[str] = Counter()

    @property
    def talk(self) -> Talk:
        return self.talks[self.where]

    @property
    def timeline(self) -> Timeline:
        return self.timelines[self.talk.branch_id]

    @property
    def pinned(self) -> set[str]:
        pinned = standing(self.talk.branch).filter(effort__isnull=False)
        return set(pinned.values_list("effort__slug", flat=True))

    # What happens

    def go_on(self) -> None:
        if self.chance.random() < 0.3:
            self.between_turns()
        self.turn()
        self.rows_are_as_the_rules_say()
        if self.turns % 25 == 0:
            self.what_left_is_found()
        if self.turns % 50 == 0:
            self.nothing_is_lost()

    def between_turns(self) -> None:
        acts: list[Callable[[], None]] = [self.begins_or_concludes] * 6
        acts += [self.person_expands] * 6 + [self.person_collapses, self.takes_a_decay_back, self.reopens]
        acts += [self.pins, self.unpins, self.new_morning, self.forks, self.goes_elsewhere]
        try:
            self.chance.choice(acts)()
        except Refused:
            self.happened["refused"] += 1

    def turn(self) -> None:
        """A message, calls of tools, a reply: what is due is mentioned in one of them."""
        timeline, now = self.timeline, self.timeline.clock + 1
        self.keep_end()
        evicted = {slug for slug, stand in timeline.efforts.items() if stand.evicted}
        plain = self.plan_every_seventh(now)
        due = {slug: self.chance.choice([*BY_USER, *BY_REPLY, *BY_TOOL]) for slug in self.due(now)}
        last = self.last_event()
        lease = self.talk.begin(self.text_of(due, BY_USER))
        self.refer(now, [slug for slug, how in due.items() if how in BY_USER])
        if plain:
            self.prompt_is_as_the_rules_say(lease)
        for slug, how in due.items():
            if how in BY_TOOL:
                self.use_tool(lease, how, slug, now)
        ending = self.chance.choice(ENDINGS)
        self.talk.finish(lease, self.text_of(due, BY_REPLY), ending)
        self.settle(ending, now, [slug for slug, how in due.items() if how in BY_REPLY], last, evicted)
        self.turns += 1

    def keep_end(self) -> None:
        """As it stands when the next turn begins."""
        self.timeline.ends[self.talk.branch.head] = (self.timeline.clock, deepcopy(self.timeline.efforts))

    def settle(self, ending: Ending, now: int, replied: list[str], last: int, evicted: set[str]) -> None:
        if ending in (COMPLETED, STOPPED):
            self.refer(now, replied)
        changes = {}
        if ending == COMPLETED:
            self.timeline.clock = now
            changes = self.timeline.settle(self.decay, self.eviction, self.pinned)
        self.no_effort_changes_twice(last, changes, evicted)

    def due(self, now: int) -> list[str]:
        """Those whose age is what was chosen for them: one less than the rule's, just that, or one more."""
        stands = [self.timeline.efforts[slug] for slug in self.timeline.concluded]
        for stand in stands:
            limit = self.decay if stand.expanded else self.eviction
            stand.wait = stand.wait or max(limit + self.chance.choice([-1, 0, 1]), 1)
        due = [stand.topic.slug for stand in stands if now - stand.referenced >= stand.wait]
        return self.chance.sample(due, min(len(due), 3))

    def text_of(self, due: dict[str, str], ways: tuple[str, ...]) -> str:
        topics = {slug: self.timeline.efforts[slug].topic for slug in due}
        said = [topics[slug].said(how, self.chance) for slug, how in due.items() if how in ways]
        return ". ".join(["All is well", *said]) + "."

    def refer(self, clock: int, slugs: list[str]) -> None:
        for slug in slugs:
            self.timeline.efforts[slug].refer(clock)

    def use_tool(self, lease: Lease, how: str, slug: str, now: int) -> None:
        stand = self.timeline.efforts[slug]
        if how == "search":
            query = stand.topic.said("keywords", self.chance)
            matches = self.talk.call(lease, "search_efforts", query=query)["matches"]
            best = [match["id"] for match in matches[:TOP] if match["score"] >= matches[0]["score"] * SHARE]
            assert slug in [match["id"] for match in matches]
            self.refer(now, best)
        elif how == "read":
            assert "error" not in self.talk.call(lease, "read_effort", id=slug)
            stand.refer(now)
        elif "error" not in self.talk.call(lease, "expand_effort", id=slug):
            stand.expanded = True
            stand.refer(now)

    # What the person does

    def begins_or_concludes(self) -> None:
        if slug := self.timeline.active:
            self.conclude(slug)
        elif self.topics < MOST_EFFORTS:
            self.topics += 1
            topic = Topic(number=self.topics)
            assert actions.open_effort(self.talk.place, topic.name).effort.slug == topic.slug
            self.timeline.efforts[topic.slug] = Stand(topic=topic, referenced=self.timeline.clock)
            self.keep_end()
            # Some are so large that not all of them can be expanded at once.
            self.talk.ask(f"{topic.headline} " + "It is as it is. " * self.chance.choice([2, 2, 150]), ending=FAILED)

    def conclude(self, slug: str) -> None:
        stand = self.timeline.efforts[slug]
        actions.close_effort(self.talk.place, slug)
        stand.is_open = False
        stand.refer(self.timeline.clock)
        self.talk.summarise(slug, stand.topic.headline)
        self.logs[self.talk.branch_id, slug] = self.expanded_bytes(slug)

    def person_expands(self) -> None:
        slug = self.chance.choice(self.timeline.concluded or [""])
        if slug:
            actions.expand_effort(self.talk.place, slug)
            self.timeline.efforts[slug].expanded = True
            self.refer(self.timeline.clock, [slug])

    def person_collapses(self) -> None:
        for slug in [slug for slug, stand in self.timeline.efforts.items() if stand.expanded][:1]:
            actions.collapse_effort(self.talk.place, slug)
            self.timeline.efforts[slug].expanded = False

    def takes_a_decay_back(self) -> None:
        here = {"branch": str(self.talk.branch_id)}
        decayed = [event for event in self.talk.events("effort.decayed") if here.items() <= event.items()]
        if decayed:
            slug = decayed[-1]["effort"]
            actions.undo(self.talk.place, decayed[-1]["seq"])
            self.timeline.efforts[slug].expanded = True
            self.refer(self.timeline.clock, [slug])

    def reopens(self) -> None:
        slug = self.chance.choice(self.timeline.concluded or [""])
        if slug and not self.timeline.active and slug not in self.pinned:
            actions.reopen_effort(self.talk.place, slug)
            self.timeline.efforts[slug].is_open, self.timeline.efforts[slug].expanded = True, False
            self.refer(self.timeline.clock, [slug])

    def pins(self) -> None:
        for slug in self.timeline.concluded[-1:]:
            actions.pin_effort(self.talk.place, slug)

    def unpins(self) -> None:
        for hold in standing(self.talk.branch):
            actions.unpin(self.talk.place, hold.pk)

    def new_morning(self) -> None:
        actions.new_work_session(self.talk.place)
        for slug, stand in self.timeline.efforts.items():
            stand.expanded = stand.expanded and slug in self.pinned

    def forks(self) -> None:
        if len(self.talks) == MOST_BRANCHES:
            return
        number = self.chance.randint(max(0, self.talk.branch.head - 30), self.talk.branch.head)
        owner = UUID(self.talk.branch.owner_of(number))
        parent, head = self.timelines[owner], Branch.objects.get(pk=owner).head
        clock, efforts = parent.ends[number] if number < head else (parent.clock, parent.efforts)
        child = actions.fork(self.talk.branch, after=number, actor=self.session.owner)
        self.talks.append(Talk(self.session, child))
        self.timelines[child.pk] = Timeline(clock=clock, efforts=deepcopy(efforts))
        self.where = len(self.talks) - 1
        for slug in self.timeline.concluded:
            if self.talk.state(slug).summary == "due":
                self.talk.summarise(slug, self.timeline.efforts[slug].topic.headline)
            self.logs[child.pk, slug] = self.expanded_bytes(slug)

    def goes_elsewhere(self) -> None:
        self.where = self.chance.randrange(len(self.talks))

    # What holds

    def rows_are_as_the_rules_say(self) -> None:
        rows = EffortState.objects.filter(branch=self.talk.branch_id).select_related("effort")
        told = {
            row.effort.slug: (
                row.status == "open",
                row.expanded_turn is not None,
                row.referenced_clock,
                row.evicted_clock is not None,
            )
            for row in rows
        }
        stands = self.timeline.efforts.items()
        expected = {slug: (one.is_open, one.expanded, one.referenced, one.evicted) for slug, one in stands}
        assert told == expected
        assert self.talk.branch.clock == self.timeline.clock

    def last_event(self) -> int:
        return int(Session.objects.values_list("event_seq", flat=True).get(pk=self.session.pk))

    def no_effort_changes_twice(self, last: int, changes: dict[str, str], evicted: set[str]) -> None:
        told = [event for event in self.talk.events() if event["seq"] > last]
        aged = [event for event in told if event["kind"] in ("effort.decayed", "effort.evicted")]
        assert {event["effort"]: event["kind"] for event in aged} == changes
        back = {slug for slug in evicted if not self.timeline.efforts[slug].evicted}
        times = Counter([event["effort"] for event in aged]) + Counter(back)
        assert all(count == 1 for count in times.values())
        self.happened.update([*changes.values(), *("returned" for _ in back)])

    def plan_every_seventh(self, now: int) -> bool:
        """And where something is at its threshold."""
        limits = {(self.decay if one.expanded else self.eviction): one for one in self.timeline.efforts.values()}
        at_once = any(now - one.referenced in (limit, limit + 1) for limit, one in limits.items())
        return self.turns % 7 == 0 or (at_once and self.chance.random() < 0.3)

    def prompt_is_as_the_rules_say(self, lease: Lease) -> None:
        run = Run.objects.select_related("turn__session", "branch__session").get(pk=lease.run_id)
        planned = plan(run_inputs(run))
        recording.record_plan(lease, 1, planned)
        assert planned.tokens <= SMALLEST_BUDGET
        pinned = self.pinned
        for slug in set(self.timeline.concluded) - pinned:
            assert list(self.faults_of(planned, slug)) == []
        gone = [slug for slug, stand in self.timeline.efforts.items() if stand.evicted and slug not in pinned]
        assert planned.inputs.evicted.count == len(gone)

    def faults_of(self, planned: Plan, slug: str) -> Iterator[str]:
        stand = self.timeline.efforts[slug]
        items = [item for item in planned.items if item.values.get("effort") == slug]
        shown = {item.section for item in items if item.included and item.section in ("summary", "expanded")}
        out = {item.reason for item in items if not item.included}
        if stand.evicted:
            yield from (f"{slug} has left and is shown as {section}" for section in shown)
        elif stand.expanded:
            yield from [] if shown == {"expanded"} or Reason.EFFORT_OVER_BUDGET in out else [f"{slug}: no log"]
        else:
            yield from [] if shown == {"summary"} or Reason.HEADLINE_OVER_BUDGET in out else [f"{slug}: no summary"]

    def what_left_is_found(self) -> None:
        branch = self.talk.branch
        evicted = [stand.topic for stand in self.timeline.efforts.values() if stand.evicted]
        for topic in self.chance.sample(evicted, min(len(evicted), 4)):
            for query in (topic.name, f"{topic.word(2)} {topic.word(5)}"):
                found = search_efforts(branch, query, before=branch.head + 1, today=A_DAY)
                assert topic.slug in [hit.slug for hit in found.hits[:FOUND]]

    def nothing_is_lost(self) -> None:
        now = dict(Message.objects.filter(session=self.session).values_list("pk", "text"))
        assert self.messages.items() <= now.items()
        self.messages = now
        assert Effort.objects.filter(session=self.session).count() == self.topics
        for talk in self.talks:
            self.summaries_are_whole(talk)
            self.events_tell_what_the_rows_say(talk)

    def summaries_are_whole(self, talk: Talk) -> None:
        pointers = ContextPointer.objects.filter(branch=talk.branch_id, state="active")
        timeline = self.timelines[talk.branch_id]
        headlines = {slug: timeline.efforts[slug].topic.headline for slug in timeline.concluded}
        assert dict(pointers.values_list("effort__slug", "text")) == headlines

    def events_tell_what_the_rows_say(self, talk: Talk) -> None:
        course, _ = course_at(talk.branch, talk.branch.head)
        names = ("expanded_turn", "referenced_clock", "evicted_clock", "concluded_turn", "active_turn")
        rows = EffortState.objects.filter(branch=talk.branch_id).values_list("effort__slug", *names)
        told = {slug: tuple(getattr(stand, name) for name in names) for slug, stand in course.efforts.items()}
        assert told == {slug: tuple(values) for slug, *values in rows}

    def logs_come_back_in_the_same_bytes(self) -> None:
        for where, talk in enumerate(self.talks):
            self.where = where
            for slug in self.timeline.concluded:
                assert self.expanded_bytes(slug) == self.logs[talk.branch_id, slug]

    def expanded_bytes(self, slug: str) -> list[str]:
        """What its log would be sent as, were it expanded alone; the state stays as it is."""
        branch = self.talk.branch
        chosen: dict[str, Any] = {**chosen_settings(self.session), "budget": 16_000}
        inputs = plan_inputs(branch, chosen, current=draft_turn(branch, ""), expanded={slug})
        items = [item for item in plan(inputs).items if item.section == "expanded" and item.included]
        assert items
        return [item.sha256 for item in items]


def played(seed: int, turns: int) -> Counter[str]:
    """What happened by itself, how often."""
    with transaction.atomic():
        run = LongRun(seed)
        while run.turns < turns:
            run.go_on()
        run.what_left_is_found()
        run.nothing_is_lost()
        run.logs_come_back_in_the_same_bytes()
        transaction.set_rollback(True)
    return run.happened


def play_many(*, examples: int, turns: int) -> Counter[str]:
    happened: Counter[str] = Counter()

    @settings(
        max_examples=examples,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.reuse, Phase.generate],
    )
    @given(seed=st.integers(0, 2**32))
    def play(seed: int) -> None:
        happened.update(played(seed, turns))

    play()
    return happened


@pytest.mark.django_db
def test_memory_does_not_thrash_and_loses_nothing() -> None:
    play_many(examples=3, turns=50)


@pytest.mark.soak
@pytest.mark.django_db
def test_memory_does_not_thrash_and_loses_nothing_in_a_thousand_turns() -> None:
    happened = play_many(examples=3, turns=350)
    # In fifty turns not each of them need happen.
    assert all(happened[kind] for kind in ("effort.decayed", "effort.evicted", "returned"))
