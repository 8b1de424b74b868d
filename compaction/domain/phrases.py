"""Phrases to listen for, written as alternatives of whole words."""

from __future__ import annotations

import re
from collections.abc import Iterator

# Scripts from here on have no spaces between words.
UNSPACED = 0x3000
Weighed = tuple[tuple[float, re.Pattern[str]], ...]


def words(*texts: str) -> re.Pattern[str]:
    """Any of the alternatives as whole words, where the script has words. A line break before "|" says nothing."""
    each = [one for text in texts for one in alternatives(re.sub(r"\s*\n\s*", "", text.strip()))]
    spaced = [one for one in each if ord(one[0]) <= UNSPACED]
    whole = [rf"(?<!\w)(?:{'|'.join(spaced)})(?!\w)"] if spaced else []
    return re.compile("|".join(whole + [one for one in each if ord(one[0]) > UNSPACED]))


def weighed(text: str) -> Weighed:
    """A weight at the beginning of a line, and the alternatives that have it together."""
    rows = re.split(r"^\s*(\d\.\d) ", text, flags=re.MULTILINE)[1:]
    return tuple((float(weight), words(row)) for weight, row in zip(rows[::2], rows[1::2], strict=True))


def alternatives(text: str) -> Iterator[str]:
    """Split at the bars that stand in no group."""
    depth, start = 0, 0
    for at, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if character == "|" and depth == 0:
            yield text[start:at]
            start = at + 1
    yield text[start:]


def total(table: Weighed, text: str, *, most: float = 7.0) -> float:
    """The weights of all rows that are heard, at most `most`."""
    return min(sum(weight for weight, pattern in table if pattern.search(text)), most)
