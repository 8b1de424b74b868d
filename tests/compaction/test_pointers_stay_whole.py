"""Whatever is said, concluded, chosen, accepted, edited, rolled back, reopened, moved, tried again, taken back and
forked, in any order and in two branches: each turn is stood for once, by words that are of it and that were judged as
they stand, be they a summary, one that nobody has checked, or excerpts; the history tells by which."""

from __future__ import annotations

from contextlib import ExitStack, suppress
from dataclasses import asdict, fields
from random import Random
from typing import Any
from uuid import UUID

import pytest
from django.contrib.auth.models import User
from django.db import connection, transaction
from django.db.models import Count
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from compaction import review
from compaction.domain.artifact import parse_artifact
from compaction.domain.gates.judging import hash_of
from compaction.domain.lifecycle import ClaimVerdictValue
from compaction.domain.rendering import rendered
from compaction.models import Acceptance, Artifact, GateRun
from efforts import actions
from efforts.actions.pointers import is_covered, still_holds
from efforts.context.courses import course_at
from efforts.context.sources import read_scope_log, read_summary_log
from efforts.domain.effort.brief import SHORT_EFFORT
from efforts.domain.effort.chosen import BODY, RAW
from efforts.domain.effort.reducer import Stand
from efforts.domain.effort.states import POINTER_MOVES, RETRYABLE, UNFINISHED, PointerState, SummaryState
from efforts.domain.errors import Refused
from efforts.log.timelines import finished_turns
from efforts.models import Branch, ContextPointer, EffortState, Event, PointerMove, PointerTurn, Turn, TurnLabel
from efforts.standins.chosen import chosen_pointers, with_spans
from efforts.turns.recording import COMPLETED, STOPPED, Lease, count
from efforts.turns.summaries import summarise_now
from tests.compaction import artifacts
from tests.compaction.artifacts import LongTalk
from tests.efforts.talk import Talk
from tests.efforts.test_efforts_stay_whole import FAILED
from tests.machines import Writes, assert_whole

NAMES = ["Bug", "Trip", "Taxes", "Garden", "Offsite"]
TEXTS = ["In short.", "Shorter.", "Said better."]
# What comes to stand: a summary that was checked, one that nobody has checked, or excerpts.
FORMS = ["checked", "checked", "unchecked", "digest"]
STEPS = {
    "talk": 7,
    "open": 4,
    "conclude": 6,
    "model": 2,
    "summarise": 7,
    "choose": 7,
    "accept": 3,
    "edit": 3,
    "roll_back": 5,
    "reopen": 4,
    "move": 4,
    "undo": 5,
    "try_again": 3,
    "expand": 3,
    "ask_for": 2,
    "stop": 1,
    "fork": 2,
}
# What a person does while the model answers.
MEANWHILE = ("choose", "accept", "edit", "roll_back", "conclude", "expand", "ask_for")
# A draft may be on its way, or wait, while excerpts stand.
BESIDE_EXCERPTS = (SummaryState.DUE, SummaryState.DRAFTING, SummaryState.DIGEST)
UNDOABLE = ("effort.opened", "effort.concluded", "effort.reopened", "effort.switched", "turn.moved")


class Pointers(RuleBasedStateMachine):
    @initialize(seed=st.integers(0, 2**32))
    def begin(self, seed: int) -> None:
        # One number decides all: Hypothesis' own choices are often the smallest, and then little happens.
        self.chance = Random(seed)
        self.stage, self.writes = ExitStack(), Writes()
        self.states: dict[int, PointerState] = {}
        self.ends: dict[tuple[UUID, int], Any] = {}
        self.stage.enter_context(transaction.atomic())
        self.stage.enter_context(connection.execute_wrapper(self.writes))
        self.session = actions.create_session(User.objects.create_user("alice"))
        main = Branch.objects.get(session=self.session)
        fork = actions.fork(main, after=0, actor=self.session.owner)
        self.talks: list[Talk] = [LongTalk(self.session), LongTalk(self.session, fork)]
        for name in NAMES[:2]:
            self.person_talk(self.talks[0])
            actions.open_effort(self.talks[0].place, name)
            self.person_talk(self.talks[0])

    def teardown(self) -> None:
        if hasattr(self, "stage"):
            transaction.set_rollback(True)
            self.stage.close()

    @rule()
    def happens(self) -> None:
        talk, other = self.chance.choice([(0, 1), (0, 1), (1, 0)])
        (what,) = self.chance.choices(list(STEPS), list(STEPS.values()))
        told, there = self.numbered(), self.rows(self.talks[other])
        try:
            getattr(self, f"person_{what}")(self.talks[talk])
        except Refused:
            assert self.numbered() == told, "what is refused leaves no trace"
        if what != "fork":
            assert self.rows(self.talks[other]) == there

    def numbered(self) -> tuple[int, int, int]:
        return Event.objects.count(), PointerMove.objects.count(), Acceptance.objects.count()

    # What people and models do

    def person_talk(self, talk: Talk) -> None:
        self.remember(talk)
        talk.ask(self.words(), ending=self.chance.choice([COMPLETED, COMPLETED, FAILED, STOPPED]))

    def words(self) -> str:
        """Enough to be summarised, also where there is no answer."""
        return artifacts.long_reply(1_000 + self.numbered()[0])

    def remember(self, talk: Talk) -> None:
        self.ends[talk.branch_id, talk.branch.head] = self.standing(talk)

    def person_open(self, talk: Talk) -> None:
        actions.open_effort(talk.place, self.chance.choice(NAMES))

    def person_conclude(self, talk: Talk) -> None:
        actions.close_effort(talk.place, self.some_effort(talk, status="open"))

    def person_model(self, talk: Talk) -> None:
        """It concludes or opens again in its turn, while the person accepts, rolls back and concludes."""
        self.remember(talk)
        lease = talk.begin(self.words())
        status, tool = self.chance.choice([("open", "close_effort"), ("concluded", "reopen_effort")])
        slugs = list(EffortState.objects.filter(branch=talk.branch_id, status=status).values_list("effort__slug"))
        if slugs:
            talk.call(lease, tool, id=self.chance.choice(slugs)[0])
        self.meanwhile(talk)
        talk.finish(lease, ending=self.chance.choice([COMPLETED, FAILED]))

    def meanwhile(self, talk: Talk) -> None:
        self.pointers_moved_only_as_the_table_allows()
        for what in self.chance.sample(MEANWHILE, 3):
            with suppress(Refused):
                getattr(self, f"person_{what}")(talk)
            self.pointers_moved_only_as_the_table_allows()

    def person_summarise(self, talk: Talk) -> None:
        """As the runner's job does it: of a concluded effort of which no turn is running."""
        due = EffortState.objects.filter(branch=talk.branch_id, summary=SummaryState.DUE)
        for state in due.select_related("effort").order_by("pk"):
            slug, form = state.effort.slug, self.chance.choice(FORMS)
            if form == "digest" or artifacts.work_on(talk, slug).brief():
                summarise_now(state)
            else:
                made = artifacts.of_effort(talk, slug, self.chance.choice(TEXTS), check=form == "checked")
                artifacts.accept(made, via="control", unchecked=True)

    def person_choose(self, talk: Talk) -> None:
        numbers = list(finished_turns(talk.branch, before=talk.branch.head + 1).values_list("number", flat=True))
        if not numbers:
            return
        first = self.chance.randrange(len(numbers))
        chosen = sorted(numbers)[first : first + self.chance.randint(1, 5)]
        form = self.chance.choice(FORMS)
        if form == "digest":
            made = artifacts.digest_of_turns(talk.branch, chosen)
        else:
            made = artifacts.of_turns(talk.branch, chosen, self.chance.choice(TEXTS), check=form == "checked")
        artifacts.accept(made, unchecked=self.chance.random() < 0.8)

    def person_accept(self, talk: Talk) -> None:
        """What was made at some time, here or in another branch."""
        made = list(Artifact.objects.filter(session=self.session).order_by("pk"))
        here = [one for one in made if one.branch_id == talk.branch_id]
        if made := self.chance.choice([here, made]):
            artifacts.accept(self.chance.choice(made), branch=talk.branch, unchecked=True)

    def person_edit(self, talk: Talk) -> None:
        """The next version, which nobody else has read; it does not stand yet."""
        if made := list(Artifact.objects.filter(session=self.session, branch=talk.branch_id).order_by("pk")):
            row, text = self.chance.choice(made), f"{self.chance.choice(TEXTS)} Indeed."
            review.decide(row, "1", ClaimVerdictValue.EDITED, reviewer=self.session.owner, text=text)
            review.submit(row, reviewer=self.session.owner)

    def person_roll_back(self, talk: Talk) -> None:
        stood = ContextPointer.objects.filter(branch=talk.branch_id).exclude(artifact="").order_by("state", "pk")
        if not stood:
            return
        pointer = self.chance.choice(list(stood[:4]))
        restored = artifacts.roll_back(Artifact.objects.get(pk=pointer.artifact), branch=talk.branch)
        stand = ContextPointer.objects.filter(pk__in=[one.pk for one in restored], state=PointerState.ACTIVE)
        assert stand.count() == len(restored)
        assert not any(still_holds(talk.branch, one) for one in pointer.previous.filter(state=PointerState.SUPERSEDED))

    def person_reopen(self, talk: Talk) -> None:
        actions.reopen_effort(talk.place, self.some_effort(talk, status="concluded"))

    def person_move(self, talk: Talk) -> None:
        number = self.chance.randint(min(1, talk.branch.head), talk.branch.head)
        slugs = [None, *talk.states()]
        actions.move_turn(talk.place, number, self.chance.choice(slugs))

    def person_undo(self, talk: Talk) -> None:
        told = Event.objects.filter(session=self.session, kind__in=UNDOABLE, data__branch=str(talk.branch_id))
        if last := list(told.order_by("-seq")[:3]):
            actions.undo(talk.place, self.chance.choice(last).seq)

    def person_try_again(self, talk: Talk) -> None:
        last = Turn.objects.filter(branch=talk.branch_id).select_related("run", "session").order_by("-number").first()
        if last is None or last.run is None or last.run.state not in RETRYABLE:
            return
        actions.retry_turn(last, actor=self.session.owner)
        self.meanwhile(talk)
        if self.chance.random() < 0.3:
            last.refresh_from_db()
            actions.cancel_turn(last, actor=self.session.owner)
            return
        lease: Lease = talk.claim()
        self.meanwhile(talk)
        talk.finish(lease, "Another answer.", self.chance.choice([COMPLETED, FAILED]))

    def person_expand(self, talk: Talk) -> None:
        """An effort, or chosen turns; or what is expanded is collapsed again."""
        chosen = [one.id for one in with_spans(chosen_pointers(talk.branch))]
        id = self.chance.choice([*chosen, self.some_effort(talk, status="concluded")])
        if self.chance.random() < 0.8:
            actions.expand_effort(talk.place, id, self.chance.choice([RAW, RAW, BODY]))
        else:
            actions.collapse_effort(talk.place, id)

    def person_ask_for(self, talk: Talk) -> None:
        actions.retry_summary(talk.place, self.some_effort(talk, status="concluded"))

    def person_stop(self, talk: Talk) -> None:
        actions.stop_summary(talk.place, self.some_effort(talk, status="concluded"))

    def some_effort(self, talk: Talk, **wanted: Any) -> str:
        """Where there is none, one of any status: then it is refused, unless there is none at all."""
        states = EffortState.objects.filter(branch=talk.branch_id).order_by("pk")
        for fitting in (states.filter(**wanted), states):
            if slugs := list(fitting.values_list("effort__slug", flat=True)):
                return self.chance.choice(slugs)
        return "none"

    def person_fork(self, talk: Talk) -> None:
        """From any turn; what stood there when the next one began stands here. The other talk goes on there."""
        # Rather late: from the first turns on there is nothing that could stand.
        number = max(self.chance.randint(0, talk.branch.head) for _ in range(3))
        owner = UUID(talk.branch.owner_of(number))
        parent = LongTalk(self.session, Branch.objects.get(pk=owner))
        stood = self.ends[owner, number] if number < parent.branch.head else self.standing(parent)
        child = LongTalk(self.session, actions.fork(talk.branch, after=number, actor=self.session.owner))
        self.talks[1 - self.talks.index(talk)] = child
        scopes, efforts, rolled_back = self.standing(child)
        assert (scopes, rolled_back) == (stood[0], stood[2])
        assert stood[1].items() <= efforts.items()

    # What stands

    def standing(self, talk: Talk) -> tuple[set[str], dict[str, str], set[str]]:
        """Artifacts over chosen turns; of each effort with a summary its artifact; efforts that were rolled back."""
        active = ContextPointer.objects.filter(branch=talk.branch_id, state=PointerState.ACTIVE)
        states = EffortState.objects.filter(branch=talk.branch_id, summary=SummaryState.ROLLED_BACK)
        return (
            set(active.filter(effort=None).values_list("artifact", flat=True)),
            dict(active.exclude(effort=None).values_list("effort__slug", "artifact")),
            set(states.values_list("effort__slug", flat=True)),
        )

    def rows(self, talk: Talk) -> Any:
        states = EffortState.objects.filter(branch=talk.branch_id).order_by("pk").values_list("effort", "summary")
        return list(states), list(talk.branch.pointers.order_by("pk").values_list("pk", "state"))

    # What always holds

    @invariant()
    def whole(self) -> None:
        if not hasattr(self, "talks") or not self.writes.any():
            return
        self.no_turn_is_covered_twice()
        self.pointers_moved_only_as_the_table_allows()
        for talk in self.talks:
            self.what_stands_is_of_what_was_said(talk)
            self.what_stands_is_what_was_judged(talk)
            self.each_effort_says_what_stands_for_it(talk)
            self.the_log_tells_what_the_rows_say(talk)
            self.the_history_tells_what_stands(talk)

    def no_turn_is_covered_twice(self) -> None:
        active = PointerTurn.objects.filter(active=True)
        assert not active.exclude(pointer__state=PointerState.ACTIVE).exists()
        assert not PointerTurn.objects.filter(active=False, pointer__state=PointerState.ACTIVE).exists()
        assert not active.values("branch", "turn").annotate(times=Count("pk")).filter(times__gt=1).exists()

    def pointers_moved_only_as_the_table_allows(self) -> None:
        now = {pk: PointerState(state) for pk, state in ContextPointer.objects.values_list("pk", "state")}
        for pk, state in now.items():
            before = self.states.get(pk, state)
            assert state == before or state in POINTER_MOVES[before]
        self.states = now

    def what_stands_is_of_what_was_said(self, talk: Talk) -> None:
        branch = talk.branch
        for pointer in ContextPointer.objects.filter(branch=branch, state=PointerState.ACTIVE).select_related("effort"):
            numbers = artifacts.numbers(pointer)
            log = read_summary_log(branch, pointer.effort) if pointer.effort else read_scope_log(branch, numbers)
            assert [turn.number for turn in log.turns] == numbers
            assert log.source.sha256 == pointer.source_sha256
            assert not pointer.scope.filter(turn__run__state__in=UNFINISHED).exists()
            brief = pointer.effort is not None and not pointer.artifact and log.source.characters < SHORT_EFFORT
            assert brief or Acceptance.objects.filter(pointer=pointer, artifact=pointer.artifact).exists()

    def what_stands_is_what_was_judged(self, talk: Talk) -> None:
        for acceptance in Acceptance.objects.filter(
            pointer__branch=talk.branch_id, pointer__state=PointerState.ACTIVE
        ).select_related("artifact", "pointer", "gate_run"):
            artifact, pointer = acceptance.artifact, acceptance.pointer
            of_chosen = pointer.effort_id is None and not pointer.digest
            assert (pointer.body if of_chosen else pointer.text) == artifact.standing
            assert text_judged(acceptance.gate_run) == text_of(artifact)

    def each_effort_says_what_stands_for_it(self, talk: Talk) -> None:
        branch = talk.branch
        active = ContextPointer.objects.filter(branch=branch, state=PointerState.ACTIVE).exclude(effort=None)
        standing = dict(active.filter(digest=False).values_list("effort__slug", "artifact"))
        excerpts = set(active.filter(digest=True).values_list("effort__slug", flat=True))
        for state in EffortState.objects.filter(branch=branch).select_related("effort"):
            slug, summary = state.effort.slug, state.summary
            assert (summary == SummaryState.STANDS) == (slug in standing)
            assert standing.get(slug, state.artifact) == state.artifact
            assert summary != SummaryState.DIGEST or slug in excerpts
            assert slug not in excerpts or summary in BESIDE_EXCERPTS
            assert (state.status == "open") == (summary == SummaryState.NONE)
            if state.status == "concluded" and not self.is_talking(branch, state):
                covered = is_covered(branch, state.effort)
                by_person = summary in (SummaryState.ROLLED_BACK, SummaryState.FAILED)
                assert covered == (summary == SummaryState.COVERED) or by_person

    def is_talking(self, branch: Branch, state: EffortState) -> bool:
        labelled = TurnLabel.objects.filter(branch=branch, effort=state.effort)
        return labelled.filter(turn__run__state__in=UNFINISHED).exists()

    def the_log_tells_what_the_rows_say(self, talk: Talk) -> None:
        course, _ = course_at(talk.branch, talk.branch.head)
        scopes, efforts, rolled_back = self.standing(talk)
        assert (set(course.scopes), course.rolled_back) == (scopes, rolled_back)
        assert {slug: course.summaries.get(slug) for slug in efforts} == efforts
        rows = EffortState.objects.filter(branch=talk.branch_id).order_by("pk")
        told = rows.values_list("effort__slug", *(field.name for field in fields(Stand)))
        assert list(told) == [(slug, *vars(stand).values()) for slug, stand in course.efforts.items()]

    def the_history_tells_what_stands(self, talk: Talk) -> None:
        standing: set[int] = set()
        for move in PointerMove.objects.filter(branch=talk.branch_id):
            assert set(move.before) <= standing
            standing = (standing - set(move.before)) | set(move.after)
        active = ContextPointer.objects.filter(branch=talk.branch_id, state=PointerState.ACTIVE)
        assert standing == set(active.values_list("pk", flat=True))


def text_judged(run: GateRun) -> set[str]:
    """Hashes of the texts that the gates were given."""
    return {verdict["inputs"]["text"] for verdict in run.verdicts}


def text_of(artifact: Artifact) -> set[str]:
    document = parse_artifact(artifact.document)
    return {hash_of(asdict(rendered(document, count=count)))}


@pytest.mark.django_db
def test_pointers_stay_whole() -> None:
    assert_whole(Pointers, examples=2, steps=60)


@pytest.mark.soak
@pytest.mark.django_db
def test_many_pointers_stay_whole() -> None:
    assert_whole(Pointers, examples=10, steps=80)
