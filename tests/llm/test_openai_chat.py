"""The client against a server that keeps its promises, and one that does not."""

from __future__ import annotations

import asyncio
import errno
import json
import socket
import ssl
import subprocess
import sys
import threading
from http import HTTPStatus

import httpx2
import pytest

from efforts.llm.faults import LONGEST_QUOTE
from efforts.llm.limits import ERROR_BYTES, Limits
from efforts.llm.openai_chat import OpenAIChat, _tls, warm
from efforts.llm.protocol import ModelError, RawToolCall, ReportedUsage, StreamEnd, TextDelta, ThinkingDelta
from tests.fakes.provider import CUT, INVALID_JSON, NO_FINISH, Call, Ending, FakeProvider, NoAnswer, Reply, Status

KEY = "sk-secret-key"
SEARCH = {
    "type": "function",
    "function": {"name": "search", "parameters": {"type": "object", "properties": {"query": {"type": "string"}}}},
}
REQUEST = {
    "model": "small",
    "messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Grüße, 日本 \u2028 and \u0007 and <b>."},
        {"role": "assistant", "content": None, "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "search", "arguments": '{"query": "é" '}},
        ]},
        {"role": "tool", "tool_call_id": "c1", "content": '{"error": "not JSON"}'},
    ],
    "stream": True,
    "stream_options": {"include_usage": True},
    "max_tokens": 512,
    "temperature": 0.1,
    "tools": [SEARCH],
}  # fmt: skip


def chat(provider: FakeProvider, *, timeout_seconds: float = 5, max_retries: int = 0, key: str = KEY) -> OpenAIChat:
    return OpenAIChat(provider.url, key, timeout_seconds, max_retries)


async def collect(model: OpenAIChat, parts: list[TextDelta | ThinkingDelta | StreamEnd], request=REQUEST) -> str:
    async for part in model.stream(request):
        parts.append(part)
    return text_of(parts)


def text_of(parts: list[TextDelta | ThinkingDelta | StreamEnd]) -> str:
    return "".join(part.text for part in parts if isinstance(part, TextDelta))


def finished(parts: list[TextDelta | ThinkingDelta | StreamEnd]) -> StreamEnd:
    assert isinstance(parts[-1], StreamEnd)
    return parts[-1]


async def failure(model: OpenAIChat, parts: list[TextDelta | ThinkingDelta | StreamEnd] | None = None) -> ModelError:
    with pytest.raises(ModelError) as caught:
        await collect(model, [] if parts is None else parts)
    assert KEY not in caught.value.text
    return caught.value


async def test_the_text_comes_in_pieces_and_the_usage_at_the_end(provider):
    provider.script = [Reply("One two three.")]
    parts: list[TextDelta | ThinkingDelta | StreamEnd] = []
    assert await collect(chat(provider), parts) == "One two three."
    assert len(parts) == 4
    assert finished(parts) == StreamEnd((), "stop", ReportedUsage(100, 10, 40))


async def test_what_is_received_is_what_was_planned(provider):
    await collect(chat(provider), [])
    assert canonical(json.loads(provider.bodies[0])) == canonical(REQUEST)


def canonical(request: object) -> str:
    return json.dumps(request, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


async def test_a_reply_without_usage_is_complete(provider):
    provider.script = [Reply("Yes.", usage=None)]
    parts: list[TextDelta | ThinkingDelta | StreamEnd] = []
    await collect(chat(provider), parts)
    assert finished(parts).usage is None


async def test_tool_calls_are_put_together_from_their_fragments(provider):
    provider.script = [Reply("Looking.", (Call.of("search", "a", query="x"), Call("open", "not json", "b")))]
    parts: list[TextDelta | ThinkingDelta | StreamEnd] = []
    await collect(chat(provider), parts)
    assert finished(parts) == StreamEnd(
        (RawToolCall("a", "search", '{"query": "x"}'), RawToolCall("b", "open", "not json")),
        "tool_calls",
        ReportedUsage(100, 10, 40),
    )


async def test_tool_calls_without_ids_are_passed_on(provider):
    provider.script = [Reply(calls=(Call("a", "{}", ""), Call("b", "{}", "")))]
    parts: list[TextDelta | ThinkingDelta | StreamEnd] = []
    await collect(chat(provider), parts)
    assert [(call.id, call.name) for call in finished(parts).tool_calls] == [("", "a"), ("", "b")]


async def test_the_account_of_the_environment_stays_at_home(provider, monkeypatch):
    monkeypatch.setenv("OPENAI_ORG_ID", "org-mine")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "project-mine")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    await collect(chat(provider, key=""), [])
    assert not {"openai-organization", "openai-project", "authorization"} & provider.headers[0].keys()


@pytest.mark.parametrize(
    ("status", "code", "words"),
    [
        (Status(401, f"Incorrect API key provided: {KEY}"), "unauthorised", "Incorrect API key provided: [key]"),
        (Status(403, "Your country is not served"), "unauthorised", "Your country is not served"),
        (Status(400, "System message must be at the beginning."), "refused", "System message must be at the beginning"),
        (Status(400, "x" * 5_000), "refused", f"(400: {'x' * LONGEST_QUOTE}…)"),
        (Status(429, "Slow down", {"retry-after": "120"}), "rate_limited", "Retry in 120 seconds"),
        (Status(500, "On fire"), "server_error", "500: On fire"),
        (Status(502, body="<html>nginx</html>", content_type="text/html"), "server_error", "502: Bad Gateway"),
    ],
)
async def test_a_refusal_is_told_in_the_providers_words(provider, status, code, words):
    provider.script = [status]
    error = await failure(chat(provider))
    assert error.code == code
    assert words in error.text


@pytest.mark.parametrize(
    "body",
    [
        '{"error": "internal-host:9200"}',
        '{"detail": "internal-host:9200"}',
        '{"message": "internal-host:9200"}',
        '{"error": {"reason": "internal-host:9200", "root_cause": [{"message": "internal-host:9200"}]}}',
        '{"error": {"message": {"at": "internal-host:9200"}}}',
        '["internal-host:9200"]',
        '"internal-host:9200"',
        "internal-host:9200",
        "<html>internal-host:9200</html>",
        "[" * 10_000,
        "",
    ],
)
@pytest.mark.parametrize("status", [400, 404, 500])
async def test_of_what_is_no_providers_error_only_the_status_is_told(provider, body, status):
    provider.script = [Status(status, body=body or " ")]
    error = await failure(chat(provider))
    assert f"({status}: {HTTPStatus(status).phrase})" in error.text
    assert "internal" not in error.text.replace("Internal Server Error", "")


async def test_what_does_not_speak_http_is_not_quoted():
    def greet(server: socket.socket) -> None:
        connection, _ = server.accept()
        with connection:
            connection.sendall(b"220 mail.internal-host ESMTP\r\n\r\n")
            while connection.recv(65_536):
                pass

    with socket.create_server(("127.0.0.1", 0)) as server:
        greeting = asyncio.create_task(asyncio.to_thread(greet, server))
        error = await failure(OpenAIChat(f"http://127.0.0.1:{server.getsockname()[1]}/v1", KEY, 5, max_retries=0))
        await greeting
    assert error.code == "unreachable"
    assert "does not speak HTTP" in error.text
    assert "internal" not in error.text


async def test_a_short_key_garbles_no_error(provider):
    provider.script = [Status(400, "A model has a name.")]
    assert "A model has a name" in (await failure(chat(provider, key="a"))).text


# How much a provider may answer

LIMITS = Limits(answer=20_000, stream=50_000, line=10_000)


def limited(provider: FakeProvider) -> OpenAIChat:
    return OpenAIChat(provider.url, KEY, 5, 0, limits=LIMITS)


async def test_a_reply_that_grows_beyond_its_limit_is_stopped_and_what_came_is_kept(provider):
    provider.script = [Reply("word " * 100_000)]
    parts: list[TextDelta | ThinkingDelta | StreamEnd] = []
    error = await failure(limited(provider), parts)
    assert error.code == "too_large"
    assert "What came is kept" in error.text
    assert 0 < len(text_of(parts)) < LIMITS.stream
    assert await asyncio.to_thread(provider.gone.wait, 5)


async def test_a_line_that_does_not_end_is_stopped(provider):
    provider.script = [Reply("Half", ending=Ending(junk=b"data: " + b"x" * 40_000))]
    parts: list[TextDelta | ThinkingDelta | StreamEnd] = []
    error = await failure(limited(provider), parts)
    assert error.code == "too_large"
    assert "in one piece" in error.text
    assert text_of(parts) == "Half"


async def test_a_reply_within_its_limits_is_whole(provider):
    provider.script = [Reply("word " * 100)]
    assert await collect(limited(provider), []) == "word " * 100


async def test_a_long_list_of_models_is_not_read(provider):
    provider.models = {f"model {number}" * 50: {} for number in range(100)}
    with pytest.raises(ModelError, match="too_large") as caught:
        await limited(provider).list_models()
    assert "0.0191 MB" in caught.value.text


async def test_a_long_answer_that_is_no_stream_is_not_read(provider):
    provider.script = [Status(200, body=json.dumps({"text": "x" * 50_000}))]
    assert (await failure(limited(provider))).code == "too_large"


async def test_of_a_long_error_the_beginning_is_read(provider):
    provider.script = [Status(500, body=json.dumps({"error": {"message": "x" * 10 * ERROR_BYTES}}))]
    error = await failure(chat(provider))
    assert (error.code, "500: Internal Server Error" in error.text) == ("server_error", True)


@pytest.mark.parametrize("content_type", ["application/json", "text/event-stream"])
async def test_what_was_asked_for_as_it_is_and_comes_compressed_is_not_unpacked(provider, content_type):
    provider.script = [Status(200, body="packed", headers={"content-encoding": "gzip"}, content_type=content_type)]
    error = await failure(chat(provider))
    assert error.code == "refused"
    assert "compressed" in error.text
    assert provider.headers[0]["accept-encoding"] == "identity"


async def test_a_rate_limit_is_waited_for_and_then_forgotten(provider):
    provider.script = [Status(429, "Slow down", {"retry-after": "0"}), Reply("Now.")]
    assert await collect(chat(provider, max_retries=2), []) == "Now."


async def test_a_wait_that_is_too_long_is_left_to_the_person(provider):
    provider.script = [Status(429, "Quota", {"retry-after": "3600"})]
    error = await failure(chat(provider, max_retries=2))
    assert error.code == "rate_limited"
    assert len(provider.requests) == 1


async def test_a_server_that_stays_broken_is_asked_three_times(provider):
    provider.otherwise = Status(503, "Overloaded", {"retry-after": "0"})
    error = await failure(chat(provider, max_retries=2))
    assert error.code == "server_error"
    assert len(provider.requests) == 3


async def test_a_refused_request_is_not_repeated(provider):
    provider.script = [Status(400, "No")]
    await failure(chat(provider, max_retries=2))
    assert len(provider.requests) == 1


async def test_nobody_at_the_address():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    error = await failure(OpenAIChat(f"http://127.0.0.1:{port}/v1", KEY, 5, max_retries=0))
    assert error.code == "unreachable"
    assert f"No model answers at http://127.0.0.1:{port}/v1: nothing listens on port {port} of 127.0.0.1." in error.text


async def test_a_host_that_nobody_knows():
    error = await failure(OpenAIChat("http://models.invalid/v1", KEY, 5, max_retries=0))
    assert "no host has the name models.invalid." in error.text


async def test_a_server_without_encryption(provider):
    error = await failure(OpenAIChat(provider.url.replace("http:", "https:"), KEY, 5, max_retries=0))
    assert "there is no encrypted connection; the address may begin with http://." in error.text


@pytest.mark.parametrize(
    ("raised", "cause", "told"),
    [
        (httpx2.ConnectError, ssl.SSLCertVerificationError("self-signed"), "the certificate of models.example is not"),
        (httpx2.ConnectTimeout, TimeoutError(), "models.example did not answer in time."),
        (httpx2.ReadError, ConnectionResetError(), "does not speak HTTP, or hung up."),
        (httpx2.ConnectError, OSError(errno.ENETUNREACH, "no"), "the network does not lead to models.example."),
        (httpx2.ConnectError, ExceptionGroup("all", [ConnectionRefusedError()]), "nothing listens on port 443 of"),
        (httpx2.ConnectError, RuntimeError(), "No model answers at https://models.example/v1. Check that it runs"),
    ],
)
async def test_what_kept_a_request_from_its_address_is_said_without_the_words_of_a_library(raised, cause, told):
    def fail(request: httpx2.Request) -> httpx2.Response:
        raise raised("All connection attempts failed", request=request) from cause

    error = await failure(
        OpenAIChat("https://models.example/v1", KEY, 5, max_retries=0, transport=httpx2.MockTransport(fail))
    )
    assert error.code == "unreachable"
    assert told in error.text
    assert "attempts" not in error.text


@pytest.mark.parametrize("address", ["http://", "not an address", "ftp://example.org/v1", "http://[::1/v1"])
async def test_an_address_that_is_none(address):
    assert (await failure(OpenAIChat(address, KEY, 5, max_retries=0))).code == "unreachable"


async def test_a_key_that_cannot_be_one_is_not_sent(provider):
    assert (await failure(chat(provider, key="schlüssel\n"))).code == "unauthorised"
    assert not provider.requests


async def test_no_answer_ends_at_the_limit_and_is_not_repeated(provider):
    provider.script = [NoAnswer()]
    error = await failure(chat(provider, timeout_seconds=0.2, max_retries=2))
    assert error.code == "timeout"
    assert "0.2 seconds" in error.text
    assert len(provider.requests) == 1


async def test_a_slow_first_token_is_waited_for(provider):
    gate = threading.Event()
    provider.script = [Reply("At last.", gate=gate)]
    reply = asyncio.create_task(collect(chat(provider), []))
    await asyncio.to_thread(provider.wait_for_requests, 1)
    assert not reply.done()
    gate.set()
    assert await reply == "At last."


@pytest.mark.parametrize(
    ("ending", "words"),
    [
        (CUT, "broke off"),
        (NO_FINISH, "broke off"),
        (INVALID_JSON, "not JSON"),
        (Ending(junk=b"data: [1, 2]\n\n"), "not JSON"),
        (Ending(junk=b"data: " + b"[" * 100_000 + b"\n\n"), "not JSON"),
        (Ending(junk=b'data: {"error": "internal-host"}\n\n'), "An error occurred during streaming"),
        (Ending(junk=b'data: {"error": {"message": "Out of memory"}}\n\n'), "Out of memory"),
    ],
)
async def test_a_stream_that_breaks_keeps_the_text_that_came(provider, ending, words):
    provider.script = [Reply("Half of it", ending=ending)]
    parts: list[TextDelta | ThinkingDelta | StreamEnd] = []
    error = await failure(chat(provider, max_retries=2), parts)
    assert error.code == "broken_stream"
    assert words in error.text
    assert text_of(parts) == "Half of it"
    assert len(provider.requests) == 1


@pytest.mark.parametrize(
    "chunk",
    [
        {},
        {"choices": None},
        {"choices": [None]},
        {"choices": {}},
        {"choices": [{"delta": None}]},
        {"choices": [{"delta": {"content": ["x"], "tool_calls": [None]}}]},
        {"usage": 3},
    ],
)
async def test_chunks_of_an_odd_shape_do_no_harm(provider, chunk):
    odd = b"data: " + json.dumps(chunk).encode() + b"\n\n"
    rest = b'data: {"choices": [{"delta": {}, "finish_reason": "stop"}]}\n\ndata: [DONE]\n\n'
    provider.script = [Reply("Fine.", ending=Ending(junk=odd + rest, clean=True))]
    assert await collect(chat(provider), []) == "Fine."


async def test_a_web_page_is_not_a_reply(provider):
    provider.script = [Status(200, body="<html>Welcome</html>", content_type="text/html; charset=utf-8")]
    error = await failure(chat(provider))
    assert error.code == "refused"
    assert "text/html" in error.text


async def test_cancelling_the_reader_closes_the_connection(provider):
    provider.script = [NoAnswer()]
    reply = asyncio.create_task(collect(chat(provider), []))
    await asyncio.to_thread(provider.wait_for_requests, 1)
    reply.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reply
    assert await asyncio.to_thread(provider.gone.wait, 5)


async def test_closing_the_iterator_in_mid_reply_closes_the_connection(provider):
    provider.script = [Reply("One two three", gate=threading.Event(), gate_after=1)]
    stream = chat(provider).stream(REQUEST)
    assert await anext(stream) == TextDelta("One")
    await stream.aclose()
    assert await asyncio.to_thread(provider.gone.wait, 5)


async def test_models_are_listed_by_name(provider):
    assert [model.id for model in await chat(provider).list_models()] == ["large", "small"]


async def test_a_listing_from_nobody_is_explained():
    with pytest.raises(ModelError, match="unreachable"):
        await OpenAIChat("http://127.0.0.1:9/v1", KEY, 5).list_models()


async def test_a_probe_returns_the_first_words(provider):
    provider.script = [Reply("Hello to you.")]
    assert await chat(provider).probe("small") == "Hello to you."
    assert provider.requests[0]["model"] == "small"


async def test_a_probe_shows_the_real_error(provider):
    provider.key = "another"
    with pytest.raises(ModelError, match="Incorrect API key provided"):
        await chat(provider).probe("small")


async def test_a_second_system_message_is_refused_by_a_strict_template(provider):
    provider.strict_template = True
    twice = {**REQUEST, "messages": [{"role": "system", "content": "A"}, {"role": "system", "content": "B"}]}
    with pytest.raises(ModelError, match="System message must be at the beginning"):
        await collect(chat(provider), [], twice)
    assert await collect(chat(provider), []) == "All right."


FIRST_CALL = """
import asyncio, sys
import django
django.setup()
from efforts.llm.openai_chat import OpenAIChat, warm

ANSWER = b'HTTP/1.1 200 OK\\r\\nContent-Type: text/event-stream\\r\\nConnection: close\\r\\n\\r\\n' + b'''
data: {"choices": [{"index": 0, "delta": {"content": "Hello"}, "finish_reason": "stop"}]}

data: [DONE]

'''.lstrip()

async def answer(reader, writer):
    await reader.readuntil(b"\\r\\n\\r\\n")
    writer.write(ANSWER)
    writer.close()

async def main():
    await warm()
    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    before = set(sys.modules)
    chat = OpenAIChat(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", "", 5)
    async for part in chat.stream({"model": "m", "messages": [], "stream": True}):
        print(getattr(part, "text", ""))
    print(*sorted(set(sys.modules) - before))

asyncio.run(main())
"""


def test_the_first_call_of_a_process_loads_nothing_more() -> None:
    ran = subprocess.run([sys.executable, "-c", FIRST_CALL], capture_output=True, text=True, check=True, timeout=60)
    assert ran.stdout.split() == ["Hello"]


async def test_certificates_that_are_not_there_keep_no_process_from_starting(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", "/nowhere/certificates.pem")
    _tls.cache_clear()
    await warm()
    assert "Models over a network cannot be reached" in caplog.text
    monkeypatch.undo()
    await warm()
    assert _tls.cache_info().currsize == 1
