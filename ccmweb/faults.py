"""Requests that come with what nobody can read, and databases that cannot write: words instead of a bare 500."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from http import HTTPStatus

from django.db import OperationalError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views import defaults
from django_htmx.middleware import HtmxDetails

from efforts.models.faults import told_of

log = logging.getLogger("ccm.requests")

GetResponse = Callable[[HttpRequest], HttpResponse]


class KnownFaults:
    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        forget_bad_page(request)
        response = self.get_response(request)
        # Where only forms lead, as to the address that a browser still shows after one: else the page would be empty.
        if response.status_code == HTTPStatus.METHOD_NOT_ALLOWED and request.method == "GET" and not response.content:
            allow = response["Allow"]
            response = render(request, "405.html", status=response.status_code)
            response["Allow"] = allow
        return response

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        # Others of the database are faults of ours, and stay loud.
        return said_of(request, exception) if isinstance(exception, OperationalError) else None


def server_error(request: HttpRequest) -> HttpResponse:
    """Also of what fails before a page is made: who is signed in is read from the database."""
    error = sys.exc_info()[1]
    return said_of(request, error) if isinstance(error, OperationalError) else defaults.server_error(request)


def said_of(request: HttpRequest, error: OperationalError) -> HttpResponse:
    log.error("%s %s failed in the database.", request.method, request.path, exc_info=error)
    told = told_of(error)
    status = 507 if told.code == "disk_full" else 503
    if request.get_preferred_type(["application/json", "text/html"]) == "application/json":
        return JsonResponse({"code": told.code, "text": told.text}, status=status)
    # Typed in a form without any script it would be gone with its page.
    return render(request, "fault.html", {"told": told.text, "typed": typed(request)}, status=status)


def forget_bad_page(request: HttpRequest) -> None:
    """The page that an htmx request says it comes from, where it is no address."""
    details = HtmxDetails(request)
    try:
        _ = details.current_url_abs_path
    except ValueError:
        del request.META["HTTP_HX_CURRENT_URL"]
        # Read once and kept.
        del request.headers
        details = HtmxDetails(request)
    request.htmx = details  # type: ignore[attr-defined]


def typed(request: HttpRequest) -> list[str]:
    """Texts of several words; what is shorter is chosen again sooner than it is copied."""
    return [value for value in request.POST.values() if isinstance(value, str) and " " in value.strip()]
