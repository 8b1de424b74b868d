"""Whole random conversations, as the planner may meet them."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import count as numbers
from typing import Any

from hypothesis import strategies as st

from efforts.domain import holds as lasting
from efforts.domain.budget import SMALLEST_BUDGET, Budget
from efforts.domain.canonical import canonical_json
from efforts.domain.conversation import (
    Constraint,
    CurrentTurn,
    EffortLog,
    Headline,
    Hold,
    LogMessage,
    OlderTurns,
    PastTurn,
    Recalled,
    Role,
    ToolCall,
)
from efforts.domain.lifecycle import HoldScope, RunState
from efforts.domain.plan import Cut, Layout, PlanInputs, layout_base
from efforts.domain.rendering import wire_calls
from efforts.domain.toolbox import TOOLS

Count = Callable[[str], int]

SAYINGS = (
    "yes ",
    "The harbour of Kiel is closed on Sundays. ",
    "def add(a, b):\n    return a + b\n\n",
    "来週の旅行の計画を立てましょう。",
    "🙂👩‍👩‍👧‍👦🏳️‍🌈 ",
    "שלום עולם, مرحبا بالعالم ",
    '{"path": "src/app.py", "line": 12}\n',
    "[stopped here] <|endoftext|> ",
    "\n\n",
)
TIMES = (1, 1, 2, 3, 5, 8, 20, 50, 120)
HUGE_TIMES = (400, 900, 2_500)


def saying(number: int, times: Sequence[int] = TIMES) -> str:
    """One integer is a whole text: cheap to draw, and a smaller one is a simpler text."""
    return SAYINGS[number % len(SAYINGS)] * times[number // len(SAYINGS) % len(times)]


TEXTS = st.one_of(
    st.integers(0, len(SAYINGS) * len(TIMES) - 1).map(saying),
    st.integers(0, len(SAYINGS) * len(TIMES) - 1).map(saying),
    st.text(min_size=1, max_size=8),
)
OPENINGS = st.one_of(
    *[TEXTS] * 9, st.integers(0, len(SAYINGS) * len(HUGE_TIMES) - 1).map(lambda number: saying(number, HUGE_TIMES))
)
MAYBE = st.one_of(st.just(""), TEXTS)
Episodes = list[tuple[str, list[str]]]
EPISODES: st.SearchStrategy[Episodes] = st.one_of(
    *[st.just([])] * 2,
    st.lists(st.tuples(MAYBE, st.lists(TEXTS, min_size=1, max_size=3)), min_size=1, max_size=2),
)
# What makes one turn larger than all the room there is.
MANY_EPISODES: st.SearchStrategy[Episodes] = st.lists(
    st.tuples(MAYBE, st.lists(OPENINGS, min_size=1, max_size=2)), min_size=3, max_size=8
)
# The results of the first are shown in their own turn only, those of the second always.
FOUND_BY = ("search_messages", "close_effort")
FINAL = (RunState.COMPLETED, RunState.STOPPED, RunState.FAILED, RunState.INTERRUPTED)


def four_letters(text: str) -> int:
    """A counter for many examples: four UTF-8 bytes are a token."""
    return (len(text.encode()) + 3) // 4


@dataclass(kw_only=True)
class Log:
    """Makes log messages as the program stores them: ids in order, tokens counted on write."""

    count: Count
    ids: Any = field(default_factory=lambda: numbers(1))

    def said(self, role: Role, text: str, **more: Any) -> LogMessage:
        return LogMessage(id=next(self.ids), role=role, text=text, tokens=self.count(text), **more)

    def called(self, text: str, queries: Sequence[str]) -> LogMessage:
        id = next(self.ids)
        calls = tuple(
            ToolCall(id=f"c{id}-{n}", name=FOUND_BY[n % 2], arguments=json.dumps({"query": query}))
            for n, query in enumerate(queries)
        )
        tokens = self.count(text) + self.count(canonical_json(wire_calls(calls)))
        return LogMessage(id=id, role="assistant", text=text, tokens=tokens, tool_calls=calls)

    def episode(self, text: str, results: Sequence[str]) -> list[LogMessage]:
        """A reply that calls tools, with or without text, and what each call gave."""
        caller = self.called(text, [result[:20] for result in results])
        given = zip(caller.tool_calls, results, strict=True)
        return [
            caller,
            *(self.said("tool", result, tool_call_id=call.id, tool_name=call.name) for call, result in given),
        ]


Said = tuple[RunState, str, Episodes, str, bool]
# State, the user's message, tool episodes, the reply, and whether a cancelled message came before.
TURNS: st.SearchStrategy[Said] = st.tuples(
    st.sampled_from(FINAL),
    OPENINGS,
    st.one_of(*[EPISODES] * 4, MANY_EPISODES),
    MAYBE,
    st.integers(0, 9).map(lambda number: number == 9),
)


def conversation(log: Log, told: Sequence[Said], begin: int) -> list[PastTurn]:
    """Finished turns, oldest first. All but a completed one may end anywhere: without a word, among its tools."""
    turns, number = [], begin
    for state, user, episodes, reply, after_a_gap in told:
        number += after_a_gap
        turns.append(past_turn(log, number, state, user, episodes, reply))
        number += 1
    return turns


def past_turn(log: Log, number: int, state: RunState, user: str, episodes: Episodes, reply: str) -> PastTurn:
    messages = [log.said("user", user)]
    for text, results in episodes:
        messages += log.episode(text, results)
    if state == RunState.COMPLETED or reply:
        messages.append(log.said("assistant", reply or "Done."))
    return PastTurn(number=number, state=state, messages=tuple(messages))


@st.composite
def current_turns(draw: st.DrawFn, log: Log, number: int) -> CurrentTurn:
    user = log.said("user", draw(OPENINGS))
    episodes = [message for text, results in draw(EPISODES) for message in log.episode(text, results)]
    return CurrentTurn(number=number, user=user, episodes=tuple(episodes))


BUDGETS = st.builds(
    Budget,
    setting=st.one_of(st.sampled_from((SMALLEST_BUDGET, 4_001, 8_000, 16_000)), st.integers(SMALLEST_BUDGET, 40_000)),
    window=st.one_of(st.none(), st.integers(6_304, 200_000)),
)

WINDOWS = st.integers(0, 20)

# One line each, as they are stored.
RULE_TEXTS = TEXTS.map(lambda text: " ".join(text.split())).filter(bool)
RULES = st.one_of(
    *[st.just(())] * 2,
    st.lists(RULE_TEXTS, min_size=1, max_size=6).map(
        lambda texts: tuple(Constraint(id=10 + number, text=text) for number, text in enumerate(texts))
    ),
)


@st.composite
def histories(
    draw: st.DrawFn, count: Count = four_letters, windows: st.SearchStrategy[int] = WINDOWS, cuts: bool = True
) -> PlanInputs:
    """All that one plan depends on, as a read of the database would give it."""
    log = Log(count=count)
    begin = draw(st.one_of(st.just(1), st.integers(2, 5_000)))
    long_ago = conversation(log, draw(st.lists(TURNS, max_size=6)), 1) if begin > 20 else []
    turns = with_recalled(draw, long_ago, conversation(log, draw(st.lists(TURNS, max_size=24)), begin))
    number = turns[-1].number + draw(st.integers(1, 3)) if turns else begin
    window = draw(windows)
    budget = draw(BUDGETS)
    efforts, headlines, ambient = draw(divided(turns, begin))
    past, older = read_past(ambient, window, OlderTurns(last=begin - 1, tokens=(begin - 1) * 100))
    return PlanInputs(
        budget=budget,
        params={"model": "any", "stream": True, "max_tokens": budget.reply},
        system_text=draw(st.sampled_from(("You help.", "You help people. " * 100))),
        tools=draw(st.sampled_from(((), TOOLS))),
        past=past,
        older=older,
        current=draw(current_turns(log, number)),
        ambient_window=window,
        layout=draw(layouts(budget, number, headlines)),
        count=count,
        cut_current=cuts and draw(st.booleans()),
        efforts=efforts,
        headlines=headlines,
        unlisted=draw(st.sampled_from((0, 0, 1, 40))),
        constraints=draw(RULES),
        prefer_cache=draw(st.booleans()),
        holds=draw(holds(log, turns, headlines, begin)),
        recalled=draw(passages([*long_ago, *turns])),
        recall_share=draw(st.sampled_from(SHARES)),
    )


# Of the modes, and with the cap lifted.
SHARES = (0.0, 0.2, 0.2, 0.4, 1.0)


@st.composite
def passages(draw: Any, turns: Sequence[PastTurn]) -> tuple[Recalled, ...]:
    """Any parts of what was said in any of the turns, some of them twice, some of white space alone."""
    said = [(turn, message) for turn in turns for message in turn.messages if message.text]
    most = 14 if draw(st.booleans()) else 0
    chosen = draw(st.lists(st.sampled_from(said), max_size=most)) if said else []
    found = []
    for rank, (turn, message) in enumerate(chosen):
        start = draw(st.integers(0, len(message.text) - 1))
        end = min(start + draw(st.sampled_from((1, 60, 700, 5_000))), len(message.text))
        effort = draw(st.sampled_from(("", "effort-1", "日本旅行")))
        found.append(
            Recalled(
                turn=turn.number,
                message=message,
                start=start,
                end=end,
                said_on="2026-03-01",
                effort=effort,
                score=1 / (rank + 1),
                why=("It names the harbour.",),
            )
        )
    return tuple(found)


def with_recalled(draw: Any, long_ago: Sequence[PastTurn], turns: Sequence[PastTurn]) -> list[PastTurn]:
    """Each turn with what may have been recalled for it."""
    given = [one for one in draw(passages(long_ago)) if one.text.strip()]
    places = (
        draw(st.lists(st.sampled_from(range(len(turns))), min_size=len(given), max_size=len(given))) if turns else []
    )
    return [
        replace(turn, recalled=tuple(one for one, place in zip(given, places, strict=False) if place == index))
        for index, turn in enumerate(turns)
    ]


SCOPES = (HoldScope.ALWAYS, *HoldScope)


@st.composite
def holds(
    draw: Any, log: Log, turns: Sequence[PastTurn], headlines: Sequence[Headline], begin: int
) -> tuple[Hold, ...]:
    """Of turns that a layer may show, of turns from long before, of efforts; all kinds in any order."""
    told = draw(st.one_of(st.just([]), st.lists(TURNS, max_size=min(4, begin - 1))))
    before = [past_turn(log, number, *said[:4]) for number, said in enumerate(told, 1)]
    nothing: st.SearchStrategy[list[Any]] = st.just([])
    pinned = [
        *before,
        *(draw(st.one_of(nothing, st.lists(st.sampled_from(turns), unique=True, max_size=6))) if turns else []),
        *(draw(st.one_of(nothing, st.lists(st.sampled_from(headlines), unique=True))) if headlines else []),
    ]
    scopes = draw(st.lists(st.sampled_from(SCOPES), min_size=len(pinned), max_size=len(pinned)))
    made = [hold_of(number, target, scope) for number, (target, scope) in enumerate(zip(pinned, scopes, strict=True))]
    return tuple(draw(st.permutations(made)))


def hold_of(number: int, target: PastTurn | Headline, scope: HoldScope) -> Hold:
    what: dict[str, Any] = {"turn": target} if isinstance(target, PastTurn) else {"effort": target.slug}
    return Hold(id=900 + number, kind=lasting.KINDS[scope], scope=scope, turns=3, **what)


KINDS = ("active", "open", "open", "expanded", "expanded", "awaiting")
Divided = tuple[tuple[EffortLog, ...], tuple[Headline, ...], list[PastTurn]]


@st.composite
def divided(draw: Any, turns: Sequence[PastTurn], begin: int) -> Divided:
    """Each turn belongs to one of a few efforts or to none; concluded efforts of long ago stand by their headlines."""
    places = draw(st.lists(st.sampled_from((None, None, *range(len(KINDS)))), min_size=len(turns), max_size=len(turns)))
    logs = []
    for index, kind in enumerate(KINDS):
        mine = tuple(turn for turn, place in zip(turns, places, strict=True) if place == index)
        if mine and draw(st.booleans()):
            opened = draw(st.integers(1, begin))
            last = draw(st.sampled_from((0, begin - 1)))
            older = OlderTurns(last=last, tokens=77 * last) if last >= opened else OlderTurns()
            logs.append(
                EffortLog(
                    slug=f"effort-{index}",
                    kind=kind,  # type: ignore[arg-type]  # of the table above
                    turns=mine,
                    older=older,
                    opened_turn=opened if older.last else mine[0].number,
                    active_turn=mine[-1].number,
                )
            )
        else:
            places = [None if place == index else place for place in places]
    expanded = [effort.slug for effort in logs if effort.kind == "expanded"]
    texts = draw(st.lists(st.one_of(TEXTS, st.just("Done and settled. " * 12)), max_size=12))
    slugs = [*expanded, *(f"done-{index}" for index in range(len(texts)))]
    headlines = tuple(
        Headline(pointer=10 * index + 1, slug=slug, text=text, turns=(1, index + 1), expanded=slug in expanded)
        for index, (slug, text) in enumerate(zip(slugs, [*(["Seen."] * len(expanded)), *texts], strict=True))
    )
    return tuple(logs), headlines, [turn for turn, place in zip(turns, places, strict=True) if place is None]


def layouts(budget: Budget, number: int, headlines: Sequence[Headline]) -> st.SearchStrategy[Layout]:
    """What an earlier call may have left: nothing, cuts under this budget, cuts under another."""
    cuts = st.builds(
        Cut,
        first_kept=st.one_of(st.just(0), st.integers(max(number - 20, 0), number)),
        cut_through=st.one_of(st.just(0), st.integers(0, 60)),
        left_through=st.one_of(*[st.just(0)] * 3, st.integers(0, 60)),
        recall_through=st.one_of(*[st.just(0)] * 3, st.integers(max(number - 20, 0), number)),
    )
    pointers = [headline.pointer for headline in headlines]
    return st.one_of(
        st.just(Layout()),
        st.builds(
            Layout,
            base=st.sampled_from((layout_base(budget, 0), layout_base(budget, 1))),
            cuts=st.dictionaries(st.sampled_from(("", "effort-0", "effort-1", "effort-3")), cuts, max_size=3),
            headlines=st.lists(st.sampled_from([*pointers, 5]), unique=True, max_size=4).map(tuple),
            seen=st.sampled_from((0, 31, *pointers)),
            block=st.one_of(st.just(0), st.integers(max(number - 20, 0), number)),
        ),
    )


def read_past(
    turns: Sequence[PastTurn], window: int, before: OlderTurns | None = None
) -> tuple[tuple[PastTurn, ...], OlderTurns]:
    """The newest `window` turns, and the running sum of all others."""
    before = before or OlderTurns()
    split = max(len(turns) - window, 0)
    last = turns[split - 1].number if split else before.last
    tokens = before.tokens + sum(turn.cost for turn in turns[:split])
    return tuple(turns[split:]), OlderTurns(last=last, tokens=tokens)
