"""What a model writes can be read and can do nothing else."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from efforts.pages.markdown import LARGEST, LARGEST_HIGHLIGHTED, TAGS, render, render_finished

NASTY = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt:alert(1))",
    "[x](data:text/html,<script>alert(1)</script>)",
    "![x](javascript:alert(1))",
    "![x](data:image/png;base64,AAAA)",
    "<a href='/x' hx-get='/y' hx-trigger='load'>z</a>",
    "<div style='position:fixed' id='main' onclick='x'>",
    '[x](https://e.example "a\\" onmouseover=\\"alert(1)")',
    '![a" onerror="alert(1)](https://e.example/x.png)',
    '```py" onclick="alert(1)\nx\n```',
    "<svg><use href='#x'/></svg>",
    "<https://e.example/?a=<script>>",
    "| a |\n|:-:|\n| <b onclick=x> |",
    "</div></article></main>",
    "<!-- --><iframe src=//e.example>",
]
TAG = re.compile(r"<\s*/?\s*([a-zA-Z0-9]+)([^>]*)>")
ATTRIBUTE = re.compile(r"""\s([a-zA-Z-]+)\s*=\s*"([^"]*)\"""")
ALLOWED = {"href", "title", "target", "rel", "class", "start"}


def assert_harmless(html: str) -> None:
    for tag, attributes in TAG.findall(html):
        assert tag in TAGS
        for name, value in ATTRIBUTE.findall(attributes):
            assert name in ALLOWED
            if name == "href":
                assert not re.match(r"(?i)\s*(javascript|data|vbscript):", value)


@pytest.mark.parametrize("text", NASTY)
def test_nothing_nasty_comes_through(text: str) -> None:
    assert_harmless(render(text))
    assert_harmless(render(f"> - {text}\n\n**{text}**"))


@given(st.lists(st.sampled_from([*NASTY, "`", "**", "[", "](", "\n", "```", "|", "<", ">", '"', "text"]), max_size=12))
def test_no_mixture_is_nasty_either(pieces: list[str]) -> None:
    assert_harmless(render("".join(pieces)))


def test_markup_is_rendered() -> None:
    html = render("# Title\n\n- **one**\n- ~~two~~\n\n| a | b |\n|:--|--:|\n| 1 | 2 |")
    for piece in (
        "<h1>Title</h1>",
        "<strong>one</strong>",
        "<s>two</s>",
        '<td class="left">1</td>',
        '<td class="right">2</td>',
    ):
        assert piece in html


def test_tasks_of_a_list_have_boxes() -> None:
    html = render("- [ ] Buy **milk**\n- [x] Sleep\n\n1. [X] Loose\n\n2. [x](https://e.example) a link\n\n[ ] no list")
    assert '<li><span class="task">☐</span> Buy <strong>milk</strong></li>' in html
    assert '<li><span class="task">☑</span> Sleep</li>' in html
    assert '<p><span class="task">☑</span> Loose</p>' in html
    assert html.count("task") == 3
    assert "<p>[ ] no list</p>" in html


def test_links_open_apart_and_tell_nobody_where_from() -> None:
    html = render("See https://docs.example/page and [this](https://e.example).")
    assert html.count('target="_blank"') == 2
    assert html.count("noopener noreferrer nofollow ugc") == 2


def test_names_of_files_are_no_links() -> None:
    assert "<a" not in render("Look into README.md and main.py.")


def test_pictures_are_links_until_somebody_follows_them() -> None:
    html = render("![A chart](https://e.example/chart.png)")
    assert "<img" not in html
    assert '<a href="https://e.example/chart.png"' in html
    assert ">A chart</a>" in html


def test_code_has_its_language_and_colours() -> None:
    html = render("```python\nreturn 'x < y'\n```")
    assert '<div class="label">python</div>' in html
    assert '<span class="k">return</span>' in html
    assert "x &lt; y" in html


@pytest.mark.parametrize("language", ["", "nosuchlanguage", '"><script>'])
def test_code_of_an_unknown_language_is_shown_as_it_is(language: str) -> None:
    html = render(f"```{language}\na < b\n```")
    assert "a &lt; b" in html
    assert_harmless(html)


def test_an_open_code_block_is_closed() -> None:
    assert render("```python\nx = 1").endswith("</code></pre></div>\n")


def test_very_long_code_is_shown_without_colours() -> None:
    html = render("```python\n" + "x = 1\n" * (LARGEST_HIGHLIGHTED // 5) + "```")
    assert "<span" not in html


def test_a_very_long_text_is_shown_as_it_is() -> None:
    html = render("<b>" + "x" * LARGEST)
    assert html.startswith('<pre class="plain">&lt;b&gt;')


def test_other_scripts_stay_whole() -> None:
    assert "日本語 עברית 🌍" in render("日本語 עברית 🌍")


CITED = (
    ("[auth-bug, turn 12]", ("[Auth bug, turn 12]", "/s/1/log/?before=13#turn-12")),
    ("[turn 3]", ("[turn 3]", "/s/1/log/?before=4#turn-3")),
)


@pytest.mark.parametrize(
    "around", ["It was {}.", "> {}", "- {}: yes", "**{}**", "| a |\n|---|\n| {} |", "{}: yes", "{}:"]
)
@pytest.mark.parametrize(("cited", "link"), CITED)
def test_a_citation_is_a_link_within_the_page(around: str, cited: str, link: tuple[str, str]) -> None:
    html = render(around.format(cited), CITED)
    shown, address = link
    assert f'<a href="{address}" class="cite" rel="noopener noreferrer nofollow ugc">{shown}</a>' in html
    assert "_blank" not in html


@pytest.mark.parametrize("text", ["[turn 4]", "[other, turn 12]", "[auth-bug]", "turn 3", "[turn 3", r"\[turn 3]"])
def test_what_is_cited_and_does_not_exist_stays_text(text: str) -> None:
    assert render(text, CITED) == f"<p>{text.removeprefix(chr(92))}</p>\n"


@pytest.mark.parametrize("code", ["`{}`", "```\n{}\n```", "    {}"])
def test_in_code_nothing_is_cited(code: str) -> None:
    html = render(code.format("[turn 3]"), CITED)
    assert "<a" not in html
    assert "[turn 3]" in html


def test_a_reply_cannot_give_a_citation_another_address() -> None:
    html = render("[turn 3]\n\n[turn 3]: https://e.example", CITED)
    assert html.count(f'<a href="{CITED[1][1][1]}" class="cite"') == 2


def test_a_link_with_an_address_of_its_own_stays_that_link() -> None:
    html = render("[turn 3](https://e.example)", CITED)
    assert 'href="https://e.example" target="_blank"' in html
    assert "cite" not in html


def test_a_text_is_rendered_anew_where_its_citations_lead_elsewhere() -> None:
    assert "<a" not in render("See [turn 3].")
    assert 'href="/s/1/log/?before=4#turn-3"' in render("See [turn 3].", CITED)
    elsewhere = (("[turn 3]", ("[turn 3]", "/s/2/log/?before=4#turn-3")),)
    assert 'href="/s/2/log/?before=4#turn-3"' in render("See [turn 3].", elsewhere)


@pytest.mark.parametrize("text", NASTY)
def test_beside_a_citation_nothing_nasty_comes_through(text: str) -> None:
    for mixed in (f"{text} [turn 3]", f"[turn 3] {text}", f"[{text} [turn 3]]({text})", f"[turn 3]{text}"):
        assert_harmless(render(mixed, CITED))


PIECES = [
    "# A heading",
    "Words of a paragraph,\non two lines.",
    "- one\n- two\n  - three",
    "1. one\n\n2. two",
    "```py\nx = 1\n\ny = 2\n```",
    "~~~\n```\n~~~",
    "> quoted\nlazily",
    "| a | b |\n|---|--:|\n| 1 | 2 |",
    "    indented\n\n    code",
    "---",
    "Setext\n===",
    "two [turn 3] **bold** \u2028 `code`",
    "\x0b",
    "one\r\ntwo\rthree\r\n",
]


@given(st.lists(st.sampled_from(PIECES), min_size=1, max_size=8), st.data())
def test_what_is_rendered_block_by_block_while_it_comes_is_what_the_whole_renders_to(
    pieces: list[str], data: st.DataObject
) -> None:
    whole = "\n\n".join(pieces) + "\n"
    shown, begin, come = "", 0, 0
    while come < len(whole):
        come = data.draw(st.integers(come + 1, len(whole)))
        html, length = render_finished(whole[begin:come])
        shown, begin = shown + html, begin + length
    assert shown + render(whole[begin:]) == render(whole)


def test_a_block_waits_for_what_ends_it() -> None:
    assert render_finished("One.\n\nTwo.\n") == (render("One."), 6)
    assert render_finished("One.\n\n\nTw") == (render("One."), 7)
    assert render_finished("- one\n\n- two\n") == ("", 0)
    assert render_finished("1. one\n\n2")[1] == 0
    assert render_finished("```py\nx\n```\n")[1] == 12
    assert render_finished("```py\nx\n")[1] == 0
    assert render_finished("")[1] == 0
