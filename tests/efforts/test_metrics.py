"""What context management saved and cost, by hand-computed examples: the events of a timeline in, figures out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from efforts.domain.effort.metrics import Decay, Eviction, Expansion, Metrics, Saved, Sent, measure, together
from efforts.domain.effort.reducer import Happening


class Log:
    """Writes events as the product does: what happens inside a turn counts at the clock that it will have."""

    def __init__(self) -> None:
        self.events: list[Happening] = []
        self.turn = self.clock = 0
        self.running = False

    def add(self, kind: str, **data: Any) -> int:
        seq = len(self.events) + 1
        stamped = {"turn": self.turn, "clock": self.clock + self.running, **data}
        self.events.append(Happening(seq=seq, kind=kind, data=stamped))
        return seq

    def begin(self) -> None:
        self.turn, self.running = self.turn + 1, True

    def end(self, state: str = "completed") -> None:
        self.running = False
        self.clock += state == "completed"
        self.add("run.ended", state=state)

    def turns(self, count: int, state: str = "completed") -> None:
        for _ in range(count):
            self.begin()
            self.end(state)

    def expand(self, slug: str = "auth-bug", tokens: int = 600) -> int:
        return self.add("effort.expanded", effort=slug, tokens=tokens)

    def expand_in_a_turn(self, slug: str = "auth-bug", tokens: int = 600) -> None:
        self.begin()
        self.expand(slug, tokens)
        self.end()

    def decay_in_a_turn(self, slug: str = "auth-bug", tokens: int = 600) -> int:
        """Settling a turn happens before its end is on record."""
        self.begin()
        seq = self.add("effort.decayed", effort=slug, turns=3, tokens=tokens)
        self.end()
        return seq

    def collapse(self, slug: str = "auth-bug", why: str = "asked") -> int:
        return self.add("effort.collapsed", effort=slug, why=why)

    def undo(self, of: int, slug: str = "auth-bug") -> None:
        self.add("effort.undone", effort=slug, of=of, undone=self.events[of - 1].kind)

    @property
    def metrics(self) -> Metrics:
        return measure(self.events)

    @property
    def figures(self) -> dict[str, float | None]:
        return self.metrics.figures


@pytest.fixture
def log() -> Log:
    return Log()


@pytest.fixture
def faded(log: Log) -> Log:
    """Expanded in turn 1, auto-collapsed at the end of turn 4."""
    log.expand_in_a_turn()
    log.turns(2)
    log.decay_in_a_turn()
    return log


# Expansions


def test_an_expansion_of_turn_1_that_fades_at_the_end_of_4_stood_for_three_turns(faded: Log) -> None:
    [one] = faded.metrics.expansions
    assert (one.effort, one.turn, one.ended_turn, one.how, one.duration) == ("auth-bug", 1, 4, "decayed", 3)
    assert (faded.figures["auto_collapses"], faded.figures["avg_expansion_duration"]) == (1, 3)


def test_the_mean_is_of_all_that_ended_by_whom_ever(faded: Log) -> None:
    faded.expand("perf-fix")
    faded.turns(1)
    faded.collapse("perf-fix")
    faded.expand("billing")
    faded.turns(5)
    assert faded.figures["avg_expansion_duration"] == (3 + 1) / 2
    assert faded.metrics.expansions[-1].duration is None


@pytest.mark.parametrize("state", ["failed", "stopped", "interrupted", "cancelled"])
def test_only_completed_turns_count(log: Log, state: str) -> None:
    log.expand_in_a_turn()
    log.turns(4, state)
    log.turns(1)
    log.collapse()
    assert log.figures["avg_expansion_duration"] == 1


def test_only_what_was_asked_for_is_manual(faded: Log) -> None:
    for why in ("asked", "asked", "reopened", "work_session"):
        faded.expand()
        faded.collapse(why=why)
    assert faded.figures["manual_collapses"] == 2
    assert faded.figures["manual_vs_auto_collapse"] == 2
    assert faded.figures["expansions"] == 5


def test_an_expansion_taken_back_never_stood(log: Log) -> None:
    log.undo(log.expand())
    assert (log.figures["manual_collapses"], log.figures["avg_expansion_duration"]) == (0, None)


def test_a_collapse_taken_back_has_not_been(log: Log) -> None:
    log.expand_in_a_turn()
    log.turns(1)
    log.undo(log.collapse())
    log.turns(2)
    log.collapse()
    assert (log.figures["manual_collapses"], log.figures["avg_expansion_duration"]) == (1, 3)


def test_what_is_rolled_back_is_expanded_no_longer(log: Log) -> None:
    log.expand_in_a_turn()
    log.turns(1)
    log.add("effort.rolled_back", effort="auth-bug")
    assert [one.how for one in log.metrics.ended] == ["rolled_back"]
    assert log.figures["manual_collapses"] == 0


def test_before_events_had_a_clock_turns_are_counted_by_their_numbers() -> None:
    old = [
        Happening(seq=1, kind="effort.expanded", data={"turn": 2, "effort": "auth-bug", "tokens": 5}),
        Happening(seq=2, kind="effort.collapsed", data={"turn": 7, "effort": "auth-bug", "why": "asked"}),
    ]
    assert measure(old).figures["avg_expansion_duration"] == 5


# Auto-collapses that were wrong


def test_expanded_again_within_two_turns_it_had_faded_wrongly(faded: Log) -> None:
    faded.turns(1)
    faded.expand_in_a_turn()  # the second turn
    assert faded.figures["false_decay_rate"] == 1


def test_expanded_again_in_the_third_turn_it_had_not(faded: Log) -> None:
    faded.turns(2)
    faded.expand_in_a_turn()
    assert (faded.figures["false_decays"], faded.figures["false_decay_rate"]) == (0, 0)


def test_failed_turns_do_not_count_as_turns_in_between(faded: Log) -> None:
    faded.turns(3, "failed")
    faded.expand()
    assert faded.figures["false_decays"] == 1


def test_another_effort_s_expansion_says_nothing(faded: Log) -> None:
    faded.expand("perf-fix")
    assert faded.figures["false_decays"] == 0


def test_an_auto_collapse_taken_back_is_one_that_was_wrong(faded: Log) -> None:
    faded.undo(faded.metrics.decays[0].seq)
    faded.turns(2)
    assert (faded.figures["auto_collapses"], faded.figures["false_decays"]) == (1, 1)
    assert [(one.how, one.tokens) for one in faded.metrics.expansions] == [("decayed", 600), ("", 600)]
    assert faded.figures["tokens_saved_by_decay"] == 0


def test_what_the_person_calls_too_early_is_counted_apart_and_once(faded: Log) -> None:
    of = faded.metrics.decays[0].seq
    for _ in range(2):
        faded.add("effort.too_early", effort="auth-bug", of=of)
    assert (faded.figures["too_early"], faded.figures["false_decays"]) == (1, 0)


# What fading saves


def test_each_later_turn_saves_what_it_took_until_it_is_expanded_again(faded: Log) -> None:
    faded.turns(4)
    faded.expand_in_a_turn()
    faded.turns(10)
    assert [(one.turn, one.tokens) for one in faded.metrics.saved] == [(5, 600), (6, 600), (7, 600), (8, 600)]
    assert faded.figures["tokens_saved_by_decay"] == 4 * 600


def test_the_turn_that_it_fades_in_saves_nothing(faded: Log) -> None:
    assert faded.figures["tokens_saved_by_decay"] == 0


def test_turns_that_did_not_complete_save_nothing(faded: Log) -> None:
    faded.turns(3, "failed")
    faded.turns(2, "stopped")
    assert faded.figures["tokens_saved_by_decay"] == 0


@pytest.mark.parametrize("how", ["began", "collapsed", "reopened"])
def test_nothing_is_saved_where_it_would_not_stand_anyhow(faded: Log, how: str) -> None:
    faded.expand("perf-fix")
    faded.turns(2)
    if how == "began":
        faded.add("session.resumed", why="idle")
    elif how == "collapsed":
        faded.collapse("perf-fix", why="work_session")
    else:
        faded.add("effort.reopened", effort="auth-bug")
    faded.turns(5)
    assert faded.figures["tokens_saved_by_decay"] == 2 * 600


def test_several_save_together(faded: Log) -> None:
    faded.expand("perf-fix", 100)
    faded.turns(2)
    faded.decay_in_a_turn("perf-fix", 100)
    faded.turns(2)
    assert [one.tokens for one in faded.metrics.saved] == [600, 600, 600, 700, 700]


# Evictions


def test_an_eviction_has_its_age_since_the_conclusion_and_returns_with_a_reference(log: Log) -> None:
    log.turns(2)
    log.add("effort.concluded", effort="auth-bug")
    log.turns(24)
    log.add("effort.evicted", effort="auth-bug", turns=20)
    log.add("effort.evicted", effort="perf-fix", turns=20)
    log.turns(1)
    for _ in range(2):
        log.add("effort.referenced", effort="auth-bug", by="user", how="name")
    log.add("effort.referenced", effort="never-evicted", by="user", how="name")
    assert (log.figures["evictions"], log.figures["returns"]) == (2, 1)
    assert log.figures["avg_eviction_age"] == (24 + 20) / 2
    assert [one.back_turn for one in log.metrics.evictions] == [27, None]


@pytest.mark.parametrize("kind", ["effort.expanded", "effort.reopened"])
def test_what_is_done_to_an_evicted_effort_brings_it_back_too(log: Log, kind: str) -> None:
    log.turns(30)
    log.add("effort.evicted", effort="auth-bug", turns=20)
    log.add(kind, effort="auth-bug", tokens=600)
    assert log.figures["returns"] == 1


# Tokens


def sent(number: int, tokens: int, *, before: int, logs: int = 0, **sections: int) -> Sent:
    return Sent(turn=number, tokens=tokens, sections=sections, said_before=before, logs_before=logs)


PROMPTS = (
    sent(1, 120, before=0, system=100, turn=20),
    sent(2, 200, before=300, logs=250, system=100, summary=10, expanded=60, turn=30),
)


def test_tokens_of_the_last_call_their_mean_and_their_peak() -> None:
    figures = measure([], reversed(PROMPTS)).figures
    assert (figures["context_tokens"], figures["context_tokens_mean"], figures["context_tokens_peak"]) == (
        120,
        160,
        200,
    )
    assert (figures["expansion_tokens"], figures["expansion_tokens_mean"], figures["expansion_tokens_peak"]) == (
        0,
        30,
        60,
    )


def test_naive_is_all_that_was_said_before_with_the_system_text_and_this_turn() -> None:
    figures = measure([], PROMPTS).figures
    assert (figures["naive_tokens"], figures["naive_tokens_peak"]) == (100 + 300 + 30, 430)
    assert figures["savings_vs_naive"] == pytest.approx(1 - 200 / 430)
    assert figures["savings_vs_naive_all"] == pytest.approx(1 - 320 / (120 + 430))


def test_the_other_baseline_keeps_the_logs_of_all_efforts_and_the_ambient_turns_that_were_sent() -> None:
    last = sent(3, 200, before=900, logs=250, system=100, summary=10, expanded=60, ambient=7, recall=9, turn=14)
    assert measure([], [last]).figures["savings_vs_effort_logs"] == pytest.approx(1 - 200 / (100 + 7 + 14 + 250))


def test_the_overhead_is_the_share_of_expansions() -> None:
    figures = measure([], PROMPTS).figures
    assert (figures["expansion_overhead"], figures["expansion_overhead_all"]) == (60 / 200, 60 / 320)


def test_without_a_base_there_is_no_figure() -> None:
    figures = measure([]).figures
    counts = ("expansions", "auto_collapses", "manual_collapses", "false_decays", "too_early", "evictions", "returns")
    zero = {*counts, "tokens_saved_by_decay", "context_tokens_all", "naive_tokens_all", "expansion_tokens_all"}
    assert {name: value for name, value in figures.items() if value is not None} == dict.fromkeys(zero, 0)


# Branches, and all together


def test_a_branch_has_of_its_own_what_came_after_the_fork(faded: Log) -> None:
    # What it saved in the turn of the fork is the parent's.
    faded.turns(1)
    shared_turn, shared_seq = faded.turn, len(faded.events)
    faded.turns(2)
    faded.expand("perf-fix")
    own = faded.metrics.after(turn=shared_turn, seq=shared_seq)
    assert [one.effort for one in own.expansions] == ["perf-fix"]
    assert (own.figures["auto_collapses"], own.figures["tokens_saved_by_decay"]) == (0, 1_200)


def test_what_the_last_shared_event_did_is_the_parent_s() -> None:
    whole = Metrics(
        sent=tuple(replace(PROMPTS[0], turn=turn) for turn in (4, 5)),
        expansions=tuple(
            Expansion(seq=seq, effort="auth-bug", turn=1, clock=1, tokens=1, ended_seq=ended)
            for seq, ended in ((6, None), (7, None), (8, None), (6, 7), (6, 8))
        ),
        decays=tuple(Decay(seq=seq, effort="auth-bug", turn=1, clock=1, tokens=1) for seq in (7, 8)),
        evictions=tuple(Eviction(seq=seq, effort="auth-bug", turn=1, age=1) for seq in (7, 8)),
        saved=(Saved(turn=4, tokens=1), Saved(turn=5, tokens=1)),
        too_early=(7, 8),
    )
    own = whole.after(turn=4, seq=7)
    assert [one.turn for one in own.sent] == [one.turn for one in own.saved] == [5]
    assert [(one.seq, one.ended_seq) for one in own.expansions] == [(8, None), (6, 8)]
    assert [one.seq for one in own.decays] == [one.seq for one in own.evictions] == [*own.too_early] == [8]


def test_together_they_are_measured_as_one(faded: Log) -> None:
    whole = together([faded.metrics, measure([], PROMPTS), measure([], PROMPTS[:1])])
    assert whole.figures["context_tokens_mean"] == (120 + 200 + 120) / 3
    assert whole.figures["auto_collapses"] == 1


# By another way


Step = tuple[str, str]
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["expand", "collapse", "decay", "fail", "pass", "work"]), st.sampled_from(["a", "b", "c"])
    ),
    max_size=60,
)


def played(steps: Iterable[Step]) -> Log:
    """Each step in a turn of its own, as far as it is possible then."""
    log, standing = Log(), set[str]()
    for what, slug in steps:
        log.begin()
        if what == "expand" and slug not in standing:
            log.expand(slug, tokens=100 + ord(slug))
            standing.add(slug)
        elif what == "collapse" and slug in standing:
            log.collapse(slug)
            standing.discard(slug)
        elif what == "decay" and slug in standing:
            log.add("effort.decayed", effort=slug, turns=3, tokens=100 + ord(slug))
            standing.discard(slug)
        elif what == "work":
            for other in sorted(standing):
                log.collapse(other, why="work_session")
            log.add("session.resumed")
            standing.clear()
        log.end("failed" if what == "fail" else "completed")
    return log


def naively(events: list[Happening]) -> dict[str, float | None]:
    """Each auto-collapse and each expansion looked at alone, over all that follows it."""
    decays = [event for event in events if event.kind == "effort.decayed"]
    saved = false = 0
    for decay in decays:
        later = events[events.index(decay) + 1 :]
        again = next((event for event in later if begins(event) and event.slug == decay.slug), None)
        false += again is not None and again.clock - decay.clock <= 2
        for event in later:
            if event is again or event.kind == "session.resumed":
                break
            completed = event.kind == "run.ended" and event.data["state"] == "completed"
            saved += decay.data["tokens"] * (completed and event.turn > decay.turn)
    manual = sum(event.kind == "effort.collapsed" and event.data["why"] == "asked" for event in events)
    durations = []
    for began in filter(begins, events):
        ends = (e for e in events[events.index(began) + 1 :] if e.kind in ("effort.collapsed", "effort.decayed"))
        if end := next((e for e in ends if e.slug == began.slug), None):
            durations.append(end.clock - began.clock)
    return {
        "auto_collapses": len(decays),
        "manual_collapses": manual,
        "manual_vs_auto_collapse": manual / len(decays) if decays else None,
        "false_decay_rate": false / len(decays) if decays else None,
        "tokens_saved_by_decay": saved,
        "avg_expansion_duration": sum(durations) / len(durations) if durations else None,
    }


def begins(event: Happening) -> bool:
    return event.kind == "effort.expanded" or event.data.get("undone") == "effort.decayed"


@given(STEPS)
def test_whatever_happens_another_count_of_the_same_events_says_the_same(steps: list[Step]) -> None:
    log = played(steps)
    expected = naively(log.events)
    assert {name: log.figures[name] for name in expected} == expected
