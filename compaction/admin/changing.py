"""What the admin may do to artifacts: asked once more, done by the functions of the page, on record with who did it.

To see another person's conversation is not enough: only its owner changes it, or a superuser.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, cast

from django.contrib import admin, messages
from django.contrib.admin import helpers
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse

from compaction import review
from compaction.models import Artifact
from compaction.standing.accepting import LONGEST_REASON, NEVER_ACCEPTED, rollback_compaction
from compaction.standing.history import standing_of_artifact
from efforts.actions.conversations import lock_whole
from efforts.admin.base import _
from efforts.domain.effort.states import PointerState
from efforts.domain.errors import Refused
from efforts.log import events
from efforts.models import Branch
from efforts.models.said import said

if TYPE_CHECKING:
    from django.contrib.auth.models import User

VIA = "admin"
NOT_YOURS = _("It is another person's: only its owner or a superuser may change it.")
# As the record of an account calls them.
NAMES = {"roll_back": "Roll back", "judge_again": "Judge again"}
VERBS = {"roll_back": _("Roll back"), "judge_again": _("Judge again")}
ASKED = {"roll_back": _("Roll back?"), "judge_again": _("Judge again?")}
DONE = {"roll_back": _("rolled back."), "judge_again": _("judged again.")}

Act = Callable[[Artifact, "User", str], None]


def asked(table: Any, request: HttpRequest, rows: Iterable[Artifact], action: str, act: Act) -> HttpResponse | None:
    """The page that asks, or, where that was answered, the deed; each artifact for itself."""
    rows = list(rows)
    if "confirmed" in request.POST:
        for row in rows:
            tell(request, row, action, act)
        return None
    context = {
        **admin.site.each_context(request),
        "title": ASKED[action],
        "action": action,
        "verb": VERBS[action],
        "rows": [(row, standing_of_artifact(row.pk), may_change(request, row)) for row in rows],
        "opts": table.opts,
        "checkbox": helpers.ACTION_CHECKBOX_NAME,
        "longest": LONGEST_REASON,
    }
    return TemplateResponse(request, "admin/compaction/confirm.html", context)


def tell(request: HttpRequest, row: Artifact, action: str, act: Act) -> None:
    user = cast("User", request.user)
    try:
        if not may_change(request, row):
            raise Refused("not_yours", str(NOT_YOURS))
        # In all branches or in none, and never without the owner's record of it.
        with transaction.atomic():
            act(row, user, request.POST.get("reason", "").strip())
            if row.session.owner_id != user.pk:
                events.account(
                    row.session.owner, "changed by staff", {"id": row.pk, "action": NAMES[action]}, actor=user
                )
    except Refused as error:
        messages.error(request, f"{row}: {said(error.text)}")
        return
    messages.success(request, f"{row}: {DONE[action]}")


def may_change(request: HttpRequest, row: Artifact) -> bool:
    user = cast("User", request.user)
    return user.is_superuser or row.session.owner_id == user.pk


def roll_back_all(row: Artifact, user: User, reason: str) -> None:
    """In every branch where it stands, within the caller's transaction."""
    lock_whole(row.session)
    standing = Branch.objects.filter(pointers__artifact=row.pk, pointers__state=PointerState.ACTIVE)
    branches = list(standing.select_related("session"))
    if not branches:
        raise Refused("not_accepted", NEVER_ACCEPTED)
    for branch in branches:
        rollback_compaction(row.pk, actor=user, via=VIA, reason=reason, branch=branch)


def judge_now(row: Artifact, user: User, reason: str) -> None:
    review.judge_again(row, actor=user)
