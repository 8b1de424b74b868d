"""What the rest of the app knows of a model: a request goes in, text and tool calls come out."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True)
class TextDelta:
    text: str


@dataclass(frozen=True)
class RawToolCall:
    """A call as the model wrote it: `arguments` may be anything, the id empty or used twice."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True)
class ReportedUsage:
    """Tokens as the provider counted them; None where it does not say."""

    prompt_tokens: int | None
    completion_tokens: int | None
    cached_tokens: int | None


@dataclass(frozen=True)
class StreamEnd:
    tool_calls: tuple[RawToolCall, ...]
    finish_reason: str
    usage: ReportedUsage | None


class ModelError(Exception):
    """A model call that ended badly. `text` tells the person what happened and what to do.

    Codes: unreachable, timeout, unauthorised, rate_limited, server_error, refused, broken_stream, too_large.
    """

    def __init__(self, code: str, text: str) -> None:
        super().__init__(f"{code}: {text}")
        self.code = code
        self.text = text


class ChatModel(Protocol):
    def stream(self, request: Mapping[str, Any]) -> AsyncIterator[TextDelta | StreamEnd]:
        """Send `request`, the whole JSON body of POST /chat/completions, exactly as it is.

        Yields text as it comes and one `Finished` at the end; raises `ModelError`. Closing the iterator, or
        cancelling the task that reads it, closes the connection.
        """
        ...
