"""Puts a reply together from the chunks of its stream, forgiving what servers commonly get wrong."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from efforts.llm.protocol import RawToolCall, ReportedUsage, StreamEnd, TextDelta, ThinkingDelta

# What the database takes; no prompt has as many tokens.
MOST_TOKENS = 2**31 - 1
# A server that gives all calls one id sends each in few pieces; reading many again and again would be quadratic.
FEW_PIECES = 8
# What providers call the end at a limit; each is told as the first.
CUT_OFF = ("length", "max_tokens", "MAX_TOKENS", "max_output_tokens", "model_length")
THINK, THOUGHT = "<think>", "</think>"

Piece = TextDelta | ThinkingDelta


@dataclass
class _Call:
    id: str = ""
    name: str = ""
    # Not one text that grows: that would make long arguments quadratic.
    arguments: list[str] = field(default_factory=list)

    def is_whole(self) -> bool:
        if len(self.arguments) > FEW_PIECES:
            return False
        try:
            json.loads("".join(self.arguments))
        except (ValueError, RecursionError):
            return False
        return True


@dataclass
class _ThinkBlock:
    """Parts the block that a reply begins with, where an endpoint sends thinking so, from its text."""

    at: Literal["beginning", "within", "after", "text"] = "beginning"
    held: str = ""

    def take(self, text: str) -> Iterator[Piece]:
        if self.at == "beginning":
            text = self._begin(text)
        if self.at == "within":
            self.held += text
            thought, end, text = self.held.partition(THOUGHT)
            # The last characters may be the beginning of the tag that ends it.
            kept = 0 if end else next(n for n in range(len(THOUGHT) - 1, -1, -1) if thought.endswith(THOUGHT[:n]))
            thought, self.held = thought[: len(thought) - kept], thought[len(thought) - kept :]
            if thought:
                yield ThinkingDelta(thought)
            if end:
                self.at, self.held = "after", ""
        if self.at == "after":
            # White space behind the block belongs to neither.
            text = text.lstrip()
        if text and self.at != "within":
            self.at = "text"
            yield TextDelta(text)

    def _begin(self, text: str) -> str:
        """What of the text is no tag; nothing while it may be the tag in pieces."""
        held, self.held = self.held + text, ""
        begun = held.lstrip()
        if begun.startswith(THINK):
            self.at = "within"
            return begun.removeprefix(THINK)
        if THINK.startswith(begun):
            self.held = held
            return ""
        self.at = "text"
        return held

    def rest(self) -> Iterator[Piece]:
        """What was held back when the stream ended."""
        if self.held:
            yield ThinkingDelta(self.held) if self.at == "within" else TextDelta(self.held)
        self.held = ""


@dataclass
class ReplyAssembly:
    """Feed it every chunk; `finished()` is None while the stream has not said how it ends."""

    calls: list[_Call] = field(default_factory=list)
    finish_reason: str = ""
    usage: ReportedUsage | None = None
    # The last call of each index: a server that gives every call the same one begins a new call by a new id or name.
    _open: dict[int | None, _Call] = field(default_factory=dict)
    _block: _ThinkBlock = field(default_factory=_ThinkBlock)

    def add(self, chunk: Mapping[str, Any]) -> list[Piece]:
        """Take one chunk in and return the text and the thinking that it carries."""
        # Some report it once at the end, some in every chunk so far: the last one is the whole.
        self.usage = _usage(chunk) or self.usage
        choices = chunk.get("choices")
        choice = _object(choices[0]) if isinstance(choices, list) and choices else {}
        self.finish_reason = _text(choice.get("finish_reason")) or self.finish_reason
        delta = _object(choice.get("delta"))
        fragments = delta.get("tool_calls")
        for fragment in fragments if isinstance(fragments, list) else ():
            self._add_fragment(_object(fragment))
        content = delta.get("content")
        # Mistral's models that think send lists of what they think and say.
        parts = content if isinstance(content, list) else ()
        within = "".join(_joined(_object(part).get("thinking")) for part in parts)
        thought = _text(delta.get("reasoning_content")) or _text(delta.get("reasoning")) or within
        text = _joined(content) or _text(delta.get("refusal"))
        return [*([ThinkingDelta(thought)] if thought else ()), *(self._block.take(text) if text else ())]

    def rest(self) -> list[Piece]:
        """What was held back, to be taken when no chunk comes any more."""
        return list(self._block.rest())

    def finished(self) -> StreamEnd | None:
        # That the stream is over proves nothing: a proxy that gives up ends it in the same way.
        if not self.finish_reason:
            return None
        calls = tuple(RawToolCall(call.id, call.name, "".join(call.arguments)) for call in self.calls)
        reason = CUT_OFF[0] if self.finish_reason in CUT_OFF else self.finish_reason
        return StreamEnd(calls, reason, self.usage)

    def _add_fragment(self, fragment: Mapping[str, Any]) -> None:
        function = _object(fragment.get("function"))
        id_, name = _text(fragment.get("id")), _text(function.get("name"))
        arguments = _as_text(function.get("arguments"))
        index = fragment.get("index")
        index = index if isinstance(index, int) else None
        call = self._open.get(index)
        if call is None or _begins_anew(call, index, id_, name, arguments):
            call = self._open[index] = _Call()
            self.calls.append(call)
        call.id = call.id or id_
        call.name = call.name or name
        call.arguments.append(arguments)


def _begins_anew(call: _Call, index: int | None, id_: str, name: str, arguments: str) -> bool:
    """Whether a fragment is of another call than the last of its index. Some servers leave the index out, some give
    every call the same one, and some the same id as well."""
    if id_ and call.id and id_ != call.id:
        return True
    if not name or not call.name:
        return False
    return name != call.name or (index is None and not id_) or (arguments.startswith("{") and call.is_whole())


def _object(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _joined(content: object) -> str:
    """A text, or those of a list of parts."""
    if not isinstance(content, list):
        return _text(content)
    return "".join(_text(_object(part).get("text")) for part in content)


def _as_text(arguments: object) -> str:
    if arguments is None:
        return ""
    # Some servers send the object itself instead of its text.
    return arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)


def _usage(chunk: Mapping[str, Any]) -> ReportedUsage | None:
    reported = _object(chunk.get("usage"))
    if not reported:
        return None
    cached = _object(reported.get("prompt_tokens_details")).get("cached_tokens")
    return ReportedUsage(
        _tokens(reported.get("prompt_tokens")), _tokens(reported.get("completion_tokens")), _tokens(cached)
    )


def _tokens(value: object) -> int | None:
    """What is no count of tokens was not reported."""
    return value if isinstance(value, int) and 0 <= value <= MOST_TOKENS else None
