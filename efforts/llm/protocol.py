"""What the rest of the app knows of a model: a request goes in, text and tool calls come out."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True)
class TextDelta:
    text: str


@dataclass(frozen=True)
class ThinkingDelta:
    """What the model thinks before it answers: no part of its reply."""

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
    """`finish_reason` is the provider's; where a limit cut the reply off it is "length", whatever the word was."""

    tool_calls: tuple[RawToolCall, ...]
    finish_reason: str
    usage: ReportedUsage | None


@dataclass(frozen=True, kw_only=True)
class ListedModel:
    """A model as its endpoint lists it. `context_window`: tokens, where the endpoint tells."""

    id: str
    context_window: int | None = None


class ModelError(Exception):
    """A model call that ended badly. `text` tells the person what happened and what to do.

    Codes: unreachable, timeout, unauthorised, rate_limited, server_error, refused, broken_stream, too_large,
    not_allowed.
    """

    def __init__(self, code: str, text: str) -> None:
        super().__init__(f"{code}: {text}")
        self.code = code
        self.text = text


class ChatModel(Protocol):
    def stream(self, request: Mapping[str, Any]) -> AsyncIterator[TextDelta | ThinkingDelta | StreamEnd]:
        """Send `request`, the whole JSON body of POST /chat/completions, exactly as it is.

        Yields text and thinking as they come and one `StreamEnd` at the end; raises `ModelError`. Closing the
        iterator, or cancelling the task that reads it, closes the connection.
        """
        ...
