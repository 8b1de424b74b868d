"""Recorded answers of models, and a server on the loopback that gives them: the product's own path to a model is used.

An answer is found by the hash of the request's messages. What has none is refused and noted as pending.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from compaction.domain.artifact import Malformed, Strict, parsed
from efforts.domain.prompt.conversation import MESSAGE_OVERHEAD, PRIMING
from efforts.domain.text.canonical import canonical_json, sha256
from efforts.turns.recording import count

from .cases import Unreadable

Messages: TypeAlias = Sequence[Mapping[str, str]]
MODEL = "recorded"


class Recorded(Strict):
    """`by`: who answered. `answer` is the text, word for word."""

    key: str
    by: str
    answer: str


@dataclass(frozen=True, kw_only=True)
class Record:
    answers: Mapping[str, Recorded] = field(default_factory=dict)

    @property
    def by(self) -> tuple[str, ...]:
        return tuple(sorted({one.by for one in self.answers.values()}))

    def with_answers(self, answers: Mapping[str, str], by: str) -> Record:
        new = {key: Recorded(key=key, by=by, answer=text) for key, text in answers.items()}
        return replace(self, answers={**self.answers, **new})

    def only(self, keys: set[str]) -> Record:
        return replace(self, answers={key: one for key, one in self.answers.items() if key in keys})

    def write(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = [f"{self.answers[key].model_dump_json()}\n" for key in sorted(self.answers)]
        path.write_text("".join(lines), encoding="utf-8")


def read_record(path: Path) -> Record:
    """Raises `Unreadable`."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        found = [parsed(Recorded, line) for line in lines]
    except (Malformed, UnicodeDecodeError) as error:
        raise Unreadable(f"{path}: {error}") from error
    return Record(answers={one.key: one for one in found})


@dataclass(kw_only=True)
class RecordServer:
    """`pending`: by their keys the messages that no answer is recorded for; `used`: the keys of those that were."""

    record: Record
    url: str = ""
    pending: dict[str, Messages] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)

    def answer_to(self, messages: Messages) -> str | None:
        key = sha256(canonical_json(list(messages)))
        if key in self.record.answers:
            self.used.add(key)
            return self.record.answers[key].answer
        self.pending[key] = messages
        return None

    def stream(self, asked: Mapping[str, Any]) -> str | None:
        """What is sent for a request; None where no answer is recorded."""
        text = self.answer_to(asked["messages"])
        if text is None:
            return None
        limit = asked.get("max_tokens") or asked.get("max_completion_tokens")
        said, reason = within(text, limit)
        return streamed(asked["messages"], said, {"content": said}, reason)


S = TypeVar("S", bound=RecordServer)


@contextmanager
def record_server(record: Record) -> Iterator[RecordServer]:
    with listening(RecordServer(record=record)) as serving:
        yield serving


@contextmanager
def listening(serving: S) -> Iterator[S]:
    """As an OpenAI-compatible endpoint at `url`; only the limit of the reply is honoured."""
    server = Listener(("127.0.0.1", 0), serving)
    serving.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield serving
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class Listener(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, address: tuple[str, int], serving: RecordServer) -> None:
        super().__init__(address, Handler)
        self.serving = serving


class Handler(BaseHTTPRequestHandler):
    server: Listener

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing is told of each request."""

    def do_GET(self) -> None:
        self.send("application/json", json.dumps({"object": "list", "data": [{"id": MODEL, "object": "model"}]}))

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        stream = self.server.serving.stream(asked)
        if stream is None:
            self.send("application/json", json.dumps({"error": {"message": "No answer is recorded."}}), status=404)
        else:
            self.send("text/event-stream", stream)

    def send(self, kind: str, text: str, status: int = 200) -> None:
        content = text.encode()
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


def streamed(messages: Sequence[Mapping[str, Any]], said: str, delta: Mapping[str, Any], reason: str) -> str:
    """The events of a reply in one piece. `said` is all of it that counts as tokens."""
    prompt = PRIMING + sum(MESSAGE_OVERHEAD + count(message.get("content") or "") for message in messages)
    usage = {"prompt_tokens": prompt, "completion_tokens": count(said), "total_tokens": prompt + count(said)}
    chunks: list[dict[str, Any]] = [
        {"choices": [{"index": 0, "delta": {"role": "assistant", **delta}, "finish_reason": None}]},
        {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]},
        {"choices": [], "usage": usage},
    ]
    head = {"id": "recorded", "object": "chat.completion.chunk", "created": 0, "model": MODEL}
    lines = [f"data: {json.dumps({**head, **chunk}, ensure_ascii=False)}\n\n" for chunk in chunks]
    return "".join([*lines, "data: [DONE]\n\n"])


def within(text: str, limit: int | None) -> tuple[str, str]:
    """What the limit leaves room for, and how it ends."""
    reason = "stop"
    while limit is not None and (tokens := count(text)) > limit:
        text, reason = text[: min(len(text) * limit // tokens, len(text) - 1)], "length"
    return text, reason
