"""The models that work for one person: how checkers did in their exam and at their work, and which take too long."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from django.db.models import Count, Max, Min, Q, QuerySet
from django.utils import timezone

from compaction.domain.gates.cost import ENOUGH_RUNS, LAST_RUNS, percentile
from compaction.drafting import costs, examining
from compaction.models import Check, Checker, CheckerRefused, DraftRun, Exam, Planted
from efforts.llm.recorded import RECORDED_MODEL
from efforts.models import Endpoint

if TYPE_CHECKING:
    from django.contrib.auth.models import User

Key = tuple[str, str]
# Days, the last of them all.
WINDOWS: tuple[int | None, ...] = (7, 30, None)
# What was planted that is no changed sentence or claim.
TRUE, LEFT_OUT = "true sentence (must not be doubted)", "claim left out (must be noticed as missing)"
NAMES = {"control": TRUE, "hidden": LEFT_OUT}
MOST_LISTED = 20
COUNTED: dict[str, Any] = {
    "first": Min("pk"),
    "conversations": Count("run__session", distinct=True),
    "checks": Count("pk"),
    "voids": Count("pk", filter=~Q(void="")),
    "last_at": Max("created_at"),
}
CAUGHT = Q(held=True)
NO_WORK: dict[str, Any] = {
    "conversations": 0, "checks": 0, "voids": 0, "last_at": None, "void": (), "kinds": (), "misses": (),
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Noticed:
    caught: int
    planted: int


@dataclass(frozen=True, kw_only=True)
class KindView:
    """Of one kind of planted error how many were noticed, in each of the windows."""

    name: str
    noticed: tuple[Noticed, ...]


@dataclass(frozen=True, kw_only=True)
class CheckerView:
    """One model at one address. `endpoint`: by which it can take its exam, None where it is no longer connected. `void`
    and `misses` (each with its kind): the newest. Only the owner of the conversation sees the words of what was missed.
    """

    model: str
    provider: str
    endpoint: Endpoint | None
    exam: Exam | None
    why: str
    is_chosen: bool
    conversations: int
    checks: int
    voids: int
    last_at: datetime | None
    void: tuple[Check, ...]
    kinds: tuple[KindView, ...]
    misses: tuple[tuple[str, Planted], ...]

    @property
    def is_recorded(self) -> bool:
        """Of the example: it takes no exam."""
        return self.model == RECORDED_MODEL

    @property
    def errors(self) -> Noticed:
        """Whenever it was; what is true, and what was left out, are counted apart."""
        return self.ever(lambda name: name not in NAMES.values())

    @property
    def left_out(self) -> Noticed:
        return self.ever(lambda name: name == LEFT_OUT)

    @property
    def true(self) -> Noticed:
        return self.ever(lambda name: name == TRUE)

    def ever(self, counts: Callable[[str], bool]) -> Noticed:
        found = [kind.noticed[-1] for kind in self.kinds if counts(kind.name)]
        return Noticed(caught=sum(one.caught for one in found), planted=sum(one.planted for one in found))


@dataclass(frozen=True, kw_only=True)
class CheckersView:
    """`price`: tokens of an exam at most; `refused`: conversations that let no other address read their log."""

    rows: tuple[CheckerView, ...]
    price: int
    refused: int


def checkers_of(user: User) -> CheckersView:
    """Those that have read a summary or taken an exam, and those that are connected."""
    exams: dict[Key, Exam] = {}
    for exam in Exam.objects.filter(owner=user).order_by("pk"):
        exams[exam.provider, exam.model] = exam
    mine = Check.objects.filter(run__session__owner=user)
    counted: Any = mine.order_by().values("provider", "model").annotate(**COUNTED)
    checks = {(row["provider"], row["model"]): row for row in counted.order_by("first")}
    endpoints = endpoints_by_key(user)
    chosen = chosen_key(user)
    return CheckersView(
        rows=tuple(
            CheckerView(
                model=key[1],
                provider=key[0],
                endpoint=endpoints.get(key),
                exam=exams.get(key),
                why=costs.examined(exams[key]).why if key in exams else "",
                is_chosen=key == chosen,
                **(work_of(mine.filter(provider=key[0], model=key[1]), checks[key]) if key in checks else NO_WORK),
            )
            for key in dict.fromkeys([*checks, *exams, *endpoints])
        ),
        price=examining.price(),
        refused=CheckerRefused.objects.filter(session__owner=user).count(),
    )


def endpoints_by_key(user: User) -> dict[Key, Endpoint]:
    found: dict[Key, Endpoint] = {}
    for endpoint in Endpoint.objects.filter(owner=user).order_by("pk"):
        for model in (endpoint.model, endpoint.draft_model):
            if model:
                found.setdefault((endpoint.base_url, model), endpoint)
    return found


def chosen_key(user: User) -> Key | None:
    """None where the conversation's own model checks."""
    chosen = Checker.objects.filter(user=user).select_related("endpoint").first()
    if chosen is None or chosen.endpoint is None:
        return None
    return chosen.endpoint.base_url, chosen.model or chosen.endpoint.model


def work_of(checks: QuerySet[Check], counted: dict[str, Any]) -> dict[str, Any]:
    planted = Planted.objects.filter(check_made__in=checks)
    newest = checks.exclude(void="").order_by("-pk")[:MOST_LISTED]
    missed = planted.filter(held=False).select_related("check_made").order_by("-pk")
    return {
        **{name: counted[name] for name in ("conversations", "checks", "voids", "last_at")},
        "void": tuple(reversed(newest)),
        "kinds": tuple(kinds_of(planted.filter(held__isnull=False))),
        "misses": tuple((name_of(one.role, one.kind), one) for one in missed[:MOST_LISTED]),
    }


def kinds_of(planted: QuerySet[Planted]) -> Iterator[KindView]:
    now, counts = timezone.now(), dict[str, Count]()
    for place, days in enumerate(WINDOWS):
        recent = Q(check_made__created_at__gte=now - timedelta(days=days)) if days else Q()
        counts |= {
            f"planted_{place}": Count("pk", filter=recent),
            f"caught_{place}": Count("pk", filter=recent & CAUGHT),
        }
    by_name: dict[str, list[dict[str, Any]]] = {}
    counted: Any = planted.order_by().values("role", "kind").annotate(**counts)
    for row in counted:
        by_name.setdefault(name_of(row["role"], row["kind"]), []).append(row)
    for name, rows in sorted(by_name.items()):
        yield KindView(
            name=name,
            noticed=tuple(
                Noticed(
                    caught=sum(row[f"caught_{place}"] for row in rows),
                    planted=sum(row[f"planted_{place}"] for row in rows),
                )
                for place in range(len(WINDOWS))
            ),
        )


def name_of(role: str, kind: str) -> str:
    return NAMES.get(role) or kind


@dataclass(frozen=True, kw_only=True)
class SlowDrafter:
    """Of the last `runs` drafts 95 % took at most `p95_ms`, None where more than the others did not end."""

    model: str
    runs: int
    p95_ms: int | None
    timeout_ms: int


def slow_drafters_of(user: User) -> list[SlowDrafter]:
    """From twenty drafts on; those that did not end last for ever."""
    runs = DraftRun.objects.filter(session__owner=user, drafter="model").exclude(model="")
    found = []
    for model in runs.order_by("model").values_list("model", flat=True).distinct():
        latest = list(runs.filter(model=model).order_by("-pk")[:LAST_RUNS])
        limits = [one["timeout_ms"] for run in latest for one in run.spent if one["purpose"] == run.purpose]
        if len(latest) < ENOUGH_RUNS or not limits:
            continue
        p95 = percentile([run.elapsed_ms for run in latest])
        if p95 is None or p95 > limits[0]:
            found.append(SlowDrafter(model=model, runs=len(latest), p95_ms=p95, timeout_ms=limits[0]))
    return found
