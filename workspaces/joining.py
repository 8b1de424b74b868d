"""How a workspace joins what `efforts` plans, offers and shows: registered when the program starts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cache
from operator import itemgetter
from pathlib import Path
from typing import Any
from uuid import UUID

from django.db.models import Case, Count, Q, When

from efforts.context.embedders import Wording
from efforts.domain.effort.policy import CODE_CARDS, ContextMode
from efforts.domain.effort.states import RunState, Trigger
from efforts.domain.prompt.conversation import Code
from efforts.llm.embeddings import Embedded
from efforts.models import Branch, ContextPlan, RetrievalSet, Run, Session
from efforts.retrieval.vectors import Asked, Meant
from efforts.standins.coding import STRATEGY, CodeFound, Line, Proposed, Worded
from workspaces.actions import suggest_code_pin
from workspaces.domain.states import Stage
from workspaces.indexing import meanings
from workspaces.indexing.meanings import CodeBatch
from workspaces.models import CodeHit, CommandRun, ProposedEdit, Snapshot, Workspace
from workspaces.retrieval import search
from workspaces.retrieval.cards import KEPT, FoundCard, address_of, cards_of, code_card
from workspaces.retrieval.meanings import meaning_in
from workspaces.retrieval.pins import standing_cards
from workspaces.retrieval.recording import record, result_hash
from workspaces.retrieval.uses import cited_files
from workspaces.tools import FUNCTIONS, tools

# More than is kept: what is connected with others, or stands within them, is told apart afterwards.
LOOKED_AT = 2 * KEPT


@cache
def system_text() -> str:
    return (Path(__file__).parent / "prompts" / "code.md").read_text().strip()


class Workspaces:
    """The port of `efforts.standins.coding`."""

    def attached(self, session: Session) -> str:
        standing = session.attachments.filter(detached_at=None).values_list("workspace", flat=True).first()
        return str(standing) if standing else ""

    def tools(self) -> tuple[dict[str, Any], ...]:
        return tools()

    def functions(self) -> Mapping[str, Callable[..., dict[str, Any]]]:
        return FUNCTIONS

    def system_text(self) -> str:
        return system_text()

    def look(
        self, branch: Branch, chosen: Mapping[str, Any], text: str, wording: Worded | None = None
    ) -> CodeFound | None:
        workspace = workspace_of(branch.session, chosen)
        if workspace is None or workspace.current is None:
            return None
        snapshot, mode = workspace.current, ContextMode(chosen["context_mode"])
        if mode == ContextMode.OFF:
            return None
        asked = meaning_in(workspace, wording) if wording else Asked()
        found = search.search(snapshot, text, most=LOOKED_AT, meant=asked.meant)
        standing = list(standing_cards(branch, snapshot, mode))
        here = {card.symbol.pk for card in standing}
        pointed_at = list(cards_of(snapshot, found, mode))
        by_words = [card for card in pointed_at if card.symbol.pk not in here]
        # Before an index is complete what is missing may not be known yet.
        is_beside = bool(text.strip()) and not pointed_at and snapshot.stage == Stage.COMPLETE
        # What stands and is named as well is referred to: it has its place among what was found.
        scored = {one.symbol: one for one in found.scored}
        standing = [replace(card, scored=scored.get(card.symbol.pk, card.scored)) for card in standing]
        cards = [*standing, *by_words]
        decided = untold(branch)
        results = [one.result for one in decided]

        def keep(run: Run) -> None:
            record(
                run,
                snapshot,
                found,
                Trigger.AUTO,
                cards,
                mode=str(mode),
                results=results,
                words_alone=asked.fault,
                is_beside=is_beside,
            )
            tell_by(run, decided)

        code = code_of(workspace.name, snapshot, mode, as_hits(cards), results)
        return CodeFound(code=replace(code, is_beside=is_beside), keep=keep)

    def kept(self, run_id: UUID, chosen: Mapping[str, Any]) -> Code:
        pk = chosen.get("workspace")
        if not pk:
            return Code()
        row = RetrievalSet.objects.filter(run=run_id, trigger=Trigger.AUTO, strategy__startswith=STRATEGY).first()
        name = Workspace.objects.filter(pk=pk).values_list("name", flat=True).first() or ""
        snapshot = Snapshot.objects.filter(pk=row.params["code_snapshot"]).first() if row else None
        if row is None or snapshot is None:
            return Code(name=name)
        hits, results = row.code_hits.exclude(text=""), row.params.get("results", ())
        code = code_of(name, snapshot, ContextMode(row.params["mode"]), hits, results)
        return replace(code, is_beside=row.params.get("is_beside", False))

    def sent(self, plan: ContextPlan, shown: tuple[int, ...]) -> None:
        row = RetrievalSet.objects.filter(run=plan.run_id, trigger=Trigger.AUTO, strategy__startswith=STRATEGY).first()
        if row is None:
            return
        marked: Any = Case(When(symbol__in=shown, then=True), default=False) if shown else False
        row.code_hits.update(included=marked)
        # Of the first call: it is the one that it was made for.
        row.plan_id, row.tokens = row.plan_id or plan.pk, plan.body["sections"].get("code", 0)
        row.save(update_fields=["plan", "tokens"])

    def shown(self, runs: Sequence[UUID]) -> Mapping[UUID, tuple[int, int]]:
        rows = RetrievalSet.objects.filter(run__in=runs, trigger=Trigger.AUTO, strategy__startswith=STRATEGY)
        counted = rows.annotate(cards=Count("code_hits", filter=Q(code_hits__included=True)))
        return {run: (cards, tokens) for run, cards, tokens in counted.values_list("run", "cards", "tokens") if tokens}

    def found_again(self, row: RetrievalSet) -> str:
        snapshot = Snapshot.objects.filter(pk=row.params["code_snapshot"]).first()
        # While it was being indexed it was another with every file.
        if row.strategy != search.STRATEGY or snapshot is None or row.params["stage"] != Stage.COMPLETE:
            return ""
        most = LOOKED_AT if row.trigger == Trigger.AUTO else max(row.params["most"], 1)
        meant = Meant.of(row.params["meaning"]) if "meaning" in row.params else None
        return result_hash(search.search(snapshot, row.query, most=most, meant=meant))

    def meaning(self, run: Run, query: str) -> Asked:
        session = run.turn.session
        workspace = workspace_of(session, run.settings)
        return meaning_in(workspace, Wording(session, query)) if workspace else Asked()

    def claim_batch(self) -> CodeBatch | None:
        return meanings.claim_batch()

    def record_batch(self, batch: CodeBatch, made: Embedded) -> None:
        meanings.record_batch(batch, made)

    def record_fault(self, batch: CodeBatch, why: str) -> None:
        meanings.record_fault(batch, why)

    def proposed(self, runs: Sequence[UUID]) -> Mapping[UUID, tuple[Proposed, ...]]:
        found: dict[UUID, list[tuple[datetime, Proposed]]] = {}
        for edit in ProposedEdit.objects.filter(run__in=runs).defer("before").order_by("pk"):
            one = Proposed(title=f"Proposed edit of {edit.path}", address=edit.get_absolute_url(), outcome=edit.outcome)
            found.setdefault(edit.run_id, []).append((edit.created_at, one))
        # What a person ran stands below the turn that was the newest.
        mine = Q(run__in=runs) | Q(run=None, turn__run__in=runs)
        for command in CommandRun.objects.filter(mine).select_related("turn").defer("output").order_by("pk"):
            title, address = f"Command {command.name}: {command.line}", command.get_absolute_url()
            one = Proposed(title=title, address=address, outcome=command.outcome)
            if run := command.run_id or (command.turn and command.turn.run_id):
                found.setdefault(run, []).append((command.created_at, one))
        return {run: tuple(one for _, one in sorted(ones, key=itemgetter(0))) for run, ones in found.items()}

    def suggest_pin(self, run: Run, ref: str, why: str) -> str:
        return suggest_code_pin(run, ref, why).title

    def addresses(
        self, session: Session, named: Mapping[UUID | None, Collection[Line]]
    ) -> Mapping[UUID | None, Mapping[Line, str]]:
        attached = session.attachments.order_by("-id").select_related("workspace__current__workspace").first()
        now = attached.workspace.current if attached else None
        files = cited_files({run: {path for path, _ in lines} for run, lines in named.items()}, now)
        return {
            run: {
                (path, line): address_of(one.snapshot.workspace_id, one.snapshot.number, one.path, line)
                for path, line in lines
                if (one := files[run].get(path)) and 1 <= line <= one.lines
            }
            for run, lines in named.items()
        }


def workspace_of(session: Session, chosen: Mapping[str, Any]) -> Workspace | None:
    """Only of the conversation's owner, whatever the settings of a run say."""
    pk = chosen.get("workspace")
    if not pk:
        return None
    return Workspace.objects.owned_by(session.owner).filter(pk=pk).select_related("current").first()


def as_hits(cards: Sequence[FoundCard]) -> list[CodeHit]:
    """As they would be stored."""
    return [
        CodeHit(
            symbol=card.symbol.pk,
            qualified=card.symbol.qualified,
            path=card.symbol.file.path,
            first_line=card.symbol.first_line,
            last_line=card.symbol.last_line,
            sha256=card.symbol.file.sha256,
            score=card.scored.score,
            why=list(card.why),
            text=card.text,
            short=card.short,
        )
        for card in cards
    ]


def untold(branch: Branch) -> list[ProposedEdit | CommandRun]:
    """What a person decided and what came of commands, of which no answer has been told: the prompt of one that failed
    told nobody. Edits come first, which are a line each; then of commands of one name the newest."""
    told = Q(told_by__state=RunState.COMPLETED)
    edits = ProposedEdit.objects.filter(run__branch=branch).exclude(result="").exclude(told).order_by("pk")
    commands = CommandRun.objects.filter(branch=branch).exclude(result="").exclude(told).defer("output")
    newest: dict[str, CommandRun] = {}
    for one in commands.order_by("-pk"):
        newest.setdefault(one.name, one)
    return [*edits, *newest.values()]


def tell_by(run: Run, decided: Sequence[ProposedEdit | CommandRun]) -> None:
    """Not where something was changed once more since: that is told next time."""
    for one in decided:
        if isinstance(one, ProposedEdit):
            ProposedEdit.objects.filter(pk=one.pk, result=one.result).update(told_by=run)
        else:
            # Of those before it nobody needs to be told any more.
            before = CommandRun.objects.filter(branch=one.branch_id, name=one.name, pk__lte=one.pk)
            before.exclude(result="").update(told_by=run)


def code_of(name: str, snapshot: Snapshot, mode: ContextMode, hits: Any, results: Sequence[str]) -> Code:
    """Results stand above the map, whose first lines are sent first."""
    number, workspace = snapshot.number, snapshot.workspace_id
    cards = tuple(code_card(hit, address_of(workspace, number, hit.path, hit.first_line)) for hit in hits)
    return Code(name=name, map="\n".join([*results, snapshot.scaffold]).strip("\n"), cards=cards, most=CODE_CARDS[mode])
