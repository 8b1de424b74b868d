"""The start page: the first message, the example, three prompts to try, the theme."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING
from uuid import uuid4

from django.contrib.auth.decorators import login_not_required
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from efforts import actions
from efforts.context import connections
from efforts.domain.errors import Refused
from efforts.models import Endpoint, Session
from efforts.pages.presenters.files import limits, together
from efforts.pages.themes import THEME_COOKIE, THEMES
from efforts.pages.views.begun import keep_begun
from efforts.pages.views.files import add
from efforts.pages.views.shared import OwnRequest, done, form_view, model_label, page, part_or_page
from efforts.turns.demo import begin_demo, demo_of, go_on, is_whole, played
from efforts.turns.week import WEEK

if TYPE_CHECKING:
    from django.core.files.uploadedfile import UploadedFile

YEAR = 31_536_000
# Seconds in which as much of the example is made as can be, before the page says how far it is.
AT_ONCE = 0.7
PROMPTS = (
    "What can you do here?",
    "The spring release goes out on 14 May and Dana signs it off. When is the release?",
    "The webhook times out because the handler waits for the ledger. Why does the webhook time out?",
)


@require_GET
def start(request: OwnRequest) -> HttpResponse:
    return start_page(request)


def start_page(request: OwnRequest, *, text: str = "", error: str = "", status: int = 200) -> HttpResponse:
    endpoint, model = connections.defaults_for(request.user)
    label = model_label(Session(endpoint=endpoint, model=model))
    builtin = label == connections.BUILTIN_LABEL
    connected = builtin and Endpoint.objects.filter(owner=request.user).exists()
    context = {"text": text, "error": error, "prompts": PROMPTS, "builtin": builtin, "connected": connected}
    return page(
        request,
        "start/page.html",
        {**context, "model_label": label, "text_bytes": actions.LARGEST_MESSAGE, **limits()},
        status=status,
    )


@require_POST
def new_session(request: OwnRequest) -> HttpResponse:
    text = request.POST.get("text", "")
    try:
        if files := request.FILES.getlist("file"):
            return redirect(with_files(request, files, text))
        return redirect(begun(request, text))
    except Refused as error:
        return start_page(request, text=text, error=error.text, status=422)


def begun(request: OwnRequest, text: str) -> str:
    """Where the person goes on."""
    # What is refused, or only leads elsewhere, must not leave an empty conversation behind.
    with transaction.atomic():
        session = actions.create_session(request.user)
        if text:
            plain = bool(request.POST.get("plain"))
            typed = actions.take_typed(session, text=text, client_id=uuid4().hex, actor=request.user, plain=plain)
            if typed.go:
                transaction.set_rollback(True)
                return typed.go
    return session.get_absolute_url()


def with_files(request: OwnRequest, files: Sequence[UploadedFile[bytes]], text: str) -> str:
    """A conversation with the files in its composer, where their price is seen before they are sent. Raises `Refused`
    where none of them can be read; then there is no conversation."""
    # Not in one transaction: reading files may take seconds.
    session = actions.create_session(request.user)
    refused = [fault for upload in files if (fault := add(request, session, upload))]
    if len(refused) == len(files):
        actions.erase_session(session, actor=request.user)
        raise Refused("files", together(refused))
    keep_begun(request, session, text, refused)
    return session.get_absolute_url()


@never_cache
@form_view
def example(request: OwnRequest) -> HttpResponse:
    """Some of it with each POST, so that it can be seen coming; a GET shows how far it is, and makes nothing."""
    if request.method != "POST":
        found = demo_of(request.user)
        return redirect("start") if found is None else how_far(request, found)
    session, _ = begin_demo(request.user)
    until = time.monotonic() + AT_ONCE
    more = go_on(session)
    while more and time.monotonic() < until:
        more = go_on(session)
    # What a form was sent to can be neither reloaded nor come back to.
    return how_far(request, session) if request.htmx or not more else redirect("example")


def how_far(request: OwnRequest, session: Session) -> HttpResponse:
    session.refresh_from_db()
    if not is_whole(session):
        context = {"done": played(session), "whole": len(WEEK)}
        return part_or_page(request, "start/making.html", "start/example.html", context)
    address = session.get_absolute_url()
    return done(go_to=address) if request.htmx else redirect(address)


# The sign-in page has the switch too.
@login_not_required
@require_POST
def theme(request: HttpRequest) -> HttpResponse:
    # `next` comes with the form: only addresses of our own, or another site could send people on from here.
    after = request.POST.get("next", "/")
    response = redirect(after if url_has_allowed_host_and_scheme(after, allowed_hosts=None) else "/")
    if request.POST.get("theme") in THEMES:
        response.set_cookie(
            THEME_COOKIE, request.POST["theme"], max_age=YEAR, samesite="Lax", secure=request.is_secure()
        )
    return response
