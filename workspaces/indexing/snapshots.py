"""A new snapshot of a folder: what has changed since the last one is written, and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256 as digest
from itertools import islice
from pathlib import Path
from typing import TypeVar

from django.conf import settings
from django.db import transaction
from django.db.models import Max

from efforts.domain.text.canonical import canonical_json, sha256
from workspaces.domain.languages import language_of, module_of
from workspaces.indexing.walking import FoundFile, Limits, Walk
from workspaces.models import File, Snapshot, Workspace

# Raise it when the same file gives other symbols or edges: then everything is read anew.
INDEX_VERSION = "5"
# Rows of one statement. A transaction of so many is short enough for others to write in between.
BATCH = 200

T = TypeVar("T")
# Told how many files are done of how many; raises where nobody wants to wait for more.
Progress = Callable[[int, int], None]


def limits() -> Limits:
    return Limits(
        files=settings.CCM_WORKSPACE_FILES,
        file_bytes=settings.CCM_WORKSPACE_FILE_BYTES,
        all_bytes=settings.CCM_WORKSPACE_BYTES,
    )


def in_batches(rows: Iterable[T], size: int) -> Iterator[list[T]]:
    rows = iter(rows)
    while batch := list(islice(rows, size)):
        yield batch


@dataclass(kw_only=True)
class Comparison:
    """What a walk finds beside what the last snapshot has: ids of versions that stand no longer, and hashes of all."""

    before: dict[str, tuple[int, str]]
    standing: dict[str, str] = field(default_factory=dict)
    closed: list[int] = field(default_factory=list)

    def changed(self, found: Iterable[FoundFile]) -> Iterator[tuple[FoundFile, str]]:
        """Files that are new or differ, with the hash of their bytes."""
        for file in found:
            sha = digest(file.data).hexdigest()
            self.standing[file.path] = sha
            pk, known = self.before.pop(file.path, (0, ""))
            if sha == known:
                continue
            if pk:
                self.closed.append(pk)
            yield file, sha


def take_snapshot(workspace: Workspace, progress: Progress) -> Snapshot:
    """The folder as it is now: the last snapshot where nothing has changed since. Raises OSError where the folder
    cannot be read."""
    number = (workspace.snapshots.aggregate(last=Max("number"))["last"] or 0) + 1
    # Of an attempt that broke off.
    File.objects.filter(workspace=workspace, first__gte=number).delete()
    compared = Comparison(before=known_files(workspace.current))
    walk = Walk(root=Path(workspace.root), limits=limits(), step=lambda: progress(0, len(compared.standing)))
    for batch in in_batches(compared.changed(walk.found()), BATCH):
        File.objects.bulk_create(version_of(workspace, number, file, sha) for file, sha in batch)
    identity = identity_of(compared.standing)
    if workspace.current and workspace.current.sha256 == identity:
        return workspace.current
    return switch_to(workspace, number, identity, walk, compared)


def known_files(snapshot: Snapshot | None) -> dict[str, tuple[int, str]]:
    if snapshot is None:
        return {}
    rows = File.objects.filter(snapshot.standing).values_list("path", "pk", "sha256")
    known = {path: (pk, sha) for path, pk, sha in rows.iterator(chunk_size=5_000)}
    if identity_of({path: sha for path, (_, sha) in known.items()}) == snapshot.sha256:
        return known
    # An earlier version of the indexer made it: no file counts as known.
    return {path: (pk, "") for path, (pk, _) in known.items()}


def identity_of(files: Mapping[str, str]) -> str:
    """The same for the same paths and hashes, read by the same version of the indexer."""
    return sha256(canonical_json([INDEX_VERSION, sorted(files.items())]))


def version_of(workspace: Workspace, number: int, file: FoundFile, sha: str) -> File:
    # No database takes NUL in a text.
    text = file.data.decode(errors="replace").replace("\x00", "\ufffd")
    language = language_of(file.path)
    return File(
        workspace=workspace,
        path=file.path,
        sha256=sha,
        language=language,
        module=module_of(file.path, language, text),
        size=len(file.data),
        lines=text.count("\n") + (not text.endswith("\n") and bool(text)),
        text=text,
        first=number,
    )


@transaction.atomic
def switch_to(workspace: Workspace, number: int, identity: str, walk: Walk, compared: Comparison) -> Snapshot:
    """From here on the new versions stand, and what they replace does not."""
    gone = [*compared.closed, *(pk for pk, _ in compared.before.values())]
    for batch in in_batches(gone, BATCH):
        File.objects.filter(pk__in=batch).update(last=number - 1)
    snapshot = Snapshot.objects.create(
        workspace=workspace,
        number=number,
        sha256=identity,
        files=walk.files,
        lines=0,
        skipped=walk.left_out.to_json(),
    )
    workspace.current = snapshot
    workspace.save(update_fields=["current"])
    return snapshot
