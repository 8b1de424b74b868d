"""Formulas are drawn as MathML, prices stay prices, and no formula holds anybody up or drives the page."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from efforts.pages.formulas import LONGEST
from efforts.pages.markdown import render, render_finished

BOMB = "".join(rf"\newcommand{{\x{i}}}{{{(chr(92) + 'x' + str(i + 1)) * 9}}}" for i in range(9))


@pytest.mark.parametrize(
    "text",
    [
        "Say $x^2$ here",
        "where $ax^2 + bx + c = 0$ holds",
        "and $n$ of them",
        "$f(x)$",
        "so (a $-1$ b)",
        r"with \(a \le b\)",
        "$$\na\n+ b\n$$",
        "\\[\n\\frac{1}{2}\n\\]",
        "> $$ x = 1 $$",
        "- one $a_1$\n- two $a_2$",
        "here $$x = 1$$ in a line",
        "| a |\n|--|\n| $x_1$ |",
        "$$\n\\begin{aligned}\na &= b \\\\\n- c &= d\n\\end{aligned}\n$$",
    ],
)
def test_a_formula_is_drawn(text: str) -> None:
    html = render(text)
    assert html.count("<math") == text.count("a_2") + 1
    assert not re.search(r"[$\\&]", html)


@pytest.mark.parametrize(
    "text",
    [
        "$5 and $10",
        "from $20K–$30K or $5-$6",
        "costs $5/month, or 50$ a year",
        "between 5$ and 6$",
        "US$5 + A$6",
        "set $HOME and $PATH=$HOME/bin",
        "${a}_${b}",
        r"\$5 and \$6 = \$11",
        "`$x^2$`",
        "```\n$$x^2$$\n```",
        r"see \[1\] and \[note\]",
        "$ x = 1 $",
        "$$\nx = 1\n\nnever closed",
        "I paid $5 + tax and he paid 6$",
    ],
)
def test_what_is_no_formula_stays_text(text: str) -> None:
    assert "<math" not in render(text)


@pytest.mark.parametrize("source", [r"\left( x", r"x_1_2", BOMB + r"\x0", r"\def\a{\a\a}\a", "x_1" * LONGEST])
def test_what_cannot_be_read_is_shown_as_written(source: str) -> None:
    html = render(f"$${source}$$")
    assert "<math" not in html
    assert source[:20].strip() in html


def test_a_formula_drives_and_covers_nothing() -> None:
    html = render(
        r"$\href{javascript:alert(1)}{x} \style{position:fixed}{y} \color{red}z \hspace{999em} \text{<b>&lt;i&gt;}$"
    )
    assert "<math" in html
    assert not re.search(r"href|style=|color|999em|<b>|<i>", html)


@pytest.mark.parametrize("unit", ["$", "$$", "$$\n", "\\[\n", "\\(", "$x_", "$\\frac{", "{", "$x$ "])
def test_many_of_them_take_no_time(unit: str) -> None:
    began = time.thread_time()
    render(unit * (20_000 // len(unit)))
    assert time.thread_time() - began < 2


def test_a_formula_that_streams_is_drawn_when_it_ends() -> None:
    text = "So:\n\n$$\na\n- b\n"
    assert render_finished(text) == ("<p>So:</p>\n", 5)
    html, length = render_finished(text + "$$\n")
    assert "<math" in html
    assert length == len(text) + 3


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(["$$", "\n", "a", "\\[", "\\]", "> ", "- ", "x^2", "\n\n", "$", "```\n"]), max_size=14))
def test_what_was_shown_while_it_streamed_stays_so(pieces: list[str]) -> None:
    text = "".join(pieces)
    for at in range(len(text)):
        html, length = render_finished(text[:at])
        assert render(text).startswith(html), text[:at]
        assert length <= at
