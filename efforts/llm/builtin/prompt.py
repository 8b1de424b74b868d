"""Reads a request the way the planner wrote it: who said what, in which turn, and what is asked now."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import Any

from efforts.domain.prompt.toolbox import CONTROLS
from efforts.domain.text.citations import cited
from efforts.llm.builtin.quoting import Text
from efforts.llm.builtin.replies import is_built_in, is_own_line

# What domain/assembly.py and domain/rendering.py write, and what the engine's quotes must not contain.
LABEL = re.compile(r"^\[(?:Conversation|Effort)\b[^\[\]]*\bturns? (\d+)[^\[\]]*\]$")
HIDDEN = re.compile(r"^\[Turns? [^\[\]]* not shown\.[^\[\]]*\]$")
NUMBER = re.compile(r"^\[turn (\d+)\]$")
EFFORT_LABEL = re.compile(r"^\[Effort (\S+), [^\[\]]*from turn \d+\]$")
# User messages side by side are joined for strict chat templates; only this line tells where one ended.
TURN_ENDS = re.compile(r"^\[no reply: [^\[\]]*\]$")
PROGRAM_LINE = re.compile(r"^\[(?:…(?: [^\[\]]*)?|stopped here)\]$")
NOTES_BEGIN = re.compile(r"^\[Notes\b[^\[\]]*\]$")
NOTES_END = "[End of notes]"
LINE_OF_EFFORTS = re.compile(r"^\[Notes, not instructions: efforts\b[^\[\]]*in the order in which they were begun\]$")
RECALLED = "[Notes, not instructions: recalled from earlier turns, quoted]"
# What is recalled is older than all that is shown in its place, as far as it is known.
LONG_AGO = 1_000_000
# Who said what of a turn that is pinned or recalled, each line of it quoted.
PINNED = re.compile(r"^Turn (\d+)(?: of (\S+))?(?:, [\d-]+)?, (?:the (user|assistant)|a file of the user's):$")
PINNED_TOOLS = re.compile(r"^Turn \d+, the assistant used [^.]*\.$")
QUOTE = "> "
# The first line of a card of code.
CODE = re.compile(r"^@ (\S+:\d+-\d+) ")
HEADLINE = re.compile(r"^- (\S+)(?: “.*”)? \(turns? [^()]*\):(?: (.*))?$")
# A file of the user's: its first line, and the fence that its text stands within.
FILE = re.compile(r"^File “(.+)” \([^()]*\):$")
FENCE = re.compile(r"^`{3,}$")
PICTURE = re.compile(r"^Picture “.+” \([^()]*\)")
# The lines of the state note, and what of the state they give.
STATE_LINES = {
    "Active effort": "active",
    "Other open efforts": "others",
    "Expanded efforts": "expanded",
    "Concluded without summary yet": "awaiting",
}
STATE_LINE = re.compile(rf"^({'|'.join(STATE_LINES)}): (.+)$")
UNLISTED = re.compile(r"^Not listed: ([\d,]+) concluded efforts?\b")
# Logs that are not all shown.
IN_PART = re.compile(r"^(?:Shown in part|Not named here): ")
# Of the efforts' state, and of what is recorded, these lines give nothing that is used or quoted.
TOLD = re.compile(
    r"^(?:Today is [\d-]*\. This is turn \d+\.|No effort is active\.|Expanded, but there is no room to show them: .+"
    r"|Names: .+|Open work work-\d+: .+|Decision decision-\d+: .+)$"
)
SUMMARY, EXCERPTS = "summary of ", "excerpts of "
# What the text of excerpts begins with.
NO_SUMMARY = "Excerpts, not a summary"
SPEAKERS = {"user": "you", "assistant": "reply", "file": "file"}
SILENT_TOOLS = CONTROLS | {"expand_effort", "effort_status", "record"}


@dataclass(frozen=True, kw_only=True)
class State:
    """The efforts as the prompt tells them, by id. `unlisted`: there are concluded ones that it does not name."""

    active: str = ""
    others: tuple[str, ...] = ()
    expanded: tuple[str, ...] = ()
    awaiting: tuple[str, ...] = ()
    headlines: Mapping[str, str] = field(default_factory=dict)
    unlisted: bool = False

    @property
    def open(self) -> tuple[str, ...]:
        return (self.active, *self.others) if self.active else self.others

    @property
    def concluded(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self.headlines, *self.expanded, *self.awaiting)))

    @property
    def in_short(self) -> tuple[str, ...]:
        """Concluded, and only their summaries are in the prompt."""
        return tuple(id_ for id_ in self.headlines if id_ not in self.expanded)


@dataclass(frozen=True, kw_only=True)
class ToolResult:
    name: str
    arguments: str
    content: str


@dataclass(frozen=True, kw_only=True)
class Prompt:
    """`said`: what may be quoted, oldest first, without the current message. `hidden`: earlier turns are not shown.

    `results`: what tools answered since the current message. `logs`: the texts shown of an effort. `line`: efforts in
    their order, a line each, where the message asks for that.
    """

    question: str
    said: tuple[Text, ...]
    hidden: bool
    tools: frozenset[str]
    results: tuple[ToolResult, ...]
    state: State
    logs: Mapping[str, tuple[Text, ...]]
    line: tuple[str, ...] = ()

    @property
    def incomplete(self) -> bool:
        """Whether something that was said is not in the prompt."""
        return self.hidden or bool(self.state.in_short) or self.state.unlisted


@dataclass
class _Reader:
    """Walks the messages with the number of the turn it is in; 0 while no label has told it."""

    said: list[Text]
    files: list[tuple[str, str]] = field(default_factory=list)
    turn: int = 0
    first_of_layer: bool = False
    hidden: bool = False
    recalled: bool = False
    listing: bool = False
    line: tuple[str, ...] = ()
    current: str = ""
    asked: Text | None = None
    effort: str = ""
    state: State = field(default_factory=State)
    headlines: dict[str, str] = field(default_factory=dict)
    logs: dict[str, list[Text]] = field(default_factory=dict)

    def user(self, content: str) -> None:
        """One user message holds a user's text, and before it whatever had no reply or is not the user's."""
        lines: list[str] = []
        notes: list[str] | None = None
        # Only what stands before the current message is the state of now.
        self.state = State()
        for line in self._without_files(content.splitlines()):
            if notes is not None:
                notes = self._note(line, notes)
            elif NOTES_BEGIN.match(line):
                notes, self.recalled, self.listing = [], line == RECALLED, bool(LINE_OF_EFFORTS.match(line))
            elif TURN_ENDS.match(line) or NUMBER.match(line):
                self._end_turn(lines)
                lines = []
                self._number(line)
            elif not self._heed(line):
                lines.append(line)
        self._end_turn(lines)

    def _without_files(self, lines: list[str]) -> Iterator[str]:
        """The lines that are of no file; what files hold is read with the turn that they belong to."""
        rest = iter(lines)
        for line in rest:
            if not (file := FILE.match(line)):
                if not PICTURE.match(line):
                    yield line
                continue
            fence = next(rest, "")
            if not FENCE.match(fence):
                yield from (line, fence)
                continue
            held = takewhile(lambda one, fence=fence: one != fence, rest)  # type: ignore[misc]
            text = "\n".join(one for one in held if not PROGRAM_LINE.match(one))
            self.files.append((file[1], text))

    def _number(self, line: str) -> None:
        if mark := NUMBER.match(line):
            self.turn, self.first_of_layer = int(mark[1]), True

    def add(self, text: str, where: str, *, by_user: bool = False, is_code: bool = False) -> None:
        if not text.strip():
            return
        order = len(self.said) - (LONG_AGO if self.recalled else 0)
        said = Text(
            text=text.strip(),
            where=where,
            by_user=by_user,
            order=order,
            turn=self.turn,
            effort=self.effort,
            is_code=is_code,
        )
        self.said.append(said)
        self.logs.setdefault(self.effort, []).append(said)

    def place(self, who: str) -> str:
        return f"{who} {cited(self.turn, self.effort)}" if self.turn else f"{who}, earlier"

    def _end_turn(self, lines: list[str]) -> None:
        self.current = "\n".join(lines).strip()
        files, self.files = self.files, []
        if not self.current:
            return
        # Only the first turn after a label is named by it; those that follow are counted.
        if self.turn and not self.first_of_layer:
            self.turn += 1
        self.first_of_layer = False
        self.add(self.current, self.place("you"), by_user=True)
        self.asked = self.said[-1]
        for name, text in files:
            self.add(text, self.place(f"{SPEAKERS['file']} {name}"))

    def _note(self, line: str, notes: list[str]) -> list[str] | None:
        if line == NOTES_END:
            self._end_notes(notes)
            return None
        return notes if self._tells_state(line) else [*notes, line]

    def _end_notes(self, notes: list[str]) -> None:
        """Notes are nobody's words in a layer; the line that begins a summary names its effort."""
        if self.listing:
            self.line, self.listing = tuple(notes), False
            return
        effort, self.effort, where = self.effort, "", "notes"
        held: list[str] = []
        for line in notes:
            if found := HEADLINE.match(line):
                self._add_note(held, where)
                where, held = f"{SUMMARY}{found[1]}", [found[2] or ""]
            elif found := PINNED.match(line):
                self._add_note(held, where)
                where, held = f"{SPEAKERS[found[3] or 'file']} {cited(found[1], found[2] or '')}", []
            elif found := CODE.match(line):
                self._add_note(held, where)
                where, held = f"[{found[1]}]", [line.removeprefix("@ ")]
            elif not PINNED_TOOLS.match(line) and not PROGRAM_LINE.match(line.removeprefix(QUOTE)):
                held.append(line.removeprefix(QUOTE) if where.startswith(tuple(SPEAKERS.values())) else line)
        self._add_note(held, where)
        self.effort, self.recalled = effort, False

    def _add_note(self, lines: list[str], where: str) -> None:
        # Of code `where` is its place alone; what was said names who said it.
        if where.startswith("["):
            what, *code = lines
            self.add("\n".join([what, "```", *code, "```"]), where, is_code=True)
            return
        by_user = where.startswith(SPEAKERS["user"])
        text = "\n".join(lines).strip()
        told = EXCERPTS + where.removeprefix(SUMMARY) if text.startswith(NO_SUMMARY) else where
        self.add(own_words(text) if where.startswith(SPEAKERS["assistant"]) else text, told, by_user=by_user)
        if where.startswith(SUMMARY):
            self.headlines[where.removeprefix(SUMMARY)] = text

    def _tells_state(self, line: str) -> bool:
        if found := STATE_LINE.match(line):
            self.state = _with(self.state, STATE_LINES[found[1]], tuple(found[2].split(", ")))
        elif UNLISTED.match(line):
            self.state = replace(self.state, unlisted=True)
        elif HIDDEN.match(line) or IN_PART.match(line):
            self.hidden = True
        else:
            return bool(TOLD.match(line))
        return True

    def _heed(self, line: str) -> bool:
        """Whether the program wrote this line, and what it says."""
        if HIDDEN.match(line):
            self.hidden = True
            return True
        if label := LABEL.match(line):
            self.turn, self.first_of_layer = int(label[1]), True
            effort = EFFORT_LABEL.match(line)
            self.effort = effort[1] if effort else ""
            return True
        return bool(PROGRAM_LINE.match(line))


def _with(state: State, key: str, ids: tuple[str, ...]) -> State:
    if key == "active":
        return replace(state, active="".join(ids[:1]))
    told: dict[str, tuple[str, ...]] = {key: ids}
    return replace(state, **told)  # type: ignore[arg-type]


def read(request: Mapping[str, Any]) -> Prompt:
    messages = [message for message in request["messages"] if message["role"] != "system"]
    now = max((i for i, message in enumerate(messages) if message["role"] == "user"), default=-1)
    calls = _calls(messages)
    reader = _Reader([])
    for message in messages[:now]:
        _take(reader, message, calls)
    if now >= 0:
        reader.user(_content(messages[now]))
    question = reader.current
    if question and reader.asked:
        # What is asked is no answer to itself; its files may be.
        reader.said.remove(reader.asked)
        reader.logs[reader.effort].remove(reader.asked)
    return Prompt(
        question=question,
        said=tuple(reader.said),
        hidden=reader.hidden,
        tools=frozenset(tool["function"]["name"] for tool in request.get("tools") or ()),
        results=tuple(_result(message, calls) for message in messages[now + 1 :] if message["role"] == "tool"),
        state=replace(reader.state, headlines=reader.headlines),
        logs={effort: tuple(texts) for effort, texts in reader.logs.items()},
        line=reader.line,
    )


def texts_of(result: ToolResult, where: str = "") -> list[Text]:
    """What a tool's answer holds; messages that were found or read keep the turns they came from.

    They are taken for older than all that is shown, the best match for the newest of them.
    """
    answer = _parsed(result.content)
    messages = _messages(answer)
    if messages is None:
        text = "\n".join(_strings(answer))
        return [Text(text=text, where=where or result.name, by_user=False, order=-1)]
    return [_message_text(message, order=-1 - i) for i, message in enumerate(messages)]


def answer_of(result: ToolResult) -> Mapping[str, Any]:
    """What the tool answered; empty where that is no JSON object."""
    answer = _parsed(result.content)
    return answer if isinstance(answer, dict) else {}


def error_of(result: ToolResult) -> str:
    return str(answer_of(result).get("error") or "")


def arguments_of(result: ToolResult) -> Mapping[str, Any]:
    arguments = _parsed(result.arguments)
    return arguments if isinstance(arguments, dict) else {}


def _take(reader: _Reader, message: Mapping[str, Any], calls: Mapping[str, tuple[str, str]]) -> None:
    if message["role"] == "user":
        reader.user(_content(message))
    elif message["role"] == "assistant":
        reader.add(own_words(_content(message)), reader.place("reply"))
    # What other tools answer tells of efforts, and holds nobody's words.
    elif (result := _result(message, calls)).name not in SILENT_TOOLS:
        for text in texts_of(result, where=reader.place(f"result of {result.name}")):
            reader.add(text.text, text.where, by_user=text.by_user)


def own_words(reply: str) -> str:
    """A reply without what it quotes, the program's marks, and the engine's own sentences."""
    lines = [line for line in reply.splitlines() if not PROGRAM_LINE.match(line)]
    if is_built_in(lines):
        return ""
    return "\n".join(line for line in lines if not line.startswith(">") and not is_own_line(line))


def _messages(answer: object) -> list[Mapping[str, Any]] | None:
    """The messages in what a search found, or a message or an effort that was read holds."""
    if not isinstance(answer, dict):
        return None
    if isinstance(turns := answer.get("turns"), list):
        read = [turn for turn in turns if isinstance(turn, dict) and isinstance(turn.get("messages"), list)]
        where = {"effort": answer.get("effort")}
        found: object = [{**said, **where, "turn": turn.get("turn")} for turn in read for said in turn["messages"]]
    else:
        found = [answer] if "role" in answer and "text" in answer else answer.get("matches")
    return [message for message in found if isinstance(message, dict)] if isinstance(found, list) else None


def _message_text(message: Mapping[str, Any], order: int) -> Text:
    by_user = message.get("role") == "user"
    # What is found of an effort is a passage, of whichever side.
    said = str(message.get("text") or message.get("passage") or "")
    turn, effort = str(message.get("turn")), str(message.get("effort") or "")
    speaker = SPEAKERS.get(str(message.get("role")), SPEAKERS["assistant"])
    where = cited(turn, str(message.get("id"))) if "passage" in message else f"{speaker} {cited(turn, effort)}"
    return Text(text=said if by_user else own_words(said), where=where, by_user=by_user, order=order)


def _result(message: Mapping[str, Any], calls: Mapping[str, tuple[str, str]]) -> ToolResult:
    name, arguments = calls.get(message.get("tool_call_id", ""), ("tool", ""))
    lines = [line for line in _content(message).splitlines() if not PROGRAM_LINE.match(line)]
    return ToolResult(name=name, arguments=arguments, content="\n".join(lines))


def _calls(messages: Sequence[Mapping[str, Any]]) -> dict[str, tuple[str, str]]:
    """Name and arguments of every tool call in the prompt, by id."""
    return {
        call["id"]: (call["function"]["name"], call["function"]["arguments"])
        for message in messages
        for call in message.get("tool_calls") or ()
    }


def _content(message: Mapping[str, Any]) -> str:
    return message.get("content") or ""


def _parsed(content: str) -> object:
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return content


def _strings(value: object) -> Iterator[str]:
    # Not by calls of itself: what can just be read may be nested deeper than these can go.
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, dict | list):
            waiting += reversed(list(one.values()) if isinstance(one, dict) else one)
