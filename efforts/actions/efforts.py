"""Efforts: opened, concluded, reopened, switched to, expanded, collapsed; and where turns belong.

People's controls, the model's tools and answered offers call the same functions. Each locks the branch before it looks,
so that no two of them decide on the same state.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db import transaction

from efforts.context.sources import read_summary_log
from efforts.domain.effort.chosen import BODY, RAW
from efforts.domain.effort.states import UNFINISHED, EffortStatus, PointerState, RunState, SummaryState, Via
from efforts.domain.errors import Refused
from efforts.domain.text.verbatim import own_words
from efforts.llm.tokens import get_counter
from efforts.log import events, labels
from efforts.log.timelines import branch_turns, clock_of
from efforts.memory import holds, references
from efforts.models import Branch, ContextPointer, Effort, EffortState, Event, Message, Run, Titling, Turn, TurnLabel
from efforts.standins import compacting
from efforts.standins.chosen import find_chosen
from efforts.standins.logs import SourceLog

from .chosen import check_room, collapse_all_chosen, collapse_chosen, expand_chosen
from .names import checked_name, entitle, numbered, slug_of, title_from
from .places import (
    Place,
    activate,
    active_slug,
    changing,
    fresh,
    known,
    latest_open,
    move,
    named,
    put_label,
    record,
    refer,
    route,
    slug_in,
    slug_or_none,
    states_of,
    the_active,
    what_is_shown,
    where_of,
    with_id,
)
from .pointers import (
    NO_SUMMARY,
    SUMMARY_DUE,
    StandIn,
    active_pointers,
    body_of,
    digest_stands,
    end_pointer,
    is_covered,
    keep_body,
    set_pointer,
    settle_effort,
    summary_due,
)
from .scopes import focus_of

if TYPE_CHECKING:
    from django.contrib.auth.models import User

BUILTIN = "builtin"
# How a person who says yes to a text has said so.
IN_THE_CHAT = "chat"
# Or a collapse was taken back.
EXPANDED = ("effort.expanded", "effort.undone", "compaction.expanded", "compaction.undone")
UNDER_WAY = (SummaryState.DUE, SummaryState.DRAFTING)
# Where a person asks for a summary that is not there.
MAY_BE_DRAFTED = (
    SummaryState.DIGEST,
    SummaryState.WAITING,
    SummaryState.FAILED,
    SummaryState.ROLLED_BACK,
    SummaryState.NONE,
)
STOPPED = "You stopped the drafting."
NO_EXCERPTS = "Excerpts would be no shorter than the log, so the log stays."
CHOSEN = "You chose the excerpts."
# Its log is in the prompt, and a draft or a person is waited for.
WITHOUT_EXCERPTS = (SummaryState.WAITING, SummaryState.FAILED, SummaryState.ROLLED_BACK)
ANOTHER_NAME = "For new work of the same kind choose another name, such as one with a date or number."
ANOTHER_NAME_TO_CALL = ANOTHER_NAME.replace("choose", "call open_effort with")
COVERED = "The summary of chosen turns covers all of {slug}. Roll that back first."


@dataclass(frozen=True, kw_only=True)
class Opened:
    """`already`: it was open, and nothing new was started."""

    state: EffortState
    already: bool = False

    @property
    def effort(self) -> Effort:
        return self.state.effort


def open_effort(place: Place, name: str) -> Opened:
    """Start an effort, or go on with the open one of that name, or id; it is active afterwards.

    Raises `Refused` where the name is none, or a concluded effort has it.
    """
    name = checked_name(name)
    with changing(place) as branch:
        state = with_id(branch, name) or named(branch, name)
        if state is None:
            return Opened(state=start(branch, place, name))
        if state.status == EffortStatus.CONCLUDED:
            # What recurring work needs: this month's invoice is not last month's.
            again = ANOTHER_NAME_TO_CALL if place.via == Via.MODEL else ANOTHER_NAME
            raise Refused("concluded", f"{concluded_already(place, state)} {again}")
        if branch.active_effort_id != state.effort_id:
            go_to(branch, place, state)
        else:
            route(branch, place, state.effort, TurnLabel.By.OPENED)
        return Opened(state=fresh(state), already=True)


def start(branch: Branch, place: Place, name: str) -> EffortState:
    before = active_slug(branch)
    effort = unused_or_new(branch, name)
    references.learn_name(effort)
    clock = clock_of(branch)
    state = EffortState.objects.create(branch=branch, effort=effort, opened_turn=place.turn, referenced_clock=clock)
    activate(branch, effort, place.turn)
    route(branch, place, effort, TurnLabel.By.OPENED)
    record(place, "effort.opened", effort.slug, name=name, before=before)
    if place.via == Via.MODEL and names_the_conversation(branch, place.turn, effort):
        entitle(branch.session, name[:1].upper() + name[1:])
    return fresh(state)


def names_the_conversation(branch: Branch, number: int, effort: Effort) -> bool:
    """What the model calls the first thing that is worked on says more than how the person began to talk of it; where
    something else was talked of before, it says less."""
    others = Effort.objects.filter(session=branch.session_id).exclude(pk=effort.pk)
    if others.exists() or Titling.objects.filter(session=branch.session_id).exists():
        return False
    asked = Message.objects.filter(turn__in=branch_turns(branch).filter(number=number), role=Message.Role.USER)
    return branch.session.title in ("", *map(title_from, asked.values_list("text", flat=True)))


def unused_or_new(branch: Branch, name: str) -> Effort:
    """A new effort; or one whose opening was taken back, as nothing has it any more."""
    # Another branch may open one of this name just now.
    events.lock([branch.session_id])
    slug, number = slug_of(name), 1
    while twin := Effort.objects.filter(session=branch.session_id, slug=slug).first():
        if not twin.states.exists():
            twin.name = name
            twin.save(update_fields=["name"])
            return twin
        number += 1
        slug = numbered(slug_of(name), number)
    return Effort.objects.create(session_id=branch.session_id, slug=slug, name=name)


def close_effort(place: Place, slug: str | None = None, said: str = "") -> EffortState:
    """Conclude an effort, the active one where none is named; its summary follows.

    `said`: the user's words that end it, as the model gives them. Where they are part of this turn's message the
    conclusion is the person's own; the state returned keeps them.
    """
    with changing(place) as branch:
        state = known(branch, slug) if slug is not None else the_active(branch)
        was_active = branch.active_effort_id == state.effort_id
        said = own_words(said, message_of(place.run)) if place.run else ""
        where = {"concluded_turn": place.turn, "via": place.via, "said": said}
        changes = {**where, "expanded_turn": None, **summary_due(branch)}
        move(state, EffortStatus.CONCLUDED, f"{slug_in(state)} is concluded already.", **changes)
        refer(branch, slug_in(state))
        route(branch, place, state.effort, TurnLabel.By.CLOSED)
        activate(branch, latest_open(branch) if was_active else branch.active_effort, place.turn)
        record(place, "effort.concluded", slug_in(state), was_active=was_active, next=active_slug(branch), said=said)
        holds.end_with(branch, state.effort, where_of(place))
        if place.run is None:
            # Where the summary of chosen turns stands for all of it already, there is nothing left to say.
            settle_effort(branch, fresh(state))
        # Between turns nobody else would tell the runner that there is a summary to write.
        transaction.on_commit(events.wake_runners)
    return fresh(state)


def message_of(run: Run) -> str:
    """The person's words that the run answers."""
    return run.turn.messages.get(role="user").text


def reopen_effort(place: Place, slug: str) -> EffortState:
    """Open a concluded effort again; it is active afterwards, and its summary no longer stands for it. Raises `Refused`
    where it is open already."""
    with changing(place) as branch:
        state = known(branch, slug)
        was: dict[str, Any] = {
            "concluded_turn": state.concluded_turn,
            "concluded_via": state.via,
            "concluded_said": state.said,
        }
        before = active_slug(branch)
        if state.status == EffortStatus.OPEN:
            raise Refused("open", f"{slug_in(state)} is open already. {shown_here(place, branch, state)}")
        if state.expanded_turn is not None:
            collapse(place, state, "reopened")
        # So that it is rolled back again where the reopening is taken back.
        was["rolled_back"] = state.artifact if state.summary == SummaryState.ROLLED_BACK else None
        if state.summary == SummaryState.DIGEST:
            was["beside"] = {"artifact": state.artifact, "draft": state.draft}
        # And this, where it still holds then.
        was["stood"] = active_pointers(branch, state.effort).values_list("pk", flat=True).first()
        changes = {"concluded_turn": None, "via": "", "said": "", **NO_SUMMARY}
        move(state, EffortStatus.OPEN, f"{slug_in(state)} is open already.", **changes)
        end_pointer(branch, state.effort)
        activate(branch, state.effort, place.turn)
        route(branch, place, state.effort, TurnLabel.By.OPENED)
        refer(branch, slug_in(state))
        record(place, "effort.reopened", slug_in(state), before=before, **was)
    return fresh(state)


def switch_effort(place: Place, slug: str) -> EffortState:
    """The effort that is active now. Raises `Refused` where it is concluded, or is active already."""
    with changing(place) as branch:
        state = known(branch, slug)
        if state.status == EffortStatus.CONCLUDED:
            raise Refused("concluded", concluded_already(place, state))
        if branch.active_effort_id == state.effort_id:
            raise Refused("active", f"{slug_in(state)} is already active.")
        go_to(branch, place, state)
    return fresh(state)


def go_to(branch: Branch, place: Place, state: EffortState) -> None:
    before = active_slug(branch)
    activate(branch, state.effort, place.turn)
    route(branch, place, state.effort, TurnLabel.By.OPENED)
    record(place, "effort.switched", slug_in(state), before=before)


def expand_effort(place: Place, slug: str, what: str = RAW) -> int:
    """Show the raw log of a concluded effort, or the body of its summary, instead of its headline; the same of chosen
    turns. What that adds to the prompt, in tokens. Raises `Refused` where it cannot be shown, or is already."""
    with changing(place) as branch:
        if chosen := find_chosen(branch, slug):
            return expand_chosen(place, branch, chosen, what)
        state = known(branch, slug)
        check_expandable(place, branch, state)
        if what == BODY and not keep_body(active_pointers(branch, state.effort).get()):
            raise Refused("no_body", f"The summary of {slug_in(state)} has no more than its line. Expand its log.")
        tokens = check_room(place, branch, slug_in(state), what)
        EffortState.objects.filter(pk=state.pk).update(expanded_turn=place.turn, expanded_what=what)
        refer(branch, slug_in(state))
        record(place, "effort.expanded", slug_in(state), tokens=tokens, what=what)
    return tokens


def summary_tokens(branch: Branch, slug: str) -> int:
    """About what the whole summary of a concluded effort adds beside its line; 0 where there is no more of it."""
    pointer = active_pointers(branch, known(branch, slug).effort).first()
    body = body_of(pointer) if pointer else ""
    return max(get_counter(settings.CCM_ENCODING).count(body) - pointer.tokens, 1) if pointer and body else 0


def check_expandable(place: Place, branch: Branch, state: EffortState) -> None:
    """Raises `Refused` where the effort is in the prompt already, or no summary stands for it."""
    slug = slug_in(state)
    if state.status == EffortStatus.OPEN:
        raise Refused("open", f"{slug} is open. {shown_here(place, branch, state)}")
    if state.expanded_turn is not None:
        raise Refused("expanded", f"{slug} is expanded already. {shown_here(place, branch, state)}")
    if state.summary == SummaryState.COVERED:
        instead = (
            "Expand that: effort_status has its id." if place.via == Via.MODEL else "Expand that, or roll it back."
        )
        raise Refused("covered", f"The summary of chosen turns covers {slug}. {instead}")
    if not active_pointers(branch, state.effort).exists():
        raise Refused("awaiting", f"{slug} has no summary yet. {shown_here(place, branch, state)}")
    if not state.turns:
        raise Refused("no_turns", f"{slug} has no turns, so there is nothing to expand.")


def shown_here(place: Place, branch: Branch, state: EffortState) -> str:
    """How much of what it is shown by stands in the prompt."""
    what = state.expanded_what if state.expanded_turn is not None else RAW
    return what_is_shown(place, branch, slug_in(state), state.turns, what)


def collapse_effort(place: Place, slug: str) -> str:
    """An effort, or chosen turns, by their id, which is returned. Raises `Refused` where it is not expanded."""
    with changing(place) as branch:
        if chosen := find_chosen(branch, slug):
            collapse_chosen(place, chosen)
            return chosen.id
        state = known(branch, slug)
        if state.expanded_turn is None:
            raise Refused("not_expanded", f"{slug_in(state)} is not expanded, so there is nothing to collapse.")
        collapse(place, state, "asked")
    return slug_in(state)


def collapse(place: Place, state: EffortState, why: str) -> None:
    EffortState.objects.filter(pk=state.pk).update(expanded_turn=None)
    record(place, "effort.collapsed", slug_in(state), why=why)


def new_work_session(place: Place, why: str = "asked", *, since: datetime | None = None) -> int:
    """Collapse all that is expanded and not pinned; how many there were. `why`: it was asked for, or it was `idle`.
    What was expanded from `since` on stays."""
    with changing(place) as branch:
        kept = expanded_since(branch, since) if since else frozenset[str]()
        pinned = holds.standing(branch).filter(effort__isnull=False).values("effort")
        loose = states_of(branch).exclude(expanded_turn=None).exclude(effort__in=pinned)
        expanded = list(loose.exclude(effort__slug__in=kept).order_by("expanded_turn", "pk"))
        for state in expanded:
            collapse(place, state, "work_session")
        chosen = collapse_all_chosen(place, branch, kept)
        data = {"turn": place.turn, "branch": str(branch.pk), "clock": clock_of(branch), "why": why}
        events.append(branch.session_id, "session.resumed", data, actor=place.actor)
    return len(expanded) + chosen


def expanded_since(branch: Branch, since: datetime) -> frozenset[str]:
    """Ids of efforts, and of chosen turns."""
    told = Event.objects.filter(session=branch.session_id, kind__in=EXPANDED, created_at__gte=since)
    here = told.filter(data__branch=str(branch.pk)).values_list("data", flat=True)
    return frozenset(data.get("id") or data["effort"] for data in here)


def rename_effort(place: Place, slug: str, name: str) -> EffortState:
    """Another name; the id stays. Raises `Refused` where another effort of the branch has it."""
    name = checked_name(name)
    with changing(place) as branch:
        state = known(branch, slug)
        other = named(branch, name)
        if other and other.pk != state.pk:
            raise Refused("taken", f"{slug_in(other)} has that name already. Choose another.")
        old = state.effort.name
        if name != old:
            state.effort.name = name
            state.effort.save(update_fields=["name"])
            references.learn_name(state.effort)
            record(place, "effort.renamed", slug_in(state), name=name, old=old)
    return fresh(state)


def move_turn(place: Place, number: int, slug: str | None) -> None:
    """Let a finished turn belong to another effort, or to none; where it is already, nothing happens."""
    with changing(place) as branch:
        turn = finished_turn(branch, number)
        effort = known(branch, slug).effort if slug is not None else None
        label = labels.label_of(branch, turn)
        source = label.effort if label else None
        if source == effort:
            return
        put_label(branch, turn, effort, TurnLabel.By.MOVED)
        left, came_to = slug_or_none(source), slug_or_none(effort)
        record(place, "turn.moved", came_to or left, moved=number, source=left, target=came_to)


def finished_turn(branch: Branch, number: int) -> Turn:
    """Raises `Refused` where the branch has no such turn, or it has not ended."""
    turn = branch_turns(branch).filter(number=number).select_related("run").first()
    if turn is None:
        raise Refused("unknown_turn", f"There is no turn {number} here.")
    if turn.run is None or turn.run.state in {*UNFINISHED, RunState.CANCELLED}:
        raise Refused("unfinished", f"Turn {number} has not ended. It can be moved when it has.")
    return turn


def use_summary(place: Place, slug: str) -> None:
    """The person's yes to a summary that waits for it: from now on it stands for the effort. Raises `Refused` where
    none waits."""
    with changing(place) as branch:
        state = known(branch, slug)
        waits = state.summary == SummaryState.WAITING or (state.summary == SummaryState.DIGEST and state.artifact)
        if not waits:
            raise Refused("no_draft", f"No summary of {slug_in(state)} is waiting for a yes.")
        if state.artifact:
            compacting.registered().accept(state.artifact, place.actor, IN_THE_CHAT)
        else:
            log = read_summary_log(branch, state.effort)
            set_brief(state, log, state.draft, place.actor, IN_THE_CHAT)


def use_excerpts(place: Place, slug: str) -> None:
    """Its excerpts stand from now on; a draft that waits goes on to wait beside them. Raises `Refused` where nothing
    waits to replace its log, or nothing in it can be quoted."""
    with changing(place) as branch:
        state = known(branch, slug)
        if state.status != EffortStatus.CONCLUDED or state.summary not in WITHOUT_EXCERPTS:
            raise Refused("no_excerpts", f"{slug_in(state)} is not waiting for anything to replace its log.")
        digest = compacting.registered().digest_of(state, read_summary_log(branch, state.effort))
        if not digest:
            raise Refused("nothing_to_quote", NO_EXCERPTS)
        why = state.draft if state.summary == SummaryState.FAILED else CHOSEN
        waits = "" if state.summary == SummaryState.ROLLED_BACK else state.artifact
        let_digest_stand(state, digest, waits, why, place.actor, IN_THE_CHAT)


def set_brief(state: EffortState, log: SourceLog, text: str, actor: User | None, via: str) -> None:
    """What is too short to be compacted stands by a line that the program makes of its name."""
    standing = StandIn(text=text, headline=text, tokens=get_counter(settings.CCM_ENCODING).count(text))
    pointer = set_pointer(state.branch, state.effort, log, standing, actor=actor, via=via)
    summary_stands(state, pointer, actor, drafter=BUILTIN, note="")


def summary_stands(state: EffortState, pointer: ContextPointer, actor: User | None, **more: Any) -> None:
    """The summary of a concluded effort, or the digest of it, has come to stand."""
    # The turn that concluded it, as the notice of that turn gains what stands.
    place = Place(branch=state.branch, turn=state.concluded_turn or 0, via=Via(state.via), actor=actor)
    about = {"text": pointer.headline, "tokens": pointer.tokens, "artifact": pointer.artifact}
    told = {**about, "stands_from": state.branch.head, **more}
    states = EffortState.objects.filter(pk=state.pk)
    if pointer.digest:
        # What was drafted waits beside it, and what is being drafted goes on to be; what was rolled back does neither.
        states.filter(summary=SummaryState.ROLLED_BACK).update(artifact="")
        states.exclude(summary__in=(*UNDER_WAY, SummaryState.DIGEST)).update(summary=SummaryState.DIGEST, draft="")
        record(place, "effort.digested", slug_in(state), **told)
    else:
        states.update(**{**NO_SUMMARY, "summary": SummaryState.STANDS, "artifact": pointer.artifact})
        record(place, "effort.summarised", slug_in(state), **told)


def let_digest_stand(state: EffortState, digest: str, draft: str, why: str, actor: User | None, via: str) -> None:
    """The digest of a concluded effort stands from now on; `draft` waits beside it, and `why` it does not stand."""
    beside = {**NO_SUMMARY, "summary": SummaryState.DIGEST, "artifact": draft, "draft": why}
    EffortState.objects.filter(pk=state.pk).update(**beside)
    stands = ContextPointer.objects.filter(branch=state.branch, artifact=digest, state=PointerState.ACTIVE)
    if stands.exists():
        # Nothing comes to stand then, and whoever waits for the new draft is told that it came to nothing.
        place = Place(branch=state.branch, turn=state.concluded_turn or 0, via=Via(state.via), actor=actor)
        record(place, "effort.summary_failed", slug_in(state), text=why, artifact=draft)
    compacting.registered().accept(digest, actor, via)


def stop_summary(place: Place, slug: str) -> None:
    """Nobody waits for it any more; what stands in the prompt goes on to. Raises `Refused` where none is being
    drafted."""
    with changing(place) as branch:
        state = known(branch, slug)
        drafting = EffortState.objects.filter(pk=state.pk, summary__in=UNDER_WAY)
        stopped = SummaryState.DIGEST if digest_stands(branch, state.effort) else SummaryState.FAILED
        if not drafting.update(**{**NO_SUMMARY, "summary": stopped, "draft": STOPPED}):
            raise Refused("not_drafted", f"No summary of {slug_in(state)} is being drafted.")
        record(place, "effort.summary_failed", slug_in(state), text=STOPPED)
        transaction.on_commit(events.wake_runners)


def retry_summary(place: Place, slug: str, focus: str = "") -> None:
    """The summary is drafted anew, with `focus` kept in view. Raises `Refused` where that is too long, other turns
    cover the effort, or nothing is to be drafted."""
    focus = focus_of(focus)
    with changing(place) as branch:
        state = known(branch, slug)
        if is_covered(branch, state.effort):
            raise Refused("covered", COVERED.format(slug=slug_in(state)))
        again = EffortState.objects.filter(pk=state.pk, status=EffortStatus.CONCLUDED, summary__in=MAY_BE_DRAFTED)
        if not again.update(**{**SUMMARY_DUE, "focus": focus}):
            raise Refused("not_failed", f"{slug_in(state)} lacks no summary that could be drafted.")
        record(place, "effort.summary_due", slug_in(state), **({"focus": focus} if focus else {}))
        transaction.on_commit(events.wake_runners)


def concluded_already(place: Place, state: EffortState) -> str:
    slug = slug_in(state)
    if place.via != Via.MODEL:
        return f"{slug} is concluded. Reopen it in the list of efforts, or type /expand {slug} to show its log."
    return f'{slug} is concluded. reopen_effort("{slug}") opens it again, expand_effort("{slug}") shows it.'
