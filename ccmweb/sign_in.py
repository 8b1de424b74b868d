"""Who may come in: the local owner, one-time links, and a record of every sign-in."""

from __future__ import annotations

import hashlib
import logging
import secrets
import threading
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.middleware import LoginRequiredMiddleware
from django.contrib.auth.models import User
from django.contrib.auth.signals import user_logged_in, user_logged_out, user_login_failed
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.dispatch import receiver
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone

from ccmweb.models import SignInLink
from efforts.models import AccountEvent

LOCAL_OWNER = "owner"
LIFETIME = timedelta(hours=1)

# A hash takes some 0.3 s of a processor.
HASHING = threading.BoundedSemaphore(1)
LONGEST_WAIT = 10.0

audit = logging.getLogger("ccm.audit")


class SignInForm(AuthenticationForm):
    """One password of this process is hashed at a time: whoever is signed in keeps the rest of the machine."""

    def clean(self) -> dict[str, Any]:
        if not HASHING.acquire(timeout=LONGEST_WAIT):
            raise ValidationError("Too many people are signing in just now. Wait a few seconds, then try again.")
        try:
            cleaned: dict[str, Any] = super().clean()
        finally:
            HASHING.release()
        return cleaned

    def get_invalid_login_error(self) -> ValidationError:
        return ValidationError("Wrong name or password.")


def wait_page(
    request: HttpRequest, credentials: dict[str, Any] | None = None, *args: Any, **kwargs: Any
) -> HttpResponse:
    """After too many wrong passwords."""
    minutes = int(settings.AXES_COOLOFF_TIME.total_seconds() // 60)
    return render(request, "sign_in/wait.html", {"minutes": minutes}, status=429)


class SignedIn(LoginRequiredMiddleware):
    """Every page is closed unless its view says otherwise."""

    def handle_no_permission(self, request: HttpRequest, view_func: Any) -> HttpResponse:  # type: ignore[override]
        # The sign-in page would be put where the part belongs, over what was typed there.
        if "HX-Request" in request.headers:
            return HttpResponse(status=401)
        return super().handle_no_permission(request, view_func)


def local_owner() -> User:
    """The superuser of an installation on one machine; comes in by link until given a password."""
    owner, created = User.objects.get_or_create(username=LOCAL_OWNER, defaults={"is_staff": True, "is_superuser": True})
    if created:
        owner.set_unusable_password()
        owner.save(update_fields=["password"])
    return owner


def make_link(user: User) -> str:
    """Return the token; nothing that is stored brings it back."""
    token = secrets.token_urlsafe(32)
    SignInLink.objects.create(user=user, token_sha256=_sha256(token), expires_at=timezone.now() + LIFETIME)
    return token


def owner_of(token: str) -> User | None:
    """Whose link it is or was."""
    link = SignInLink.objects.select_related("user").filter(token_sha256=_sha256(token)).first()
    return link.user if link else None


def use_link(token: str) -> bool:
    """True for the first use in time by a person who may still come in."""
    # One update that must change a row, so that two clicks at once are one sign-in.
    return _fresh(token).update(used_at=timezone.now()) == 1


def is_fresh(token: str) -> bool:
    return _fresh(token).exists()


def _fresh(token: str) -> QuerySet[SignInLink]:
    now = timezone.now()
    return SignInLink.objects.filter(
        token_sha256=_sha256(token), used_at=None, expires_at__gt=now, user__is_active=True
    )


def _sha256(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


@receiver(user_logged_in)
def _record_sign_in(request: HttpRequest, user: User, **_: Any) -> None:
    _record("signed in", user)


@receiver(user_logged_out)
def _record_sign_out(request: HttpRequest, user: User | None, **_: Any) -> None:
    if user is not None:
        _record("signed out", user)


@receiver(user_login_failed)
def _record_failure(credentials: dict[str, Any], **_: Any) -> None:
    # To the log only: the account may not exist.
    audit.warning("sign-in refused for %r", credentials.get("username", ""))


def _record(kind: str, user: User) -> None:
    AccountEvent.objects.create(owner=user, actor=user, kind=kind)
    audit.info("%s %s", user, kind)
