"""The ledger: its page, and what a person does with decisions and open work."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect

from efforts import actions
from efforts.actions import Place
from efforts.actions.ledger import LONGEST_ENTRY
from efforts.context.ledger import LedgerView, entries_view, ledger_page
from efforts.domain.effort.states import EntryKind, Via
from efforts.domain.errors import Refused, refusal
from efforts.domain.text.locating import find_shown, one_line
from efforts.domain.text.sentences import split
from efforts.log.timelines import branch_turns
from efforts.models import Branch, LedgerEntry, Message
from efforts.pages.forms import EntryForm
from efforts.pages.views.chat import Verbs, change_row, command, turn_number
from efforts.pages.views.shared import (
    OwnRequest,
    about,
    acted,
    dialog,
    done,
    form_of_branch,
    page_of_branch,
    part_or_page,
    place,
    turn_here,
)

RULE = "rule"
# Of a longer message the rest is written by hand.
MOST_SENTENCES = 60
VERBS: Verbs = {
    "keep": (actions.confirm_entry, Via.OFFER),
    "dismiss": (actions.dismiss_entry, Via.CONTROL),
    "done": (actions.finish_entry, Via.CONTROL),
    "open": (actions.leave_open, Via.OFFER),
    "reopen": (actions.reopen_entry, Via.CONTROL),
}


@page_of_branch
def ledger(request: OwnRequest, branch: Branch) -> HttpResponse:
    found = ledger_page(branch)
    context = {**about(branch), "ledger": found, "rules": found.rules}
    return part_or_page(request, "ledger/panel.html", "ledger/page.html", context)


@command
def change(request: OwnRequest, branch: Branch, pk: int, verb: str) -> Mapping[str, Any]:
    change_row(request, branch, LedgerEntry.objects.filter(session=branch.session), pk, VERBS, verb)
    return {"entry": pk}


@form_of_branch
def new(request: OwnRequest, branch: Branch) -> HttpResponse:
    """`turn` and `of` name a message, or in a reply all of it; `text` is what of it is selected."""
    if request.method == "POST":
        return noted(request, branch)
    number = turn_number(request.GET.get("turn")) or 0
    message, text, words = meant(branch, number, request.GET.get("of", ""), request.GET.get("text", ""))
    form = EntryForm(kept_decisions(branch), initial={"text": text})
    return note_form(
        request, branch, form, {"message": message.pk, "words": words, "sentences": listed(message, words)}
    )


def listed(message: Message | None, words: str) -> list[str]:
    """What may be chosen of a message: its sentences, and what was selected in it."""
    found = [one_line(text)[:LONGEST_ENTRY] for text in split(message.text)][:MOST_SENTENCES] if message else []
    return list(dict.fromkeys([*([words] if words else []), *(text for text in found if text)]))


def noted(request: OwnRequest, branch: Branch) -> HttpResponse:
    posted = request.POST
    message, words = turn_number(posted.get("message")) or 0, posted.get("words", "")
    form = EntryForm(kept_decisions(branch), posted)
    here, kind = place(request, branch), posted.get("kind", "")
    if acted(form, lambda given: note(here, message, words, kind, given), field="text"):
        return saved(request, branch)
    row = Message.objects.filter(session=branch.session, pk=message).first()
    return note_form(request, branch, form, {"message": message, "words": words, "sentences": listed(row, words)})


def note(here: Place, message: int, words: str, kind: str, given: Mapping[str, Any]) -> None:
    if kind == RULE:
        said = Message.objects.filter(session=here.branch.session, pk=message, role=Message.Role.USER).first()
        actions.set_constraint(here, given["text"], turn=said.turn.number if said else None)
        return
    if kind not in set(EntryKind):
        raise Refused("bad_kind", "Choose whether it is a decision, a to-do or a rule.")
    replaces = int(given["replaces"]) if given.get("replaces") and kind == EntryKind.DECISION else None
    actions.note_entry(here, message, EntryKind(kind), given["text"], words=words, replaces=replaces)


def note_form(request: OwnRequest, branch: Branch, form: EntryForm, more: Mapping[str, Any]) -> HttpResponse:
    context = {**about(branch), "form": form, "title": "Write it down", **more}
    return dialog(request, "ledger/form.html", context, status=422 if form.errors else 200)


def kept_decisions(branch: Branch) -> tuple[LedgerView, ...]:
    return entries_view(branch, EntryKind.DECISION).kept


def meant(branch: Branch, number: int, of: str, selected: str) -> tuple[Message, str, str]:
    """The message, the text to begin with, and which words of the message it stands for; none where it is all of it."""
    if not number:
        raise Http404
    messages = messages_of(branch, number, of)
    for message in messages:
        if selected and find_shown(selected, message.text):
            text = one_line(selected)[:LONGEST_ENTRY]
            return message, text, text
    return messages[-1], one_line(messages[-1].text)[:LONGEST_ENTRY], ""


def messages_of(branch: Branch, number: int, of: str) -> list[Message]:
    turn = turn_here(branch, number)
    said = turn.messages.order_by("pk")
    mine = said.filter(run=turn.run, role=Message.Role.ASSISTANT) if of == "reply" else said.filter(role="user")
    messages = list(mine.exclude(text=""))
    if not messages:
        raise Http404
    return messages


@form_of_branch
def edit(request: OwnRequest, branch: Branch, pk: int) -> HttpResponse:
    entry = entry_here(branch, pk)
    form = EntryForm((), request.POST if request.method == "POST" else None, initial={"text": entry.text})
    if acted(form, lambda given: actions.edit_entry(place(request, branch), pk, given["text"]), field="text"):
        return saved(request, branch)
    context = {**about(branch), "form": form, "entry": entry, "title": "Edit"}
    return dialog(request, "ledger/form.html", context, status=422 if form.errors else 200)


@form_of_branch
def replace(request: OwnRequest, branch: Branch, pk: int) -> HttpResponse:
    """Which decision takes the place of this one."""
    entry = entry_here(branch, pk)
    error = None
    if request.method == "POST":
        by = turn_number(request.POST.get("by")) or 0
        error = refusal(lambda: actions.supersede_entry(place(request, branch), pk, by))
        if error is None:
            return saved(request, branch)
    found = entries_view(branch, EntryKind.DECISION)
    others = [one for one in (*found.kept, *found.waiting) if one.id != pk]
    told = error.text if error else ""
    context = {**about(branch), "entry": entry, "others": others, "error": told, "title": "What replaces it?"}
    return dialog(request, "ledger/replace.html", context, status=422 if error else 200)


def entry_here(branch: Branch, pk: int) -> LedgerEntry:
    return get_object_or_404(LedgerEntry, session=branch.session, source__turn__in=branch_turns(branch), pk=pk)


def saved(request: OwnRequest, branch: Branch) -> HttpResponse:
    return done("closeDialog", "context", "ledger") if request.htmx else redirect(branch.address("ledger"))
