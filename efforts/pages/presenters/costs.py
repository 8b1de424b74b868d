"""What a conversation has cost in money, where prices are set: by turn, by effort, in all, and what was saved."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Q, QuerySet, Sum
from django.db.models.functions import Coalesce

from efforts.domain.effort.metrics import Sent
from efforts.domain.effort.money import Money, Price, Used, cost, said, summed
from efforts.log.timelines import branch_plans
from efforts.models import Branch, ContextPlan, Session, Titling, TurnLabel
from efforts.models.said import OwnWords

NO_EFFORT = "No effort"


@dataclass(frozen=True, kw_only=True)
class EffortCost:
    name: str
    turns: int
    amounts: tuple[Money, ...]

    @property
    def said(self) -> str:
        return said(self.amounts)


@dataclass(frozen=True, kw_only=True)
class Costs:
    """Of the turns whose model had a price: `turns` of them; `title`: of asking for a title, which is in the sum.
    `saved`: what the last call of each would have cost more with everything said so far, at the price of input that is
    not cached."""

    turns: int
    amounts: tuple[Money, ...]
    efforts: tuple[EffortCost, ...]
    saved: tuple[Money, ...]
    title: Money | None = None

    @property
    def said(self) -> str:
        return said(self.amounts)

    @property
    def title_said(self) -> str:
        return said([self.title]) if self.title else ""

    @property
    def saved_said(self) -> str:
        return said(self.saved)

    def to_json(self) -> dict[str, Any]:
        def values(amounts: Iterable[Money]) -> dict[str, str]:
            return {one.currency: f"{one.amount.normalize():f}" for one in amounts}

        efforts = [{"name": one.name, "turns": one.turns, "cost": values(one.amounts)} for one in self.efforts]
        title = values([self.title] if self.title else [])
        sums = {"cost": values(self.amounts), "title": title, "saved": values(self.saved)}
        return {"turns": self.turns, **sums, "efforts": efforts}


def cost_of(plans: Iterable[ContextPlan], settings: Mapping[str, Any]) -> Money | None:
    """Of the calls of one run; None where its model had no price."""
    used = [used_of(plan.prompt_tokens, plan.cached_tokens, plan.completion_tokens, plan.tokens) for plan in plans]
    return cost(Price.read(settings.get("price")), together(used))


def used_of(prompt: int | None, cached: int | None, completion: int | None, counted: int) -> Used:
    """What a provider did not report is counted here, and the reply is then unknown."""
    return Used(
        prompt=counted if prompt is None else prompt,
        cached=cached or 0,
        completion=completion or 0,
        counted=prompt is None or completion is None,
    )


def together(used: Iterable[Used]) -> Used:
    used = list(used)
    return Used(
        prompt=sum(one.prompt for one in used),
        cached=sum(one.cached for one in used),
        completion=sum(one.completion for one in used),
        counted=any(one.counted for one in used),
    )


def used_so_far(session: Session) -> dict[str, int]:
    """Tokens of every call of a conversation, in all its `branches`; `unreported`: of how many calls some were counted
    here, because a provider did not report them."""
    return ContextPlan.objects.filter(session=session).aggregate(
        calls=Count("pk"),
        branches=Count("branch", distinct=True),
        prompt=Coalesce(Sum(Coalesce("prompt_tokens", "tokens")), 0),
        completion=Coalesce(Sum("completion_tokens"), 0),
        unreported=Count("pk", filter=Q(prompt_tokens=None) | Q(completion_tokens=None)),
    )


def branch_costs(branch: Branch, sent: Iterable[Sent]) -> Costs | None:
    """Every call of the timeline is counted, those of attempts that failed too: they were paid. `sent`: what the last
    call of each turn was sent. None where no call had a price."""
    by_turn: dict[int, list[Money]] = defaultdict(list)
    prices: dict[int, Price] = {}
    for number, stored, *tokens in priced(branch_plans(branch)):
        price = Price.read(stored)
        if price and (amount := cost(price, used_of(*tokens))):
            by_turn[number].append(amount)
            prices[number] = price
    if not by_turn:
        return None
    saved = (
        Money(amount=(one.naive - one.tokens) * prices[one.turn].prompt / 1_000_000, currency=prices[one.turn].currency)
        for one in sent
        if one.turn in prices
    )
    title = title_cost(branch)
    paid = [amount for amounts in by_turn.values() for amount in amounts]
    return Costs(
        turns=len(by_turn),
        amounts=summed([*paid, *([title] if title else [])]),
        title=title,
        efforts=tuple(by_effort(branch, by_turn)),
        saved=tuple(one for one in summed(saved) if one.amount > 0),
    )


def title_cost(branch: Branch) -> Money | None:
    """Of the call that asked for the conversation's title: every branch has it."""
    asked = Titling.objects.filter(session=branch.session_id).exclude(price=None).first()
    if asked is None:
        return None
    return cost(Price.read(asked.price), used_of(asked.prompt_tokens, 0, asked.completion_tokens, asked.tokens))


def priced(plans: QuerySet[ContextPlan]) -> Iterable[tuple[Any, ...]]:
    rows = plans.filter(run__settings__price__isnull=False).order_by("run__turn__number", "created_at")
    return rows.values_list(
        "run__turn__number",
        "run__settings__price",
        "prompt_tokens",
        "cached_tokens",
        "completion_tokens",
        "tokens",
    )


def by_effort(branch: Branch, by_turn: Mapping[int, list[Money]]) -> Iterable[EffortCost]:
    """In the order in which they were first paid for."""
    rows = TurnLabel.objects.filter(branch=branch).values_list("turn__number", "effort__name")
    labels = {number: OwnWords(name) for number, name in rows}
    turns: dict[str, list[int]] = defaultdict(list)
    for number in by_turn:
        turns[labels.get(number, NO_EFFORT)].append(number)
    for name, numbers in turns.items():
        amounts = summed(amount for number in numbers for amount in by_turn[number])
        yield EffortCost(name=name, turns=len(numbers), amounts=amounts)
