"""Replies as safe HTML: Markdown in, an allow-list of tags out. The one renderer of the product."""

from __future__ import annotations

import re
import time
from functools import lru_cache
from html import escape
from typing import TYPE_CHECKING, Any

import nh3
import pygments
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.rules_block import reference
from markdown_it.rules_core import linkify
from markdown_it.token import Token
from pygments.formatters.html import HtmlFormatter
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

from efforts.domain.text.citations import CITATION, CODE_CITATION
from efforts.pages import formulas

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from markdown_it.renderer import RendererHTML
    from markdown_it.rules_block import StateBlock
    from markdown_it.rules_core import StateCore
    from markdown_it.rules_inline import StateInline
    from markdown_it.utils import EnvType, OptionsDict
    from pygments.lexer import Lexer

# Beyond this a text is shown as it is: parsing it would keep a thread busy for too long.
LARGEST = 200_000
# What one text may take of a processor, in seconds; then it is shown as it is too.
LONGEST = 0.5
# Lexers are built of regular expressions, which nothing interrupts, and some are slow on long input.
LARGEST_HIGHLIGHTED = 20_000
# Looking for addresses takes as long as a paragraph has characters, for each thing in it that may be one.
MOST_LOOKING = 3_000_000
# A page of forty turns is read again at every change of one; the others were rendered before.
CACHED = 512

HEADINGS = {f"h{level}" for level in range(1, 7)}
BLOCKS = {"p", "hr", "ul", "ol", "li", "blockquote", "pre", "div"}
INLINE = {"a", "br", "em", "strong", "s", "code", "span"}
TABLES = {"table", "thead", "tbody", "tr", "th", "td"}
# No form, no script, no id, no style, no hx-*: what a model writes must not name, dress or drive the page.
TAGS = HEADINGS | BLOCKS | INLINE | TABLES | formulas.TAGS
ATTRIBUTES = {
    "a": {"href", "title", "target", "class"},
    "code": {"class"},
    "pre": {"class"},
    "div": {"class"},
    "span": {"class"},
    "th": {"class"},
    "td": {"class"},
    "ol": {"start"},
    **formulas.ATTRIBUTES,
}
# Lists and indented code go on behind one.
ENDED_BY_BLANK_LINE = {"paragraph_open", "heading_open", "hr", "table_open", "blockquote_open"}
LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)")
TASK = re.compile(r"\[([ xX])\]\s+(?=\S)")
SCHEMES = {"http", "https", "mailto"}
ALIGNMENT = {"text-align:left": "left", "text-align:center": "center", "text-align:right": "right"}
# Colours come as classes: the content security policy forbids style attributes.
CODE = HtmlFormatter(nowrap=True)
CITE = "cite"
DEADLINE = "deadline"

# Citations as they are written, each with how a person reads it and the address of what it cites.
Cited = tuple[tuple[str, tuple[str, str]], ...]


class TooSlow(Exception):
    """A text whose Markdown takes longer than anybody's page should wait for."""


def render(text: str, cited: Cited = ()) -> SafeString:
    """`text` as HTML that can do nothing but be read; of its citations those in `cited` are links. What is too large or
    too slow to parse stands there as it was written."""
    return _plain(text) if len(text) > LARGEST else _rendered(text, cited)


@lru_cache(maxsize=CACHED)
def _rendered(text: str, cited: Cited) -> SafeString:
    # Of this thread alone, so that a busy machine does not show less.
    env = {CITE: dict(cited), DEADLINE: time.thread_time() + LONGEST}
    try:
        html = _markdown().render(text, env)
    except TooSlow:
        return _plain(text)
    # The parser has HTML switched off. Cleaned all the same, or one fault in it would be ours.
    return mark_safe(_clean(html))


def render_finished(text: str) -> tuple[SafeString, int]:
    """The blocks at the beginning of `text` that nothing behind it can change, as `render` shows them in the whole; and
    how many characters they have."""
    # A line in pieces may be another block when it is whole: "2" becomes "2. b".
    whole = text[: text.rfind("\n") + 1]
    if not whole.strip() or len(text) > LARGEST:
        return SafeString(), 0
    markdown = _markdown()
    env = {CITE: {}, DEADLINE: time.thread_time() + LONGEST, formulas.STREAMING: True}
    try:
        tokens = markdown.parse(whole, env)
        # As the parser counts them. Not splitlines(), which takes rare characters for their ends.
        lines = LINE.findall(whole)
        kept = _finished_lines(tokens, len(lines))
        inside = [token for token in _with_ends(tokens) if token[1] <= kept]
        html = markdown.renderer.render([token for token, _ in inside], markdown.options, env)
    except TooSlow:
        return SafeString(), 0
    while 0 < kept < len(lines) and not lines[kept].strip(" \t\r\n"):
        kept += 1
    return mark_safe(_clean(html)), sum(map(len, lines[:kept]))


def _finished_lines(tokens: Sequence[Token], lines: int) -> int:
    """How many of the lines belong to finished blocks: the last block is one where a closing fence or a blank line ends
    it."""
    blocks = [token for token in tokens if token.level == 0 and token.map and token.nesting >= 0]
    if not blocks:
        return 0
    last = blocks[-1]
    assert last.map is not None
    if last.type == "fence":
        closed = last.content.count("\n") == last.map[1] - last.map[0] - 2
    elif last.type == formulas.FORMULA:
        closed = last.meta[formulas.CLOSED]
    else:
        closed = last.type in ENDED_BY_BLANK_LINE and lines > last.map[1]
    if closed:
        return last.map[1]
    before = blocks[-2].map if last.type == formulas.FORMULA and len(blocks) > 1 else None
    # A formula that never ends is text, and goes on with the block right before it.
    return before[0] if before and before[1] == last.map[0] else last.map[0]


def _with_ends(tokens: Sequence[Token]) -> Iterator[tuple[Token, int]]:
    """Each token with the line at which its outermost block ends."""
    end = 0
    for token in tokens:
        if token.level == 0 and token.map:
            end = token.map[1]
        yield token, end


def _plain(text: str) -> SafeString:
    return mark_safe(f'<pre class="plain">{escape(text)}</pre>')


def _clean(html: str) -> str:
    return nh3.clean(
        html, tags=TAGS, attributes=ATTRIBUTES, url_schemes=SCHEMES, link_rel="noopener noreferrer nofollow ugc"
    )


@lru_cache(maxsize=1)
def _markdown() -> MarkdownIt:
    markdown = MarkdownIt("commonmark", {"html": False, "linkify": True})
    markdown.enable(["table", "strikethrough", "linkify"])
    assert markdown.linkify is not None
    # README.md and main.py are file names here, not places in Moldova and Paraguay
    markdown.linkify.set({"fuzzy_link": False, "fuzzy_email": False})
    markdown.core.ruler.at("linkify", _linkify)
    # First of all rules, and so asked wherever the parser goes on.
    markdown.block.ruler.before("table", DEADLINE, _in_time_for_block, {"alt": ["paragraph", "blockquote", "list"]})
    markdown.inline.ruler.before("text", DEADLINE, _in_time)
    markdown.inline.ruler.before("link", CITE, _citation)
    formulas.add_formulas(markdown)
    markdown.block.ruler.at("reference", _reference)
    markdown.core.ruler.after("inline", "task", _tasks)
    for name, rule in RULES.items():
        markdown.add_render_rule(name, rule)
    return markdown


def _in_time(state: StateInline | StateBlock | StateCore, silent: bool = False) -> bool:
    """A rule that never applies."""
    if time.thread_time() > state.env[DEADLINE]:
        raise TooSlow
    return False


def _in_time_for_block(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    return _in_time(state)


def _linkify(state: StateCore) -> None:
    """Addresses become links, but for paragraphs that are made of what may begin one."""
    tokens = state.tokens
    for token in tokens:
        _in_time(state)
        text = token.content
        if token.type == "inline" and (text.count(":") + text.count("//")) * len(text) <= MOST_LOOKING:
            state.tokens = [token]
            linkify(state)
    state.tokens = tokens


def _tasks(state: StateCore) -> None:
    """ "[ ]" and "[x]" at the beginning of a list's item become boxes, which nobody can tick here."""
    for item, paragraph, token in zip(state.tokens, state.tokens[1:], state.tokens[2:], strict=False):
        if (item.type, paragraph.type) != ("list_item_open", "paragraph_open") or not token.children:
            continue
        first = token.children[0]
        found = TASK.match(first.content) if first.type == "text" else None
        if found:
            first.content = first.content[found.end() :]
            box = Token("task", "span", 0, content="☐" if found[1] == " " else "☑")
            token.children.insert(0, box)


def _citation(state: StateInline, silent: bool) -> bool:
    """A citation that leads somewhere becomes a link. What has an address of its own is Markdown's business."""
    at = (state.src, state.pos)
    found = None if state.linkLevel else CITATION.match(*at) or CODE_CITATION.match(*at)
    link = state.env[CITE].get(found[0]) if found else None
    if not found or not link or state.src[found.end() : found.end() + 1] in ("(", "["):
        return False
    if not silent:
        shown, address = link
        state.push("link_open", "a", 1).attrs = {"href": address, "class": CITE}
        state.push("text", "", 0).content = shown
        state.push("link_close", "a", -1)
    state.pos = found.end()
    return True


def _reference(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Where a link leads is said out of sight, in lines such as "[label]: address"; "[turn 12]: yes" is not one."""
    begins = state.bMarks[start] + state.tShift[start]
    return not CITATION.match(state.src, begins) and reference(state, start, end, silent)


def _fence(self: RendererHTML, tokens: Sequence[Token], at: int, options: OptionsDict, env: EnvType) -> str:
    token = tokens[at]
    language = token.info.split(maxsplit=1)[0] if token.info.strip() else ""
    label = escape(language or "text")
    body = _highlighted(token.content, language, env[DEADLINE])
    return f'<div class="code"><div class="label">{label}</div><pre><code>{body}</code></pre></div>\n'


def _highlighted(source: str, language: str, deadline: float) -> str:
    if not language or len(source) > LARGEST_HIGHLIGHTED:
        return escape(source)
    try:
        # stripnl would drop blank lines that belong to what was said, and to what is copied.
        lexer = get_lexer_by_name(language, stripnl=False)
        return str(pygments.format(_in_time_tokens(lexer, source, deadline), CODE))
    except (ClassNotFound, TooSlow):
        return escape(source)


def _in_time_tokens(lexer: Lexer, source: str, deadline: float) -> Iterator[Any]:
    until = min(deadline, time.thread_time() + LONGEST / 2)
    for token in lexer.get_tokens(source):
        if time.thread_time() > until:
            raise TooSlow
        yield token


def _link(self: RendererHTML, tokens: Sequence[Token], at: int, options: OptionsDict, env: EnvType) -> str:
    # A link must not take the conversation away, perhaps in the middle of a reply; a citation leads within it.
    if tokens[at].attrGet("class") != CITE:
        tokens[at].attrSet("target", "_blank")
    return self.renderToken(tokens, at, options, env)


def _image(self: RendererHTML, tokens: Sequence[Token], at: int, options: OptionsDict, env: EnvType) -> str:
    """A picture would tell its host who reads this: it stays a link until somebody follows it."""
    address = escape(str(tokens[at].attrGet("src") or ""))
    label = escape(tokens[at].content) or address
    return f'<a href="{address}" target="_blank">{label}</a>'


def _task(self: RendererHTML, tokens: Sequence[Token], at: int, options: OptionsDict, env: EnvType) -> str:
    return f'<span class="task">{tokens[at].content}</span> '


def _formula(self: RendererHTML, tokens: Sequence[Token], at: int, options: OptionsDict, env: EnvType) -> str:
    if time.thread_time() > env[DEADLINE]:
        raise TooSlow
    return formulas.draw(tokens[at])


def _cell(self: RendererHTML, tokens: Sequence[Token], at: int, options: OptionsDict, env: EnvType) -> str:
    """Alignment comes as a style attribute, which the content security policy forbids."""
    token = tokens[at]
    alignment = ALIGNMENT.get(str(token.attrs.pop("style", "")))
    if alignment:
        token.attrSet("class", alignment)
    return self.renderToken(tokens, at, options, env)


RULES: dict[str, Any] = {
    "fence": _fence,
    "code_block": _fence,
    "link_open": _link,
    "image": _image,
    "task": _task,
    formulas.FORMULA: _formula,
    "th_open": _cell,
    "td_open": _cell,
}
