"""Small artifacts that every gate passes, made without a drafter: of chosen turns, or of a concluded effort."""

from __future__ import annotations

import zlib
from collections.abc import Collection
from typing import Any

from compaction.accepting import accept_compaction, rollback_compaction
from compaction.actions import inputs_of
from compaction.domain.artifact import SCHEMA_VERSION, Generation, Kind, SourceRef
from compaction.domain.artifact import Artifact as Document
from compaction.domain.gates.judging import EVALUATOR_VERSION
from compaction.domain.lifecycle import ArtifactState
from compaction.domain.making import with_id
from compaction.models import Artifact, DraftRun, GateRun
from compaction.snapshots import log_for, read_ledger
from efforts import actions
from efforts.domain.source_text import POLICY_VERSION
from efforts.models import Branch, ContextPointer, Effort, EffortState
from efforts.snapshots.sources import EffortLog, read_scope_log, read_summary_log
from tests.efforts.talk import Talk

GENERATION = Generation(
    purpose="compaction",
    drafter="extractive",
    model="",
    provider="",
    params={},
    prompt_version="p1",
    policy_version=POLICY_VERSION,
    attempts=(),
    elapsed_ms=0,
    cap=40_000,
    timeout_ms=90_000,
)


def of_turns(branch: Branch, numbers: Collection[int], text: str = "Of chosen turns.") -> Artifact:
    return artifact_of(branch, None, read_scope_log(branch, numbers), text, Kind.INTENTIONAL)


def of_effort(talk: Talk, slug: str, text: str = "") -> Artifact:
    effort = talk.state(slug).effort
    return artifact_of(
        talk.branch, effort, read_summary_log(talk.branch, effort), text or f"All about {slug}.", Kind.CONCLUSION
    )


def artifact_of(branch: Branch, effort: Effort | None, log: EffortLog, text: str, kind: Kind) -> Artifact:
    """Once: the same text of the same turns is the same artifact."""
    document = document_of(branch, effort, log, text, kind)
    if kept := Artifact.objects.filter(pk=document.artifact_id).first():
        return kept
    home: dict[str, Any] = {"session": branch.session, "branch": branch, "effort": effort}
    run = DraftRun.objects.create(**home, drafter="extractive", prompt_version="p1", ended="drafted")
    artifact = Artifact.objects.create(
        pk=document.artifact_id,
        **home,
        run=run,
        kind=kind,
        state=ArtifactState.REPLACEABLE,
        packed=zlib.compress(document.document.encode()),
        offered_form="document",
        stop_reason="stop",
        source_sha256=log.source.sha256,
        source_start=document.source.start,
        source_end=document.source.end,
        family=document.artifact_id,
    )
    judge(artifact, log)
    return artifact


def document_of(branch: Branch, effort: Effort | None, log: EffortLog, text: str, kind: Kind) -> Document:
    turns = tuple(turn.number for turn in log.turns)
    source = SourceRef(
        session=str(branch.session_id),
        branch=str(branch.pk),
        effort=effort.slug if effort else None,
        start=min(turns, default=0),
        end=max(turns, default=0),
        turns=turns,
        source_sha256=log.source.sha256,
        source_tokens=len(log.source.text) // 4,
    )
    return with_id(
        Document(
            schema_version=SCHEMA_VERSION,
            artifact_id="",
            kind=kind,
            replaceable=True,
            source=source,
            generation=GENERATION,
            headline=text,
            headline_items=(),
            opening=(),
            items=(),
            evidence=(),
            stats={},
            redactions=0,
            warnings=(),
        )
    )


def judge(artifact: Artifact, log: EffortLog | None = None, **changes: Any) -> GateRun:
    """A passing run of the gates, by what there is now."""
    from compaction.accepting import checked

    log = log or log_for(artifact, checked(artifact))
    given = {
        "passed": True,
        "policy_version": POLICY_VERSION,
        "evaluator_version": EVALUATOR_VERSION,
        "inputs": inputs_of(log.source, read_ledger(artifact.session, log.source)),
        "verdicts": [],
    }
    return GateRun.objects.create(run=artifact.run, artifact=artifact, **{**given, **changes})


def accept(artifact: Artifact, **more: Any) -> ContextPointer:
    actor = more.pop("actor", artifact.session.owner)
    scope = (artifact.session_id, artifact.source_start, artifact.source_end)
    return accept_compaction(artifact.pk, *scope, actor=actor, **more)


def roll_back(artifact: Artifact, **more: Any) -> list[ContextPointer]:
    actor = more.pop("actor", artifact.session.owner)
    return rollback_compaction(artifact.pk, actor=actor, **more)


def concluded(talk: Talk, name: str, *said: str) -> tuple[str, Artifact]:
    """A concluded effort with a summary that was accepted; its id, and the artifact."""
    slug = actions.open_effort(talk.place, name).effort.slug
    for text in said or (f"Something about {name}.",):
        talk.ask(text)
    actions.close_effort(talk.place, slug)
    artifact = of_effort(talk, slug)
    accept(artifact, via="control")
    return slug, artifact


def standing(talk: Talk) -> list[tuple[str, list[int]]]:
    """The texts that stand in the branch, each with its turns."""
    pointers = ContextPointer.objects.filter(branch=talk.branch_id, state="active").order_by("pk")
    return [(pointer.text, numbers(pointer)) for pointer in pointers]


def numbers(pointer: ContextPointer) -> list[int]:
    return list(pointer.scope.order_by("turn__number").values_list("turn__number", flat=True))


def summaries(talk: Talk) -> dict[str, str]:
    rows = EffortState.objects.filter(branch=talk.branch_id).order_by("pk")
    return dict(rows.values_list("effort__slug", "summary"))
