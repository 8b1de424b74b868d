"""The list of conversations beside every page: favourites, folders, and the rest by day."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import groupby
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.db.models import Count, Exists, F, OuterRef, Q
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext

from efforts.domain.effort.states import UNFINISHED
from efforts.log.timelines import last_used
from efforts.models import Run, Session

if TYPE_CHECKING:
    from django.contrib.auth.models import User

# Conversations shown at once; the next come with a click.
PAGE = 60
# A list that is read again is as long as it was, up to these.
MOST = 10 * PAGE


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What part of the list is asked for. `start`: how many come before it; `shown`: how many the page has already."""

    query: str = ""
    folder: str = ""
    archived: bool = False
    start: int = 0
    shown: int = 0
    current: UUID | None = None

    @property
    def is_narrowed(self) -> bool:
        return bool(self.query or self.folder or self.archived)

    @property
    def many(self) -> int:
        return min(max(self.shown, PAGE), MOST)

    @property
    def which(self) -> Q:
        return (
            Q(archived_at__isnull=not self.archived)
            & (Q(title__icontains=self.query) | Q(folder__icontains=self.query) if self.query else Q())
            & (Q(folder=self.folder) if self.folder else Q())
        )


@dataclass(frozen=True, kw_only=True)
class Row:
    session: Session
    # Of the branch where the person was last.
    address: str
    is_running: bool
    is_unread: bool
    # Another one of the list is called the same.
    is_namesake: bool


@dataclass(frozen=True, kw_only=True)
class Group:
    """`title`: empty where the part before ends with the same."""

    title: str
    rows: tuple[Row, ...]


@dataclass(frozen=True, kw_only=True)
class ConversationList:
    asked: Asked
    groups: tuple[Group, ...]
    folders: Sequence[Mapping[str, Any]]
    deleted: tuple[Session, ...]
    following: int | None


def conversation_list(user: User, asked: Asked) -> ConversationList:
    """One part of the person's own conversations. The whole list has favourites and folders above, on its first
    part."""
    rows = listed(user, asked)
    first = asked.start == 0
    today = timezone.localdate()

    def heading(row: Row) -> str:
        if row.session.is_favourite and not asked.is_narrowed:
            return gettext("Favourites")
        return day_name(timezone.localdate(row.session.last_activity_at), today)

    before = "" if first or not rows else heading(rows.pop(0))
    groups = [(title, tuple(some)) for title, some in groupby(rows[: asked.many], heading)]
    return ConversationList(
        asked=asked,
        groups=tuple(Group(title="" if title == before else title, rows=some) for title, some in groups),
        folders=folders(user) if first and not asked.is_narrowed else (),
        deleted=tuple(Session.objects.deleted_by(user).order_by("erase_at")) if first else (),
        following=asked.start + asked.many if len(rows) > asked.many else None,
    )


def listed(user: User, asked: Asked) -> list[Row]:
    """That part with one more, and the one before it."""
    unfinished = Run.objects.filter(branch__session=OuterRef("pk"), state__in=UNFINISHED)
    sessions = Session.objects.owned_by(user).filter(asked.which).annotate(is_running=Exists(unfinished))
    if not asked.is_narrowed:
        sessions = sessions.order_by("-is_favourite", "-last_activity_at")
    some = list(sessions[max(asked.start - 1, 0) : asked.start + asked.many + 1])
    called = Counter(sessions.filter(title__in={one.title for one in some}).values_list("title", flat=True))
    last = last_used(some)
    return [
        Row(
            session=session,
            address=last.get(session.pk, session).get_absolute_url(),
            is_namesake=called[session.title] > 1,
            is_running=bool(getattr(session, "is_running", False)),
            is_unread=session.pk != asked.current and session.is_unread,
        )
        for session in some
    ]


def folders(user: User) -> Sequence[Mapping[str, Any]]:
    rows = Session.objects.owned_by(user).filter(archived_at=None).exclude(folder="")
    return list(rows.order_by("folder").values(name=F("folder")).annotate(conversations=Count("pk")))


def day_name(day: date, today: date) -> str:
    """Of the group that a day belongs to."""
    if day >= today:
        return gettext("Today")
    if day == today - timedelta(days=1):
        return gettext("Yesterday")
    if day > today - timedelta(days=7):
        return gettext("Last 7 days")
    if day > today - timedelta(days=30):
        return gettext("Last 30 days")
    return date_format(day, "F Y")
