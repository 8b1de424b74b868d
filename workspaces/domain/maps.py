"""How a folder is laid out, in few lines: what to do with it, what most of it leads to, and its modules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

# Symbols that are named as central, and folders that are listed.
CENTRAL, FOLDERS = 5, 40
NAVIGATE = (
    "Cards show symbols by path:lines. search_code finds more, look_up a name, who_calls its callers, read_span lines. "
    "Cite code as [path:line]."
)


def folder_map(name: str, paths: Sequence[str], symbols: int, central: Sequence[tuple[str, str, str]]) -> str:
    """`central`: qualified name, place and first line of what is said of it, the most central first. Its lines stand
    in the order of what they are worth: of a map that does not fit the first ones are shown."""
    head = f"{name}: {len(paths):,} files, {symbols:,} symbols. {NAVIGATE}"
    named = [f"- {qualified} {place}" + (f": {doc}" if doc else "") for qualified, place, doc in central[:CENTRAL]]
    lines = [head, *(["Most code leads to:", *named] if named else []), "Folders (files):", *folder_lines(paths)]
    return "\n".join(lines)


def folder_lines(paths: Sequence[str]) -> Iterator[str]:
    """Two levels deep, the largest first below each."""
    counts: Counter[str] = Counter()
    for path in paths:
        parts = PurePosixPath(path).parts[:-1]
        counts[parts[0] if parts else "."] += 1
    inner: Counter[tuple[str, str]] = Counter()
    for path in paths:
        parts = PurePosixPath(path).parts[:-1]
        if len(parts) > 1:
            inner[parts[0], parts[1]] += 1
    for folder, files in counts.most_common(FOLDERS):
        below = [f"{second} {n}" for (first, second), n in inner.most_common() if first == folder][:12]
        yield f"{folder}/ {files}" + (f": {', '.join(below)}" if below else "")
