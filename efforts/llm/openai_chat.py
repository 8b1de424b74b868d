"""The one client: streaming chat completions of any OpenAI-compatible address, through the openai package."""

from __future__ import annotations

import asyncio
import logging
import ssl
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import aclosing, contextmanager
from functools import lru_cache
from typing import Any

import anyio.lowlevel
import httpx2
import openai

from efforts.domain.hosts import AllowedHosts, fault_of
from efforts.domain.text.redaction import mask_key
from efforts.llm.assembly import ReplyAssembly
from efforts.llm.faults import broken_stream, explain, not_a_stream
from efforts.llm.limits import Limits
from efforts.llm.protocol import ListedModel, ModelError, StreamEnd, TextDelta, ThinkingDelta
from efforts.llm.reach import CheckedTransport

CONNECT_SECONDS = 10.0
FIRST_BACKOFF_SECONDS = 0.5
LONGEST_WAIT_SECONDS = 30.0
PROBED_WORDS = 12
# What servers call the most tokens that a model reads; llama.cpp tells it a level below.
WINDOW_NAMES = ("context_length", "context_window", "max_model_len", "max_context_length", "n_ctx", "n_ctx_train")

log = logging.getLogger("ccm.models")

_Chunks = openai.AsyncStream[object]


class OpenAIChat:
    """`timeout_seconds` is how long to wait for the next piece of a reply, not for the whole; `allowed`, of an address
    that a person entered, is where it may lead."""

    def __init__(
        self,
        base_url: str,
        api_key: str,
        timeout_seconds: float,
        max_retries: int = 2,
        transport: httpx2.AsyncBaseTransport | None = None,
        limits: Limits | None = None,
        allowed: AllowedHosts | None = None,
    ) -> None:
        self.base_url = base_url
        self.timeout_seconds = timeout_seconds
        self.max_retries = max_retries
        self._api_key = api_key
        self._transport = transport
        self._limits = limits or Limits()
        self._allowed = allowed

    async def stream(self, request: Mapping[str, Any]) -> AsyncGenerator[TextDelta | ThinkingDelta | StreamEnd]:
        """See `ChatModel.stream`."""
        reply = ReplyAssembly()
        with self._explained(streaming=True):
            async with self._client() as client, aclosing(await self._open(client, request)) as chunks:
                async for chunk in chunks:
                    for piece in reply.add(_object(chunk)):
                        yield piece
        for piece in reply.rest():
            yield piece
        finished = reply.finished()
        if finished is None:
            content_type = chunks.response.headers.get("content-type", "")
            raise broken_stream() if "event-stream" in content_type else not_a_stream(content_type)
        yield finished

    async def list_models(self) -> list[ListedModel]:
        """By their ids. Raises `ModelError`."""
        with self._explained():
            async with self._client() as client:
                listing = await client.get("/models", cast_to=object)
        models = listing.get("data") if isinstance(listing, dict) else None
        if not isinstance(models, list):
            raise ModelError("refused", "The address answered, but not with a list of models. Type the model's name.")
        rows = [model for model in models if isinstance(model, dict) and model.get("id")]
        listed = [ListedModel(id=str(row["id"]), context_window=_window_told(row)) for row in rows]
        return sorted(listed, key=lambda model: model.id)

    async def embed(self, model: str, texts: list[str]) -> tuple[list[list[float]], int | None]:
        """A vector for each text, as they came; tokens where the answer says."""
        with self._explained():
            async with self._client() as client:
                body = {"model": model, "input": texts, "encoding_format": "float"}
                answer = await client.post("/embeddings", body=body, cast_to=object)
        rows = answer.get("data") if isinstance(answer, dict) else None
        if not isinstance(rows, list) or len(rows) != len(texts):
            raise ModelError("refused", "The address answered, but not with one vector for each text.")
        try:
            vectors = [row["embedding"] for row in sorted(rows, key=lambda row: row["index"])]
        except (KeyError, TypeError) as error:
            raise ModelError("refused", "The address answered with something that is no list of vectors.") from error
        usage = answer.get("usage") if isinstance(answer, dict) else None
        tokens = usage.get("total_tokens") if isinstance(usage, dict) else None
        return vectors, tokens if isinstance(tokens, int) else None

    async def probe(self, model: str) -> str:
        """Say hello; return the first words of the answer, nothing where the model wrote none."""
        # No limit by name: the newest models refuse the one that all others know.
        request = {"model": model, "messages": [{"role": "user", "content": "Hello"}], "stream": True}
        text = ""
        async with aclosing(self.stream(request)) as parts:
            async for part in parts:
                text += part.text if isinstance(part, TextDelta) else ""
                if len(text.split()) > PROBED_WORDS:
                    break
        return " ".join(text.split()[:PROBED_WORDS])

    def _client(self) -> openai.AsyncOpenAI:
        # Nothing else fits into a header, and the HTTP library would say so in an exception of its own.
        if not (self._api_key.isascii() and self._api_key.isprintable()):
            raise ModelError("unauthorised", "The key has characters that no key has. Enter it again in Settings.")
        # Rows of before this was checked where it is entered.
        if fault := fault_of(self.base_url):
            raise ModelError("unreachable", f"{self.base_url}: {fault} Correct it in Settings.")
        # Made for each call: some callers have an event loop of their own, which no kept connection would outlive.
        http = httpx2.AsyncClient(
            transport=self._transport or CheckedTransport(self._allowed, _tls()),
            # A proxy or a .netrc in the environment is not what the person entered, and may see the key.
            trust_env=False,
            headers={"accept-encoding": "identity"},
            event_hooks={"request": [self._send_only_our_headers], "response": [self._limits.bound]},
        )
        return openai.AsyncOpenAI(
            base_url=self.base_url,
            # The package refuses to be without a key; the hook takes the header away again.
            api_key=self._api_key or "none",
            timeout=httpx2.Timeout(self.timeout_seconds, connect=min(CONNECT_SECONDS, self.timeout_seconds)),
            max_retries=0,
            http_client=http,
        )

    async def _send_only_our_headers(self, request: httpx2.Request) -> None:
        """The package adds an account's names from the environment, whoever the provider is."""
        for header in ("openai-organization", "openai-project"):
            request.headers.pop(header, None)
        if not self._api_key:
            request.headers.pop("authorization", None)

    async def _open(self, client: openai.AsyncOpenAI, request: Mapping[str, Any]) -> _Chunks:
        """Send the request, again where that is safe and may help: nothing of a reply has come yet.

        The package's own retries also repeat a request that timed out, which keeps a person waiting in silence
        for a multiple of the limit they set.
        """
        attempt = 0
        while True:
            try:
                return await _post(client, request)
            except openai.APIError as error:
                wait = _wait_before_retry(error, attempt) if attempt < self.max_retries else None
                if wait is None:
                    raise self._explain(error, streaming=False) from error
            await asyncio.sleep(wait)
            attempt += 1

    @contextmanager
    def _explained(self, *, streaming: bool = False) -> Iterator[None]:
        try:
            yield
        except openai.APIError as error:
            raise self._explain(error, streaming=streaming) from error
        except httpx2.InvalidURL as error:
            raise ModelError("unreachable", f"{self.base_url} is not an address. Correct it in Settings.") from error
        # The package lets the JSON decoder's own errors through.
        except (ValueError, RecursionError) as error:
            raise broken_stream("a piece of it is not JSON") from error

    def _explain(self, error: openai.APIError, *, streaming: bool) -> ModelError:
        told = explain(error, base_url=self.base_url, timeout_seconds=self.timeout_seconds, streaming=streaming)
        # Some providers repeat the key that they refuse.
        return ModelError(told.code, mask_key(told.text, self._api_key))


async def _post(client: openai.AsyncOpenAI, request: Mapping[str, Any]) -> _Chunks:
    # Not chat.completions.create(): that one may reshape the body, and what is sent must be what was planned.
    return await client.post("/chat/completions", body=request, cast_to=object, stream=True, stream_cls=_Chunks)


def _object(chunk: object) -> Mapping[str, Any]:
    if not isinstance(chunk, dict):
        raise ValueError(f"a chunk is {type(chunk).__name__}, not an object")
    return chunk


def _wait_before_retry(error: openai.APIError, attempt: int) -> float | None:
    """Seconds, or None where another attempt would not help or would have to wait too long."""
    if isinstance(error, openai.APIStatusError):
        # Asking again does not help a request that is wrong.
        if error.status_code != 429 and error.status_code < 500:
            return None
        # Retry-After in seconds; its other form, a date, is not worth a wait.
        value = error.response.headers.get("retry-after", "")
        asked = float(value) if value.replace(".", "", 1).isdecimal() else None
        if asked is not None:
            return asked if asked <= LONGEST_WAIT_SECONDS else None
    # Without a connection nothing was asked yet; a request that timed out later may still be worked on, and paid for.
    elif isinstance(error, openai.APITimeoutError) and not isinstance(error.__cause__, httpx2.ConnectTimeout):
        return None
    return FIRST_BACKOFF_SECONDS * float(2**attempt)


async def warm() -> None:
    """Read and load now what the first call of this process would wait for, a tenth of a second and more."""
    unused = OpenAIChat("http://localhost/v1", "", CONNECT_SECONDS)
    try:
        await asyncio.to_thread(lambda: unused._client().platform_headers())
    except OSError as error:
        # Such as certificates that the environment names and nobody has put there: engines without a network go on.
        log.warning("Models over a network cannot be reached: %s", error)
    # The library that the package streams through loads its own parts when it is first awaited. No thread of that
    # library: where a process is ended before its loop is, as by runserver, such a thread waits for ever.
    await anyio.lowlevel.checkpoint()
    # Names of hosts are looked up in this form, whose tables load when they are first asked for.
    "localhost".encode("idna")


@lru_cache(maxsize=1)
def _tls() -> ssl.SSLContext:
    # Reads all certificates from the disk, which would be felt at every call.
    return httpx2.create_ssl_context()


def _window_told(row: Mapping[str, Any]) -> int | None:
    places = [row, meta] if isinstance(meta := row.get("meta"), dict) else [row]
    told = (place.get(name) for name in WINDOW_NAMES for place in places)
    return next((window for window in told if isinstance(window, int) and 0 < window < 1 << 31), None)
