"""Says in words for a person what went wrong between us and a model, with what a provider's error says.

Of anything else that answers not a word is shown: the address may be that of another service, which only this machine
can reach.
"""

from __future__ import annotations

import errno
import re
import socket
import ssl
from collections.abc import Iterator
from http import HTTPStatus
from urllib.parse import urlsplit

import httpx2
import openai

from efforts.domain.text.canonical import json_object
from efforts.llm.protocol import ModelError

LONGEST_QUOTE = 300
NO_WAY = (errno.ENETUNREACH, errno.EHOSTUNREACH)
CONTENT_TYPE = re.compile(r"[\w.+-]{1,40}/[\w.+-]{1,40}")


def broken_stream(detail: str = "") -> ModelError:
    why = f" ({detail})" if detail else ""
    return ModelError("broken_stream", f"The reply broke off before its end{why}. What came is kept; retry.")


def not_a_stream(content_type: str) -> ModelError:
    named = CONTENT_TYPE.match(content_type)
    kind = named[0] if named else "nothing readable"
    return ModelError(
        "refused",
        f"The address answered with {kind}, not with a model's reply. Check it in Settings; it often ends in /v1.",
    )


def explain(error: openai.APIError, *, base_url: str, timeout_seconds: float, streaming: bool) -> ModelError:
    """`streaming`: the reply had begun, so that what is missing is its rest."""
    if isinstance(error, openai.APIStatusError):
        return _of_status(error)
    # Nobody there is not the same as somebody slow: waiting longer would not help.
    if isinstance(error, openai.APITimeoutError) and not isinstance(error.__cause__, httpx2.ConnectTimeout):
        return ModelError(
            "timeout",
            f"The model sent nothing for {timeout_seconds:g} seconds. Retry, or let it take longer in Settings.",
        )
    if streaming:
        # Of a connection that was closed the library would say how many bytes it missed.
        return broken_stream("" if isinstance(error.__cause__, httpx2.ProtocolError) else _words(error))
    why = _not_reached(error, base_url)
    where = f"No model answers at {base_url}: {why}." if why else f"No model answers at {base_url}."
    return ModelError("unreachable", f"{where} Check that it runs and that the address is right, then retry.")


def _not_reached(error: openai.APIError, base_url: str) -> str:
    """In plain words, not in those of a library; empty where there are none."""
    address = urlsplit(base_url)
    host, port = address.hostname, address.port or (443 if address.scheme == "https" else 80)
    kinds = (
        (ConnectionRefusedError, f"nothing listens on port {port} of {host}"),
        ((socket.gaierror, UnicodeError), f"no host has the name {host}"),
        (httpx2.ConnectTimeout, f"{host} did not answer in time"),
        (ssl.SSLCertVerificationError, f"the certificate of {host} is not trusted"),
        (ssl.SSLError, "there is no encrypted connection; the address may begin with http://"),
        ((httpx2.ProtocolError, ConnectionResetError), "what answers there does not speak HTTP, or hung up"),
    )
    causes = list(_causes(error))
    if any(isinstance(cause, OSError) and cause.errno in NO_WAY for cause in causes):
        return f"the network does not lead to {host}"
    return next((words for cause in causes for kind, words in kinds if isinstance(cause, kind)), "")


def _causes(error: BaseException) -> Iterator[BaseException]:
    """From the outside in: a name with several addresses fails for each of them."""
    yield error
    within = error.exceptions if isinstance(error, BaseExceptionGroup) else (error.__cause__ or error.__context__,)
    for one in within:
        if one is not None:
            yield from _causes(one)


def _of_status(error: openai.APIStatusError) -> ModelError:
    said = f"({error.status_code}: {_words(error)})"
    if error.status_code in (401, 403):
        text = f"The provider does not accept the key {said}. Check the key, and what it may use, in Settings."
        return ModelError("unauthorised", text)
    if error.status_code == 429:
        return ModelError("rate_limited", f"The provider asks to slow down {said}. {_when(error)}")
    if error.status_code >= 500:
        return ModelError("server_error", f"The provider failed {said}. Try again in a moment.")
    return ModelError(
        "refused", f"The provider refused the request {said}. Check the address and the model in Settings."
    )


def _when(error: openai.APIStatusError) -> str:
    wait = error.response.headers.get("retry-after", "")
    return f"Retry in {wait} seconds." if wait.isdecimal() else "Try again in a moment."


def _words(error: openai.APIError) -> str:
    """What the provider said, or failing that what the network said, on one line."""
    words = " ".join((_said(error) or _plain(error)).split()).rstrip(".")
    return words if len(words) <= LONGEST_QUOTE else words[:LONGEST_QUOTE] + "…"


def _said(error: openai.APIError) -> str:
    """The message of an error in the form that providers have agreed on; empty where it is none."""
    told = error.body
    if isinstance(error, openai.APIStatusError):
        told = json_object(error.response.text).get("error")
    message = told.get("message") if isinstance(told, dict) else None
    return message if isinstance(message, str) else ""


def _plain(error: openai.APIError) -> str:
    if isinstance(error, openai.APIStatusError):
        # Not the words that came with the number: these are the server's own.
        return HTTPStatus(error.status_code).phrase if error.status_code in set(HTTPStatus) else "no reason given"
    return str(error.__cause__ or "") or error.message
