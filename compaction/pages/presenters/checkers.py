"""The models that work for one person: how checkers did in their exam and at their work, and which take too long."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

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
MOST_MISSES = 20


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
class MissView:
    """A planted note that a check did not notice. Only the owner of the conversation sees its words."""

    kind: str
    words: str
    check: Check


@dataclass(frozen=True, kw_only=True)
class CheckerView:
    """One model at one address. `endpoint`: by which it can take its exam, None where it is no longer connected."""

    model: str
    provider: str
    endpoint: Endpoint | None
    exam: Exam | None
    why: str
    is_chosen: bool
    checks: tuple[Check, ...]
    kinds: tuple[KindView, ...]
    misses: tuple[MissView, ...]

    @property
    def is_recorded(self) -> bool:
        """Of the example: it takes no exam."""
        return self.model == RECORDED_MODEL

    @property
    def void(self) -> tuple[Check, ...]:
        return tuple(one for one in self.checks if one.void)

    @property
    def last(self) -> Check | None:
        return self.checks[-1] if self.checks else None

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

    @property
    def conversations(self) -> int:
        return len({one.run.session_id for one in self.checks})


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
    checks: dict[Key, list[Check]] = {}
    for check in Check.objects.filter(run__session__owner=user).select_related("run").order_by("pk"):
        checks.setdefault((check.provider, check.model), []).append(check)
    planted: dict[Key, list[Planted]] = {}
    counted = Planted.objects.filter(check_made__run__session__owner=user, held__isnull=False)
    for one in counted.select_related("check_made").order_by("pk"):
        planted.setdefault((one.check_made.provider, one.check_made.model), []).append(one)
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
                checks=tuple(checks.get(key, ())),
                kinds=tuple(kinds_of(planted.get(key, ()))),
                misses=tuple(misses_of(planted.get(key, ()))),
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


def kinds_of(planted: Sequence[Planted]) -> Iterator[KindView]:
    now = timezone.now()
    for name in dict.fromkeys(sorted(name_of(one) for one in planted)):
        of_kind = [one for one in planted if name_of(one) == name]
        recent = (
            [one for one in of_kind if days is None or one.check_made.created_at >= now - timedelta(days=days)]
            for days in WINDOWS
        )
        yield KindView(
            name=name,
            noticed=tuple(
                Noticed(caught=sum(one.held is True for one in found), planted=len(found)) for found in recent
            ),
        )


def misses_of(planted: Sequence[Planted]) -> Iterator[MissView]:
    """The newest."""
    missed = [one for one in planted if one.held is False]
    for one in reversed(missed[-MOST_MISSES:]):
        yield MissView(kind=name_of(one), words=one.claim["text"], check=one.check_made)


def name_of(one: Planted) -> str:
    return NAMES.get(one.role) or one.kind


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
