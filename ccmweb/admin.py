"""Sign-in links, to look at: when made, when used."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from ccmweb.models import SignInLink
from efforts.admin.base import translate

admin.site.site_header = admin.site.site_title = "CCM Web"
translate(SignInLink)


@admin.register(SignInLink)
class SignInLinkAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    list_display = ("user", "created_at", "expires_at", "used_at")
    list_select_related = ("user",)
    exclude = ("token_sha256",)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False
