"""Whatever is asked for at any address, with whatever fields, its owner gets an answer and no fault of ours."""

from __future__ import annotations

import re
import socket
from types import SimpleNamespace
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.http.cookie import SimpleCookie
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import signed_in
from tests.fuzz.strategies import as_json, texts, tried, undone, values, whole_texts
from tests.pages.conftest import provider, room
from tests.pages.test_who_may import ADDRESSES, Address, filled, stage

__all__ = ["provider", "room", "stage"]

pytestmark = pytest.mark.django_db

NAMES = re.compile(r'\bname="([\w.-]+)"')
# What scripts send and no page names.
MORE = {"text", "client_id", "changes", "at", "by", "verb", "next", "cut", "aside", "plain", "archive", "branch", "q"}
WORDS = ("1", "on", "main", "accept", "reject", "Hello.", "storage", "2026-01-01", "note", "rule", "session", "turn")
fields = st.sampled_from(WORDS) | texts
headers = st.fixed_dictionaries(
    {},
    optional={
        "HX-Request": st.just("true"),
        "HX-Current-URL": whole_texts,
        "HX-Target": whole_texts,
        "Accept": st.sampled_from(["application/json", "text/html", "*/*", ";q=x", ""]),
        "Accept-Language": whole_texts,
        "Host": st.sampled_from(["localhost", "a b", "[", "elsewhere.example"]),
    },
).map(lambda found: {name: "".join(filter(str.isprintable, value)) for name, value in found.items()})
# In an address: numbers that no database has, texts that are none.
PLACES = {"int": st.integers(0, 10**22).map(str), "str": whole_texts, "path": whole_texts, "slug": st.just("x-1")}


def asked(names: list[str]) -> st.SearchStrategy[tuple[Any, ...]]:
    posted = st.dictionaries(st.sampled_from(names), fields | st.lists(fields, max_size=3), max_size=6)
    as_body = st.one_of(
        values.map(as_json),
        st.dictionaries(st.sampled_from(names), values, max_size=6).map(as_json),
        whole_texts,
    )
    return st.tuples(
        st.sampled_from(ADDRESSES),
        st.sampled_from(["GET", "POST", "POST", "JSON", "FILE", "PUT"]),
        posted,
        as_body,
        headers,
        st.none() | st.fixed_dictionaries(PLACES),
    )


def address(one: Address, stage: SimpleNamespace, odd: dict[str, str] | None) -> str:
    if odd is None:
        return filled(one, stage)
    # One that is of nobody, in place of the last that the address names.
    *_, last = [None, *re.finditer(r"<(?:(int|str|path|slug):)(\w+)>", one.route)]
    if last is None:
        return filled(one, stage)
    route = one.route[: last.start()] + "\0" + one.route[last.end() :]
    return filled(Address(route=route, kind=one.kind), stage).replace("\0", odd[last[1]])


@pytest.fixture
def names(stage: SimpleNamespace, as_alice: Client) -> list[str]:
    """Of all fields of all pages."""
    pages = [as_alice.get(filled(one, stage)) for one in ADDRESSES]
    for page in pages:
        read_out(page)
    shown = (page.content.decode() for page in pages if page.status_code == 200 and not page.streaming)
    return sorted({*MORE, *(name for text in shown for name in NAMES.findall(text))})


@pytest.fixture
def nowhere(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """No request may lead to any model: no address is allowed, and no name is known."""
    settings.CCM_MODEL_HOSTS = []
    settings.CCM_PERSON_SENDS = settings.CCM_PERSON_WAITING = 10**6

    def unknown(*args: object, **kwargs: object) -> None:
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)


@pytest.mark.usefixtures("nowhere")
def test_no_request_is_a_fault_of_ours(stage: SimpleNamespace, names: list[str], alice: User) -> None:
    client = signed_in(alice)
    cookies = client.cookies.output(header="", sep=";")

    @tried(60)
    @given(asked(names))
    def play(request: tuple[Any, ...]) -> None:
        one, how, posted, body, sent, odd = request
        client.cookies = SimpleCookie(cookies)
        path = address(one, stage, odd)
        with undone():
            if how == "JSON":
                answer = client.post(path, body, content_type="application/json", headers=sent)
            elif how == "FILE":
                file = {"archive": SimpleUploadedFile("a.zip", body.encode("utf-8", "surrogatepass"))}
                answer = client.post(path, {**sendable(posted), **file}, headers=sent)
            elif how == "GET":
                answer = client.get(path, sendable(posted), headers=sent)
            elif how == "PUT":
                answer = client.put(path, body, headers=sent)
            else:
                answer = client.post(path, sendable(posted), headers=sent)
            read_out(answer)
        assert answer.status_code < 500, (one.route, how, answer.status_code)

    play()


def read_out(answer: Any) -> None:
    """To its end, and what it is read from is closed. What is streamed on a loop of its own is not begun."""
    if answer.streaming and not answer.is_async:
        b"".join(answer)


def sendable(posted: dict[str, Any]) -> dict[str, Any]:
    """A browser sends no half characters."""
    whole = {name: one if isinstance(one, list) else [one] for name, one in posted.items()}
    return {name: [text.encode("utf-8", "replace").decode() for text in all_] for name, all_ in whole.items()}
