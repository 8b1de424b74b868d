"""In which language pages speak: the one that a person chose, else the browser's, else English."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, cast

from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.auth.signals import user_logged_in
from django.db import DatabaseError
from django.dispatch import receiver
from django.http import HttpRequest, HttpResponse
from django.middleware.locale import LocaleMiddleware
from django.shortcuts import redirect
from django.utils import translation
from django.views.decorators.http import require_POST

from ccmweb.models import ChosenLanguage

# In the session too, which is read anyway: no page asks the database for it.
KEY = "language"


class ReadersLanguage(LocaleMiddleware):
    def process_request(self, request: HttpRequest) -> None:
        super().process_request(request)
        # While the database is away, the browser's.
        with suppress(DatabaseError):
            self.prefer(request, request.session.get(KEY, ""))

    def prefer(self, request: HttpRequest, chosen: str) -> None:
        if chosen in dict(settings.LANGUAGES):
            translation.activate(chosen)
            request.LANGUAGE_CODE = translation.get_language()


@require_POST
def choose(request: HttpRequest) -> HttpResponse:
    """An empty choice is the browser's language."""
    # Signed in, or the middleware had sent them away.
    owner = cast("User", request.user)
    code = request.POST.get("language", "")
    if code in dict(settings.LANGUAGES):
        ChosenLanguage.objects.update_or_create(owner=owner, defaults={"code": code})
        request.session[KEY] = code
    elif not code:
        ChosenLanguage.objects.filter(owner=owner).delete()
        request.session.pop(KEY, None)
    return redirect("settings")


@receiver(user_logged_in)
def _remember(request: HttpRequest, user: User, **_: Any) -> None:
    chosen = ChosenLanguage.objects.filter(owner=user).values_list("code", flat=True).first()
    if chosen:
        request.session[KEY] = chosen
    else:
        request.session.pop(KEY, None)
