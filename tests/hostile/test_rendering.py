"""However a text is made, showing it takes a bounded time."""

from __future__ import annotations

import time

import pytest

from efforts.pages import markdown
from efforts.pages.markdown import LONGEST, render
from tests.hostile.texts import SIZE, hostile

# Of this thread alone: other work of the machine counts for nothing. What is not interrupted comes on top.
MOST = 4 * LONGEST
# Each took from seconds to minutes when nothing bounded it.
WORST = ("http://a.", "https://a.de/(", "://", "||\n--\n", "|a|b|\n|-|-|\n", "[", "+ a\n")
SLOW = hostile()


def seconds(text: str) -> float:
    began = time.thread_time()
    render(text)
    return time.thread_time() - began


@pytest.mark.parametrize("part", WORST)
def test_what_was_slow_is_shown_in_bounded_time(part: str) -> None:
    assert seconds(SLOW[part]) < MOST


def test_every_word_of_a_text_that_is_too_slow_is_shown() -> None:
    text = "[a](" * (SIZE // 4)
    assert render(text) == f'<pre class="plain">{text}</pre>'


def test_a_slow_lexer_costs_its_block_the_colours_and_nothing_else() -> None:
    html = render("**before**\n\n```perl\n" + "s{" * 9_000 + "\n```\n\n**after**")
    assert html.count("<strong>") == 2
    assert "s{s{s{" in html


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is said of links must not hang on how fast the machine is."""
    monkeypatch.setattr(markdown, "LONGEST", 60)


@pytest.mark.usefixtures("patient")
def test_a_paragraph_of_thousands_of_addresses_is_one_of_links() -> None:
    assert render("https://a.example/1 " * 2_000).count("<a ") == 2_000


@pytest.mark.usefixtures("patient")
def test_a_list_of_a_hundred_links_is_one_of_links() -> None:
    assert render("\n".join(f"- https://a.example/{n}" for n in range(100))).count("<a ") == 100


@pytest.mark.slow
def test_every_hostile_text_is_shown_in_bounded_time() -> None:
    assert {part: spent for part, text in SLOW.items() if (spent := seconds(text)) > MOST} == {}
