"""Commands of the operator's list as pages show them."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from efforts.models import Session
from workspaces.commands.listed import MORE, offered, takes_words
from workspaces.domain.states import CommandEnd, CommandState
from workspaces.models import CommandRun

# Lines of output below a reply, and while it is still coming; the page of a command shows all that is kept.
SHOWN = 40
LISTED = 20
LOOKS = {
    CommandState.PROPOSED: ("on", "wait"),
    CommandState.DECLINED: ("", "cross"),
    CommandState.RUNNING: ("on", "spin"),
}


@dataclass(frozen=True, kw_only=True)
class OfferedView:
    """A command that can be run: `line` as a person would type it."""

    name: str
    line: str
    takes_words: bool


@dataclass(frozen=True, kw_only=True)
class CommandView:
    """`css` and `icon` of its state; `hidden`: lines of its output above those that are shown."""

    command: CommandRun
    state: str
    css: str
    icon: str
    output: str
    hidden: int

    @property
    def is_running(self) -> bool:
        return self.command.state == CommandState.RUNNING

    @property
    def is_stopping(self) -> bool:
        return self.is_running and self.command.cancel_requested_at is not None


def offered_views() -> Sequence[OfferedView]:
    return [
        OfferedView(name=name, line=shlex.join(word for word in words if word != MORE), takes_words=takes_words(name))
        for name, words in offered().items()
    ]


def newest_views(session: Session) -> Sequence[CommandView]:
    return [command_view(row, whole=False) for row in session.commands.order_by("-pk")[:LISTED]]


def command_view(row: CommandRun, *, whole: bool) -> CommandView:
    lines = row.output.rstrip("\n").split("\n") if row.output else []
    shown = lines if whole and row.state == CommandState.ENDED else lines[-SHOWN:]
    css, icon = look_of(row)
    output = "\n".join(shown)
    return CommandView(
        command=row, state=row.outcome, css=css, icon=icon, output=output, hidden=len(lines) - len(shown)
    )


def look_of(row: CommandRun) -> tuple[str, str]:
    if row.state != CommandState.ENDED:
        return LOOKS[CommandState(row.state)]
    if row.end != CommandEnd.EXIT:
        return "warn", "stop"
    return ("bad", "alert") if row.exit_code else ("ok", "check")
