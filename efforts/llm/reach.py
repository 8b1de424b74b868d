"""The way to a model that a person entered: resolved once, checked, and connected to just what was checked.

A name that is looked up for the check and again for the connection may lead elsewhere the second time.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable

import httpx2

from efforts.domain.hosts import AllowedHosts
from efforts.llm.protocol import ModelError

Resolve = Callable[[str, int], Awaitable[list[str]]]

PORTS = {"http": 80, "https": 443}


class CheckedTransport(httpx2.AsyncBaseTransport):
    """Raises `ModelError` where `allowed` does not have the address."""

    def __init__(self, allowed: AllowedHosts, tls: ssl.SSLContext, resolve: Resolve | None = None) -> None:
        self._allowed = allowed
        self._resolve = resolve or resolved
        self._transport = httpx2.AsyncHTTPTransport(verify=tls, trust_env=False)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        url = request.url
        port = url.port or PORTS[url.scheme]
        addresses = await self._looked_up(request, url.host, port)
        if not self._allowed.allow(url.host, port, addresses):
            raise not_allowed(url.host)
        # The name stays what the certificate must be of; the Host header is set already.
        request.extensions = {**request.extensions, "sni_hostname": url.host}
        for address in addresses[:-1]:
            request.url = url.copy_with(host=address)
            try:
                return await self._transport.handle_async_request(request)
            # Such as localhost by IPv6, where the server listens on IPv4 alone.
            except (httpx2.ConnectError, httpx2.ConnectTimeout):
                continue
        request.url = url.copy_with(host=addresses[-1])
        return await self._transport.handle_async_request(request)

    async def _looked_up(self, request: httpx2.Request, host: str, port: int) -> list[str]:
        try:
            async with asyncio.timeout(request.extensions.get("timeout", {}).get("connect")):
                return await self._resolve(host, port)
        except TimeoutError as error:
            raise httpx2.ConnectTimeout(f"{host} was not found in time", request=request) from error
        except (OSError, UnicodeError) as error:
            raise httpx2.ConnectError(f"{host} is not known", request=request) from error

    async def aclose(self) -> None:
        await self._transport.aclose()


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
