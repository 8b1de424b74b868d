"""What all views stand on: who asks, whose conversation it is, whole page or part, refusals."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, TypeVar
from uuid import UUID

from django.core.exceptions import RequestDataTooBig
from django.db.models import Q
from django.http import HttpRequest, HttpResponse, JsonResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.cache import patch_vary_headers
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods

from efforts import actions
from efforts.actions import Place
from efforts.context import connections
from efforts.domain.effort.states import Via
from efforts.domain.errors import Refused, refusal
from efforts.log.timelines import branch_turns
from efforts.models import Branch, Session, Turn
from efforts.models.said import OwnWords, said
from efforts.models.threads import read
from efforts.pages.presenters.conversations import Asked, conversation_list

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.db.models import QuerySet
    from django.forms import Form
    from django_htmx.middleware import HtmxDetails

R = TypeVar("R")

LISTED = 200
# Refusals of something that is over already, as against something that was wrong from the start.
TOO_LATE = {"not_waiting", "not_last", "not_retryable", "undone", "overtaken", "changed"}
NOT_HERE = {"no_such_turn", "no_such_run"}

form_view = require_http_methods(["GET", "HEAD", "POST"])


class OwnRequest(HttpRequest):
    """A request as it comes out of the middleware: of a signed-in person."""

    user: User
    htmx: HtmxDetails


def owned_session(request: OwnRequest, session_id: UUID) -> Session:
    # 404 and not 403: whether somebody else's conversation exists is nobody's business.
    return get_object_or_404(Session.objects.owned_by(request.user).select_related("endpoint"), pk=session_id)


def owned_branch(request: OwnRequest, session_id: UUID, branch_id: UUID | None = None) -> Branch:
    """The main branch where none is named."""
    which = Q(pk=branch_id) if branch_id else Q(parent=None)
    branches = Branch.objects.filter(which, session=session_id, session__in=Session.objects.owned_by(request.user))
    return get_object_or_404(branches.select_related("session__endpoint", "session__owner", "active_effort", "focus"))


def of_branch(view: Callable[Concatenate[OwnRequest, Branch, ...], R]) -> Callable[..., R]:
    """A view of the branch that its address names."""

    @wraps(view)
    def found(request: OwnRequest, session_id: UUID, branch_id: UUID | None = None, **which: Any) -> R:
        return view(request, owned_branch(request, session_id, branch_id), **which)

    return found


def page_of_branch(view: Callable[Concatenate[OwnRequest, Branch, ...], HttpResponse]) -> Callable[..., HttpResponse]:
    """What is read of a branch. Back must read it anew: an old copy has an old event number."""
    return never_cache(require_GET(of_branch(view)))


def form_of_branch(view: Callable[Concatenate[OwnRequest, Branch, ...], HttpResponse]) -> Callable[..., HttpResponse]:
    return form_view(of_branch(view))


def place(request: OwnRequest, branch: Branch, via: Via = Via.CONTROL) -> Place:
    """Where the person who asks changes something."""
    return actions.here(branch.session, actor=request.user, via=via, branch=branch)


def about(branch: Branch) -> dict[str, Any]:
    """What templates need to make addresses."""
    return {"session": branch.session, "branch": branch}


def back_to(request: HttpRequest, branch: Branch) -> str:
    """Where a plain form goes on: the page it was on, where it says so, else the conversation."""
    page = request.POST.get("next", "")
    own = page.startswith((branch.session.get_absolute_url(), reverse("reviews")))
    # The path is checked for what browsers read as another host.
    return page if own and url_has_allowed_host_and_scheme(page, allowed_hosts=None) else branch.get_absolute_url()


def turn_here(branch: Branch, number: int) -> Turn:
    return get_object_or_404(branch_turns(branch).select_related("run", "session__endpoint"), number=number)


def listed_sessions(user: User) -> QuerySet[Session]:
    """The newest, to choose from."""
    return Session.objects.owned_by(user).filter(archived_at=None)[:LISTED]


def page(request: OwnRequest, template: str, context: Mapping[str, Any], *, status: int = 200) -> HttpResponse:
    """A whole page, with the list of conversations beside it."""
    session = context.get("session")
    nav = {"conversations": conversation_list(request.user, Asked(current=session.pk if session else None))}
    return varied(render(request, template, {**nav, **context}, status=status))


def part(request: OwnRequest, template: str, context: Mapping[str, Any], *, status: int = 200) -> HttpResponse:
    return varied(render(request, template, dict(context), status=status))


def saved(request: OwnRequest, where: Branch | Session | None) -> HttpResponse:
    """After a form: the dialog closes, or what it was about is shown; without that, the settings."""
    if where is None:
        # Without a fragment: a page at this address already would not be read again.
        return done(go_to=reverse("settings")) if request.htmx else redirect("settings")
    return done("closeDialog", "context") if request.htmx else redirect(where)


def part_or_page(
    request: OwnRequest, of_part: str, of_page: str, context: Mapping[str, Any], *, status: int = 200
) -> HttpResponse:
    """The template of the part for htmx, else that of the page which has it."""
    if request.htmx:
        return part(request, of_part, context, status=status)
    return page(request, of_page, context, status=status)


def dialog(request: OwnRequest, template: str, context: Mapping[str, Any], *, status: int = 200) -> HttpResponse:
    """A form for the page's dialog; at its own address a page that holds the same form."""
    if request.htmx:
        return part(request, template, context, status=status)
    return page(request, "parts/form_page.html", {"partial": template, **context}, status=status)


def acted(form: Form, act: Callable[[dict[str, Any]], object], *, field: str = "") -> bool:
    """Whether the form was sent, holds, and was acted upon; what is refused stands at `field`, or at its own."""
    if not form.is_bound or not form.is_valid():
        return False
    error = refusal(lambda: act(form.cleaned_data))
    if error:
        form.add_error(field or (error.code if error.code in form.fields else None), error.text)
    return error is None


def streamed_lines(chunks: Iterator[list[str]], file: str) -> StreamingHttpResponse:
    """A file with lines of JSON, written while it is read."""
    response = StreamingHttpResponse(joined(chunks), content_type="application/jsonl")
    response["Content-Disposition"] = f'attachment; filename="{file}.jsonl"'
    return response


async def joined(chunks: Iterator[list[str]]) -> AsyncIterator[str]:
    while (lines := await read(next, chunks, None)) is not None:
        yield "".join(f"{line}\n" for line in lines)


def varied(response: HttpResponse) -> HttpResponse:
    # The page and its part have one address: a cache that does not know would show the bare part on Back.
    patch_vary_headers(response, ["HX-Request"])
    return response


def done(*events: str, go_to: str = "") -> HttpResponse:
    """The answer to a form of htmx that has nothing to show: what the page should know, or where to go."""
    response = HttpResponse(status=204)
    if events:
        response["HX-Trigger"] = json.dumps(dict.fromkeys(events))
    if go_to:
        response["HX-Redirect"] = go_to
    return response


def wants_json(request: HttpRequest) -> bool:
    # First what a client gets that accepts anything: scripts do, browsers name HTML.
    return request.get_preferred_type(["application/json", "text/html"]) == "application/json"


def fields(request: HttpRequest) -> Mapping[str, Any]:
    """What was posted, as a form or as a JSON object."""
    try:
        if request.content_type != "application/json":
            return request.POST.dict()
        posted = json.loads(request.body)
    except RequestDataTooBig as error:
        raise Refused("too_large", "This is too large to send. Send it in parts.") from error
    except (ValueError, RecursionError) as error:
        raise Refused("bad_request", "The request is not JSON.") from error
    if not isinstance(posted, dict):
        raise Refused("bad_request", "The request is not a JSON object.")
    return posted


def text_field(posted: Mapping[str, Any], name: str) -> str:
    value = posted.get(name, "")
    if not isinstance(value, str):
        raise Refused("bad_request", f"{name} must be text.")
    return value


def refused_json(error: Refused) -> JsonResponse:
    return JsonResponse({"code": error.code, "text": said(error.text)}, status=status_of(error))


def status_of(error: Refused) -> int:
    if error.code in NOT_HERE:
        return 404
    return 409 if error.code in TOO_LATE else 422


def model_label(session: Session) -> str:
    try:
        return connections.choose(session).label
    # The page must open all the same: the settings that mend it are reached from there.
    except connections.KeyUnreadable:
        return OwnWords(session.endpoint)
