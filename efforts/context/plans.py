"""Plans for reading: the preview of the next call, a stored plan, and the request of a stored plan again."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db.models import Sum

from efforts.context.connections import KeyUnreadable
from efforts.context.holds import PinView
from efforts.context.layers import FinishedTurn, past_turns
from efforts.context.planning import budget_of, chosen_settings, next_inputs
from efforts.domain.prompt.budget import BudgetTooSmall
from efforts.domain.prompt.candidates import stays
from efforts.domain.prompt.difference import MadePlan
from efforts.domain.prompt.items import YOUR_MESSAGE
from efforts.domain.prompt.plan import NOTES, Item, Plan, RequiredTooLarge
from efforts.domain.prompt.planner import plan
from efforts.domain.prompt.reasons import Reason
from efforts.domain.prompt.rendering import Sources, named_messages, render
from efforts.domain.text.canonical import canonical_json
from efforts.log.timelines import branch_turns, log_message
from efforts.models import Branch, ContextPlan, Fragment, Message

NOTES_TITLE = "Notes for this turn"
NOTES_SAID = (
    "The date, your efforts, and the newest of your decisions and to-dos, as many as fit. Sent with your next message, "
    "which is still empty."
)
UNSENT = (BudgetTooSmall, KeyUnreadable, RequiredTooLarge)
SHA256 = re.compile(r'"([0-9a-f]{64})"')
# In the order of the prompt.
SECTIONS = {
    "system": "System and tools",
    "instruction": "Instructions",
    "constraint": "Rules",
    "pin": "Pins",
    "summary": "Summaries, excerpts",
    "body": "Longer summaries",
    "ambient": "Other messages",
    "expanded": "Expanded",
    "awaiting": "Concluded, in full",
    "open": "Other open",
    "active": "Active",
    "recall": "Recalled",
    "code": "Code",
    "turn": "This turn",
}


@dataclass(frozen=True, kw_only=True)
class ItemView:
    section: str
    title: str
    tokens: int
    reason: str
    rule: str
    remedy: str = ""
    turns: tuple[int, int] | None = None
    effort: str = ""
    called: str = ""
    hold: int = 0
    place: str = ""
    address: str = ""
    # When it leaves by itself.
    stays: str = ""
    pin: PinView | None = None


@dataclass(frozen=True, kw_only=True)
class OutView:
    """All that is out for one reason."""

    reason: str
    items: tuple[ItemView, ...]

    @property
    def tokens(self) -> int:
        return sum(item.tokens for item in self.items)


@dataclass(frozen=True, kw_only=True)
class SectionView:
    """One layer: `x` is where its segment of the meter begins, in tokens."""

    key: str
    label: str
    tokens: int
    share_percent: int
    x: int
    items: int


@dataclass(frozen=True, kw_only=True)
class PlanView:
    id: UUID | None
    tokens: int
    setting: int
    budget: int
    reply_reserve: int
    encoding: str
    everything_tokens: int
    actual_prompt_tokens: int | None = None
    correction: float | None = None
    prefer_cache: bool = False
    sections: tuple[SectionView, ...] = ()
    included: tuple[ItemView, ...] = ()
    excluded: tuple[ItemView, ...] = ()
    required_overflow: tuple[tuple[str, int], ...] = ()
    problem: str = ""
    raise_to: int | None = None
    made: MadePlan | None = None

    @property
    def over(self) -> int:
        return max(self.tokens - self.budget, 0)

    @property
    def free(self) -> int:
        return max(self.budget - self.tokens, 0)

    @property
    def expected_tokens(self) -> int | None:
        """What the provider was expected to report, by what it reported of earlier calls."""
        return round(self.tokens * self.correction) if self.correction else None

    @property
    def off_percent(self) -> float | None:
        """How far the count here is from what the provider reported, which it is measured by; below 0: too low."""
        actual = self.actual_prompt_tokens
        return 100 * (self.tokens - actual) / actual if actual else None

    @property
    def out_by_reason(self) -> tuple[OutView, ...]:
        groups: dict[str, list[ItemView]] = {}
        for item in self.excluded:
            groups.setdefault(item.reason, []).append(item)
        return tuple(OutView(reason=reason, items=tuple(items)) for reason, items in groups.items())

    @property
    def is_summed_up(self) -> bool:
        """Whether something is shown in other words, or fewer, than it was said in."""
        return any(item.section in ("summary", "body") for item in self.included)

    @property
    def first_turn(self) -> int | None:
        """Number of the oldest turn that is sent as it was said."""
        shown = (item.turns[0] for item in self.included if item.turns and item.section not in NOTES)
        return min(shown, default=None)

    @property
    def window_from(self) -> int | None:
        """The oldest turn that is sent; those that were left out right before it say so themselves."""
        first = self.first_turn
        spans = [item.turns for item in self.excluded if item.turns and item.rule == Reason.LEFT_OUT]
        for begin, end in sorted(spans, reverse=True):
            if first is not None and end == first - 1:
                first = begin
        return first

    def tokens_of(self, effort: str) -> int:
        """What an effort has in the prompt: its turns, or its headline."""
        mine = (item for item in self.included if item.effort == effort and item.section != "recall")
        return sum(item.tokens for item in mine)

    def recalled_tokens_of(self, effort: str) -> int:
        """What passages take that were recalled for turns of an effort and stand with them."""
        mine = (item for item in self.included if item.effort == effort and item.rule == Reason.RECALLED_BEFORE)
        return sum(item.tokens for item in mine)

    def shows(self, turn: int) -> bool:
        """Whether the turn is sent as it was said, where that is one of the turns of its items."""
        spans = (item.turns for item in self.included if item.turns and item.section not in NOTES)
        return any(first <= turn <= last for first, last in spans)

    @property
    def pins_out(self) -> int:
        """How many pins find no room."""
        return sum(item.section == "pin" for item in self.excluded)

    @property
    def percent(self) -> int:
        return round(100 * self.tokens / self.budget) if self.budget else 0


def preview(
    branch: Branch,
    *,
    draft_text: str = "",
    changes: Mapping[str, Any] | None = None,
    expanded: Collection[str] | None = None,
) -> PlanView:
    """The plan of the next call as of now; nothing is stored.

    `changes`: settings to take instead of those that stand; `expanded`: efforts, likewise.
    """
    return read_preview(branch, draft_text=draft_text, changes=changes, expanded=expanded)()


def read_preview(
    branch: Branch,
    *,
    draft_text: str = "",
    changes: Mapping[str, Any] | None = None,
    expanded: Collection[str] | None = None,
) -> Callable[[], PlanView]:
    """All that `preview` has to read. It is planned when what comes back is called, which asks no database."""
    changes = changes or {}
    session = branch.session
    view: dict[str, Any] = {
        "id": None,
        "setting": changes.get("budget", session.budget),
        "encoding": settings.CCM_ENCODING,
        "everything_tokens": said_so_far(branch),
        "prefer_cache": session.prefer_cache,
    }
    chosen: dict[str, Any] = {}
    try:
        chosen = {**chosen_settings(session), **changes}
        inputs = next_inputs(branch, chosen, draft_text, expanded)
    # Every page shows the next call: what is wrong with it must not close the page.
    except UNSENT as error:
        return partial(unsent, view, chosen, error)

    def planned() -> PlanView:
        try:
            shown = PlanView(**view, **facts(plan(inputs)))
        except UNSENT as error:
            return unsent(view, chosen, error)
        return shown if draft_text else replace(shown, included=tuple(map(without_message, shown.included)))

    return planned


def unsent(view: Mapping[str, Any], chosen: Mapping[str, Any], error: Exception) -> PlanView:
    """Of a call that cannot be made."""
    if not isinstance(error, RequiredTooLarge):
        return PlanView(**view, tokens=0, budget=view["setting"], reply_reserve=0, problem=str(error))
    return PlanView(
        **view,
        tokens=error.needed,
        budget=error.budget,
        reply_reserve=chosen["reply"],
        required_overflow=error.parts,
        problem=f"Too long: {error.needed:,} of {error.budget:,} tokens.",
        raise_to=budget_of(chosen).raised_for(error.needed),
    )


def without_message(item: ItemView) -> ItemView:
    """As nothing is written yet, what is counted is only what is sent with it."""
    return replace(item, title=NOTES_TITLE, reason=NOTES_SAID) if item.title == YOUR_MESSAGE else item


def facts(planned: Plan) -> dict[str, Any]:
    return {
        "tokens": planned.tokens,
        "budget": planned.budget.effective,
        "reply_reserve": planned.budget.reply,
        "made": MadePlan(
            turn=planned.inputs.current.number,
            items=planned.items,
            recipe=planned.recipe,
            sections=planned.sections,
        ),
        **lists(planned.items, planned.sections, planned.budget.effective),
    }


def stored_plan(row: ContextPlan) -> PlanView:
    body = row.body
    items = [Item.from_json(item) for item in body["items"]]
    return PlanView(
        id=row.pk,
        tokens=row.tokens,
        setting=body["budget"]["setting"],
        budget=row.budget,
        reply_reserve=body["budget"]["reply"],
        encoding=row.encoding,
        everything_tokens=said_so_far(row.branch),
        actual_prompt_tokens=row.prompt_tokens,
        correction=row.run.settings.get("correction"),
        prefer_cache=row.run.settings.get("prefer_cache", False),
        **lists(items, body["sections"], row.budget),
    )


def lists(items: Iterable[Item], sections: Mapping[str, int], budget: int) -> dict[str, Any]:
    items = list(items)
    return {
        "sections": tuple(section_views(items, sections, budget)),
        "included": tuple(item_view(item) for item in items if item.included),
        "excluded": tuple(item_view(item) for item in items if not item.included),
    }


def section_views(items: list[Item], sections: Mapping[str, int], budget: int) -> Iterable[SectionView]:
    x = 0
    for key, label in SECTIONS.items():
        if key not in sections:
            continue
        tokens = sections[key]
        inside = sum(item.section == key and item.included for item in items)
        share = round(100 * tokens / budget)
        yield SectionView(key=key, label=label, tokens=tokens, share_percent=share, x=x, items=inside)
        x += tokens


def item_view(item: Item) -> ItemView:
    return ItemView(
        section=item.section,
        title=item.title,
        tokens=item.tokens,
        reason=item.sentence,
        rule=str(item.reason),
        remedy="" if item.included else item.remedy,
        turns=item.turns,
        effort=item.values.get("effort", ""),
        hold=item.values.get("hold", 0),
        place=item.values.get("place", ""),
        address=item.values.get("address", ""),
        stays=stays(item),
    )


def said_so_far(branch: Branch) -> int:
    """What everything said would cost in a prompt, from the running sum of the last turn."""
    last = branch_turns(branch).exclude(tokens=0).order_by("-number").first()
    if last is None:
        return 0
    waiting = branch_turns(branch).filter(number__gt=last.number).aggregate(sum=Sum("tokens", default=0))
    return int(last.tokens_before + last.tokens + waiting["sum"])


def replay(row: ContextPlan) -> dict[str, Any]:
    """L0: the request of a stored plan, rendered from its recipe. Raises KeyError where a source is missing."""
    body = row.body
    return render(body["recipe"], body["params"], sources_of(row))


def sources_of(row: ContextPlan) -> Sources:
    recipe = row.body["recipe"]
    fragments = fragments_of(row)
    wanted = named_messages(recipe, fragments)
    runs_of_turns = [entry["turns"] for entry in recipe if "turns" in entry]
    # As they are now, which is as they were: once a later turn is sent, an earlier one cannot be tried again.
    turns = [
        turn
        for first, last in runs_of_turns
        for turn in past_turns(
            FinishedTurn.read(
                branch_turns(row.branch).filter(number__range=(first, last)).exclude(run__state="cancelled")
            )
        )
    ]
    return Sources(
        fragments=fragments,
        messages={message.pk: log_message(message) for message in Message.objects.filter(pk__in=wanted)},
        turns={turn.number: turn for turn in turns},
    )


def fragments_of(row: ContextPlan) -> dict[str, str]:
    """Only those that the plan names, not all of the conversation."""
    recipe = row.body["recipe"]
    # Found in the text, wherever the recipe holds one.
    texts = fragments_by_hash(row, SHA256.findall(canonical_json([recipe, row.body["params"]])))
    lists = [part["l"] for entry in recipe for part in entry.get("parts", []) if "l" in part]
    return {**texts, **fragments_by_hash(row, [sha for key in lists for sha in json.loads(texts[key])])}


def fragments_by_hash(row: ContextPlan, hashes: list[str]) -> dict[str, str]:
    found = Fragment.objects.filter(session_id=row.session_id, sha256__in=hashes) if hashes else Fragment.objects.none()
    return dict(found.values_list("sha256", "text"))
