"""Branches as pages show them: the tree of a conversation, two side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import zip_longest
from uuid import UUID

from django.db.models import Max

from efforts.domain.effort.lineage import last_common_turn
from efforts.domain.effort.states import UNFINISHED
from efforts.log.timelines import branch_turns
from efforts.models import Branch, Run
from efforts.pages.presenters.chat import TurnView, turn_views

# Turns of each side of a comparison on one page.
COMPARED = 20


@dataclass(frozen=True, kw_only=True)
class BranchView:
    """`turns` are those of its own, `depth` its place in the tree, `state` of its newest unfinished run, or empty."""

    branch: Branch
    depth: int
    turns: int
    last_at: datetime
    state: str


@dataclass(frozen=True, kw_only=True)
class BranchesView:
    """All branches of a conversation, each below the one it forks from."""

    current: Branch
    rows: tuple[BranchView, ...]

    @property
    def listed(self) -> tuple[BranchView, ...]:
        return tuple(row for row in self.rows if not row.branch.archived_at)

    @property
    def archived(self) -> tuple[BranchView, ...]:
        return tuple(row for row in self.rows if row.branch.archived_at)

    @property
    def elsewhere(self) -> tuple[BranchView, ...]:
        """Those that answer, or will, while this one is looked at."""
        return tuple(row for row in self.rows if row.state and row.branch != self.current)


def branches_view(current: Branch) -> BranchesView:
    rows = Branch.objects.filter(session=current.session_id).annotate(last_at=Max("turns__created_at"))
    unfinished = Run.objects.filter(branch__session=current.session_id, state__in=UNFINISHED)
    # Running sorts after queued, and stays.
    states = dict(unfinished.order_by("state").values_list("branch", "state"))
    children: dict[UUID | None, list[Branch]] = {}
    for row in rows.order_by("fork_turn", "created_at"):
        # The page is the conversation's either way; its address asks for no more.
        row.session = current.session
        children.setdefault(row.parent_id, []).append(row)
    return BranchesView(current=current, rows=tuple(below(None, children, states, 0)))


def below(
    parent: UUID | None, children: Mapping[UUID | None, list[Branch]], states: Mapping[UUID, str], depth: int
) -> Iterator[BranchView]:
    for row in children.get(parent, ()):
        last_at: datetime | None = getattr(row, "last_at", None)
        yield BranchView(
            branch=row,
            depth=depth,
            turns=row.head - (row.fork_turn or 0),
            last_at=last_at or row.created_at,
            state=states.get(row.pk, ""),
        )
        yield from below(row.pk, children, states, depth + 1)


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Two branches: what they have in common, then turn by turn what each has from there on."""

    first: Branch
    second: Branch
    common: int
    pairs: tuple[tuple[TurnView | None, TurnView | None], ...]
    next_from: int | None


def compared_branches(first: Branch, second: Branch, *, start: int | None = None) -> Comparison:
    common = last_common_turn(timeline(first), timeline(second))
    begin = max(start or 0, common + 1)
    end = begin + COMPARED
    last = max(first.head, second.head)
    return Comparison(
        first=first,
        second=second,
        common=common,
        pairs=tuple(zip_longest(stretch(first, begin, end), stretch(second, begin, end))),
        next_from=end if end <= last else None,
    )


def timeline(branch: Branch) -> list[tuple[str, int]]:
    return [*((one.branch, one.last) for one in branch.ancestors), (str(branch.pk), branch.head)]


def stretch(branch: Branch, begin: int, end: int) -> list[TurnView | None]:
    """By number, none left out."""
    rows = branch_turns(branch).filter(number__gte=begin, number__lt=end).exclude(run=None).select_related("run")
    found = {view.number: view for view in turn_views(branch, list(rows.order_by("number")))}
    return [found.get(number) for number in range(begin, min(end, branch.head + 1))]
