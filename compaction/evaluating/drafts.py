"""Drafts that models wrote, as they were recorded: one JSON object a line."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from compaction.domain.artifact import Attempt, Malformed, Strict, Usage, parse_draft, parsed
from compaction.domain.making import Count
from compaction.domain.verdicts import Judged

from .cases import Case, Unreadable
from .offering import LATEST, Run, offered_bytes, offered_draft


class Recorded(Strict):
    """`text` is what the model wrote, word for word. `usage` is null where nobody knows it."""

    case: str
    model: str
    text: str
    stop_reason: str
    usage: Usage | None
    elapsed_ms: int


def read_drafts(path: Path, cases: Iterable[Case]) -> list[tuple[Recorded, Case]]:
    """In the order of the file. Raises `Unreadable`."""
    by_id = {case.id: case for case in cases}
    return [read_draft(line, f"{path}, line {n}", by_id) for n, line in enumerate(lines_of(path), 1) if line.strip()]


def lines_of(path: Path) -> list[str]:
    try:
        return path.read_text().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise Unreadable(f"{path}: {error}") from error


def read_draft(line: str, where: str, by_id: Mapping[str, Case]) -> tuple[Recorded, Case]:
    try:
        recorded = parsed(Recorded, line)
    except Malformed as error:
        raise Unreadable(f"{where}: {error}") from error
    if recorded.case not in by_id:
        raise Unreadable(f"{where}: there is no case {recorded.case}")
    return recorded, by_id[recorded.case]


def offered(drafts: Iterable[tuple[Recorded, Case]], count: Count) -> Iterator[tuple[str, Case, Judged]]:
    """By model, each with the runs of its model until then, of which latency is told."""
    latest: dict[str, list[int]] = defaultdict(list)
    for recorded, case in drafts:
        latest[recorded.model].append(recorded.elapsed_ms)
        run = Run(
            model=recorded.model,
            attempts=(attempt_of(recorded),),
            elapsed_ms=recorded.elapsed_ms,
            latest=tuple(latest[recorded.model][-LATEST:]),
        )
        yield recorded.model, case, judged_of(recorded, case, run, count)


def attempt_of(recorded: Recorded) -> Attempt:
    return Attempt(usage=recorded.usage, stop_reason=recorded.stop_reason, error="", elapsed_ms=recorded.elapsed_ms)


def judged_of(recorded: Recorded, case: Case, run: Run, count: Count) -> Judged:
    try:
        draft = parse_draft(recorded.text)
    except Malformed:
        return offered_bytes(case, recorded.text, recorded.stop_reason)
    return offered_draft(case, draft, run, count=count, offered=recorded.text, stop_reason=recorded.stop_reason)
