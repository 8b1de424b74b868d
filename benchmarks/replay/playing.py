"""A conversation played turn by turn as any conversation is: rows, runs, plans, tools, settling, summaries.

Nothing of the clock or of chance reaches a prompt: days are those of the data, and the ids of runs, of which those of
tool calls are made, are made of the conversation's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import NAMESPACE_OID, uuid5

from django.contrib.auth.models import User
from django.db import transaction

from benchmarks.quiet import unheard
from efforts import actions
from efforts.actions.names import LONGEST_NAME
from efforts.context.planning import main_branch
from efforts.domain.effort.policy import ContextMode
from efforts.domain.effort.states import RunState, SummaryState, Via
from efforts.domain.prompt.assembly import system_tokens
from efforts.domain.prompt.plan import Plan
from efforts.llm.builtin.transport import BUILTIN_MODEL
from efforts.log import labels
from efforts.models import Branch, EffortState, Event, Message, Run, Session, Turn
from efforts.models.threads import run_here
from efforts.standins.compacting import Summary
from efforts.turns import recording
from efforts.turns.orchestrator import RunControl, Unwatched, run_turn
from efforts.turns.summaries import SUMMARIES, summarise_now

from .conversations import Exchange, Talk, moment
from .recorded import Take

OWNER = "replay"
# Where the data names no days.
FIRST_DAY = datetime(2000, 1, 1, 12, tzinfo=UTC)


@dataclass(frozen=True, kw_only=True)
class Settings:
    """`efforts`: "sessions" of the data, each an effort; by "cues"; or "none". `given`: the summaries of the data
    instead of excerpts."""

    budget: int
    efforts: str = "sessions"
    prefer_cache: bool = False
    mode: ContextMode = ContextMode.LIGHT
    given: bool = False


@dataclass(frozen=True, kw_only=True)
class Call:
    """One planned call. `naive`: what everything said so far would take; `effort_logs`: the same with the ambient turns
    that the prompt shows, and all efforts' logs, as the seeds count it."""

    planned: Plan
    naive: int
    effort_logs: int


@dataclass(frozen=True, kw_only=True)
class Played:
    """`code`: why the turn failed, where it did; what could not be sent is none of `calls`."""

    number: int
    session: int
    effort: str | None
    state: RunState
    code: str
    calls: tuple[Call, ...]

    @property
    def refused(self) -> bool:
        return self.code == "over_budget"


@dataclass(kw_only=True)
class Player:
    """Where a conversation has come to. `key` tells it from all others, and is the same in the next replay; `said` are
    the tokens of all turns so far."""

    talk: Talk
    settings: Settings
    key: str
    session: Session
    branch: Branch
    said: int = 0
    number: int = 0

    def play(self) -> Iterator[Played]:
        for place, exchanges in enumerate(self.talk.sessions):
            effort = self.open(place) if self.settings.efforts == "sessions" else None
            for exchange in exchanges:
                yield self.turn(exchange, place)
            if effort:
                self.conclude(effort, self.talk.summaries[place] if self.settings.given else "")

    def open(self, place: int) -> str:
        return actions.open_effort(self.here(), f"session {place + 1}").effort.slug

    def conclude(self, effort: str, summary: str) -> None:
        state = actions.close_effort(self.here(), effort)
        if summary:
            # With a summary that somebody else wrote.
            job = SUMMARIES.claim(state, OWNER)
            if job and (work := SUMMARIES.read_work(job)):
                SUMMARIES.settle(job, work, Summary(brief=summary, drafter="recorded"))
        self.summarise()

    def here(self, via: Via = Via.CONTROL) -> actions.Place:
        return actions.here(self.session, actor=self.session.owner, via=via)

    def summarise(self) -> None:
        for state in EffortState.objects.filter(branch=self.branch, summary=SummaryState.DUE).order_by("pk"):
            summarise_now(state)

    def turn(self, exchange: Exchange, place: int) -> Played:
        self.number += 1
        when = moment(self.talk.dates[place], unknown=FIRST_DAY + timedelta(days=place))
        turn, run = self.send(exchange.user.text, when)
        take = Take(exchange=exchange, cues=self.settings.efforts == "cues")
        lease = recording.claim(run, OWNER)
        assert lease
        run_here(run_turn(RunControl(lease=lease), Unwatched(), take.means))
        Message.objects.filter(turn=turn).update(created_at=when)
        played = self.played(turn, take, place)
        if self.settings.efforts == "cues":
            self.take_offer()
            self.summarise()
        return played

    def send(self, text: str, when: datetime) -> tuple[Turn, Run]:
        with transaction.atomic():
            turn = actions.send_message(
                self.session, text=text, client_id=f"turn-{self.number}", actor=self.session.owner
            )
            key = uuid5(NAMESPACE_OID, f"{self.key}/{self.number}")
            turn.runs.update(id=key)
            Turn.objects.filter(pk=turn.pk).update(run=key, created_at=when)
        run = Run.objects.select_related("turn__session__endpoint", "branch").get(pk=key)
        return run.turn, run

    def played(self, turn: Turn, take: Take, place: int) -> Played:
        turn.refresh_from_db(fields=["tokens"])
        run = Run.objects.get(turn=turn)
        calls = tuple(self.call(planned) for planned in take.plans)
        self.said += turn.tokens
        effort = labels.fields(labels.label_of(self.branch, turn))["effort"]
        return Played(
            number=self.number,
            session=self.talk.numbers[place],
            effort=effort,
            state=RunState(run.state),
            code=run.error_code,
            calls=calls,
        )

    def call(self, planned: Plan) -> Call:
        inputs = planned.inputs
        turn = sum(message.cost for message in (inputs.current.user, *inputs.current.episodes))
        always = system_tokens(inputs) + turn
        ambient = inputs.older.tokens + sum(past.cost for past in inputs.past)
        logs = self.said - ambient + planned.sections.get("ambient", 0)
        return Call(planned=planned, naive=always + self.said, effort_logs=always + logs)

    def take_offer(self) -> None:
        """“Conclude …?”, and the person says yes."""
        here = {"data__turn": self.number, "data__branch": str(self.branch.pk), "data__why": "resolved"}
        offers = Event.objects.filter(session=self.session, kind="effort.offered", **here)
        for data in offers.values_list("data", flat=True):
            actions.close_effort(self.here(Via.OFFER), data["effort"])

    def told(self) -> dict[str, int]:
        """How often what happened to efforts."""
        kinds = Event.objects.filter(session=self.session, kind__startswith="effort.").values_list("kind", flat=True)
        return dict(sorted(Counter(kinds).items()))


@contextmanager
def on_stage(talk: Talk, settings: Settings) -> Iterator[Player]:
    """Ready to be played. What was said stays in the database: it should be one for this alone."""
    owner, _ = User.objects.get_or_create(username=OWNER)
    session = actions.create_session(owner, title=talk.id[:LONGEST_NAME])
    session.model, session.budget = BUILTIN_MODEL, settings.budget
    session.prefer_cache, session.context_mode = settings.prefer_cache, settings.mode
    session.save(update_fields=["model", "budget", "prefer_cache", "context_mode"])
    with unheard():
        key = f"{talk.id}/{Session.objects.filter(owner=owner).count()}"
        yield Player(talk=talk, settings=settings, key=key, session=session, branch=main_branch(session))
