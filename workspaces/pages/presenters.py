"""What the pages of a workspace show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.urls import reverse
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from pygments import format as formatted
from pygments.formatters.html import HtmlFormatter
from pygments.lexers import get_lexer_for_filename
from pygments.util import ClassNotFound

from efforts.context.embedders import embedder_of, is_offered
from efforts.llm.protocol import ModelError
from efforts.models import Session
from workspaces.domain.states import Skip, SourceKind, Stage, WorkspaceState
from workspaces.indexing import worker
from workspaces.indexing.snapshots import limits
from workspaces.models import Attachment, File, Snapshot, Symbol, SymbolVectorIndex, Workspace
from workspaces.retrieval.cards import address_of
from workspaces.retrieval.meanings import compared

STATES = {
    WorkspaceState.INDEXING: "Indexing",
    WorkspaceState.READY: "Ready",
    WorkspaceState.CANCELLED: "Stopped",
    WorkspaceState.FAILED: "Failed",
}
STAGES = {
    Stage.TEXT: "Files can be read. Their symbols are being found.",
    Stage.SYMBOLS: "Files can be read, and what is indexed can be found.",
    Stage.COMPLETE: "Everything is searchable.",
}
INTERRUPTED = "Indexing was interrupted. “Index again” continues from there."
UNFINISHED = "Files can be read, but not all code can be found. “Index again” continues from there."
CENTRAL = 12
# Characters that are highlighted: beyond it a page would take seconds.
HIGHLIGHTED = 200_000
# Conversations that a file offers to be pinned in.
PINNED_IN = 3
HTML = HtmlFormatter(nowrap=True)


@dataclass(frozen=True, kw_only=True)
class LeftOutView:
    meaning: str
    count: int
    first: tuple[str, ...]

    @property
    def more(self) -> int:
        return self.count - len(self.first)


@dataclass(frozen=True, kw_only=True)
class CentralView:
    qualified: str
    place: str
    address: str
    callers: int
    tests: int


@dataclass(frozen=True, kw_only=True)
class MeaningsView:
    """How far the meanings of symbols are known: `symbols` of `every`, by a model that is called `model`."""

    symbols: int
    every: int
    model: str
    tokens: int = 0
    fault: str = ""
    is_complete: bool = False
    # Indexed before there were meanings.
    is_older: bool = False

    @property
    def is_limited(self) -> bool:
        return self.is_complete and self.symbols < self.every

    @property
    def goes_on(self) -> bool:
        return not (self.is_complete or self.fault or self.is_older)


@dataclass(frozen=True, kw_only=True)
class WorkspaceView:
    workspace: Workspace
    snapshot: Snapshot | None
    is_at_work: bool
    state: str
    stage: str
    problem: str
    left_out: tuple[LeftOutView, ...]
    # When the folder was read once more and found as it was.
    unchanged_at: datetime | None = None
    meanings: MeaningsView | None = None

    @property
    def is_uploaded(self) -> bool:
        return self.workspace.kind == SourceKind.ARCHIVE

    @property
    def is_stopping(self) -> bool:
        return self.is_at_work and bool(self.workspace.cancel_requested_at)

    @property
    def attached_to(self) -> Sequence[Session]:
        return pinned_in(self.workspace)

    @property
    def percent(self) -> int:
        return 100 * self.workspace.done // self.workspace.total if self.workspace.total else 0

    @property
    def central(self) -> Sequence[CentralView]:
        if self.snapshot is None:
            return ()
        snapshot = self.snapshot
        counts = {id: (callers, tests) for id, _, callers, tests in snapshot.central[:CENTRAL]}
        symbols = Symbol.objects.select_related("file").in_bulk(counts)
        return [
            CentralView(
                qualified=one.qualified,
                place=f"{one.file.path}:{one.first_line}",
                address=address_of(snapshot.workspace_id, snapshot.number, one.file.path, one.first_line),
                callers=counts[id][0],
                tests=counts[id][1],
            )
            for id in counts
            if (one := symbols.get(id))
        ]


def workspace_view(row: Workspace) -> WorkspaceView:
    at_work = worker.is_at_work(row)
    lost = row.state == WorkspaceState.INDEXING and not at_work and bool(row.alive_at)
    # Just attached: the thread has not claimed it yet.
    fresh = row.state == WorkspaceState.INDEXING and not row.alive_at
    snapshot = row.current
    return WorkspaceView(
        workspace=row,
        snapshot=snapshot,
        is_at_work=at_work or fresh,
        state="Interrupted" if lost else STATES[WorkspaceState(row.state)],
        stage=stage_of(row, snapshot, is_at_work=at_work or fresh) if snapshot else "",
        problem=INTERRUPTED if lost else row.problem,
        left_out=tuple(
            LeftOutView(meaning=meaning_of(Skip(why)), count=told["count"], first=tuple(told["first"]))
            for why, told in (snapshot.skipped if snapshot else {}).items()
        ),
        unchanged_at=unchanged_at(row, snapshot) if snapshot else None,
        meanings=meanings_of(row, snapshot) if snapshot and snapshot.stage == Stage.COMPLETE and not at_work else None,
    )


def unchanged_at(row: Workspace, snapshot: Snapshot) -> datetime | None:
    made = snapshot.created_at + timedelta(milliseconds=snapshot.elapsed_ms)
    read = row.alive_at if row.state == WorkspaceState.READY else None
    return read if read and read > made else None


def stage_of(row: Workspace, snapshot: Snapshot, *, is_at_work: bool) -> str:
    """What can be done so far with one that is not whole."""
    if is_at_work:
        return STAGES[Stage(snapshot.stage)]
    is_part = row.state == WorkspaceState.CANCELLED and snapshot.stage != Stage.COMPLETE
    return UNFINISHED if is_part else ""


def meanings_of(row: Workspace, snapshot: Snapshot) -> MeaningsView | None:
    """None where no model is connected for any conversation that works on it, or none is compared by meaning."""
    attached = Attachment.objects.filter(workspace=row, detached_at=None).values("session")
    sessions = Session.objects.filter(pk__in=attached, by_meaning=True, erase_at=None).select_related("endpoint")
    session = next((one for one in sessions.order_by("-last_activity_at") if is_offered(one)), None)
    if session is None or not settings.CCM_WORKSPACE_MEANINGS:
        return None
    every = Symbol.objects.filter(snapshot.standing_by_file, is_test=False)
    try:
        embedder = embedder_of(session.endpoint)
    except ModelError as error:
        return MeaningsView(symbols=0, every=every.count(), model="", fault=error.text)
    name = embedder.name if embedder else ""
    index = row.vector_indexes.filter(name=name).first() or SymbolVectorIndex(name=name)
    is_current = index.number == snapshot.number
    where, _, named = name.rpartition("#")
    return MeaningsView(
        symbols=index.symbols if is_current else 0,
        every=every.count(),
        model="" if where == "onnx" else named,
        tokens=index.tokens,
        fault=index.fault,
        is_complete=is_current and index.complete,
        is_older=not compared(snapshot).exists() and every.exists(),
    )


def meaning_of(why: Skip) -> str:
    """With the limit, where it is one."""
    most = limits()
    told = {
        Skip.TOO_MANY: f"; it holds {most.files:,} files or {most.all_bytes >> 20} MB. Attach a folder within this "
        "one, or name in .gitignore what is no code",
        Skip.TOO_LARGE: f": {most.file_bytes >> 10:,} KB",
    }
    return f"{why.meaning}{told.get(why, '')}"


@dataclass(frozen=True, kw_only=True)
class FileView:
    path: str
    language: str
    lines: int
    broken: bool
    address: str


def files_of(view: WorkspaceView, query: str, most: int) -> Sequence[FileView]:
    if view.snapshot is None:
        return ()
    rows = File.objects.filter(view.snapshot.standing, path__icontains=query).order_by("path")
    named = rows.values_list("path", "language", "lines", "broken")[:most]
    number = view.snapshot.number
    return [
        FileView(
            path=path,
            language=language or "text",
            lines=lines,
            broken=broken,
            address=reverse("source", args=[view.workspace.pk, number, path]),
        )
        for path, language, lines, broken in named
    ]


@dataclass(frozen=True, kw_only=True)
class LineView:
    number: int
    html: SafeString
    symbol: str = ""


@dataclass(frozen=True, kw_only=True)
class SourceView:
    file: File
    snapshot: Snapshot
    lines: Sequence[LineView]
    symbols: Sequence[Symbol]
    newer: str = ""
    pinned_in: Sequence[Session] = ()


def source_of(view: WorkspaceView, snapshot: Snapshot, file: File) -> SourceView:
    """`newer`: where the file as it is now can be read, where that is another."""
    symbols = list(file.symbols.exclude(parent=None).defer("terms", "names").order_by("first_line", "pk"))
    current = view.snapshot
    newer = ""
    if current and current != snapshot:
        now = File.objects.filter(current.standing, path=file.path).first()
        if now and now.sha256 != file.sha256:
            newer = reverse("source", args=[view.workspace.pk, current.number, file.path])
    lines = [
        LineView(number=number, html=html)
        for number, html in enumerate(highlighted(file.path, file.language, file.text), 1)
    ]
    return SourceView(
        file=file,
        snapshot=snapshot,
        lines=lines,
        symbols=symbols,
        newer=newer,
        pinned_in=[] if newer or not current else pinned_in(view.workspace),
    )


def pinned_in(workspace: Workspace) -> Sequence[Session]:
    """The conversations used last of those in which something of it can be pinned."""
    attached = Attachment.objects.filter(workspace=workspace, detached_at=None).values("session")
    rows = Session.objects.filter(pk__in=attached, owner=workspace.owner, erase_at=None)
    return list(rows.order_by("-last_activity_at")[:PINNED_IN])


def highlighted(path: str, language: str, text: str) -> Sequence[SafeString]:
    """Each line as HTML; what is in no known language as it is."""
    try:
        lexer: object = get_lexer_for_filename(path, stripnl=False, ensurenl=False)
    except ClassNotFound:
        lexer = None
    lines = plain_lines(text)
    if lexer is None or not language or len(text) > HIGHLIGHTED:
        return [escape(line) for line in lines]
    # The formatter closes and opens its spans at the end of each line, and escapes what it is given.
    html = formatted(lexer.get_tokens("\n".join(lines)), HTML)  # type: ignore[attr-defined]
    return [mark_safe(line) for line in html.split("\n")][: len(lines)]


def plain_lines(text: str) -> Sequence[str]:
    lines = text.replace("\r\n", "\n").replace("\r", " ").split("\n")
    return lines[:-1] if len(lines) > 1 and not lines[-1] else lines
