"""One conversation: its page, the parts it is read again by, and the commands of a turn."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from functools import wraps
from typing import Any
from uuid import UUID, uuid4

from django.conf import settings
from django.db.models import QuerySet
from django.http import Http404, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.views.decorators.http import require_POST

from efforts import actions
from efforts.actions import Place
from efforts.context import constraints, efforts, ledger, plans
from efforts.context.holds import holds_view, with_pins
from efforts.context.naming import with_names
from efforts.domain.commands import COMMANDS, to_be_sent
from efforts.domain.effort.policy import ContextMode
from efforts.domain.effort.states import Via
from efforts.domain.errors import Refused
from efforts.domain.text.counting import number_in
from efforts.llm.tokens import get_counter
from efforts.log.timelines import branch_turns
from efforts.models import Branch, Message, SavedPrompt
from efforts.pages.markdown import render_finished
from efforts.pages.presenters import chat as chat_shown
from efforts.pages.presenters.arriving import found_here
from efforts.pages.presenters.branches import branches_view
from efforts.pages.presenters.files import Refusal, in_composer, waiting_views
from efforts.pages.presenters.siblings import OPENING, PAGE, SHORT
from efforts.pages.views.begun import take_begun
from efforts.pages.views.shared import (
    OwnRequest,
    about,
    back_to,
    fields,
    model_label,
    of_branch,
    page,
    page_of_branch,
    part,
    place,
    refused_json,
    status_of,
    text_field,
    turn_here,
    wants_json,
)
from efforts.turns import verbs
from efforts.turns.demo import is_whole
from efforts.turns.week import PROMPTS, WEEK

# Which turns of the log a page shows.
NEWEST: Mapping[str, int | None] = {}
Command = Callable[..., Mapping[str, Any]]
# By the word in the address: the action, and how a person came to it.
Verbs = Mapping[str, tuple[Callable[[Place, int], object], Via]]
# Who comes back after so long is told where things were left.
AWAY = timedelta(hours=1)


@page_of_branch
def chat(request: OwnRequest, branch: Branch) -> HttpResponse:
    actions.see_session(branch.session)
    text, refused = take_begun(request, branch.session)
    text = text or words_to_begin_with(branch, turn_number(request.GET.get("words")))
    return chat_page(request, branch, text=text, refused=refused)


def words_to_begin_with(branch: Branch, message_id: int | None) -> str:
    """Those of the message that the branch was forked before."""
    said = Message.objects.filter(session=branch.session_id, role=Message.Role.USER, pk=message_id or 0)
    return said.values_list("text", flat=True).first() or ""


def chat_page(
    request: OwnRequest,
    branch: Branch,
    *,
    where: Mapping[str, int | None] = NEWEST,
    text: str = "",
    error: str = "",
    refused: Sequence[Refusal] = (),
    status: int = 200,
) -> HttpResponse:
    opening = OPENING if branch.head > SHORT else PAGE
    context = {**log_context(branch, where, opening), "text": text, "error": error, "found": found_in(request, branch)}
    # Made with the page, so that a form sent twice is one turn without any script too.
    more = {
        "client_id": uuid4().hex,
        "commands": COMMANDS,
        "prompts": SavedPrompt.objects.filter(owner=request.user),
        **in_composer(branch.session),
        "refused": refused,
        "branches": branches_view(branch),
        "suggestions": suggestions(branch),
        "unfinished": branch.session.is_example and not is_whole(branch.session),
        **efforts_context(branch, context["plan"]),
    }
    return page(request, "chat/page.html", {**context, **more}, status=status)


def efforts_context(branch: Branch, plan: plans.PlanView) -> dict[str, Any]:
    shown = efforts.efforts_view(branch, plan=plan)
    away = timezone.now() - branch.session.last_activity_at > AWAY
    where = efforts.where_view(branch) if away and shown.total else None
    return {"efforts": shown, "destinations": shown, "where": where}


def suggestions(branch: Branch) -> list[dict[str, str]]:
    """Questions to try that were not asked yet, while nothing else was said in the example."""
    if not branch.session.is_example or branch.parent_id or branch.head < len(WEEK):
        return []
    later = Message.objects.filter(turn__in=branch_turns(branch).filter(number__gt=len(WEEK)), role=Message.Role.USER)
    asked = set(later.values_list("text", flat=True))
    if not asked <= set(PROMPTS):
        return []
    return [{"text": text, "client_id": uuid4().hex} for text in PROMPTS if text not in asked]


def found_in(request: OwnRequest, branch: Branch) -> str:
    """What a search led to here."""
    return found_here(branch, request.GET.get("found", ""), request.GET.getlist("mark"))


def stretch(branch: Branch, where: Mapping[str, int | None], newest: int = PAGE) -> dict[str, Any]:
    """Of the log alone; `newest`: how many of the newest turns, where nothing says which ones."""
    count = PAGE if any(where.values()) else newest
    shown = chat_shown.chat_page(branch, **where, count=count)
    numbers = [turn.number for turn in shown.turns]
    ends = {"first_number": min(numbers, default=0), "last_number": max(numbers, default=0)}
    return {**about(branch), "page": shown, **ends}


def log_context(branch: Branch, where: Mapping[str, int | None], newest: int = PAGE) -> dict[str, Any]:
    shown = stretch(branch, where, newest)
    numbers = [turn.number for turn in shown["page"].turns]
    following = next_call(branch)
    first = following["plan"].window_from
    return {
        **following,
        **shown,
        # No line above the first turn shown: there is nothing on the page that it would part off.
        "window_from": first if first in numbers[1:] else None,
    }


def next_call(branch: Branch, text: str = "") -> dict[str, Any]:
    """`text`: what is being written."""
    plan = plans.preview(branch, draft_text=text)
    waiting = sum(file.tokens for file in waiting_views(branch.session))
    holds = holds_view(branch, plan)
    return {
        **about(branch),
        "plan": with_pins(with_names(plan, branch.session), holds),
        "holds": holds,
        "dropped_out": efforts.dropped_out(branch),
        "draft_tokens": get_counter(settings.CCM_ENCODING).count(text) + waiting,
        "rules": constraints.constraints_view(branch),
        "ledger": ledger.ledger_counts(branch),
        "model_label": model_label(branch.session),
        "mode": ContextMode(branch.session.context_mode),
        "modes": list(ContextMode),
    }


@page_of_branch
def log(request: OwnRequest, branch: Branch) -> HttpResponse:
    where = {name: turn_number(request.GET.get(name)) for name in ("before", "after", "around", "since")}
    if not request.htmx:
        return chat_page(request, branch, where=where)
    if where["before"] or where["after"]:
        side = "earlier" if where["before"] else "later"
        return part(request, "chat/turns.html", {**stretch(branch, where), "part": side})
    return part(request, "chat/log.html", log_context(branch, where))


def turn_number(value: str | None) -> int | None:
    if value is None:
        return None
    if number := number_in(value):
        return number
    raise Http404


@page_of_branch
def turn(request: OwnRequest, branch: Branch, number: int) -> HttpResponse:
    if not request.htmx:
        return redirect(f"{branch.get_absolute_url()}#turn-{number}")
    view = chat_shown.turn_view(branch, number)
    if view is None:
        raise Http404
    return part(request, "chat/turn.html", {**about(branch), "turn": view})


@page_of_branch
def blocks(request: OwnRequest, branch: Branch, number: int) -> HttpResponse:
    """Of a reply that streams the blocks that are finished behind `from`, and where they end."""
    run = turn_here(branch, number).run
    call, start = turn_number(request.GET.get("call")), number_in(request.GET.get("from"))
    if run is None or call is None or start is None:
        raise Http404
    html, length = render_finished(chat_shown.live_from(run, call, start))
    return JsonResponse({"html": html, "end": start + length})


@page_of_branch
def context(request: OwnRequest, branch: Branch) -> HttpResponse:
    if request.htmx:
        return context_answer(request, branch)
    return page(request, "chat/context_page.html", next_call(branch))


@page_of_branch
def switch(request: OwnRequest, branch: Branch) -> HttpResponse:
    """What can answer beside the composer, and which of it does."""
    return part(request, "chat/switch.html", about(branch))


@require_POST
@of_branch
def price(request: OwnRequest, branch: Branch) -> HttpResponse:
    """The next call as it would be with what is being written; nothing is stored."""
    return context_answer(request, branch, to_be_sent(request.POST.get("text", "")))


def context_answer(request: OwnRequest, branch: Branch, text: str = "") -> HttpResponse:
    # White space is not sent.
    following = next_call(branch, text if text.strip() else "")
    return part(request, "chat/context_answer.html", {"window_from": following["plan"].window_from, **following})


def command(act: Command) -> Callable[..., HttpResponse]:
    """A change by POST: JSON for scripts, the page again for plain forms."""

    @require_POST
    @of_branch
    @wraps(act)
    def answered(request: OwnRequest, branch: Branch, **which: Any) -> HttpResponse:
        try:
            result = act(request, branch, **which)
        except Refused as error:
            return refused(request, branch, error)
        if wants_json(request):
            return JsonResponse(result)
        return redirect(result.get("go") or back_to(request, branch))

    return answered


def change_row(request: OwnRequest, branch: Branch, rows: QuerySet[Any], pk: int, verbs: Verbs, verb: str) -> None:
    """What the address names is done with one of the rows."""
    if verb not in verbs:
        raise Http404
    get_object_or_404(rows, pk=pk)
    act, via = verbs[verb]
    act(place(request, branch, via), pk)


def refused(request: OwnRequest, branch: Branch, error: Refused) -> HttpResponse:
    if wants_json(request):
        return refused_json(error)
    return chat_page(request, branch, text=request.POST.get("text", ""), error=error.text, status=status_of(error))


@command
def send(request: OwnRequest, branch: Branch) -> Mapping[str, Any]:
    posted = fields(request)
    text, client_id = text_field(posted, "text"), text_field(posted, "client_id")
    how = {name: bool(posted.get(name)) for name in ("cut", "aside", "plain")}
    # A form has a field for each, JSON a list.
    files = posted["files"] if "files" in posted else request.POST.getlist("file")
    return verbs.send(branch, request.user, text=text, client_id=client_id, files=files, **how)


@command
def budget(request: OwnRequest, branch: Branch) -> Mapping[str, Any]:
    chosen = str(fields(request).get("budget", ""))
    actions.configure_session(branch.session, actor=request.user, budget=number_in(chosen) or chosen)
    return {"budget": branch.session.budget}


@command
def context_mode(request: OwnRequest, branch: Branch) -> Mapping[str, Any]:
    mode = text_field(fields(request), "mode")
    actions.configure_session(branch.session, actor=request.user, context_mode=mode)
    mode = ContextMode(branch.session.context_mode)
    return {"mode": str(mode), "says": f"Context mode {mode.label}: {mode.meaning}."}


@command
def model(request: OwnRequest, branch: Branch) -> Mapping[str, Any]:
    """Who answers from the next message on."""
    actions.set_model(branch.session, text_field(fields(request), "model"), actor=request.user)
    return {"model": model_label(branch.session)}


@command
def stop(request: OwnRequest, branch: Branch, run_id: UUID) -> Mapping[str, Any]:
    return verbs.stop(branch, request.user, run_id=run_id)


@command
def cancel(request: OwnRequest, branch: Branch, number: int) -> Mapping[str, Any]:
    return verbs.cancel(branch, request.user, number=number)


@command
def leave_out(request: OwnRequest, branch: Branch, number: int) -> Mapping[str, Any]:
    """With `back`: put back."""
    act = actions.put_back if fields(request).get("back") else actions.leave_out
    act(place(request, branch), number)
    return {"turn": number}


@command
def retry(request: OwnRequest, branch: Branch, number: int) -> Mapping[str, Any]:
    changes = chosen_changes(branch, number, fields(request))
    return verbs.retry(branch, request.user, number=number, changes=changes)


@command
def go_on(request: OwnRequest, branch: Branch, number: int) -> Mapping[str, Any]:
    return verbs.go_on(branch, request.user, number=number)


def chosen_changes(branch: Branch, number: int, posted: Mapping[str, Any]) -> Mapping[str, Any]:
    """The fix whose button was pressed, by its place among those the turn offers."""
    if "fix" not in posted:
        return {}
    view = chat_shown.turn_view(branch, number)
    offered = {str(place): fix for place, fix in enumerate(view.fixes)} if view else {}
    chosen = offered.get(str(posted["fix"]))
    if chosen is None:
        raise Refused("no_such_fix", "This is no longer offered. Reload the page.")
    changes: Mapping[str, Any] = chosen["changes"]
    return changes
