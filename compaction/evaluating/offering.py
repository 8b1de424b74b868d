"""A draft of a scope as gates are given it, with a run of usual cost behind it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from compaction.domain.artifact import (
    Artifact,
    Attempt,
    Draft,
    Evidence,
    Generation,
    Kind,
    SourceRef,
    Usage,
)
from compaction.domain.making import Count, Frame, make
from compaction.domain.rendering import standing_text
from compaction.domain.verdicts import Gate, Judged, Offered, Verdict
from efforts.domain.canonical import canonical_json
from efforts.domain.source_text import POLICY_VERSION

from .cases import Case

Judge = Callable[[Gate, Judged], Verdict]

CAP, TIMEOUT_MS = 40_000, 90_000
USUAL_MS, LATEST = 20_000, 50


@dataclass(frozen=True, kw_only=True)
class Run:
    """What is known of the run that drafted. `latest` as `Judged` has it."""

    drafter: Literal["model", "extractive"] = "model"
    model: str = "hand"
    attempts: tuple[Attempt, ...] = ()
    elapsed_ms: int = USUAL_MS
    latest: tuple[int | None, ...] = (USUAL_MS,) * LATEST


EXTRACTIVE = Run(drafter="extractive", model="", elapsed_ms=0, latest=(0,) * LATEST)


def usual_run(case: Case, draft: Draft, count: Count) -> Run:
    usage = Usage(
        input=count(case.source.text), cache_read=0, cache_creation=0, output=count(bytes_of(draft)), source="counted"
    )
    return Run(attempts=(Attempt(usage=usage, stop_reason="stop", error="", elapsed_ms=USUAL_MS),))


def bytes_of(draft: Draft) -> str:
    return canonical_json(draft.model_dump(mode="json"))


def artifact_of(case: Case, draft: Draft, run: Run, *, count: Count, evidence: tuple[Evidence, ...] = ()) -> Artifact:
    frame = Frame(
        kind=Kind.INTENTIONAL,
        replaceable=True,
        source=source_ref(case, count),
        generation=generation_of(run),
        evidence=evidence,
    )
    return make(draft, case.source, frame, count=count)


def source_ref(case: Case, count: Count) -> SourceRef:
    turns = case.source.turns
    return SourceRef(
        session=case.id,
        branch="main",
        effort=None,
        start=turns[0],
        end=turns[-1],
        turns=turns,
        source_sha256=case.source.sha256,
        source_tokens=count(case.source.text),
    )


def generation_of(run: Run) -> Generation:
    return Generation(
        purpose="compaction",
        drafter=run.drafter,
        model=run.model,
        provider="",
        params={},
        prompt_version="1",
        policy_version=POLICY_VERSION,
        attempts=run.attempts,
        elapsed_ms=run.elapsed_ms,
        cap=CAP,
        timeout_ms=TIMEOUT_MS,
    )


def offered_draft(
    case: Case, draft: Draft, run: Run, *, count: Count, offered: str = "", stop_reason: str = "stop"
) -> Judged:
    """Of the bytes that were offered, or of the draft's own."""
    judged = offered_document(case, artifact_of(case, draft, run, count=count), run, count=count)
    text = offered or bytes_of(draft)
    return replace(judged, offered=Offered(text=text, form="draft", stop_reason=stop_reason))


def offered_document(case: Case, artifact: Artifact, run: Run, *, count: Count) -> Judged:
    return Judged(
        offered=Offered(text=artifact.document, form="document"),
        artifact=artifact,
        source=case.source,
        ledger=case.ledger,
        candidates=(),
        tokens=count(standing_text(artifact)),
        latest=run.latest,
    )


def offered_bytes(case: Case, text: str, stop_reason: str) -> Judged:
    """Bytes of which nothing could be made."""
    return Judged(
        offered=Offered(text=text, form="draft", stop_reason=stop_reason),
        artifact=None,
        source=case.source,
        ledger=case.ledger,
        candidates=(),
        tokens=0,
        latest=(),
    )
