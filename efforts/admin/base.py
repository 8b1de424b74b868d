"""What all tables of the admin stand on: whose rows are seen, and how rows link to each other."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Any, cast

from django.contrib import admin
from django.contrib.admin.utils import quote
from django.contrib.auth.models import User
from django.db import models
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import pgettext_lazy

from efforts.log import events
from efforts.models import EffortState, Session

# The class takes a parameter in its stubs only.
if TYPE_CHECKING:
    ModelAdmin = admin.ModelAdmin[Any]
else:
    ModelAdmin = admin.ModelAdmin


# Its words have contexts of their own in the catalogue: they are names of columns, that other pages do not say.
CONTEXT, OF_VALUES = "admin", "admin value"


def _(text: str) -> Any:
    """In the reader's language."""
    return pgettext_lazy(CONTEXT, text)


def translate(model: type[models.Model]) -> None:
    """The names of a model, of its fields and of their choices are in the reader's language from now on. Migrations
    know them as they were written."""
    options: Any = model._meta
    if isinstance(options.verbose_name, Promise):
        return
    options.verbose_name, options.verbose_name_plural = _(options.verbose_name), _(options.verbose_name_plural)
    for field in options.fields:
        field.verbose_name = _(field.verbose_name)
        field.help_text = field.help_text and _(field.help_text)
        if field.choices:
            field.choices = [(value, pgettext_lazy(OF_VALUES, label)) for value, label in field.flatchoices]


def link(label: str, route: str, *args: Any) -> SafeString:
    return format_html('<a href="{}">{}</a>', reverse(route, args=args), label)


def row_link(row: models.Model | None) -> str:
    if row is None:
        return "-"
    return link(str(row), f"admin:{row._meta.app_label}_{row._meta.model_name}_change", quote(row.pk))


def artifact_link(artifact_id: str) -> str:
    return link(artifact_id[:12], "admin:compaction_artifact_change", quote(artifact_id)) if artifact_id else "-"


Column = Callable[[Any], str]


def column(name: str, title: str, of: Callable[[Any], str]) -> Column:
    """A column of what `of` makes of the attribute `name`."""

    def shown(row: Any) -> str:
        return of(getattr(row, name))

    shown.__name__ = name
    return admin.display(description=title or _(name.replace("_", " ")))(shown)


def linked(name: str) -> Column:
    """It links to the row which the field `name` refers to."""
    return column(name, "", row_link)


def linked_all(name: str, title: str = "", *related: str) -> Column:
    """It links to all rows of the relation `name`; their names need those that they refer to (`related`)."""
    return column(name, title, lambda rows: links(rows.select_related(*related) if related else rows.all()))


def whole(name: str, title: str = "") -> Column:
    """All of the field `name`, which is JSON."""
    return column(name, title, pretty)


def links(rows: Iterable[models.Model]) -> SafeString:
    return format_html_join(" · ", "{}", ((row_link(row),) for row in rows)) or SafeString("-")


def standing(state: EffortState) -> str:
    return f"{state.branch}: {standing_here(state)}"


def standing_here(state: EffortState) -> str:
    status = state.get_status_display()
    is_active = state.branch.active_effort_id == state.effort_id
    return str(_("%s, active") % status) if is_active else status


def pretty(value: Any) -> SafeString:
    return format_html("<pre>{}</pre>", json.dumps(value, indent=2, ensure_ascii=False, sort_keys=True))


def seen_by(request: HttpRequest, rows: models.QuerySet[Any], *owner_paths: str) -> models.QuerySet[Any]:
    if request.user.has_perm("efforts.view_any_session"):
        return rows
    return rows.filter(reduce(or_, (models.Q(**{path: request.user}) for path in owner_paths)))


class ByValue(admin.AllValuesFieldListFilter):
    """Of a text that may be empty, that has a name too: a link without words can't be read out, or clicked."""

    def choices(self, changelist: Any) -> Iterator[Any]:
        for choice in super().choices(changelist):
            yield {**choice, "display": choice["display"] or _("(empty)")}


class ReadOnly(ModelAdmin):
    """Staff see their own sessions; `view_any_session` opens those of others, and each such look is logged.

    Rows that a row refers to are links, in lists and on its page; there JSON is shown whole, and what `readonly_fields`
    names of its relations as links to all of them.
    """

    # Counting a long log for the page's header takes longer than the page.
    show_full_result_count = False
    list_per_page = 50
    session_path = "session"
    # Where it is not that of the session.
    owner_path = ""
    # Where a row may be another's by one of several ways.
    other_owner_paths: tuple[str, ...] = ()
    lists_are_logged = True
    # Of JSON and relations, where their names say too little.
    titles: Mapping[str, str] = {}

    def __init__(self, model: type[models.Model], site: admin.AdminSite) -> None:
        super().__init__(model, site)
        translate(model)
        self.by_name: dict[Any, Any] = {field.name: field for field in model._meta.fields}
        self.owner_path = self.owner_path or f"{self.session_path}__owner"
        if "created_at" in self.by_name:
            self.date_hierarchy = "created_at"  # type: ignore[misc]

    def refers(self, name: Any) -> bool:
        field = self.by_name.get(name)
        return isinstance(field, models.ForeignKey) and field.related_model in self.admin_site._registry

    def get_list_display(self, request: HttpRequest) -> list[Any]:
        # The first leads to the row itself, and there is no link within a link.
        first, *others = self.list_display
        return [first, *(linked(str(name)) if self.refers(name) else name for name in others)]

    def get_list_filter(self, request: HttpRequest) -> list[Any]:
        return [(name, ByValue) if self.is_free(name) else name for name in self.list_filter]

    def is_free(self, name: Any) -> bool:
        field = self.by_name.get(name)
        return isinstance(field, models.CharField) and not field.choices

    def get_list_select_related(self, request: HttpRequest) -> list[Any]:
        named = (name for name in self.list_display if isinstance(self.by_name.get(name), models.ForeignKey))
        more: Any = self.list_select_related or ()
        return list(filter(None, [self.session_path, *named, *more]))

    def get_fields(self, request: HttpRequest, obj: Any = None) -> list[Any]:
        return [self.shown(name) for name in super().get_fields(request, obj)]

    def shown(self, name: Any) -> Any:
        if isinstance(self.by_name.get(name), models.JSONField):
            return whole(name, self.titles.get(name, ""))
        related = isinstance(name, str) and not hasattr(self, name) and name not in self.by_name
        return linked_all(name, self.titles.get(name, "")) if related else name

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def get_queryset(self, request: HttpRequest) -> models.QuerySet[Any]:
        return seen_by(request, super().get_queryset(request), self.owner_path, *self.other_owner_paths)

    # Here and not in a view, because every page about one row begins with this.
    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Any:
        row = super().get_object(request, object_id, from_field)
        session = self.session_of(row) if row is not None else None
        if row is not None and session is not None and session.owner_id != request.user.pk:
            data = {"model": row._meta.model_name, "id": str(row.pk)}
            events.account(session.owner, "read by staff", data, actor=cast(User, request.user))
        return row

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        """A list shows the words of others as a single look does, and a search finds them."""
        page = super().changelist_view(request, extra_context)
        shown = getattr(page, "context_data", {}).get("cl")
        if shown is not None and self.lists_are_logged:
            rows = self.model._default_manager.filter(pk__in=[row.pk for row in shown.result_list])
            paths = (self.owner_path, *self.other_owner_paths)
            owners = Counter(pk for path in paths for pk in rows.values_list(path, flat=True))
            people = User.objects.in_bulk([pk for pk in owners if pk not in (None, request.user.pk)])
            for pk, owner in people.items():
                data = {"model": self.model._meta.model_name, "rows": owners[pk], "query": request.GET.urlencode()}
                events.account(owner, "listed by staff", data, actor=cast(User, request.user))
        return page

    def session_of(self, row: Any) -> Session | None:
        for name in filter(None, self.session_path.split("__")):
            row = getattr(row, name)
        return row if isinstance(row, Session) else None

    @admin.display(description=_("Text"))
    def beginning(self, row: Any) -> str:
        """Of what has a text."""
        return str(row.text[:80])

    @admin.display(description=_("On the page"))
    def on_page(self, row: Any) -> str:
        session = self.session_of(row)
        return link(_("Open"), "chat", session.pk) if session and session.owner_id else "-"
