"""What drafters, checkers and gates leave behind: every request, answer, artifact and verdict is kept."""

from __future__ import annotations

import zlib
from collections.abc import Collection, Sequence
from dataclasses import asdict
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.contrib.auth import get_user_model
from django.db import transaction
from django.utils import timezone

from compaction.domain.artifact import Artifact as Document
from compaction.domain.artifact import Kind
from compaction.domain.check.answers import Entailment as Said
from compaction.domain.check.answers import HalfAnswer, Void, answered
from compaction.domain.check.notes import Role
from compaction.domain.gates.judging import EVALUATOR_VERSION, hash_of, tags_of
from compaction.domain.ledger import Entry
from compaction.domain.lifecycle import Ended, state_of
from compaction.domain.verdicts import GateVerdict
from compaction.drafting.checking import CheckExchange, CheckMade
from compaction.drafting.costs import BEING_EXAMINED, why_not
from compaction.drafting.examining import kept, price
from compaction.drafting.prompts import draft_version
from compaction.drafting.reading import NOTES, QUESTION
from compaction.drafting.summaries import Drafted, Tried, spent_on
from compaction.models import (
    Artifact,
    Check,
    Checker,
    CheckerRefused,
    DraftingPolicy,
    DraftRun,
    GateRun,
    ModelRequest,
    Planted,
    Reserved,
)
from efforts.domain.text.source_text import POLICY_VERSION, Source
from efforts.log import events
from efforts.models import Branch
from efforts.turns.drafts import Line, registered
from efforts.turns.scopes import SCOPES
from efforts.turns.summaries import SUMMARIES

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from efforts.context.connections import ModelChoice
    from efforts.models import Endpoint, Session


# Seconds beyond the timeouts of all requests for what is done around them.
SLACK = 60


def keep(drafted: Drafted) -> None:
    """Everything that was tried, with what was asked, checked and judged; within the caller's transaction."""
    whole = drafted.last.artifact if drafted.last else None
    # Where nothing came of them, excerpts are what they were paid for.
    instead = whole or (drafted.digest.artifact if drafted.digest else None)
    for tried in drafted.tried:
        keep_tried(
            tried,
            family=whole.artifact_id if whole else "",
            made_for=instead.artifact_id if instead else "",
        )
    if drafted.digest:
        keep_tried(drafted.digest)


def keep_cost(drafted: Drafted) -> None:
    """Of a model's answers that came too late to be of use: what was asked, and what it cost. With a conversation that
    was deleted meanwhile, that is gone too."""
    for tried in drafted.tried:
        if tried.exchanges and Branch.objects.filter(pk=tried.task.ref.branch).exists():
            keep_checks(keep_run(tried, Ended.OVERTAKEN), tried, family="")


def keep_tried(tried: Tried, family: str = "", made_for: str = "") -> DraftRun:
    """`family`: of the artifact that its checks are read for, where it is one window of that; `made_for`: of the one
    that it was paid for."""
    run = keep_run(tried, tried.ended, made_for)
    turned_down = tried.artifact is not None and was_turned_down(tried.artifact)
    row = keep_artifact(run, tried) if tried.artifact else None
    checks = keep_checks(run, tried, family=family or (row.family if row else ""))
    inputs = inputs_of(tried.task.source, tried.task.entries)
    keep_verdicts(run, row, tried.verdicts, inputs, checks, turned_down=turned_down)
    return run


def was_turned_down(made: Document) -> bool:
    """Whether a person has rejected just these words. Excerpts are what there is to quote, and come again."""
    row = Artifact.objects.filter(pk=made.artifact_id).exclude(kind=Kind.DIGEST).first()
    return row is not None and row.is_turned_down


def keep_run(tried: Tried, ended: Ended, made_for: str = "") -> DraftRun:
    task = tried.task
    asked = task.choice if tried.exchanges else None
    run = DraftRun.objects.create(
        session_id=UUID(task.ref.session),
        branch_id=UUID(task.ref.branch),
        effort_id=task.effort_id,
        scope_id=task.scope_id,
        family=made_for,
        purpose=task.purpose,
        drafter=tried.drafter,
        model=asked.model if asked else "",
        prompt_version=draft_version() if asked else "",
        ended=ended,
        focus=task.focus,
        spent=[asdict(one) for one in spent_on(tried)],
        tokens=tried.tokens,
        elapsed_ms=tried.elapsed_ms,
    )
    for place, one in enumerate(tried.exchanges):
        ModelRequest.objects.create(run=run, **kept(place, one.step, one.request, one.answer))
    return run


def keep_checks(run: DraftRun, tried: Tried, family: str) -> list[int]:
    """Ids of the valid ones."""
    rows = [keep_check(run, made, tried.task.source, family) for made in tried.checks]
    return [row.pk for row in rows if not row.void]


def keep_check(run: DraftRun, made: CheckMade, source: Source, family: str) -> Check:
    known = None if any(one.step == "inventory" for one in made.exchanges) else made.listed
    row = Check.objects.create(
        run=run,
        family=family,
        model=made.model,
        provider=made.provider,
        version=made.version,
        attempt=made.attempt,
        seed=made.seed,
        source_sha256=source.sha256,
        turns=list(source.turns),
        void=made.void[:500],
        examined=bool(made.checked and made.checked.examined),
        listed=None if known is None else [asdict(entry) for entry in known],
        tokens=made.tokens,
        caught=made.checked.caught if made.checked else 0,
        planted=made.checked.planted if made.checked else 0,
    )
    for place, one in enumerate(made.exchanges):
        asked = ModelRequest.objects.create(
            check_made=row,
            **kept(place, one.step, one.request, one.answer),
            notes=QUESTION.dump_python(one.asked, mode="json")
            if one.asked
            else NOTES.dump_python(one.notes, mode="json"),
        )
        Planted.objects.bulk_create(planted_in(row, asked, one))
    return row


def planted_in(row: Check, asked: ModelRequest, one: CheckExchange) -> list[Planted]:
    """Held: told from the rest as it should be. Empty where the answer does not say."""
    said = verdicts_of(one)
    found = [
        Planted(
            check_made=row,
            request=asked,
            role=note.role,
            kind=note.kind,
            number=note.number,
            claim=note.claim.model_dump(mode="json"),
            held=None
            if note.number not in said or (note.of and row.void)
            else (said[note.number] == Said.ENTAILED) == (note.role == Role.CONTROL),
        )
        for note in one.notes
        if note.role != Role.CLAIM
    ]
    if one.asked and one.asked.hidden:
        claim = one.asked.hidden.model_dump(mode="json")
        held = None if row.void and not one.answer.text else not row.void
        number = one.asked.lost or 0
        found.append(Planted(check_made=row, request=asked, role="hidden", number=number, claim=claim, held=held))
    return found


def verdicts_of(one: CheckExchange) -> dict[int, Said]:
    """As far as the answer can be read, also where it is void."""
    try:
        return {verdict.note: verdict.verdict for verdict in answered(HalfAnswer, one.answer.text).verdicts}
    except Void:
        return {}


def keep_verdicts(
    run: DraftRun,
    row: Artifact | None,
    verdicts: Sequence[GateVerdict],
    inputs: dict[str, str],
    checks: Sequence[int] = (),
    set_aside: Collection[str] = (),
    *,
    turned_down: bool = False,
) -> GateRun:
    """`turned_down`: it is a person who rejects it, and not a gate."""
    return GateRun.objects.create(
        run=run,
        artifact=row,
        passed=bool(verdicts) and all(verdict.passed for verdict in verdicts),
        tags=[] if turned_down else tags_of(verdicts),
        policy_version=POLICY_VERSION,
        evaluator_version=EVALUATOR_VERSION,
        inputs=inputs,
        verdicts=[verdict.as_json() for verdict in verdicts],
        checks=list(checks),
        set_aside=sorted(set_aside),
    )


def keep_artifact(run: DraftRun, tried: Tried, **more: Any) -> Artifact:
    """Once: the same document is the same row, whoever drafts it again."""
    made, text = tried.artifact, tried.text
    assert made is not None
    assert text is not None
    to = state_of(tried.verdicts)
    offered = tried.offered.text if tried.offered.form == "draft" else ""
    row, _ = Artifact.objects.get_or_create(
        pk=made.artifact_id,
        defaults={
            "session_id": run.session_id,
            "branch_id": run.branch_id,
            "effort_id": run.effort_id,
            "run": run,
            "kind": made.kind,
            "state": to,
            "packed": zlib.compress(made.document.encode(), 9),
            "offered": offered,
            "offered_form": tried.offered.form,
            "stop_reason": tried.offered.stop_reason[:20],
            "source_sha256": made.source.source_sha256,
            "source_start": made.source.start,
            "source_end": made.source.end,
            "headline": text.headline,
            "standing": text.standing,
            "body": text.body,
            "family": made.artifact_id,
            **more,
        },
    )
    if row.state != to and not was_turned_down(made):
        # Judged again, by another ledger or newer rules.
        Artifact.objects.filter(pk=row.pk).update(state=to)
    return row


def inputs_of(source: Source, entries: Sequence[Entry]) -> dict[str, str]:
    """What the gates judged by, beside the artifact itself: where any of it is another now, they judge anew."""
    return {
        "source": source.sha256,
        "ledger": hash_of([asdict(entry) for entry in entries]),
        "policy": POLICY_VERSION,
        "evaluator": EVALUATOR_VERSION,
    }


# What models may draft for a person


@transaction.atomic
def reserve(session: Session, tokens: int, seconds: float) -> tuple[int | None, str]:
    """Keep so much of the day free for a draft, else say why not: of several at once each sees what the others may use
    up. The id is for `release`."""
    return reserve_for(one_at_a_time(session.owner_id), tokens, seconds)


@transaction.atomic
def reserve_exam(user: User, choice: ModelChoice) -> tuple[int | None, str]:
    """The same for an exam that a person asks for: of one model one at a time."""
    user, exam = one_at_a_time(user.pk), f"{choice.model} {choice.base_url}"
    if Reserved.objects.filter(user=user, exam=exam, until__gt=timezone.now()).exists():
        return None, BEING_EXAMINED.format(model=choice.model)
    return reserve_for(user, price(), choice.draft_seconds + SLACK, exam)


def one_at_a_time(user: int) -> User:
    return get_user_model().objects.select_for_update(no_key=True).get(pk=user)


def reserve_for(user: User, tokens: int, seconds: float, exam: str = "") -> tuple[int | None, str]:
    if why := why_not(user, tokens):
        return None, why
    until = timezone.now() + timedelta(seconds=seconds)
    return Reserved.objects.create(user=user, tokens=tokens, until=until, exam=exam).pk, ""


def release(reserved: int | None) -> bool:
    """Whether it still was."""
    return reserved is not None and bool(Reserved.objects.filter(pk=reserved).delete()[0])


def stop_models(user: User) -> int:
    """No model drafts for this person from now on, also what is being drafted: it begins again without one. How many
    drafts that are."""
    with transaction.atomic():
        policy, _ = DraftingPolicy.objects.select_for_update().get_or_create(user=user)
        if policy.stopped_at is None:
            DraftingPolicy.objects.filter(pk=policy.pk).update(stopped_at=timezone.now())
            events.account(user, "drafting.stopped")
    # After it is committed: what is claimed from then on reads that no model may be asked.
    lines: tuple[Line[Any], ...] = (SUMMARIES, SCOPES, *registered())
    begun_again = sum(line.release_of(user) for line in lines)
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


@transaction.atomic
def choose_checker(user: User, endpoint: Endpoint | None, model: str) -> Checker:
    """Who reads this person's summaries from now on; neither named: the conversation's own model. Chosen again, its
    void checks are forgotten."""
    chosen = {"endpoint": endpoint, "model": model, "chosen_at": timezone.now()}
    row, _ = Checker.objects.update_or_create(user=user, defaults=chosen)
    events.account(user, "checker.chosen", {"endpoint": endpoint.name if endpoint else "", "model": model})
    return row


@transaction.atomic
def refuse_checker(session: Session, refused: bool, *, actor: User) -> None:
    """Whether this conversation's log may be sent to a checker at another address."""
    if refused:
        _, changed = CheckerRefused.objects.get_or_create(session=session)
    else:
        changed = bool(CheckerRefused.objects.filter(session=session).delete()[0])
    if changed:
        events.append(session.pk, "checker.refused" if refused else "checker.allowed", {}, actor=actor)
