"""Saved prompts: made, edited, deleted by their owner."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from django.db import transaction

from efforts.domain.commands import BY_NAME
from efforts.domain.errors import Refused
from efforts.log import events
from efforts.models import SavedPrompt

from .conversations import check_text

if TYPE_CHECKING:
    from django.contrib.auth.models import User

# All are listed on every chat page, by their names and first words.
MOST = 100
LONGEST_NAME = 40
LONGEST_TEXT = 20_000
NAME = re.compile(r"[^\W_][\w-]*")


def save_prompt(owner: User, name: str, text: str, *, pk: int | None = None) -> SavedPrompt:
    """A new one, or that with `pk`. Raises `Refused` with the field that is wrong as its code."""
    name = checked_name(owner, name, pk)
    text = text.replace("\r\n", "\n").strip()
    check_prompt(text)
    with transaction.atomic():
        if pk is None:
            if SavedPrompt.objects.filter(owner=owner).count() >= MOST:
                raise Refused("name", f"{MOST} prompts are saved already. Delete one first.")
            row = SavedPrompt(owner=owner)
        else:
            row = known(owner, pk)
        row.name, row.text = name, text
        row.save()
        events.account(owner, "prompt.saved", {"name": name, "characters": len(text)})
    return row


def delete_prompt(owner: User, pk: int) -> None:
    """A saved prompt of the owner's; the log of the account has its name."""
    with transaction.atomic():
        row = known(owner, pk)
        row.delete()
        events.account(owner, "prompt.deleted", {"name": row.name})


def known(owner: User, pk: int) -> SavedPrompt:
    row = SavedPrompt.objects.filter(owner=owner, pk=pk).first()
    if row is None:
        raise Refused("changed", "There is no such prompt any more.")
    return row


def check_prompt(text: str) -> None:
    if len(text) > LONGEST_TEXT:
        raise Refused("text", f"It has {len(text):,} characters; {LONGEST_TEXT:,} is the most. Shorten it.")
    try:
        check_text(text)
    except Refused as error:
        raise Refused("text", error.text) from error


def checked_name(owner: User, name: str, pk: int | None) -> str:
    """A command of the program is done instead of a prompt with its name, so none may have it."""
    name = name.strip().removeprefix("/").lower()
    if len(name) > LONGEST_NAME or not NAME.fullmatch(name):
        raise Refused("name", f"Use letters, digits and hyphens, {LONGEST_NAME} at most, and begin with a letter.")
    if name in BY_NAME:
        raise Refused("name", f"/{name} is a command already. Choose another name.")
    if SavedPrompt.objects.filter(owner=owner, name=name).exclude(pk=pk or 0).exists():
        raise Refused("name", f"You already have a prompt named /{name}.")
    return name
