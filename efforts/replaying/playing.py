"""A conversation played on the planner's own values, call by call.

No rows: the database adds nothing to what is planned here. What the snapshots read for a plan is read from the same
values by the same rules: an effort's newest turns that the budget can hold and the sum of all before, the newest
headlines, and the layout that the call before left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count as numbers
from typing import Any

from efforts.domain.budget import Budget
from efforts.domain.canonical import canonical_json
from efforts.domain.conversation import CurrentTurn, EffortLog, Headline, LogMessage, OlderTurns, PastTurn, Role
from efforts.domain.details import headline
from efforts.domain.lifecycle import RunState
from efforts.domain.plan import Layout, Plan, PlanInputs, RequiredTooLarge
from efforts.domain.planner import plan
from efforts.domain.policy import AMBIENT_WINDOW
from efforts.domain.rendering import wire_calls
from efforts.domain.source_text import source_of
from efforts.domain.toolbox import TOOLS
from efforts.prompts import system_text
from efforts.snapshots.layers import LEAST_HEADLINE, MOST_TURNS

from .conversations import Exchange, Said, Talk

PARAMS: Mapping[str, Any] = {"model": "any"}


@dataclass(frozen=True, kw_only=True)
class Settings:
    """`ambient`: no efforts, all turns are ambient. `given`: the summaries of the data instead of extractive ones."""

    count: Callable[[str], int]
    budget: int
    prefer_cache: bool = False
    ambient: bool = False
    given: bool = False


@dataclass(frozen=True, kw_only=True)
class Call:
    """One planned call; `planned` is None where what must be sent did not fit, and nothing was sent.

    `moved`: an effort was opened or concluded since the call before.
    """

    talk: str
    turn: int
    moved: bool
    planned: Plan | None


@dataclass(kw_only=True)
class Player:
    """Where a conversation has come to."""

    settings: Settings
    ids: Iterator[int] = field(default_factory=lambda: numbers(1))
    number: int = 0
    epoch: int = 0
    ambient: list[PastTurn] = field(default_factory=list)
    active: list[PastTurn] | None = None
    headlines: list[Headline] = field(default_factory=list)
    layout: Layout = field(default_factory=Layout)

    @property
    def slug(self) -> str:
        return f"session-{len(self.headlines) + 1}"

    def open(self) -> None:
        self.active = []
        self.epoch += 1

    def conclude(self, summary: str) -> None:
        done = self.active or []
        text = summary or headline(source_of(done), name=self.slug, count=self.settings.count)
        pointer, turns = len(self.headlines) + 1, (done[0].number, done[-1].number)
        self.headlines.append(Headline(pointer=pointer, slug=self.slug, text=text, turns=turns))
        self.active = None
        self.epoch += 1

    def say(self, said: Said) -> LogMessage:
        calls = canonical_json(wire_calls(said.calls)) if said.calls else ""
        role: Role = said.role  # type: ignore[assignment]  # those of the data are these
        return LogMessage(
            id=next(self.ids),
            role=role,
            text=said.text,
            tokens=self.settings.count(said.text) + self.settings.count(calls),
            tool_calls=said.calls,
            tool_call_id=said.answers,
        )

    def turn(self, exchange: Exchange) -> Iterator[Plan | None]:
        """The plan of every call of the turn; after one that could not be sent the turn has failed."""
        self.number += 1
        said = [self.say(one) for one in (exchange.user, *exchange.replies)]
        # In talk without an assistant each turn is one call too, whose reply nobody kept.
        calls = [place for place, message in enumerate(said) if message.role == "assistant"] or [1]
        state = RunState.COMPLETED
        for before in calls:
            planned = self.call(said[:before])
            yield planned
            if planned is None:
                state = RunState.FAILED
                break
        log = self.ambient if self.active is None else self.active
        log.append(PastTurn(number=self.number, state=state, messages=tuple(said)))

    def call(self, said: Sequence[LogMessage]) -> Plan | None:
        try:
            planned = plan(self.inputs(said))
        except RequiredTooLarge:
            return None
        self.layout = planned.layout
        return planned

    def inputs(self, said: Sequence[LogMessage]) -> PlanInputs:
        split = max(len(self.ambient) - AMBIENT_WINDOW, 0)
        most = max(self.settings.budget // LEAST_HEADLINE, 1)
        return PlanInputs(
            budget=Budget(setting=self.settings.budget),
            params=PARAMS,
            system_text=system_text(),
            tools=TOOLS,
            past=tuple(self.ambient[split:]),
            older=sum_of(self.ambient[:split]),
            current=CurrentTurn(number=self.number, user=said[0], episodes=tuple(said[1:])),
            ambient_window=AMBIENT_WINDOW,
            layout=self.layout,
            count=self.settings.count,
            efforts=(self.active_log(),) if self.active is not None else (),
            headlines=tuple(self.headlines[-most:]),
            unlisted=max(len(self.headlines) - most, 0),
            epoch=self.epoch,
            prefer_cache=self.settings.prefer_cache,
        )

    def active_log(self) -> EffortLog:
        turns = self.active or []
        tokens, shown = 0, 0
        for turn in reversed(turns[-MOST_TURNS:]):
            tokens += turn.cost
            if shown and tokens > self.settings.budget:
                break
            shown += 1
        split = len(turns) - shown
        return EffortLog(
            slug=self.slug,
            kind="active",
            turns=tuple(turns[split:]),
            older=sum_of(turns[:split]),
            opened_turn=turns[0].number if turns else self.number,
            active_turn=self.number,
        )


def sum_of(turns: Sequence[PastTurn]) -> OlderTurns:
    return OlderTurns(last=turns[-1].number, tokens=sum(turn.cost for turn in turns)) if turns else OlderTurns()


def play(talk: Talk, settings: Settings) -> Iterator[Call]:
    """Each session is one effort, concluded at its end."""
    player = Player(settings=settings)
    for session, summary in zip(talk.sessions, talk.summaries, strict=True):
        epoch = player.epoch
        if not settings.ambient:
            player.open()
        for exchange in session:
            for planned in player.turn(exchange):
                yield Call(talk=talk.id, turn=player.number, moved=player.epoch != epoch, planned=planned)
                epoch = player.epoch
        if not settings.ambient:
            player.conclude(summary if settings.given else "")
