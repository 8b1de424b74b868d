"""The conversation as the planner sees it: frozen values, no rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from efforts.domain.effort.states import HoldKind, HoldScope, RunState

Role = Literal["user", "assistant", "tool", "file"]
# Whose messages belong to the turn itself, and to no attempt at it.
OF_PERSON: tuple[Role, ...] = ("user", "file")

# What chat formats add around one message, in tokens.
MESSAGE_OVERHEAD = 4
# What they add once to a request.
PRIMING = 3


@dataclass(frozen=True, kw_only=True)
class ToolCall:
    id: str
    name: str
    arguments: str


@dataclass(frozen=True, kw_only=True)
class LogMessage:
    """One entry of the raw log; `tokens` as stored, without overhead."""

    id: int
    role: Role
    text: str
    tokens: int
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str = ""
    tool_name: str = ""
    # Goes on where the message before it was cut off: the two are one text.
    continues: bool = False
    # Of a file that is a picture, what `pictures.reference` made; its text says what it is.
    picture: str = ""

    @property
    def cost(self) -> int:
        return self.tokens + MESSAGE_OVERHEAD


@dataclass(frozen=True, kw_only=True)
class Recalled:
    """A passage of an earlier turn that was found for this one; of several the best stands first.

    `start` and `end` are characters of the message's text, `said_on` an ISO date, `effort` the one its turn belongs to,
    `why` sentences for people.
    """

    turn: int
    message: LogMessage
    start: int
    end: int
    said_on: str
    effort: str = ""
    score: float = 0.0
    why: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        return self.message.text[self.start : self.end]


@dataclass(frozen=True, kw_only=True)
class PastTurn:
    """A finished turn with the messages of the attempt that counts, the user's first, then the files added to it."""

    number: int
    state: RunState
    messages: tuple[LogMessage, ...]
    # What was recalled for it, and stood in its own prompt.
    recalled: tuple[Recalled, ...] = ()
    # Its reply ends where a limit cut it off.
    cut_off: bool = False

    @property
    def visible(self) -> tuple[LogMessage, ...]:
        """What later prompts see: of a failed or interrupted turn the user's message only, with its files."""
        if self.state in (RunState.COMPLETED, RunState.STOPPED):
            return self.messages
        # A person who stopped a reply has seen what stands. What a fault left behind was nobody's answer.
        return self.asked

    @property
    def asked(self) -> tuple[LogMessage, ...]:
        """The user's message and its files."""
        return tuple(message for message in self.messages if message.role in OF_PERSON)

    @property
    def episodes(self) -> tuple[tuple[LogMessage, ...], ...]:
        """Each call of tools with its results, oldest first."""
        found: list[list[LogMessage]] = []
        for message in self.visible:
            if message.tool_calls:
                found.append([message])
            elif message.role == "tool":
                found[-1].append(message)
        return tuple(map(tuple, found))

    @property
    def cost(self) -> int:
        return sum(message.cost for message in self.visible)


@dataclass(frozen=True, kw_only=True)
class CurrentTurn:
    """The turn being answered: the user's message with its files, and this run's tool episodes so far. `began_on` is an
    ISO date.

    `cut_off`: the last of them is a reply that a limit cut off, and that is to go on.
    """

    number: int
    user: LogMessage
    episodes: tuple[LogMessage, ...] = ()
    cut_off: bool = False
    began_on: str = ""
    files: tuple[LogMessage, ...] = ()


@dataclass(frozen=True, kw_only=True)
class RuleInForce:
    """A rule of the user's that is in force; its text is one line."""

    id: int
    text: str


@dataclass(frozen=True, kw_only=True)
class Instruction:
    """What the user wants every reply to follow: `for_all` conversations, or for this one."""

    text: str
    for_all: bool = False


@dataclass(frozen=True, kw_only=True)
class OlderTurns:
    """Everything before what was read, as one running sum; of an effort with the `count` of its turns."""

    last: int = 0
    tokens: int = 0
    count: int = 0


@dataclass(frozen=True, kw_only=True)
class HoldInForce:
    """A finished turn, or an effort in the form it has, that stands in the prompt whatever layer would show it.

    `turns` is the n of its scope, `within` the effort with which it ends. `leaves_at`: the clock at which it leaves,
    where one is counted and nothing refers to it before.
    """

    id: int
    kind: HoldKind = HoldKind.STICKY
    scope: HoldScope = HoldScope.ALWAYS
    turns: int = 0
    within: str = ""
    turn: PastTurn | None = None
    effort: str = ""
    leaves_at: int | None = None

    @property
    def is_sticky(self) -> bool:
        return self.kind == HoldKind.STICKY


@dataclass(frozen=True, kw_only=True)
class CodeCard:
    """A symbol of the attached code: what a prompt shows of it, whole or in short.

    `lines`: its first and last, of the version of the file whose hash is `sha256`; `why`: sentences for people;
    `address`: where a person can read it.
    """

    symbol: int
    title: str
    path: str
    lines: tuple[int, int]
    sha256: str
    text: str
    short: str = ""
    score: float = 0.0
    why: tuple[str, ...] = ()
    address: str = ""


@dataclass(frozen=True, kw_only=True)
class Code:
    """What of the attached folder `name` a prompt may show: a map in the order of what its lines are worth, and cards,
    the best first, `most` of them at once. `is_beside`: the message points at nothing in it."""

    name: str = ""
    map: str = ""
    cards: tuple[CodeCard, ...] = ()
    most: int = 0
    is_beside: bool = False


@dataclass(frozen=True, kw_only=True)
class LeftOut:
    """Turns that follow each other in one effort, or in none, and that the person wants in no prompt; `tokens` as they
    were said."""

    turns: tuple[int, int]
    tokens: int
    effort: str = ""


EffortKind = Literal["active", "open", "expanded", "awaiting"]


@dataclass(frozen=True, kw_only=True)
class EffortLog:
    """An effort that is shown by its turns: the newest of them, oldest first, and the sum of all before. Or `chosen`
    turns that are expanded.

    `active_turn` is the last turn it was active in: of several, the later one is filled first. `name`: what people call
    it now, where its id does not say so. `leaves_at` as that of a hold.
    """

    slug: str
    kind: EffortKind
    turns: tuple[PastTurn, ...]
    older: OlderTurns = OlderTurns()
    opened_turn: int = 1
    active_turn: int = 0
    chosen: bool = False
    name: str = ""
    leaves_at: int | None = None


@dataclass(frozen=True, kw_only=True)
class LedgerNote:
    """Open work or a decision as the model is told it: `id` is what tools call it, `text` one line."""

    id: str
    text: str
    is_proposed: bool = False


@dataclass(frozen=True, kw_only=True)
class Headline:
    """What stands in for a concluded effort, or for `chosen` turns; while their log is expanded it keeps its place and
    is not shown.

    Where there is room its `body` stands instead of its text, if it has one: that of chosen turns, and of an effort
    while it is `asked` for. `name` and `leaves_at` as those of a log, `said_on` the ISO date of its last turn.
    `quotes`: its text is excerpts, and no summary.
    """

    pointer: int
    slug: str
    text: str
    turns: tuple[int, int]
    expanded: bool = False
    body: str = ""
    asked: bool = False
    chosen: bool = False
    name: str = ""
    said_on: str = ""
    leaves_at: int | None = None
    quotes: bool = False


@dataclass(frozen=True, kw_only=True)
class EffortInLine:
    """An effort at its `place`, from 1, in the order in which they were begun.

    `turns`, `days`: its first and its last, as numbers and as ISO dates. `text`: the one line that stands for its
    summary; `name` as that of a log.
    """

    place: int
    slug: str
    turns: tuple[int, int]
    days: tuple[str, str]
    is_open: bool = False
    text: str = ""
    name: str = ""


@dataclass(frozen=True, kw_only=True)
class LineOfEfforts:
    """What a message asks for that asks what was when: of the `count` efforts in these spans of `days` (ISO dates,
    none: of all) those that may be listed, the most wanted first."""

    efforts: tuple[EffortInLine, ...] = ()
    count: int = 0
    days: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, kw_only=True)
class Evicted:
    """What nothing has referred to for `after` turns: how many concluded efforts, and how many summaries of chosen
    turns; and the tokens of what would stand for them."""

    count: int = 0
    tokens: int = 0
    after: int = 0
    chosen: int = 0
    chosen_tokens: int = 0
