"""Whom the owner of a conversation has review what is made of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib.auth import get_user_model
from django.db import transaction

from compaction.models import Reviewer
from compaction.standing.accepting import in_one_line
from efforts.domain.errors import Refused
from efforts.log import events
from efforts.models import Session

if TYPE_CHECKING:
    from django.contrib.auth.models import User

MOST = 20
OWNER_ONLY = "Only the owner of the conversation names its reviewers."
NOBODY = "There is no account with this user name. Ask the person for the name that they sign in with."
YOURSELF = "You own this conversation, so you review it anyhow."
TOO_MANY = f"{MOST} people review this conversation already. Remove one first."


def name_reviewer(session: Session, username: str, *, actor: User) -> Reviewer:
    """They see what is made of the conversation, with the turns that it is made of, and nothing else of it."""
    with transaction.atomic():
        check_owner(session, actor)
        user = get_user_model().objects.filter(username=in_one_line(username), is_active=True).first()
        if user is None:
            raise Refused("username", NOBODY)
        if user.pk == session.owner_id:
            raise Refused("username", YOURSELF)
        if (named := session.reviewers.filter(user=user).first()) is not None:
            return named
        if session.reviewers.count() >= MOST:
            raise Refused("username", TOO_MANY)
        row = Reviewer.objects.create(session=session, user=user, named_by=actor)
        events.append(session.pk, "review.reviewer_named", {"reviewer": user.get_username()}, actor=actor)
        return row


def remove_reviewer(session: Session, pk: int, *, actor: User) -> None:
    """What they have said stays; where they are gone already, nothing happens."""
    with transaction.atomic():
        check_owner(session, actor)
        row = session.reviewers.filter(pk=pk).select_related("user").first()
        if row is None:
            return
        row.delete()
        events.append(session.pk, "review.reviewer_removed", {"reviewer": row.user.get_username()}, actor=actor)


def check_owner(session: Session, actor: User) -> None:
    """Under the lock of the conversation."""
    if Session.objects.select_for_update().get(pk=session.pk).owner_id != actor.pk:
        raise Refused("owner_only", OWNER_ONLY)
