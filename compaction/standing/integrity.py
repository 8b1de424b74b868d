"""Whether documents are what their ids say, and what stands in prompts is what was accepted."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

from compaction.models import Artifact
from efforts.domain.text.canonical import canonical_json, sha256
from efforts.models import ContextPointer

if TYPE_CHECKING:
    from efforts.models import Session

CHUNK = 200
OTHER = "its document is not that of its id"


def damaged(session: Session) -> Iterator[tuple[str, str]]:
    """What it is, and what is wrong with it."""
    for row in Artifact.objects.filter(session=session).iterator(chunk_size=CHUNK):
        if not is_its_document(row):
            yield f"summary {row.pk[:12]}", OTHER
    pointers = ContextPointer.objects.filter(branch__session=session).exclude(artifact="").order_by("pk")
    # What a conversation starts from was made in another.
    made = Artifact.objects.filter(pk__in=pointers.values("artifact"))
    standing = {pk: texts for pk, *texts in made.values_list("pk", "standing", "body")}
    for pointer in pointers.iterator(chunk_size=CHUNK):
        text, body = standing.get(pointer.artifact, (None, ""))
        if text is None:
            yield f"pointer {pointer.pk}", "what it stands by is gone"
        elif pointer.text != text or pointer.body not in ("", body):
            yield f"pointer {pointer.pk}", "its text is not that of the summary that it stands by"


def is_its_document(row: Artifact) -> bool:
    try:
        document = json.loads(row.document)
    except (zlib.error, ValueError):
        return False
    id = document.pop("artifact_id", None)
    return bool(row.pk == id == f"cmp_{sha256(canonical_json(document))}")
