"""What drafting has cost a person, and what it may cost yet: which model drafts, if any, is decided here alone."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db.models import Count, Q, QuerySet, Sum
from django.utils import timezone

from compaction.domain.lifecycle import Ended
from compaction.domain.limits import DraftPrice, Purpose, largest_source, price
from compaction.drafting import examining
from compaction.drafting.prompts import draft_version
from compaction.drafting.reading import latest_runs, void_checks
from compaction.drafting.summaries import Examined, Means
from compaction.models import Artifact, Check, Checker, CheckerRefused, DraftingPolicy, DraftRun, Exam, Reserved
from efforts.context.connections import KeyUnreadable, ModelChoice, choose, choose_for_drafts, of_endpoint
from efforts.domain.effort.states import ScopeState, SummaryState
from efforts.llm.recorded import RECORDED_MODEL
from efforts.models import EffortState, ScopeDraft, Session

if TYPE_CHECKING:
    from django.contrib.auth.models import User

# Of each purpose its name, and what it is.
PURPOSES = {
    Purpose.COMPACTION: ("Summaries", "of concluded efforts and of turns that you chose"),
    Purpose.ROLLING: ("Rolling summaries", "of old turns, in conversations that have them on"),
    Purpose.STAGE: ("Seed packages", "each stage of a package that a new conversation starts from"),
    Purpose.CHECK: ("Checks", "each claim of a draft, compared with the log"),
    Purpose.EXAM: ("Exams", "forty claims by which a model shows that it can check"),
}
OF_PURPOSE = {
    Purpose.ROLLING: "CCM_ROLLING_CAP",
    Purpose.STAGE: "CCM_STAGE_CAP",
    Purpose.CHECK: "CCM_CHECK_CAP",
}
WINDOWS = (1, 7, 30)
# After so many void checks in a row a checker is not asked until it is chosen again.
MOST_VOID = 3
STOPPED = "You have stopped models from drafting. Settings, Drafting allows them again."
ALL_VOID = "The last {most} checks by {model} proved nothing, so it is not asked. Settings, Drafting chooses a checker."
FAILED = (
    "{model} may not check summaries: in its exam it found {caught} of {wrong} wrong claims and doubted {doubted} of "
    "{true} true ones."
)
UNREAD = "{model} may not check summaries: its exam could not be read. {why}"
BEING_EXAMINED = "{model} is taking its exam already. Load the page again in a moment."
USED_UP = "Your cap of {cap:,} tokens a day is used up: {used:,} are used today{others}, and this may need {needed:,}."
OTHERS = ", what is being drafted may need {reserved:,}"


# What a draft may be made with


def means_of(session: Session, log_tokens: int, purpose: str) -> Means:
    """For a summary of a log of so many tokens, as it is sent."""
    cap, check_cap = cap_of(purpose), cap_of(Purpose.CHECK)
    choice, note = choice_of(session, log_tokens, purpose)
    window = choice.context_window if choice else None
    checker, exam = reader_of(session, choice)
    return Means(
        choice=choice,
        note=note,
        checker=checker,
        exam=exam,
        cap=cap,
        check_cap=check_cap,
        largest=largest_source(cap=cap, check_cap=check_cap, window=window),
        latest=latest_runs(purpose, choice.model, draft_version()) if choice else (),
    )


def reader_of(session: Session, choice: ModelChoice | None) -> tuple[ModelChoice | None, Examined | None]:
    """The checker of what such a drafter makes, and what is known of it."""
    try:
        checker = checker_of(session, choice) if choice else None
        return checker, exam_known(session, checker) if checker else None
    except KeyUnreadable as error:
        return None, Examined(passed=False, why=str(error))


def checker_of(session: Session, drafter: ModelChoice) -> ModelChoice:
    """The one that the owner has chosen, where the conversation does not refuse to have its log sent there; else the
    conversation's own model. Raises `KeyUnreadable`."""
    if drafter.kind == "recorded":
        return drafter
    chosen = Checker.objects.filter(user=session.owner_id).select_related("endpoint").first()
    own = replace(choose(session), model=settings.CCM_CHECK_MODEL or choose(session).model)
    if chosen is None or (chosen.endpoint is None and not chosen.model):
        return own
    if chosen.endpoint is None:
        return replace(own, model=chosen.model)
    other = of_endpoint(chosen.endpoint, chosen.model)
    elsewhere = other.base_url != drafter.base_url
    refused = elsewhere and CheckerRefused.objects.filter(session=session).exists()
    return own if refused else other


def exam_known(session: Session, checker: ModelChoice) -> Examined | None:
    """What is known of a checker; None where it has taken no exam yet."""
    if checker.kind == "recorded":
        return Examined(passed=True)
    chosen = Checker.objects.filter(user=session.owner_id).first()
    since = chosen.chosen_at if chosen else None
    if void_checks(session.owner, checker, since, MOST_VOID) >= MOST_VOID:
        return Examined(passed=False, why=ALL_VOID.format(most=MOST_VOID, model=checker.model))
    if taken := examining.exam_of(session.owner, checker):
        return examined(taken)
    # Each was paid for, and none was answered to its end.
    asked = examining.exams_of(session.owner, checker).filter(tokens__gt=0)
    newest = (asked.filter(created_at__gte=since) if since else asked)[:MOST_VOID]
    return examined(newest[0]) if len(newest) == MOST_VOID else None


def spent_on(family: str) -> int:
    """Tokens that an artifact, all its versions and windows, took to draft and to check; without its checker's exam."""
    return spent_by_family([family])[family]


def spent_by_family(families: Collection[str]) -> dict[str, int]:
    spent = dict.fromkeys(families, 0)
    made = Artifact.objects.filter(family__in=families).values_list("family", "run", "run__tokens")
    drafted = DraftRun.objects.filter(family__in=families).values_list("family", "pk", "tokens")
    runs = {*made, *drafted}
    checks = Check.objects.filter(Q(family__in=families) | Q(run__family__in=families))
    for one in checks.select_related("run").only("family", "tokens", "run__family", "run__tokens"):
        for family in {one.family, one.run.family} & spent.keys():
            spent[family] += one.tokens
            # Windows that were drafted before a run knew what it was for are known by their checks.
            runs.add((family, one.run_id, one.run.tokens))
    for family, _, tokens in runs:
        spent[family] += tokens or 0
    return spent


def why_not_asked(session: Session) -> str:
    """Why the checker of a conversation may not check; "" where it may, or there is none."""
    _, known = reader_of(session, choice_of(session, 0, Purpose.COMPACTION)[0])
    return known.why if known and not known.passed else ""


def examined(exam: Exam) -> Examined:
    why = "" if exam.passed else (UNREAD if exam.why else FAILED).format(**vars(exam))
    return Examined(passed=exam.passed, why=why)


def choice_of(session: Session, log_tokens: int, purpose: str) -> tuple[ModelChoice | None, str]:
    """None where no model drafts, with why, if one was meant."""
    try:
        choice = choose_for_drafts(session)
    except KeyUnreadable as error:
        return None, str(error)
    if choice.kind == "builtin":
        return None, ""
    # Nothing is asked for what was recorded, so nothing of the day's tokens is used up.
    recorded = choice.kind == "recorded"
    why = "" if recorded else why_not(session.owner, price_of(log_tokens, purpose).total)
    return (None, why) if why else (choice, "")


def largest_of(session: Session, purpose: str) -> int:
    """Tokens of a log of which a draft, a repair and a check can be made."""
    choice, _ = choice_of(session, 0, purpose)
    window = choice.context_window if choice else None
    return largest_source(cap=cap_of(purpose), check_cap=cap_of(Purpose.CHECK), window=window)


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


def price_of(log_tokens: int, purpose: str) -> DraftPrice:
    """The most that a draft with its repair and a check may use up."""
    return price(log_tokens, cap=cap_of(purpose), check_cap=cap_of(Purpose.CHECK))


def cap_of(purpose: str) -> int:
    """Tokens of one run."""
    if purpose == Purpose.EXAM:
        return examining.price()
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
    return summed(used_by_purpose(user, 1).values()).tokens


def reserved(user: User) -> int:
    """For what models are drafting now."""
    kept = Reserved.objects.filter(user=user, until__gt=timezone.now())
    return int(kept.aggregate(tokens=Sum("tokens"))["tokens"] or 0)


def runs_of(user: User, days: int, purpose: str = "") -> QuerySet[DraftRun]:
    """Of the person's own conversations, in the last `days` days, this one included; days begin at 0:00 UTC."""
    runs = DraftRun.objects.filter(session__owner=user, created_at__gte=start_of(days)).exclude(model=RECORDED_MODEL)
    return runs.filter(purpose=purpose) if purpose else runs


def checks_of(user: User, days: int) -> QuerySet[Check]:
    checks = Check.objects.filter(run__session__owner=user, created_at__gte=start_of(days))
    return checks.exclude(model=RECORDED_MODEL)


def recorded_of(user: User) -> int:
    """Tokens of the example's drafts and checks: each summary says what it took, and nothing was spent on it."""
    runs = DraftRun.objects.filter(session__owner=user, model=RECORDED_MODEL).aggregate(used=Sum("tokens"))
    checks = Check.objects.filter(run__session__owner=user, model=RECORDED_MODEL).aggregate(used=Sum("tokens"))
    return (runs["used"] or 0) + (checks["used"] or 0)


@dataclass(frozen=True, kw_only=True)
class Spent:
    """Tokens of drafts and their checks; `recorded`: those of them that were recorded for the example."""

    tokens: int
    recorded: int


def spent_in(session: Session) -> Spent:
    """In all branches of a conversation. Exams are of a checker, and of no conversation."""
    made = [DraftRun.objects.filter(session=session), Check.objects.filter(run__session=session)]
    recorded = Q(model=RECORDED_MODEL)
    sums = [rows.aggregate(all=Sum("tokens"), recorded=Sum("tokens", filter=recorded)) for rows in made]
    return Spent(
        tokens=sum(one["all"] or 0 for one in sums),
        recorded=sum(one["recorded"] or 0 for one in sums),
    )


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
    checks = checks_of(user, days)
    exams = Exam.objects.filter(owner=user, created_at__gte=start_of(days))
    of_checks = checks.aggregate(used=Sum("tokens"), asked=Count("pk"), failed=Count("pk", filter=~Q(void="")))
    of_exams = exams.aggregate(used=Sum("tokens"), asked=Count("pk"), failed=Count("pk", filter=Q(passed=False)))
    return {
        **{row["purpose"]: used_of(row) for row in rows},
        Purpose.CHECK: used_of({**of_checks, "without": 0}),
        Purpose.EXAM: used_of({**of_exams, "without": 0}),
    }


def used_in(runs: QuerySet[DraftRun]) -> Used:
    """Of drafts with their checks."""
    checks = Check.objects.filter(run__in=runs).aggregate(used=Sum("tokens"))["used"] or 0
    used = used_of(runs.aggregate(**SUMS))
    return replace(used, tokens=used.tokens + checks)


# Also by what merges windows.
ASKED = ~Q(model="")
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
