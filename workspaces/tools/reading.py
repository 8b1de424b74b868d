"""Files of the snapshot for a model: lines, and what a folder holds."""

from __future__ import annotations

from collections import Counter
from typing import Any

from django.conf import settings

from efforts.domain.text.redaction import redact
from efforts.llm.tokens import get_counter
from efforts.tools.base import ToolContext, ToolError
from workspaces.domain.leaving_out import LONGEST_PATH
from workspaces.models import File, Snapshot
from workspaces.retrieval.uses import files_there
from workspaces.tools.attached import snapshot_of

ENTRIES = 120
NO_FILE = "There is no file {path} in the attached folder. list_folder and search_code know what there is."


def read_span(context: ToolContext, *, path: str, from_line: int, to_line: int) -> dict[str, Any]:
    snapshot = snapshot_of(context)
    file = File.objects.filter(snapshot.standing, path=stored(snapshot, path)).first()
    if file is None:
        raise ToolError(NO_FILE.format(path=path[:200]))
    lines = file.text.split("\n")
    if not 1 <= from_line <= max(file.lines, 1):
        raise ToolError(f"{file.path} has {file.lines:,} lines; from_line must lie within.")
    last = min(to_line, file.lines) if to_line >= from_line else file.lines
    count, shown = get_counter(settings.CCM_ENCODING).count, list[str]()
    left = context.reading
    for number in range(from_line, last + 1):
        line = f"{number}| {lines[number - 1].rstrip()}"
        left -= count(line) + 1
        if left < 0 and shown:
            break
        shown.append(line[: 4 * context.reading])
    after = from_line + len(shown)
    text = str(redact("\n".join(shown)).value)
    return {
        "path": file.path,
        "lines": f"{from_line}-{after - 1}",
        "of": file.lines,
        "sha256": file.sha256,
        "text": text,
        "next_line": after if after <= file.lines else None,
    }


def list_folder(context: ToolContext, *, path: str) -> dict[str, Any]:
    snapshot = snapshot_of(context)
    prefix = f"{plain(path)}/".lstrip("/")
    entries = entries_of(snapshot, prefix)
    if not entries:
        prefix = prefix.removeprefix(f"{snapshot.workspace.name}/")
        entries = entries_of(snapshot, prefix)
    if not entries:
        raise ToolError(f"There is no folder {path[:200]} here. list_folder without a path lists the first level.")
    listed = [f"{name}: {files} files" if name.endswith("/") else name for name, files in entries[:ENTRIES]]
    return {"path": prefix.rstrip("/"), "entries": listed, "of": len(entries)}


def entries_of(snapshot: Snapshot, prefix: str) -> list[tuple[str, int]]:
    """Folders first; of each how many files it holds."""
    found: Counter[str] = Counter()
    for path in File.objects.filter(snapshot.standing, path__startswith=prefix).values_list("path", flat=True):
        # SQLite's LIKE, which `startswith` becomes, takes capitals for small letters.
        if path.startswith(prefix):
            name, slash, _ = path[len(prefix) :].partition("/")
            found[name + slash] += 1
    return sorted(found.items(), key=lambda entry: (not entry[0].endswith("/"), entry[0]))


def stored(snapshot: Snapshot, path: str) -> str:
    """Of a file also where the name of the attached folder stands before it, as citations may have it."""
    path = plain(path)
    return next((one.path for one in files_there(snapshot, [path]).values()), path)


def plain(path: str) -> str:
    """As files are stored; a path that leads out of the folder names none of them."""
    # SQLite compares with no pattern of 50,000 letters, and no path is so long.
    path = path.strip()[: 2 * LONGEST_PATH].replace("\\", "/").removeprefix("./").strip("/")
    return "" if path == "." else path
