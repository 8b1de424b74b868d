"""What all tables of the admin stand on: whose rows are seen, and how rows link to each other."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, cast

from django.contrib import admin
from django.contrib.admin.utils import quote
from django.db import models
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from efforts.log import events
from efforts.models import EffortState, Session

# The class takes a parameter in its stubs only.
if TYPE_CHECKING:
    from django.contrib.auth.models import User

    ModelAdmin = admin.ModelAdmin[Any]
else:
    ModelAdmin = admin.ModelAdmin


def link(label: str, route: str, *args: Any) -> SafeString:
    return format_html('<a href="{}">{}</a>', reverse(route, args=args), label)


def row_link(row: models.Model | None) -> str:
    if row is None:
        return "-"
    return link(str(row), f"admin:{row._meta.app_label}_{row._meta.model_name}_change", quote(row.pk))


def artifact_link(artifact_id: str) -> str:
    return link(artifact_id[:12], "admin:compaction_artifact_change", quote(artifact_id)) if artifact_id else "-"


def linked(name: str) -> Callable[[Any, Any], str]:
    """A column that links to the row which the field `name` refers to."""

    @admin.display(description=name.replace("_", " ").capitalize())
    def column(self: Any, row: Any) -> str:
        return row_link(getattr(row, name))

    return column


def links(rows: Iterable[models.Model]) -> SafeString:
    return format_html_join(" · ", "{}", ((row_link(row),) for row in rows)) or SafeString("-")


def standing(state: EffortState) -> str:
    active = ", active" if state.branch.active_effort_id == state.effort_id else ""
    return f"{state.branch}: {state.status}{active}"


def pretty(value: Any) -> SafeString:
    return format_html("<pre>{}</pre>", json.dumps(value, indent=2, ensure_ascii=False, sort_keys=True))


def seen_by(request: HttpRequest, rows: models.QuerySet[Any], owner_path: str) -> models.QuerySet[Any]:
    if request.user.has_perm("efforts.view_any_session"):
        return rows
    return rows.filter(**{owner_path: request.user})


class ReadOnly(ModelAdmin):
    """Staff see their own sessions; `view_any_session` opens those of others, and each such look is logged."""

    # Counting a long log for the page's header takes longer than the page.
    show_full_result_count = False
    list_per_page = 50
    owner_path = "session__owner"
    session_path = "session"

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def get_queryset(self, request: HttpRequest) -> models.QuerySet[Any]:
        return seen_by(request, super().get_queryset(request), self.owner_path)

    # Here and not in a view, because every page about one row begins with this.
    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Any:
        row = super().get_object(request, object_id, from_field)
        session = self.session_of(row) if row is not None else None
        if row is not None and session is not None and session.owner_id != request.user.pk:
            data = {"model": row._meta.model_name, "id": str(row.pk)}
            events.account(session.owner, "read by staff", data, actor=cast("User", request.user))
        return row

    def session_of(self, row: Any) -> Session | None:
        for name in filter(None, self.session_path.split("__")):
            row = getattr(row, name)
        return row if isinstance(row, Session) else None

    @admin.display(description="On the page")
    def on_page(self, row: Any) -> str:
        session = self.session_of(row)
        return link("Open", "chat", session.pk) if session and session.owner_id else "-"
