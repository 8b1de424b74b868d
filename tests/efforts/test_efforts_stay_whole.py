"""Whatever people and models do to efforts, in any order and in two branches: the rules hold and nothing is lost."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from dataclasses import replace
from random import Random
from typing import Any
from uuid import UUID

import pytest
from django.contrib.auth.models import User
from django.db import connection, transaction
from django.db.models import Count, Sum
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from efforts import actions
from efforts.context.courses import course_at
from efforts.context.planning import chosen_settings, draft_turn, plan_inputs
from efforts.context.sources import read_summary_log
from efforts.domain.effort.notices import NOTICES
from efforts.domain.effort.states import EFFORT_MOVES, RETRYABLE, EffortStatus, RunState
from efforts.domain.errors import Refused
from efforts.domain.prompt.planner import plan
from efforts.models import (
    Branch,
    ContextPointer,
    Effort,
    EffortState,
    Event,
    Message,
    PointerTurn,
    Session,
    Turn,
    TurnLabel,
)
from efforts.standins.compacting import Summary
from efforts.turns.recording import COMPLETED, STOPPED, Ending, Lease
from efforts.turns.summaries import summarise_now
from tests.efforts.port import scripted
from tests.efforts.talk import Talk
from tests.machines import Writes, assert_whole

FAILED = Ending(state=RunState.FAILED, code="broken_stream", text="The stream broke.")
NAMES = ["Bug", "Bug ", "bugs", "Vacation", "../../evil", "日本旅行", "תיקון הבאג", "\u202eabc", "", "...", "x" * 300]
SAYINGS = ["Hello.", "The bug is fixed.", "Let's pause here.", "It works now.", "And the vacation?", "日本旅行は？"]
TOOLS = ["open_effort", "close_effort", "reopen_effort", "switch_effort", "expand_effort"] * 4
ASKING = ["collapse_effort", "effort_status", "search_efforts", "search_messages", "read_effort", "read_message"]
PERSON = [
    "open",
    "close",
    "reopen",
    "switch",
    "expand",
    "collapse",
    "rename",
    "move",
    "undo",
    *["summarise", "use", "retry"] * 2,
    "morning",
    "look",
    *["focus"] * 2,
]
FITTING: dict[str, dict[str, Any]] = {
    "close": {"status": "open"},
    "switch": {"status": "open"},
    "reopen": {"status": "concluded"},
    "expand": {"status": "concluded", "summary__in": ["stands", "digest"], "expanded_turn": None},
    "use": {"summary__in": ["waiting", "digest"]},
    "retry": {"summary__in": ["digest", "failed", "rolled back"]},
    "collapse": {"expanded_turn__isnull": False},
}


class Efforts(RuleBasedStateMachine):
    @initialize(seed=st.integers(0, 2**32))
    def begin(self, seed: int) -> None:
        # One number decides all: Hypothesis' own choices are often the smallest, and then little happens.
        self.chance = Random(seed)
        self.stage, self.writes = ExitStack(), Writes()
        self.stage.enter_context(transaction.atomic())
        self.stage.enter_context(connection.execute_wrapper(self.writes))
        self.port = self.stage.enter_context(contextmanager(scripted)())
        self.session = actions.create_session(User.objects.create_user("alice"))
        # So few turns that what awaits a summary ages to its digest.
        Session.objects.filter(pk=self.session.pk).update(eviction_threshold=1)
        main = Branch.objects.get(session=self.session)
        fork = actions.fork(main, after=0, actor=self.session.owner)
        self.talks = [Talk(self.session), Talk(self.session, fork)]
        self.ends: dict[tuple[UUID, int], Any] = {}
        self.running: dict[int, Lease] = {}
        self.statuses: dict[tuple[Any, str], EffortStatus] = {}
        self.ids: dict[str, int] = {}
        self.messages: dict[int, str] = {}

    def teardown(self) -> None:
        if hasattr(self, "stage"):
            transaction.set_rollback(True)
            self.stage.close()

    @rule()
    def happens(self) -> None:
        who = self.chance.choice(["model"] * 8 + ["person"] * 10 + ["turn"] * 6 + ["fork"])
        where, pick = self.chance.choice([0, 0, 1]), self.chance.randrange(1_000_000)
        untouched = self.in_branch(self.talks[1 - where])
        other = self.talks[1 - where]
        acts = {"model": self.model_acts, "person": self.person_acts, "turn": self.turn_goes_on, "fork": self.forks}
        acts[who](where, pick)
        assert self.in_branch(other) == untouched

    # Turns

    def turn_goes_on(self, where: int, pick: int) -> None:
        """A message, or the end of the running turn; a turn that did not complete may be tried again."""
        talk = self.talks[where]
        if where in self.running:
            talk.finish(self.running.pop(where), ending=(COMPLETED, COMPLETED, FAILED, STOPPED)[pick % 4])
            if pick // 4 % 2:
                self.person_summarise(where, pick, "")
        elif (last := self.last_turn(talk)) and self.may_be_tried_again(last) and pick % 2:
            actions.retry_turn(last, actor=self.session.owner)
            if pick % 3:
                self.running[where] = talk.claim()
            else:
                last.refresh_from_db()
                actions.cancel_turn(last, actor=self.session.owner)
        else:
            self.ends[talk.branch_id, talk.branch.head] = self.standing(talk)
            active = talk.active
            self.running[where] = talk.begin(SAYINGS[pick % len(SAYINGS)])
            assert talk.labels().get(talk.branch.head) == active

    def may_be_tried_again(self, turn: Turn) -> bool:
        shared = Branch.objects.filter(parent=turn.branch_id, fork_turn__gte=turn.number).exists()
        return turn.run is not None and turn.run.state in RETRYABLE and not shared

    def last_turn(self, talk: Talk) -> Turn | None:
        return Turn.objects.filter(branch=talk.branch_id).select_related("run", "session").order_by("-number").first()

    # Branches

    def forks(self, where: int, pick: int) -> None:
        """From any turn, with everything as it stood before the next one began; the other talk goes on there."""
        talk, other = self.talks[where], 1 - where
        number = pick % (talk.branch.head + 1)
        if where in self.running or other in self.running:
            return
        owner = UUID(talk.branch.owner_of(number))
        parent = Talk(self.session, Branch.objects.get(pk=owner))
        stood = self.ends[owner, number] if number < parent.branch.head else self.standing(parent)
        child = actions.fork(talk.branch, after=number, actor=self.session.owner)
        self.talks[other] = Talk(self.session, child)
        assert self.standing(self.talks[other]) == stood

    def standing(self, talk: Talk) -> Any:
        """All that a fork has of it; a summary is there or will be."""
        rows = (
            EffortState.objects.filter(branch=talk.branch_id)
            .order_by("pk")
            .values_list(
                "effort__slug",
                "status",
                "opened_turn",
                "active_turn",
                "concluded_turn",
                "via",
                "said",
                "expanded_turn",
                "expanded_what",
                "referenced_clock",
                "evicted_clock",
                "turns",
            )
        )
        labels = TurnLabel.objects.filter(branch=talk.branch_id).order_by("turn__number")
        labelled = list(labels.values_list("turn", "effort", "by"))
        return talk.active, talk.focus, talk.branch.effort_epoch, list(rows), labelled

    # The model

    def model_acts(self, where: int, pick: int) -> None:
        if where not in self.running:
            self.turn_goes_on(where, pick)
        if where not in self.running:
            return
        tool, pick = self.chosen(TOOLS + ASKING, pick)
        arguments = self.arguments(tool, where, pick)
        result = self.talks[where].call(self.running[where], tool, **arguments)
        assert isinstance(result, dict)
        assert result

    def arguments(self, tool: str, where: int, pick: int) -> dict[str, Any]:
        if tool == "open_effort":
            return {"name": NAMES[pick % len(NAMES)]}
        if tool.startswith("search"):
            return {"query": SAYINGS[pick % len(SAYINGS)]}
        if tool == "read_message":
            return {"id": pick % 20}
        if tool == "effort_status" or (tool == "close_effort" and pick % 3 == 0):
            return {}
        if tool == "close_effort" and pick % 3 == 1:
            return {"id": self.some_id(where, pick, "close"), "said": SAYINGS[pick % len(SAYINGS)]}
        return {"id": self.some_id(where, pick, tool.removesuffix("_effort"))}

    def some_id(self, where: int, pick: int, verb: str) -> str:
        """Mostly one that `verb` can be done to; else any, one of the other branch, or none at all."""
        talk, (often, pick) = self.talks[where], divmod(pick, 4)[::-1]
        states = EffortState.objects.filter(branch=talk.branch_id, **FITTING.get(verb, {})).order_by("pk")
        fitting = list(states.values_list("effort__slug", flat=True))
        others = [*list(talk.states()) * 5, *self.talks[1 - where].states(), *NAMES]
        slugs = fitting if often and fitting else others
        return slugs[pick % len(slugs)]

    # The person

    def person_acts(self, where: int, pick: int) -> None:
        what, pick = self.chosen(PERSON, pick)
        told = self.talks[where].events()
        try:
            getattr(self, f"person_{what}", self.control)(where, pick, what)
        except Refused:
            assert self.talks[where].events() == told

    def control(self, where: int, pick: int, what: str) -> None:
        getattr(actions, f"{what}_effort")(self.talks[where].place, self.some_id(where, pick, what))

    def person_open(self, where: int, pick: int, what: str) -> None:
        actions.open_effort(self.talks[where].place, NAMES[pick % len(NAMES)])

    def person_rename(self, where: int, pick: int, what: str) -> None:
        actions.rename_effort(self.talks[where].place, self.some_id(where, pick, what), NAMES[pick % len(NAMES)])

    def person_move(self, where: int, pick: int, what: str) -> None:
        number, pick = pick % (self.talks[where].branch.head + 1), pick // 7
        actions.move_turn(self.talks[where].place, number, self.some_id(where, pick, what) if pick % 4 else None)

    def person_undo(self, where: int, pick: int, what: str) -> None:
        done = [event for event in self.talks[where].events() if event["kind"] != "effort.offered"]
        moves = self.talks[where].events("turn.moved")
        last = sorted(event["seq"] for event in done + moves)[-8:] or [99]
        actions.undo(self.talks[where].place, last[pick % len(last)])

    def person_summarise(self, where: int, pick: int, what: str) -> None:
        """As the runner's job does it: a draft stands, waits, or there is none."""
        talk = self.talks[where]
        due = EffortState.objects.filter(branch=talk.branch_id, summary="due").select_related("effort")
        for state in due:
            unfinished = TurnLabel.objects.filter(
                branch=talk.branch_id, effort=state.effort, turn__run__state__in=["queued", "running"]
            )
            if not unfinished.exists():
                log = read_summary_log(talk.branch, state.effort)
                digest = self.port.digest_of(state, log) if pick % 5 else ""
                made = Summary(artifact=self.port.draft_of(state, log), text="In short.", stands=pick % 2 == 0)
                self.port.made = replace(made if pick % 3 else Summary(), digest=digest, why="It may be better.")
                summarise_now(state)

    def person_use(self, where: int, pick: int, what: str) -> None:
        actions.use_summary(self.talks[where].place, self.some_id(where, pick, what))

    def person_retry(self, where: int, pick: int, what: str) -> None:
        actions.retry_summary(self.talks[where].place, self.some_id(where, pick, what))

    def person_morning(self, where: int, pick: int, what: str) -> None:
        expanded = EffortState.objects.filter(branch=self.talks[where].branch_id).exclude(expanded_turn=None)
        count = expanded.count()
        assert actions.new_work_session(self.talks[where].place) == count
        assert not expanded.exists()

    def person_focus(self, where: int, pick: int, what: str) -> None:
        """By a control, or typed."""
        talk, slug = self.talks[where], self.some_id(where, pick, what) if pick % 4 else None
        if pick % 3 == 0:
            text, client_id = f"/focus {slug or 'off'}", f"focus-{self.chance.randrange(1_000_000)}"
            actions.take_typed(
                self.session, text=text, client_id=client_id, actor=self.session.owner, branch=talk.branch
            )
        elif slug:
            actions.focus_effort(talk.place, slug)
        else:
            actions.end_focus(talk.place)

    def person_look(self, where: int, pick: int, what: str) -> None:
        """What is expanded and collapsed again leaves the next request as it was, to the byte; what had left the prompt
        is back in it, as looking is referring."""
        talk = self.talks[where]
        before = next_request(talk)
        slug = self.some_id(where, pick, "expand")
        evicted = EffortState.objects.filter(branch=talk.branch_id, effort__slug=slug, evicted_clock__isnull=False)
        had_left = evicted.exists()
        actions.expand_effort(talk.place, slug)
        assert next_request(talk) != before
        actions.collapse_effort(talk.place, slug)
        assert had_left or next_request(talk) == before

    # What always holds

    @invariant()
    def whole(self) -> None:
        if not hasattr(self, "talks") or not self.writes.any():
            return
        for where, talk in enumerate(self.talks):
            if where not in self.running:
                self.the_log_tells_what_the_rows_say(talk)
            self.the_active_effort_is_open_here(talk)
            self.sums_are_sums(talk)
            self.only_concluded_efforts_are_expanded_and_have_pointers(talk)
            self.every_pointer_covers_its_effort(talk)
            self.a_digest_stands_where_its_effort_says_so(talk)
        self.statuses_moved_only_as_the_table_allows()
        self.ids_are_unique_and_stay()
        self.nothing_said_is_lost()
        self.notices_are_exact()

    def the_log_tells_what_the_rows_say(self, talk: Talk) -> None:
        course, _ = course_at(talk.branch, talk.branch.head)
        told = [(slug, *vars(stand).values()) for slug, stand in course.efforts.items()]
        active, focus, epoch, rows, _ = self.standing(talk)
        stands = active, focus, epoch, [row[:-1] for row in rows]
        assert (course.active, course.focus, course.epoch, told) == stands
        labels = TurnLabel.objects.filter(branch=talk.branch_id).values_list("turn__number", "effort__slug", "by")
        assert {number: (label.slug, label.by) for number, label in course.labels.items()} == {
            number: (slug, by) for number, slug, by in labels
        }

    def the_active_effort_is_open_here(self, talk: Talk) -> None:
        if active := talk.active:
            assert talk.states()[active] == "open"

    def sums_are_sums(self, talk: Talk) -> None:
        labelled = TurnLabel.objects.filter(branch=talk.branch_id).values("effort__slug")
        sums = {row["effort__slug"]: row for row in labelled.annotate(turns=Count("id"), tokens=Sum("turn__tokens"))}
        for state in EffortState.objects.filter(branch=talk.branch_id).select_related("effort"):
            found = sums.pop(state.effort.slug, {"turns": 0, "tokens": 0})
            assert (state.turns, state.tokens) == (found["turns"], found["tokens"])
        assert not sums, "a label of an effort that is not here"

    def only_concluded_efforts_are_expanded_and_have_pointers(self, talk: Talk) -> None:
        opened = EffortState.objects.filter(branch=talk.branch_id, status="open")
        assert not opened.exclude(expanded_turn=None).exists()
        assert not opened.exclude(summary="none").exists()
        pointers = ContextPointer.objects.filter(branch=talk.branch_id, state="active")
        assert not pointers.filter(effort__in=opened.values("effort")).exists()
        assert not EffortState.objects.filter(branch=talk.branch_id, status="concluded", summary="none").exists()

    def a_digest_stands_where_its_effort_says_so(self, talk: Talk) -> None:
        digests = ContextPointer.objects.filter(branch=talk.branch_id, state="active", digest=True).values("effort")
        told = EffortState.objects.filter(branch=talk.branch_id, summary="digest")
        assert not told.exclude(effort__in=digests).exists()
        drafted_again = ["due", "drafting", "digest"]
        standing = EffortState.objects.filter(branch=talk.branch_id, effort__in=digests)
        assert not standing.exclude(summary__in=drafted_again).exists()

    def every_pointer_covers_its_effort(self, talk: Talk) -> None:
        for pointer in ContextPointer.objects.filter(branch=talk.branch_id, state="active"):
            covered = PointerTurn.objects.filter(pointer=pointer, active=True).values_list("turn", flat=True)
            labelled = TurnLabel.objects.filter(branch=talk.branch_id, effort=pointer.effort)
            assert set(covered) == set(labelled.values_list("turn", flat=True))
        assert not PointerTurn.objects.filter(active=True).exclude(pointer__state="active").exists()

    def statuses_moved_only_as_the_table_allows(self) -> None:
        now = {
            (state.branch_id, state.effort.slug): EffortStatus(state.status)
            for state in EffortState.objects.filter(branch__session=self.session).select_related("effort")
        }
        for key, status in now.items():
            before = self.statuses.get(key, status)
            assert status == before or status in EFFORT_MOVES[before]
        self.statuses = now

    def ids_are_unique_and_stay(self) -> None:
        now = dict(Effort.objects.filter(session=self.session).values_list("slug", "pk"))
        assert len(now) == Effort.objects.filter(session=self.session).count()
        assert self.ids.items() <= now.items()
        assert all(slug and len(slug) <= 80 and slug == slug.strip("-_./ ") for slug in now)
        self.ids = now

    def nothing_said_is_lost(self) -> None:
        now = dict(Message.objects.filter(session=self.session).values_list("pk", "text"))
        assert self.messages.items() <= now.items()
        self.messages = now
        branches = Branch.objects.filter(session=self.session)
        heads = sum(branch.head - (branch.fork_turn or 0) for branch in branches)
        assert Turn.objects.filter(session=self.session).count() == heads
        assert Message.objects.filter(session=self.session, role="user").count() == heads

    def notices_are_exact(self) -> None:
        for row in Event.objects.filter(session=self.session, kind__startswith="effort."):
            assert row.data.get("notice") == (NOTICES[row.kind].format(**row.data) if row.kind in NOTICES else None)
            assert Branch.objects.filter(pk=row.data["branch"], session=self.session).exists()

    # Helpers

    def in_branch(self, talk: Talk) -> Any:
        rows = EffortState.objects.filter(branch=talk.branch_id).order_by("pk").values_list("effort", "status", "turns")
        return talk.active, talk.labels(), list(rows)

    @staticmethod
    def chosen(options: list[str], pick: int) -> tuple[str, int]:
        return options[pick % len(options)], pick // len(options)


def next_request(talk: Talk) -> str:
    branch = Branch.objects.get(pk=talk.branch_id)
    inputs = plan_inputs(branch, chosen_settings(talk.session), current=draft_turn(branch, "And now?"))
    return plan(inputs).request_sha256


@pytest.mark.django_db
def test_efforts_stay_whole() -> None:
    assert_whole(Efforts, examples=3, steps=50)


@pytest.mark.soak
@pytest.mark.django_db
def test_many_efforts_stay_whole() -> None:
    assert_whole(Efforts, examples=6, steps=100)
