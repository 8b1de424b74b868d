"""Whom and what a line of the program's own log concerns: ids that follow a request, a socket, a run or a draft."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

_ids: ContextVar[Mapping[str, str]] = ContextVar("concerned", default={})  # noqa: B039  # replaced, never changed


def concerned() -> Mapping[str, str]:
    return _ids.get()


def concern(**ids: object) -> None:
    """From here on, in this task or this request, beside what is known already; None says nothing."""
    _ids.set({**_ids.get(), **{name: str(value) for name, value in ids.items() if value is not None}})


@contextmanager
def concerning(**ids: object) -> Iterator[None]:
    """Only these, and what is found out inside; afterwards what was before."""
    token = _ids.set({})
    try:
        concern(**ids)
        yield
    finally:
        _ids.reset(token)
