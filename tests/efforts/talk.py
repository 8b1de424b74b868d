"""A conversation played without a runner: a person speaks and uses controls, a model calls tools and answers."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

from efforts import actions
from efforts.actions import Place
from efforts.actions.pointers import StandIn, set_pointer
from efforts.context.planning import main_branch
from efforts.context.sources import read_effort_log
from efforts.domain.effort.states import SummaryState, Via
from efforts.domain.prompt.conversation import ToolCall
from efforts.models import Branch, ContextPointer, EffortState, Event, Run, Session, Turn, TurnLabel
from efforts.tools import ToolContext, run_tool
from efforts.turns import recording
from efforts.turns.recording import COMPLETED, CallReply, Ending, Lease

Call = tuple[str, dict[str, Any]]


class Talk:
    def __init__(self, session: Session, branch: Branch | None = None) -> None:
        self.session = session
        self.branch_id = (branch or main_branch(session)).pk

    @property
    def branch(self) -> Branch:
        return Branch.objects.select_related("active_effort", "session").get(pk=self.branch_id)

    @property
    def active(self) -> str | None:
        return Branch.objects.values_list("active_effort__slug", flat=True).get(pk=self.branch_id)

    @property
    def focus(self) -> str | None:
        return Branch.objects.values_list("focus__slug", flat=True).get(pk=self.branch_id)

    @property
    def place(self) -> Place:
        """The person's."""
        return actions.here(self.session, actor=self.session.owner, branch=self.branch)

    # A turn, in one or in steps

    def ask(self, text: str, *calls: Call, reply: str = "All right.", ending: Ending = COMPLETED) -> list[Any]:
        """One turn; the results of the model's tool calls."""
        lease = self.begin(text)
        results = [self.call(lease, name, **arguments) for name, arguments in calls]
        self.finish(lease, reply, ending)
        return results

    def begin(self, text: str) -> Lease:
        self.say(text)
        return self.claim()

    def say(self, text: str) -> Turn:
        client_id = f"m{self.branch_id.hex[:8]}-{self.branch.head + 1}"
        return actions.send_message(
            self.session, text=text, client_id=client_id, actor=self.session.owner, branch=self.branch
        )

    def claim(self) -> Lease:
        run = Run.objects.filter(branch=self.branch_id, state="queued").order_by("turn__number").first()
        assert run is not None
        lease = recording.claim(run, "tests:1:x")
        assert lease is not None
        return lease

    def call(self, lease: Lease, name: str, /, **arguments: Any) -> Any:
        """The result, as the model reads it."""
        run = Run.objects.select_related("turn__session", "branch").get(pk=lease.run_id)
        number = run.messages.count() + 1
        tool_call = ToolCall(id=f"c{lease.run_id.hex[:16]}-{number}", name=name, arguments=json.dumps(arguments))
        recording.record_reply(lease, CallReply(call=number, text="", tool_calls=(tool_call,)))
        tool = partial(run_tool, tool_call, ToolContext(run=run))
        return json.loads(recording.run_and_record(lease, number, tool_call, tool))

    def finish(self, lease: Lease, reply: str = "All right.", ending: Ending = COMPLETED) -> None:
        recording.record_reply(lease, CallReply(call=99, text=reply), ending)

    # What has come of it

    def state(self, slug: str) -> EffortState:
        return EffortState.objects.select_related("effort").get(branch=self.branch_id, effort__slug=slug)

    def states(self) -> dict[str, str]:
        rows = EffortState.objects.filter(branch=self.branch_id).order_by("pk")
        return dict(rows.values_list("effort__slug", "status"))

    def labels(self) -> dict[int, str]:
        rows = TurnLabel.objects.filter(branch=self.branch_id).order_by("turn__number")
        return dict(rows.values_list("turn__number", "effort__slug"))

    def events(self, *kinds: str) -> list[dict[str, Any]]:
        rows = Event.objects.filter(session=self.session).order_by("seq")
        wanted = rows.filter(kind__in=kinds) if kinds else rows.filter(kind__startswith="effort.")
        return [{"kind": row.kind, "seq": row.seq, **row.data} for row in wanted]

    def notices(self) -> list[str]:
        return [event["notice"] for event in self.events() if "notice" in event]

    def summarise(self, slug: str, text: str = "In short.") -> ContextPointer:
        """As the runner's job does it, without a model."""
        state = self.state(slug)
        log = read_effort_log(self.branch, state.effort)
        pointer = set_pointer(
            self.branch,
            state.effort,
            log,
            StandIn(text=text, headline=text, tokens=2),
            actor=self.session.owner,
            via=Via.CONTROL,
        )
        EffortState.objects.filter(pk=state.pk).update(summary=SummaryState.STANDS)
        return pointer

    def concluded(self, name: str, *said: str) -> str:
        """A concluded effort of these messages, with its summary; its id."""
        slug = actions.open_effort(self.place, name).effort.slug
        for text in said or (f"Something about {name}.",):
            self.ask(text)
        actions.close_effort(self.place, slug)
        self.summarise(slug)
        return slug


def as_model(talk: Talk, lease: Lease) -> Place:
    run = Run.objects.select_related("turn").get(pk=lease.run_id)
    return Place(branch=talk.branch, turn=run.turn.number, via=Via.MODEL, run=run)
