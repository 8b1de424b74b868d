"""What a person does with a turn, by socket or by POST alike: one function each, and what it answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from uuid import UUID

from efforts import actions
from efforts.domain.errors import Refused
from efforts.llm.recorded import RECORDED_MODEL
from efforts.log.timelines import branch_turns
from efforts.models import Branch, Run, Session, Turn

if TYPE_CHECKING:
    from django.contrib.auth.models import User

EXAMPLE_PLAYS = "The example is not finished yet. Press “Finish the example” first; after that you can write in it too."


def send(branch: Branch, user: User, *, text: str, client_id: str, files: Any = None, **how: bool) -> dict[str, Any]:
    """A message, or a command that was typed. `how`: `cut`, `aside`, `plain` and `checked` as `actions.take_typed` has
    them; `files`: ids of those in the composer that go with it, as they came from outside; without a word they are
    called by their names."""
    refuse_while_it_plays(branch.session)
    added = file_ids(files)
    text = text if text.strip() else actions.names_of(branch.session, added)
    typed = actions.take_typed(
        branch.session, text=text, client_id=client_id, actor=user, branch=branch, files=added, **how
    )
    return {"client_id": client_id, **typed.made}


def refuse_while_it_plays(session: Session) -> None:
    """Raises `Refused` for the example that is not finished: only its own messages have replies."""
    if session.is_example and session.model == RECORDED_MODEL:
        raise Refused("example", EXAMPLE_PLAYS)


def file_ids(files: Any) -> list[UUID]:
    """Raises `Refused` where they are no list of ids."""
    try:
        if not isinstance(files, list | None):
            raise ValueError
        return [UUID(one) for one in files or ()]
    except (ValueError, AttributeError, TypeError) as error:
        raise Refused("bad_files", "Files must be a list of their ids.") from error


def stop(branch: Branch, user: User, *, run_id: UUID) -> dict[str, Any]:
    """A run of any branch of the conversation."""
    run = Run.objects.select_related("turn").filter(pk=run_id, turn__session=branch.session_id).first()
    if run is None:
        raise Refused("no_such_run", "There is no such run here.")
    return described(run.turn, actions.stop_run(run, actor=user))


def cancel(branch: Branch, user: User, *, number: int) -> dict[str, Any]:
    """A message that still waits."""
    return {"turn": actions.cancel_turn(turn_numbered(branch, number), actor=user).number}


def retry(branch: Branch, user: User, *, number: int, changes: Any = None) -> dict[str, Any]:
    """`changes`: what `actions.retry_turn` takes, as it came from outside."""
    turn = turn_numbered(branch, number)
    if not isinstance(changes, Mapping | None):
        raise Refused("bad_changes", "Changes must be an object.")
    return described(turn, actions.retry_turn(turn, actor=user, changes=changes))


def go_on(branch: Branch, user: User, *, number: int) -> dict[str, Any]:
    """A reply that was cut off is continued."""
    turn = turn_numbered(branch, number)
    return described(turn, actions.continue_reply(turn, actor=user))


def turn_numbered(branch: Branch, number: int) -> Turn:
    turn = branch_turns(branch).select_related("run", "session__endpoint").filter(number=number).first()
    if turn is None:
        raise Refused("no_such_turn", f"There is no turn {number} here.")
    return turn


def described(turn: Turn, run: Run) -> dict[str, Any]:
    return {"turn": turn.number, "run": str(run.pk), "state": str(run.state)}
