"""The list of conversations beside every page: favourites, folders, and the rest by day."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import groupby
from typing import TYPE_CHECKING
from uuid import UUID

from django.db.models import Count, Exists, OuterRef, Q
from django.utils import timezone

from efforts.domain.effort.states import UNFINISHED
from efforts.log.timelines import last_used
from efforts.models import Run, Session

if TYPE_CHECKING:
    from django.contrib.auth.models import User

# Conversations shown at once; the next come with a click.
PAGE = 60


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What part of the list is asked for. `start`: how many come before it."""

    query: str = ""
    folder: str = ""
    archived: bool = False
    start: int = 0
    current: UUID | None = None

    @property
    def is_narrowed(self) -> bool:
        return bool(self.query or self.folder or self.archived)

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
    # Another one beside it is called the same.
    is_namesake: bool


@dataclass(frozen=True, kw_only=True)
class Group:
    title: str
    rows: tuple[Row, ...]


@dataclass(frozen=True, kw_only=True)
class Folder:
    name: str
    conversations: int


@dataclass(frozen=True, kw_only=True)
class ConversationList:
    asked: Asked
    groups: tuple[Group, ...]
    folders: tuple[Folder, ...]
    deleted: tuple[Session, ...]
    following: int | None


def conversation_list(user: User, asked: Asked) -> ConversationList:
    """One page of the person's own conversations. The whole list has favourites and folders above, on its first
    page."""
    rows = listed(user, asked)
    first = asked.start == 0
    whole = first and not asked.is_narrowed
    favourites = tuple(row for row in rows if row.session.is_favourite) if not asked.is_narrowed else ()
    by_day = [row for row in rows[:PAGE] if row not in favourites]
    today = timezone.localdate()
    days = groupby(by_day, lambda row: day_name(timezone.localdate(row.session.last_activity_at), today))
    groups = [Group(title=title, rows=tuple(some)) for title, some in days]
    if favourites and first:
        groups.insert(0, Group(title="Favourites", rows=favourites))
    return ConversationList(
        asked=asked,
        groups=tuple(groups),
        folders=folders(user) if whole else (),
        deleted=tuple(Session.objects.deleted_by(user).order_by("erase_at")) if first else (),
        following=asked.start + PAGE if len(by_day) and len(rows) > PAGE else None,
    )


def listed(user: User, asked: Asked) -> list[Row]:
    """A page and one more."""
    unfinished = Run.objects.filter(branch__session=OuterRef("pk"), state__in=UNFINISHED)
    sessions = Session.objects.owned_by(user).filter(asked.which).annotate(is_running=Exists(unfinished))
    if not asked.is_narrowed:
        sessions = sessions.order_by("-is_favourite", "-last_activity_at")
    some = list(sessions[asked.start : asked.start + PAGE + 1])
    called = Counter(map(str, some))
    last = last_used(some)
    return [
        Row(
            session=session,
            address=last.get(session.pk, session).get_absolute_url(),
            is_namesake=called[str(session)] > 1,
            is_running=bool(getattr(session, "is_running", False)),
            is_unread=session.pk != asked.current and session.is_unread,
        )
        for session in some
    ]


def folders(user: User) -> tuple[Folder, ...]:
    rows = Session.objects.owned_by(user).filter(archived_at=None).exclude(folder="")
    counted = rows.order_by("folder").values_list("folder").annotate(Count("pk"))
    return tuple(Folder(name=name, conversations=count) for name, count in counted)


def day_name(day: date, today: date) -> str:
    """Of the group that a day belongs to."""
    if day >= today:
        return "Today"
    if day == today - timedelta(days=1):
        return "Yesterday"
    if day > today - timedelta(days=7):
        return "Last 7 days"
    if day > today - timedelta(days=30):
        return "Last 30 days"
    return f"{day:%B %Y}"
