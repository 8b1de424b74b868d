"""Branches: a conversation goes on from any turn in a timeline of its own; what was there before stays as it is."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid4

from django.db import models, transaction
from django.utils import timezone

from efforts.context.courses import course_at
from efforts.context.sources import read_scope_log, read_summary_log
from efforts.domain.effort.reducer import Course
from efforts.domain.effort.states import UNFINISHED, EffortStatus, PointerState, RunState, SummaryState
from efforts.domain.errors import Refused
from efforts.log import events, labels
from efforts.log.timelines import branch_turns, seal_at
from efforts.models import Branch, ContextPointer, Effort, EffortState, Message, PointerTurn, Run, Turn, TurnLabel
from efforts.standins.logs import SourceLog

from .conversations import (
    asked_again,
    bring_back,
    check_message,
    collapse_when_idle,
    option_of,
    put_message,
    sent_before,
)
from .exclusions import copy_exclusions
from .files.composer import copies_of
from .holds import copy_holds
from .names import checked_line
from .pointers import active_over, bounds_of, copy_pointer, is_covered, stands_by, summary_due
from .shares import check_share

if TYPE_CHECKING:
    from django.contrib.auth.models import User

LONGEST_NAME = 100
# An effort, or chosen turns, are in a new branch again what they were before something came of them in the other.
AS_BEFORE = "branch.as_before"
REPLACED = {SummaryState.STANDS: "summary", SummaryState.DIGEST: "excerpts"}
# In the order in which they are taken over.
MAY_STAND_AGAIN = (PointerState.ACTIVE, PointerState.SUPERSEDED, PointerState.INVALIDATED)


def fork(branch: Branch, *, after: int, actor: User, name: str = "") -> Branch:
    """A new branch that shares the turns up to `after`, 0 for none, with everything as it stood then."""
    # Read before others have to wait: a long log takes its time.
    before = course_at(Branch.objects.get(pk=branch.owner_of(after)), after)
    with transaction.atomic():
        parent = Branch.objects.select_for_update().get(pk=branch.owner_of(after))
        check_ended(parent, after)
        course, seq = course_at(parent, after, before)
        child = Branch.objects.create(
            session_id=parent.session_id,
            name=free_name(parent, name or f"From turn {after}"),
            parent=parent,
            fork_turn=after,
            lineage=[*parent.lineage, [str(parent.pk), after, seq]],
            head=after,
            clock=shared_turns(parent, after).filter(run__state=RunState.COMPLETED).count(),
            effort_epoch=course.epoch,
            plan_seal=seal_at(parent, after),
        )
        # Before summaries are taken over, which are of what is not left out.
        excluded = copy_exclusions(branch, child)
        summaries = take_over(child, course)
        copy_holds(parent, child)
        data: dict[str, Any] = {"branch": str(child.pk), "parent": str(parent.pk), "after": after, "name": child.name}
        if excluded:
            data["left_out"] = excluded
        if summaries:
            data["summaries"] = summaries
        events.append(child.session_id, "branch.forked", data, actor=actor)
        tell_what_is_as_before(branch, child, actor)
        transaction.on_commit(events.wake_runners)  # there may be summaries to write
    return child


def tell_what_is_as_before(branch: Branch, child: Branch, actor: User) -> None:
    """What has come of efforts and of chosen turns in `branch` since it parted from the child, which begins before."""
    here = {state.effort_id: state for state in EffortState.objects.filter(branch=branch)}
    about: dict[str, Any] = {"branch": str(child.pk), "turn": child.fork_turn, "clock": child.clock}
    for state in EffortState.objects.filter(branch=child).select_related("effort").order_by("pk"):
        since = here.get(state.effort_id)
        if since and (what := as_before(state, since, is_active=state.effort_id == child.active_effort_id)):
            data = {**about, "effort": state.effort.slug, "what": what}
            events.append(child.session_id, AS_BEFORE, data, actor=actor)
    back = ContextPointer.objects.filter(branch=branch, effort=None, state=PointerState.ROLLED_BACK)
    stands = ContextPointer.objects.filter(branch=child, effort=None, state=PointerState.ACTIVE)
    for pointer in stands.filter(artifact__in=back.values("artifact")).order_by("pk"):
        data = {**about, **bounds_of(pointer), "what": "excerpts" if pointer.digest else "summary"}
        events.append(child.session_id, AS_BEFORE, data, actor=actor)


def as_before(state: EffortState, since: EffortState, *, is_active: bool) -> str:
    """What the effort is in the new branch that it is no longer where the person was; empty where it is the same."""
    if state.status == EffortStatus.OPEN and since.status == EffortStatus.CONCLUDED:
        return "active" if is_active else "open"
    if state.status == EffortStatus.CONCLUDED and since.status == EffortStatus.OPEN:
        return "concluded"
    if since.summary == SummaryState.ROLLED_BACK and state.summary in REPLACED:
        return REPLACED[SummaryState(state.summary)]
    return ""


def shared_turns(branch: Branch, after: int) -> models.QuerySet[Turn]:
    return branch_turns(branch).filter(number__lte=after)


def check_ended(branch: Branch, after: int) -> None:
    turns = shared_turns(branch, after)
    if after and not turns.filter(number=after).exists():
        raise Refused("unknown_turn", f"There is no turn {after} here.")
    if waiting := turns.filter(run__state__in=UNFINISHED).order_by("number").first():
        raise Refused("unfinished", f"Turn {waiting.number} has not ended. Branch off when it has, or stop it.")


def take_over(child: Branch, course: Course) -> dict[str, str]:
    """The rows that say what the course does. By effort, the artifact of each summary that has come since and stands
    in the child: the course does not tell of it."""
    efforts = {effort.slug: effort for effort in Effort.objects.filter(session=child.session_id)}
    for slug, stand in course.efforts.items():
        summary: dict[str, Any] = {}
        if stand.status == EffortStatus.CONCLUDED:
            summary = {"summary": SummaryState.ROLLED_BACK} if slug in course.rolled_back else summary_due(child)
        EffortState.objects.create(branch=child, effort=efforts[slug], **summary, **vars(stand))
    turns = dict(branch_turns(child).filter(number__in=course.labels).values_list("number", "pk"))
    TurnLabel.objects.bulk_create(
        TurnLabel(branch=child, turn_id=turns[number], effort=efforts[label.slug], by=label.by)
        for number, label in course.labels.items()
    )
    for effort in (efforts[slug] for slug in course.efforts):
        labels.recount(child, effort)
    take_scopes_over(child, course)
    summaries = {}
    for slug, stand in course.efforts.items():
        if stand.status == EffortStatus.CONCLUDED and slug not in course.rolled_back:
            stood = course.summaries.get(slug)
            pointer = take_pointer_over(child, efforts[slug], stood)
            if pointer and pointer.artifact != stood:
                summaries[slug] = pointer.artifact
    child.active_effort = efforts[course.active] if course.active else None
    child.focus = efforts[course.focus] if course.focus else None
    child.save(update_fields=["active_effort", "focus"])
    return summaries


def take_scopes_over(child: Branch, course: Course) -> None:
    """Summaries of chosen turns that stood at that moment, and whose turns all lie before it, as they were."""
    timeline = [UUID(ancestor.branch) for ancestor in child.ancestors]
    for artifact in course.scopes:
        pointers = ContextPointer.objects.filter(branch__in=timeline, effort=None, artifact=artifact)
        for pointer in pointers.select_related("actor").order_by("-pk")[:1]:
            numbers = PointerTurn.objects.filter(pointer=pointer).values_list("turn__number", flat=True)
            log = read_scope_log(child, list(numbers))
            if not numbers or log.source.is_what(pointer.source_sha256):
                copy_pointer(child, pointer, log)


def take_pointer_over(child: Branch, effort: Effort, stood: str | None) -> ContextPointer | None:
    """A summary of just the turns that the effort has here, as they are, stands here too: the one that stood at that
    moment, whose artifact is `stood`, else one that has come since. From chosen turns none takes over here unsaid."""
    log = read_summary_log(child, effort)
    if is_covered(child, effort) or active_over(child, log.turn_ids):
        return None
    pointer = pointer_for(child, effort, log, stood)
    if pointer:
        copy_pointer(child, pointer, log)
        EffortState.objects.filter(branch=child, effort=effort).update(**stands_by(pointer))
    return pointer


def pointer_for(child: Branch, effort: Effort, log: SourceLog, stood: str | None) -> ContextPointer | None:
    pointers = ContextPointer.objects.filter(branch=child.parent, effort=effort, source_sha256__in=log.source.hashes)
    same = list(pointers.select_related("actor").order_by("-pk"))
    if then := [pointer for pointer in same if pointer.artifact == stood]:
        return then[0]
    since = [pointer for pointer in same if pointer.state in MAY_STAND_AGAIN]
    return min(since, key=lambda pointer: MAY_STAND_AGAIN.index(PointerState(pointer.state)), default=None)


def edit_turn(branch: Branch, number: int, *, text: str, client_id: str, actor: User) -> Turn:
    """Other words for a message that was answered: sent in a sibling branch. Sent twice it is one."""
    return say_instead(branch, number, text, client_id, actor, f"Edited turn {number}")


def regenerate(branch: Branch, number: int, *, actor: User, answer: str = "") -> Turn:
    """The same message again, in a sibling branch. `answer`: by another model, which answers this one message."""
    if answer:
        option_of(branch.session, answer)
    said = Message.objects.filter(turn__in=branch_turns(branch).filter(number=number), role=Message.Role.USER).first()
    return say_instead(
        branch, number, said.text if said else "", uuid4().hex, actor, f"Regenerated turn {number}", answer
    )


def say_instead(
    branch: Branch, number: int, text: str, client_id: str, actor: User, name: str, answer: str = ""
) -> Turn:
    turn = answered_turn(branch, number)
    check_message(text, client_id)
    if not sent_before(branch.session, client_id):
        check_share(actor)
    collapse_when_idle(branch.session, actor)
    with transaction.atomic():
        # Locked first, so that the same form sent twice at once finds what the other has made.
        Branch.objects.select_for_update().get(pk=branch.owner_of(number - 1))
        if sent := sent_before(branch.session, client_id):
            return sent
        sibling = fork(branch, after=number - 1, actor=actor, name=name)
        assert turn.run is not None
        chosen = {**asked_again(turn.run), "answer": answer, "note": False}
        return put_message(
            branch.session,
            sibling.pk,
            text=text,
            client_id=client_id,
            actor=actor,
            chosen=chosen,
            files=partial(copies_of, turn),
        )


def answered_turn(branch: Branch, number: int) -> Turn:
    """Raises `Refused` where the branch has no such turn, or a model was never asked for its answer."""
    turn = branch_turns(branch).filter(number=number).select_related("run").first()
    if turn is None:
        raise Refused("unknown_turn", f"There is no turn {number} here.")
    if turn.run is None or turn.run.state in UNFINISHED:
        raise Refused("unfinished", f"Turn {number} has not ended. Stop it, or wait until it has.")
    if turn.run.state == RunState.CANCELLED:
        raise Refused("not_sent", f"Turn {number} was not sent. Put it back in the composer.")
    if turn.run.state == RunState.NOTED:
        raise Refused("noted", f"Turn {number} is a note: no model was asked. Type it again instead.")
    return turn


def rename_branch(branch: Branch, *, name: str, actor: User) -> Branch:
    """Raises `Refused` where the name is empty or another branch has it."""
    name = checked_line(name, "name", LONGEST_NAME, empty="The name is empty.")
    with transaction.atomic():
        Branch.objects.select_for_update().get(pk=branch.pk)
        # Another branch may get this name just now.
        events.lock([branch.session_id])
        if Branch.objects.filter(session=branch.session_id, name=name).exclude(pk=branch.pk).exists():
            raise Refused("taken", "Another branch has that name. Choose another.")
        Branch.objects.filter(pk=branch.pk).update(name=name)
        data = {"branch": str(branch.pk), "name": name, "old": branch.name}
        events.append(branch.session_id, "branch.renamed", data, actor=actor)
    branch.name = name
    return branch


def free_name(branch: Branch, name: str) -> str:
    """It stays free until the caller's transaction ends."""
    events.lock([branch.session_id])
    taken = set(Branch.objects.filter(session=branch.session_id).values_list("name", flat=True))
    numbers = (f"{name[: LONGEST_NAME - 8]} ({number})" for number in range(2, len(taken) + 3))
    return next(free for free in (name, *numbers) if free not in taken)


def archive_branch(branch: Branch, *, actor: User) -> Branch:
    """Out of sight and out of the way; nothing of it is lost. Raises `Refused` for the main branch, and while it
    answers."""
    if branch.parent_id is None:
        raise Refused("main", "The main branch cannot be archived. Archive the conversation instead.")
    with transaction.atomic():
        Branch.objects.select_for_update().get(pk=branch.pk)
        if Run.objects.filter(branch=branch, state__in=UNFINISHED).exists():
            raise Refused("running", f"{branch.name} is answering. Stop it, or wait until it has ended.")
        Branch.objects.filter(pk=branch.pk).update(archived_at=timezone.now())
        events.append(branch.session_id, "branch.archived", {"branch": str(branch.pk)}, actor=actor)
    return branch


def unarchive_branch(branch: Branch, *, actor: User) -> Branch:
    """The branch as it is then; nothing happens to one that is not archived."""
    with transaction.atomic():
        return bring_back(branch, actor)
