"""Replies as safe HTML: Markdown in, an allow-list of tags out. The one renderer of the product."""

from __future__ import annotations

from functools import lru_cache
from html import escape
from typing import TYPE_CHECKING, Any

import nh3
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.rules_block import reference
from pygments import highlight
from pygments.formatters.html import HtmlFormatter
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

from efforts.domain.text.citations import CITATION

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markdown_it.renderer import RendererHTML
    from markdown_it.rules_block import StateBlock
    from markdown_it.rules_inline import StateInline
    from markdown_it.token import Token
    from markdown_it.utils import EnvType, OptionsDict

# Beyond this a text is shown as it is: parsing it would keep a thread busy for too long.
LARGEST = 200_000
# Lexers are built of regular expressions, and some are slow on long input.
LARGEST_HIGHLIGHTED = 50_000
# A page of forty turns is read again at every change of one; the others were rendered before.
CACHED = 512

HEADINGS = {f"h{level}" for level in range(1, 7)}
BLOCKS = {"p", "hr", "ul", "ol", "li", "blockquote", "pre", "div"}
INLINE = {"a", "br", "em", "strong", "s", "code", "span"}
TABLES = {"table", "thead", "tbody", "tr", "th", "td"}
# No form, no script, no id, no style, no hx-*: what a model writes must not name, dress or drive the page.
TAGS = HEADINGS | BLOCKS | INLINE | TABLES
ATTRIBUTES = {
    "a": {"href", "title", "target", "class"},
    "code": {"class"},
    "pre": {"class"},
    "div": {"class"},
    "span": {"class"},
    "th": {"class"},
    "td": {"class"},
    "ol": {"start"},
}
SCHEMES = {"http", "https", "mailto"}
ALIGNMENT = {"text-align:left": "left", "text-align:center": "center", "text-align:right": "right"}
# Colours come as classes: the content security policy forbids style attributes.
CODE = HtmlFormatter(nowrap=True)
CITE = "cite"

# Citations as they are written, each with the address of what it cites.
Cited = tuple[tuple[str, str], ...]


def render(text: str, cited: Cited = ()) -> SafeString:
    """`text` as HTML that can do nothing but be read; of its citations those in `cited` are links."""
    if len(text) > LARGEST:
        return mark_safe(f'<pre class="plain">{escape(text)}</pre>')
    return _rendered(text, cited)


@lru_cache(maxsize=CACHED)
def _rendered(text: str, cited: Cited) -> SafeString:
    # The parser has HTML switched off. Cleaned all the same, or one fault in it would be ours.
    return mark_safe(_clean(_markdown().render(text, {CITE: dict(cited)})))


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
    markdown.inline.ruler.before("link", CITE, _citation)
    markdown.block.ruler.at("reference", _reference)
    for name, rule in RULES.items():
        markdown.add_render_rule(name, rule)
    return markdown


def _citation(state: StateInline, silent: bool) -> bool:
    """A citation that leads somewhere becomes a link. What has an address of its own is Markdown's business."""
    found = None if state.linkLevel else CITATION.match(state.src, state.pos)
    address = state.env[CITE].get(found[0]) if found else None
    if not found or not address or state.src[found.end() : found.end() + 1] in ("(", "["):
        return False
    if not silent:
        state.push("link_open", "a", 1).attrs = {"href": address, "class": CITE}
        state.push("text", "", 0).content = found[0]
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
    body = _highlighted(token.content, language)
    return f'<div class="code"><div class="label">{label}</div><pre><code>{body}</code></pre></div>\n'


def _highlighted(source: str, language: str) -> str:
    if not language or len(source) > LARGEST_HIGHLIGHTED:
        return escape(source)
    try:
        # stripnl would drop blank lines that belong to what was said, and to what is copied.
        lexer = get_lexer_by_name(language, stripnl=False)
    except ClassNotFound:
        return escape(source)
    return str(highlight(source, lexer, CODE))


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
    "th_open": _cell,
    "td_open": _cell,
}
