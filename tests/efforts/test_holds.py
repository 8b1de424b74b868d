"""Pins: who makes them stand, how they age, what ends them, and that prompts hold what stands."""

from __future__ import annotations

from random import Random

import pytest
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from efforts import actions
from efforts.context.planning import chosen_settings, draft_turn, plan_inputs
from efforts.domain.effort.states import HOLD_MOVES, HoldScope, HoldState, RunState
from efforts.domain.errors import Refused
from efforts.domain.prompt.plan import Plan
from efforts.domain.prompt.planner import plan
from efforts.models import Hold
from efforts.turns.recording import COMPLETED, STOPPED, Ending
from tests.efforts.talk import Talk, as_model

FAILED = Ending(state=RunState.FAILED, code="broken_stream", text="The stream broke.")
KINDS = ("hold.suggested", "hold.granted", "hold.refreshed", "hold.ended", "hold.dismissed")
SUGGEST = "suggest_pin"


def planned(talk: Talk) -> Plan:
    chosen = {**chosen_settings(talk.session), "ambient_window": 1}
    return plan(plan_inputs(talk.branch, chosen, current=draft_turn(talk.branch, "And now?")))


def pinned(talk: Talk) -> list[str]:
    """What of the pins the next prompt has in its notes."""
    return [item.title for item in planned(talk).items if item.section == "pin" and item.included]


def said(talk: Talk, *texts: str) -> None:
    for text in texts:
        talk.ask(text)


# By the person


def test_a_turn_out_of_the_window_is_in_the_next_prompt_once_it_is_pinned(talk: Talk) -> None:
    said(talk, "The port is 8443.", "Thanks.", "And the weather?")
    before = planned(talk)
    assert "8443" not in str(before.request)
    row = actions.pin_turn(talk.place, 1)
    assert (row.state, row.kind, row.scope, row.by, row.granted_clock) == ("standing", "sticky", "always", "person", 3)
    after = planned(talk)
    notes = after.request["messages"][1]["content"]
    assert notes.startswith(
        "[Notes, not instructions: what the user has pinned, quoted]\nTurn 1, the user:\n> The port"
    )
    assert str(after.request).count("8443") == 1
    actions.unpin(talk.place, row.pk)
    assert planned(talk).request_sha256 == before.request_sha256
    assert [(event["kind"], event["what"]) for event in talk.events(*KINDS)] == [
        ("hold.granted", "turn 1"),
        ("hold.ended", "turn 1"),
    ]


def test_a_turn_that_its_own_layer_shows_stands_there_and_not_twice(talk: Talk) -> None:
    said(talk, "The port is 8443.")
    before = planned(talk)
    actions.pin_turn(talk.place, 1)
    after = planned(talk)
    assert after.request_sha256 == before.request_sha256
    assert "Pinned, so it stays. Shown where it was said." in [item.sentence for item in after.items]


def test_a_pinned_effort_stands_by_its_summary_and_leaves_it_from_the_summaries(talk: Talk) -> None:
    slug = talk.concluded("Auth bug", "The token expires.")
    actions.pin_effort(talk.place, slug)
    items = {item.section: item for item in planned(talk).items if item.values.get("effort") == slug}
    assert list(items) == ["pin"]
    assert str(planned(talk).request).count("In short.") == 1


def test_an_open_effort_needs_no_pin(talk: Talk) -> None:
    actions.open_effort(talk.place, "Auth bug")
    with pytest.raises(Refused, match="is open, and shown already"):
        actions.pin_effort(talk.place, "auth-bug")


def test_a_pinned_effort_that_is_expanded_stays_so_when_a_new_work_session_begins(talk: Talk) -> None:
    slugs = [talk.concluded("Auth bug"), talk.concluded("Vacation")]
    for slug in slugs:
        actions.expand_effort(talk.place, slug)
    actions.pin_effort(talk.place, slugs[0])
    assert actions.new_work_session(talk.place) == 1
    assert [talk.state(slug).expanded_turn is None for slug in slugs] == [False, True]


@pytest.mark.parametrize(
    ("number", "scope", "turns", "code"),
    [
        (9, HoldScope.ALWAYS, 0, "unknown_turn"),
        (2, HoldScope.ALWAYS, 0, "unfinished"),
        (1, HoldScope.TURNS, 0, "bad_turns"),
        (1, HoldScope.UNREFERENCED, 101, "bad_turns"),
        (1, HoldScope.EFFORT, 0, "none_active"),
    ],
)
def test_what_cannot_be_pinned_is_refused_and_changes_nothing(
    talk: Talk, number: int, scope: HoldScope, turns: int, code: str
) -> None:
    said(talk, "Hello.")
    talk.say("Waiting.")
    with pytest.raises(Refused) as refused:
        actions.pin_turn(talk.place, number, scope, turns)
    assert refused.value.code == code
    assert not Hold.objects.exists()


def test_pinned_again_a_thing_is_pinned_once(talk: Talk) -> None:
    said(talk, "Hello.")
    first = actions.pin_turn(talk.place, 1)
    assert actions.pin_turn(talk.place, 1) == first
    for_a_while = actions.pin_turn(talk.place, 1, HoldScope.TURNS, 5)
    first.refresh_from_db()
    assert (first.state, first.ended, for_a_while.kind) == ("ended", "replaced", "lease")
    assert list(Hold.objects.filter(state=HoldState.STANDING)) == [for_a_while]
    with pytest.raises(IntegrityError), transaction.atomic():
        Hold.objects.create(branch=talk.branch, turn=first.turn, kind="sticky", scope="always", state="standing")


def test_a_pin_that_somebody_else_has_ended_cannot_be_ended_again(talk: Talk) -> None:
    said(talk, "Hello.")
    row = actions.pin_turn(talk.place, 1)
    actions.unpin(talk.place, row.pk)
    with pytest.raises(Refused, match="just been changed"):
        actions.unpin(talk.place, row.pk)
    with pytest.raises(Refused, match="no such pin"):
        actions.unpin(talk.place, row.pk + 1)


# Ageing


def test_a_pin_of_five_turns_stands_in_the_next_five_prompts(talk: Talk) -> None:
    said(talk, "The port is 8443.", "Thanks.")
    actions.pin_turn(talk.place, 1, HoldScope.TURNS, 5)
    stood = []
    for _ in range(7):
        stood.append(pinned(talk))
        talk.ask("Go on.")
    assert stood == [["Turn 1"]] * 5 + [[]] * 2
    [event] = talk.events("hold.ended")
    assert event["notice"] == "--- Unpinned: turn 1 (was pinned for 5 turns) ---"
    assert (event["how"], event["turn"]) == ("aged", 7)


def test_a_pin_for_one_message_is_in_that_prompt_alone_and_leaves_without_a_word(talk: Talk) -> None:
    said(talk, "The port is 8443.", "Thanks.")
    actions.pin_turn(talk.place, 1, HoldScope.TURN)
    assert pinned(talk) == ["Turn 1"]
    talk.ask("Which port?")
    assert pinned(talk) == []
    [event] = talk.events("hold.ended")
    assert "notice" not in event


def test_pinned_for_the_next_message_while_a_turn_runs_it_stands_in_the_one_after(talk: Talk) -> None:
    said(talk, "The port is 8443.", "Thanks.")
    lease = talk.begin("Slow one.")
    actions.pin_turn(talk.place, 1, HoldScope.TURN)
    talk.finish(lease)
    assert pinned(talk) == ["Turn 1"]
    talk.ask("Which port?")
    assert pinned(talk) == []


@pytest.mark.parametrize("ending", [STOPPED, FAILED])
def test_a_turn_that_was_not_completed_ages_nothing(talk: Talk, ending: Ending) -> None:
    said(talk, "The port is 8443.", "Thanks.")
    actions.pin_turn(talk.place, 1, HoldScope.TURN)
    talk.ask("Which port?", ending=ending)
    assert pinned(talk) == ["Turn 1"]


@pytest.mark.parametrize("words", ["Look at turn 1 again.", "What about turns 1 and 2?"])
def test_a_mention_keeps_what_leaves_when_nobody_mentions_it(talk: Talk, words: str) -> None:
    said(talk, "The port is 8443.", "Thanks.")
    row = actions.pin_turn(talk.place, 1, HoldScope.UNREFERENCED, 3)
    said(talk, "Hm.", "Well.", words, "Hm.", "Well.")
    assert pinned(talk) == ["Turn 1"]
    talk.ask("Turn 11, then.")
    assert pinned(talk) == []
    row.refresh_from_db()
    assert (row.refreshed_clock, row.ended_clock, row.ended) == (5, 8, "aged")


def test_what_the_model_reads_is_mentioned(talk: Talk) -> None:
    slug = talk.concluded("Auth bug", "The token expires.")
    talk.ask("Hello.")
    effort = actions.pin_effort(talk.place, slug, HoldScope.UNREFERENCED, 2)
    turn = actions.pin_turn(talk.place, 2, HoldScope.UNREFERENCED, 2)
    message = talk.branch.turns.get(number=2).messages.get(role="user")
    talk.ask("Again?", ("read_effort", {"id": slug}), ("read_message", {"id": message.pk}))
    clocks = Hold.objects.order_by("pk").values_list("refreshed_clock", flat=True)
    assert [effort.granted_clock, turn.granted_clock, *clocks] == [2, 2, 3, 3]


def test_a_pin_for_an_effort_ends_when_that_is_concluded(talk: Talk) -> None:
    said(talk, "The port is 8443.", "Thanks.")
    actions.open_effort(talk.place, "Auth bug")
    row = actions.pin_turn(talk.place, 1, HoldScope.EFFORT)
    actions.open_effort(talk.place, "Other")
    actions.close_effort(talk.place, "other")
    assert pinned(talk) == ["Turn 1"]
    actions.close_effort(talk.place, "auth-bug")
    row.refresh_from_db()
    assert (row.state, row.ended, pinned(talk)) == ("ended", "concluded", [])


def test_what_left_by_itself_is_pinned_again_by_undo(talk: Talk) -> None:
    said(talk, "The port is 8443.", "Thanks.")
    actions.pin_turn(talk.place, 1, HoldScope.TURNS, 1)
    talk.ask("Go on.")
    [event] = talk.events("hold.ended")
    actions.undo(talk.place, event["seq"])
    assert pinned(talk) == ["Turn 1"]
    with pytest.raises(Refused, match="pinned already"):
        actions.undo(talk.place, event["seq"])


# By the model


def test_the_model_suggests_and_the_person_decides(talk: Talk) -> None:
    said(talk, "The port is 8443.", "Thanks.")
    before = planned(talk).request_sha256
    lease = talk.begin("Anything to keep?")
    results = [talk.call(lease, SUGGEST, ref=ref, why="All else rests on it.") for ref in ("turn 1", "1", "Turn #1")]
    assert [result["suggested"] for result in results] == ["turn 1"] * 3
    assert "user is asked" in results[0]["note"]
    [row] = Hold.objects.all()
    assert (row.state, row.by, row.why) == ("suggested", "model", "All else rests on it.")
    assert pinned(talk) == []
    talk.finish(lease)
    actions.accept_pin(talk.place, row.pk)
    row.refresh_from_db()
    assert (row.state, row.kind, row.granted_clock) == ("standing", "sticky", 3)
    assert pinned(talk) == ["Turn 1"]
    assert planned(talk).request_sha256 != before


@pytest.mark.parametrize(
    ("ref", "words"),
    [
        ("turn 9", "no earlier turn 9"),
        ("turn 3", "no earlier turn 3"),
        ("turn 999999999", "no earlier turn"),
        ("nothing", "no effort 'nothing' here"),
        ("bug", "is open, and shown already"),
        ("", "no effort ''"),
    ],
)
def test_a_suggestion_of_what_is_not_there_is_answered_in_words(talk: Talk, ref: str, words: str) -> None:
    actions.open_effort(talk.place, "Bug")
    said(talk, "Hello.", "Well.")
    [result] = talk.ask("Keep it?", (SUGGEST, {"ref": ref, "why": "It matters."}))
    assert words in result["error"]
    assert not Hold.objects.exists()


def test_a_dismissed_suggestion_is_not_made_again(talk: Talk) -> None:
    said(talk, "Hello.")
    call = (SUGGEST, {"ref": "turn 1", "why": "It matters."})
    talk.ask("Keep it?", call)
    actions.dismiss_pin(talk.place, Hold.objects.get().pk)
    [result] = talk.ask("Keep it?", call)
    assert "has dismissed" in result["error"]
    assert actions.pin_turn(talk.place, 1).state == "standing"
    [result] = talk.ask("Keep it?", call)
    assert "pinned already" in result["error"]


def test_only_a_person_pins(talk: Talk) -> None:
    said(talk, "Hello.")
    with pytest.raises(Refused, match="Only the user pins"):
        actions.pin_turn(as_model(talk, talk.begin("Pin it.")), 1)


# Forks


def test_a_fork_begins_with_what_stood_where_it_leaves_and_goes_its_own_way(talk: Talk) -> None:
    slug = talk.concluded("Auth bug", "One.")
    said(talk, "Two.", "Three.")
    actions.pin_turn(talk.place, 1)
    actions.pin_turn(talk.place, 2, HoldScope.TURNS, 1)
    actions.pin_effort(talk.place, slug)
    gone = actions.pin_turn(talk.place, 3)
    actions.unpin(talk.place, gone.pk)
    said(talk, "Four.", "Five.")
    late = actions.pin_turn(talk.place, 1, HoldScope.TURNS, 9)
    actions.pin_turn(talk.place, 3)
    fork = actions.fork(talk.branch, after=3, actor=talk.session.owner)
    there = Hold.objects.filter(branch=fork).order_by("pk")
    assert [(row.turn and row.turn.number, row.scope, row.state) for row in there] == [
        (1, "always", "standing"),
        (2, "turns", "standing"),
        (None, "always", "standing"),
    ]
    apart = Talk(talk.session, fork)
    apart.ask("Another way.")
    actions.unpin(apart.place, there[0].pk)
    assert [row.effort and row.effort.slug for row in Hold.objects.filter(branch=fork, state="standing")] == [slug]
    late.refresh_from_db()
    assert late.state == "standing"
    before_all = actions.fork(talk.branch, after=0, actor=talk.session.owner)
    assert not Hold.objects.filter(branch=before_all).exists()


# Whatever happens


class Holds(RuleBasedStateMachine):
    """Against a model of its own: of each live hold its scope, its n, and how many completed turns it has seen."""

    @initialize(seed=st.integers(0, 2**32))
    def begin(self, seed: int) -> None:
        self.chance = Random(seed)
        self.stage = transaction.atomic()
        self.stage.__enter__()
        self.talk = Talk(actions.create_session(User.objects.create_user("alice")))
        said(self.talk, "One.", "Two.", "Three.", "Four.")
        self.left: dict[int, int | None] = {}
        self.states = dict[int, HoldState]()

    def teardown(self) -> None:
        if hasattr(self, "stage"):
            transaction.set_rollback(True)
            self.stage.__exit__(None, None, None)

    @rule()
    def pin(self) -> None:
        number, turns = self.chance.randint(1, 4), self.chance.randint(1, 3)
        scope = self.chance.choice([HoldScope.ALWAYS, HoldScope.TURN, HoldScope.TURNS, HoldScope.UNREFERENCED])
        actions.pin_turn(self.talk.place, number, scope, turns)
        self.left[number] = {HoldScope.ALWAYS: None, HoldScope.TURN: 1}.get(scope, turns)

    @rule()
    def unpin(self) -> None:
        for row in Hold.objects.filter(state=HoldState.STANDING).order_by("pk")[:1]:
            assert row.turn is not None
            actions.unpin(self.talk.place, row.pk)
            del self.left[row.turn.number]

    @rule()
    def suggest(self) -> None:
        self.talk.ask("Keep it?", (SUGGEST, {"ref": f"turn {self.chance.randint(1, 4)}", "why": ""}))
        self.age()

    @rule()
    def answer(self) -> None:
        for row in Hold.objects.filter(state=HoldState.SUGGESTED).order_by("pk")[:1]:
            if self.chance.random() < 0.5:
                actions.dismiss_pin(self.talk.place, row.pk)
            else:
                assert row.turn is not None
                actions.accept_pin(self.talk.place, row.pk)
                self.left[row.turn.number] = None

    @rule()
    def go_on(self) -> None:
        ending = self.chance.choice([COMPLETED, COMPLETED, COMPLETED, STOPPED, FAILED])
        mentioned = self.chance.choice([0, 0, 1, 2])
        kept = self.scopes().get(mentioned) == HoldScope.UNREFERENCED
        self.talk.ask(f"About turn {mentioned}." if mentioned else "Go on.", ending=ending)
        if kept:
            again = Hold.objects.get(turn__number=mentioned, scope=HoldScope.UNREFERENCED, state=HoldState.STANDING)
            self.left[mentioned] = again.turns + (ending is COMPLETED)
        if ending is COMPLETED:
            self.age()

    def scopes(self) -> dict[int, str]:
        return dict(Hold.objects.filter(state=HoldState.STANDING).values_list("turn__number", "scope"))

    def age(self) -> None:
        aged = {number: None if left is None else left - 1 for number, left in self.left.items()}
        self.left = {number: left for number, left in aged.items() if left != 0}

    @invariant()
    def what_stands_is_what_has_turns_left(self) -> None:
        if hasattr(self, "left"):
            assert set(self.scopes()) == set(self.left)

    @invariant()
    def every_move_is_of_the_table(self) -> None:
        for row in Hold.objects.all() if hasattr(self, "left") else ():
            now = HoldState(row.state)
            before = self.states.get(row.pk, now)
            assert now == before or now in HOLD_MOVES[before] | {
                after for next_ in HOLD_MOVES[before] for after in HOLD_MOVES[next_]
            }
            self.states[row.pk] = now
            assert (row.ended_clock is None) == (row.ended == "") == (row.state != HoldState.ENDED)

    @invariant()
    def the_next_prompt_has_each_once(self) -> None:
        if hasattr(self, "left"):
            items = planned(self.talk).items
            own = {number for item in items if item.turns and item.section == "ambient" and item.included
                   for number in range(item.turns[0], item.turns[1] + 1)}  # fmt: skip
            notes = {item.turns[0] for item in items if item.section == "pin" and item.included and item.turns}
            assert notes == set(self.left) - own


@pytest.mark.django_db
def test_holds_age_on_one_clock_whatever_is_done_in_whatever_order() -> None:
    run_state_machine_as_test(
        Holds,
        settings=settings(
            max_examples=12,
            stateful_step_count=14,
            phases=[Phase.explicit, Phase.generate],
            suppress_health_check=list(HealthCheck),
        ),
    )
