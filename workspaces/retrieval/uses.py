"""What came of turns that shows which code they used: for the page of outcomes, and for what is kept in prompts."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple
from uuid import UUID

from efforts.domain.effort.states import RunState
from efforts.domain.text.canonical import json_object
from efforts.domain.text.citations import code_citations_in
from efforts.log.timelines import branch_turns
from efforts.models import Branch, Message, RetrievalSet
from efforts.standins.coding import STRATEGY
from workspaces.domain.activation import Kept, Signals, kept
from workspaces.domain.outcomes import Done, Place, Use, overlap, uses_of, words_of
from workspaces.domain.states import EditState, SymbolKind
from workspaces.models import CodeHit, File, ProposedEdit, Snapshot

# Turns that are looked back at: activation halves with each, so that nothing older counts.
LOOKED_BACK = 12
# Code that an answer shows: what looks like a citation in it is part of the code.
SHOWN = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
# What stands for a symbol whatever its id: its path and its qualified name.
Key = tuple[str, str]


class Cited(NamedTuple):
    """A file that a reply cites: where it is known, as it was then, and how many lines it had."""

    snapshot: Snapshot
    path: str
    lines: int


def cited_files(
    paths: Mapping[UUID | None, Collection[str]], now: Snapshot | None = None
) -> dict[UUID | None, dict[str, Cited]]:
    """Of what each run cites that which is there, by its path as it is written, which may begin with the name of the
    folder itself. A run is answered by the snapshot that it looked into, else by `now`."""
    looked = RetrievalSet.objects.filter(run__in=paths, strategy__startswith=STRATEGY).order_by("created_at", "pk")
    pks: dict[UUID | None, int] = {row.run_id: row.params["code_snapshot"] for row in looked}
    snapshots = Snapshot.objects.select_related("workspace").in_bulk(pks.values())
    of = {run: snapshots.get(pks.get(run, 0), now) for run in paths}
    # Most runs looked into the same one, which is asked once for all of them.
    wanted = defaultdict[Snapshot, set[str]](set)
    for run, snapshot in of.items():
        if snapshot:
            wanted[snapshot].update(paths[run])
    there = {snapshot: files_there(snapshot, several) for snapshot, several in wanted.items()}
    return {run: there[snapshot] if snapshot else {} for run, snapshot in of.items()}


def files_there(snapshot: Snapshot, paths: Collection[str]) -> dict[str, Cited]:
    within = {path: path.removeprefix(f"{snapshot.workspace.name}/") for path in paths}
    named = File.objects.filter(snapshot.standing, path__in={*within, *within.values()})
    lines = dict(named.values_list("path", "lines"))
    found = {path: path if path in lines else short for path, short in within.items()}
    return {path: Cited(snapshot, where, lines[where]) for path, where in found.items() if where in lines}


def cited_in(said: Iterable[Message]) -> list[Place]:
    texts = [row.text for row in said if row.role == Message.Role.ASSISTANT]
    return [(path, first, last) for text in texts for _, path, first, last in code_citations_in(SHOWN.sub("", text))]


def done_in(said: Iterable[Message], edits: Iterable[ProposedEdit], files: Mapping[str, Cited]) -> Done:
    """`said`: of one attempt at a turn; `files`: that it cites."""
    said = list(said)
    texts = [row.text for row in said if row.role == Message.Role.ASSISTANT]
    cited = [(files[path].path if path in files else path, first, last) for path, first, last in cited_in(said)]
    results = [row for row in said if row.role == Message.Role.TOOL and row.tool_name == "read_span"]
    read = [place for row in results if (place := span_of(row.text))]
    edited = [place for edit in edits for place in places_of(edit)]
    return Done(words=words_of(texts), cited=cited, read=read, edited=edited)


def span_of(result: str) -> Place | None:
    """Of what read_span gave; None of an error."""
    told = json_object(result)
    try:
        first, _, last = told["lines"].partition("-")
        return told["path"], int(first), int(last)
    except (ValueError, KeyError, AttributeError):
        return None


def places_of(edit: ProposedEdit) -> Iterator[Place]:
    for hunk in edit.hunks:
        taken = sum(kind != "+" for kind, _ in hunk["lines"])
        yield edit.path, hunk["first"] + 1, hunk["first"] + max(1, taken)


def kept_symbols(branch: Branch) -> dict[Key, Kept]:
    """Those that the last turns of a branch referred to so often that they stay for a while, the most active first."""
    done = branch_turns(branch).filter(run__state=RunState.COMPLETED).order_by("-number")
    turns = list(done.values_list("number", "run")[:LOOKED_BACK])[::-1]
    signals = signals_in(turns)
    silent = [Signals(turn=number) for number, _ in turns]
    found = {
        key: one for key, mine in signals.items() if (one := kept([mine.get(quiet.turn, quiet) for quiet in silent]))
    }
    return dict(sorted(found.items(), key=lambda entry: (-entry[1].activation, entry[0])))


def signals_in(turns: Sequence[tuple[int, UUID]]) -> dict[Key, dict[int, Signals]]:
    """Of each symbol that was found for a turn: by the number of the turn what referred to it."""
    runs = [run for _, run in turns]
    said: dict[UUID | None, list[Message]] = defaultdict(list)
    for row in Message.objects.filter(run__in=runs).order_by("id"):
        said[row.run_id].append(row)
    edits: dict[UUID, list[ProposedEdit]] = defaultdict(list)
    for edit in ProposedEdit.objects.filter(run__in=runs).defer("before").order_by("pk"):
        edits[edit.run_id].append(edit)
    hits: dict[UUID, list[CodeHit]] = defaultdict(list)
    fields = ("path", "qualified", "first_line", "last_line", "ranks", "retrieval__run")
    named = CodeHit.objects.filter(retrieval__run__in=runs).exclude(kind=SymbolKind.SECTION)
    for hit in named.select_related("retrieval").only(*fields):
        hits[hit.retrieval.run_id].append(hit)
    cited: dict[UUID | None, set[str]] = {run: {path for path, *_ in cited_in(said[run])} for run in runs}
    files = cited_files(cited) if any(cited.values()) else {}
    found: dict[Key, dict[int, Signals]] = defaultdict(dict)
    for number, run in turns:
        done, failed = done_in(said[run], edits[run], files.get(run, {})), set(failed_about(said[run]))
        refused = [place for edit in edits[run] if edit.state == EditState.REJECTED for place in places_of(edit)]
        for hit in hits[run]:
            uses = uses_of(hit.qualified.rpartition(".")[2], (hit.path, hit.first_line, hit.last_line), done)
            found[hit.path, hit.qualified][number] = Signals(
                turn=number,
                user="named" in hit.ranks,
                model=Use.CITED in uses or Use.NAMED in uses,
                tool=Use.READ in uses,
                rejected=any(overlap((hit.path, hit.first_line, hit.last_line), place) for place in refused),
                error=hit.path in failed,
            )
    return found


def failed_about(said: Sequence[Message]) -> Iterator[str]:
    """Paths about which a tool came to nothing."""
    asked = {call["id"]: call["arguments"] for row in said for call in row.tool_calls}
    for row in said:
        if row.role == Message.Role.TOOL and row.text.startswith('{"error"'):
            path = json_object(asked.get(row.tool_call_id, "")).get("path")
            if isinstance(path, str):
                yield path
