"""What is read to draft, to check and to judge: the ledger of a scope, stored checks, and how long drafting took."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from django.db.models import Q
from pydantic import TypeAdapter

from compaction.domain.artifact import Artifact as Document
from compaction.domain.artifact import Claim, Kind, Section, Status, parse_artifact
from compaction.domain.check.answers import Entailment, Void
from compaction.domain.check.mapping import Question
from compaction.domain.check.notes import Half
from compaction.domain.check.result import Checked, Opinion, Said, read, together
from compaction.domain.editing import Decision
from compaction.domain.gates.cost import LAST_RUNS
from compaction.domain.ledger import Entry, renumbered
from compaction.domain.lifecycle import ClaimVerdictValue
from compaction.domain.merging import Joined, Stage, carried, joined, merged_checks
from compaction.domain.rendering import rendered
from compaction.domain.verdicts import Judged, Offered, Spent
from compaction.models import Artifact, Check, ClaimVerdict, DraftRun, NotNeeded, SeedStage, SetAside
from efforts.context.connections import ModelChoice
from efforts.context.ledger import CONSTRAINT, LedgerView, entries_of
from efforts.context.sources import read_scope_log, read_summary_log, scope_turn_ids, summary_turn_ids
from efforts.domain.effort.states import ConstraintState, EntryKind, EntryState
from efforts.domain.text.redaction import redact
from efforts.domain.text.source_text import Part, Source
from efforts.models import Branch, Constraint, Session
from efforts.standins.logs import SourceLog
from efforts.turns.recording import count

T = TypeVar("T")
# What a kind and a state of the ledger mean at the end of the scope; what is only proposed or was dismissed is none.
MEANINGS: dict[tuple[str, str], tuple[Section, Status]] = {
    (EntryKind.DECISION, EntryState.CONFIRMED): (Section.DECISION, Status.ACCEPTED),
    (EntryKind.DECISION, EntryState.SUPERSEDED): (Section.DECISION, Status.SUPERSEDED),
    (EntryKind.OPEN_WORK, EntryState.CONFIRMED): (Section.OPEN_WORK, Status.OPEN),
    (EntryKind.OPEN_WORK, EntryState.DONE): (Section.OPEN_WORK, Status.DONE),
    (CONSTRAINT, ConstraintState.IN_FORCE): (Section.RULE, Status.IN_FORCE),
    (CONSTRAINT, ConstraintState.REVOKED): (Section.RULE, Status.REVOKED),
}
# As rows keep them.
NOTES, QUESTION, ENTRIES, CLAIM = (
    TypeAdapter(Half),
    TypeAdapter(Question),
    TypeAdapter(tuple[Entry, ...]),
    TypeAdapter(Claim),
)
# Whoever says so of a claim has read it.
READ = (ClaimVerdictValue.KEPT, ClaimVerdictValue.EDITED, ClaimVerdictValue.ADDED)


# The ledger


def read_ledger(session: Session, source: Source) -> tuple[Entry, ...]:
    """What a person keeps of these messages, in every state that was confirmed once."""
    if isinstance(source, Joined):
        sessions = Session.objects.in_bulk([stage.session for stage in source.stages])
        of_stages = ((stage.place, read_ledger(sessions[stage.session], stage.source)) for stage in source.stages)
        return tuple(entry for place, entries in of_stages for entry in renumbered(entries, str(place)))
    views = entries_of(session, {part.message for part in source.parts})
    in_force = Constraint.objects.filter(session=session, state=ConstraintState.IN_FORCE)
    standing = set(in_force.values_list("pk", flat=True))
    return tuple(entry_of(view, source, standing) for view in views if (view.kind, view.state) in MEANINGS)


def entry_of(view: LedgerView, source: Source, standing: Collection[int]) -> Entry:
    section, status = MEANINGS[view.kind, view.state]
    return Entry(
        id=f"{view.kind}-{view.id}",
        section=section,
        status=status,
        text=" ".join(redact(view.text).value.split()),
        sentences=sentences_of(view, source),
        in_system=view.kind == CONSTRAINT and view.id in standing,
    )


def sentences_of(view: LedgerView, source: Source) -> tuple[str, ...]:
    """Those that have its words; where these stand nowhere, all that its message says."""
    part = source.by_place.get((view.message, Part.TEXT))
    if part is None:
        return ()
    words = " ".join(redact(view.text).value.split())
    said = [(sentence.id, " ".join(sentence.text.split())) for sentence in part.sentences]
    found = [id for id, text in said if words in text or (len(text) > len(words) / 4 and text in words)]
    return tuple(found or (id for id, _ in said))


# Sources


def log_for(artifact: Artifact, document: Document, branch: Branch | None = None) -> SourceLog:
    """What it would stand for now, in its own branch if no other is named; of a seed what it is made of, which are
    turns of other conversations."""
    branch = branch or artifact.branch
    if artifact.kind == Kind.SEED:
        stages = map(stage_of, stage_rows(artifact.session))
        return SourceLog(turns=(), turn_ids=(), source=joined(stages))
    if artifact.effort:
        return read_summary_log(branch, artifact.effort)
    return read_scope_log(branch, document.source.turns)


def turns_for(artifact: Artifact, document: Document, branch: Branch) -> set[int]:
    """The ids of the turns that it would stand for now: of a seed none."""
    if artifact.kind == Kind.SEED:
        return set()
    if artifact.effort:
        return summary_turn_ids(branch, artifact.effort)
    return scope_turn_ids(branch, document.source.turns)


@dataclass(frozen=True, kw_only=True)
class Basis:
    """What an artifact is judged by now: the log that it would stand for, and what is kept of that on the list."""

    log: SourceLog
    entries: tuple[Entry, ...]

    @property
    def source(self) -> Source:
        return self.log.source


def basis_of(artifact: Artifact, document: Document, branch: Branch | None = None) -> Basis:
    log = log_for(artifact, document, branch)
    return Basis(log=log, entries=read_ledger(artifact.session, log.source))


def stage_rows(session: Session) -> Iterable[SeedStage]:
    """The windows of the package that a conversation starts from."""
    rows = SeedStage.objects.filter(
        package__session=session, package__owner=session.owner_id, draft__branch__session__owner=session.owner_id
    )
    return rows.select_related("draft__branch__session").order_by("place")


def families_of(artifact: Artifact) -> list[str]:
    """Whose checks are its own: those of all its versions, and of what is put together those of its stages."""
    if artifact.kind != Kind.SEED:
        return [artifact.family]
    return [artifact.family, *(made.family for _, made in put_together(artifact))]


def put_together(seed: Artifact) -> Iterable[tuple[SeedStage, Artifact]]:
    """Its stages, each with what it was then: whatever was drafted of it, or edited, since is another."""
    first = Artifact.objects.get(pk=seed.family)
    known = Artifact.objects.filter(kind=Kind.STAGE, created_at__lte=first.created_at).select_related("session")
    for row in stage_rows(seed.session):
        family = Artifact.objects.filter(pk=row.draft.artifact).values("family")
        made = known.filter(Q(run__scope=row.draft) | Q(family__in=family)).order_by("-created_at").first()
        if made:
            yield row, made


def written_by(stages: Collection[str]) -> str:
    """The model that has written the first of each of these families; empty where it is not one."""
    models = set(Artifact.objects.filter(family__in=stages, version=1).values_list("run__model", flat=True))
    return models.pop() if len(models) == 1 else ""


def stage_of(row: SeedStage) -> Stage:
    """The window with its log as it is now."""
    branch = row.draft.branch
    return Stage(place=row.place, session=branch.session_id, source=read_scope_log(branch, row.draft.turns).source)


# Checks


def checked_of(artifact: Artifact, document: Document, source: Source) -> tuple[Checked | None, list[int]]:
    """All valid checks of its versions over this source, read anew from their stored answers; and their ids."""
    checks, ids = of_stages(artifact) if artifact.kind == Kind.SEED else checks_over(artifact, source)
    person = person_read(artifact, document)
    found_by = together([*checks, *([person] if person else [])])
    if found_by and person:
        found_by = replace(found_by, told=reworded(found_by.told, artifact, document, person))
    return found_by, ids


@dataclass(frozen=True, kw_only=True)
class Window:
    """What was checked by itself, and what models have found of it. `overtaken`: entries that a later one overtakes."""

    source: Source
    known: Checked | None
    overtaken: frozenset[str] = frozenset()


def checks_over(artifact: Artifact, source: Source) -> tuple[list[Checked], list[int]]:
    """Those of its whole source; and those of its windows as one, where each has been checked."""
    whole, windows, ids = by_windows(artifact, source)
    merged = merged_checks(list(windows.values()), overtaken_in(artifact, windows.values()))
    return [*([merged] if merged else []), *whole], ids


def windows_over(artifact: Artifact, source: Source) -> list[Window]:
    """The windows that it was checked in; else the whole."""
    whole, windows, _ = by_windows(artifact, source)
    gone = overtaken_in(artifact, windows.values())
    return [
        Window(
            source=source.between(set(turns)),
            known=known,
            overtaken=frozenset(id for id, told in known.told.items() if told and set(told) <= gone),
        )
        for turns, known in windows.items()
    ] or [Window(source=source, known=together(whole))]


def by_windows(artifact: Artifact, source: Source) -> tuple[list[Checked], dict[tuple[int, ...], Checked], list[int]]:
    """Checks of its whole source; by their turns those of its windows, where these are all of it; and the ids."""
    rows = Check.objects.filter(family=artifact.family, void="").prefetch_related("requests").order_by("pk")
    by_turns: dict[tuple[int, ...], list[Checked]] = {}
    ids = []
    for row in rows:
        if check := stored(row, row_source(row, source)):
            by_turns.setdefault(tuple(row.turns), []).append(check)
            ids.append(row.pk)
    whole = by_turns.pop(source.turns, [])
    if {turn for turns in by_turns for turn in turns} != set(source.turns):
        return whole, {}, ids
    windows = {turns: check for turns in sorted(by_turns) if (check := together(by_turns[turns]))}
    return whole, windows, ids


def of_stages(artifact: Artifact) -> tuple[list[Checked], list[int]]:
    """Of what a conversation starts from: those of its stages, as these were when they were put together."""
    stages, checks, ids = [], [], []
    for row, made in put_together(artifact):
        document = parse_artifact(made.document)
        stages.append(replace(stage_of(row), artifact=document))
        check, found = checked_of(made, document, stages[-1].source)
        checks.append(check)
        ids += found
    told = carried(stages, checks)
    merged = merged_checks(told, overtaken_in(artifact, told))
    return [merged] if merged else [], ids


def overtaken_in(artifact: Artifact, parts: Iterable[Checked | None]) -> set[str]:
    """Contents of claims that were read as those of its parts and that none of its versions has. What a person has
    struck since is missed."""
    read_ever = {content for check in parts if check for content in check.opinions}
    if not read_ever:
        return set()
    versions = Artifact.objects.filter(family=artifact.family)
    return read_ever - {claim.content for row in versions for claim in parse_artifact(row.document).claims}


def reworded(
    told: Mapping[str, tuple[str, ...]], artifact: Artifact, document: Document, person: Checked
) -> dict[str, tuple[str, ...]]:
    """A claim that a person has worded anew tells what it told before."""
    before: dict[str, set[str]] = {}
    for row in Artifact.objects.filter(family=artifact.family, version__lt=artifact.version):
        for claim in parse_artifact(row.document).claims:
            before.setdefault(claim.id, set()).add(claim.content)
    now = {
        old: claim.content
        for claim in document.claims
        if claim.content in person.opinions
        for old in before.get(claim.id, ())
    }
    return {
        entry: tuple(dict.fromkeys([*ids, *(now[one] for one in ids if one in now)])) for entry, ids in told.items()
    }


def row_source(row: Check, source: Source) -> Source | None:
    """What the check was made of: the whole source, or one window of it. None where the log is another now."""
    if row.source_sha256 == source.sha256:
        return source
    window = source.between(set(row.turns))
    return window if window.sha256 == row.source_sha256 else None


def stored(row: Check, source: Source | None) -> Checked | None:
    if source is None:
        return None
    said = [
        Said(
            text=one.answer,
            notes=from_kept(NOTES, one.notes) if isinstance(one.notes, list) else (),
            asked=from_kept(QUESTION, one.notes) if isinstance(one.notes, dict) else None,
        )
        for one in row.requests.all()
    ]
    listed = None if row.listed is None else from_kept(ENTRIES, row.listed)
    try:
        return read(said, source, by=row.model, examined=row.examined, listed=listed)
    except Void:
        return None


def from_kept(form: TypeAdapter[T], kept: Any) -> T:
    # By way of its text: JSON has neither tuples nor the words of an enumeration.
    return form.validate_json(json.dumps(kept))


def claim_from(kept: dict[str, Any]) -> Claim:
    return from_kept(CLAIM, kept)


def decision_of(row: ClaimVerdict) -> Decision:
    added = claim_from(row.added) if row.added else None
    return Decision(claim=row.item, verdict=ClaimVerdictValue(row.verdict), text=row.text, added=added)


def person_read(artifact: Artifact, document: Document) -> Checked | None:
    """What reviewers have handed in: whoever kept or worded a claim has read it beside its sentences."""
    verdicts = ClaimVerdict.objects.filter(artifact__family=artifact.family, submitted_at__isnull=False)
    opinions: dict[str, tuple[Opinion, ...]] = {}
    readers = []
    versions = {row.pk: row for row in Artifact.objects.filter(family=artifact.family)}
    claims = document.by_id
    for verdict in verdicts.select_related("reviewer").order_by("submitted_at", "pk"):
        if verdict.verdict not in READ or verdict.item not in claims or verdict.artifact_id not in versions:
            continue
        claim = claims[verdict.item]
        # Who wanted other words than stand there has not found these true.
        if verdict.verdict == ClaimVerdictValue.EDITED and verdict.text != claim.text:
            continue
        if verdict.verdict == ClaimVerdictValue.KEPT:
            kept = parse_artifact(versions[verdict.artifact_id].document).by_id.get(verdict.item)
            if kept is None or kept.content != claim.content:
                continue
        by = verdict.reviewer.get_username()
        readers.append(by)
        worded = verdict.verdict != ClaimVerdictValue.KEPT
        opinions[claim.content] = (Opinion(verdict=Entailment.ENTAILED, by=by, person=True, worded=worded),)
    if not opinions:
        return None
    return Checked(by=", ".join(dict.fromkeys(readers)), opinions=opinions, told={}, examined=True, person=True)


# Judged


def judged_now(
    artifact: Artifact,
    document: Document,
    source: Source,
    entries: tuple[Entry, ...],
    check: Checked | None,
) -> Judged:
    """All that the gates would judge it by."""
    run = artifact.run
    text = rendered(document, count=count)
    is_draft = artifact.offered_form == "draft"
    return Judged(
        offered=Offered(
            text=artifact.offered if is_draft else artifact.document,
            form="draft" if is_draft else "document",
            stop_reason=artifact.stop_reason,
        ),
        artifact=document,
        source=source,
        text=text,
        tokens=count(text.standing),
        body_tokens=count(text.body),
        entries=entries,
        check=check,
        # What its own run and the checks of its run took, with the limits that held for them.
        spent=tuple(Spent(**one) for one in run.spent),
        latest=latest_runs(run.purpose, run.model, run.prompt_version, run) if run.model else (),
        set_aside=frozenset(SetAside.objects.filter(artifact=artifact).values_list("finding", flat=True)),
        not_needed=frozenset(NotNeeded.objects.filter(family=artifact.family).values_list("key", flat=True)),
    )


def latest_runs(purpose: str, model: str, prompt_version: str, until: DraftRun | None = None) -> tuple[int | None, ...]:
    """Milliseconds of the newest runs, oldest first; None for one that did not end by itself. `until`: the last."""
    runs = DraftRun.objects.filter(purpose=purpose, model=model, prompt_version=prompt_version)
    if until:
        runs = runs.filter(pk__lte=until.pk)
    newest = runs.order_by("-id").values_list("elapsed_ms", flat=True)[:LAST_RUNS]
    return tuple(reversed(newest))


def void_checks(owner: Any, checker: ModelChoice, since: Any, most: int) -> int:
    """How many of the newest checks by this model at its address for this person were void, one after the other. Those
    for which nothing was asked say nothing of it."""
    of_it = {"provider": checker.base_url, "model": checker.model, "tokens__gt": 0}
    rows = Check.objects.filter(run__session__owner=owner, **of_it)
    if since:
        rows = rows.filter(created_at__gte=since)
    ended: Iterable[str] = rows.order_by("-pk").values_list("void", flat=True)[:most]
    number = 0
    for void in ended:
        if not void:
            return number
        number += 1
    return number
