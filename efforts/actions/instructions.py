"""A person's own instructions, for all conversations or for one: set, changed, taken away."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import transaction

from efforts.domain.errors import Refused
from efforts.log import events
from efforts.models import Instructions, Session

from .names import is_control

if TYPE_CHECKING:
    from django.contrib.auth.models import User

# Characters: about a thousand tokens, sent with every request.
LONGEST = 4_000


def set_instructions(owner: User, text: str, *, session: Session | None = None) -> None:
    """An empty text takes them away. What was sent of them stays with its plans; the log tells only how long they are.

    Raises `Refused` where they are too long, or hold what no page can show.
    """
    text = checked(text)
    with transaction.atomic():
        if text:
            Instructions.objects.update_or_create(owner=owner, session=session, defaults={"text": text})
        else:
            Instructions.objects.filter(owner=owner, session=session).delete()
        told = {"characters": len(text)}
        if session:
            events.append(session.pk, "session.instructed", told, actor=owner)
        else:
            events.account(owner, "instructions.set", told)


def checked(text: str) -> str:
    text = text.replace("\r\n", "\n").replace("\r", "\n").strip()
    if len(text) > LONGEST:
        raise Refused("too_long", f"They have {len(text):,} characters; {LONGEST:,} is the most. Shorten them.")
    if any(is_control(c) and c not in "\n\t" for c in text):
        raise Refused("not_text", "They have characters that cannot be shown. Give them without these.")
    return text
