"""The commands that the operator allows (`CCM_WORKSPACE_COMMANDS`), and what they become with words added."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping, Sequence
from typing import cast

from django.conf import settings

from efforts.domain.errors import Refused

# The last word of a command that takes more words.
MORE = "..."
MOST_WORDS, LONGEST_WORDS = 50, 2_000
NO_COMMANDS = "No command is allowed here: whoever runs this lists them in CCM_WORKSPACE_COMMANDS."
NO_LINUX = "Commands run on Linux only: elsewhere nothing holds together what a command starts."
UNKNOWN = "There is no command {name}. There are: {names}."
NO_WORDS = "{name} takes no more words."
UNREADABLE = "The words cannot be read: {why}. Quote them as in a shell; nothing in them is expanded."


def listed() -> Mapping[str, Sequence[str]]:
    return cast("Mapping[str, Sequence[str]]", settings.CCM_WORKSPACE_COMMANDS)


def offered() -> Mapping[str, Sequence[str]]:
    """Those that can be run here."""
    return listed() if sys.platform == "linux" else {}


def takes_words(name: str) -> bool:
    return listed()[name][-1] == MORE


def argv_of(name: str, words: str) -> list[str]:
    """Never a shell's: what has a meaning to a shell is a letter like any other. Raises `Refused`."""
    if not listed():
        raise Refused("command", NO_COMMANDS)
    if not offered():
        raise Refused("command", NO_LINUX)
    if name not in listed():
        raise Refused("command", UNKNOWN.format(name=name[:60], names=", ".join(listed())))
    argv = [word for word in listed()[name] if word != MORE]
    added = split(words)
    if added and not takes_words(name):
        raise Refused("words", NO_WORDS.format(name=name))
    return [*argv, *added]


def split(words: str) -> list[str]:
    try:
        found = shlex.split(words)
    except ValueError as error:
        raise Refused("words", UNREADABLE.format(why=str(error).rstrip(".").lower())) from error
    if "\x00" in words or len(words) > LONGEST_WORDS or len(found) > MOST_WORDS:
        raise Refused("words", f"That is too much: {MOST_WORDS} words at most, {LONGEST_WORDS:,} characters.")
    return found
