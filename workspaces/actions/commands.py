"""A command of the operator's list: a person runs it, or a model proposes it and a person allows it."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from efforts.domain.errors import Refused
from efforts.domain.text.redaction import redact
from efforts.llm.tokens import get_counter
from efforts.log import events
from efforts.models import Run, Session
from efforts.models.moves import locked
from workspaces.actions.writing import root_of
from workspaces.commands import running
from workspaces.commands.listed import argv_of
from workspaces.commands.process import Ended
from workspaces.domain.outputs import printed, tail
from workspaces.domain.states import COMMAND_MOVES, CommandEnd, CommandState
from workspaces.models import CommandRun, Workspace

if TYPE_CHECKING:
    from django.contrib.auth.models import User

MOST_OPEN = 20
LONGEST_WHY = 500
# Of the end of its output, what a model is told.
TOLD_LINES, TOLD_TOKENS = 30, 300
NOT_ATTACHED = "No code is attached to this conversation. Attach a folder first."
BUSY = "{name} is running in this folder. Wait for its end, or stop it."
FULL = "{most} commands are running on this server. Try again when one has ended."
TOO_MANY = f"{MOST_OPEN} commands wait for the user. Ask for a decision on them first."
OVER = "This command is {state} already."
NOT_RUNNING = "This command is not running any more."
ENDS = {
    CommandEnd.TIME: "it was ended after {seconds:,} seconds, the most that a command may take",
    CommandEnd.OUTPUT: "it was ended because it printed more than {output:,} bytes",
    CommandEnd.MEMORY: "it was ended because it needed more than {memory:,} MB of memory",
    CommandEnd.PROCESSES: "it was ended because it started more than {processes:,} processes and threads",
    CommandEnd.PERSON: "it was stopped",
    CommandEnd.SERVER: "it was ended because the server was ending",
    CommandEnd.UNSTARTED: "it could not be started: {why}",
    CommandEnd.LOST: "whoever ran it is gone, and how it ended is not known",
}


@transaction.atomic
def propose_command(run: Run, workspace: Workspace, *, name: str, words: str, why: str) -> CommandRun:
    """Nothing is run before a person allows it. Raises `Refused` with a sentence for the model."""
    session = Session.objects.select_for_update().get(pk=run.turn.session_id)
    if session.commands.filter(state=CommandState.PROPOSED).count() >= MOST_OPEN:
        raise Refused("commands", TOO_MANY)
    command = CommandRun.objects.create(
        session=session,
        branch=run.branch,
        turn=run.turn,
        run=run,
        workspace=workspace,
        name=name,
        argv=argv_of(name, words),
        why=why.strip()[:LONGEST_WHY],
    )
    tell(command, "workspace.command_proposed", None)
    return command


@transaction.atomic
def start_command(session: Session, name: str, words: str = "", *, actor: User) -> CommandRun:
    """By a person: it belongs to the newest turn. Raises `Refused`, with a sentence for the person."""
    argv = argv_of(name, words)
    attached = session.attachments.filter(detached_at=None).select_related("workspace").first()
    if attached is None:
        raise Refused("not_attached", NOT_ATTACHED)
    turn = session.turns.select_related("branch").order_by("-created_at").first()
    command = CommandRun(
        session=session,
        branch=turn.branch if turn else session.branches.get(parent=None),
        turn=turn,
        workspace=attached.workspace,
        name=name,
        argv=argv,
    )
    return begin(command, actor)


@transaction.atomic
def allow_command(command: CommandRun, *, actor: User) -> CommandRun:
    """What a model proposed is run, as it was proposed, while it is still on the list. Raises `Refused` where the list
    has changed since."""
    command = held(command, CommandState.RUNNING)
    still = argv_of(command.name, "")
    if command.argv[: len(still)] != still:
        raise Refused("command", "The list of commands has changed since this was proposed. Ask for it again.")
    # Refused where the list takes no more words than its own by now.
    argv_of(command.name, shlex.join(command.argv[len(still) :]))
    return begin(command, actor)


def begin(command: CommandRun, actor: User) -> CommandRun:
    folder = root_of(command.workspace)
    # Locked, so that two who press at once do not both start one. no_key: a conversation that is locked may propose one
    # meanwhile.
    Workspace.objects.select_for_update(no_key=True).get(pk=command.workspace_id)
    for one in CommandRun.objects.filter(state=CommandState.RUNNING):
        settle_lost(one)
    others = CommandRun.objects.filter(state=CommandState.RUNNING)
    if busy := others.filter(workspace=command.workspace_id).first():
        raise Refused("busy", BUSY.format(name=busy.name))
    if others.count() >= settings.CCM_COMMANDS_AT_ONCE:
        raise Refused("busy", FULL.format(most=settings.CCM_COMMANDS_AT_ONCE))
    command.state, command.runner = CommandState.RUNNING, running.new_key()
    command.started_at = command.alive_at = timezone.now()
    command.save()
    tell(command, "workspace.command_started", actor, argv=command.argv)
    running.start(command, folder, settle)
    return command


@transaction.atomic
def decline_command(command: CommandRun, *, actor: User) -> CommandRun:
    """What a model proposed is not run, and the model is told so with the next message."""
    command = held(command, CommandState.DECLINED)
    command.state, command.ended_at = CommandState.DECLINED, timezone.now()
    command.result = f"The user did not allow your command {told_argv(command)}. It was not run."
    command.save()
    tell(command, "workspace.command_declined", actor)
    return command


@transaction.atomic
def stop_command(command: CommandRun, *, actor: User) -> None:
    """Its end follows, as soon as whoever runs it has seen this. Raises `Refused` where it does not run."""
    # The conversation first, as where it ends.
    events.lock([command.session_id])
    mine = CommandRun.objects.filter(pk=command.pk, state=CommandState.RUNNING)
    if settle_lost(command) or not mine.update(cancel_requested_at=timezone.now()):
        raise Refused("not_running", NOT_RUNNING)
    tell(command, "workspace.command_stopped", actor)


@transaction.atomic
def settle(command: CommandRun, ended: Ended) -> None:
    """How it ended, once; of a conversation that is there."""
    # The conversation first, as everywhere: else two transactions could wait for each other.
    if not Session.objects.select_for_update().filter(pk=command.session_id).exists():
        return
    row = CommandRun.objects.filter(pk=command.pk, runner=command.runner, state=CommandState.RUNNING).first()
    if row is None:
        return
    row.state, row.end, row.exit_code, row.ended_at = CommandState.ENDED, ended.how, ended.code, timezone.now()
    if ended.output or not row.output:
        row.output, row.output_bytes = printed(ended.output), len(ended.output)
    row.problem = ending_of(row, ended.why)
    row.result, row.told_by = result_of(row), None
    row.save()
    took = round(row.seconds, 1)
    tell(row, "workspace.command_ended", None, end=str(ended.how), exit_code=ended.code, seconds=took)


def settle_lost(command: CommandRun) -> bool:
    """Where whoever ran it gives no sign of life, it has ended."""
    if not running.is_lost(command):
        return False
    settle(command, Ended(how=CommandEnd.LOST, code=None, output=b""))
    return True


def ending_of(command: CommandRun, why: str = "") -> str:
    """What people and models are told of its end where it did not end by itself."""
    limits = running.limits()
    values = {"seconds": limits.seconds, "output": limits.output, "memory": limits.memory >> 20}
    words = ENDS.get(CommandEnd(command.end), "")
    return words.format(**values, processes=limits.processes, why=why) if words else ""


def result_of(command: CommandRun) -> str:
    """What a model is told of it: how it ended, and the last lines of what it printed."""
    how = command.problem or f"exit status {command.exit_code}"
    by = "The user allowed your command" if command.run_id else "The user ran the command"
    end = tail(command.output, TOLD_LINES, TOLD_TOKENS, get_counter(settings.CCM_ENCODING).count)
    said = f" The end of its output:\n{redact(end).value}" if end else " It printed nothing."
    return f"{by} {told_argv(command)} ({command.seconds:.0f} s): {how}.{said}"


def told_argv(command: CommandRun) -> str:
    return f"{command.name}, `{command.line}`"


def held(command: CommandRun, move: CommandState) -> CommandRun:
    """Locked, as it is now."""
    command = locked(command, "workspace")
    if move not in COMMAND_MOVES[CommandState(command.state)]:
        raise Refused("decided", OVER.format(state=command.state))
    return command


def tell(command: CommandRun, kind: str, actor: User | None, **more: object) -> None:
    data = {"command": command.pk, "name": command.name, "run": str(command.run_id or ""), **more}
    events.append(command.session_id, kind, data, actor=actor)
