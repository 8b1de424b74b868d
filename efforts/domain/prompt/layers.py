"""The logs that a prompt shows: ambient turns and the turns of efforts, each with its label, stub and price."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, Literal

from efforts.domain.effort.notices import span_said
from efforts.domain.effort.policy import WINDOW_BLOCK
from efforts.domain.prompt import pictures
from efforts.domain.prompt.conversation import (
    MESSAGE_OVERHEAD,
    CodeCard,
    EffortKind,
    EffortLog,
    Headline,
    HoldInForce,
    LogMessage,
    OlderTurns,
    PastTurn,
    Recalled,
    RuleInForce,
)
from efforts.domain.prompt.plan import LayerCut, PlanInputs
from efforts.domain.prompt.quotes import block_text
from efforts.domain.prompt.rendering import cut_text
from efforts.domain.prompt.toolbox import CONTROLS, FINDERS
from efforts.domain.text.canonical import canonical_json, sha256
from efforts.domain.text.counting import counted

# Messages above LARGE tokens may be cut to HEAD + TAIL characters when the budget needs the room.
LARGE = 600
# In characters and not tokens: a replay must cut at the same place, whatever tokenizer counts by then.
HEAD, TAIL = 1_200, 600

# The built-in engine knows these lines again by llm/builtin/prompt.py: both change together.
AMBIENT_LABEL = "[Conversation from turn {first}]"
EFFORT_LABEL = "[Effort {slug}, {kind}, from turn {first}]"
CHOSEN_LABEL = "[Conversation {slug}, expanded, from turn {first}]"
KINDS: dict[EffortKind, str] = {
    "active": "active",
    "open": "open",
    "expanded": "concluded, expanded",
    "awaiting": "concluded, without summary yet",
}
# Every other turn of a run; the first has the label's number.
NUMBER = "[turn {number}]"
# Up to a turn and not from one: turns of other layers lie in between, and these may be shown.
STUB = "[Turns of no effort up to {last} ({tokens} tokens) are not shown. search_messages finds what was said there.]"
EFFORT_STUB = "[Turns of {slug} up to {last} ({turns}, {tokens} tokens) are not shown. read_effort reads them.]"
CUT = "[… {tokens} tokens in all, the middle is not shown. read_message({id}) shows it.]"
LEFT = "[… {calls} of this turn, {tokens} tokens with results, not shown. read_message({first}) to ({last}) show them.]"
FOLDED = "[… the result of {tool}, {tokens} tokens, was shown in its own turn. Call it again to see it.]"
# What efforts are now the notes of each turn say.
CONTROLLED = "[… what {tool} answered was shown in its own turn.]"
REFUSED = "[… {tool} was refused; why was shown in its own turn.]"
# Runs of turns that a title names; of more only where they begin and end.
MOST_RUNS = 3
# A shorter result is not worth a line that says it was there.
SHORT = 40
RULE = "{number}. {text}"
HEADLINE = "- {slug} ({where}):{gap}{text}"
# No line of a body can be taken for one that the program writes.
INDENT = "  "


@dataclass(kw_only=True)
class Fragments:
    """Texts that are not messages, by hash."""

    texts: dict[str, str] = field(default_factory=dict)

    def add(self, text: str) -> dict[str, str]:
        sha = sha256(text)
        self.texts[sha] = text
        return {"f": sha}

    def add_lines(self, lines: Iterable[str]) -> dict[str, str]:
        """Many lines by one hash: of a list that stays as it is, each plan names no more than that."""
        return {"l": self.add(canonical_json([self.add(line)["f"] for line in lines]))["f"]}


@dataclass(frozen=True, kw_only=True)
class Layer(EffortLog):
    """The turns of one log that may be shown, oldest first; of those of no effort the id is empty."""

    kind: Literal["ambient"] | EffortKind  # type: ignore[assignment]

    @property
    def key(self) -> str:
        return self.slug

    def label(self, first: int) -> str:
        if self.kind == "ambient":
            return AMBIENT_LABEL.format(first=first)
        if self.chosen:
            return CHOSEN_LABEL.format(slug=self.key, first=first)
        return EFFORT_LABEL.format(slug=self.key, kind=KINDS[self.kind], first=first)

    def out(self, kept: Kept) -> OlderTurns:
        """The sum of all that is not shown."""
        missing = self.turns[: len(self.turns) - len(kept.turns)]
        last = missing[-1].number if missing else self.older.last
        return OlderTurns(last=last, tokens=self.older.tokens + sum(turn.cost for turn in missing))

    def stub(self, kept: Kept) -> str:
        """One line for all that is not shown, with the tool that brings it back; empty where all is shown."""
        out = self.out(kept)
        if not out.last:
            return ""
        text = STUB if self.kind == "ambient" else EFFORT_STUB
        turns = counted(self.count - len(kept.turns), "turn", form=",")
        return text.format(last=out.last, slug=self.key, turns=turns, tokens=f"{out.tokens:,}")

    @property
    def count(self) -> int:
        """How many finished turns the effort has."""
        return self.older.count + len(self.turns)


@dataclass(frozen=True, kw_only=True)
class Kept:
    """The newest run of a layer's turns that is shown, oldest first; the messages in it that are cut; those of tool
    calls with their results that are left out of a turn too large to be shown whole; and the number of the newest turn
    without what was recalled for it."""

    turns: tuple[PastTurn, ...] = ()
    cuts: frozenset[int] = frozenset()
    left: frozenset[int] = frozenset()
    recall_through: int = 0

    def recalled_for(self, turn: PastTurn) -> tuple[Recalled, ...]:
        return turn.recalled if turn.number > self.recall_through else ()

    @property
    def runs(self) -> tuple[tuple[int, int], ...]:
        return runs_of([turn.number for turn in self.turns])


def runs_of(numbers: Sequence[int]) -> tuple[tuple[int, int], ...]:
    """First and last numbers of turns that follow each other: efforts interleave, cancelled numbers leave gaps."""
    firsts = [number for before, number in pairwise([-1, *numbers]) if number != before + 1]
    lasts = [number for number, after in pairwise([*numbers, -1]) if after != number + 1]
    return tuple(zip(firsts, lasts, strict=True))


def span_title(runs: Sequence[tuple[int, int]]) -> str:
    """Turns of other efforts may stand in between; a few runs are named, of more only where they begin and end."""
    if len(runs) > MOST_RUNS:
        count = sum(last - first + 1 for first, last in runs)
        return f"{count} turns from {runs[0][0]} to {runs[-1][1]}"
    spans = ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)
    return f"Turn {spans}" if spans.isdecimal() else f"Turns {spans}"


def span_within(runs: Sequence[tuple[int, int]]) -> str:
    """The same within a sentence."""
    title = span_title(runs)
    return title[:1].lower() + title[1:]


NOTHING = Kept()


@dataclass(frozen=True, kw_only=True)
class Pinned:
    """A hold that stands in the notes; `cut`: its long messages by beginning and end."""

    hold: HoldInForce
    cut: bool = False


@dataclass(frozen=True, kw_only=True)
class ShownCard:
    card: CodeCard
    text: str

    def contains(self, other: CodeCard) -> bool:
        """Whether the lines of another card are among those that are shown whole."""
        mine, theirs = self.card.lines, other.lines
        within = self.card.path == other.path and mine[0] <= theirs[0] and theirs[1] <= mine[1]
        return within and self.text == self.card.text and mine[1] - mine[0] < self.text.count("\n")


@dataclass(frozen=True, kw_only=True)
class CodeShown:
    """The map of the attached folder as far as it is shown, and its cards, the best first."""

    map: str = ""
    cards: tuple[ShownCard, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Choice:
    """What is sent beside the required: pins, of each layer, by key, a run of turns, headlines in their order, of some
    of them the body instead, and what is recalled, the best first."""

    layers: Mapping[str, Kept] = field(default_factory=dict)
    headlines: tuple[Headline, ...] = ()
    bodies: tuple[Headline, ...] = ()
    pins: tuple[Pinned, ...] = ()
    recalled: tuple[Recalled, ...] = ()
    # The last of these, which stand on room that nothing else needs, and leave after this turn.
    on_free_room: int = 0
    code: CodeShown = CodeShown()
    # The lines that list efforts in their order; none where that is not asked for, or told anyway.
    line: tuple[str, ...] = ()

    def of(self, layer: Layer) -> Kept:
        return self.layers.get(layer.key, NOTHING)

    @property
    def elsewhere(self) -> frozenset[str]:
        """Ids of what has no headline among the others: it is pinned, or its body stands."""
        return pinned_efforts(self.pins) | slugs_of(self.bodies)

    @property
    def shown_headlines(self) -> tuple[Headline, ...]:
        return beside(self.headlines, self.elsewhere)

    def unlisted(self, headlines: Iterable[Headline]) -> tuple[Headline, ...]:
        """Those that the budget removed."""
        standing = {one.pointer for one in (*self.headlines, *self.bodies)}
        return tuple(one for one in headlines if one.pointer not in standing)


def pinned_efforts(pins: Sequence[Pinned]) -> frozenset[str]:
    """The ids of efforts that are pinned themselves, not by their turns."""
    return frozenset(pin.hold.effort for pin in pins if pin.hold.effort)


def slugs_of(headlines: Iterable[Headline]) -> frozenset[str]:
    """The ids that people and models use."""
    return frozenset(headline.slug for headline in headlines)


def beside(headlines: Sequence[Headline], elsewhere: Collection[str]) -> tuple[Headline, ...]:
    """Those that stand as summaries: what is expanded, pinned or shown by its body keeps its place."""
    return tuple(headline for headline in headlines if not headline.expanded and headline.slug not in elsewhere)


def eligible_turns(inputs: PlanInputs) -> tuple[PastTurn, ...]:
    """The ambient turns that the window has room for, oldest first."""
    # Without the condition a window of 0 would be past[-0:], which is everything.
    return inputs.past[-inputs.ambient_window :] if inputs.ambient_window else ()


def outside_window(inputs: PlanInputs) -> OlderTurns:
    outside = inputs.past[: len(inputs.past) - len(eligible_turns(inputs))]
    return OlderTurns(
        last=outside[-1].number if outside else inputs.older.last,
        tokens=inputs.older.tokens + sum(turn.cost for turn in outside),
    )


def block_start(inputs: PlanInputs) -> int:
    """The first turn of a window that is cut in blocks: as the last call left it, until that is more than a window."""
    window, before = eligible_turns(inputs), inputs.layout.block
    outside = outside_window(inputs).last
    if not inputs.prefer_cache or not window or not outside or outside < before:
        return before if inputs.prefer_cache else 0
    return window[-max(int(inputs.ambient_window * WINDOW_BLOCK), 1) :][0].number


def layers_of(inputs: PlanInputs) -> tuple[Layer, ...]:
    """In the order of the prompt."""
    eligible, older = eligible_turns(inputs), outside_window(inputs)
    order = ("expanded", "awaiting", "open", "active")
    efforts = sorted(inputs.efforts, key=lambda effort: (order.index(effort.kind), effort.opened_turn, effort.slug))
    return (Layer(slug="", kind="ambient", turns=eligible, older=older), *(Layer(**vars(one)) for one in efforts))


def whole(inputs: PlanInputs, layer: Layer) -> Kept:
    """All turns of the layer, none of them cut."""
    return with_cuts(inputs, Kept(turns=layer.turns), 0, None)


def with_cuts(inputs: PlanInputs, kept: Kept, through: int, room: int | None) -> Kept:
    """Cut the large messages up to the id `through`, and more, oldest first, until the turns fit `room` tokens."""
    messages = [message for turn in kept.turns for message in turn.visible if message.id not in kept.left]
    cuts = {message.id for message in messages if folds(message)}
    folded = replace(kept, cuts=frozenset(cuts))
    excess = 0 if room is None else turn_tokens(inputs, kept.turns, folded) - room
    for message in messages:
        gain = 0 if message.id in cuts else whole_tokens(inputs, message) - cut_tokens(inputs, message)
        # What was cut before stays cut, or the prompt would change in its middle.
        if gain > 0 and (message.id <= through or excess > 0):
            cuts.add(message.id)
            excess -= gain
    return replace(kept, cuts=frozenset(cuts))


def layer_tokens(inputs: PlanInputs, layer: Layer, kept: Kept) -> int:
    """What a layer adds to the prompt, labels and stub included; a few tokens off where messages are joined."""
    if not kept.turns:
        return 0
    lines = [layer.label(first) for first, _ in kept.runs]
    firsts = {first for first, _ in kept.runs}
    lines += [NUMBER.format(number=turn.number) for turn in kept.turns if turn.number not in firsts]
    if stub := layer.stub(kept):
        lines.append(stub)
    return turn_tokens(inputs, kept.turns, kept) + sum(inputs.count(line) + 1 for line in lines)


def turn_tokens(inputs: PlanInputs, turns: Sequence[PastTurn], kept: Kept) -> int:
    """Of turns, as `kept` has them: what was said, and what was recalled for them."""
    return said_tokens(inputs, turns, kept) + recalled_tokens(inputs, turns, kept)


def said_tokens(inputs: PlanInputs, turns: Sequence[PastTurn], kept: Kept) -> int:
    """Of the messages as they are shown, cut or whole, with the lines that stand for tool calls left out."""
    shown = (message for turn in turns for message in turn.visible if message.id not in kept.left)
    cost = (cut_tokens(inputs, m) if m.id in kept.cuts else whole_tokens(inputs, m) for m in shown)
    said = sum(tokens + MESSAGE_OVERHEAD for tokens in cost)
    return said + sum(inputs.count(line) + 1 for turn in turns if kept.left and (line := left_line(turn, kept.left)))


def whole_tokens(inputs: PlanInputs, message: LogMessage) -> int:
    """Of a picture that the model does not see its name alone."""
    unseen = message.picture and not inputs.sees_pictures
    return message.tokens - (pictures.tokens_of(message.picture) if unseen else 0)


def recalled_tokens(inputs: PlanInputs, turns: Sequence[PastTurn], kept: Kept) -> int:
    """Of the passages quoted for these turns."""
    return sum(inputs.count(block_text(recalled)) for turn in turns if (recalled := kept.recalled_for(turn)))


def left_of(turn: PastTurn, left: frozenset[int]) -> tuple[tuple[LogMessage, ...], ...]:
    """The episodes of a turn that are left out."""
    return tuple(episode for episode in turn.episodes if episode[0].id in left)


def left_line(turn: PastTurn, left: frozenset[int]) -> str:
    """What stands for the tool calls that are left out of a turn; empty where none is."""
    episodes = left_of(turn, left)
    if not episodes:
        return ""
    tokens = sum(message.cost for episode in episodes for message in episode)
    return LEFT.format(
        calls=calls_said(episodes), tokens=f"{tokens:,}", first=episodes[0][0].id, last=episodes[-1][-1].id
    )


def calls_said(episodes: Sequence[Sequence[LogMessage]]) -> str:
    """How many tools were called, as people read it."""
    calls = sum(len(episode[0].tool_calls) for episode in episodes)
    return f"{calls} tool call{'s' if calls > 1 else ''}"


def folds(message: LogMessage) -> bool:
    """Results of finders and controls are shown whole in their own turn, and afterwards as one line."""
    return message.role == "tool" and message.tool_name in FINDERS | CONTROLS and message.tokens > SHORT


def folded_line(message: LogMessage) -> str:
    """What stands for the result of a tool after its turn."""
    if message.tool_name in FINDERS:
        return FOLDED.format(tool=message.tool_name, tokens=f"{message.tokens:,}")
    return (REFUSED if message.text.startswith('{"error"') else CONTROLLED).format(tool=message.tool_name)


def cut_tokens(inputs: PlanInputs, message: LogMessage) -> int:
    """Tokens of a message when it is cut or folded; its own where that cannot be done."""
    # The stored tokens of a message with tool calls include the calls, which no cut makes smaller.
    short = message.tokens <= LARGE or message.tool_calls or len(message.text) <= HEAD + TAIL
    if short and not folds(message):
        return whole_tokens(inputs, message)
    fragments = Fragments()
    return inputs.count(cut_text(message.text, cut_of(message, fragments), fragments.texts))


def cut_of(message: LogMessage, fragments: Fragments, head: int = HEAD, tail: int = TAIL) -> dict[str, Any]:
    """The part of a recipe for a message too large: `head` and `tail` are characters."""
    if folds(message):
        return {"head": 0, "tail": 0, **fragments.add(folded_line(message))}
    line = CUT.format(tokens=f"{message.tokens:,}", id=message.id)
    return {"head": head, "tail": tail, **fragments.add(line)}


def rule_line(number: int, rule: RuleInForce) -> str:
    """A rule as the system message has it."""
    return RULE.format(number=number, text=rule.text)


def headline_line(headline: Headline) -> str:
    """Its text byte for byte, as it was judged; of several lines each on its own."""
    first, last = headline.turns
    where = span_said(first, last) if first else "from earlier conversations"
    where = f"{where}, {headline.said_on}" if headline.said_on else where
    slug = f"{headline.slug} “{headline.name}”" if headline.name else headline.slug
    return HEADLINE.format(slug=slug, where=where, text=headline.text, gap="\n" if "\n" in headline.text else " ")


def body_text(headline: Headline) -> str:
    """The body of a summary, begun as its headline is."""
    first, *lines = headline.body.splitlines()
    opened = headline_line(replace(headline, text=first))
    return "\n".join([opened, *(f"{INDENT}{line}" for line in lines)])


def body_tokens(inputs: PlanInputs, headlines: Sequence[Headline]) -> int:
    """Of the bodies of these summaries."""
    return sum(inputs.count(body_text(headline)) + 1 for headline in headlines)


def headline_tokens(inputs: PlanInputs, headlines: Sequence[Headline]) -> int:
    """Of the summaries as the prompt lists them."""
    return sum(inputs.count(headline_line(headline)) + 1 for headline in headlines)


def cut_at(layer: Layer, kept: Kept) -> LayerCut:
    """What the next call is to keep of this layer's beginning."""
    whole_layer = len(kept.turns) == len(layer.turns) and (layer.kind == "ambient" or not layer.older.last)
    first = kept.turns[0].number if kept.turns else (layer.turns[-1].number + 1 if layer.turns else 0)
    visible = [message for turn in kept.turns for message in turn.visible]
    large = [message.id for message in visible if message.id in kept.cuts and not folds(message)]
    left = [message.id for message in visible if message.id in kept.left]
    return LayerCut(
        first_kept=0 if whole_layer else first,
        cut_through=max(large, default=0),
        left_through=max(left, default=0),
        recall_through=max((turn.number for turn in without_recalled(kept)), default=0),
    )


def without_recalled(kept: Kept) -> list[PastTurn]:
    """Turns that are shown without what was recalled for them."""
    return [turn for turn in kept.turns if turn.recalled and not kept.recalled_for(turn)]
