"""What nobody would send on purpose, and how many of it are tried: few in each run, 10,000 in `make soak`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import transaction
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st


def tried(examples: int) -> settings:
    """So many in a run of the suite."""
    soaks = settings.get_current_profile_name() == "soak"
    # One stage serves all examples of a test, which leave it as it was.
    return settings(
        max_examples=settings().max_examples if soaks else examples, suppress_health_check=list(HealthCheck)
    )


# Where programs break: ends of numbers, of characters, of addresses, of formats.
ODD = (
    "",
    " ",
    "0",
    "-1",
    "1e999",
    "NaN",
    str(2**31),
    str(2**63),
    "9" * 5_000,
    "\u0661\u0662",
    "²",
    "\x00",
    "a\x00b",
    "\ud800",
    "\u202e\ufeff\u2028",
    "é" * 300,
    "x" * 5_000,
    "[" * 5_000,
    "{% now %}{{ x }}",
    "%s%n%00",
    "../../etc/passwd",
    "//[",
    "http://[",
    "javascript:alert(1)",
    "/\\evil",
    "'\"--;",
    "<script>alert(1)</script>",
    "/pin 1-99999999999999999999",
    "/compact -1",
    "2026-02-30",
    "00000000-0000-0000-0000-000000000000",
)
# By number, else an error would print all of them.
odd = st.integers(0, len(ODD) - 1).map(ODD.__getitem__)
texts = st.one_of(odd, st.text(st.characters(codec=None), max_size=60), st.integers().map(str))
# What can be in a file, a header, an address: no half characters.
whole_texts = texts.map(lambda text: text.encode("utf-8", "replace").decode())
scalars = st.none() | st.booleans() | st.integers() | st.floats() | texts
values: st.SearchStrategy[Any] = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4), max_leaves=12
)


def changed(template: Any) -> st.SearchStrategy[Any]:
    """A value of this form with here and there something else in it, or something missing."""
    if isinstance(template, dict):
        kept = {key: changed(value) for key, value in template.items()}
        whole = st.fixed_dictionaries({}, optional=kept) | st.fixed_dictionaries(kept)
        return st.one_of(whole, whole, whole, values)
    if isinstance(template, list):
        one = st.one_of(*map(changed, template)) if template else values
        return st.one_of(st.lists(one, max_size=4), st.lists(one, max_size=4), values)
    return st.one_of(st.just(template), st.just(template), st.just(template), values)


def spoilt(data: bytes) -> st.SearchStrategy[bytes]:
    """The same with a few bytes others, cut short, or with something in it twice."""
    at = st.integers(0, max(len(data) - 1, 0))
    change = st.tuples(at, st.integers(0, 24), st.binary(max_size=8))

    def apply(changes: list[tuple[int, int, bytes]]) -> bytes:
        found = data
        for start, length, put in changes:
            found = found[:start] + put + found[start + length :]
        return found

    return st.lists(change, max_size=4).map(apply)


def spoilt_text(text: str) -> st.SearchStrategy[str]:
    return spoilt(text.encode()).map(lambda data: data.decode("utf-8", "replace"))


def as_json(value: Any) -> str:
    return json.dumps(value)


@contextmanager
def undone() -> Iterator[None]:
    """What is done within leaves no trace in the database."""
    with transaction.atomic():
        try:
            yield
        finally:
            transaction.set_rollback(True)
