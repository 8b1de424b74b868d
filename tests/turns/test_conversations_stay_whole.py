"""Whatever people, runners and browsers do, in whatever order: nothing is lost, doubled or out of order.

The machine plays all three. Runners go step by step, so that messages, stops, deaths and a second runner's recovery
come between any two of their transactions.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import pytest
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Q
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from efforts import actions, consumers, recording, snapshots
from efforts.domain.conversation import MESSAGE_OVERHEAD, ToolCall
from efforts.domain.lifecycle import RETRYABLE, UNFINISHED, RunState
from efforts.errors import Refused
from efforts.models import Branch, Event, Message, Run, Session, Turn
from efforts.orchestrator import read_and_plan
from efforts.recording import COMPLETED, STOPPED, Delta, Ending, Lease, LeaseLost, Reply
from tests.sockets.follower import Call, Follower, Page

FAILED = Ending(state=RunState.FAILED, code="broken_stream", text="The stream broke.")
TEXTS = st.text(st.sampled_from("ab é日👩\n"), min_size=1, max_size=6)
PEOPLE_SAY = TEXTS.filter(str.strip)
PICK = st.integers(0, 1_000)


@dataclass(kw_only=True)
class Answering:
    """One run as its runner sees it; what is not flushed dies with the runner."""

    lease: Lease
    run: Run
    call: int = 0
    text: str = ""
    flushed: int = 0
    streaming: bool = False
    unanswered: list[ToolCall] = field(default_factory=list)

    @property
    def key(self) -> Call:
        return (str(self.lease.run_id), self.call)

    def begin(self) -> None:
        self.call, self.text, self.flushed, self.streaming = self.call + 1, "", 0, True

    def reply(self, *tool_calls: ToolCall) -> Reply:
        return Reply(call=self.call, text=self.text, tool_calls=tool_calls)


def page_of(session: Session) -> Page:
    seq = Session.objects.values_list("event_seq", flat=True).get(pk=session.pk)
    log = [row.data for row in Event.objects.filter(session=session, kind="message.stands").order_by("seq")]
    texts = dict(Message.objects.filter(session=session, role="assistant").values_list("pk", "text"))
    live: dict[Call, str] = {}
    for row in Event.objects.filter(session=session, kind="delta").order_by("seq"):
        call = (row.data["run"], row.data["call"])
        assert row.data["offset"] == len(live.get(call, ""))
        live[call] = live.get(call, "") + row.data["text"]
    standing = {(data["run"], data["call"]): texts[data["message"]] for data in log if data["message"] in texts}
    return Page(seq=seq, standing=standing, live=live)


class Conversation(RuleBasedStateMachine):
    @initialize()
    def begin(self) -> None:
        self.stage = transaction.atomic()
        self.stage.__enter__()
        self.alice = User.objects.create_user("alice")
        self.session = actions.create_session(self.alice)
        self.said: list[tuple[str, str]] = []
        self.states: list[RunState] = []
        self.texts: dict[Call, str] = {}
        self.shown: dict[Call, str] = {}
        self.log: dict[int, str] = {}
        self.completed = 0
        self.runners: dict[str, dict[UUID, Answering]] = {}
        self.dead: set[str] = set()
        self.born = 0
        self.browsers = [Follower(read=lambda: page_of(self.session)) for _ in range(2)]
        self.asleep: list[Follower] = []
        self.start_runner()

    def teardown(self) -> None:
        if not hasattr(self, "stage"):
            return
        try:
            for browser in [*self.browsers, *self.asleep]:
                self.is_up_to_date(browser)
        finally:
            transaction.set_rollback(True)
            self.stage.__exit__(None, None, None)

    # People

    @rule(text=PEOPLE_SAY)
    def send(self, text: str) -> None:
        client_id = f"id-{len(self.said)}"
        turn = actions.send_message(self.session, text=text, client_id=client_id, actor=self.alice)
        self.said.append((client_id, text))
        self.states.append(RunState.QUEUED)
        assert turn.number == len(self.said)

    @precondition(lambda self: self.said)
    @rule(pick=PICK)
    def send_again(self, pick: int) -> None:
        number = pick % len(self.said)
        client_id, text = self.said[number]
        turn = actions.send_message(self.session, text=text, client_id=client_id, actor=self.alice)
        assert turn.number == number + 1

    @precondition(lambda self: self.said)
    @rule(pick=PICK)
    def stop(self, pick: int) -> None:
        turn = self.turn(pick % len(self.said))
        assert turn.run is not None
        run = actions.stop_run(turn.run, actor=self.alice)
        if self.states[turn.number - 1] == RunState.QUEUED:
            self.states[turn.number - 1] = RunState.CANCELLED
        assert (run.stop_requested_at is not None) or run.state != RunState.RUNNING

    @precondition(lambda self: self.said)
    @rule(pick=PICK)
    def cancel(self, pick: int) -> None:
        turn = self.turn(pick % len(self.said))
        if self.states[turn.number - 1] == RunState.QUEUED:
            actions.cancel_turn(turn, actor=self.alice)
            self.states[turn.number - 1] = RunState.CANCELLED
        else:
            with pytest.raises(Refused):
                actions.cancel_turn(turn, actor=self.alice)

    @precondition(lambda self: self.said)
    @rule(pick=PICK)
    def retry(self, pick: int) -> None:
        # Mostly the last: of the others it is refused.
        turn = self.turn(pick % len(self.said) if pick % 3 == 0 else len(self.said) - 1)
        if turn.number == len(self.said) and self.states[-1] in RETRYABLE:
            actions.retry_turn(turn, actor=self.alice)
            self.states[-1] = RunState.QUEUED
        else:
            with pytest.raises(Refused):
                actions.retry_turn(turn, actor=self.alice)

    @rule(title=st.sampled_from(["Harbour", "Boats"]))
    def rename(self, title: str) -> None:
        actions.rename_session(self.session, title=title, actor=self.alice)

    # Runners

    @rule()
    def start_runner(self) -> None:
        self.born += 1
        self.runners[f"here:{self.born}:x"] = {}

    @precondition(lambda self: self.runners)
    @rule(pick=PICK)
    def claim(self, pick: int) -> None:
        owner = self.pick(self.runners, pick)
        waiting = [number for number, state in enumerate(self.states, 1) if state == RunState.QUEUED]
        free = RunState.RUNNING not in self.states
        leases = recording.claim_runs(owner, 2)
        assert [lease.turn_number for lease in leases] == (waiting[:1] if free else [])
        for lease in leases:
            self.states[lease.turn_number - 1] = RunState.RUNNING
            self.runners[owner][lease.run_id] = Answering(lease=lease, run=recording.take_settings(lease))

    @precondition(lambda self: self.answering())
    @rule(pick=PICK)
    def plan(self, pick: int) -> None:
        owner, answering = self.pick(self.answering(), pick)
        if answering.streaming or answering.unanswered:
            return
        try:
            snapshot, planned = read_and_plan(answering.run, offer_tools=True)
            if snapshot.stop_requested:
                self.end(owner, answering, STOPPED)
                return
            recording.record_plan(answering.lease, answering.call + 1, planned)
        except LeaseLost:
            self.lost(owner, answering)
            return
        answering.begin()

    @precondition(lambda self: self.answering(streaming=True))
    @rule(pick=PICK, text=TEXTS, flush=st.booleans())
    def stream(self, pick: int, text: str, flush: bool) -> None:
        _, answering = self.pick(self.answering(streaming=True), pick)
        answering.text += text
        if flush:
            self.flush([answering])

    @precondition(lambda self: self.answering(streaming=True))
    @rule()
    def flush_all(self) -> None:
        self.flush([answering for _, answering in self.answering(streaming=True)])

    def flush(self, all_answering: list[Answering]) -> None:
        unsent = [answering for answering in all_answering if answering.flushed < len(answering.text)]
        recording.write_deltas(
            [Delta(lease=a.lease, call=a.call, offset=a.flushed, text=a.text[a.flushed :]) for a in unsent]
        )
        for answering in unsent:
            if self.holds(answering):
                self.shown[answering.key] = answering.text
            answering.flushed = len(answering.text)

    @precondition(lambda self: self.answering(streaming=True))
    @rule(pick=PICK, calls=st.integers(1, 2))
    def call_tools(self, pick: int, calls: int) -> None:
        owner, answering = self.pick(self.answering(streaming=True), pick)
        prefix = f"c{answering.lease.run_id.hex[:16]}-{answering.call}"
        tool_calls = [ToolCall(id=f"{prefix}-{n}", name="search_messages", arguments="{}") for n in range(calls)]
        try:
            recording.record_reply(answering.lease, answering.reply(*tool_calls))
        except LeaseLost:
            self.lost(owner, answering)
            return
        self.stands(answering)
        answering.unanswered, answering.streaming = tool_calls, False

    @precondition(lambda self: any(answering.unanswered for _, answering in self.answering()))
    @rule(pick=PICK)
    def give_result(self, pick: int) -> None:
        owner, answering = self.pick([pair for pair in self.answering() if pair[1].unanswered], pick)
        try:
            recording.record_tool_result(answering.lease, answering.call, answering.unanswered[0], '{"matches":[]}')
        except LeaseLost:
            self.lost(owner, answering)
            return
        answering.unanswered.pop(0)

    @precondition(lambda self: self.answering(streaming=True))
    @rule(pick=PICK, ending=st.sampled_from([COMPLETED, COMPLETED, FAILED]))
    def conclude(self, pick: int, ending: Ending) -> None:
        owner, answering = self.pick(self.answering(streaming=True), pick)
        stopped = recording.stop_requests([answering.lease.run_id])
        self.end(owner, answering, STOPPED if stopped else ending)

    def end(self, owner: str, answering: Answering, ending: Ending) -> None:
        try:
            if answering.streaming:
                recording.record_reply(answering.lease, answering.reply(), ending)
            else:
                recording.end_run(answering.lease, ending)
        except LeaseLost:
            self.lost(owner, answering)
            return
        if answering.streaming:
            self.stands(answering)
        self.ended(answering, ending.state)
        del self.runners[owner][answering.lease.run_id]

    @precondition(lambda self: self.runners)
    @rule(pick=PICK)
    def die(self, pick: int) -> None:
        owner = self.pick(self.runners, pick)
        del self.runners[owner]
        self.dead.add(owner)

    @rule(pick=PICK, also_alive=st.booleans())
    def recover(self, pick: int, also_alive: bool) -> None:
        """A runner starts, or looks around; one that is only slow may be taken for dead."""
        taken_for_dead = {self.pick(self.runners, pick)} if also_alive and self.runners else set()
        recording.recover(lambda owner: owner in self.dead | taken_for_dead)
        self.note_interrupted()

    # Browsers

    @rule(which=st.integers(0, 1), most=st.integers(1, 12))
    def follow(self, which: int, most: int) -> None:
        self.relay(self.browsers[which], most)

    @rule(which=st.integers(0, 1))
    def catch_up(self, which: int) -> None:
        self.browsers[which].catch_up()

    @rule(which=st.integers(0, 1))
    def read_the_page(self, which: int) -> None:
        self.browsers[which].reload()

    @rule(which=st.integers(0, 1))
    def fall_asleep(self, which: int) -> None:
        self.asleep.append(self.copy(self.browsers[which]))

    @precondition(lambda self: self.asleep)
    @rule(which=st.integers(0, 1), pick=PICK)
    def wake_up(self, which: int, pick: int) -> None:
        """A browser connects again from any number it once had."""
        self.browsers[which] = self.copy(self.pick(self.asleep, pick))

    @rule(which=st.integers(0, 1))
    def open_anew(self, which: int) -> None:
        self.browsers[which] = Follower(read=lambda: page_of(self.session))

    # What always holds

    @invariant()
    def whole(self) -> None:
        self.every_message_is_there_once_and_in_order()
        self.the_log_only_grows()
        self.runs_are_in_the_state_they_should_be_and_one_is_running_at_most()
        self.the_text_of_every_call_is_what_its_runner_got()
        self.events_are_numbered_once()
        self.only_a_running_run_has_deltas()
        self.sums_are_sums()
        self.no_call_of_an_ended_run_is_without_a_result()

    def every_message_is_there_once_and_in_order(self) -> None:
        rows = Message.objects.filter(session=self.session, role="user").order_by("id")
        assert [(row.turn.number, row.text) for row in rows.select_related("turn")] == [
            (number, text) for number, (_, text) in enumerate(self.said, 1)
        ]
        assert Branch.objects.get(session=self.session).head == len(self.said)

    def the_log_only_grows(self) -> None:
        now = dict(Message.objects.filter(session=self.session).values_list("pk", "text"))
        assert self.log.items() <= now.items()
        self.log = now

    def runs_are_in_the_state_they_should_be_and_one_is_running_at_most(self) -> None:
        turns = Turn.objects.filter(session=self.session).select_related("run").order_by("number")
        assert [turn.run.state for turn in turns if turn.run] == self.states
        assert Run.objects.filter(turn__session=self.session, state=RunState.RUNNING).count() <= 1
        assert Branch.objects.get(session=self.session).clock == self.completed

    def the_text_of_every_call_is_what_its_runner_got(self) -> None:
        page = page_of(self.session)
        assert page.standing == {call: text for call, text in self.texts.items() if call in page.standing}
        assert all(not text for call, text in self.texts.items() if call not in page.standing)
        for call, text in self.shown.items():
            assert page.standing.get(call, page.live.get(call, "")).startswith(text)

    def events_are_numbered_once(self) -> None:
        numbers = list(Event.objects.filter(session=self.session).order_by("id").values_list("seq", flat=True))
        assert numbers == sorted(set(numbers))
        assert numbers[-1] == Session.objects.get(pk=self.session.pk).event_seq

    def only_a_running_run_has_deltas(self) -> None:
        page = page_of(self.session)
        assert not page.live.keys() & page.standing.keys()
        states = {str(pk): state for pk, state in Run.objects.values_list("pk", "state")}
        assert {states[run] for run, _ in page.live} <= {RunState.RUNNING}

    def sums_are_sums(self) -> None:
        total = 0
        for turn in Turn.objects.filter(session=self.session).select_related("run").order_by("number"):
            assert turn.run is not None
            if turn.run.started_at:
                assert turn.tokens_before == total
            if turn.run.state not in UNFINISHED:
                assert turn.tokens == self.tokens_of(turn)
            total += turn.tokens

    def no_call_of_an_ended_run_is_without_a_result(self) -> None:
        rows = Message.objects.filter(session=self.session, run__isnull=False).exclude(run__state=RunState.RUNNING)
        called = [call["id"] for row in rows for call in row.tool_calls]
        assert sorted(called) == sorted(row.tool_call_id for row in rows if row.tool_call_id)

    # Helpers

    def tokens_of(self, turn: Turn) -> int:
        """What it adds to later prompts."""
        assert turn.run is not None
        kept = Q(role="user")
        if turn.run.state in (RunState.COMPLETED, RunState.STOPPED):
            kept |= Q(run=turn.run)
        if turn.run.state == RunState.CANCELLED:
            return 0
        return sum(row.tokens + MESSAGE_OVERHEAD for row in turn.messages.filter(kept))

    @staticmethod
    def pick(things: Any, number: int) -> Any:
        things = list(things)
        return things[number % len(things)]

    def turn(self, index: int) -> Turn:
        return Turn.objects.select_related("run", "session").get(session=self.session, number=index + 1)

    def answering(self, *, streaming: bool = False) -> list[tuple[str, Answering]]:
        everybody = [(owner, a) for owner, mine in self.runners.items() for a in mine.values()]
        return [(owner, a) for owner, a in everybody if a.streaming or not streaming]

    def holds(self, answering: Answering) -> bool:
        run = Run.objects.get(pk=answering.lease.run_id)
        return (run.state, run.lease_owner) == (RunState.RUNNING, answering.lease.owner)

    def stands(self, answering: Answering) -> None:
        self.texts[answering.key] = answering.text
        self.shown.pop(answering.key, None)

    def ended(self, answering: Answering, state: RunState) -> None:
        self.states[answering.lease.turn_number - 1] = state
        self.completed += state == RunState.COMPLETED

    def lost(self, owner: str, answering: Answering) -> None:
        assert not self.holds(answering)
        del self.runners[owner][answering.lease.run_id]

    def note_interrupted(self) -> None:
        """What was shown of an interrupted run now stands, exactly."""
        for index, state in enumerate(self.states):
            run = self.turn(index).run
            if run is None or state != RunState.RUNNING or run.state == RunState.RUNNING:
                continue
            assert run.state == (RunState.STOPPED if run.stop_requested_at else RunState.INTERRUPTED)
            self.states[index] = RunState(run.state)
            for call in [call for call in self.shown if call[0] == str(run.pk)]:
                self.texts[call] = self.shown.pop(call)

    def copy(self, browser: Follower) -> Follower:
        return Follower(
            read=browser.read,
            seq=browser.seq,
            standing=dict(browser.standing),
            live=dict(browser.live),
            behind=browser.behind,
        )

    def relay(self, browser: Follower, most: int) -> None:
        """As the consumer does."""
        last, rows = consumers.news(self.session.pk, browser.seq)
        for row in rows[:most]:
            if row["seq"] != browser.seq + 1:
                browser.take({"kind": "resync", "seq": last})
                return
            browser.take(row)
        if not rows and last > browser.seq:
            browser.take({"kind": "resync", "seq": last})

    def is_up_to_date(self, browser: Follower) -> None:
        page = page_of(self.session)
        while browser.seq < page.seq:
            self.relay(browser, 500)
        browser.catch_up()
        assert (browser.standing, browser.live) == (page.standing, page.live)
        for turn in snapshots.chat_page(self.session, count=1_000).turns:
            assert turn.live_text == page.live.get((str(turn.run_id), turn.live_call), "")


def play(examples: int, steps: int) -> None:
    run_state_machine_as_test(
        Conversation,
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            deadline=None,
            report_multiple_bugs=False,
            suppress_health_check=list(HealthCheck),
            # To see the shortest story that goes wrong, add Phase.shrink; it takes minutes.
            phases=[Phase.reuse, Phase.generate],
        ),
    )


@pytest.mark.django_db
def test_conversations_stay_whole() -> None:
    play(examples=40, steps=40)


@pytest.mark.slow
@pytest.mark.django_db
def test_many_long_conversations_stay_whole() -> None:
    play(examples=150, steps=80)
