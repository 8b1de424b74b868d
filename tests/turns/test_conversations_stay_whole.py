"""Whatever people, runners and browsers do, in whatever order: nothing is lost, doubled or out of order.

The machine plays all three. Runners go step by step, so that messages, stops, deaths and a second runner's recovery
come between any two of their transactions.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

import pytest
from django.contrib.auth.models import User
from django.db import connection, transaction
from django.db.models import Q
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
)

from efforts import actions
from efforts.context import planning
from efforts.domain.effort.states import RETRYABLE, UNFINISHED, RunState
from efforts.domain.errors import Refused
from efforts.domain.prompt.conversation import MESSAGE_OVERHEAD, ToolCall
from efforts.models import Branch, Event, Message, Run, Session, ToolTrace, Turn
from efforts.pages.presenters import chat
from efforts.turns import consumers, recording
from efforts.turns.orchestrator import read_and_plan
from efforts.turns.recording import COMPLETED, STOPPED, CallReply, Delta, Ending, Lease, LeaseLost
from tests.machines import Writes, assert_whole
from tests.retrieval.index import assert_index_is_whole
from tests.sockets.follower import Call, Follower, Page

FAILED = Ending(state=RunState.FAILED, code="broken_stream", text="The stream broke.")
TEXTS = st.text(st.sampled_from("ab é日👩\n"), min_size=1, max_size=6)
SAY = TEXTS.filter(str.strip)
PICK = st.integers(0, 1_000_000)
OFTEN = ["runners"] * 7 + ["people"] * 3 + ["browsers"] * 2 + ["misfortune"] * 2
PEOPLE = ["send", "send", "send again", "stop", "cancel", "retry", "retry the last", "retry the last"]
OUTCOMES = ["stream", "stream", "stream", "keep", "tools", "tools", "conclude", "conclude", "fail"]
MISFORTUNES = ["die", "recover", "take for dead"]
BROWSING = ["follow", "follow", "follow", "catch up", "read", "sleep", "wake", "open"]


def chosen(options: list[str], pick: int) -> tuple[str, int]:
    """One of the options, and a number for the next choice."""
    return options[pick % len(options)], pick // len(options)


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

    def reply(self, *tool_calls: ToolCall) -> CallReply:
        return CallReply(call=self.call, text=self.text, tool_calls=tool_calls)


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


def copy(browser: Follower) -> Follower:
    return replace(browser, standing=dict(browser.standing), live=dict(browser.live))


class Conversation(RuleBasedStateMachine):
    @initialize()
    def begin(self) -> None:
        self.stage, self.writes = ExitStack(), Writes()
        self.stage.enter_context(transaction.atomic())
        self.stage.enter_context(connection.execute_wrapper(self.writes))
        self.alice = User.objects.create_user("alice")
        self.session = actions.create_session(self.alice)
        self.said: list[tuple[str, str]] = []
        self.states: list[RunState] = []
        self.before_retry: dict[int, RunState] = {}
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
        self.start_runner()

    def teardown(self) -> None:
        if not hasattr(self, "stage"):
            return
        try:
            for browser in [*self.browsers, *self.asleep]:
                self.is_up_to_date(browser)
        finally:
            transaction.set_rollback(True)
            self.stage.close()

    @rule(what=st.sampled_from(OFTEN), pick=PICK, text=SAY)
    def happens(self, what: str, pick: int, text: str) -> None:
        # One rule: of several, Hypothesis leaves some out of most examples, and then little happens in them.
        {"people": self.people, "runners": self.runners_act, "misfortune": self.misfortune}.get(
            what, self.browsers_act
        )(pick, text)

    # People

    def people(self, pick: int, text: str) -> None:
        what, pick = chosen(PEOPLE, pick)
        if what == "send" or not self.said:
            self.send(text)
        elif what == "send again":
            self.send_again(pick % len(self.said))
        elif what == "retry":
            self.retry(self.turn(pick % len(self.said)))
        elif what == "retry the last":
            self.retry(self.turn(len(self.said) - 1))
        else:
            # Mostly a turn that is not over: of the others it is refused or does nothing.
            unfinished = [index for index, state in enumerate(self.states) if state in UNFINISHED]
            index = self.pick(unfinished, pick) if unfinished and pick % 4 else pick % len(self.said)
            (self.stop if what == "stop" else self.cancel)(self.turn(index))

    def send(self, text: str) -> None:
        client_id = f"id-{len(self.said)}"
        turn = actions.send_message(self.session, text=text, client_id=client_id, actor=self.alice)
        self.said.append((client_id, text))
        self.states.append(RunState.QUEUED)
        assert turn.number == len(self.said)

    def send_again(self, index: int) -> None:
        client_id, text = self.said[index]
        turn = actions.send_message(self.session, text=text, client_id=client_id, actor=self.alice)
        assert turn.number == index + 1

    def stop(self, turn: Turn) -> None:
        assert turn.run is not None
        run = actions.stop_run(turn.run, actor=self.alice)
        if self.states[turn.number - 1] == RunState.QUEUED:
            self.step_back(turn.number)
        assert run.stop_requested_at is not None or run.state != RunState.RUNNING

    def cancel(self, turn: Turn) -> None:
        if self.states[turn.number - 1] == RunState.QUEUED:
            actions.cancel_turn(turn, actor=self.alice)
            self.step_back(turn.number)
        else:
            with pytest.raises(Refused):
                actions.cancel_turn(turn, actor=self.alice)

    def step_back(self, number: int) -> None:
        """A message that is cancelled was never sent; of a retry the earlier attempt stands again."""
        self.states[number - 1] = self.before_retry.get(number, RunState.CANCELLED)

    def retry(self, turn: Turn) -> None:
        if turn.number == len(self.said) and self.states[-1] in RETRYABLE:
            actions.retry_turn(turn, actor=self.alice)
            self.before_retry[turn.number] = self.states[-1]
            self.states[-1] = RunState.QUEUED
        else:
            with pytest.raises(Refused):
                actions.retry_turn(turn, actor=self.alice)

    # Runners

    def runners_act(self, pick: int, text: str) -> None:
        if self.answering():
            self.answer(pick, text)
        else:
            self.claim(pick)

    def claim(self, pick: int) -> None:
        """A runner looks for work; while another answers, or nobody has recovered what a dead one left, in vain."""
        owner = self.pick(self.runners, pick)
        waiting = [number for number, state in enumerate(self.states, 1) if state == RunState.QUEUED]
        free = RunState.RUNNING not in self.states
        leases = recording.claim_runs(owner, 2)
        assert [lease.turn_number for lease in leases] == (waiting[:1] if free else [])
        for lease in leases:
            self.states[lease.turn_number - 1] = RunState.RUNNING
            self.runners[owner][lease.run_id] = Answering(lease=lease, run=recording.claimed_run(lease))

    def answer(self, pick: int, text: str) -> None:
        """One transaction of a run that its runner believes to be its own."""
        what, pick = chosen(OUTCOMES, pick)
        answering = self.pick(self.answering(), pick)
        try:
            if answering.unanswered:
                self.give_result(answering)
            elif not answering.streaming:
                self.plan(answering)
            else:
                self.go_on(answering, text, what)
        except LeaseLost:
            assert not self.holds(answering)
            self.forget(answering)

    def plan(self, answering: Answering) -> None:
        planned = read_and_plan(answering.run, offer_tools=True)
        if recording.record_plan(answering.lease, answering.call + 1, planned):
            answering.begin()
        else:
            recording.end_run(answering.lease, STOPPED)
            self.ended(answering, STOPPED.state)

    def go_on(self, answering: Answering, text: str, what: str) -> None:
        if what in ("stream", "keep"):
            answering.text += text
            if what == "stream":
                self.flush(answering)
        elif what == "tools":
            self.call_tools(answering, len(text) % 2 + 1)
        else:
            self.conclude(answering, COMPLETED if what == "conclude" else FAILED)

    def flush(self, answering: Answering) -> None:
        text = answering.text[answering.flushed :]
        recording.write_deltas([Delta(lease=answering.lease, call=answering.call, offset=answering.flushed, text=text)])
        if self.holds(answering):
            self.shown[answering.key] = answering.text
        answering.flushed = len(answering.text)

    def call_tools(self, answering: Answering, calls: int) -> None:
        prefix = f"c{answering.lease.run_id.hex[:16]}-{answering.call}"
        tool_calls = [ToolCall(id=f"{prefix}-{n}", name="search_messages", arguments="{}") for n in range(calls)]
        recording.record_reply(answering.lease, answering.reply(*tool_calls))
        self.stands(answering)
        answering.unanswered, answering.streaming = tool_calls, False

    def give_result(self, answering: Answering) -> None:
        recording.run_and_record(answering.lease, answering.call, answering.unanswered[0], lambda: '{"matches":[]}')
        answering.unanswered.pop(0)

    def conclude(self, answering: Answering, ending: Ending) -> None:
        if recording.stop_requests([answering.lease.run_id]):
            ending = STOPPED
        recording.record_reply(answering.lease, answering.reply(), ending)
        self.stands(answering)
        self.ended(answering, ending.state)

    def misfortune(self, pick: int, text: str) -> None:
        """A runner dies and another starts; one that is only slow may be taken for dead, and goes on writing."""
        what, pick = chosen(MISFORTUNES, pick)
        owner = self.pick(self.runners, pick)
        if what == "die":
            del self.runners[owner]
            self.dead.add(owner)
            self.start_runner()
        suspects = self.dead | {owner} if what == "take for dead" else self.dead
        if what != "die" or pick % 2:
            recording.recover(lambda owner: owner in suspects)
            self.note_interrupted()

    def start_runner(self) -> None:
        self.born += 1
        self.runners[f"here:{self.born}:x"] = {}

    # Browsers

    def browsers_act(self, pick: int, text: str) -> None:
        what, pick = chosen(BROWSING, pick)
        which = pick % 2
        browser = self.browsers[which]
        if what == "catch up":
            browser.catch_up()
        elif what == "read":
            browser.reload()
        elif what == "sleep":
            self.asleep.append(copy(browser))
        elif what == "wake" and self.asleep:  # it connects again from a number it once had
            self.browsers[which] = copy(self.pick(self.asleep, pick))
        elif what == "open":
            self.browsers[which] = Follower(read=lambda: page_of(self.session))
        elif what == "follow":
            self.relay(browser, 1 + pick % 12)

    # What always holds

    @invariant()
    def whole(self) -> None:
        if not self.writes.any():
            return
        page = page_of(self.session)
        self.every_message_is_there_once_and_in_order()
        self.the_log_only_grows()
        self.runs_are_in_the_state_they_should_be_and_one_is_running_at_most()
        self.the_text_of_every_call_is_what_its_runner_got(page)
        self.events_are_numbered_once()
        self.only_a_running_run_has_deltas(page)
        self.sums_are_sums()
        self.no_call_of_an_ended_run_is_without_a_result()
        self.every_result_has_its_trace_joined_to_a_plan_of_its_run()
        assert_index_is_whole()

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

    def the_text_of_every_call_is_what_its_runner_got(self, page: Page) -> None:
        assert page.standing == {call: text for call, text in self.texts.items() if call in page.standing}
        assert all(not text for call, text in self.texts.items() if call not in page.standing)
        for call, text in self.shown.items():
            assert page.standing.get(call, page.live.get(call, "")).startswith(text)

    def events_are_numbered_once(self) -> None:
        numbers = list(Event.objects.filter(session=self.session).order_by("id").values_list("seq", flat=True))
        assert numbers == sorted(set(numbers))
        assert numbers[-1] == Session.objects.get(pk=self.session.pk).event_seq

    def only_a_running_run_has_deltas(self, page: Page) -> None:
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

    def every_result_has_its_trace_joined_to_a_plan_of_its_run(self) -> None:
        results = Message.objects.filter(session=self.session, role="tool").order_by("pk").values_list("pk", "run")
        traces = ToolTrace.objects.filter(session=self.session).order_by("message")
        assert list(traces.values_list("message", "plan__run")) == list(results)

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

    def answering(self) -> list[Answering]:
        return [answering for mine in self.runners.values() for answering in mine.values()]

    def holds(self, answering: Answering) -> bool:
        run = Run.objects.get(pk=answering.lease.run_id)
        return (run.state, run.lease_owner) == (RunState.RUNNING, answering.lease.owner)

    def stands(self, answering: Answering) -> None:
        self.texts[answering.key] = answering.text
        self.shown.pop(answering.key, None)

    def ended(self, answering: Answering, state: RunState) -> None:
        self.states[answering.lease.turn_number - 1] = state
        self.completed += state == RunState.COMPLETED
        self.forget(answering)

    def forget(self, answering: Answering) -> None:
        del self.runners[answering.lease.owner][answering.lease.run_id]

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
        for turn in chat.chat_page(planning.main_branch(self.session), count=1_000).turns:
            assert turn.live_text == page.live.get((str(turn.run_id), turn.live_call), "")


@pytest.mark.django_db
def test_conversations_stay_whole() -> None:
    assert_whole(Conversation, examples=8, steps=40)


@pytest.mark.soak
@pytest.mark.django_db
def test_many_long_conversations_stay_whole() -> None:
    assert_whole(Conversation, examples=30, steps=60)
