"""A proposed edit as its page shows it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from django.utils.html import escape
from django.utils.safestring import SafeString

from workspaces.actions.editing import hunks_of
from workspaces.domain.edits import Hunk, apply_hunks
from workspaces.domain.languages import language_of
from workspaces.domain.states import EditState
from workspaces.models import EDIT_WORDS, ProposedEdit
from workspaces.pages.presenters import highlighted
from workspaces.retrieval.cards import address_of

KINDS = {"+": ("added", "Added:"), "-": ("removed", "Removed:"), " ": ("", "")}


@dataclass(frozen=True, kw_only=True)
class DiffLine:
    """`old` and `new`: its number before and after, where it has one."""

    sign: str
    css: str
    spoken: str
    old: int | None
    new: int | None
    html: SafeString


@dataclass(frozen=True, kw_only=True)
class HunkView:
    number: int
    first_line: int
    last_line: int
    added: int
    removed: int
    is_ticked: bool
    was_accepted: bool
    lines: Sequence[DiffLine]


@dataclass(frozen=True, kw_only=True)
class EditView:
    edit: ProposedEdit
    state: str
    hunks: Sequence[HunkView]
    source: str

    @property
    def added(self) -> int:
        return sum(hunk.added for hunk in self.hunks)

    @property
    def removed(self) -> int:
        return sum(hunk.removed for hunk in self.hunks)


def edit_view(edit: ProposedEdit, chosen: Collection[int] | None = None) -> EditView:
    """`chosen`: what was ticked in a form that was refused; at first all is."""
    hunks, language = hunks_of(edit), language_of(edit.path)
    after = apply_hunks(edit.before, hunks, range(len(hunks)))
    old, new = (highlighted(edit.path, language, text) for text in (edit.before, after))
    views, shift = list[HunkView](), 0
    for number, hunk in enumerate(hunks):
        added, removed = (sum(kind == sign for kind, _ in hunk.lines) for sign in "+-")
        views.append(
            HunkView(
                number=number,
                first_line=hunk.first + 1,
                last_line=hunk.first + max(len(hunk.source), 1),
                added=added,
                removed=removed,
                is_ticked=chosen is None or number in chosen,
                was_accepted=number in edit.accepted,
                lines=list(diff_lines(hunk, shift, old, new)),
            )
        )
        shift += added - removed
    current = edit.workspace.current
    source = address_of(edit.workspace_id, current.number, edit.path, 1) if current else ""
    return EditView(edit=edit, state=EDIT_WORDS[EditState(edit.state)], hunks=views, source=source)


def diff_lines(hunk: Hunk, shift: int, old: Sequence[SafeString], new: Sequence[SafeString]) -> Iterator[DiffLine]:
    before, after = hunk.first, hunk.first + shift
    for sign, words in hunk.lines:
        css, spoken = KINDS[sign]
        lines, at = (new, after) if sign == "+" else (old, before)
        yield DiffLine(
            sign=sign,
            css=css,
            spoken=spoken,
            old=None if sign == "+" else before + 1,
            new=None if sign == "-" else after + 1,
            html=lines[at] if at < len(lines) else escape(words),
        )
        before, after = before + (sign != "+"), after + (sign != "-")
