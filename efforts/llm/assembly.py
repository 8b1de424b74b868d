"""Puts a reply together from the chunks of its stream, forgiving what servers commonly get wrong."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from efforts.llm.protocol import RawToolCall, ReportedUsage, StreamEnd


@dataclass
class _Call:
    index: object
    id: str = ""
    name: str = ""
    arguments: str = ""


@dataclass
class ReplyAssembly:
    """Feed it every chunk; `finished()` is None while the stream has not said how it ends."""

    calls: list[_Call] = field(default_factory=list)
    finish_reason: str = ""
    usage: ReportedUsage | None = None

    def add(self, chunk: Mapping[str, Any]) -> str:
        """Take one chunk in and return the text it carries."""
        # Some report it once at the end, some in every chunk so far: the last one is the whole.
        self.usage = _usage(chunk) or self.usage
        choice = _first(chunk.get("choices"))
        self.finish_reason = choice.get("finish_reason") or self.finish_reason
        delta = _object(choice.get("delta"))
        for fragment in delta.get("tool_calls") or ():
            self._add_fragment(_object(fragment))
        text = delta.get("content") or delta.get("refusal") or ""
        return text if isinstance(text, str) else ""

    def finished(self) -> StreamEnd | None:
        # That the stream is over proves nothing: a proxy that gives up ends it in the same way.
        if not self.finish_reason:
            return None
        calls = tuple(RawToolCall(call.id, call.name, call.arguments) for call in self.calls)
        return StreamEnd(calls, self.finish_reason, self.usage)

    def _add_fragment(self, fragment: Mapping[str, Any]) -> None:
        function = _object(fragment.get("function"))
        call = self._call_of(fragment.get("index"), fragment.get("id") or "", function.get("name") or "")
        call.arguments += _as_text(function.get("arguments"))

    def _call_of(self, index: object, id_: str, name: str) -> _Call:
        call = self._open_call(index, id_, name)
        if call is None:
            call = _Call(index)
            self.calls.append(call)
        call.id = call.id or id_
        call.name = call.name or name
        return call

    def _open_call(self, index: object, id_: str, name: str) -> _Call | None:
        """The call that a fragment continues. Some servers leave the index out, some give every call the same one."""
        # The last of its index: a server that gives every call the same one begins a new call by a new id.
        same = [call for call in self.calls if call.index == index]
        if not same or (id_ and same[-1].id and id_ != same[-1].id):
            return None
        starts_anew = index is None and name and not id_
        return None if starts_anew else same[-1]


def _object(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _first(choices: object) -> Mapping[str, Any]:
    return _object(choices[0]) if isinstance(choices, list) and choices else {}


def _as_text(arguments: object) -> str:
    if arguments is None:
        return ""
    # Some servers send the object itself instead of its text.
    return arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)


def _usage(chunk: Mapping[str, Any]) -> ReportedUsage | None:
    reported = _object(chunk.get("usage"))
    if not reported:
        return None
    details = _object(reported.get("prompt_tokens_details"))
    return ReportedUsage(reported.get("prompt_tokens"), reported.get("completion_tokens"), details.get("cached_tokens"))
