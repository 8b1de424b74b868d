"""The way to a model over a network: its host resolved once, checked, and connected to just what was checked.

A name that is looked up for the check and again for the connection may lead elsewhere the second time.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import contextmanager

import aiohttp
import httpx2
from aiohttp.abc import AbstractResolver, ResolveResult
from yarl import URL

from efforts.domain.hosts import AllowedHosts
from efforts.llm.protocol import ModelError

Resolve = Callable[[str, int], Awaitable[list[str]]]

PORTS = {"http": 80, "https": 443}
# Of one header: aiohttp's own 8 KB are less than what some gateways say of their policies.
HEADER_BYTES = 64 * 1024
# The first that fits: what stands below is more general.
FAULTS: tuple[tuple[type[Exception], type[httpx2.TransportError]], ...] = (
    (aiohttp.ConnectionTimeoutError, httpx2.ConnectTimeout),
    (aiohttp.ServerTimeoutError, httpx2.ReadTimeout),
    (aiohttp.ClientConnectorError, httpx2.ConnectError),
    (aiohttp.InvalidURL, httpx2.ConnectError),
    (aiohttp.ServerDisconnectedError, httpx2.RemoteProtocolError),
    (aiohttp.ClientResponseError, httpx2.RemoteProtocolError),
    (aiohttp.ClientPayloadError, httpx2.RemoteProtocolError),
    (aiohttp.ClientError, httpx2.ReadError),
)


class CheckedTransport(httpx2.AsyncBaseTransport):
    """Raises `ModelError` where `allowed` does not have the address; None has all.

    By aiohttp, whose parser is not Python: a piece of a stream takes half of the time that it takes by httpx2's own.
    """

    def __init__(self, allowed: AllowedHosts | None, tls: ssl.SSLContext, resolve: Resolve | None = None) -> None:
        self._allowed = allowed
        self._tls = tls
        self._resolve = resolve or resolved
        self._sessions: list[aiohttp.ClientSession] = []

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        url = request.url
        port = url.port or PORTS[url.scheme]
        addresses = await self._looked_up(request, url.host, port)
        if self._allowed is not None and not self._allowed.allow(url.host, port, addresses):
            raise not_allowed(url.host)
        timeouts = request.extensions.get("timeout", {})
        body = await request.aread()
        with _as_of_httpx(request):
            response = await self._to(addresses).request(
                request.method,
                URL(str(url), encoded=True),
                headers=[(name.decode("latin-1"), value.decode("latin-1")) for name, value in request.headers.raw],
                data=body or None,
                allow_redirects=False,
                timeout=aiohttp.ClientTimeout(sock_connect=timeouts.get("connect"), sock_read=timeouts.get("read")),
            )
        return httpx2.Response(
            response.status,
            headers=response.raw_headers,
            stream=_Body(request, response),
            request=request,
        )

    def _to(self, addresses: list[str]) -> aiohttp.ClientSession:
        session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(ssl=self._tls, resolver=_Found(addresses), force_close=True),
            cookie_jar=aiohttp.DummyCookieJar(),
            # How much an answer may unpack to is for who reads it.
            auto_decompress=False,
            max_field_size=HEADER_BYTES,
        )
        self._sessions.append(session)
        return session

    async def _looked_up(self, request: httpx2.Request, host: str, port: int) -> list[str]:
        try:
            async with asyncio.timeout(request.extensions.get("timeout", {}).get("connect")):
                return await self._resolve(host, port)
        except TimeoutError as error:
            raise httpx2.ConnectTimeout(f"{host} was not found in time", request=request) from error
        except (OSError, UnicodeError) as error:
            raise httpx2.ConnectError(f"{host} is not known", request=request) from error

    async def aclose(self) -> None:
        for session in self._sessions:
            await session.close()


class _Body(httpx2.AsyncByteStream):
    def __init__(self, request: httpx2.Request, response: aiohttp.ClientResponse) -> None:
        self._request = request
        self._response = response

    async def __aiter__(self) -> AsyncGenerator[bytes]:
        with _as_of_httpx(self._request):
            async for piece in self._response.content.iter_any():
                yield piece

    async def aclose(self) -> None:
        self._response.close()


class _Found(AbstractResolver):
    """Whatever the name, leads to what was found for it and checked."""

    def __init__(self, addresses: list[str]) -> None:
        self._addresses = addresses

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        return [
            ResolveResult(
                hostname=host,
                host=address,
                port=port,
                family=socket.AF_INET6 if ":" in address else socket.AF_INET,
                proto=socket.IPPROTO_TCP,
                flags=socket.AI_NUMERICHOST,
            )
            for address in self._addresses
        ]

    async def close(self) -> None:
        """Nothing is open."""


@contextmanager
def _as_of_httpx(request: httpx2.Request) -> Iterator[None]:
    """The openai package knows the faults of httpx2 alone."""
    try:
        yield
    except (aiohttp.ClientError, OSError) as error:
        kind = next((known for fault, known in FAULTS if isinstance(error, fault)), httpx2.ReadError)
        raise kind(str(error), request=request) from error


async def resolved(host: str, port: int) -> list[str]:
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    # Without a scope ("fe80::1%eth0"); in the system's order, each once.
    return list(dict.fromkeys(str(one[4][0]).partition("%")[0] for one in found))


def not_allowed(host: str) -> ModelError:
    return ModelError(
        "not_allowed",
        f"This installation does not allow a model at {host}, so nothing was sent. Whoever runs it can add the host to "
        "CCM_MODEL_HOSTS.",
    )
