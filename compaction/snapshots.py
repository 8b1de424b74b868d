"""What is read to draft and to judge: the ledger of a scope, and how long drafting has taken."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from efforts.domain.lifecycle import ConstraintState, EntryKind, EntryState
from efforts.domain.redaction import redact
from efforts.domain.source_text import Part, Source
from efforts.models import Branch, Session
from efforts.recording import count
from efforts.snapshots.ledger import CONSTRAINT, LedgerView, entries_of
from efforts.snapshots.sources import EffortLog, read_scope_log, read_summary_log

from .domain.artifact import Artifact as Document
from .domain.artifact import Kind, Section, Status
from .domain.candidates import candidates_in
from .domain.ledger import Entry, Span, overlap
from .domain.making import link_to
from .domain.merging import Joined, Stage, joined, merged_entries
from .domain.rendering import standing_text
from .domain.verdicts import Finding, Judged, Offered
from .models import Artifact, DraftRun, SeedStage

# Of one kind before this one, as gate E counts them.
NEWEST_RUNS = 49

# What a kind and a state of the ledger mean at the end of the scope; of what is only proposed, what it seems to be.
MEANINGS: dict[tuple[str, str], tuple[Section, Status]] = {
    (EntryKind.DECISION, EntryState.CONFIRMED): (Section.DECISION, Status.ACCEPTED),
    (EntryKind.DECISION, EntryState.PROPOSED): (Section.DECISION, Status.ACCEPTED),
    (EntryKind.DECISION, EntryState.SUPERSEDED): (Section.DECISION, Status.SUPERSEDED),
    (EntryKind.DECISION, EntryState.DISMISSED): (Section.DECISION, Status.ACCEPTED),
    (EntryKind.OPEN_WORK, EntryState.CONFIRMED): (Section.OPEN_WORK, Status.OPEN),
    (EntryKind.OPEN_WORK, EntryState.PROPOSED): (Section.OPEN_WORK, Status.OPEN),
    (EntryKind.OPEN_WORK, EntryState.DONE): (Section.OPEN_WORK, Status.DONE),
    (EntryKind.OPEN_WORK, EntryState.DISMISSED): (Section.OPEN_WORK, Status.OPEN),
    (CONSTRAINT, ConstraintState.IN_FORCE): (Section.CONSTRAINT, Status.IN_FORCE),
    (CONSTRAINT, ConstraintState.REVOKED): (Section.CONSTRAINT, Status.REVOKED),
}
UNCONFIRMED = frozenset({EntryState.PROPOSED, EntryState.DISMISSED})


@dataclass(frozen=True, kw_only=True)
class Ledger:
    """Of a scope: what is confirmed, and what only sounds like it and nobody has dismissed."""

    confirmed: tuple[Entry, ...]
    candidates: tuple[Entry, ...]


def read_ledger(session: Session, source: Source) -> Ledger:
    if isinstance(source, Joined):
        return joined_ledger(source)
    noted = [(view.state, entry_of(view, source)) for view in entries_of(session, {p.message for p in source.parts})]
    cues = [cue for cue in candidates_in(source) if not overlaps_any(cue, [entry for _, entry in noted])]
    proposed = [entry for state, entry in noted if state == EntryState.PROPOSED]
    return Ledger(confirmed=tuple(entry for _, entry in noted if entry.confirmed), candidates=(*proposed, *cues))


def joined_ledger(source: Joined) -> Ledger:
    """Of each stage its own, that of its conversation."""
    sessions = Session.objects.in_bulk([stage.session for stage in source.stages])
    ledgers = [read_ledger(sessions[stage.session], stage.source) for stage in source.stages]
    return Ledger(
        confirmed=merged_entries([ledger.confirmed for ledger in ledgers]),
        candidates=merged_entries([ledger.candidates for ledger in ledgers]),
    )


def log_for(artifact: Artifact, document: Document, branch: Branch | None = None) -> EffortLog:
    """What it would stand for now, in its own branch if no other is named; of a seed what it is made of, which are
    turns of other conversations."""
    branch = branch or artifact.branch
    if artifact.kind == Kind.SEED:
        return EffortLog(turns=(), turn_ids=(), source=joined(seed_stages(artifact.session)))
    if artifact.effort:
        return read_summary_log(branch, artifact.effort)
    return read_scope_log(branch, document.source.turns)


def judged_now(
    artifact: Artifact,
    document: Document,
    source: Source,
    ledger: Ledger,
    *,
    findings: tuple[Finding, ...] = (),
    set_aside: Collection[str] = (),
) -> Judged:
    """All that the gates would judge it by. What was asked of no model took no time."""
    run = artifact.run
    return Judged(
        offered=offered_of(artifact),
        artifact=document,
        source=source,
        ledger=ledger.confirmed,
        candidates=ledger.candidates,
        tokens=standing_tokens(document),
        latest=latest_runs(run.purpose, run.model, run.prompt_version) if run.model else (0,),
        findings=findings,
        set_aside=frozenset(set_aside),
    )


def standing_tokens(document: Document) -> int:
    """Of the text that would stand in for the log."""
    return count(standing_text(document))


def offered_of(artifact: Artifact) -> Offered:
    if artifact.offered_form == "draft":
        return Offered(text=artifact.offered, form="draft", stop_reason=artifact.stop_reason)
    return Offered(text=artifact.document, form="document", stop_reason=artifact.stop_reason)


def seed_stages(session: Session) -> list[Stage]:
    """The windows of the package that a conversation starts from, as their logs are now."""
    rows = SeedStage.objects.filter(
        package__session=session, package__owner=session.owner_id, draft__branch__session__owner=session.owner_id
    )
    return [stage_of(row) for row in rows.select_related("draft__branch__session")]


def stage_of(row: SeedStage) -> Stage:
    branch = row.draft.branch
    return Stage(place=row.place, session=branch.session_id, source=read_scope_log(branch, row.draft.turns).source)


def entry_of(view: LedgerView, source: Source) -> Entry:
    section, status = MEANINGS[view.kind, view.state]
    text = redact(view.text).value
    return Entry(
        id=f"{view.kind}-{view.id}",
        section=section,
        status=status,
        text=text,
        spans=spans_of(view, text, source),
        confirmed=view.state not in UNCONFIRMED,
    )


def spans_of(view: LedgerView, words: str, source: Source) -> tuple[Span, ...]:
    """Its words where they stand in the source text; else all of what its message says."""
    if view.verbatim and (link := link_to(source, view.message, words)):
        return (Span(message=link.message, part=link.part, start=link.start, end=link.end),)
    said = source.by_place.get((view.message, Part.TEXT))
    return (Span(message=view.message, part=Part.TEXT, start=0, end=len(said.text)),) if said else ()


def overlaps_any(entry: Entry, others: Sequence[Entry]) -> bool:
    return any(overlap(one, other) for one in entry.spans[:1] for each in others for other in each.spans)


def latest_runs(purpose: str, model: str, prompt_version: str) -> tuple[int | None, ...]:
    """Milliseconds of the newest runs, oldest first; None for one that did not end by itself."""
    runs = DraftRun.objects.filter(purpose=purpose, model=model, prompt_version=prompt_version)
    newest = runs.order_by("-id").values_list("elapsed_ms", flat=True)[:NEWEST_RUNS]
    return tuple(reversed(newest))
