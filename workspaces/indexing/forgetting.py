"""A deleted conversation leaves nothing of its code: an index that no conversation has any more goes with it."""

from __future__ import annotations

import shutil
from functools import partial
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.db.models.signals import post_delete
from django.dispatch import receiver

from workspaces.domain.states import SourceKind
from workspaces.indexing.finishing import remembered
from workspaces.models import Attachment, Edge, File, Snapshot, Symbol, SymbolVector, Workspace
from workspaces.retrieval.meanings import kept_vectors
from workspaces.retrieval.naming import kept_resolver

# Pages of SQLite's index that are merged in one statement.
MERGED_PAGES = 500


@receiver(post_delete, sender=Attachment)
def forget_unattached(instance: Attachment, **_: Any) -> None:
    workspace = Workspace.objects.filter(pk=instance.workspace_id, attachments=None).first()
    if workspace is None:
        return
    forget(workspace)


@transaction.atomic
def forget(workspace: Workspace) -> None:
    """All rows of it, and the folder of an archive."""
    pk = workspace.pk
    Workspace.objects.filter(pk=pk).update(current=None, indexer="")
    # Row by row Django would load all of it first: symbols lead to symbols.
    for rows in (SymbolVector.objects, Edge.objects, Symbol.objects, File.objects, Snapshot.objects):
        rows.filter(workspace=pk)._raw_delete(rows.db)
    workspace.delete()
    if workspace.kind == SourceKind.ARCHIVE:
        folder = Path(settings.CCM_HOME) / "workspaces" / str(pk)
        transaction.on_commit(partial(shutil.rmtree, folder, ignore_errors=True))
    transaction.on_commit(partial(remembered.pop, pk, None))
    transaction.on_commit(kept_resolver.cache_clear)
    transaction.on_commit(kept_vectors.cache_clear)
    transaction.on_commit(forget_terms)


def forget_terms() -> None:
    """SQLite's index keeps the terms of what was deleted until its parts are merged (as of efforts' passages)."""
    if connection.vendor != "sqlite":
        return
    pages = -MERGED_PAGES
    with connection.cursor() as cursor:
        merged = True
        while merged:
            before = connection.connection.total_changes
            cursor.execute(
                "INSERT INTO workspaces_symbol_terms (workspaces_symbol_terms, rank) VALUES ('merge', %s)", [pages]
            )
            merged = pages < 0 or connection.connection.total_changes - before > 1
            pages = MERGED_PAGES
