"""A person's own instructions, as prompts and pages have them."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from django.conf import settings
from django.db.models import F, Q, QuerySet

from efforts.context.prompts import system_text
from efforts.domain.prompt.assembly import instruction_texts
from efforts.domain.prompt.conversation import Instruction
from efforts.llm.tokens import get_counter
from efforts.models import Instructions, Session
from efforts.models.prepared import prepared

if TYPE_CHECKING:
    from django.contrib.auth.models import User


def instructions_for(session: Session) -> tuple[Instruction, ...]:
    """Those for all conversations first, because they change least."""
    return tuple(Instruction(text=text, for_all=of is None) for of, text in read_instructions(session.pk))


@prepared
def read_instructions(session: UUID) -> QuerySet[Instructions, tuple[UUID | None, str]]:
    rows = instructions_in(session).order_by(F("session").asc(nulls_first=True))
    return rows.values_list("session", "text")


def instructions_in(session: UUID) -> QuerySet[Instructions]:
    owner = Session.objects.filter(pk=session).values("owner")
    return Instructions.objects.filter(Q(session=session) | Q(session=None, owner__in=owner))


def instructions_of(owner: User, session: Session | None) -> str:
    """As they were typed; empty where there are none."""
    rows = Instructions.objects.filter(owner=owner, session=session)
    return rows.values_list("text", flat=True).first() or ""


def tokens_of(text: str, *, for_all: bool) -> int:
    """What they add to every request; an empty text adds nothing."""
    if not text.strip():
        return 0
    count = get_counter(settings.CCM_ENCODING).count
    before, lines = system_text(), instruction_texts([Instruction(text=text.strip(), for_all=for_all)])
    return count("\n".join([before, *lines])) - count(before)
