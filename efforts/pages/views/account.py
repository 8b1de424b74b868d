"""Settings of one person: the models that may answer."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

from asgiref.sync import async_to_sync
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from efforts.context import connections, constraints
from efforts.context.health import NEWEST_RUNS, model_health
from efforts.llm.protocol import ModelError
from efforts.log import events
from efforts.models import Endpoint, Session
from efforts.pages.forms import EndpointForm
from efforts.pages.views.shared import OwnRequest, dialog, page, part

# A test is waited for by a person.
LONGEST_TEST_SECONDS = 60

form_view = require_http_methods(["GET", "HEAD", "POST"])


@require_GET
def account(request: OwnRequest) -> HttpResponse:
    return settings_page(request)


def settings_page(request: OwnRequest, tested: dict[str, Any] | None = None) -> HttpResponse:
    endpoints = Endpoint.objects.filter(owner=request.user)
    context = {
        "endpoints": endpoints,
        "has_default": any(endpoint.is_default for endpoint in endpoints),
        # A session that names nothing, never saved: what answers where no model of one's own does.
        "standard": connections.choose(Session()),
        "tested": tested,
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
    return endpoint_page(request, Endpoint(owner=request.user))


@form_view
def endpoint_edit(request: OwnRequest, pk: int) -> HttpResponse:
    return endpoint_page(request, owned_endpoint(request, pk))


def endpoint_page(request: OwnRequest, endpoint: Endpoint) -> HttpResponse:
    form = EndpointForm(request.POST or None, instance=endpoint)
    if request.method == "POST" and form.is_valid():
        form.save()
        return redirect("settings")
    context = {"form": form, "endpoint": endpoint}
    return page(request, "account/endpoint.html", context, status=422 if form.errors else 200)


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
        choice = connections.of_endpoint(endpoint)
        patience = min(choice.timeout_seconds, LONGEST_TEST_SECONDS)
        model = connections.connect(replace(choice, timeout_seconds=patience))
        answer = async_to_sync(model.probe)(choice.model)
    except ModelError as error:
        return {"error": error.text}
    except connections.KeyUnreadable as error:
        return {"error": str(error)}
    return {"answer": answer, "elapsed_ms": round(1000 * (time.monotonic() - began))}


@require_GET
def endpoint_models(request: OwnRequest, pk: int) -> HttpResponse:
    endpoint = owned_endpoint(request, pk)
    try:
        models = async_to_sync(connections.connect(connections.of_endpoint(endpoint)).list_models)()
    except ModelError as error:
        return part(request, "account/models.html", {"error": error.text})
    except connections.KeyUnreadable as error:
        return part(request, "account/models.html", {"error": str(error)})
    return part(request, "account/models.html", {"models": models})
