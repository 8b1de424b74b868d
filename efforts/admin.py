"""Inspection: every table of the app, searchable, linked, and read-only. Changes go through the page."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, cast

from django.contrib import admin
from django.db import models
from django.db.models import Count, Q
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from efforts import events
from efforts.models import (
    AccountEvent,
    Branch,
    Constraint,
    ContextPlan,
    ContextPointer,
    Effort,
    EffortState,
    Endpoint,
    Event,
    Message,
    RetrievalSet,
    Run,
    Session,
    ToolTrace,
    Turn,
    Verdict,
)

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
    return link(str(row), f"admin:efforts_{row._meta.model_name}_change", row.pk)


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


@admin.register(Session)
class SessionAdmin(ReadOnly):
    owner_path = "owner"
    session_path = ""
    list_display = ("__str__", "owner", "model", "budget", "event_seq", "last_activity_at", "archived_at", "on_page")
    list_filter = ("archived_at", "is_example", "model")
    search_fields = ("id", "title", "owner__username")
    date_hierarchy = "created_at"
    list_select_related = ("owner",)


@admin.register(Branch)
class BranchAdmin(ReadOnly):
    list_display = ("id", "name", "of_session", "head", "clock", "parent", "fork_turn", "created_at", "on_page")
    search_fields = ("id", "name", "session__title", "session__id")
    owner_path = "session__owner"
    list_select_related = ("session", "parent")

    @admin.display(description="Session")
    def of_session(self, row: Branch) -> str:
        return row_link(row.session)


@admin.register(Turn)
class TurnAdmin(ReadOnly):
    list_display = ("id", "number", "of_session", "of_run", "of_efforts", "tokens", "created_at", "on_page")
    list_filter = ("run__state",)
    search_fields = ("session__title", "session__id", "messages__text", "client_id")
    date_hierarchy = "created_at"
    list_select_related = ("session", "run__turn")
    readonly_fields = ("of_efforts",)

    def get_queryset(self, request: HttpRequest) -> models.QuerySet[Any]:
        return super().get_queryset(request).prefetch_related("labels__effort")

    @admin.display(description="Effort")
    def of_efforts(self, row: Turn) -> SafeString:
        return links(label.effort for label in row.labels.all())

    @admin.display(description="Session")
    def of_session(self, row: Turn) -> str:
        return row_link(row.session)

    @admin.display(description="Run")
    def of_run(self, row: Turn) -> str:
        return row_link(row.run)


@admin.register(Run)
class RunAdmin(ReadOnly):
    owner_path = "turn__session__owner"
    session_path = "turn__session"
    list_display = (
        "id",
        "state",
        "of_turn",
        "attempt",
        "error_code",
        "created_at",
        "started_at",
        "ended_at",
        "on_page",
    )
    list_filter = ("state", "error_code")
    search_fields = ("id", "turn__session__title", "turn__session__id", "error_text")
    date_hierarchy = "created_at"
    list_select_related = ("turn__session",)
    exclude = ("settings",)
    readonly_fields = ("made_with", "of_turn", "of_plans")

    @admin.display(description="Turn")
    def of_turn(self, row: Run) -> str:
        return row_link(row.turn)

    @admin.display(description="Made with")
    def made_with(self, row: Run) -> SafeString:
        return pretty(row.settings)

    @admin.display(description="Plans")
    def of_plans(self, row: Run) -> SafeString:
        return links(row.plans.order_by("call"))


@admin.register(Message)
class MessageAdmin(ReadOnly):
    list_display = ("id", "role", "beginning", "tokens", "of_turn", "of_session", "created_at", "on_page")
    list_filter = ("role", "tool_name")
    search_fields = ("text", "session__title", "session__id", "tool_call_id")
    date_hierarchy = "created_at"
    list_select_related = ("session", "turn")

    @admin.display(description="Text")
    def beginning(self, row: Message) -> str:
        return row.text[:80]

    @admin.display(description="Turn")
    def of_turn(self, row: Message) -> str:
        return row_link(row.turn)

    @admin.display(description="Session")
    def of_session(self, row: Message) -> str:
        return row_link(row.session)


@admin.register(ContextPlan)
class ContextPlanAdmin(ReadOnly):
    list_display = ("id", "call", "tokens", "prompt_tokens", "budget", "of_run", "of_session", "created_at", "opened")
    list_filter = ("planner_version", "encoding")
    search_fields = ("id", "run__id", "session__title", "session__id", "request_sha256")
    date_hierarchy = "created_at"
    list_select_related = ("session", "run__turn")
    exclude = ("body",)
    readonly_fields = ("whole_body",)

    @admin.display(description="Run")
    def of_run(self, row: ContextPlan) -> str:
        return row_link(row.run)

    @admin.display(description="Session")
    def of_session(self, row: ContextPlan) -> str:
        return row_link(row.session)

    @admin.display(description="On the page")
    def opened(self, row: ContextPlan) -> str:
        return link("Open", "plan", row.session_id, row.pk)

    @admin.display(description="Body")
    def whole_body(self, row: ContextPlan) -> SafeString:
        return pretty(row.body)


class EffortFilter(admin.SimpleListFilter):
    """Events about efforts; those of one where a link names it."""

    title = "effort"
    parameter_name = "effort"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        named = self.effort_of(request)
        return [("any", "Any"), *([(str(named.pk), named.slug)] if named else [])]

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
        value = request.GET.get(self.parameter_name, "")
        if not value.isdecimal():
            return None
        return seen_by(request, Effort.objects.all(), "session__owner").filter(pk=int(value)).first()


@admin.register(Event)
class EventAdmin(ReadOnly):
    list_display = ("id", "seq", "kind", "of_effort", "of_session", "actor", "created_at", "on_page")
    list_filter = (EffortFilter, "kind")
    search_fields = ("kind", "session__title", "session__id", "data")
    date_hierarchy = "created_at"
    list_select_related = ("session", "actor")
    exclude = ("data",)
    readonly_fields = ("whole_data",)

    @admin.display(description="Effort")
    def of_effort(self, row: Event) -> str:
        return row.data.get("effort") or "-"

    @admin.display(description="Session")
    def of_session(self, row: Event) -> str:
        return row_link(row.session)

    @admin.display(description="Data")
    def whole_data(self, row: Event) -> SafeString:
        return pretty(row.data)


@admin.register(Effort)
class EffortAdmin(ReadOnly):
    list_display = ("slug", "name", "where_it_stands", "labelled", "of_session", "of_events", "created_at", "on_page")
    list_filter = ("states__status",)
    search_fields = ("slug", "name", "session__title", "session__id", "pointers__text")
    date_hierarchy = "created_at"
    list_select_related = ("session",)
    readonly_fields = ("of_states", "of_pointers", "labelled", "of_events", "on_page")

    def get_queryset(self, request: HttpRequest) -> models.QuerySet[Any]:
        rows = super().get_queryset(request).prefetch_related("states__branch", "states__effort")
        counted: models.QuerySet[Any] = rows.annotate(labelled=Count("labels", distinct=True))
        return counted

    @admin.display(description="Status")
    def where_it_stands(self, row: Effort) -> str:
        return ", ".join(standing(state) for state in row.states.all()) or "-"

    @admin.display(description="Turns", ordering="labelled")
    def labelled(self, row: Any) -> int:
        return int(row.labelled)

    @admin.display(description="Session")
    def of_session(self, row: Effort) -> str:
        return row_link(row.session)

    @admin.display(description="Events")
    def of_events(self, row: Effort) -> SafeString:
        address = f"{reverse('admin:efforts_event_changelist')}?effort={row.pk}"
        return format_html('<a href="{}">Events</a>', address)

    @admin.display(description="In branches")
    def of_states(self, row: Effort) -> SafeString:
        return links(row.states.select_related("branch", "effort"))

    @admin.display(description="Pointers")
    def of_pointers(self, row: Effort) -> SafeString:
        return links(row.pointers.all())


@admin.register(EffortState)
class EffortStateAdmin(ReadOnly):
    owner_path = "branch__session__owner"
    session_path = "branch__session"
    list_display = (
        "id",
        "of_effort",
        "of_branch",
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
    list_select_related = ("effort", "branch__session")

    @admin.display(description="Effort")
    def of_effort(self, row: EffortState) -> str:
        return row_link(row.effort)

    @admin.display(description="Branch")
    def of_branch(self, row: EffortState) -> str:
        return row_link(row.branch)

    @admin.display(description="Status", ordering="status")
    def stands(self, row: EffortState) -> str:
        return f"{row.status}, active" if row.branch.active_effort_id == row.effort_id else row.status


@admin.register(ContextPointer)
class ContextPointerAdmin(ReadOnly):
    owner_path = "branch__session__owner"
    session_path = "branch__session"
    list_display = ("id", "of_effort", "beginning", "state", "tokens", "actor", "created_at", "on_page")
    list_filter = ("state",)
    search_fields = ("text", "effort__slug", "effort__name", "branch__session__title", "branch__session__id")
    date_hierarchy = "created_at"
    list_select_related = ("effort", "branch__session", "actor")
    readonly_fields = ("of_turns",)

    @admin.display(description="Effort")
    def of_effort(self, row: ContextPointer) -> str:
        return row_link(row.effort)

    @admin.display(description="Text")
    def beginning(self, row: ContextPointer) -> str:
        return row.text[:80]

    @admin.display(description="Stands for")
    def of_turns(self, row: ContextPointer) -> SafeString:
        return links(entry.turn for entry in row.scope.select_related("turn").order_by("turn__number"))


@admin.register(Constraint)
class ConstraintAdmin(ReadOnly):
    owner_path = "owner"
    list_display = ("id", "beginning", "state", "by", "of_session", "owner", "created_at", "changed_at", "on_page")
    list_filter = ("state", "by")
    search_fields = ("text", "owner__username", "session__title", "session__id")
    date_hierarchy = "created_at"
    list_select_related = ("session", "owner")

    @admin.display(description="Text")
    def beginning(self, row: Constraint) -> str:
        return row.text[:80]

    @admin.display(description="Session")
    def of_session(self, row: Constraint) -> str:
        return row_link(row.session)


class OfCalls(ReadOnly):
    """What came of a call: joined to its run and its plan."""

    date_hierarchy = "created_at"
    list_select_related = ("session", "run__turn")

    @admin.display(description="Run")
    def of_run(self, row: Any) -> str:
        return row_link(row.run)

    @admin.display(description="Plan")
    def of_plan(self, row: Any) -> str:
        return link("Open", "plan", row.session_id, row.plan_id) if row.plan_id else "-"


@admin.register(ToolTrace)
class ToolTraceAdmin(OfCalls):
    list_display = ("id", "name", "error", "elapsed_ms", "of_run", "of_plan", "created_at", "on_page")
    list_filter = ("name",)
    search_fields = ("name", "error", "tool_call_id", "session__title", "session__id")


@admin.register(RetrievalSet)
class RetrievalSetAdmin(OfCalls):
    list_display = ("id", "query", "strategy", "trigger", "found", "of_run", "of_plan", "created_at", "on_page")
    list_filter = ("strategy", "trigger")
    search_fields = ("id", "query", "result_hash", "session__title", "session__id")


@admin.register(Verdict)
class VerdictAdmin(OfCalls):
    list_display = ("id", "value", "why", "of_run", "actor", "changed_at", "on_page")
    list_filter = ("value",)
    search_fields = ("why", "session__title", "session__id")


@admin.register(AccountEvent)
class AccountEventAdmin(ReadOnly):
    owner_path = "owner"
    session_path = ""
    list_display = ("id", "kind", "owner", "actor", "created_at")
    list_filter = ("kind",)
    search_fields = ("kind", "owner__username")
    date_hierarchy = "created_at"
    list_select_related = ("owner", "actor")


@admin.register(Endpoint)
class EndpointAdmin(ReadOnly):
    owner_path = "owner"
    session_path = ""
    list_display = ("name", "owner", "base_url", "model", "is_default", "created_at")
    search_fields = ("name", "base_url", "owner__username")
    exclude = ("key_encrypted",)
    list_select_related = ("owner",)
