"""Efforts with their states and pointers, the rules, and the pins."""

from __future__ import annotations

from typing import Any, ClassVar

from django.contrib import admin
from django.db import models
from django.db.models import Count
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from efforts.memory.holds import what_of
from efforts.models import Constraint, ContextPointer, Effort, EffortState, Hold, LedgerEntry, PointerMove, ScopeDraft

from .base import ReadOnly, _, artifact_link, link, linked_all, links, standing, standing_here


@admin.register(Effort)
class EffortAdmin(ReadOnly):
    list_display = ("slug", "name", "where_it_stands", "labelled", "session", "of_events", "created_at", "on_page")
    list_filter = ("states__status",)
    search_fields = ("slug", "name", "session__title", "session__id", "pointers__text")
    readonly_fields: ClassVar[Any] = (
        linked_all("states", _("In branches"), "branch", "effort"),
        "pointers",
        "labelled",
        "of_events",
        "on_page",
    )

    def get_queryset(self, request: HttpRequest) -> models.QuerySet[Any]:
        rows = super().get_queryset(request).prefetch_related("states__branch", "states__effort")
        counted: models.QuerySet[Any] = rows.annotate(labelled=Count("labels", distinct=True))
        return counted

    @admin.display(description=_("Status"))
    def where_it_stands(self, row: Effort) -> str:
        return ", ".join(standing(state) for state in row.states.all()) or "-"

    @admin.display(description=_("Turns"), ordering="labelled")
    def labelled(self, row: Any) -> int:
        return int(row.labelled)

    @admin.display(description=_("Events"))
    def of_events(self, row: Effort) -> SafeString:
        address = f"{reverse('admin:efforts_event_changelist')}?effort={row.pk}"
        return format_html('<a href="{}">{}</a>', address, _("Events"))


@admin.register(EffortState)
class EffortStateAdmin(ReadOnly):
    session_path = "branch__session"
    list_display = (
        "id",
        "effort",
        "branch",
        "stands",
        "summary",
        "via",
        "turns",
        "tokens",
        "expanded_turn",
        "on_page",
    )
    list_filter = ("status", "summary", "via")
    search_fields = ("effort__slug", "effort__name", "branch__session__title", "branch__session__id", "draft")

    @admin.display(description=_("Status"), ordering="status")
    def stands(self, row: EffortState) -> str:
        return standing_here(row)


class OfSummary(ReadOnly):
    """It is about a summary, where it names one, and leads to its page."""

    def artifact_of(self, row: Any) -> str:
        return str(row.artifact)

    @admin.display(description=_("Artifact"))
    def of_artifact(self, row: Any) -> str:
        return artifact_link(self.artifact_of(row))

    @admin.display(description=_("On the page"))
    def on_page(self, row: Any) -> str:
        artifact = self.artifact_of(row)
        return link(_("Open"), "artifact", artifact) if artifact else super().on_page(row)


@admin.register(ContextPointer)
class ContextPointerAdmin(OfSummary):
    session_path = "branch__session"
    list_display = ("id", "effort", "beginning", "state", "of_artifact", "tokens", "actor", "created_at", "on_page")
    list_filter = ("state", "digest")
    search_fields = (
        "text",
        "artifact",
        "effort__slug",
        "effort__name",
        "branch__session__title",
        "branch__session__id",
    )
    readonly_fields = ("of_artifact", "of_turns", "previous", "moves", "on_page")
    titles = {"previous": _("Took over from")}

    @admin.display(description=_("Text"))
    def beginning(self, row: ContextPointer) -> str:
        return row.headline[:80]

    @admin.display(description=_("Replaces"))
    def of_turns(self, row: ContextPointer) -> SafeString:
        return links(entry.turn for entry in row.scope.select_related("turn").order_by("turn__number"))


@admin.register(PointerMove)
class PointerMoveAdmin(OfSummary):
    session_path = "branch__session"
    list_display = ("id", "kind", "pointer", "stood", "stands", "actor", "via", "reason", "created_at", "on_page")
    list_filter = ("kind", "via")
    search_fields = ("pointer__text", "pointer__artifact", "reason", "branch__session__title", "branch__session__id")
    readonly_fields = ("stood", "stands", "on_page")

    def artifact_of(self, row: PointerMove) -> str:
        return row.pointer.artifact

    @admin.display(description=_("From"))
    def stood(self, row: PointerMove) -> str:
        return pointers_or_log(row.before)

    @admin.display(description=_("To"))
    def stands(self, row: PointerMove) -> str:
        return pointers_or_log(row.after)


def pointers_or_log(ids: list[int]) -> str:
    rows = (link(_("pointer %s") % pk, "admin:efforts_contextpointer_change", pk) for pk in ids)
    return format_html_join(" · ", "{}", ((row,) for row in rows)) or str(_("the log"))


@admin.register(ScopeDraft)
class ScopeDraftAdmin(OfSummary):
    session_path = "branch__session"
    list_display = ("id", "kind", "turns", "state", "of_artifact", "actor", "created_at", "branch", "on_page")
    list_filter = ("state", "kind")
    search_fields = ("artifact", "why", "branch__session__title", "branch__session__id")
    readonly_fields = ("of_artifact", "on_page")


@admin.register(Constraint)
class ConstraintAdmin(ReadOnly):
    owner_path = "owner"
    list_display = ("id", "beginning", "state", "by", "session", "owner", "created_at", "changed_at", "on_page")
    list_filter = ("state", "by")
    search_fields = ("text", "owner__username", "session__title", "session__id")


@admin.register(LedgerEntry)
class LedgerEntryAdmin(ReadOnly):
    list_display = ("id", "beginning", "kind", "state", "by", "session", "created_at", "changed_at", "on_page")
    list_filter = ("kind", "state", "by")
    search_fields = ("text", "session__title", "session__id")


@admin.register(Hold)
class HoldAdmin(ReadOnly):
    session_path = "branch__session"
    list_display = ("id", "what", "kind", "scope", "turns", "state", "by", "granted_clock", "branch", "on_page")
    list_filter = ("state", "kind", "scope", "by", "ended")
    search_fields = ("why", "effort__slug", "branch__session__title", "branch__session__id")
    list_select_related = ("turn", "effort")

    @admin.display(description=_("Pinned"))
    def what(self, row: Hold) -> str:
        return what_of(row)
