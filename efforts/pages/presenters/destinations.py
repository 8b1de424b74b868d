"""Where the search dialog leads besides to what was said: conversations, pages, and commands to type."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.urls import reverse

from efforts.domain.commands import COMMANDS
from efforts.log.timelines import last_used
from efforts.models import Session

if TYPE_CHECKING:
    from django.contrib.auth.models import User

# Of each kind: the dialog is for going somewhere at once.
MOST = 5
# Words.
LONGEST_NAME = 2
PAGES = (
    ("New conversation", "start", "plus"),
    ("Reviews", "reviews", "check"),
    ("Search", "search", "search"),
    ("Metrics", "all_metrics", "layers"),
    ("Settings", "settings", "gear"),
    ("Connect a model", "endpoint_new", "plug"),
    ("Checkers", "checkers", "eye"),
    ("All conversations", "conversations", "list"),
)


@dataclass(frozen=True, kw_only=True)
class Destination:
    """`command`: what is written into the message box, where choosing it goes to no other page."""

    label: str
    icon: str
    title: str
    address: str
    command: str = ""


def destinations(user: User, text: str, here: Session | None = None) -> tuple[Destination, ...]:
    """Without a text the conversations used last; with one what has it in its name. `here`: where one types."""
    # Who types more than that remembers what was said, and no name.
    if len(text.split()) > LONGEST_NAME:
        return ()
    found = conversations(user, text, here)
    if text:
        found += [*pages(text), *(commands(text, here) if here else ())]
    return tuple(found)


def conversations(user: User, text: str, here: Session | None) -> list[Destination]:
    rows = Session.objects.owned_by(user)
    if here:
        rows = rows.exclude(pk=here.pk)
    rows = rows.filter(title__icontains=text) if text else rows.filter(archived_at=None)
    some = list(rows[:MOST])
    last = last_used(some)
    return [
        Destination(label="Conversation", icon="chat", title=str(row), address=last.get(row.pk, row).get_absolute_url())
        for row in some
    ]


def pages(text: str) -> list[Destination]:
    named = (page for page in PAGES if text.casefold() in page[0].casefold())
    return [
        Destination(label="Action" if name == "start" else "Page", icon=icon, title=title, address=reverse(name))
        for title, name, icon in named
    ]


def commands(text: str, here: Session) -> list[Destination]:
    begun = text.removeprefix("/").casefold()
    return [
        Destination(
            label="Command",
            icon="key",
            title=f"/{one.name} · {one.help}",
            address=here.get_absolute_url(),
            command=f"/{one.name} ",
        )
        for one in COMMANDS
        if one.name.startswith(begun)
    ][:MOST]
