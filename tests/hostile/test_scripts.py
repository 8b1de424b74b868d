"""Two hundred texts that want to be script, in all that people and models can write: shown, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from itertools import cycle
from types import SimpleNamespace

import pytest
from django.db import models
from django.http import FileResponse
from django.test import Client

from compaction.models import Artifact, SeedPackage
from efforts.models import (
    Branch,
    Constraint,
    ContextPointer,
    Effort,
    Endpoint,
    Hold,
    LedgerEntry,
    Message,
    Run,
    Session,
    Thinking,
)
from efforts.pages.markdown import render
from tests.hostile.scripts import MARK, PER_TEXT, SCRIPTS
from tests.pages.conftest import provider, room  # noqa: F401
from tests.pages.test_markdown import assert_harmless
from tests.pages.test_who_may import ADDRESSES, filled, stage  # noqa: F401
from workspaces.models import Workspace

# Columns that hold what somebody wrote, or what a server answered.
WRITTEN: dict[type[models.Model], tuple[str, ...]] = {
    Session: ("title", "folder", "model"),
    Effort: ("name",),
    Branch: ("name",),
    Constraint: ("text",),
    LedgerEntry: ("text",),
    Hold: ("why",),
    Message: ("text",),
    Thinking: ("text",),
    Run: ("error_text",),
    Endpoint: ("name", "model", "draft_model"),
    ContextPointer: ("headline", "body"),
    Artifact: ("headline", "standing", "body"),
    SeedPackage: ("title",),
    Workspace: ("name", "root", "problem"),
}
SCHEME = re.compile(r"(?i)[\s\x00-\x1f]*(javascript|vbscript|data):")
LEADS = {"href", "src", "action", "formaction", "data", "xlink:href", "srcdoc", "content"}
NEVER = {"iframe", "object", "embed", "base", "frame", "applet"}


class Wrong(HTMLParser):
    """What of a page could run or lead away, in words."""

    def __init__(self, body: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.inside = ""
        self.feed(body)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        if tag in NEVER or (tag == "meta" and "http-equiv" in values):
            self.found.append(f"<{tag}>")
        if tag in ("script", "style") and "src" not in values:
            self.inside = tag
        for name, value in values.items():
            acts = name.startswith(("on", "hx-on")) or (name == "style" and MARK in value)
            # As part of a query it is a text like others.
            acts |= name.startswith("hx-") and value.startswith((f"/{MARK}", "js:", "javascript:"))
            # A link to another page is a link; what is fetched by itself is not.
            leads = name in LEADS and (SCHEME.match(value) or (tag != "a" and value.startswith(f"//{MARK}")))
            if acts or leads:
                self.found.append(f"<{tag} {name}={value[:80]!r}>")

    def handle_endtag(self, tag: str) -> None:
        self.inside = ""

    def handle_data(self, data: str) -> None:
        if self.inside and MARK in data:
            self.found.append(f"in <{self.inside}>: {data[:80]!r}")


def test_there_are_two_hundred_and_each_is_found_where_nothing_holds_it() -> None:
    assert len(set(SCRIPTS)) == 200
    plain = [text for text in SCRIPTS if text.startswith("<")][:18]
    assert [text for text in plain if not Wrong(text).found] == []


def test_as_a_reply_none_comes_through() -> None:
    for text in SCRIPTS:
        html = render(text)
        assert_harmless(html)
        assert Wrong(html).found == [], text


@pytest.fixture
def poisoned(stage: SimpleNamespace) -> SimpleNamespace:  # noqa: F811
    """In every column, as if it had been written there: several in a long text, one in a short one."""
    each = cycle(SCRIPTS)
    for model, names in WRITTEN.items():
        for row in model._default_manager.all():
            model._default_manager.filter(pk=row.pk).update(**{name: hostile(model, name, each) for name in names})
    return stage


def hostile(model: type[models.Model], name: str, each: Iterator[str]) -> str:
    longest: int | None = getattr(model._meta.get_field(name), "max_length", None)
    if longest is None:
        return "\n\n".join(next(each) for _ in range(PER_TEXT))
    return next(text for text in each if len(text) <= longest)


def pages(client: Client, stage: SimpleNamespace) -> Iterator[tuple[str, str]]:  # noqa: F811
    """Of what its owner can reach, what is HTML, with the text looked for in whatever looks for a text."""
    each = cycle(SCRIPTS[::7])
    for one in ADDRESSES:
        if one.kind not in ("own", "owner", "reviewer"):
            continue
        at = filled(one, stage)
        answer = client.get(at, dict.fromkeys(("q", "text", "term", "title", "name", "error"), next(each)))
        if answer.get("Content-Type", "").startswith("text/html"):
            yield one.route, answer.content.decode()
        elif isinstance(answer, FileResponse):
            # Read to its end, the file is closed.
            list(answer)


@pytest.mark.django_db
def test_on_no_page_anything_runs_or_leads_away(poisoned: SimpleNamespace, as_alice: Client) -> None:
    as_alice.raise_request_exception = False
    wrong, shown = [], set()
    for route, body in pages(as_alice, poisoned):
        wrong += [(route, found) for found in Wrong(body).found]
        if MARK in body:
            shown.add(route)
    assert wrong == []
    # Else it would hold for pages that show nothing.
    assert len(shown) >= 20, sorted(shown)
