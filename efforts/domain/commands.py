"""What a person can type instead of pressing a control: the table of commands, and how a text is read by it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import get_close_matches

# So much of a word must be that of a command for it to be a slip of the finger.
ALIKE = 0.75
# A beginning of a command's name says what was meant from so many letters on.
BEGUN = 3
WORD = re.compile(r"/([^\W\d_]+)(?:\s+(.*))?", re.DOTALL)
TURNS = re.compile(r"(?:turns?\s+)?(\d{1,9})(?:\s*(?:-|–|to)\s*(\d{1,9}))?", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Command:
    """`argument` is what follows the name, in brackets where it may be left out; `help` one sentence. `completes`: the
    ids of efforts that stand so are offered after the name."""

    name: str
    argument: str
    help: str
    example: str
    completes: tuple[str, ...] = ()
    also: str = ""

    @property
    def needs_argument(self) -> bool:
        return not self.argument.startswith("[")


COMMANDS = (
    Command(
        name="effort",
        argument="NAME",
        help="Opens an effort, or goes on with the open one of that name.",
        example="/effort payment webhook",
    ),
    Command(
        name="done",
        argument="[ID]",
        help="Concludes an effort: the active one, or the one you name.",
        example="/done payment-webhook",
        completes=("active", "open"),
    ),
    Command(
        name="switch",
        argument="ID",
        help="Sends the next messages to another open effort.",
        example="/switch payment-webhook",
        completes=("open",),
    ),
    Command(
        name="expand",
        argument="ID",
        help="Shows the model the log of a concluded effort instead of its summary.",
        example="/expand payment-webhook",
        completes=("concluded",),
    ),
    Command(
        name="collapse",
        argument="ID",
        help="Goes back from an expanded log to its summary.",
        example="/collapse payment-webhook",
        completes=("expanded",),
    ),
    Command(
        name="focus",
        argument="[ID or off]",
        help="Looks for earlier passages in one effort first; without an id, or with “off”, no longer.",
        example="/focus payment-webhook",
        completes=("active", "open", "expanded", "awaiting", "concluded"),
    ),
    Command(
        name="aside",
        argument="TEXT",
        help="Sends this message alone outside all efforts; the active effort stays active.",
        example="/aside What time is it in Lisbon?",
    ),
    Command(
        name="pin",
        argument="[TURN or ID]",
        help="Keeps a turn in the prompt, or a concluded effort: the last answered turn if you name none.",
        example="/pin 12",
    ),
    Command(
        name="rule",
        argument="TEXT",
        help="Sets a rule that stands in every prompt.",
        example="/rule Never touch the production database.",
    ),
    Command(
        name="todo",
        argument="TEXT",
        help="Writes down a to-do.",
        example="/todo Ask Dana for the signing key.",
    ),
    Command(
        name="decided",
        argument="TEXT",
        help="Writes down a decision.",
        example="/decided We stay on PostgreSQL 16.",
    ),
    Command(
        name="search",
        argument="WORDS",
        help="Opens the search with these words.",
        example="/search signing key",
    ),
    Command(
        name="summarise",
        argument="TURNS",
        help="Drafts a summary of these turns.",
        example="/summarise 3-9",
        also="summarize",
    ),
)
# What the controls call it, and other programs.
OTHER_WORDS = {
    "open": "effort",
    "new": "effort",
    "conclude": "done",
    "close": "done",
    "remember": "rule",
    "find": "search",
}
BY_NAME = {name: command for command in COMMANDS for name in (command.name, command.also) if name}


@dataclass(frozen=True, kw_only=True)
class Said:
    """A message to be sent, to the byte."""

    text: str


@dataclass(frozen=True, kw_only=True)
class Given:
    """A command with what follows its name."""

    command: Command
    argument: str


@dataclass(frozen=True, kw_only=True)
class Doubtful:
    """Perhaps a command that was meant, so the person is asked."""

    typed: str
    meant: Command


def read_typed(text: str) -> Said | Given | Doubtful:
    """Only a known name right at the beginning makes a command; a second slash makes it a message with one."""
    if text.startswith("//"):
        return Said(text=text[1:])
    found = WORD.fullmatch(text)
    if not found:
        return Said(text=text)
    typed, argument = found[1].lower(), found[2] or ""
    if typed in BY_NAME:
        return Given(command=BY_NAME[typed], argument=argument)
    meant = nearly(typed)
    return Doubtful(typed=found[1], meant=meant) if meant else Said(text=text)


def nearly(typed: str) -> Command | None:
    if typed in OTHER_WORDS:
        return BY_NAME[OTHER_WORDS[typed]]
    begun = [name for name in BY_NAME if len(typed) >= BEGUN and name.startswith(typed)]
    close = begun or get_close_matches(typed, BY_NAME, n=1, cutoff=ALIKE)
    return BY_NAME[close[0]] if close else None


def read_turns(argument: str) -> tuple[int, int] | None:
    """The first and the last of "3-9", "3 to 9" or "3"; None where these are no turns."""
    found = TURNS.fullmatch(argument)
    return (int(found[1]), int(found[2] or found[1])) if found else None


def to_be_sent(text: str) -> str:
    """What of a text that is being written a prompt would have: of a command nothing, but of an aside its words."""
    typed = read_typed(text)
    if isinstance(typed, Given):
        return typed.argument if typed.command.name == "aside" else ""
    return typed.text if isinstance(typed, Said) else text
