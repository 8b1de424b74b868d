"""The context plan: what one model call is sent, what is left out, and why."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Literal

from efforts.domain.prompt.budget import Budget
from efforts.domain.prompt.conversation import (
    Code,
    CurrentTurn,
    EffortLog,
    Evicted,
    Headline,
    HoldInForce,
    Instruction,
    LedgerNote,
    LeftOut,
    LineOfEfforts,
    OlderTurns,
    PastTurn,
    Recalled,
    RuleInForce,
)
from efforts.domain.prompt.reasons import OF_ONE_TURN, REMEDIES, SENTENCES, Reason
from efforts.domain.prompt.rendering import Recipe
from efforts.domain.text.canonical import canonical_json, sha256

# Raise it when the same inputs give another plan: verify_plans tells plans of other versions apart.
PLANNER_VERSION = "14"
# Characters of a hash: they tell an input that changed from one that did not, and guard nothing.
FINGERPRINT = 8

Section = Literal[
    "system",
    "instruction",
    "constraint",
    "pin",
    "summary",
    "body",
    "ambient",
    "expanded",
    "awaiting",
    "open",
    "active",
    "recall",
    "code",
    "turn",
]
# Of these an item's turns are not shown in their places: a note stands for them, or quotes them.
NOTES: tuple[Section, ...] = ("summary", "body", "pin", "recall")


@dataclass(frozen=True, kw_only=True)
class LayerCut:
    """Where one layer begins: the number of its first turn, 0 where all of it stands; the ids of the newest large
    message that is cut, and of the newest message of a tool call that is left out; the number of the newest turn
    without what was recalled for it."""

    first_kept: int = 0
    cut_through: int = 0
    left_through: int = 0
    recall_through: int = 0

    def to_json(self) -> list[int]:
        """Without the zeros at its end, beyond the first two."""
        numbers = [self.first_kept, self.cut_through, self.left_through, self.recall_through]
        while len(numbers) > 2 and not numbers[-1]:
            numbers.pop()
        return numbers

    @classmethod
    def from_json(cls, value: Sequence[int]) -> LayerCut:
        return cls(**dict(zip((one.name for one in fields(cls)), value, strict=False)))


@dataclass(frozen=True, kw_only=True)
class Layout:
    """The cuts of one call that the next one keeps, so that the prompt grows at its end.

    `cuts` by the layer's key: an effort's id, "" for ambient. `headlines` are pointers in their order, `dropped` those
    that the budget removed, `shortened` those of which it removed the body. All of it holds as long as `base` is the
    same: the budget, and the count of changes of effort. `block` is the first turn of the window where that is cut in
    blocks; it holds whatever changes.
    """

    base: str = ""
    cuts: Mapping[str, LayerCut] = field(default_factory=dict)
    headlines: tuple[int, ...] = ()
    dropped: tuple[int, ...] = ()
    shortened: tuple[int, ...] = ()
    block: int = 0

    def under(self, base: str) -> Layout:
        """What of it still stands: all; or, once the base is another, only the order of the headlines."""
        # A larger budget must be able to bring turns back at once; a smaller one needs cuts of its own.
        return self if self.base == base else Layout(base=base, headlines=self.headlines, block=self.block)

    def to_json(self) -> dict[str, Any]:
        cuts = {key: cut.to_json() for key, cut in self.cuts.items()}
        dropped = {"dropped": list(self.dropped)} if self.dropped else {}
        shortened = {"shortened": list(self.shortened)} if self.shortened else {}
        block = {"block": self.block} if self.block else {}
        return {"base": self.base, "cuts": cuts, "headlines": list(self.headlines), **dropped, **shortened, **block}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Layout:
        cuts = {key: LayerCut.from_json(cut) for key, cut in value["cuts"].items()}
        return cls(
            base=value["base"],
            cuts=cuts,
            headlines=tuple(value["headlines"]),
            dropped=tuple(value.get("dropped", ())),
            shortened=tuple(value.get("shortened", ())),
            block=value.get("block", 0),
        )


@dataclass(frozen=True, kw_only=True)
class PlanInputs:
    """All that a plan depends on. With `sees_pictures` those in messages are sent.

    `past` holds the newest ambient turns, `older` the sum of all before them; `efforts` those whose turns are shown,
    `headlines` the concluded ones and chosen turns in short, `unlisted` how many more are concluded; to those that are
    `evicted` nothing refers any more. `epoch` counts changes of effort.
    `constraints` are those in force, in the order in which they are sent; `holds` those that stand, by their grant.
    With `prefer_cache` the ambient window is cut in blocks. `recalled` was found for this turn, the best first;
    it may take `recall_share` of the budget, and up to `recall_most` of it where nothing else asks for the room.
    `as_of` is the number of the last event when all this was read, `clock` the count of completed turns.
    `code` was found in the attached folder for this turn; it may take `code_share` of the budget.
    `ledger`: the newest open work and decisions, newest first.
    `left_out` is in none of the others; what was recalled from it for earlier turns is not sent with these either.
    `instructions`: the user's own, for all conversations first.
    `line` is empty unless the message asks what was when.
    """

    budget: Budget
    params: Mapping[str, Any]
    system_text: str
    tools: tuple[Mapping[str, Any], ...]
    past: tuple[PastTurn, ...]
    older: OlderTurns
    current: CurrentTurn
    ambient_window: int
    layout: Layout
    # The tokenizer comes in as a function, because this package must not import one.
    count: Callable[[str], int]
    cut_current: bool = False
    efforts: tuple[EffortLog, ...] = ()
    headlines: tuple[Headline, ...] = ()
    unlisted: int = 0
    evicted: Evicted = field(default_factory=Evicted)
    epoch: int = 0
    constraints: tuple[RuleInForce, ...] = ()
    prefer_cache: bool = False
    holds: tuple[HoldInForce, ...] = ()
    recalled: tuple[Recalled, ...] = ()
    recall_share: float = 0.0
    recall_most: float = 0.0
    as_of: int = 0
    code: Code = field(default_factory=Code)
    code_share: float = 0.0
    ledger: tuple[LedgerNote, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    instructions: tuple[Instruction, ...] = ()
    sees_pictures: bool = False
    line: LineOfEfforts = field(default_factory=LineOfEfforts)
    clock: int = 0

    @property
    def has_efforts(self) -> bool:
        return bool(self.efforts or self.headlines or self.unlisted or self.evicted.count or self.evicted.chosen)

    @property
    def base(self) -> str:
        return layout_base(self.budget, self.epoch)

    def leaving(self, leaves_at: int | None) -> dict[str, int]:
        """In how many turns that do not refer to it something leaves, as a value of its item; empty where no clock is
        counted."""
        return {} if leaves_at is None else {"leaves_in": max(leaves_at - self.clock, 0)}

    @property
    def layout_key(self) -> str:
        expanded = [effort.slug for effort in self.efforts if effort.kind == "expanded"]
        expanded += [f"{headline.slug} body" for headline in self.headlines if headline.asked]
        return layout_key(self.base, expanded, self.holds)


def layout_base(budget: Budget, epoch: int) -> str:
    return f"{budget.effective}:{epoch}"


def layout_key(base: str, expanded: Iterable[str], holds: Iterable[HoldInForce] = ()) -> str:
    """Two calls with the same key keep the same cuts: an expansion or a pin taken back leaves no trace."""
    pinned = sorted(f"{hold.kind} {hold.turn.number if hold.turn else hold.effort}" for hold in holds)
    return sha256(canonical_json([base, sorted(expanded), *([pinned] if pinned else [])]))


@dataclass(frozen=True, kw_only=True)
class Item:
    """One candidate, or a run of turns with the same decision.

    `sha256` is the beginning of the hash of what it renders to.
    """

    section: Section
    title: str
    tokens: int
    reason: Reason
    included: bool
    turns: tuple[int, int] | None = None
    values: Mapping[str, Any] = field(default_factory=dict)
    sha256: str = ""

    @property
    def whose(self) -> str:
        """Id of the effort, or of the chosen turns, that it is of; empty for what is of none."""
        return str(self.values.get("effort") or self.values.get("chosen") or "")

    @property
    def sentence(self) -> str:
        if 1 in (self.values.get("window"), self.values.get("after")) and self.reason in OF_ONE_TURN:
            return OF_ONE_TURN[self.reason]
        return SENTENCES[self.reason].format_map({"tokens": f"{self.tokens:,}", **self.values}).strip()

    @property
    def remedy(self) -> str:
        return REMEDIES.get(self.reason, "").format_map({"tokens": f"{self.tokens:,}", **self.values})

    def to_json(self) -> dict[str, Any]:
        return {
            "section": self.section,
            "title": self.title,
            "tokens": self.tokens,
            "reason": str(self.reason),
            "included": self.included,
            "turns": list(self.turns) if self.turns else None,
            "values": dict(self.values),
            "sha256": self.sha256,
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Item:
        turns = value["turns"]
        return cls(**{**value, "reason": Reason(value["reason"]), "turns": (turns[0], turns[1]) if turns else None})


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Never over its budget: `tokens <= budget`, the rendered request counted."""

    items: tuple[Item, ...]
    sections: Mapping[str, int]
    recipe: Recipe
    params: Mapping[str, Any]
    fragments: Mapping[str, str]
    layout: Layout
    layout_key: str
    tokens: int
    budget: Budget
    request: dict[str, Any]
    request_sha256: str
    # The same plan, whatever it was made from.
    inputs: PlanInputs = field(compare=False, repr=False)
    # What of `inputs.recalled` it quotes; of these the last ones on room that is free.
    recalled: tuple[Recalled, ...] = ()
    on_free_room: int = 0

    @property
    def stays(self) -> tuple[Recalled, ...]:
        """What later prompts keep with this turn of what is recalled for it."""
        return self.recalled[: len(self.recalled) - self.on_free_room]

    def body(self) -> dict[str, Any]:
        """What is stored: ids and hashes, no copies of text."""
        return {
            # Plans outlive this code: whoever changes the shape must go on reading the old one.
            # From 2 on it is stored with its inputs (`stored_inputs`).
            "v": 2,
            "items": [item.to_json() for item in self.items],
            "sections": dict(self.sections),
            "recipe": self.recipe,
            "params": dict(self.params),
            "layout": self.layout.to_json(),
            "budget": {"setting": self.budget.setting, "window": self.budget.window, "reply": self.budget.reply},
        }


@dataclass(frozen=True)
class RequiredTooLarge(Exception):
    """What must be sent does not fit: nothing is sent, and `parts` says which part needs how many tokens."""

    parts: tuple[tuple[str, int], ...]
    budget: int

    @property
    def needed(self) -> int:
        return sum(tokens for _, tokens in self.parts)
