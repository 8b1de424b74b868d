"""What was recorded, in the places of a model and of its tools."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any

from efforts.domain.prompt.conversation import ToolCall
from efforts.domain.prompt.plan import Plan
from efforts.llm import protocol
from efforts.llm.builtin.engine import acts_of
from efforts.llm.builtin.prompt import read
from efforts.llm.protocol import StreamEnd, TextDelta
from efforts.tools import ToolContext, run_tool
from efforts.turns.orchestrator import RunMeans
from efforts.turns.recording import COMPLETED

from .conversations import Exchange


@dataclass(frozen=True, kw_only=True)
class Step:
    """One reply, and what its calls gave."""

    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    results: tuple[str, ...] = ()


def steps_of(exchange: Exchange) -> Iterator[Step]:
    """A reply that is followed by another and has called nothing is one with it: it did not end the turn."""
    held = Step()
    for place, said in enumerate(exchange.replies, 1):
        if said.role == "tool":
            continue
        if held.calls:
            yield held
            held = Step()
        text = "\n".join(filter(None, (held.text, said.text)))
        given = {one.answers: one.text for one in takewhile(lambda one: one.role == "tool", exchange.replies[place:])}
        held = Step(text=text, calls=said.calls, results=tuple(given[call.id] for call in said.calls))
    yield held


@dataclass(kw_only=True)
class Take:
    """One turn. With `cues` the built-in engine does with efforts what the message asks for, before the first reply;
    only its own calls run a tool."""

    exchange: Exchange
    cues: bool = False
    plans: list[Plan] = field(default_factory=list)
    steps: deque[Step] = field(init=False)
    # Of the calls of the last reply, in their order; None: the tool is run.
    results: tuple[str | None, ...] = ()

    def __post_init__(self) -> None:
        self.steps = deque(steps_of(self.exchange))

    @property
    def means(self) -> RunMeans:
        # Where nobody is the assistant nothing is said, and the turn is none the worse.
        most = len(self.steps) + 2
        return RunMeans(
            connect=lambda choice: self,
            planned=self.plans.append,
            run_tool=self.run_tool,
            most_calls=most,
            silence=COMPLETED,
        )

    async def stream(self, request: Mapping[str, Any]) -> AsyncIterator[TextDelta | StreamEnd]:
        acts = acts_of(read(request)) if self.cues and len(self.plans) == 1 else ()
        if acts:
            self.results = (None,) * len(acts)
            yield finished(*(ToolCall(id="", name=name, arguments=json.dumps(given)) for name, given in acts))
            return
        step = self.steps.popleft() if self.steps else Step()
        self.results = step.results
        if step.text:
            yield TextDelta(step.text)
        yield finished(*step.calls)

    def run_tool(self, call: ToolCall, context: ToolContext) -> str:
        # The id ends in the number of the call: not every one is run.
        recorded = self.results[int(call.id.rpartition("-")[2]) - 1]
        return run_tool(call, context) if recorded is None else recorded


def finished(*calls: ToolCall) -> StreamEnd:
    given = tuple(protocol.RawToolCall(id=call.id, name=call.name, arguments=call.arguments) for call in calls)
    return StreamEnd(tool_calls=given, finish_reason="tool_calls" if given else "stop", usage=None)
