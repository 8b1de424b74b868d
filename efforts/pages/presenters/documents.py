"""A conversation, or the handover of an effort, as a document for people: Markdown, in pieces, secrets masked.

A piece is one block of the document, so that a long conversation is written while it is read. As HTML each piece is
rendered by itself, as replies are; as lines of JSON a conversation is `conversation_lines` (docs/export.md).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby
from typing import Any

from django.utils import timezone

from efforts.context.constraints import constraints_view
from efforts.context.efforts import EffortView, effort_views, left_off
from efforts.context.ledger import LedgerView, entries_here, entries_view, views_of
from efforts.context.naming import titled, until_named
from efforts.domain.effort.holds import turns_said
from efforts.domain.effort.notices import span_said
from efforts.domain.effort.states import EffortStatus, EntryKind, EntryState, PointerState, RunState
from efforts.domain.prompt.plan import Item
from efforts.domain.text.files import size_words
from efforts.domain.text.redaction import redact
from efforts.log.timelines import branch_turns
from efforts.models import Branch, ContextPlan, ContextPointer, Turn, TurnLabel
from efforts.models.said import said
from efforts.pages.presenters.chat import TurnView, turn_views
from efforts.pages.presenters.export import redacted_line, time_of
from efforts.standins.compacting import ToldSummary, registered

# Raised when the shape of a line of JSON changes.
VERSION = 1
# Turns in memory at a time.
CHUNK = 50
FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
# What a person may want beside what was said.
EXTRAS = ("plans", "ledger", "summaries")
ENDED = {
    RunState.FAILED: "The reply failed.",
    RunState.INTERRUPTED: "The reply was interrupted.",
    RunState.STOPPED: "The reply was stopped here.",
}
NO_SUMMARY = "No summary has replaced its log."


@dataclass(frozen=True, kw_only=True)
class Spoken:
    """A turn with the name of its effort, empty where it has none, and with the plans of its calls where asked for;
    `names`: of all efforts, by their ids."""

    view: TurnView
    effort: str
    plans: tuple[ContextPlan, ...] = ()
    names: Mapping[str, str] = field(default_factory=dict)


def spoken(
    branch: Branch, *, within: Iterable[int] | None = None, plans: bool = False, after: int = 0
) -> Iterator[list[Spoken]]:
    """The turns of the timeline after number `after`, oldest first, in chunks; `within`: only those of these ids."""
    rows = branch_turns(branch).exclude(run=None).exclude(run__state=RunState.CANCELLED).select_related("run")
    rows = rows.order_by("number") if within is None else rows.filter(pk__in=list(within)).order_by("number")
    names = dict(branch.effort_states.values_list("effort__slug", "effort__name"))
    while turns := list(rows.filter(number__gt=after)[:CHUNK]):
        after = turns[-1].number
        made = plans_of(turns) if plans else {}
        yield [
            Spoken(
                view=view,
                effort=names.get(view.effort, view.effort),
                plans=tuple(made.get(view.run_id, ())),
                names=names,
            )
            for view in turn_views(branch, turns)
        ]


def plans_of(turns: Collection[Turn]) -> dict[Any, list[ContextPlan]]:
    rows = ContextPlan.objects.filter(run__in=[turn.run_id for turn in turns]).order_by("run", "call")
    return {run: list(plans) for run, plans in groupby(rows, lambda plan: plan.run_id)}


# A conversation


def conversation_pieces(branch: Branch, extras: Collection[str] = ()) -> Iterator[str]:
    yield heading(1, str(branch.session))
    yield said(f"Exported from CCM Web on {today()}. Secrets such as keys are masked.")
    if branch.parent_id:
        yield said(f"This is the branch “{plain(branch.name)}”.")
    if "ledger" in extras:
        yield from ledger_pieces(branch)
    if "summaries" in extras:
        yield from summary_pieces(branch)
    if {"ledger", "summaries"} & set(extras):
        yield heading(2, said("Messages"))
    for chunk in spoken(branch, plans="plans" in extras):
        for one in chunk:
            yield from turn_pieces(one)


def turn_pieces(one: Spoken) -> Iterator[str]:
    view = one.view
    of = f" · {plain(one.effort)}" if one.effort else ""
    yield heading(3, f"{said(f'Turn {view.number}')}{of} · {minute(view.created_at)}", masked=False)
    yield f"**{said('You')}**\n\n{quoted(view.user_text)}"
    for file in view.files:
        yield f"*{said(f'Added: {plain(file.name)} ({size_words(file.size)}, {file.tokens:,} tokens)')}*"
    if view.parts:
        yield f"**{said('Assistant')}**{f' ({plain(said(view.model))})' if view.model else ''}"
    for part in view.parts:
        yield f"*{plain(said(part.tool_words))}*" if part.kind == "tool" else closed(masked(part.text))
    if view.state in ENDED:
        yield f"*{said(ENDED[RunState(view.state)])}{f' {plain(said(view.error_text))}' if view.error_text else ''}*"
    for plan in one.plans:
        yield plan_piece(plan, one.names)


def plan_piece(plan: ContextPlan, names: Mapping[str, str]) -> str:
    """What one call was sent, and why."""
    sent = said(f"Sent with call {plan.call}: {plan.tokens:,} of at most {plan.budget:,} tokens.")
    return "\n".join([f"**{sent}**", "", *(item_line(Item.from_json(item), names) for item in plan.body["items"])])


def item_line(item: Item, names: Mapping[str, str]) -> str:
    why = " ".join(
        said(one) for one in (until_named(item.sentence, names), "" if item.included else item.remedy) if one
    )
    decided = said("Included" if item.included else "Left out")
    title = said(titled(item.title, item.whose, names))
    return f"- {decided}: {plain(title)}, {said(tokens_said(item.tokens))}. {plain(why)}"


def ledger_pieces(branch: Branch) -> Iterator[str]:
    """What is kept in this branch; what has ended behind it."""
    rules = [f"- {plain(rule.text)}" for rule in constraints_view(branch).in_force]
    yield from listed(said("Rules"), rules)
    for kind in (EntryKind.DECISION, EntryKind.OPEN_WORK):
        of_kind = entries_view(branch, kind)
        yield from listed(said(of_kind.title), entry_lines((*of_kind.kept, *of_kind.waiting, *of_kind.past)))


def listed(title: str, lines: list[str], level: int = 2) -> Iterator[str]:
    if lines:
        yield heading(level, title)
        yield "\n".join(lines)


def entry_lines(entries: Iterable[LedgerView]) -> list[str]:
    return [
        f"- {plain(one.text)} ({', '.join(filter(None, [said(f'turn {one.turn}'), how_it_is(one)]))})"
        for one in entries
    ]


def how_it_is(entry: LedgerView) -> str:
    """Nothing of what is simply kept."""
    if entry.superseded_by:
        return said(f"replaced by: {plain(entry.superseded_by)}")
    return "" if entry.state == EntryState.CONFIRMED else said(entry.look.label).lower()


def summary_pieces(branch: Branch) -> Iterator[str]:
    """Whatever replaces turns in the prompt now."""
    rows = ContextPointer.objects.filter(branch=branch, state=PointerState.ACTIVE).select_related("effort")
    for number, pointer in enumerate(rows.order_by("pk")):
        if not number:
            yield heading(2, said("Summaries"))
        yield heading(3, pointer.effort.name if pointer.effort else said("Chosen turns"))
        yield from standing_pieces(branch, pointer)


def standing_pieces(branch: Branch, pointer: ContextPointer, level: int = 4) -> Iterator[str]:
    """What replaces a log: the claims with their sources, or else the text as it stands."""
    told = registered().told(pointer.artifact, branch) if pointer.artifact else None
    if told:
        yield from told_pieces(told, level)
        return
    # Excerpts say in their first line that they are none.
    yield quoted(pointer.body or pointer.text)


def told_pieces(told: ToldSummary, level: int) -> Iterator[str]:
    if told.note:
        yield f"*{said(told.note)}*"
    numbers = {cite.id: number for number, cite in enumerate(told.cites, 1)}
    for section, claims in groupby(told.claims, lambda claim: claim.section):
        yield heading(level, said(section))
        yield "\n".join(f"- {plain(one.text)}{marks(numbers[id] for id in one.cites)}" for one in claims)
    if told.cites:
        yield heading(level, said("Sources"))
        yield "\n".join(
            f"{numbers[one.id]}. {said(f'Turn {one.turn}')}, {speaker(one.role)}: “{plain(one.text)}”"
            for one in told.cites
        )


def marks(numbers: Iterable[int]) -> str:
    return "".join(f" \\[{number}\\]" for number in sorted(numbers))


def speaker(role: str) -> str:
    return said({"user": "you", "assistant": "the model", "file": "your file"}.get(role, plain(role)))


# The handover of an effort


def handover_pieces(branch: Branch, slug: str, *, log: bool = False) -> Iterator[str]:
    """What somebody needs who takes it over: how it stands, what was decided, what is open, and where that was said."""
    effort = next(row for row in effort_views(branch) if row.slug == slug)
    turns = TurnLabel.objects.filter(branch=branch, effort__slug=slug).exclude(turn__run=None)
    numbers = dict(turns.order_by("turn__number").values_list("turn", "turn__number"))
    yield heading(1, said(f"Handover: {effort.name}"))
    yield said(f"From the conversation “{plain(str(branch.session))}”, on {today()}. Secrets such as keys are masked.")
    yield how_it_stands(effort, list(numbers.values()))
    yield from effort_summary(branch, effort)
    entries = views_of(entries_here(branch).filter(source__turn__in=numbers).exclude(state=EntryState.DISMISSED))
    for kind, title in ((EntryKind.DECISION, "Noted decisions"), (EntryKind.OPEN_WORK, "Noted to-dos")):
        # What still holds stands before what has ended.
        of_kind = sorted((one for one in entries if one.kind == kind), key=lambda one: (not one.is_live, one.id))
        lines = entry_lines(of_kind)
        yield from listed(said(title), lines or [said("None.")])
    yield from listed(said("Rules"), [f"- {plain(rule.text)}" for rule in constraints_view(branch).in_force])
    if last := left_off(branch, effort):
        yield heading(2, said("Where it was left"))
        yield f"{said(f'Turn {last.turn}')}, {minute(last.at)}."
        yield from (
            f"**{said(who)}:** {plain(text)}"
            for who, text in (("You", last.asked), ("Assistant", last.answered))
            if text
        )
    if log:
        yield heading(2, said("Log"))
        for chunk in spoken(branch, within=numbers):
            for one in chunk:
                yield from turn_pieces(one)


def how_it_stands(effort: EffortView, numbers: Sequence[int]) -> str:
    stands = "It is open" if effort.is_open else f"It was concluded in turn {effort.concluded_turn}"
    if not numbers:
        return said(f"{stands}, and has no turns yet.")
    return said(f"{stands}. It has {turns_said(len(numbers))}: {span_said(numbers[0], numbers[-1])}.")


def effort_summary(branch: Branch, effort: EffortView) -> Iterator[str]:
    yield heading(2, said("Summary"))
    standing = ContextPointer.objects.filter(branch=branch, effort__slug=effort.slug, state=PointerState.ACTIVE).first()
    if standing is None:
        yield said(NO_SUMMARY)
    else:
        yield from standing_pieces(branch, standing, level=3)


# A conversation as lines of JSON


def conversation_lines(branch: Branch) -> Iterator[list[str]]:
    """One line of the conversation, then one for each turn, oldest first; then the same of every branch that went off
    from it, or from one of these."""
    session = branch.session
    told = {"title": session.title, "created_at": time_of(session.created_at), "branch_name": branch.name}
    ancestors = [{"branch": one.branch, "to": one.last} for one in branch.ancestors]
    more = {**told, "archived": session.archived_at is not None, "ancestors": ancestors, **named(branch)}
    yield [redacted_line({**about(branch), "line": "conversation", **more})]
    yield from turn_lines(branch)
    # Parents first.
    rows = Branch.objects.filter(session=branch.session_id).select_related("session").order_by("created_at", "pk")
    for child in [row for row in rows if str(branch.pk) in {one.branch for one in row.ancestors}]:
        went = {"name": child.name, "parent": str(child.parent_id), "after": child.fork_turn}
        archived = {"archived": child.archived_at is not None}
        yield [redacted_line({**about(child), "line": "branch", **went, **archived, **named(child)})]
        yield from turn_lines(child, after=child.fork_turn or 0)


def named(branch: Branch) -> dict[str, Any]:
    """The efforts as the branch has them, in the order in which they were opened."""
    states = branch.effort_states.select_related("effort").order_by("opened_turn", "pk")
    return {
        "efforts": [
            {
                "id": state.effort.slug,
                "name": state.effort.name,
                "concluded": state.status == EffortStatus.CONCLUDED,
                "active": state.effort_id == branch.active_effort_id,
            }
            for state in states
        ]
    }


def turn_lines(branch: Branch, *, after: int = 0) -> Iterator[list[str]]:
    for chunk in spoken(branch, after=after):
        yield [redacted_line({**about(branch), "line": "turn", **turn_values(one)}) for one in chunk]


def about(branch: Branch) -> dict[str, Any]:
    return {"v": VERSION, "session": str(branch.session_id), "branch": str(branch.pk)}


def turn_values(one: Spoken) -> dict[str, Any]:
    view = one.view
    parts = [
        {"tool": part.tool_name, "arguments": part.tool_arguments, "result": part.tool_result}
        if part.kind == "tool"
        else {"text": part.text}
        for part in view.parts
    ]
    return {
        "turn": view.number,
        "at": time_of(view.created_at),
        "effort": view.effort or None,
        "state": view.state,
        "user": view.user_text,
        "model": view.model or None,
        "reply": parts,
        "error": view.error_text or None,
    }


# Words in a document


def heading(level: int, title: str, *, masked: bool = True) -> str:
    return f"{'#' * level} {plain(title) if masked else title}"


def tokens_said(count: int) -> str:
    return f"{count:,} token{'' if count == 1 else 's'}"


def today() -> str:
    return timezone.localdate().isoformat()


def minute(moment: datetime) -> str:
    return f"{timezone.localtime(moment):%Y-%m-%d %H:%M}"


def masked(text: str) -> str:
    return str(redact(text).value)


def plain(text: str) -> str:
    """One line that no sign of Markdown in it changes."""
    return re.sub(r"([\\`*_\[\]<>#|~])", r"\\\1", " ".join(masked(text).split()))


def quoted(text: str) -> str:
    """A person's words, each line its own: what they look like in Markdown was not meant."""
    return "\n".join(f"> {line}" if line else ">" for line in closed(masked(text)).splitlines())


def closed(text: str) -> str:
    """With a fence of code ended that the text leaves open: it would take in all that follows."""
    open_by = ""
    for line in text.splitlines():
        if found := FENCE.match(line):
            mark = found[1]
            if not open_by:
                open_by = mark
            elif mark[0] == open_by[0] and len(mark) >= len(open_by) and line.strip() == mark:
                open_by = ""
    return f"{text.rstrip()}\n{open_by}" if open_by else text.strip("\n")
