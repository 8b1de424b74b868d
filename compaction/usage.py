"""What drafting has cost a person, and what it may cost yet: which model drafts, if any, is decided here alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db.models import Count, Q, QuerySet, Sum
from django.utils import timezone

from efforts.connections import KeyUnreadable, ModelChoice, choose_for_drafts
from efforts.domain.conversation import MESSAGE_OVERHEAD, PRIMING
from efforts.domain.lifecycle import ScopeState, SummaryState
from efforts.models import EffortState, ScopeDraft, Session
from efforts.recording import count

from .domain.lifecycle import Ended
from .domain.limits import Purpose, dearest
from .models import DraftingPolicy, DraftRun, Reserved
from .prompts import draft_text, prompt_version
from .snapshots import latest_runs

if TYPE_CHECKING:
    from django.contrib.auth.models import User

# Of each purpose its name, and what it is.
PURPOSES = {
    Purpose.COMPACTION: ("Summaries", "of concluded efforts and of turns that you chose"),
    Purpose.ROLLING: ("Rolling summaries", "of old turns, where a conversation has them on"),
    Purpose.STAGE: ("Seed packages", "each stage of what a new conversation starts from"),
    Purpose.JUDGE: ("Checks", "by a second model that looks for contradictions"),
}
OF_PURPOSE = {
    Purpose.ROLLING: "CCM_ROLLING_CAP",
    Purpose.STAGE: "CCM_STAGE_CAP",
    Purpose.JUDGE: "CCM_JUDGE_CAP",
}
WINDOWS = (1, 7, 30)
# Tokens of the words around a source in a request, rather too many than too few.
AROUND = 50
STOPPED = "You have stopped models from drafting, so this is made without one. Settings, Drafting allows them again."
USED_UP = (
    "Your cap of {cap:,} tokens a day is used up: {used:,} are used today{others}, and this may need {needed:,}. "
    "So it is made without a model."
)
OTHERS = ", what is being drafted may need {reserved:,}"


# What a draft may be made with


@dataclass(frozen=True, kw_only=True)
class Means:
    """A model (None: by none; `note` says why, if one was meant), its limits, a judge of what it drafts, and the most
    that both may cost."""

    choice: ModelChoice | None
    note: str
    cap: int
    timeout_ms: int
    latest: tuple[int | None, ...]
    judge: ModelChoice | None
    judge_cap: int
    most: int


def means_of(session: Session, source_tokens: int, purpose: str, *, told: int) -> Means:
    """For a summary of so many tokens of a conversation; `told`: those that a model is given beside its log."""
    cap = cap_of(purpose)
    choice, note = choice_of(session, source_tokens, purpose, told=told)
    return Means(
        choice=choice,
        note=note,
        cap=cap,
        timeout_ms=int(1000 * (choice.draft_seconds if choice else settings.CCM_DRAFT_TIMEOUT)),
        latest=latest_runs(purpose, choice.model, prompt_version()) if choice else (),
        judge=replace(choice, model=settings.CCM_JUDGE_MODEL) if choice and settings.CCM_JUDGE_MODEL else None,
        judge_cap=cap_of(Purpose.JUDGE),
        most=most_cost(source_tokens, purpose, told=told) if choice else 0,
    )


def choice_of(session: Session, source_tokens: int, purpose: str, *, told: int = 0) -> tuple[ModelChoice | None, str]:
    """None where no model drafts, with why, if one was meant."""
    try:
        choice = choose_for_drafts(session)
    except KeyUnreadable as error:
        return None, str(error)
    if choice.kind == "builtin":
        return None, ""
    why = why_not(session.owner, most_cost(source_tokens, purpose, told=told))
    return (None, why) if why else (choice, "")


def left_today(user: User) -> int:
    return max(daily_cap(policy_of(user)) - used_today(user) - reserved(user), 0)


def why_not(user: User, needed: int) -> str:
    """Why no model may be asked for so many tokens now; empty where it may."""
    policy = policy_of(user)
    if policy.stopped_at:
        return STOPPED
    cap, used, kept = daily_cap(policy), used_today(user), reserved(user)
    if used + kept + needed <= cap:
        return ""
    others = OTHERS.format(reserved=kept) if kept else ""
    return USED_UP.format(cap=cap, used=used, others=others, needed=needed)


def most_cost(source_tokens: int, purpose: str, *, told: int) -> int:
    """The most that a model may use up for a summary of so many tokens, its redraft and its judge included."""
    drafted = dearest(source_tokens, cap=cap_of(purpose), overhead=overhead() + told)
    return drafted + (cap_of(Purpose.JUDGE) if settings.CCM_JUDGE_MODEL else 0)


def overhead() -> int:
    """Of a request without its source."""
    return PRIMING + 2 * MESSAGE_OVERHEAD + count(draft_text()) + AROUND


def cap_of(purpose: str) -> int:
    """Tokens of one run."""
    own = OF_PURPOSE.get(Purpose(purpose))
    return int((getattr(settings, own) if own else 0) or settings.CCM_DRAFT_CAP)


def policy_of(user: User) -> DraftingPolicy:
    """As it is now; one that was never set is not saved."""
    return DraftingPolicy.objects.filter(user=user).first() or DraftingPolicy(user=user)


def daily_cap(policy: DraftingPolicy) -> int:
    return int(settings.CCM_DAILY_CAP if policy.daily_cap is None else policy.daily_cap)


# What was used


@dataclass(frozen=True, kw_only=True)
class Used:
    """Of some runs: tokens, how many asked a model and how many of these failed, and how many asked none."""

    tokens: int = 0
    asked: int = 0
    failed: int = 0
    without: int = 0


@dataclass(frozen=True, kw_only=True)
class PurposeUse:
    """Of one purpose, in each of the `WINDOWS`."""

    purpose: str
    name: str
    what: str
    cap: int | None
    used: tuple[tuple[int, Used], ...]


def used_today(user: User) -> int:
    return int(runs_of(user, 1).aggregate(tokens=Sum("tokens"))["tokens"] or 0)


def reserved(user: User) -> int:
    """For what models are drafting now."""
    kept = Reserved.objects.filter(user=user, until__gt=timezone.now())
    return int(kept.aggregate(tokens=Sum("tokens"))["tokens"] or 0)


def runs_of(user: User, days: int, purpose: str = "") -> QuerySet[DraftRun]:
    """Of the person's own conversations, in the last `days` days, this one included; days begin at 0:00 UTC."""
    runs = DraftRun.objects.filter(session__owner=user, created_at__gte=start_of(days))
    return runs.filter(purpose=purpose) if purpose else runs


def start_of(days: int) -> datetime:
    today = timezone.now().astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    return today - timedelta(days=days - 1)


def usage_of(user: User) -> tuple[PurposeUse, ...]:
    windows = [(days, used_by_purpose(user, days)) for days in WINDOWS]
    return tuple(
        PurposeUse(
            purpose=purpose,
            name=name,
            what=what,
            cap=cap_of(purpose),
            used=tuple((days, used.get(purpose, Used())) for days, used in windows),
        )
        for purpose, (name, what) in PURPOSES.items()
    )


def used_by_purpose(user: User, days: int) -> dict[str, Used]:
    rows = runs_of(user, days).order_by().values("purpose").annotate(**SUMS)
    return {row["purpose"]: used_of(row) for row in rows}


def used_in(runs: QuerySet[DraftRun]) -> Used:
    return used_of(runs.aggregate(**SUMS))


ASKED = Q(drafter__in=("model", "judge"))
SUMS = {
    "used": Sum("tokens"),
    "asked": Count("pk", filter=ASKED),
    "failed": Count("pk", filter=ASKED & ~Q(ended=Ended.DRAFTED)),
    "without": Count("pk", filter=~ASKED),
}


def used_of(row: Mapping[str, Any]) -> Used:
    return Used(tokens=row["used"] or 0, asked=row["asked"], failed=row["failed"], without=row["without"])


def total_of(uses: Iterable[PurposeUse]) -> tuple[tuple[int, Used], ...]:
    columns = zip(*(use.used for use in uses), strict=True)
    return tuple((column[0][0], summed(used for _, used in column)) for column in columns)


def summed(uses: Iterable[Used]) -> Used:
    each = list(uses)
    return Used(
        tokens=sum(one.tokens for one in each),
        asked=sum(one.asked for one in each),
        failed=sum(one.failed for one in each),
        without=sum(one.without for one in each),
    )


def being_drafted(user: User) -> int:
    """How many summaries are being drafted for this person now."""
    efforts = EffortState.objects.filter(branch__session__owner=user, summary=SummaryState.DRAFTING)
    scopes = ScopeDraft.objects.filter(branch__session__owner=user, state=ScopeState.DRAFTING)
    return efforts.count() + scopes.count()
