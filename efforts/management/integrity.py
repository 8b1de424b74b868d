"""Whether a conversation is whole: rows against each other and against the log. What is derived is made anew."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields
from functools import partial
from typing import Any

from django.db import transaction
from django.db.models import Count, F, Max, Q, Sum

from efforts.actions.files import storing
from efforts.context.courses import read_course
from efforts.context.planning import counted_tokens
from efforts.domain.effort.reducer import Label, Stand
from efforts.domain.effort.states import (
    UNFINISHED,
    EffortStatus,
    HoldState,
    PointerState,
    RunState,
    SummaryState,
)
from efforts.domain.prompt.conversation import OF_PERSON
from efforts.domain.seals import Sealed, broken
from efforts.domain.text.canonical import canonical_json, sha256
from efforts.domain.text.locating import one_line
from efforts.log import labels
from efforts.log.events import STREAMED, sealed_content
from efforts.log.timelines import branch_events, branch_turns
from efforts.models import (
    Branch,
    Constraint,
    ContextPlan,
    ContextPointer,
    Effort,
    EffortState,
    Event,
    Fragment,
    Hold,
    LedgerEntry,
    Message,
    MessageFile,
    PointerTurn,
    RetrievalSet,
    Run,
    Session,
    ToolTrace,
    Turn,
    TurnLabel,
)
from efforts.standins import compacting

CHUNK = 500
# Of a log that names what it does not tell of, or has not the form of one.
UNREADABLE = (AttributeError, KeyError, TypeError, ValueError)
# What of an effort its events tell.
TOLD = tuple(one.name for one in fields(Stand))
LIVE_HOLDS = (HoldState.STANDING,)


@dataclass(frozen=True, kw_only=True)
class Problem:
    """`what` names the row by what people call it; `mended`: it follows from other rows, and does again."""

    what: str
    problem: str
    mended: bool = False


def problems_of(session: Session) -> Iterator[Problem]:
    """All that is wrong with a conversation; what is derived is made anew, as far as the log can be believed."""
    log = list(event_problems(session))
    yield from log
    for check in CHECKS:
        yield from check(session)
    yield from (Problem(what=what, problem=problem) for what, problem in compacting.registered().damaged(session))
    for branch in session.branches.order_by("created_at"):
        # A turn that is running has changed rows of which the log will tell when it ends.
        if not Run.objects.filter(branch=branch, state__in=UNFINISHED).exists():
            # By a log that was tampered with nothing is mended.
            yield from derived_problems(branch, mend=not log)
        # Of what has been mended nothing is left to be said.
        yield from pointer_problems(branch)


# The log


def event_problems(session: Session) -> Iterator[Problem]:
    rows = Event.objects.filter(session=session).exclude(kind__in=STREAMED).order_by("seq")
    chain: list[Sealed] = []
    before = ""
    for row in rows.iterator(chunk_size=CHUNK):
        name = f"event {row.seq} ({row.kind})"
        # What stood before it is what stands there now: an event does not name it.
        chain.append(Sealed.of(name, before, row.seal, sealed_content(row)))
        before = row.seal or before
    for name, problem in broken(chain, first="", head=session.event_seal):
        yield Problem(what=name or "the event log", problem=EVENT_PROBLEMS.get(problem, problem))
    last = Event.objects.filter(session=session).aggregate(last=Max("seq"))["last"] or 0
    if last > session.event_seq:
        yield Problem(what="the event log", problem=f"its count is {session.event_seq}, and there is an event {last}")


EVENT_PROBLEMS = {
    "changed: it is not what it was sealed as": "it was changed or moved, or what stood before it is gone or was added",
}


def plan_problems(session: Session) -> Iterator[Problem]:
    """Plans and the events that tell of them."""
    told: dict[str, Mapping[str, Any]] = {
        data["plan"]: data
        for data in Event.objects.filter(session=session, kind="plan.made").values_list("data", flat=True)
    }
    for row in ContextPlan.objects.filter(session=session).defer("body").iterator(chunk_size=CHUNK):
        data = told.pop(str(row.pk), None)
        if data is None:
            yield Problem(what=f"plan {row.pk}", problem="no event tells that it was made")
        elif (row.tokens, row.budget, row.seal) != (data["tokens"], data["budget"], data.get("seal", "")):
            yield Problem(what=f"plan {row.pk}", problem="its event tells other tokens, another budget or another seal")
    yield from (Problem(what=f"plan {pk}", problem="it was made, and is gone") for pk in told)


def fragment_problems(session: Session) -> Iterator[Problem]:
    for sha, text in Fragment.objects.filter(session=session).values_list("sha256", "text").iterator(chunk_size=CHUNK):
        if sha256(text) != sha:
            yield Problem(what=f"fragment {sha[:12]}", problem="its text is not that of its hash")


def run_problems(session: Session) -> Iterator[Problem]:
    """Runs and the events of their ends; which run of a turn counts."""
    ended = {
        data["run"]: data["state"]
        # Of a reply that went on the last one counts.
        for data in Event.objects.filter(session=session, kind="run.ended")
        .order_by("seq")
        .values_list("data", flat=True)
    }
    for run in Run.objects.filter(turn__session=session).select_related("turn").iterator(chunk_size=CHUNK):
        name = f"turn {run.turn.number}, attempt {run.attempt}"
        state = ended.pop(str(run.pk), None)
        if run.state in UNFINISHED:
            continue
        if state and run.state != state:
            yield Problem(what=name, problem=f"it is {run.state}, and its event says {state}")
        elif not state and run.state != RunState.CANCELLED:
            yield Problem(what=name, problem=f"it is {run.state}, and no event tells that it ended")
    yield from (Problem(what=f"run {pk}", problem="it ended, and is gone") for pk in ended)
    # One that was cancelled leaves the turn to the attempt before it.
    asked = Max("runs__attempt", filter=~Q(runs__state=RunState.CANCELLED))
    last = Turn.objects.filter(session=session).annotate(last=asked).exclude(last=None)
    for number in last.exclude(run__attempt=F("last")).values_list("number", flat=True):
        yield Problem(what=f"turn {number}", problem="the attempt that counts is not its last")


# What was found, and what was written down


def retrieval_problems(session: Session) -> Iterator[Problem]:
    rows = RetrievalSet.objects.filter(session=session).prefetch_related("items")
    for row in rows.order_by("created_at").iterator(chunk_size=CHUNK):
        hits = row.items.order_by("rank")
        flat = [[one.effort_id, one.turn_id, one.message_id, *span(one), one.score, one.why] for one in hits]
        if sha256(canonical_json([row.found, flat])) != row.result_hash:
            yield Problem(what=f"retrieval {row.pk}", problem="its hits are not those of its hash")
    for trace in ToolTrace.objects.filter(session=session).select_related("message").iterator(chunk_size=CHUNK):
        if sha256(trace.message.text) != trace.result_sha256:
            yield Problem(what=f"tool call {trace.tool_call_id}", problem="its result is not that of its hash")


def span(item: Any) -> list[int]:
    return [] if item.start is None else [item.start, item.end]


def source_problems(session: Session) -> Iterator[Problem]:
    """Rules, decisions and open work that say where their words stand."""
    for kind, rows in (
        ("rule", Constraint.objects.filter(session=session)),
        ("entry", LedgerEntry.objects.filter(session=session)),
    ):
        for row in rows.filter(start__isnull=False).select_related("source").order_by("pk"):
            said = row.source.text[row.start : row.end] if row.source else ""
            if one_line(said) != one_line(row.text):
                yield Problem(what=f"{kind} {row.pk}", problem="its words do not stand where it says that they do")


def hold_problems(session: Session) -> Iterator[Problem]:
    """What is pinned, by the events of its grant and its end."""
    told = Event.objects.filter(session=session, kind__in=("hold.granted", "hold.ended")).order_by("seq")
    last = {data["hold"]: kind for kind, data in told.values_list("kind", "data")}
    for pk, state in Hold.objects.filter(branch__session=session).values_list("pk", "state"):
        kind = last.get(pk)
        if kind and (state in LIVE_HOLDS) != (kind == "hold.granted"):
            yield Problem(what=f"pin {pk}", problem=f"it is {state}, and the last event of it is {kind}")


def stray_problems(session: Session) -> Iterator[Problem]:
    messages = Message.objects.filter(session=session)
    strays = messages.exclude(role__in=OF_PERSON).filter(run=None) | messages.exclude(run=None).exclude(
        run__turn=F("turn")
    )
    for pk in strays.values_list("pk", flat=True):
        yield Problem(what=f"message {pk}", problem="it belongs to no attempt at its turn")


def file_problems(session: Session) -> Iterator[Problem]:
    """Files of messages: their bytes by their hash, and each one's message in its conversation."""
    rows = MessageFile.objects.filter(session=session).select_related("message").defer("text", "message__text")
    for row in rows.order_by("created_at"):
        name = f"file {row.name}"
        if not storing.is_whole(session.pk, row.sha256):
            yield Problem(what=name, problem="its bytes are missing, or not those of its hash")
        if row.message and (row.message.session_id, row.message.role) != (session.pk, "file"):
            yield Problem(what=name, problem="its message is of another conversation, or of no file")


CHECKS = (
    plan_problems,
    fragment_problems,
    run_problems,
    stray_problems,
    retrieval_problems,
    source_problems,
    hold_problems,
    file_problems,
)


# What stands for turns


def pointer_problems(branch: Branch) -> Iterator[Problem]:
    scope = PointerTurn.objects.filter(branch=branch)
    for row in scope.exclude(pointer__state=PointerState.ACTIVE).filter(active=True).select_related("turn"):
        yield Problem(what=f"turn {row.turn.number}", problem=f"pointer {row.pointer_id} covers it, and does not stand")
    for pointer in ContextPointer.objects.filter(branch=branch).select_related("effort").order_by("pk"):
        problem = problem_of_pointer(branch, pointer)
        if problem:
            yield Problem(what=f"pointer {pointer.pk}", problem=problem)
    standing = ContextPointer.objects.filter(branch=branch, state=PointerState.ACTIVE, effort__isnull=False)
    twice = standing.values("effort__slug").annotate(n=Count("id")).filter(n__gt=1)
    for slug in twice.values_list("effort__slug", flat=True):
        yield Problem(what=slug, problem="two summaries stand for it")
    states = EffortState.objects.filter(branch=branch, summary__in=(SummaryState.STANDS, SummaryState.DIGEST))
    for slug in states.exclude(effort__in=standing.values("effort")).values_list("effort__slug", flat=True):
        yield Problem(what=slug, problem="its summary is said to stand, and no pointer does")


def problem_of_pointer(branch: Branch, pointer: ContextPointer) -> str:
    if pointer.state != PointerState.ACTIVE:
        return ""
    turns = PointerTurn.objects.filter(pointer=pointer)
    if turns.filter(active=False).exists():
        return "it stands, and not for all of its turns"
    if pointer.effort is None:
        return ""
    state = EffortState.objects.filter(branch=branch, effort=pointer.effort).first()
    if state is None or state.status != EffortStatus.CONCLUDED:
        return f"it stands for {pointer.effort.slug}, which is not concluded"
    labelled = TurnLabel.objects.filter(branch=branch, effort=pointer.effort)
    if turns.exclude(turn__in=labelled.values("turn")).exists():
        return f"it covers turns that are not of {pointer.effort.slug}"
    return ""


# What follows from other rows


@dataclass(frozen=True, kw_only=True)
class Derived:
    """Something that does not follow from what it should; `make` makes it do so."""

    what: str
    problem: str
    make: Callable[[], object]


def derived_problems(branch: Branch, *, mend: bool) -> Iterator[Problem]:
    """In the order in which they follow from each other: sums are of labels."""
    for check in (states_by_log, labels_by_log, sums_of_turns, sums_of_efforts, sums_of_pointers, counts_of):
        with transaction.atomic():
            locked = (
                Branch.objects.select_for_update(of=("self",))
                .select_related("active_effort", "focus")
                .get(pk=branch.pk)
            )
            try:
                wrong = list(check(locked))
            except UNREADABLE:
                yield Problem(what=f"the event log of branch {branch.name}", problem="it cannot be gone through")
                continue
            for one in wrong:
                if mend:
                    one.make()
                yield Problem(what=f"{one.what} in branch {branch.name}", problem=one.problem, mended=mend)


def states_by_log(branch: Branch) -> Iterator[Derived]:
    course = read_course(branch_events(branch))
    rows = {row.effort.slug: row for row in EffortState.objects.filter(branch=branch).select_related("effort")}
    for slug, stand in course.efforts.items():
        row = rows.pop(slug, None)
        if wrong := [name for name in TOLD if row is None or getattr(row, name) != getattr(stand, name)]:
            problem = f"not what the log tells: {', '.join(wrong)}"
            yield Derived(what=slug, problem=problem, make=partial(put_state, branch, slug, stand))
    for slug, row in rows.items():
        yield Derived(what=slug, problem="the log tells of no such effort here", make=row.delete)
    efforts = {effort.slug: effort for effort in Effort.objects.filter(session=branch.session_id)}
    here = Branch.objects.filter(pk=branch.pk)
    active = branch.active_effort.slug if branch.active_effort else None
    if (active, branch.effort_epoch) != (course.active, course.epoch):
        problem = f"it is {active}, and the log tells {course.active}; or their changes are counted otherwise"
        named = efforts.get(course.active or "")
        make = partial(here.update, active_effort=named, effort_epoch=course.epoch)
        yield Derived(what="the active effort", problem=problem, make=make)
    focus = branch.focus.slug if branch.focus else None
    if focus != course.focus:
        problem = f"it is {focus}, and the log tells {course.focus}"
        make = partial(here.update, focus=efforts.get(course.focus or ""))
        yield Derived(what="the focus", problem=problem, make=make)


def put_state(branch: Branch, slug: str, stand: Stand) -> None:
    effort = Effort.objects.get(session=branch.session_id, slug=slug)
    EffortState.objects.update_or_create(branch=branch, effort=effort, defaults=vars(stand))


def labels_by_log(branch: Branch) -> Iterator[Derived]:
    rows = {row.turn.number: row for row in TurnLabel.objects.filter(branch=branch).select_related("turn", "effort")}
    for number, label in read_course(branch_events(branch)).labels.items():
        row = rows.pop(number, None)
        if row is None or (row.effort.slug, row.by) != (label.slug, label.by):
            problem = f"it is of {row.effort.slug if row else 'no effort'}, and the log tells {label.slug}"
            yield Derived(what=f"turn {number}", problem=problem, make=partial(put_label, branch, number, label))
    for number, row in rows.items():
        problem = f"it is of {row.effort.slug}, and the log tells of no effort"
        yield Derived(what=f"turn {number}", problem=problem, make=row.delete)


def put_label(branch: Branch, number: int, label: Label) -> None:
    effort = Effort.objects.get(session=branch.session_id, slug=label.slug)
    turn = branch_turns(branch).get(number=number)
    TurnLabel.objects.update_or_create(branch=branch, turn=turn, defaults={"effort": effort, "by": label.by})


def sums_of_turns(branch: Branch) -> Iterator[Derived]:
    """Of its own: those before the fork are another's."""
    before = 0
    turns = branch_turns(branch).select_related("run").order_by("number")
    for turn in turns.exclude(run=None).exclude(run__state__in=(RunState.CANCELLED, *UNFINISHED)):
        assert turn.run is not None
        tokens = counted_tokens(turn.run)
        if (turn.tokens, turn.tokens_before) != (tokens, before):
            problem = (
                f"it counts {turn.tokens:,} tokens after {turn.tokens_before:,}, and has {tokens:,} after {before:,}"
            )
            make = partial(Turn.objects.filter(pk=turn.pk).update, tokens=tokens, tokens_before=before)
            yield Derived(what=f"turn {turn.number}", problem=problem, make=make)
        before += tokens


def sums_of_efforts(branch: Branch) -> Iterator[Derived]:
    rows = TurnLabel.objects.filter(branch=branch).values_list("effort").order_by()
    sums = {effort: (turns, tokens) for effort, turns, tokens in rows.annotate(Count("id"), Sum("turn__tokens"))}
    for state in EffortState.objects.filter(branch=branch).select_related("effort"):
        if (state.turns, state.tokens) != sums.get(state.effort_id, (0, 0)):
            problem = "its turns and tokens are not those of its turns"
            make = partial(labels.recount, branch, state.effort)
            yield Derived(what=state.effort.slug, problem=problem, make=make)


def sums_of_pointers(branch: Branch) -> Iterator[Derived]:
    for pointer in ContextPointer.objects.filter(branch=branch, effort=None, state=PointerState.ACTIVE):
        if pointer.ambient_tokens != labels.ambient_tokens(pointer):
            problem = "its tokens are not those of its turns"
            yield Derived(what=f"pointer {pointer.pk}", problem=problem, make=partial(labels.recount_chosen, pointer))


def counts_of(branch: Branch) -> Iterator[Derived]:
    head = Turn.objects.filter(branch=branch).aggregate(last=Max("number"))["last"] or branch.fork_turn or 0
    clock = branch_turns(branch).filter(run__state=RunState.COMPLETED).count()
    if (branch.head, branch.clock) != (head, clock):
        problem = f"last turn {branch.head} and {branch.clock} completed; there are {head} and {clock}"
        make = partial(Branch.objects.filter(pk=branch.pk).update, head=head, clock=clock)
        yield Derived(what="the counts", problem=problem, make=make)
