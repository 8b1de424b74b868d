"""A person's own instructions: for all conversations in the settings, for one from its menu; priced as typed."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpResponse
from django.views.decorators.http import require_POST

from efforts import actions
from efforts.actions.instructions import LONGEST
from efforts.context.instructions import instructions_of, tokens_of
from efforts.domain.errors import Refused
from efforts.models import Session
from efforts.pages.views.shared import OwnRequest, dialog, form_view, owned_session, part, saved


@form_view
def own(request: OwnRequest) -> HttpResponse:
    return form(request, None)


@form_view
def of_session(request: OwnRequest, session_id: UUID) -> HttpResponse:
    return form(request, owned_session(request, session_id))


def form(request: OwnRequest, session: Session | None) -> HttpResponse:
    text, error = request.POST.get("text", ""), ""
    if request.method == "POST":
        try:
            actions.set_instructions(request.user, text, session=session)
        except Refused as refused:
            error = refused.text
        else:
            return saved(request, session)
    else:
        text = instructions_of(request.user, session)
    context = {
        "title": "Instructions for this conversation" if session else "Your instructions",
        "session": session,
        "text": text,
        "tokens": tokens_of(text, for_all=session is None),
        "longest": LONGEST,
        "error": error,
    }
    return dialog(request, "account/instructions.html", context, status=422 if error else 200)


@require_POST
def price(request: OwnRequest) -> HttpResponse:
    """What the text would add to every request; nothing is stored."""
    text = request.POST.get("text", "")[: 2 * LONGEST]
    for_all = not request.POST.get("session")
    return part(request, "account/instructions_price.html", {"tokens": tokens_of(text, for_all=for_all)})
