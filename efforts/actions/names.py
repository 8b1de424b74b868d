"""What people and models may call things."""

from __future__ import annotations

import re
from unicodedata import category

from django.utils.text import slugify

from efforts.domain.effort.chosen import SEED, span_of
from efforts.domain.errors import Refused
from efforts.domain.text.terms import STOPWORDS, TOKEN, folded
from efforts.log import events
from efforts.models import Session

LONGEST_NAME = 200
LONGEST_SLUG = 80
TITLE_LENGTH = 60
# Characters in which a title is looked for.
LOOKED_THROUGH = 4_000
# What people begin with before they say what it is about; of each language that greets in one word.
GREETINGS = frozenset(
    {"hey", "hi", "hello", "hallo", "hola", "bonjour", "good", "morning", "evening", "afternoon", "day", "going"}
)
NO_NAME = "The name is empty. Give the effort a short name, such as: payment webhook."
# A title that ends before so many characters says too little.
SHORTEST_TITLE = 15
SENTENCE, CLAUSE = re.compile(r"[.!?](?=\s)|[。！？]"), re.compile(r"[,;:–—](?=\s)|[，；：]")
MARKDOWN = re.compile(r"^[\s#>+_-]+|[*`]+")


def is_control(character: str) -> bool:
    """Whether no title may have the character."""
    # Not Cf: joiners of emoji and marks of right-to-left text belong to titles.
    return category(character) in ("Cc", "Cs")


def checked_line(text: str, what: str, longest: int, *, empty: str = "") -> str:
    """In one line. Raises `Refused` where it is longer than `longest` characters, or cannot be shown; and where it is
    empty, if something is to be said of that."""
    line = " ".join(text.split())
    if len(line) > longest:
        raise Refused("too_long", f"The {what} has {len(line):,} characters; {longest:,} is the most. Shorten it.")
    if any(is_control(c) for c in line):
        raise Refused("not_text", f"The {what} has characters that cannot be shown. Give it without them.")
    if empty and not line:
        raise Refused("empty", empty)
    return line


def title_from(text: str) -> str:
    """The first line that says something; a long one ends with a sentence, else with a clause, else is cut at a word.
    Empty where none says anything, as where somebody only greets."""
    lines = (MARKDOWN.sub("", line) for line in text[:LOOKED_THROUGH].splitlines())
    line = next((line for line in lines if says_something(line)), "")
    line = " ".join("".join(" " if is_control(c) else c for c in line).split())
    if len(line) <= TITLE_LENGTH:
        return line
    head = line[:TITLE_LENGTH]
    for end in (SENTENCE, CLAUSE):
        if whole := [found for found in end.finditer(head) if found.start() >= SHORTEST_TITLE]:
            return head[: whole[-1].end()].rstrip(".,;:–— ")
    return head.rsplit(" ", 1)[0] + "…"


def says_something(line: str) -> bool:
    telling = {folded(word) for word in TOKEN.findall(line)} - STOPWORDS - GREETINGS
    return any(word[0].isalnum() and (len(word) > 1 or not word.isascii()) for word in telling)


def entitle(session: Session, title: str) -> None:
    """A title from what was said; never in place of one that a person gave. To be called in a transaction."""
    if Session.objects.filter(pk=session.pk, titled_by_hand=False).exclude(title=title).update(title=title):
        session.title = title
        events.append(session.pk, "session.renamed", {"title": title})


def checked_name(name: str) -> str:
    """The name of an effort in one line; of any script, but with something to make an id of. Raises `Refused` where it
    has none."""
    name = checked_line(name, "name", LONGEST_NAME, empty=NO_NAME)
    if not slug_of(name):
        raise Refused("no_letters", "The name has no letter or digit to make an id of. Name the effort in words.")
    return name


def slug_of(name: str) -> str:
    """The id that a name gives; empty where it has no letter or digit."""
    slug = slugify(name, allow_unicode=True)[:LONGEST_SLUG].strip("-_")
    # Of what stands for turns that is the id.
    slug = f"effort-{slug}" if slug == SEED or span_of(slug) else slug
    return slug if any(c.isalnum() for c in slug) else ""


def numbered(slug: str, number: int) -> str:
    """The slug with the number at its end, no longer than one may be."""
    return f"{slug[: LONGEST_SLUG - len(str(number)) - 1]}-{number}"
