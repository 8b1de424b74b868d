"""Saved prompts in the settings, and the text of one for the composer."""

from __future__ import annotations

from django import forms
from django.http import Http404, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from efforts import actions
from efforts.actions.prompts import LONGEST_NAME, LONGEST_TEXT
from efforts.domain.errors import Refused
from efforts.models import SavedPrompt
from efforts.pages.views.shared import OwnRequest, acted, dialog, form_view, saved


class PromptForm(forms.Form):
    name = forms.CharField(
        label="Name",
        max_length=LONGEST_NAME + 1,
        help_text="Type / and this name in the message field.",
        widget=forms.TextInput(
            attrs={"autocomplete": "off", "spellcheck": "false", "autofocus": True, "placeholder": "standup"}
        ),
    )
    text = forms.CharField(
        label="Text",
        max_length=LONGEST_TEXT,
        widget=forms.Textarea(attrs={"class": "input", "rows": 8, "dir": "auto"}),
    )


@form_view
def new(request: OwnRequest) -> HttpResponse:
    return form(request, None)


@form_view
def edit(request: OwnRequest, pk: int) -> HttpResponse:
    return form(request, owned(request, pk))


def form(request: OwnRequest, row: SavedPrompt | None) -> HttpResponse:
    initial = {"name": row.name, "text": row.text} if row else {}
    typed = PromptForm(request.POST if request.method == "POST" else None, initial=initial)
    pk = row.pk if row else None
    if acted(typed, lambda given: actions.save_prompt(request.user, given["name"], given["text"], pk=pk)):
        return saved(request, None)
    context = {"form": typed, "title": f"Edit /{row.name}" if row else "New prompt"}
    return dialog(request, "account/prompt.html", context, status=422 if typed.errors else 200)


@require_POST
def delete(request: OwnRequest, pk: int) -> HttpResponse:
    try:
        actions.delete_prompt(request.user, pk)
    except Refused as error:
        raise Http404 from error
    return redirect(f"{reverse('settings')}#prompts")


@never_cache
@require_GET
def text(request: OwnRequest, pk: int) -> JsonResponse:
    return JsonResponse({"text": owned(request, pk).text})


def owned(request: OwnRequest, pk: int) -> SavedPrompt:
    return get_object_or_404(SavedPrompt, owner=request.user, pk=pk)
