"""Efforts by their names, where a plan calls them by the ids that the model knows them by."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from efforts.domain.effort.holds import UNTIL
from efforts.domain.effort.states import HoldScope
from efforts.domain.prompt.difference import PIN_OF
from efforts.models import Effort, Session
from efforts.models.said import OwnWords

if TYPE_CHECKING:
    from efforts.context.plans import ItemView, PlanView
    from efforts.domain.prompt.difference import PlanChange

WITHIN = re.compile(UNTIL[HoldScope.EFFORT].format(within=r"(\S+)"))


def names_of(session: Session, texts: Iterable[tuple[str, str]]) -> Mapping[str, str]:
    """By id. `texts`: what is told of each item, and the id of its effort."""
    slugs = {slug for text, effort in texts for slug in (effort, *WITHIN.findall(text)) if slug}
    if not slugs:
        return {}
    return dict(Effort.objects.filter(session=session, slug__in=slugs).values_list("slug", "name"))


def titled(title: str, effort: str, names: Mapping[str, str]) -> str:
    """The id begins what is told of an effort's turns, or is all of it."""
    if title.startswith(pin := PIN_OF.format("")):
        return f"{pin}{titled(title.removeprefix(pin), effort, names)}"
    name = names.get(effort)
    if not name or (title != effort and not title.startswith(f"{effort}: ")):
        return title
    rest = title.removeprefix(effort)
    return f"{name}{rest}" if rest else OwnWords(name)


def until_named(text: str, names: Mapping[str, str]) -> str:
    return WITHIN.sub(lambda found: UNTIL[HoldScope.EFFORT].format(within=names.get(found[1], found[1])), text)


def with_names(plan: PlanView, session: Session) -> PlanView:
    items = (*plan.included, *plan.excluded)
    names = names_of(session, ((item.reason, item.effort) for item in items))

    def named(item: ItemView) -> ItemView:
        return replace(
            item,
            title=titled(item.title, item.effort, names),
            called=names.get(item.effort, item.effort),
            reason=until_named(item.reason, names),
        )

    if not names:
        return plan
    return replace(plan, included=tuple(map(named, plan.included)), excluded=tuple(map(named, plan.excluded)))


def changes_named(changes: Iterable[PlanChange], names: Mapping[str, str]) -> tuple[PlanChange, ...]:
    return tuple(
        replace(one, title=titled(one.title, one.effort, names), why=until_named(one.why, names)) for one in changes
    )
