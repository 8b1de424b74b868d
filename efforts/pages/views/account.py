"""Settings of one person: the models that may answer."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any

from asgiref.sync import async_to_sync
from django.conf import settings
from django.core.paginator import Paginator
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_GET, require_POST

from efforts.context import connections, constraints
from efforts.context.health import NEWEST_RUNS, model_health
from efforts.context.instructions import instructions_of, tokens_of
from efforts.llm.openai_chat import OpenAIChat
from efforts.llm.presets import PRESETS
from efforts.llm.protocol import ListedModel, ModelError
from efforts.log import events
from efforts.models import AccountEvent, Endpoint, SavedPrompt, Session
from efforts.pages.forms import EndpointForm
from efforts.pages.views.shared import OwnRequest, dialog, form_view, page, part

# A test is waited for by a person.
# A model may be loaded before it says its first word; what lists models has them.
LONGEST_TEST_SECONDS, LONGEST_LISTING_SECONDS = 60, 10

# Of staff, at what is somebody else's.
LOOKS = ("read by staff", "listed by staff")
LOOKS_ON_A_PAGE = 20


# Of a connection; the rest of its form is folded until somebody wants it.
NEEDED = {"name", "base_url", "key", "model", "is_default"}


@require_GET
def account(request: OwnRequest) -> HttpResponse:
    return settings_page(request)


def settings_page(request: OwnRequest, tested: dict[str, Any] | None = None) -> HttpResponse:
    endpoints = Endpoint.objects.filter(owner=request.user)
    own = instructions_of(request.user, None)
    looks = AccountEvent.objects.filter(owner=request.user, kind__in=LOOKS).select_related("actor")
    context = {
        "endpoints": endpoints,
        "has_default": any(endpoint.is_default for endpoint in endpoints),
        # A session that names nothing, never saved: what answers where no model of one's own does.
        "standard": connections.choose(Session()),
        "tested": tested,
        "may_add": connections.may_add_models(request.user),
        "looks": Paginator(looks, LOOKS_ON_A_PAGE).get_page(request.GET.get("looks")),
        "prompts": SavedPrompt.objects.filter(owner=request.user),
        "instructions": own,
        "instructions_tokens": tokens_of(own, for_all=True),
        "removed": AccountEvent.objects.filter(owner=request.user, kind=events.RECORDS_REMOVED).first(),
        "kept_days": settings.CCM_KEEP_AUDIT_DAYS,
        "rules": constraints.standing_view(request.user),
    }
    return page(request, "account/page.html", context)


@require_GET
def health(request: OwnRequest) -> HttpResponse:
    context = {"models": model_health(request.user), "newest": NEWEST_RUNS}
    return page(request, "account/health.html", context)


def owned_endpoint(request: OwnRequest, pk: int) -> Endpoint:
    return get_object_or_404(Endpoint, owner=request.user, pk=pk)


@form_view
def endpoint_new(request: OwnRequest) -> HttpResponse:
    preset = PRESETS.get(request.GET.get("preset", ""))
    given = {"name": preset.name, "base_url": preset.base_url} if preset else {}
    # Whoever has no model yet connects one to talk to it.
    first = connections.choose(Session()).kind == "builtin" and not Endpoint.objects.filter(owner=request.user).exists()
    return endpoint_page(request, Endpoint(owner=request.user, is_default=first, **given))


@form_view
def endpoint_edit(request: OwnRequest, pk: int) -> HttpResponse:
    return endpoint_page(request, owned_endpoint(request, pk))


def endpoint_page(request: OwnRequest, endpoint: Endpoint) -> HttpResponse:
    form = EndpointForm(request.POST or None, instance=endpoint)
    looked = None
    if request.method == "POST" and form.is_valid():
        if not request.POST.get("untested"):
            looked = look_at(form.candidate())
        if looked is None or looked.answers:
            form.save()
            return redirect("settings")
        if looked.unchosen:
            form.add_error("model", "It has several models. Choose one.")
    more = bool(endpoint.pk) or not form.errors.keys() <= NEEDED
    context = {"form": form, "endpoint": endpoint, "presets": PRESETS, "looked": looked, "more": more}
    if failed := bool(form.errors) or looked is not None:
        form.keep_key()
    return page(request, "account/endpoint.html", context, status=422 if failed else 200)


@form_view
def endpoint_delete(request: OwnRequest, pk: int) -> HttpResponse:
    endpoint = owned_endpoint(request, pk)
    if request.method == "POST":
        events.account(request.user, "endpoint.removed", {"name": endpoint.name})
        endpoint.delete()
        return redirect("settings")
    return dialog(request, "account/delete.html", {"endpoint": endpoint, "title": "Remove this model"})


@require_POST
def endpoint_default(request: OwnRequest, pk: int) -> HttpResponse:
    connections_of = Endpoint.objects.filter(owner=request.user)
    endpoint = owned_endpoint(request, pk)
    # Cleared first: the database allows each person one.
    with transaction.atomic():
        connections_of.update(is_default=False)
        connections_of.filter(pk=endpoint.pk).update(is_default=True)
    return redirect("settings")


@require_POST
def endpoint_test(request: OwnRequest, pk: int) -> HttpResponse:
    endpoint = owned_endpoint(request, pk)
    tested = {"endpoint": endpoint, **answer_of(endpoint)}
    return part(request, "account/tested.html", tested) if request.htmx else settings_page(request, tested)


def answer_of(endpoint: Endpoint) -> dict[str, Any]:
    """What the model says to a greeting, or in the provider's own words why it says nothing."""
    began = time.monotonic()
    try:
        answer = async_to_sync(patiently(endpoint).probe)(endpoint.model)
    except ModelError as error:
        return {"error": error.text}
    except connections.KeyUnreadable as error:
        return {"error": str(error)}
    return {"answer": answer, "elapsed_ms": round(1000 * (time.monotonic() - began))}


def patiently(endpoint: Endpoint, seconds: float = LONGEST_TEST_SECONDS) -> OpenAIChat:
    """Its model, asked once, for as long as a person waits for a test. Raises `KeyUnreadable`."""
    choice = connections.of_endpoint(endpoint)
    chat = connections.connect(replace(choice, timeout_seconds=min(choice.timeout_seconds, seconds)))
    chat.max_retries = 0
    return chat


@require_POST
def endpoint_look(request: OwnRequest, pk: int | None = None) -> HttpResponse:
    """What answers at an address that is being typed, before anything is saved."""
    endpoint = owned_endpoint(request, pk) if pk else Endpoint(owner=request.user)
    form = EndpointForm(request.POST, instance=endpoint)
    form.is_valid()
    wrong = form.errors.get("base_url") or form.errors.get("__all__")
    looked = Look(error=" ".join(map(str, wrong))) if wrong else listed_by(form.candidate())
    return part(request, "account/looked.html", {"looked": looked})


@dataclass(frozen=True, kw_only=True)
class Look:
    """What an endpoint said of itself, or why it said nothing."""

    models: tuple[ListedModel, ...] = ()
    error: str = ""
    is_reached: bool = True
    answers: bool = False
    unchosen: bool = False


def look_at(endpoint: Endpoint) -> Look:
    """Ask it, before it is saved: for its models where none is chosen, then for an answer. Takes over what it tells
    and the person left open: its only model, and that one's window."""
    listed = listed_by(endpoint)
    if not endpoint.model and len(listed.models) == 1:
        endpoint.model = listed.models[0].id
    if not endpoint.model and listed.models:
        return replace(listed, unchosen=True)
    if endpoint.context_window is None:
        told = (model.context_window for model in listed.models if model.id == endpoint.model)
        endpoint.context_window = next(told, None)
    # Not every endpoint lists its models; that it answers is what counts.
    tested = answer_of(endpoint) if listed.is_reached else {"error": listed.error}
    return replace(listed, error=tested.get("error", ""), answers="error" not in tested)


def listed_by(endpoint: Endpoint) -> Look:
    try:
        return Look(models=tuple(async_to_sync(patiently(endpoint, LONGEST_LISTING_SECONDS).list_models)()))
    except ModelError as error:
        return Look(error=error.text, is_reached=error.code not in ("unreachable", "timeout"))
    except connections.KeyUnreadable as error:
        return Look(error=str(error))
