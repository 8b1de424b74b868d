"""A long conversation in which everything happens that changes what later prompts are made of, each turn with its
plan."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from random import Random

from django.contrib.auth.models import User

from efforts import actions
from efforts.context.planning import main_branch, run_inputs
from efforts.domain.effort.states import EffortStatus, RunState, SummaryState
from efforts.domain.errors import Refused
from efforts.domain.prompt.planner import plan
from efforts.models import ContextPointer, EffortState, Event, Run, Session
from efforts.standins import compacting
from efforts.turns import recording
from efforts.turns.orchestrator import first_inputs, look_back
from efforts.turns.recording import COMPLETED, STOPPED, Ending, Lease
from efforts.turns.summaries import summarise_now
from tests.efforts.talk import Talk

FAILED = Ending(state=RunState.FAILED, code="broken_stream", text="The stream broke.")
TOPICS = ["tax return", "kitchen", "harbour", "logo", "marathon", "garden"]
WORDS = ["ferry", "cabin", "gate", "receipt", "tile", "crane", "serif", "shoe", "hedge", "letter", "deadline", "colour"]


class Eventful:
    """Played by one number: the same seed gives the same conversation."""

    def __init__(self, owner: User, *, seed: int) -> None:
        self.chance = Random(seed)
        session = actions.configure_session(
            actions.create_session(owner), actor=owner, endpoint=None, model="", budget=4_000, ambient_window=4
        )
        Session.objects.filter(pk=session.pk).update(eviction_threshold=6, context_mode="light")
        session.refresh_from_db()
        self.session = session
        self.talk = Talk(session)

    def play(self, turns: int) -> None:
        for _ in range(turns):
            for _ in range(self.chance.randrange(3)):
                self.happens()
            self.turn()

    def happens(self) -> None:
        often = [self.opens, self.concludes] * 4 + [self.expands] * 3 + [self.renames] * 2
        rarely = [self.collapses, self.switches, self.reopens, self.moves, self.undoes, self.pins, self.rules]
        # Much of it cannot be done just now.
        with suppress(Refused):
            self.chance.choice([*often, *rarely, self.settles, self.forks, self.rolls_back])()

    # A turn

    def turn(self) -> None:
        lease = self.talk.begin(self.words())
        run = Run.objects.select_related("turn__session", "branch").get(pk=lease.run_id)
        drafted = plan(first_inputs(run))
        found = look_back(run, drafted)
        recording.record_plan(lease, 1, found.added_to(drafted), partial(found.keep, run))
        if self.chance.random() < 0.25:
            word = self.chance.choice(WORDS)
            self.talk.call(lease, "search_messages", query=word)
            self.talk.call(lease, "search_efforts", query=word)
            self.plan(lease, 2)
        ending = self.chance.choice([COMPLETED] * 8 + [STOPPED, FAILED])
        self.talk.finish(lease, self.words(), ending)
        for state in EffortState.objects.filter(branch=self.talk.branch_id, summary=SummaryState.DUE):
            summarise_now(state)

    def plan(self, lease: Lease, call: int) -> None:
        run = Run.objects.select_related("turn__session", "branch").get(pk=lease.run_id)
        recording.record_plan(lease, call, plan(run_inputs(run)))

    def words(self) -> str:
        said = " ".join(self.chance.choices(WORDS, k=self.chance.choice([4, 12, 40, 120])))
        return f"{self.chance.choice([*TOPICS, 'nothing'])}: {said}."

    # What happens between turns

    def some(self, **which: object) -> str:
        rows = EffortState.objects.filter(branch=self.talk.branch_id, **which).order_by("pk")
        slugs = list(rows.values_list("effort__slug", flat=True))
        if not slugs:
            raise Refused("none", "There is none.")
        return self.chance.choice(slugs)

    def opens(self) -> None:
        actions.open_effort(self.talk.place, self.chance.choice(TOPICS))

    def concludes(self) -> None:
        actions.close_effort(self.talk.place, self.some(status=EffortStatus.OPEN))
        for state in EffortState.objects.filter(branch=self.talk.branch_id, summary=SummaryState.DUE):
            summarise_now(state)

    def expands(self) -> None:
        actions.expand_effort(self.talk.place, self.some(status=EffortStatus.CONCLUDED, expanded_turn=None))

    def collapses(self) -> None:
        actions.collapse_effort(self.talk.place, self.some(expanded_turn__isnull=False))

    def switches(self) -> None:
        actions.switch_effort(self.talk.place, self.some(status=EffortStatus.OPEN))

    def reopens(self) -> None:
        actions.reopen_effort(self.talk.place, self.some(status=EffortStatus.CONCLUDED))

    def renames(self) -> None:
        actions.rename_effort(self.talk.place, self.some(), f"Name {self.chance.randrange(1000)}")

    def moves(self) -> None:
        actions.move_turn(self.talk.place, self.chance.randint(1, self.talk.branch.head or 1), self.some())

    def undoes(self) -> None:
        mine = Event.objects.filter(
            session=self.session, kind__startswith="effort.", data__branch=str(self.talk.branch_id)
        )
        last = mine.order_by("-seq").first()
        if last:
            actions.undo(self.talk.place, last.seq)

    def pins(self) -> None:
        actions.pin_turn(self.talk.place, self.chance.randint(1, self.talk.branch.head or 1))

    def rules(self) -> None:
        actions.set_constraint(self.talk.place, f"Never mention the {self.chance.choice(WORDS)}.")

    def settles(self) -> None:
        """Other settings, of which each run keeps its own."""
        actions.configure_session(
            self.session,
            actor=self.session.owner,
            endpoint=None,
            model="",
            budget=self.chance.choice([4_000, 5_000, 8_000]),
            ambient_window=self.chance.choice([2, 4, 10]),
        )
        self.session.refresh_from_db()

    def forks(self) -> None:
        if head := self.talk.branch.head:
            after = self.chance.randint(max(head - 5, 1), head)
            child = actions.fork(self.talk.branch, after=after, actor=self.session.owner)
            self.talk = self.chance.choice([Talk(self.session, child), Talk(self.session, main_branch(self.session))])

    def rolls_back(self) -> None:
        standing = ContextPointer.objects.filter(branch=self.talk.branch_id, state="active").order_by("pk")
        if artifacts := list(standing.values_list("artifact", flat=True)):
            port = compacting.registered()
            port.roll_back(self.chance.choice(artifacts), self.session.owner, self.talk.branch)
