"""What was shown of attached code, turn by turn, and what came of it: the record behind the page that says whether
showing it helped. Derived from what is stored; it changes nothing."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property

from django.db.models import F, Prefetch, Q, QuerySet

from efforts.domain.effort.policy import ContextMode
from efforts.domain.effort.states import Trigger
from efforts.domain.prompt.plan import Item
from efforts.domain.text.canonical import canonical_json
from efforts.domain.text.redaction import redact_all
from efforts.models import Message, Run, Session
from efforts.standins.coding import STRATEGY
from workspaces.domain.outcomes import Place, Use, overlap, uses_of
from workspaces.domain.states import CommandEnd, CommandState
from workspaces.models import CodeHit, CommandRun, ProposedEdit
from workspaces.retrieval.uses import cited_files, cited_in, done_in

VERSION = 1
CHUNK = 50


@dataclass(frozen=True, kw_only=True)
class ShownCard:
    """`reason`: why it is in the prompt."""

    symbol: str
    place: str
    reason: str
    used: tuple[Use, ...]


@dataclass(frozen=True, kw_only=True)
class LeftOut:
    """`remedy`: what would bring it in."""

    symbol: str
    place: str
    reason: str
    remedy: str


@dataclass(frozen=True, kw_only=True)
class EditMade:
    edit: int
    path: str
    state: str
    accepted: int
    of: int


@dataclass(frozen=True, kw_only=True)
class CommandMade:
    command: int
    name: str
    line: str
    state: str
    end: str
    exit_code: int | None

    @property
    def how(self) -> str:
        """It ended, where not by itself."""
        return CommandEnd(self.end).meaning


@dataclass(frozen=True, kw_only=True)
class TurnOutcome:
    """`missed`: places that the answer cites and no card showed. Tokens: of the code, and of all calls of the turn as
    they were counted and as the provider reported them (None where it did not)."""

    turn: int
    branch: str
    run: str
    plan: str | None
    mode: str
    asked: str
    state: str
    shown: tuple[ShownCard, ...]
    left_out: tuple[LeftOut, ...]
    missed: tuple[str, ...]
    tools: dict[str, int]
    edits: tuple[EditMade, ...]
    commands: tuple[CommandMade, ...]
    code_tokens: int
    estimated_tokens: int
    reported_tokens: int | None
    reply_tokens: int | None
    verdict: str | None

    @cached_property
    def used(self) -> tuple[ShownCard, ...]:
        return tuple(card for card in self.shown if card.used)


@dataclass(frozen=True, kw_only=True)
class ModeSum:
    """Of the turns with one context mode."""

    mode: str
    turns: int
    shown: int
    used: int
    tokens: int

    @property
    def percent(self) -> int | None:
        return round(100 * self.used / self.shown) if self.shown else None

    @property
    def per_thousand(self) -> float | None:
        """Cards that were used, for each 1,000 tokens of code."""
        return round(1000 * self.used / self.tokens, 2) if self.tokens else None


def sums(turns: Sequence[TurnOutcome]) -> Sequence[ModeSum]:
    by_mode: dict[str, list[TurnOutcome]] = defaultdict(list)
    for one in turns:
        by_mode[one.mode].append(one)
    return [
        ModeSum(
            mode=mode.label,
            turns=len(mine),
            shown=sum(len(one.shown) for one in mine),
            used=sum(len(one.used) for one in mine),
            tokens=sum(one.code_tokens for one in mine),
        )
        for mode in ContextMode
        if (mine := by_mode.get(str(mode), []))
    ]


def runs_with_code(session: Session) -> QuerySet[Run]:
    """The attempts that count, of turns that had code attached, newest first."""
    had = Q(retrieval_sets__strategy__startswith=STRATEGY) | Q(edits__isnull=False) | Q(turn__commands__isnull=False)
    off = Q(settings__workspace__isnull=False) & ~Q(settings__workspace="")
    mine = Run.objects.filter(had | off, turn__session=session, turn__run=F("pk")).values("pk")
    edits = ProposedEdit.objects.defer("before").order_by("pk")
    commands = CommandRun.objects.defer("output", "result").order_by("pk")
    rows = Run.objects.filter(pk__in=mine).select_related("turn", "verdict")
    rows = rows.prefetch_related("plans", "tool_traces", Prefetch("edits", edits), Prefetch("turn__commands", commands))
    return rows.order_by("-turn__created_at", "-pk")


def outcomes(runs: Iterable[Run]) -> Iterator[TurnOutcome]:
    for run in runs:
        yield outcome_of(run)


def outcome_of(run: Run) -> TurnOutcome:
    plans = sorted(run.plans.all(), key=lambda plan: plan.call)
    said = list(run.turn.messages.filter(Q(role=Message.Role.USER) | Q(run=run)).order_by("id"))
    looked = run.retrieval_sets.filter(strategy__startswith=STRATEGY, trigger=Trigger.AUTO).first()
    first = next((plan for plan in plans if looked and plan.pk == looked.plan_id), plans[0] if plans else None)
    cited = {path for path, *_ in cited_in(said)}
    done = done_in(said, run.edits.all(), cited_files({run.pk: cited})[run.pk] if cited else {})
    hits = {hit.symbol: hit for hit in looked.code_hits.defer("text", "short")} if looked else {}
    items = [Item.from_json(item) for item in (first.body["items"] if first else []) if item["section"] == "code"]
    cards = [(item, hit) for item in items if (hit := hits.get(item.values.get("symbol", -1)))]
    places = [place_of(hit) for item, hit in cards if item.included]
    reported = [plan.prompt_tokens for plan in plans if plan.prompt_tokens is not None]
    replied = [plan.completion_tokens for plan in plans if plan.completion_tokens is not None]
    verdict = getattr(run, "verdict", None)
    return TurnOutcome(
        turn=run.turn.number,
        branch=str(run.branch_id),
        run=str(run.pk),
        plan=str(first.pk) if first else None,
        mode=run.settings.get("context_mode", ""),
        asked=next((row.text for row in said if row.role == Message.Role.USER), ""),
        state=run.state,
        shown=tuple(
            ShownCard(
                symbol=item.title,
                place=str(item.values["place"]),
                reason=item.sentence,
                used=uses_of(hit.qualified.rpartition(".")[2], place_of(hit), done),
            )
            for item, hit in cards
            if item.included
        ),
        left_out=tuple(
            LeftOut(symbol=item.title, place=str(item.values["place"]), reason=item.sentence, remedy=item.remedy)
            for item, _ in cards
            if not item.included
        ),
        missed=tuple(
            dict.fromkeys(
                f"{one[0]}:{one[1]}" for one in done.cited if not any(overlap(one, place) for place in places)
            )
        ),
        tools=dict(Counter(trace.name for trace in run.tool_traces.all())),
        edits=tuple(
            EditMade(edit=row.pk, path=row.path, state=row.state, accepted=len(row.accepted), of=len(row.hunks))
            for row in run.edits.all()
        ),
        commands=tuple(
            CommandMade(
                command=row.pk, name=row.name, line=row.line, state=row.state, end=row.end, exit_code=row.exit_code
            )
            for row in run.turn.commands.all()
            if row.run_id in (None, run.pk)
        ),
        code_tokens=first.body["sections"].get("code", 0) if first else 0,
        estimated_tokens=sum(plan.tokens for plan in plans),
        reported_tokens=sum(reported) if reported else None,
        reply_tokens=sum(replied) if replied else None,
        verdict=verdict.value if verdict else None,
    )


def place_of(hit: CodeHit) -> Place:
    return hit.path, hit.first_line, hit.last_line


def lines_of(session: Session) -> Iterator[list[str]]:
    """Oldest first, some turns at a time: one line of JSON for each turn, secrets masked."""
    ids = list(runs_with_code(session).values_list("pk", flat=True))[::-1]
    for start in range(0, len(ids), CHUNK):
        rows = runs_with_code(session).filter(pk__in=ids[start : start + CHUNK]).reverse()
        yield [line_of(one) for one in outcomes(rows)]


def line_of(one: TurnOutcome) -> str:
    redacted = redact_all(json.loads(canonical_json({"v": VERSION, **asdict(one)})))
    return canonical_json({**redacted.value, "masked": redacted.masked})


def passed(turns: Sequence[TurnOutcome]) -> tuple[int, int]:
    """Of commands that ended by themselves: how many with exit status 0, and of how many."""
    codes = [
        row.exit_code for one in turns for row in one.commands if row.state == CommandState.ENDED and row.end == "exit"
    ]
    return sum(code == 0 for code in codes), len(codes)


def parts(turns: Sequence[TurnOutcome]) -> tuple[int, int]:
    """Of the hunks of edits that a person decided: how many were accepted, and of how many."""
    decided = [row for one in turns for row in one.edits if row.state != "open"]
    return sum(row.accepted for row in decided), sum(row.of for row in decided)
