"""Says in words for a person what went wrong between us and a model, the provider's own words included."""

from __future__ import annotations

import httpx2
import openai

from efforts.llm.protocol import ModelError

# Providers answer with anything up to a whole web page.
LONGEST_QUOTE = 400


def broken_stream(detail: str = "") -> ModelError:
    why = f" ({detail})" if detail else ""
    return ModelError("broken_stream", f"The reply broke off before its end{why}. What came is kept; retry.")


def not_a_stream(content_type: str) -> ModelError:
    kind = content_type.partition(";")[0] or "nothing readable"
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
        return broken_stream(_words(error))
    where = f"No model answers at {base_url} ({_words(error)})."
    return ModelError("unreachable", f"{where} Check that it runs and that the address is right, then retry.")


def _of_status(error: openai.APIStatusError) -> ModelError:
    said = f"({error.status_code}: {_words(error)})"
    if error.status_code in (401, 403):
        text = f"The provider does not accept the key {said}. Check the key, and what it may use, in Settings."
        return ModelError("unauthorised", text)
    if error.status_code == 429:
        return ModelError("rate_limited", f"The provider asks to slow down {said}. {_when(error)}")
    if error.status_code >= 500:
        return ModelError("server_error", f"The provider failed {said}. Retry in a while.")
    return ModelError(
        "refused", f"The provider refused the request {said}. Check the address and the model in Settings."
    )


def _when(error: openai.APIStatusError) -> str:
    wait = error.response.headers.get("retry-after", "")
    return f"Retry in {wait} seconds." if wait.isdecimal() else "Retry in a while."


def _words(error: openai.APIError) -> str:
    """What the provider said, or failing that what the network said, on one line."""
    said = _said(error.body)
    if not said and isinstance(error, openai.APIStatusError):
        said = error.response.reason_phrase or "no reason given"
    words = " ".join((said or str(error.__cause__ or "") or error.message).split()).rstrip(".")
    return words if len(words) <= LONGEST_QUOTE else words[:LONGEST_QUOTE] + "…"


def _said(body: object) -> str:
    if isinstance(body, dict):
        said = body.get("message") or body.get("detail") or body
        return said if isinstance(said, str) else str(said)
    # A proxy's error page is no use in one line of text.
    return body if isinstance(body, str) and not body.lstrip().startswith("<") else ""
