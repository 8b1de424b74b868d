"""What drafters and gates leave behind: every attempt, artifact and verdict is kept."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from efforts import events
from efforts.domain.source_text import POLICY_VERSION, Source
from efforts.models import Branch
from efforts.scopes import SCOPES
from efforts.summaries import SUMMARIES

from .asking import Answer
from .domain.artifact import Artifact as Document
from .domain.gates.judging import EVALUATOR_VERSION, hash_of, plain, tags_of
from .domain.lifecycle import ArtifactState, Ended, state_of
from .domain.verdicts import Finding, Verdict
from .drafting import PURPOSE, Drafted, Tried
from .judging import PURPOSE as JUDGING
from .judging import Asked
from .models import Artifact, DraftingPolicy, DraftRun, GateRun, Reserved
from .prompts import judge_version
from .snapshots import Ledger
from .usage import why_not

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from efforts.models import Session


@dataclass(frozen=True, kw_only=True)
class Home:
    """Where an artifact belongs; without an effort its turns were chosen. `purpose` is what its cost counts as."""

    session_id: UUID
    branch_id: UUID
    effort_id: int | None = None
    scope_id: int | None = None
    purpose: str = PURPOSE

    @property
    def fields(self) -> dict[str, Any]:
        return {"session_id": self.session_id, "branch_id": self.branch_id, "effort_id": self.effort_id}

    @property
    def of_run(self) -> dict[str, Any]:
        return {**self.fields, "scope_id": self.scope_id}


def keep(home: Home, drafted: Drafted, ledger: Ledger, standing: Callable[[Tried], str]) -> None:
    """Everything that was tried, with what the gates said; within the caller's transaction. `standing`: what of it
    would stand in the prompt."""
    run = None
    for tried in drafted.tried:
        run = keep_tried(home, tried, ledger, standing)
    if run and drafted.fallback:
        keep_artifact(home, run, drafted.fallback, ArtifactState.ADVISORY)


def keep_cost(home: Home, drafted: Drafted) -> None:
    """Of a model's answers that came too late to be of use: what was asked, and what it cost. With a conversation that
    was deleted meanwhile, that is gone too."""
    if not Branch.objects.filter(pk=home.branch_id).exists():
        return
    for tried in drafted.tried:
        if tried.answers:
            keep_run(home, tried, Ended.OVERTAKEN)
        if tried.asked:
            keep_judge(home, tried.asked)


def keep_run(home: Home, tried: Tried, ended: Ended) -> DraftRun:
    return DraftRun.objects.create(
        **home.of_run,
        purpose=home.purpose,
        drafter=tried.drafter,
        model=tried.model,
        prompt_version=tried.prompt_version,
        ended=ended,
        attempts=[kept_answer(answer) for answer in tried.answers],
        tokens=tried.tokens,
        elapsed_ms=tried.elapsed_ms,
    )


def keep_tried(home: Home, tried: Tried, ledger: Ledger, standing: Callable[[Tried], str]) -> DraftRun:
    run = keep_run(home, tried, tried.ended)
    row = (
        keep_artifact(home, run, tried.artifact, state_of(tried.artifact.kind, tried.verdicts), tried, standing(tried))
        if tried.artifact
        else None
    )
    if tried.asked:
        keep_judge(home, tried.asked)
    findings = tried.asked.findings if tried.asked else ()
    keep_verdicts(run, row, tried.verdicts, inputs_of(tried.source, ledger), findings)
    return run


def keep_verdicts(
    run: DraftRun,
    row: Artifact | None,
    verdicts: Sequence[Verdict],
    inputs: dict[str, str],
    findings: Sequence[Finding] = (),
    set_aside: Collection[str] = (),
) -> GateRun:
    return GateRun.objects.create(
        run=run,
        artifact=row,
        passed=all(verdict.passed for verdict in verdicts),
        tags=tags_of(verdicts),
        policy_version=POLICY_VERSION,
        evaluator_version=EVALUATOR_VERSION,
        inputs=inputs,
        verdicts=[verdict.as_json() for verdict in verdicts],
        findings=[asdict(finding) for finding in findings],
        set_aside=sorted(set_aside),
    )


def keep_judge(home: Home, asked: Asked) -> None:
    DraftRun.objects.create(
        **home.of_run,
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
    home: Home,
    run: DraftRun,
    made: Document,
    to: ArtifactState,
    tried: Tried | None = None,
    standing: str = "",
    **more: Any,
) -> Artifact:
    """Once: the same document is the same row, whoever drafts it again."""
    row, _ = Artifact.objects.get_or_create(
        pk=made.artifact_id,
        defaults={
            **home.fields,
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
            "standing": standing,
            "family": made.artifact_id,
            **more,
        },
    )
    if row.state != to:
        # Judged again, by another ledger or newer rules.
        Artifact.objects.filter(pk=row.pk).update(state=to)
    return row


def inputs_of(source: Source, ledger: Ledger) -> dict[str, str]:
    """What the gates judged by, beside the artifact itself: where any of it is another now, they judge anew."""
    return {
        "source": source.sha256,
        "ledger": hash_of([plain(ledger.confirmed), plain(ledger.candidates)]),
        "policy": POLICY_VERSION,
        "evaluator": EVALUATOR_VERSION,
    }


# What models may draft for a person


@transaction.atomic
def reserve(session: Session, tokens: int, seconds: float) -> tuple[int | None, str]:
    """Keep so much of the day free for a draft, else say why not: of several at once each sees what the others may use
    up. The id is for `release`."""
    # One at a time for each person.
    owner = type(session.owner).objects.select_for_update(no_key=True).get(pk=session.owner_id)
    if why := why_not(owner, tokens):
        return None, why
    until = timezone.now() + timedelta(seconds=seconds)
    return Reserved.objects.create(user=owner, tokens=tokens, until=until).pk, ""


def release(reserved: int | None) -> None:
    if reserved:
        Reserved.objects.filter(pk=reserved).delete()


def stop_models(user: User) -> int:
    """No model drafts for this person from now on, also what is being drafted: it begins again without one. How many
    drafts that are."""
    with transaction.atomic():
        policy, _ = DraftingPolicy.objects.select_for_update().get_or_create(user=user)
        if policy.stopped_at is None:
            DraftingPolicy.objects.filter(pk=policy.pk).update(stopped_at=timezone.now())
            events.account(user, "drafting.stopped")
    # After it is committed: what is claimed from then on reads that no model may be asked.
    begun_again = SUMMARIES.release_of(user) + SCOPES.release_of(user)
    events.wake_runners()
    return begun_again


@transaction.atomic
def allow_models(user: User) -> None:
    if DraftingPolicy.objects.filter(user=user, stopped_at__isnull=False).update(stopped_at=None):
        events.account(user, "drafting.allowed")


@transaction.atomic
def cap_day(user: User, tokens: int | None) -> None:
    """What models may use up in a day for this person; None: as much as the installation says."""
    policy, _ = DraftingPolicy.objects.select_for_update().get_or_create(user=user)
    if policy.daily_cap != tokens:
        DraftingPolicy.objects.filter(pk=policy.pk).update(daily_cap=tokens)
        events.account(user, "drafting.capped", {"tokens": tokens, "old": policy.daily_cap})
