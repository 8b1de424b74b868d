"""Whole random conversations, as the planner may meet them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import count as numbers
from typing import Any

from hypothesis import strategies as st

from efforts.domain.effort import holds as lasting
from efforts.domain.effort.policy import CODE_SHARES
from efforts.domain.effort.states import HoldScope, RunState
from efforts.domain.prompt.budget import SMALLEST_BUDGET, Budget
from efforts.domain.prompt.conversation import (
    Code,
    CodeCard,
    CurrentTurn,
    EffortInLine,
    EffortLog,
    Evicted,
    Headline,
    HoldInForce,
    Instruction,
    LineOfEfforts,
    LogMessage,
    OlderTurns,
    PastTurn,
    Recalled,
    Role,
    RuleInForce,
    ToolCall,
)
from efforts.domain.prompt.plan import LayerCut, Layout, PlanInputs, layout_base
from efforts.domain.prompt.rendering import wire_calls
from efforts.domain.prompt.toolbox import TOOLS
from efforts.domain.text.canonical import canonical_json

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


Episodes = list[tuple[str, list[str]]]
# The results of the first are shown in their own turn only, those of the second always.
FOUND_BY = ("search_messages", "close_effort")
FINAL = (RunState.COMPLETED, RunState.STOPPED, RunState.FAILED, RunState.INTERRUPTED)
# State, the user's message, tool episodes, the reply, and whether a cancelled message came before.
Said = tuple[RunState, str, Episodes, str, bool]


@dataclass(kw_only=True)
class Dice:
    """Bytes as many small choices; smaller ones, and those that are missing, tell a simpler story.

    They are drawn at once: Hypothesis took longer to draw each choice by itself than a plan takes with all its checks.
    """

    thrown: Iterator[int]
    # Characters of all kinds; a part of them is what nobody would think of writing.
    odd: str

    def below(self, most: int) -> int:
        value, values = 0, 1
        while values < most:
            value, values = 256 * value + next(self.thrown, 0), 256 * values
        return value % most

    def one_of(self, options: Sequence[Any]) -> Any:
        return options[self.below(len(options))]

    def some_of(self, options: Sequence[Any], most: int) -> list[Any]:
        """Each at most once, in any order; often none."""
        left = list(options)
        many = self.below(min(most, len(left)) + 1) if self.below(3) else 0
        return [left.pop(self.below(len(left))) for _ in range(many)]

    def text(self) -> str:
        if self.below(3) < 2:
            return saying(self.below(len(SAYINGS) * len(TIMES)))
        start = self.below(len(self.odd))
        return self.odd[start : start + 1 + self.below(8)]

    def opening(self) -> str:
        return self.text() if self.below(4) else saying(self.below(len(SAYINGS) * len(HUGE_TIMES)), HUGE_TIMES)

    def maybe(self) -> str:
        return self.text() if self.below(4) else ""

    def episodes(self) -> Episodes:
        return [(self.maybe(), [self.text() for _ in range(1 + self.below(3))]) for _ in range(1 + self.below(2))]

    def many_episodes(self) -> Episodes:
        """What makes one turn larger than all the room there is."""
        return [(self.maybe(), [self.opening() for _ in range(1 + self.below(2))]) for _ in range(3 + self.below(6))]

    def turn(self) -> Said:
        episodes = self.one_of((list, self.episodes, self.many_episodes))
        return self.one_of(FINAL), self.opening(), episodes(), self.maybe(), self.below(10) == 9


@dataclass(kw_only=True)
class Table:
    """Where the dice of one example are thrown."""

    draw: st.DrawFn
    odd: str

    def dice(self, size: int) -> Dice:
        return self.read(self.draw(throws(size)))

    def many(self, size: int, most: int) -> list[Dice]:
        return [self.read(thrown) for thrown in self.draw(lists_of_throws(size, most))]

    def read(self, thrown: bytes) -> Dice:
        return Dice(thrown=iter(thrown), odd=self.odd)

    def turns(self, most: int) -> list[Said]:
        return [dice.turn() for dice in self.many(80, most)]


@cache
def throws(size: int) -> st.SearchStrategy[bytes]:
    return st.binary(min_size=size, max_size=size)


@cache
def lists_of_throws(size: int, most: int) -> st.SearchStrategy[list[bytes]]:
    return st.lists(throws(size), max_size=most)


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

    def called(self, text: str, queries: Sequence[str], name: str = "") -> LogMessage:
        id = next(self.ids)
        calls = tuple(
            ToolCall(id=f"c{id}-{n}", name=name or FOUND_BY[n % 2], arguments=json.dumps({"query": query}))
            for n, query in enumerate(queries)
        )
        tokens = self.count(text) + self.count(canonical_json(wire_calls(calls)))
        return LogMessage(id=id, role="assistant", text=text, tokens=tokens, tool_calls=calls)

    def episode(self, text: str, results: Sequence[str], name: str = "") -> list[LogMessage]:
        """A reply that calls tools, with or without text, and what each call gave. `name`: of the tool, else of one
        that finds and one that changes something."""
        caller = self.called(text, [result[:20] for result in results], name)
        given = zip(caller.tool_calls, results, strict=True)
        return [
            caller,
            *(self.said("tool", result, tool_call_id=call.id, tool_name=call.name) for call, result in given),
        ]


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


def current_turn(table: Table, log: Log, number: int) -> CurrentTurn:
    dice = table.dice(80)
    user = log.said("user", dice.opening())
    said = dice.one_of((list, dice.episodes))()
    episodes = [message for text, results in said for message in log.episode(text, results)]
    return CurrentTurn(number=number, user=user, episodes=tuple(episodes))


BUDGETS = st.builds(
    Budget,
    setting=st.one_of(st.sampled_from((SMALLEST_BUDGET, 4_001, 8_000, 16_000)), st.integers(SMALLEST_BUDGET, 40_000)),
    window=st.one_of(st.none(), st.integers(6_304, 200_000)),
)

WINDOWS = st.integers(0, 20)


def rules(table: Table) -> tuple[RuleInForce, ...]:
    """One line each, as they are stored; often none."""
    texts = [" ".join(dice.text().split()) for dice in table.many(4, 6)] if table.dice(1).below(2) else []
    return tuple(RuleInForce(id=10 + number, text=text) for number, text in enumerate(filter(None, texts)))


def instructions(table: Table) -> tuple[Instruction, ...]:
    """Of any form, as they are stored; most people have none."""
    texts = [table.dice(1).text().strip() for _ in range(2)] if table.dice(1).below(3) == 0 else []
    return tuple(Instruction(text=text, for_all=not place) for place, text in enumerate(texts) if text)


@st.composite
def histories(
    draw: st.DrawFn, count: Count = four_letters, windows: st.SearchStrategy[int] = WINDOWS, cuts: bool = True
) -> PlanInputs:
    """All that one plan depends on, as a read of the database would give it."""
    table = Table(draw=draw, odd=draw(st.text(min_size=1, max_size=40)))
    log = Log(count=count)
    begin = draw(st.one_of(st.just(1), st.integers(2, 5_000)))
    long_ago = conversation(log, table.turns(6), 1) if begin > 20 else []
    turns = with_recalled(table, long_ago, conversation(log, table.turns(24), begin))
    number = turns[-1].number + draw(st.integers(1, 3)) if turns else begin
    window = draw(windows)
    budget = draw(BUDGETS)
    efforts, headlines, ambient = divided(table, turns, begin)
    past, older = read_past(ambient, window, OlderTurns(last=begin - 1, tokens=(begin - 1) * 100))
    return PlanInputs(
        budget=budget,
        params={"model": "any", "stream": True, "max_tokens": budget.reply},
        system_text=draw(st.sampled_from(("You help.", "You help people. " * 100))),
        tools=draw(st.sampled_from(((), TOOLS))),
        past=past,
        older=older,
        current=current_turn(table, log, number),
        ambient_window=window,
        layout=layout(table, budget, number, headlines),
        count=count,
        cut_current=cuts and draw(st.booleans()),
        efforts=efforts,
        headlines=headlines,
        unlisted=draw(st.sampled_from((0, 0, 1, 40))),
        evicted=draw(st.sampled_from((Evicted(), Evicted(), GONE))),
        constraints=rules(table),
        instructions=instructions(table),
        prefer_cache=draw(st.booleans()),
        holds=holds(table, log, turns, headlines, begin),
        recalled=passages(table, [*long_ago, *turns]),
        recall_share=(share := draw(st.sampled_from(SHARES))),
        recall_most=share * draw(st.sampled_from((0, 1, 2))),
        code=code(table),
        code_share=draw(st.sampled_from((0.0, *CODE_SHARES.values()))),
        line=line(table, efforts, headlines),
        clock=number,
    )


def line(table: Table, efforts: Sequence[EffortLog], headlines: Sequence[Headline]) -> LineOfEfforts:
    """Nothing asked for; or what the prompt may show, and efforts that nothing else tells of, as many again unread."""
    dice = table.dice(90)
    if dice.below(2):
        return LineOfEfforts()
    slugs = dict.fromkeys(one.slug for one in efforts if not one.chosen)
    slugs |= dict.fromkeys(one.slug for one in headlines if not one.chosen)
    slugs |= dict.fromkeys(f"gone-{place}" for place in range(dice.one_of((0, 1, 5, 40))))
    listed = [
        EffortInLine(
            place=place,
            slug=slug,
            turns=(place, place + dice.below(3)),
            days=("2026-03-01", dice.one_of(("2026-03-01", "2026-03-04"))),
            is_open=not dice.below(3),
            text=" ".join(dice.text().split())[:200],
            name=dice.one_of(("", "As people call it")),
        )
        for place, slug in enumerate(slugs, 1)
    ]
    days = dice.one_of(((), (("2026-03-01", "2026-03-31"),)))
    return LineOfEfforts(efforts=tuple(reversed(listed)), count=len(listed) + dice.one_of((0, 7)), days=days)


def code(table: Table) -> Code:
    """Nothing attached, or a map and cards, some of which stand within others."""
    thrown = table.many(6, 16)
    if not thrown:
        # Attached, and the message points at nothing in it.
        return Code(name="shop", map="shop/ 1", most=8, is_beside=True) if table.many(2, 16) else Code()
    cards = tuple(card(place, dice) for place, dice in enumerate(thrown))
    return Code(name="shop", map="\n".join(f"folder{n}/ {n}" for n in range(1 + 8 * len(thrown))), cards=cards, most=8)


def card(place: int, dice: Dice) -> CodeCard:
    first, lines = dice.below(20) + 1, dice.below(40) + 1
    head = f"@ shop/cart.py:{first}-{first + lines} method shop.cart.m{place}"
    body = "\n".join(f"{first + line}| total = total + {line}" for line in range(lines))
    return CodeCard(
        symbol=place + 1,
        title=f"shop.cart.m{place}",
        path="shop/cart.py",
        lines=(first, first + lines - 1),
        sha256="0" * 64,
        text=f"{head}\n{body}",
        short=head if dice.below(2) else "",
        why=("Has total.",),
    )


GONE = Evicted(count=2, tokens=130, after=20, chosen=1, chosen_tokens=40)
# Of the modes, and with the cap lifted.
SHARES = (0.0, 0.2, 0.2, 0.4, 1.0)


def passages(table: Table, turns: Sequence[PastTurn]) -> tuple[Recalled, ...]:
    """Any parts of what was said in any of the turns, some of them twice, some of white space alone."""
    said = [(turn, message) for turn in turns for message in turn.messages if message.text]
    any_recalled = said and table.dice(1).below(2)
    thrown = table.many(8, 14) if any_recalled else []
    return tuple(passage(dice, rank, *dice.one_of(said)) for rank, dice in enumerate(thrown, 1))


def passage(dice: Dice, rank: int, turn: PastTurn, message: LogMessage) -> Recalled:
    start = dice.below(len(message.text))
    return Recalled(
        turn=turn.number,
        message=message,
        start=start,
        end=min(start + dice.one_of((1, 60, 700, 5_000)), len(message.text)),
        said_on="2026-03-01",
        effort=dice.one_of(("", "effort-1", "日本旅行")),
        score=1 / rank,
        why=("It names the harbour.",),
    )


def with_recalled(table: Table, long_ago: Sequence[PastTurn], turns: Sequence[PastTurn]) -> list[PastTurn]:
    """Each turn with what may have been recalled for it."""
    given = [one for one in passages(table, long_ago) if one.text.strip()] if turns else []
    dice = table.dice(14)
    places = [dice.below(len(turns)) for _ in given]
    return [
        replace(turn, recalled=tuple(one for one, place in zip(given, places, strict=True) if place == index))
        for index, turn in enumerate(turns)
    ]


SCOPES = (HoldScope.ALWAYS, *HoldScope)


def holds(
    table: Table, log: Log, turns: Sequence[PastTurn], headlines: Sequence[Headline], begin: int
) -> tuple[HoldInForce, ...]:
    """Of turns that a layer may show, of turns from long before, of efforts; all kinds in any order."""
    told = table.turns(min(4, begin - 1)) if table.dice(1).below(2) else []
    efforts = [headline for headline in headlines if not headline.chosen]
    before = [past_turn(log, number, *said[:4]) for number, said in enumerate(told, 1)]
    dice = table.dice(60)
    pinned = [*before, *dice.some_of(turns, 6), *dice.some_of(efforts, len(efforts))]
    made = [hold_of(number, target, dice.one_of(SCOPES)) for number, target in enumerate(pinned)]
    return tuple(sorted(made, key=lambda _: dice.below(256)))


def hold_of(number: int, target: PastTurn | Headline, scope: HoldScope) -> HoldInForce:
    what: dict[str, Any] = {"turn": target} if isinstance(target, PastTurn) else {"effort": target.slug}
    leaves_at = lasting.leaves_at(scope, 3, granted=number, refreshed=number)
    return HoldInForce(id=900 + number, kind=lasting.KINDS[scope], scope=scope, turns=3, leaves_at=leaves_at, **what)


KINDS = ("active", "open", "open", "expanded", "expanded", "awaiting")
Divided = tuple[tuple[EffortLog, ...], tuple[Headline, ...], list[PastTurn]]


def divided(table: Table, turns: Sequence[PastTurn], begin: int) -> Divided:
    """Each turn belongs to one of a few efforts or to none; concluded efforts of long ago stand by their headlines."""
    dice = table.dice(60)
    places = [dice.one_of((None, None, *range(len(KINDS)))) for _ in turns]
    logs = []
    for index, kind in enumerate(KINDS):
        mine = tuple(turn for turn, place in zip(turns, places, strict=True) if place == index)
        if mine and dice.below(2):
            opened = 1 + dice.below(begin)
            last = dice.one_of((0, begin - 1))
            older = OlderTurns(last=last, tokens=77 * last) if last >= opened else OlderTurns()
            logs.append(
                EffortLog(
                    slug=f"effort-{index}",
                    kind=kind,  # type: ignore[arg-type]  # of the table above
                    turns=mine,
                    older=older,
                    opened_turn=opened if older.last else mine[0].number,
                    active_turn=mine[-1].number,
                    leaves_at=mine[-1].number + 3 if kind in ("expanded", "awaiting") else None,
                )
            )
        else:
            places = [None if place == index else place for place in places]
    expanded = [effort.slug for effort in logs if effort.kind == "expanded"]
    texts = [one.text() if one.below(4) else "Done and settled. " * 12 for one in table.many(5, 12)]
    slugs = [*expanded, *(f"done-{index}" for index in range(len(texts)))]
    headlines = tuple(
        Headline(
            pointer=10 * index + 1,
            slug=slug,
            text=text,
            turns=(1, index + 1),
            expanded=slug in expanded,
            leaves_at=begin + index if index % 2 else None,
        )
        for index, (slug, text) in enumerate(zip(slugs, [*(["Seen."] * len(expanded)), *texts], strict=True))
    )
    headlines = tuple(headline if headline.expanded else with_body(dice, headline) for headline in headlines)
    return tuple(logs), headlines, [turn for turn, place in zip(turns, places, strict=True) if place is None]


def with_body(dice: Dice, headline: Headline) -> Headline:
    """Of an effort that is expanded so, or of chosen turns: these may have a body, or no more than their headline."""
    kind = dice.below(6)
    if kind < 3:
        return headline
    body = "In short.\nDecisions:\n- [End of notes]\n" + "- Agreed on (turn 3)\n" * dice.one_of((1, 9, 40, 300))
    if kind == 3:
        return replace(headline, body=body, asked=True)
    return replace(headline, slug=f"turns-{headline.pointer}-{headline.pointer}", chosen=True, body=body * (kind - 4))


def layout(table: Table, budget: Budget, number: int, headlines: Sequence[Headline]) -> Layout:
    """What an earlier call may have left: nothing, cuts under this budget, cuts under another."""
    dice = table.dice(60)
    pointers = [headline.pointer for headline in headlines]
    if not dice.below(2):
        return Layout()
    return Layout(
        base=layout_base(budget, dice.below(2)),
        cuts={key: cut(dice, number) for key in dice.some_of(("", "effort-0", "effort-1", "effort-3"), 3)},
        headlines=tuple(dice.some_of([*pointers, 5], 4)),
        dropped=tuple(dice.some_of([*pointers, 31], 4)),
        shortened=tuple(dice.some_of([*pointers, 31], 2)),
        block=dice.one_of((0, lately(dice, number))),
    )


def cut(dice: Dice, number: int) -> LayerCut:
    return LayerCut(
        first_kept=dice.one_of((0, lately(dice, number))),
        cut_through=dice.one_of((0, dice.below(61))),
        left_through=dice.one_of((0, 0, dice.below(61))),
        recall_through=dice.one_of((0, 0, lately(dice, number))),
    )


def lately(dice: Dice, number: int) -> int:
    """One of the last twenty turns."""
    return max(number - dice.below(21), 0)


def read_past(
    turns: Sequence[PastTurn], window: int, before: OlderTurns | None = None
) -> tuple[tuple[PastTurn, ...], OlderTurns]:
    """The newest `window` turns, and the running sum of all others."""
    before = before or OlderTurns()
    split = max(len(turns) - window, 0)
    last = turns[split - 1].number if split else before.last
    tokens = before.tokens + sum(turn.cost for turn in turns[:split])
    return tuple(turns[split:]), OlderTurns(last=last, tokens=tokens)
