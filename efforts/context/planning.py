"""What the planner needs to know of a branch, read in O(window)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db.models import QuerySet
from django.utils import timezone

from efforts.context.connections import choose
from efforts.context.constraints import constraints_in_force
from efforts.context.contents import BranchContents
from efforts.context.holds import read_holds, read_standing
from efforts.context.instructions import instructions_for
from efforts.context.layers import left_out_runs, read_ambient, read_efforts, read_excluded
from efforts.context.ledger import ledger_notes
from efforts.context.line import read_line
from efforts.context.mentions import find_mentions
from efforts.context.moments import one_moment
from efforts.context.prompts import system_text
from efforts.context.recollections import recalled_for, recollect
from efforts.context.references import find_references
from efforts.domain.effort.policy import CODE_SHARES, RECALL_MOST, RECALL_SHARES, ContextMode
from efforts.domain.effort.states import RunState
from efforts.domain.prompt.budget import REPLY_RESERVE, Budget
from efforts.domain.prompt.conversation import OF_PERSON, CurrentTurn, LineOfEfforts, LogMessage
from efforts.domain.prompt.plan import Layout, PlanInputs
from efforts.domain.prompt.planner import plan
from efforts.domain.prompt.toolbox import TOOLS
from efforts.llm.tokens import get_counter
from efforts.log.timelines import branch_plans, said_in
from efforts.models import Branch, ContextPlan, MessageFile, Run, Session
from efforts.models.prepared import prepared
from efforts.standins import coding


def main_branch(session: Session) -> Branch:
    [branch] = main_branches(session.pk)
    branch.session = session
    return branch


@prepared
def main_branches(session: UUID) -> QuerySet[Branch]:
    return Branch.objects.filter(session=session, parent=None)


def run_inputs(run: Run, *, offer_tools: bool = True, expanded: Collection[str] | None = None) -> PlanInputs:
    """Of the next call of a run, with all that was recalled for it."""
    inputs = plan_inputs(
        run.branch, run.settings, current=current_turn(run), offer_tools=offer_tools, expanded=expanded
    )
    return with_found(inputs, run)


def with_found(inputs: PlanInputs, run: Run) -> PlanInputs:
    """With what was recalled for the run, and found in attached code."""
    return replace(inputs, recalled=recalled_for(run.pk), code=coding.registered().kept(run.pk, run.settings))


def next_inputs(branch: Branch, chosen: dict[str, Any], text: str, expanded: Collection[str] | None) -> PlanInputs:
    """Of the next message, with what would be recalled for it. Raises what `plan` raises, where there is a text."""
    meant = {one.effort.slug for one in find_references(branch, text)}
    meant |= {one.chosen.id for one in find_mentions(branch, text)}
    inputs = plan_inputs(branch, chosen, current=draft_turn(branch, text), expanded=expanded, referenced=meant)
    if code := coding.registered().look(branch, chosen, text):
        inputs = replace(inputs, code=code.code)
    if not text.strip():
        return inputs
    found = recollect(branch, plan(inputs), mode_of(chosen), today=timezone.now().date())
    return replace(inputs, recalled=found.passages) if found else inputs


def current_turn(run: Run) -> CurrentTurn:
    # Of this run: what an earlier attempt at the turn said must not be in the prompt of the next.
    user, *rest = said_in(run)
    files = tuple(one for one in rest if one.role == "file")
    episodes = [one for one in rest if one.role != "file"]
    cut_off = run.is_continued and bool(episodes) and episodes[-1].role == "assistant"
    return CurrentTurn(
        number=run.turn.number,
        user=user,
        episodes=tuple(episodes),
        cut_off=cut_off,
        # Not the clock's, so that each plan can be made again.
        began_on=run.turn.created_at.date().isoformat(),
        files=files,
    )


def draft_turn(branch: Branch, text: str) -> CurrentTurn:
    """A message that is not sent yet, with the files in the composer."""
    waiting = MessageFile.objects.filter(session=branch.session_id, message=None).order_by("created_at", "pk")
    # No stored message has these ids, and no plan of it is stored.
    message = LogMessage(id=0, role="user", text=text, tokens=get_counter(settings.CCM_ENCODING).count(text))
    files = tuple(
        LogMessage(id=-place, role="file", text=row.text, tokens=row.tokens, picture=row.picture)
        for place, row in enumerate(waiting, 1)
    )
    return CurrentTurn(number=branch.head + 1, user=message, files=files, began_on=timezone.now().date().isoformat())


@one_moment()
def plan_inputs(
    branch: Branch,
    chosen: dict[str, Any],
    *,
    current: CurrentTurn,
    offer_tools: bool = True,
    expanded: Collection[str] | None = None,
    referenced: Collection[str] = (),
) -> PlanInputs:
    """`chosen` is a run's settings: model, budget, window, reply (tokens that are kept for it), reply_limit (the
    request's name for them; empty where none is sent), temperature, ambient_window, prefer_cache, context_mode,
    cut_current.

    `expanded`: efforts to take for expanded instead of those that are; `referenced`: those that the message refers to,
    where that is not stored.
    """
    budget = budget_of(chosen)
    contents = BranchContents.of(branch)
    pinned = read_standing(branch) if contents.has_holds else []
    excluded = read_excluded(branch, before=current.number) if contents.has_left_out else []
    past, older = read_ambient(
        branch, before=current.number, window=chosen["ambient_window"], contents=contents, excluded=excluded
    )
    layers = read_efforts(
        branch,
        before=current.number,
        room=budget.effective,
        contents=contents,
        held={row.effort_id for row in pinned if row.effort_id},
        expanded=expanded,
        referenced=referenced,
    )
    params = {
        "model": chosen["model"],
        "stream": True,
        # Unasked, providers report no usage for a stream.
        "stream_options": {"include_usage": True},
        # Only where somebody set it: a limit of ours would cut what the model may say, and some refuse a temperature.
        **({chosen["reply_limit"]: chosen["reply"]} if chosen["reply_limit"] else {}),
        **({} if chosen.get("temperature") is None else {"temperature": chosen["temperature"]}),
    }
    inputs = PlanInputs(
        budget=budget,
        params=params,
        system_text="\n\n".join([system_text(), *([coding.registered().system_text()] if has_code(chosen) else [])]),
        tools=tools_for(chosen) if offer_tools else (),
        past=past,
        older=older,
        current=current,
        ambient_window=chosen["ambient_window"],
        layout=Layout(),
        count=get_counter(settings.CCM_ENCODING).count,
        cut_current=chosen.get("cut_current", False),
        efforts=layers.efforts,
        headlines=layers.headlines,
        unlisted=layers.unlisted,
        evicted=layers.evicted,
        epoch=branch.effort_epoch,
        constraints=constraints_in_force(branch.session_id) if contents.has_rules else (),
        # A run from before there was this setting did without.
        prefer_cache=chosen.get("prefer_cache", False),
        holds=read_holds(branch, pinned, before=current.number),
        recall_share=RECALL_SHARES[mode_of(chosen)],
        recall_most=RECALL_MOST[mode_of(chosen)],
        code_share=CODE_SHARES[mode_of(chosen)] if has_code(chosen) else 0.0,
        as_of=branch.session.event_seq,
        ledger=ledger_notes(branch) if contents.has_entries else (),
        instructions=instructions_for(branch.session) if contents.has_instructions else (),
        # A run from before there were pictures had none.
        sees_pictures=chosen.get("pictures", False),
        left_out=left_out_runs(excluded),
        clock=branch.clock,
    )
    if inputs.recall_share:
        inputs = replace(inputs, line=line_for(branch, current))
    return replace(inputs, layout=read_layout(branch, inputs.layout_key))


def line_for(branch: Branch, current: CurrentTurn) -> LineOfEfforts:
    today = date.fromisoformat(current.began_on)
    return read_line(branch, current.user.text, before=current.number, today=today)


def has_code(chosen: Mapping[str, Any]) -> bool:
    # A run from before folders could be attached had none.
    return bool(chosen.get("workspace"))


def tools_for(chosen: Mapping[str, Any]) -> tuple[dict[str, Any], ...]:
    """What a model is offered: with code attached, also what finds and reads it."""
    return (*TOOLS, *(coding.registered().tools() if has_code(chosen) else ()))


def mode_of(chosen: Mapping[str, Any]) -> ContextMode:
    # A run from before there was this setting recalled nothing.
    return ContextMode(chosen.get("context_mode", ContextMode.OFF))


def budget_of(chosen: Mapping[str, Any]) -> Budget:
    return Budget(setting=chosen["budget"], window=chosen["window"], reply=chosen["reply"])


def read_layout(branch: Branch, key: str) -> Layout:
    """Of the newest call with the same key; else of the newest call.

    A fork begins with what its parent left at that turn.
    """
    # A call from before an expansion has the key of one after it: what was expanded leaves no trace.
    for stored in newest_layout_of(branch, key) or newest_layout(branch):
        return Layout.from_json(stored)
    return Layout()


@prepared
def newest_layout_of(branch: Branch, key: str) -> QuerySet[ContextPlan, Any]:
    return layout_in(branch_plans(branch).filter(layout_key=key))


@prepared
def newest_layout(branch: Branch) -> QuerySet[ContextPlan, Any]:
    return layout_in(branch_plans(branch))


def layout_in(plans: QuerySet[ContextPlan]) -> QuerySet[ContextPlan, Any]:
    """Of the newest. Only this key of one body is fetched; the rest is large."""
    newest = plans.order_by("-created_at").values("pk")[:1]
    return ContextPlan.objects.filter(pk__in=newest).values_list("body__layout", flat=True)


def counted_tokens(run: Run) -> int:
    """What its turn adds to later prompts when this attempt is the one that counts."""
    return tokens_that_count(said_in(run), run)


def tokens_that_count(said: Sequence[LogMessage], run: Run) -> int:
    """The same of what was `said_in` the run."""
    stands = run.state in (RunState.COMPLETED, RunState.STOPPED)
    return sum(one.cost for one in said if stands or one.role in OF_PERSON)


def chosen_settings(session: Session) -> dict[str, Any]:
    """What a run is made with, as of now; kept with the run. Raises `KeyUnreadable`."""
    choice = choose(session)
    limit = session.reply_limit or choice.most_reply
    return {
        "kind": choice.kind,
        "endpoint": session.endpoint_id,
        "label": choice.label,
        "model": choice.model,
        "budget": session.budget,
        "window": choice.context_window,
        "reply": limit or REPLY_RESERVE,
        "reply_limit": choice.reply_limit if limit else "",
        "temperature": session.temperature,
        "pictures": choice.sees_pictures,
        "ambient_window": session.ambient_window,
        "prefer_cache": session.prefer_cache,
        "context_mode": str(session.context_mode),
        "workspace": coding.registered().attached(session),
        # What it costs is told by the price of then, whatever it is later.
        **({"price": choice.price.stored()} if choice.price else {}),
    }
