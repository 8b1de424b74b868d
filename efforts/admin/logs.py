"""What happened, in sessions and to accounts; and where models answer."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db import models
from django.db.models import Q
from django.http import HttpRequest

from efforts.domain.text.counting import number_in
from efforts.models import AccountEvent, Effort, Endpoint, Event

from .base import ReadOnly, _, seen_by


class EffortFilter(admin.SimpleListFilter):
    """Events about efforts; those of one where a link names it."""

    title = _("effort")
    parameter_name = "effort"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        named = self.effort_of(request)
        return [("any", _("Any")), *([(str(named.pk), named.slug)] if named else [])]

    def queryset(self, request: HttpRequest, rows: models.QuerySet[Any]) -> models.QuerySet[Any]:
        about = rows.filter(Q(kind__startswith="effort.") | Q(kind="turn.moved"))
        if self.value() is None:
            return rows
        if named := self.effort_of(request):
            return about.filter(session=named.session_id).filter(
                Q(data__effort=named.slug) | Q(data__source=named.slug) | Q(data__target=named.slug)
            )
        return about

    def effort_of(self, request: HttpRequest) -> Effort | None:
        pk = number_in(request.GET.get(self.parameter_name))
        return seen_by(request, Effort.objects.all(), "session__owner").filter(pk=pk).first() if pk else None


@admin.register(Event)
class EventAdmin(ReadOnly):
    list_display = ("id", "seq", "kind", "of_effort", "session", "actor", "created_at", "on_page")
    list_filter = (EffortFilter, "kind")
    search_fields = ("kind", "session__title", "session__id", "data")

    @admin.display(description=_("Effort"))
    def of_effort(self, row: Event) -> str:
        return row.data.get("effort") or "-"


@admin.register(AccountEvent)
class AccountEventAdmin(ReadOnly):
    """Among them what staff have looked at: the kinds "read by staff" and "listed by staff"."""

    owner_path = "owner"
    session_path = ""
    # Else each look at this list would make it longer.
    lists_are_logged = False
    list_display = ("id", "kind", "owner", "actor", "data", "created_at")
    list_filter = ("kind",)
    search_fields = ("kind", "owner__username")


@admin.register(Endpoint)
class EndpointAdmin(ReadOnly):
    owner_path = "owner"
    session_path = ""
    list_display = ("name", "owner", "base_url", "model", "is_default", "created_at")
    search_fields = ("name", "base_url", "owner__username")
    exclude = ("key_encrypted",)
