"""A model provider on a local port that records what it is sent and misbehaves as its script says.

    with FakeProvider() as provider:
        provider.script = [Status(500, "on fire"), Reply("Hello.")]
        model = OpenAIChat(provider.url, "key", timeout_seconds=5)
        ...
        assert provider.requests[0]["messages"][-1]["content"] == "Hi"

Each request to /chat/completions takes the next step of `script`; when none is left, `otherwise` answers.
A step is a Reply, a Status, NoAnswer(), or a function from the request to one of these. To make it wait
at a point of a reply, give the reply a `gate` (a threading.Event) and set it when the test has seen enough.
"""

from __future__ import annotations

import json
import re
import select
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

PATIENCE_SECONDS = 10.0
POLL_SECONDS = 0.01


@dataclass(frozen=True)
class Call:
    """A tool call. `arguments` is sent as it is, so that it can be anything but JSON."""

    name: str
    arguments: str = "{}"
    id: str = "call_1"

    @classmethod
    def of(cls, name: str, /, id: str = "call_1", **arguments: Any) -> Call:
        return cls(name, json.dumps(arguments), id)


@dataclass(frozen=True, kw_only=True)
class Ending:
    """How a stream ends other than well. `junk` is sent as it is before the connection closes."""

    junk: bytes = b""
    clean: bool = False


CUT = Ending()
NO_FINISH = Ending(clean=True)
INVALID_JSON = Ending(junk=b'data: {"choices": [{"delta": {"cont\n\n')


@dataclass(frozen=True)
class Reply:
    text: str = ""
    calls: tuple[Call, ...] = ()
    ending: Ending | None = None
    gate: threading.Event | None = None
    gate_after: int = 0
    usage: Mapping[str, Any] | None = field(
        default_factory=lambda: {
            "prompt_tokens": 100,
            "completion_tokens": 10,
            "total_tokens": 110,
            "prompt_tokens_details": {"cached_tokens": 40},
        }
    )
    finish_reason: str = ""
    # Sent before the text, under this name; "think": as a block at the beginning of the text itself.
    thinking: str = ""
    thinking_as: str = "reasoning_content"
    pace_seconds: float = 0.0

    def pieces(self) -> list[dict[str, str]]:
        """The deltas of thinking and text, in their order."""
        if self.thinking_as == "think" and self.thinking:
            return [{"content": piece} for piece in words(f"<think>{self.thinking}</think>\n\n{self.text}")]
        thought = [{self.thinking_as: piece} for piece in words(self.thinking)]
        return [*thought, *({"content": piece} for piece in words(self.text))]


def words(text: str) -> list[str]:
    return re.findall(r"\s*\S+\s*$|\s*\S+", text) or ([text] if text else [])


@dataclass(frozen=True)
class Status:
    code: int
    message: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    body: str = ""
    content_type: str = "application/json"


@dataclass(frozen=True)
class NoAnswer:
    """Takes the request and says nothing, until the client goes away."""


Answer = Reply | Status | NoAnswer
Step = Answer | Callable[[dict[str, Any]], Answer]


class ClientGone(Exception):
    """The client closed the connection, or the provider is closing down."""


class FakeProvider:
    def __init__(self, port: int = 0) -> None:
        self.script: list[Step] = []
        self.otherwise: Step = Reply("All right.")
        self.strict_template = False
        self.key: str | None = None
        # By name, what else the listing says of it.
        self.models: dict[str, dict[str, object]] = {"small": {}, "large": {}}
        self.bodies: list[bytes] = []
        self.headers: list[dict[str, str]] = []
        self.gone = threading.Event()
        self.closing = threading.Event()
        self._changed = threading.Condition()
        self._server = _Server(self, port)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    @property
    def requests(self) -> list[dict[str, Any]]:
        return [json.loads(body) for body in self.bodies]

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def release(self) -> None:
        """Give back the port of one that was never started."""
        self._server.server_close()

    def wait_for_requests(self, count: int, seconds: float = PATIENCE_SECONDS) -> None:
        """Return once `count` requests have come in; fail after so many seconds."""
        with self._changed:
            if not self._changed.wait_for(lambda: len(self.bodies) >= count, seconds):
                raise AssertionError(f"{len(self.bodies)} of {count} requests came")

    def take(self, body: bytes, headers: dict[str, str]) -> Answer:
        with self._changed:
            self.bodies.append(body)
            self.headers.append(headers)
            self._changed.notify_all()
            request = json.loads(body)
            if self.key is not None and headers.get("authorization") != f"Bearer {self.key}":
                return Status(401, "Incorrect API key provided")
            if self.strict_template and (fault := template_fault(request["messages"])):
                return Status(400, fault)
            step = self.script.pop(0) if self.script else self.otherwise
        return step(request) if callable(step) else step


def template_fault(messages: list[dict[str, Any]]) -> str:
    """What a strict chat template would refuse; empty when it accepts the messages."""
    roles = [message["role"] for message in messages]
    if "system" in roles[1:]:
        return "System message must be at the beginning."
    previous = "assistant"
    for message in messages[1:] if roles[:1] == ["system"] else messages:
        role = message["role"]
        if role == "tool":
            continue
        if role == previous:
            return "Conversation roles must alternate user/assistant/user/assistant/..."
        # After a tool's result the assistant goes on: that is still its half of the exchange.
        previous = "user" if message.get("tool_calls") else role
    return _tool_fault(messages)


def _tool_fault(messages: list[dict[str, Any]]) -> str:
    waiting: set[str] = set()
    for message in messages:
        if message["role"] == "tool":
            if message["tool_call_id"] not in waiting:
                return "A tool message must follow the call it answers."
            waiting.discard(message["tool_call_id"])
        elif waiting:
            return "Every tool call needs its result."
        else:
            waiting = {call["id"] for call in message.get("tool_calls") or ()}
    return "Every tool call needs its result." if waiting else ""


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    # A benchmark opens a hundred connections at once.
    request_queue_size = 256

    def __init__(self, provider: FakeProvider, port: int) -> None:
        self.provider = provider
        super().__init__(("127.0.0.1", port), _Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients that go away are part of the play."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def log_message(self, format: str, *args: object) -> None:
        """Silence: a test's output is its own."""

    def do_GET(self) -> None:
        listing = {
            "object": "list",
            "data": [{"id": name, "object": "model", **more} for name, more in self.server.provider.models.items()],
        }
        self._send_whole(200, json.dumps(listing).encode(), "application/json", {})

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        headers = {name.lower(): value for name, value in self.headers.items()}
        answer = self.server.provider.take(body, headers)
        try:
            self._give(answer)
        except (ClientGone, ConnectionError):
            self.close_connection = True
            self.server.provider.gone.set()

    def _give(self, answer: Answer) -> None:
        if isinstance(answer, NoAnswer):
            self._wait(threading.Event())
        elif isinstance(answer, Status):
            text = answer.body or json.dumps({"error": {"message": answer.message, "type": "test"}})
            self._send_whole(answer.code, text.encode(), answer.content_type, answer.headers)
        else:
            self._stream(answer)

    def _stream(self, reply: Reply) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for number, piece in enumerate(reply.pieces()):
            self._hold(reply, number)
            self._send_delta(piece)
        self._hold(reply, len(reply.pieces()))
        self._end(reply)

    def _hold(self, reply: Reply, number: int) -> None:
        if reply.gate is not None and number == reply.gate_after:
            self._wait(reply.gate)
        if reply.pace_seconds:
            time.sleep(reply.pace_seconds)

    def _end(self, reply: Reply) -> None:
        if reply.ending is not None:
            self._break_off(reply.ending)
            return
        for delta in _call_deltas(reply.calls):
            self._send_delta(delta)
        self._send_delta({}, reply.finish_reason or ("tool_calls" if reply.calls else "stop"))
        if reply.usage is not None:
            self._send_chunk(_event({"choices": [], "usage": dict(reply.usage)}))
        self._send_chunk(b"data: [DONE]\n\n")
        self._send_raw(b"0\r\n\r\n")

    def _break_off(self, ending: Ending) -> None:
        if ending.junk:
            self._send_chunk(ending.junk)
        if ending.clean:
            self._send_raw(b"0\r\n\r\n")
        self.close_connection = True

    def _wait(self, gate: threading.Event) -> None:
        while not gate.wait(POLL_SECONDS):
            if self.server.provider.closing.is_set() or _has_hung_up(self.connection):
                raise ClientGone

    def _send_delta(self, delta: Mapping[str, Any], finish_reason: str | None = None) -> None:
        self._send_chunk(_event({"choices": [{"index": 0, "delta": delta, "finish_reason": finish_reason}]}))

    def _send_chunk(self, data: bytes) -> None:
        self._send_raw(b"%x\r\n%s\r\n" % (len(data), data))

    def _send_raw(self, data: bytes) -> None:
        self.wfile.write(data)
        self.wfile.flush()

    def _send_whole(self, code: int, body: bytes, content_type: str, headers: Mapping[str, str]) -> None:
        self.send_response(code)
        self.send_header("content-type", content_type)
        self.send_header("content-length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)


def _event(chunk: dict[str, Any]) -> bytes:
    return b"data: " + json.dumps({"id": "fake", "object": "chat.completion.chunk", **chunk}).encode() + b"\n\n"


def _call_deltas(calls: tuple[Call, ...]) -> Iterator[dict[str, Any]]:
    """The name first, then the arguments in two halves, as providers do."""
    for index, call in enumerate(calls):
        half = len(call.arguments) // 2
        head = {"index": index, "id": call.id, "type": "function", "function": {"name": call.name, "arguments": ""}}
        yield {"tool_calls": [head]}
        for part in (call.arguments[:half], call.arguments[half:]):
            yield {"tool_calls": [{"index": index, "function": {"arguments": part}}]}


def _has_hung_up(connection: socket.socket) -> bool:
    readable, _, _ = select.select([connection], [], [], 0)
    return bool(readable) and connection.recv(1, socket.MSG_PEEK) == b""
