"""Conversations and their turns: what a person can do to them."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.conf import settings
from django.db import DatabaseError, connection, transaction
from django.db.models import QuerySet
from django.utils import timezone

from efforts.context.connections import ModelOption, defaults_for, switchable
from efforts.context.planning import counted_tokens, main_branch
from efforts.domain.effort.policy import WORK_SESSION_HOURS, ContextMode
from efforts.domain.effort.states import RETRYABLE, ReviewMode, RunState, is_cut_off
from efforts.domain.errors import Refused
from efforts.domain.prompt.budget import SMALLEST_BUDGET
from efforts.domain.prompt.conversation import MESSAGE_OVERHEAD, OF_PERSON
from efforts.domain.seals import said_sha256
from efforts.log import events, labels
from efforts.log.timelines import said_in
from efforts.models import Branch, Message, MessageFile, Run, Session, Turn, TurnLabel
from efforts.models.prepared import first, prepared
from efforts.retrieval.index import add_message, count_tokens, forget_deleted, read_ahead
from efforts.retrieval.vectors import forget as forget_vectors

from .efforts import new_work_session
from .files import storing
from .files.composer import add_to_turn, read_files_ahead, to_send
from .names import LONGEST_NAME, checked_line, entitle, title_from
from .places import here
from .pointers import restore_latest, source_changes, words_change
from .shares import check_share

if TYPE_CHECKING:
    from django.contrib.auth.models import User

log = logging.getLogger("ccm.conversations")

LARGEST_MESSAGE = 4 * 1024 * 1024
LARGEST_BUDGET = 2_000_000
LARGEST_WINDOW = 200
LONGEST_FOLDER = 60
# Tokens; with less nothing is answered, and no model writes more.
SMALLEST_REPLY = 16
LARGEST_REPLY = 1_000_000
HOTTEST = 2
# Of each its name in a sentence, the least and the most.
RANGES = {
    "budget": ("The budget", SMALLEST_BUDGET, LARGEST_BUDGET),
    "ambient_window": ("The window", 0, LARGEST_WINDOW),
    "decay_threshold": ("The turns until an expanded effort collapses", 1, LARGEST_WINDOW),
    "eviction_threshold": ("The turns until a summary drops out", 1, LARGEST_WINDOW),
    "reply_limit": ("The reply limit", SMALLEST_REPLY, LARGEST_REPLY),
}
SETTINGS = (
    *RANGES,
    "endpoint",
    "model",
    "quiet_notices",
    "prefer_cache",
    "context_mode",
    "by_meaning",
    "review_mode",
    "temperature",
)
# Of the settings of a run, what is another where another model answers, or its limit is another.
OF_NOW = ("kind", "endpoint", "label", "model", "window", "pictures", "price", "correction", "reply", "reply_limit")
CLIENT_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")


def create_session(owner: User, *, title: str = "") -> Session:
    """A conversation with its main branch, on the model that the owner used last."""
    endpoint, model = defaults_for(owner)
    title, by_hand = checked_line(title, "title", LONGEST_NAME), bool(title)
    with transaction.atomic():
        session = Session.objects.create(
            owner=owner, title=title, titled_by_hand=by_hand, endpoint=endpoint, model=model
        )
        Branch.objects.create(session=session)
        events.append(session.pk, "session.created", actor=owner)
    return session


def send_message(
    session: Session,
    *,
    text: str,
    client_id: str,
    actor: User,
    branch: Branch | None = None,
    cut: bool = False,
    aside: bool = False,
    files: Sequence[UUID] = (),
) -> Turn:
    """Save the message and let a run wait for it. Sent twice with one `client_id`, it is one turn.

    `branch`: the main one where none is given. `cut`: its beginning and end are sent, where the whole does not fit; it
    is stored whole. `aside`: it belongs to no effort, whichever is active. `files`: those in the composer that go with
    it. After hours of silence a new work session begins.
    """
    check_message(text, client_id)
    read_files_ahead(session, files)
    branch_id = (branch or main_branch(session)).pk
    collapse_when_idle(session, actor)
    chosen = {"cut_current": cut, "aside": aside}
    return put_message(
        session,
        branch_id,
        text=text,
        client_id=client_id,
        actor=actor,
        chosen=chosen,
        files=partial(to_send, session, files),
    )


def check_message(text: str, client_id: str) -> None:
    """Raises `Refused` where the text is empty or too long, or the id of the browser is none. What is in order is read,
    so that the transaction that stores it need not."""
    check_text(text)
    check_client_id(client_id)
    read_ahead(text)


def check_client_id(client_id: str) -> None:
    """Raises `Refused` where it is no id that a page makes."""
    if not CLIENT_ID.fullmatch(client_id):
        raise Refused("bad_client_id", "The message came without a usable id. Reload the page and send it again.")


def sent_before(session: Session, client_id: str) -> Turn | None:
    """The turn of the same message, where the browser has sent it already."""
    return first(turns_sent(session.pk, client_id))


@prepared
def turns_sent(session: UUID, client_id: str) -> QuerySet[Turn]:
    # At most one, in no order.
    return Turn.objects.filter(session=session, client_id=client_id).order_by()


@prepared
def locked_branch(branch: UUID) -> QuerySet[Branch]:
    return Branch.objects.select_for_update().filter(pk=branch)


@prepared
def last_activity(session: UUID) -> QuerySet[Session, datetime]:
    return Session.objects.filter(pk=session).values_list("last_activity_at", flat=True)


def put_message(
    session: Session,
    branch_id: UUID,
    *,
    text: str,
    client_id: str,
    actor: User,
    chosen: Mapping[str, bool | str],
    files: Callable[[], Sequence[MessageFile]] = tuple,
) -> Turn:
    """The turn of the message, waiting for a run; the same turn where it was sent before. `files`: reads those that go
    with it, where it was not."""
    with transaction.atomic():
        # Always the branch before the session, as when a run ends, or two would wait for each other for ever.
        [branch] = locked_branch(branch_id)
        # Under the lock: the same message by socket and by POST at once is still one turn.
        if sent := sent_before(session, client_id):
            return sent
        tokens = count_tokens(text)
        turn = Turn(session=session, branch=branch, number=branch.head + 1, client_id=client_id)
        turn.tokens = tokens + MESSAGE_OVERHEAD
        run = queue_run(turn, attempt=1, chosen=chosen)
        Branch.objects.filter(pk=branch.pk).update(head=turn.number)
        # Whoever writes in a branch that was put away has come back to it.
        if branch.archived_at:
            bring_back(branch, actor)
        add_message(session_id=session.pk, turn=turn, role=Message.Role.USER, text=text, tokens=tokens)
        if added := files():
            turn.tokens += add_to_turn(turn, added)
            turn.save(update_fields=["tokens"])
        if not session.title and (title := title_from(text)):
            entitle(session, title)
        data = {**about(turn), "client_id": client_id, "run": str(run.pk), "state": str(run.state)}
        data |= {"files": [str(row.pk) for row in added]} if added else {}
        events.append(session.pk, "turn.sent", data, actor=actor, last_activity_at=timezone.now())
    return turn


def bring_back(branch: Branch, actor: User) -> Branch:
    """The branch, archived no longer. To be called in a transaction."""
    Branch.objects.filter(pk=branch.pk).update(archived_at=None)
    events.append(branch.session_id, "branch.unarchived", {"branch": str(branch.pk)}, actor=actor)
    return branch


def about(turn: Turn) -> dict[str, Any]:
    """What every event of a turn carries."""
    return {"turn": turn.number, "branch": str(turn.branch_id)}


def collapse_when_idle(session: Session, actor: User) -> None:
    """Expansions end in every branch where nobody has written for `WORK_SESSION_HOURS`; not what a person who has come
    back has expanded for this very message."""
    [last] = last_activity(session.pk)
    since = timezone.now() - timedelta(hours=WORK_SESSION_HOURS)
    if last > since:
        return
    for branch in session.branches.order_by("pk"):
        new_work_session(here(session, actor=actor, branch=branch), "idle", since=since)


def check_text(text: str) -> None:
    """Raises `Refused` where a message is empty, too large (in bytes), or no text that every database takes."""
    if not text.strip():
        raise Refused("empty", "The message is empty.")
    # Only PostgreSQL would refuse it; refused at once, whatever the database.
    if "\x00" in text:
        at = text.index("\x00") + 1
        raise Refused(
            "nul", f"Character {at:,} of the message is a NUL, which cannot be stored. Remove it and send again."
        )
    try:
        size = len(text.encode())
    except UnicodeEncodeError as error:
        raise Refused(
            "not_text", f"Character {error.start + 1:,} of the message is half of a character. Remove it."
        ) from error
    if size > LARGEST_MESSAGE:
        raise Refused(
            "too_large", f"The message has {size:,} bytes; {LARGEST_MESSAGE:,} is the most. Send it in parts."
        )


def queue_run(turn: Turn, *, attempt: int, chosen: Mapping[str, bool | str]) -> Run:
    """The turn is saved with it. `chosen`: what holds for this run alone; `answer`: the model, by its value among those
    to switch to."""
    asked = {name: value for name, value in chosen.items() if value}
    run = Run(turn=turn, branch_id=turn.branch_id, attempt=attempt, settings=asked)
    turn.run = run
    # Each names the other: the database asks for both when the transaction ends.
    turn.save()
    run.save(force_insert=True)
    transaction.on_commit(events.wake_runners)
    return run


def stop_run(run: Run, *, actor: User) -> Run:
    """A row first, a doorbell second: a waiting run is cancelled, a running one asked to stop."""
    # A runner may claim it in this moment; then nothing is cancelled, and it is stopped like any running one.
    if run.state == RunState.QUEUED and cancel_queued(run, actor):
        run.refresh_from_db()
        return run
    with transaction.atomic():
        # Asked again it is no second event: only the first request finds the row.
        running = Run.objects.filter(pk=run.pk, state=RunState.RUNNING, stop_requested_at=None)
        if running.update(stop_requested_at=timezone.now()):
            data = {**about(run.turn), "run": str(run.pk)}
            events.append(run.turn.session_id, "run.stopping", data, actor=actor)
            transaction.on_commit(events.wake_runners)
    run.refresh_from_db()
    return run


def cancel_turn(turn: Turn, *, actor: User) -> Turn:
    """The turn, which is never answered; a reply that was to go on stays as it is. Raises `Refused` where it is not
    waiting any more."""
    if turn.run is None or not cancel_queued(turn.run, actor):
        raise Refused("not_waiting", "This message is no longer waiting. Stop the turn instead.")
    turn.refresh_from_db()
    return turn


def cancel_queued(run: Run, actor: User) -> bool:
    with transaction.atomic():
        waiting = Run.objects.filter(pk=run.pk, state=RunState.QUEUED)
        # A reply that was to go on is there already, and stays as it was cut off.
        is_said = waiting.filter(settings__continued=True).exists()
        state = RunState.COMPLETED if is_said else RunState.CANCELLED
        # One update that must change a row: a runner's claim is another, and only one of them can.
        if not waiting.update(state=state, ended_at=timezone.now()):
            return False
        branch = Branch.objects.select_for_update().get(pk=run.branch_id)
        if is_said:
            told = {"run": str(run.pk), "state": str(state), "code": "", "said": said_sha256(said_in(run))}
            belongs = labels.fields(labels.label_of(branch, run.turn))
            events.append(run.turn.session_id, "run.ended", {**about(run.turn), **told, **belongs}, actor=actor)
        else:
            step_back(run)
            labels.settle(branch, run.turn)
            events.append(run.turn.session_id, "turn.cancelled", about(run.turn), actor=actor)
        # It says what it said before: a summary that was made of that stands again.
        for label in TurnLabel.objects.filter(branch=branch, turn=run.turn).select_related("effort"):
            restore_latest(branch, label.effort)
        transaction.on_commit(events.wake_runners)  # a message may be waiting behind it
    return True


def step_back(run: Run) -> None:
    """A cancelled retry leaves the turn as it was; a cancelled message is in no prompt and adds nothing to the past."""
    turn = Turn.objects.filter(pk=run.turn_id)
    earlier = Run.objects.filter(turn=run.turn_id, attempt__lt=run.attempt).exclude(state=RunState.CANCELLED)
    if before := earlier.order_by("-attempt").first():
        turn.update(run=before, tokens=counted_tokens(before))
    else:
        turn.update(tokens=0)


def retry_turn(turn: Turn, *, actor: User, changes: Mapping[str, Any] | None = None) -> Run:
    """A new run of the last turn. `changes`: {"budget": tokens} and {"reply_limit": tokens} for the session,
    {"cut_current": true} for the run. Raises `Refused` where it is not the last turn, a fork shares it, or it did not
    stop or fail."""
    changes = changes or {}
    check_share(actor)
    with transaction.atomic():
        branch, turn = locked(turn)
        # Later replies were given without what a new attempt would say.
        check_last(branch, turn, "Only the last turn can be tried again.")
        if turn.run is None or turn.run.state not in RETRYABLE:
            raise Refused("not_retryable", "This turn has not stopped or failed, so there is nothing to try again.")
        if new := {name: changes[name] for name in ("budget", "reply_limit") if name in changes}:
            configure_session(turn.session, actor=actor, **new)
        # The old attempt no longer counts, and the new one has said nothing yet.
        asked = turn.messages.filter(role__in=OF_PERSON).values_list("tokens", flat=True)
        turn.tokens = sum(tokens + MESSAGE_OVERHEAD for tokens in asked)
        chosen = asked_again(turn.run)
        chosen["cut_current"] |= bool(changes.get("cut_current"))
        run = queue_run(turn, attempt=turn.runs.count() + 1, chosen=chosen)
        source_changes(branch, turn)
        words_change(branch, turn, actor)
        labels.settle(branch, turn)
        data = {**about(turn), "run": str(run.pk), "attempt": run.attempt}
        events.append(turn.session_id, "run.queued", data, actor=actor)
    return run


def asked_again(run: Run) -> dict[str, Any]:
    """What a run was asked for alone, for another one of the same message."""
    kept = {"aside": run.is_aside, "note": run.is_note, "answer": run.settings.get("answer", "")}
    return {**kept, "cut_current": bool(run.settings.get("cut_current"))}


def continue_reply(turn: Turn, *, actor: User) -> Run:
    """The run of the last turn, whose reply was cut off and goes on. Raises `Refused` where it was not, or cannot."""
    check_share(actor)
    with transaction.atomic():
        branch, turn = locked(turn)
        run = turn.run
        if run is None or not is_cut_off(run.state, run.finish_reason):
            raise Refused("not_cut_off", "This reply was not cut off, so there is nothing to go on with.")
        # Later replies were given to what it says now.
        check_last(branch, turn, "Only the last reply can go on. Ask for the rest in a message.")
        # By the model that answers now, with the limit as it is now; all else stays as the reply began.
        kept = {name: value for name, value in run.settings.items() if name not in OF_NOW}
        run.settings, run.state = {**kept, "continued": True}, RunState.QUEUED
        run.error_code, run.error_text, run.stop_requested_at, run.ended_at = "", "", None, None
        run.save(update_fields=["settings", "state", "error_code", "error_text", "stop_requested_at", "ended_at"])
        source_changes(branch, turn)
        words_change(branch, turn, actor)
        data = {**about(turn), "run": str(run.pk), "attempt": run.attempt, "continued": True}
        events.append(turn.session_id, "run.queued", data, actor=actor)
        transaction.on_commit(events.wake_runners)
    return run


def locked(turn: Turn) -> tuple[Branch, Turn]:
    """Read again under the lock: since the caller's look it may have been tried again."""
    branch = Branch.objects.select_for_update().get(pk=turn.branch_id)
    return branch, Turn.objects.select_related("run", "session").get(pk=turn.pk)


def check_last(branch: Branch, turn: Turn, refusal: str) -> None:
    """Raises `Refused` where another turn follows it, in this branch or in a fork."""
    if turn.number != branch.head:
        raise Refused("not_last", refusal)
    if child := branch.children.filter(fork_turn__gte=turn.number).first():
        raise Refused(
            "shared",
            f"The branch “{child.name}” goes on from this turn, so it stays as it is. “Ask again” below it asks in "
            "a branch of its own.",
        )


def set_model(session: Session, value: str, *, actor: User) -> None:
    """The conversation is answered by this model from its next message on. `value`: among `connections.switchable`."""
    option = option_of(session, value)
    configure_session(session, actor=actor, endpoint=option.endpoint, model=option.model)


def option_of(session: Session, value: str) -> ModelOption:
    """What the person chose among the models that are theirs. Raises `Refused` where it is not among them any more."""
    option = next((one for one in switchable(session) if one.value == value), None)
    if option is None:
        raise Refused("unknown_model", "This model is not among yours any more. Reload the page.")
    return option


def configure_session(session: Session, *, actor: User, **changes: Any) -> Session:
    """The `changes` among `SETTINGS` are written, with one event that tells them all. Raises `Refused` where one is out
    of its range.

    `reply_limit` is in tokens; of it and `temperature` None is what the connection says, or the model.
    """
    assert changes.keys() <= set(SETTINGS)
    check_settings(session, changes)
    told = {name: changes.get(name, getattr(session, name)) for name in SETTINGS}
    told["endpoint"] = told["endpoint"] and told["endpoint"].pk
    return change(session, "session.configured", told, actor, **changes)


def change(session: Session, kind: str, told: Mapping[str, Any], actor: User, **columns: Any) -> Session:
    """With the event that tells of it."""
    for name, value in columns.items():
        setattr(session, name, value)
    events.append(session.pk, kind, told, actor=actor, **columns)
    return session


def check_settings(session: Session, changes: Mapping[str, Any]) -> None:
    for setting, (name, least, most) in RANGES.items():
        value = changes.get(setting, least)
        if setting == "reply_limit" and value is None:
            continue
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            raise Refused(setting, f"{name} must be a number from {least:,} to {most:,}.")
    temperature = changes.get("temperature")
    if temperature is not None and not 0 <= temperature <= HOTTEST:
        raise Refused("temperature", f"The temperature must be a number from 0 to {HOTTEST}.")
    if changes.get("context_mode", ContextMode.LIGHT) not in list(ContextMode):
        raise Refused("context_mode", "The context mode is Off, Light or Heavy.")
    if changes.get("review_mode", ReviewMode.AUTOMATIC) not in list(ReviewMode):
        raise Refused("review_mode", "Summaries stand by themselves, are always asked about, or are never drafted.")
    # A form offers only one's own models, but not every caller is a form.
    endpoint = changes.get("endpoint")
    if endpoint and endpoint.owner_id != session.owner_id:
        raise Refused("not_yours", "There is no such model among yours.")


def rename_session(session: Session, *, title: str, actor: User) -> Session:
    """Raises `Refused` where the title is empty or too long."""
    title = checked_line(title, "title", LONGEST_NAME, empty="The title is empty.")
    return change(session, "session.renamed", {"title": title}, actor, title=title, titled_by_hand=True)


def put_in_folder(session: Session, *, folder: str, actor: User) -> Session:
    """Into that folder; with an empty name into none. Raises `Refused` where the name is too long."""
    folder = checked_line(folder, "folder", LONGEST_FOLDER)
    return change(session, "session.filed", {"folder": folder}, actor, folder=folder)


def set_favourite(session: Session, *, on: bool, actor: User) -> Session:
    """Listed above all others, or not."""
    return change(session, "session.favourite", {"on": on}, actor, is_favourite=on)


def see_session(session: Session) -> None:
    """Its owner has it in sight: what was answered until now is not new to them. Where nothing is, nothing is
    written: a page that is only read does not wait for what others store."""
    if session.is_unread:
        Session.objects.filter(pk=session.pk).update(seen_at=timezone.now())


def archive_session(session: Session, *, actor: User) -> Session:
    """The conversation, out of the list; nothing of it is deleted."""
    return change(session, "session.archived", {}, actor, archived_at=timezone.now())


def unarchive_session(session: Session, *, actor: User) -> Session:
    """The conversation, back in the list."""
    return change(session, "session.unarchived", {}, actor, archived_at=None)


def delete_session(session: Session, *, actor: User) -> Session:
    """Out of sight at once, and erased after `CCM_UNDO_SECONDS`, until when it can be brought back."""
    ends = timezone.now() + timedelta(seconds=settings.CCM_UNDO_SECONDS)
    with transaction.atomic():
        change(session, "session.deleting", {}, actor, erase_at=ends)
        transaction.on_commit(lambda: events.hang_up(session.pk))
    return session


def undelete_session(session: Session, *, actor: User) -> Session:
    """As it was. Raises `Refused` where its time is over: whoever erases it may be at work already."""
    with transaction.atomic():
        if not Session.objects.filter(pk=session.pk, erase_at__gt=timezone.now()).update(erase_at=None):
            raise Refused("overtaken", "It has been erased already.")
        session.erase_at = None
        events.append(session.pk, "session.undeleted", actor=actor)
    return session


def erase_deleted() -> int:
    """Erase the conversations whose time to be brought back is over; how many they were."""
    due = list(Session.objects.filter(erase_at__lte=timezone.now()).select_related("owner"))
    return sum(erase_if_possible(session) for session in due)


def erase_if_possible(session: Session) -> bool:
    """One that cannot be erased now keeps no other from it; it is tried again."""
    try:
        return erase_session(session, actor=session.owner)
    except DatabaseError:
        log.exception("A deleted conversation could not be erased yet.")
        return False


def erase_session(session: Session, *, actor: User) -> bool:
    """The only erasure there is: rows, plans, fragments and events go, and the database keeps no copy of them. Whether
    it was there still: of two workers that come to erase it one does."""
    # delete() takes the id out of the instance.
    session_id, owner = session.pk, session.owner
    with transaction.atomic():
        lock_whole(session)
        Turn.objects.filter(session=session).update(run=None)
        deleted, _ = session.delete()
        if not deleted:
            return False
        events.account(owner, "session.deleted", actor=actor)
        transaction.on_commit(lambda: events.hang_up(session_id))
        transaction.on_commit(events.wake_runners)  # what was running there stops
        transaction.on_commit(lambda: storing.forget_all(session_id))
    forget_vectors(session_id)
    forget_deleted()
    # SQLite overwrites what is deleted (secure_delete); its write-ahead log must not keep the old pages either. In a
    # transaction, as in most tests, a checkpoint is refused.
    if connection.vendor == "sqlite" and not connection.in_atomic_block:
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return True


def lock_whole(session: Session) -> None:
    """In the order in which runners lock, or two would wait for each other."""
    for rows in (
        Run.objects.filter(turn__session=session).select_for_update(of=("self",)),
        Branch.objects.filter(session=session).select_for_update(),
        Session.objects.filter(pk=session.pk).select_for_update(),
    ):
        list(rows.order_by("pk").values_list("pk"))
