"""Every change to artifacts: kept when they are drafted and judged, accepted when they come to stand."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any

from efforts.domain.source_text import POLICY_VERSION, Source
from efforts.errors import Refused

from .asking import Answer
from .domain.artifact import Artifact as Document
from .domain.gates.judging import EVALUATOR_VERSION, hash_of, plain, tags_of
from .domain.lifecycle import ArtifactState, Ended, state_of
from .drafting import PURPOSE, Drafted, Tried
from .judging import PURPOSE as JUDGING
from .judging import Asked
from .models import Acceptance, Artifact, DraftRun, GateRun
from .prompts import judge_version
from .snapshots import Ledger, read_ledger

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from efforts.models import ContextPointer, EffortState

NOT_PASSED = "Not every gate passes for this summary, so it cannot stand. Its log stays in the prompt."
STALE = "The log or the ledger has changed since this summary was judged. Try again to have it drafted anew."
FORKED = "fork"


def keep(state: EffortState, drafted: Drafted, ledger: Ledger) -> None:
    """Everything that was tried, with what the gates said; within the caller's transaction."""
    run = None
    for tried in drafted.tried:
        run = keep_tried(state, tried, ledger)
    if run and drafted.fallback:
        keep_artifact(state, run, drafted.fallback, ArtifactState.ADVISORY)


def keep_tried(state: EffortState, tried: Tried, ledger: Ledger) -> DraftRun:
    run = DraftRun.objects.create(
        **place_of(state),
        purpose=PURPOSE,
        drafter=tried.drafter,
        model=tried.model,
        prompt_version=tried.prompt_version,
        ended=tried.ended,
        attempts=[kept_answer(answer) for answer in tried.answers],
        tokens=tried.tokens,
        elapsed_ms=tried.elapsed_ms,
    )
    row = (
        keep_artifact(state, run, tried.artifact, state_of(tried.artifact.kind, tried.verdicts), tried)
        if tried.artifact
        else None
    )
    if tried.asked:
        keep_judge(state, tried.asked)
    GateRun.objects.create(
        run=run,
        artifact=row,
        passed=tried.passed,
        tags=tags_of(tried.verdicts),
        policy_version=POLICY_VERSION,
        evaluator_version=EVALUATOR_VERSION,
        inputs=inputs_of(tried.source, ledger),
        verdicts=[verdict.as_json() for verdict in tried.verdicts],
    )
    return run


def keep_judge(state: EffortState, asked: Asked) -> None:
    DraftRun.objects.create(
        **place_of(state),
        purpose=JUDGING,
        drafter="judge",
        model=asked.model,
        prompt_version=judge_version(),
        ended=Ended.UNPARSEABLE if asked.fault else Ended.DRAFTED,
        attempts=[kept_answer(asked.answer)],
        tokens=asked.answer.usage.total if asked.answer.usage else None,
        elapsed_ms=asked.answer.elapsed_ms,
    )


def kept_answer(answer: Answer) -> dict[str, Any]:
    return {"text": answer.text, **answer.attempt.model_dump(mode="json")}


def keep_artifact(
    state: EffortState, run: DraftRun, made: Document, to: ArtifactState, tried: Tried | None = None
) -> Artifact:
    """Once: the same document is the same row, whoever drafts it again."""
    row, _ = Artifact.objects.get_or_create(
        pk=made.artifact_id,
        defaults={
            **place_of(state),
            "run": run,
            "kind": made.kind,
            "state": to,
            "packed": zlib.compress(made.document.encode(), 9),
            "offered": tried.offered.text if tried and tried.offered.form == "draft" else "",
            "offered_form": tried.offered.form if tried else "document",
            "stop_reason": tried.offered.stop_reason if tried else "stop",
            "source_sha256": made.source.source_sha256,
            "source_start": made.source.start,
            "source_end": made.source.end,
        },
    )
    if row.state != to:
        # Judged again, by another ledger or newer rules.
        Artifact.objects.filter(pk=row.pk).update(state=to)
    return row


def place_of(state: EffortState) -> dict[str, Any]:
    return {"session_id": state.branch.session_id, "branch_id": state.branch_id, "effort_id": state.effort_id}


def inputs_of(source: Source, ledger: Ledger) -> dict[str, str]:
    """What the gates judged by, beside the artifact itself: where any of it is another now, they judge anew."""
    return {
        "source": source.sha256,
        "ledger": hash_of([plain(ledger.confirmed), plain(ledger.candidates)]),
        "policy": POLICY_VERSION,
        "evaluator": EVALUATOR_VERSION,
    }


def accept(artifact_id: str, pointer: ContextPointer, source: Source, actor: User | None, via: str) -> None:
    """From now on its text stands in for the pointer's turns, whose `source` it is.

    Raises `Refused` where the gates no longer say that it may.
    """
    artifact = Artifact.objects.get(pk=artifact_id)
    judged = artifact.gate_runs.order_by("-pk").first()
    if judged is None or not judged.passed or artifact.state != ArtifactState.REPLACEABLE:
        raise Refused("gates", NOT_PASSED)
    # What a fork takes over stands for the same turns there; new rules only bar a new acceptance.
    if via != FORKED and judged.inputs != inputs_of(source, read_ledger(pointer.branch.session, source)):
        raise Refused("stale", STALE)
    Acceptance.objects.create(artifact=artifact, pointer=pointer, gate_run=judged, actor=actor, via=via)
