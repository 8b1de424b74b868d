"""A model proposes a change of a file; a person accepts hunks of it, and it is written, or undone."""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from functools import partial
from typing import TYPE_CHECKING

from django.db import transaction
from django.utils import timezone

from efforts.domain.errors import Refused
from efforts.log import events
from efforts.models import Run, Session
from efforts.models.moves import locked
from workspaces.actions.writing import Unread, folder_of, read_file, replace_file
from workspaces.domain.edits import BadDiff, Hunk, apply_hunks, changes, read_diff
from workspaces.domain.states import EDIT_MOVES, EditState
from workspaces.indexing import worker
from workspaces.models import File, ProposedEdit, Snapshot, Workspace

if TYPE_CHECKING:
    from django.contrib.auth.models import User

MOST_OPEN = 20
LONGEST_WHY = 500
NO_FILE = "There is no file {path} in the attached folder. Only files that are there can be edited."
OTHER_HASH = "{path} has the hash {sha256} now. Read it again with read_span, and propose the edit anew."
NOT_INDEXED = (
    "{path} has changed since it was indexed. It is being indexed again: read it with read_span in a moment, and "
    "propose the edit anew."
)
NO_TEXT = "{path} is no UTF-8 text, and cannot be edited here."
TOO_MANY = f"{MOST_OPEN} edits wait for the user. Ask for a decision on them first."
NONE_TICKED = "No part is ticked. Tick what you want, or reject the edit."
DECIDED = "This edit has been {state} before. Nothing was written."
NOT_WRITTEN = "This edit has not been written: there is nothing to undo."
UNREAL = "This edit has no part {number}. Load the page again."


class Changed(Unread):
    """The file is another than the edit is of; `lines`: the first lines of a diff of what has changed."""

    def __init__(self, path: str, before: str, now: bytes, *, undo: bool) -> None:
        found = changes(before, now.decode(errors="replace"))
        self.lines = found.lines
        words = "the ends of its lines are others"
        if found.lines:
            words = (
                f"{found.added} line{'' if found.added == 1 else 's'} added, {found.removed} removed, "
                f"the first at line {found.first}"
            )
        since = "it was written" if undo else "this edit was proposed"
        then = "The edit stays." if undo else "Ask for the edit again."
        super().__init__("changed", f"{path} has changed since {since}: {words}. Nothing was written. {then}")


@transaction.atomic
def propose_edit(run: Run, snapshot: Snapshot, *, path: str, sha256: str, diff: str, why: str) -> ProposedEdit:
    """`sha256` is of the file that the diff is of. Raises `Refused` with a sentence for the model."""
    session = Session.objects.select_for_update().get(pk=run.turn.session_id)
    if session.edits.filter(state=EditState.OPEN).count() >= MOST_OPEN:
        raise Refused("edits", TOO_MANY)
    file = File.objects.filter(snapshot.standing, path=path).first()
    if file is None:
        raise Refused("path", NO_FILE.format(path=path[:200]))
    if file.sha256 != sha256.strip().lower():
        raise Refused("hash", OTHER_HASH.format(path=path, sha256=file.sha256))
    with folder_of(snapshot.workspace, path) as folder:
        data, _ = read_file(folder, path)
    if hash_of(data) != file.sha256:
        raise Unread("hash", NOT_INDEXED.format(path=path))
    before = text_of(data, path)
    try:
        hunks = read_diff(path, diff, before)
    except BadDiff as error:
        raise Refused("diff", str(error)) from error
    edit = ProposedEdit.objects.create(
        session=session,
        run=run,
        workspace=snapshot.workspace,
        path=path,
        sha256=file.sha256,
        before=before,
        hunks=[hunk.to_json() for hunk in hunks],
        why=why.strip()[:LONGEST_WHY],
    )
    tell(edit, "workspace.edit_proposed", None, hunks=len(hunks))
    return edit


@transaction.atomic
def accept_edit(edit: ProposedEdit, accepted: Collection[int], *, actor: User) -> ProposedEdit:
    """The file is written with the accepted hunks. Raises `Changed` where it is another by now."""
    edit = held(edit, EditState.APPLIED)
    if not accepted:
        raise Refused("hunks", NONE_TICKED)
    if unreal := set(accepted) - set(range(len(edit.hunks))):
        raise Refused("hunks", UNREAL.format(number=min(unreal) + 1))
    chosen = sorted(set(accepted))
    data = apply_hunks(edit.before, hunks_of(edit), chosen).encode()
    # Written already, where the program ended between the file and this record.
    replace(edit, expected={edit.sha256, hash_of(data)}, data=data)
    of = len(edit.hunks)
    parts = (
        "whole" if len(chosen) == of else f"parts {', '.join(str(n + 1) for n in chosen)} of {of}; the others were not"
    )
    edit.state, edit.accepted, edit.written, edit.decided_at = EditState.APPLIED, chosen, hash_of(data), timezone.now()
    settle(edit, f"The user accepted your edit of {edit.path}: {parts}. It is written.")
    tell(edit, "workspace.edit_applied", actor, accepted=chosen, of=of, sha256=edit.written)
    return edit


@transaction.atomic
def reject_edit(edit: ProposedEdit, *, actor: User) -> ProposedEdit:
    """The file stays as it is, and the model is told so. Raises `Refused` where it was decided already."""
    edit = held(edit, EditState.REJECTED)
    edit.state, edit.decided_at = EditState.REJECTED, timezone.now()
    settle(edit, f"The user rejected your edit of {edit.path}. The file is as it was.")
    tell(edit, "workspace.edit_rejected", actor)
    return edit


@transaction.atomic
def undo_edit(edit: ProposedEdit, *, actor: User) -> ProposedEdit:
    """The file is again what it was before. Raises `Changed` where it is no longer what was written."""
    edit = held(edit, EditState.UNDONE)
    replace(edit, expected={edit.written, edit.sha256}, data=edit.before.encode())
    edit.state, edit.undone_at = EditState.UNDONE, timezone.now()
    settle(edit, f"The user has undone your edit of {edit.path}. The file is as it was before.")
    tell(edit, "workspace.edit_undone", actor, sha256=edit.sha256)
    return edit


def held(edit: ProposedEdit, move: EditState) -> ProposedEdit:
    """Locked, as it is now; two people who press at once do not both write."""
    edit = locked(edit, "workspace")
    if move not in EDIT_MOVES[EditState(edit.state)]:
        raise Refused("decided", DECIDED.format(state=edit.state) if edit.state != EditState.OPEN else NOT_WRITTEN)
    return edit


def replace(edit: ProposedEdit, *, expected: Collection[str], data: bytes) -> None:
    known = edit.before if edit.state == EditState.OPEN else apply_hunks(edit.before, hunks_of(edit), edit.accepted)

    def holds(now: bytes) -> None:
        if hash_of(now) not in expected:
            raise Changed(edit.path, known, now, undo=edit.state == EditState.APPLIED)

    with folder_of(edit.workspace, edit.path) as folder:
        now, status = read_file(folder, edit.path)
        holds(now)
        if now != data:
            replace_file(folder, edit.path, data, status, holds=holds)


def settle(edit: ProposedEdit, result: str) -> None:
    edit.result, edit.told_by = result, None
    edit.save()
    if edit.state != EditState.REJECTED:
        transaction.on_commit(partial(index_what_changed, edit.workspace))


def index_what_changed(workspace: Workspace) -> None:
    """In the background, once the caller's transaction is committed."""
    worker.start(workspace.pk)


def tell(edit: ProposedEdit, kind: str, actor: User | None, **more: object) -> None:
    data = {"edit": edit.pk, "path": edit.path, "run": str(edit.run_id), **more}
    events.append(edit.session_id, kind, data, actor=actor)


def hunks_of(edit: ProposedEdit) -> tuple[Hunk, ...]:
    """The parts of the diff, as they were proposed."""
    return tuple(Hunk.from_json(told) for told in edit.hunks)


def hash_of(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def text_of(data: bytes, path: str) -> str:
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise Refused("text", NO_TEXT.format(path=path)) from error
    if "\x00" in text:
        raise Refused("text", NO_TEXT.format(path=path))
    return text
