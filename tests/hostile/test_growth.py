"""What reads texts by patterns takes twice as long for twice as much, whatever it is made of.

Not the clock is asked but how the work grows: four times the text may take eight times as long, where what is quadratic
takes sixteen.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from datetime import date
from typing import Any
from uuid import uuid4

import pytest

from efforts.domain.commands import read_typed
from efforts.domain.effort.phrases import Known, wishes
from efforts.domain.prompt.line import asks_what_was_when
from efforts.domain.text.citations import citations_in, code_citations_in
from efforts.domain.text.dates import days_named
from efforts.domain.text.locating import marked, one_line
from efforts.domain.text.passages import spans_of
from efforts.domain.text.redaction import redact
from efforts.domain.text.sentences import sentence_places
from efforts.domain.text.speakers import speaker_named
from efforts.domain.text.terms import terms_of
from tests.hostile.texts import hostile
from workspaces.domain.edits import BadDiff, changes, read_diff
from workspaces.domain.following import follow
from workspaces.domain.languages import language_of
from workspaces.domain.outcomes import words_of
from workspaces.domain.outline import headings, outline_of, own_lines, parts_of
from workspaces.domain.outputs import printed
from workspaces.indexing.symbols import Indexed
from workspaces.models import File

SMALL = 12_500
# What a text of any length costs, and a measurement errs by; in seconds of this thread.
SLACK = 0.05
TODAY, YEARS = date(2026, 1, 1), (2025, 2026)


def proposed_edit(text: str) -> None:
    """Of a third of its lines, which stand in many places or, for the last of them, in none."""
    lines = text.split("\n")
    part = lines[: max(len(lines) // 3, 1)]
    for last in (part[-1], "nowhere"):
        diff = "".join(f" {line}\n" for line in part[:-1]) + f"-{last}\n+other\n"
        with suppress(BadDiff):
            read_diff("file", f"@@ -9,1 +9,1 @@\n{diff}", text)


def pinned_lines(text: str) -> None:
    """A third of a file, which has lost its beginning."""
    lines = text.split("\n")
    follow(lines, lines[len(lines) // 2 :], 1, max(len(lines) // 3, 1))


READERS: dict[str, Callable[[str], Any]] = {
    "secrets": redact,
    "sentences": lambda text: list(sentence_places(text)),
    "lines": one_line,
    "quoted parts": marked,
    "terms": terms_of,
    "citations": lambda text: list(citations_in(text)),
    "citations of code": lambda text: list(code_citations_in(text)),
    "days": lambda text: days_named(text, TODAY, YEARS),
    "order": asks_what_was_when,
    "speakers": speaker_named,
    "passages": spans_of,
    "commands": read_typed,
    "wishes": lambda text: wishes(text, Known()),
    "a proposed edit": proposed_edit,
    "pinned lines": pinned_lines,
    "what a command printed": lambda text: printed(text.encode()),
    "headings": lambda text: list(headings(text)),
    "comments": lambda text: outline_of("a.js", "javascript", f"/*{text.replace('*/', '')}a*/"),
    "words of code": lambda text: words_of([text]),
}
SHORT, LONG = hostile(SMALL), hostile(4 * SMALL)


def spent(read: Callable[[str], Any], text: str) -> float:
    """The least of three: what else the machine does can only add to it."""
    least = float("inf")
    for _ in range(3):
        began = time.thread_time()
        read(text)
        least = min(least, time.thread_time() - began)
        if least < SLACK:
            break
    return least


@pytest.mark.slow
@pytest.mark.parametrize("name", READERS)
def test_work_grows_with_the_text_and_not_with_its_square(name: str) -> None:
    read = READERS[name]
    slow = {}
    for part, text in LONG.items():
        much = spent(read, text)
        if much > SLACK and much > 8 * spent(read, SHORT[part]) + SLACK:
            slow[part] = much
    assert slow == {}


MANY = {
    "a.py": "A{0} = 1\n",
    "b.py": "def a{0}():\n    f()\nf{0}()\n",
    "a/b.go": "\tA{0} = {0}\n",
    "a/c.go": "type A{0} struct{{}}\nfunc (a A{0}) f() {{}}\n",
    "a.rs": "struct A{0};\nimpl A{0} {{ fn f() {{}} }}\n",
}


@pytest.mark.slow
@pytest.mark.parametrize("path", MANY)
def test_a_file_of_thousands_of_names_is_outlined_in_time(path: str) -> None:
    def outlined(text: str) -> None:
        lines = "".join(map(MANY[path].format, range(len(text))))
        lines = f"package b\nconst (\n{lines})\n" if path == "a/b.go" else lines
        definitions = outline_of(path, language_of(path), lines).definitions
        parts = parts_of(definitions)
        for place, one in enumerate(definitions):
            own_lines(one, parts.get(place, ()), lines.split("\n") if not place else ["a"])

    assert spent(outlined, "x" * 4_000) < 8 * spent(outlined, "x" * 1_000) + SLACK


@pytest.mark.slow
def test_minified_code_is_indexed_in_time() -> None:
    """Thousands of functions on one line."""

    def indexed(text: str) -> None:
        functions = "".join(f"function f{n}(a){{return a.b||c{n}}}" for n in range(len(text)))
        file = File(pk=1, path="a.js", language="javascript", text=functions, workspace_id=uuid4())
        assert len(list(Indexed(file, outline_of("a.js", "javascript", functions)).symbols())) == len(text) + 1

    assert spent(indexed, "x" * 2_000) < 8 * spent(indexed, "x" * 500) + SLACK


@pytest.mark.slow
@pytest.mark.parametrize("path", ["a.py", "a.js", "a.go"])
def test_what_is_nothing_but_brackets_is_outlined_in_time(path: str) -> None:
    def outlined(text: str) -> None:
        found = outline_of(path, language_of(path), "(" * len(text))
        assert found.definitions[0].lines == (1, 1)

    assert spent(outlined, "x" * 32_000) < 8 * spent(outlined, "x" * 8_000) + SLACK


COMMENTED = {
    "a.py": ("x = 1\n", "# Of f.\n", "def f(): ...\n"),
    "b.py": ("x = 1\n", "\n    # Of f.\n", "def f(): ...\n"),
    "c.py": ("x = 1\n", "\\\n", "def f(): ...\n"),
    "a.js": ("", "// Of f.\n", "function f() {}\n"),
    "a.go": ("package a\n", "// Of f.\n", "func f() {}\n"),
    "a.rs": ("", "/// Of f.\n", "fn f() {}\n"),
    "b.rs": ("", "#[of_f]\n", "fn f() {}\n"),
}


@pytest.mark.slow
@pytest.mark.parametrize("path", COMMENTED)
def test_thousands_of_lines_above_a_definition_are_read_in_time(path: str) -> None:
    first, line, last = COMMENTED[path]

    def outlined(text: str) -> None:
        definitions = outline_of(path, language_of(path), first + line * len(text) + last).definitions
        assert definitions[-1].name == "f"

    assert spent(outlined, "x" * 8_000) < 8 * spent(outlined, "x" * 2_000) + SLACK


@pytest.mark.slow
def test_what_has_changed_in_a_long_file_is_told_in_time() -> None:
    """Its lines are numbers that come again and again, and stand in another order now."""

    def told(text: str) -> None:
        lines = [str(place % 120) for place in range(len(text))]
        changes("\n".join(lines), "\n".join(sorted(lines)))

    assert spent(told, "x" * 40_000) < 8 * spent(told, "x" * 10_000) + SLACK
