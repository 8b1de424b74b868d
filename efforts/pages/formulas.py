r"""Formulas in Markdown: $…$, $$…$$, \(…\) and \[…\] become MathML, which a browser draws without any script."""

from __future__ import annotations

import re
from functools import lru_cache
from html import escape, unescape
from typing import TYPE_CHECKING
from xml.etree.ElementTree import tostring

from latex2mathml.converter import Converter

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_block import StateBlock
    from markdown_it.rules_inline import StateInline
    from markdown_it.token import Token

# A longer one is shown as it was written.
LONGEST = 1_000
# Characters of an inline formula that may be wider than a phone; it gets a bar to scroll by.
WIDE = 40
CACHED = 1_024
FORMULA = "formula"
# What streams may end in a formula whose end is still to come.
STREAMING = "streaming"
CLOSED = "closed"
CLOSERS = {"$$": "$$", r"\[": r"\]", r"\(": r"\)", "$": "$"}
# "$5 and $10", "$HOME/$USER" and "\[1\]" are none: a formula has a command, an operator, or is a single name.
LIKE_MATH = re.compile(r"[\\^_=<>+*|]|[\w)]\s*[-/]\s*[\w(]|^-?[A-Za-z]'*(\([^()]*\))?$")
NUMBER = re.compile(r"-?\d+([.,]\d+)*[A-Za-z]?")
# Words between white space; beside a power or an index two letters are a product.
PROSE = re.compile(r"(?:^|\s)[A-Za-z]{2,}(?:\s|$)")
LONG_PROSE = re.compile(r"(?:^|\s)[A-Za-z]{3,}(?:\s|$)")
# Which the library knows by other names.
INNER = re.compile(r"(\\(?:begin|end)\{)(?:aligned|split|gathered)\}")
# Wider space would push what stands behind it out of sight.
SPACE = re.compile(r"-?[0-2]?(\.\d+)?(em|ex|pt)")
TAGS = {
    *("math", "mrow", "mi", "mo", "mn", "mtext", "mspace", "ms", "mstyle", "mpadded", "mphantom", "merror", "menclose"),
    *("mfrac", "msqrt", "mroot", "msub", "msup", "msubsup", "munder", "mover", "munderover", "mmultiscripts"),
    *("mprescripts", "none", "mtable", "mtr", "mtd"),
}
# No colours, which one of the themes would swallow, and nothing that moves a formula over what stands beside it.
ATTRIBUTES = {
    "math": {"display"},
    "mo": {"stretchy", "fence", "form", "separator", "largeop", "movablelimits", "minsize", "maxsize"},
    "mi": {"mathvariant"},
    "mspace": {"width"},
    "mfrac": {"linethickness"},
    "mstyle": {"displaystyle", "scriptlevel"},
    "mtable": {"displaystyle"},
    "mtd": {"columnalign"},
    "mover": {"accent"},
    "munder": {"accentunder"},
    "munderover": {"accent", "accentunder"},
}


class NoDefinitions(dict[str, tuple[list[str], int]]):
    """Commands that a formula defines could make a short one endless."""

    def __setitem__(self, name: str, meaning: tuple[list[str], int]) -> None:
        raise ValueError(name)


@lru_cache(maxsize=CACHED)
def mathml(source: str, block: bool) -> str:
    """The formula; where nobody can read it its source."""
    if len(source) > LONGEST:
        return _as_written(source)
    converter = Converter(display="block" if block else "inline")
    converter.macros = NoDefinitions()
    try:
        tree = converter.convert_to_element(INNER.sub(r"\1align*}", source))
        for node in tree.iter():
            # The library writes its signs as entities.
            node.text = unescape(node.text) if node.text else node.text
            node.tail = unescape(node.tail) if node.tail else node.tail
            if not SPACE.fullmatch(node.get("width", "")):
                node.attrib.pop("width", None)
        drawn = tostring(tree, encoding="unicode")
    # Of a formula that it cannot read the library raises whatever it meets.
    except Exception:  # noqa: BLE001
        return _as_written(source)
    return drawn


def _as_written(source: str) -> str:
    return f"<code>{escape(source)}</code>"


def add_formulas(markdown: MarkdownIt) -> None:
    markdown.block.ruler.before("fence", FORMULA, _block, {"alt": ["paragraph", "reference", "blockquote", "list"]})
    markdown.inline.ruler.before("escape", FORMULA, _inline)


def _is_formula(source: str) -> bool:
    prose = LONG_PROSE if "^" in source or "_" in source else PROSE
    return bool(LIKE_MATH.search(source)) and ("\\" in source or not prose.search(source))


def _block(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """One that begins a line with $$ or \\[ and ends one with what closes it, without a blank line inside."""
    begins = state.bMarks[start] + state.tShift[start]
    opener = state.src[begins : begins + 2]
    if opener not in ("$$", r"\[") or state.is_code_block(start):
        return False
    found = _lines_of(state, start, end, CLOSERS[opener])
    if found is None:
        return False
    source, last, closed = found
    # In a line of its own it may be a word in brackets.
    if not source or (last == start and closed and not _is_formula(source)):
        return False
    if not silent:
        state.line = last + 1
        token = state.push(FORMULA, "div", 0)
        token.block, token.content, token.map, token.meta = True, source, [start, last + 1], {CLOSED: closed}
    return True


def _lines_of(state: StateBlock, start: int, end: int, closer: str) -> tuple[str, int, bool] | None:
    """The formula, the last of its lines, and whether it ends there; its end may be still to come."""
    source = ""
    for line in range(start, end):
        at = state.bMarks[line] + state.tShift[line] + (len(closer) if line == start else 0)
        text = state.src[at : state.eMarks[line]].rstrip()
        if (line > start and (not text or state.sCount[line] < state.blkIndent)) or len(source) > LONGEST:
            return None
        source = f"{source}\n{text}".strip()
        if closer in text:
            whole = text.find(closer) == len(text) - len(closer)
            return (source.removesuffix(closer).strip(), line, True) if whole else None
    return (source, end - 1, False) if state.env.get(STREAMING) and state.level == 0 else None


def _inline(state: StateInline, silent: bool) -> bool:
    opener = next((sign for sign in CLOSERS if state.src.startswith(sign, state.pos)), "")
    if not opener:
        return False
    closer, first = CLOSERS[opener], state.pos + len(opener)
    last = _end_of(state.src, closer, first, state.posMax)
    source = state.src[first : max(last, first)].strip()
    single = opener == "$"
    if not (_is_formula(source) or (single and NUMBER.fullmatch(source))):
        return False
    if single and not _alone(state.src, first, last):
        return False
    if not silent:
        token = state.push(FORMULA, "span", 0)
        token.content, token.block = source, opener in ("$$", r"\[")
    state.pos = last + len(closer)
    return True


def _end_of(text: str, closer: str, start: int, end: int) -> int:
    """Where it closes, or -1; a dollar behind a backslash does not."""
    limit = min(end, start + LONGEST)
    at = text.find(closer, start, limit)
    while at > start and closer[0] == "$" and text[at - 1] == "\\":
        at = text.find(closer, at + 1, limit)
    return at


def _alone(text: str, first: int, last: int) -> bool:
    """A single dollar is a price more often than not: there is no white space inside a formula, and no word at it."""
    before, after = text[max(first - 2, 0) : first - 1], text[last + 1 : last + 2]
    inside = not text[first].isspace() and not text[last - 1].isspace() and text[last - 1] not in "/-"
    return inside and not (before.isalnum() or before == "$") and not (after.isalnum() or after in ("$", "{"))


def draw(token: Token) -> str:
    if not token.block:
        wide = " wide" if len(token.content) > WIDE else ""
        return f'<span class="math{wide}">{mathml(token.content, False)}</span>'
    element = token.tag
    return f'<{element} class="math block">{mathml(token.content, True)}</{element}>'
