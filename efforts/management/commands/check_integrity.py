"""Check that conversations are whole, and make anew what is derived."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.core.management.base import CommandError, CommandParser

from efforts.actions.files import storing
from efforts.management.base import DatabaseCommand
from efforts.management.commands.rebuild_index import mended
from efforts.management.integrity import problems_of
from efforts.models import Session
from efforts.retrieval.rebuilding import rebuild

TELL_EVERY = 100


class Command(DatabaseCommand):
    help = (
        "Compare each conversation with its log, its hashes and its seals; make anew what follows from other rows: "
        "states, labels, sums, the index. Exit status 0 only where nothing was wrong."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--session", type=UUID, help="only this conversation")
        parser.add_argument("--json", action="store_true")

    def handle(self, *args: Any, **options: Any) -> None:
        only = options["session"]
        if only and not Session.objects.filter(pk=only).exists():
            raise CommandError(f"There is no session {only}.")
        checked, found = everything_wrong(only, tell=lambda count: self.stderr.write(f"{count:,} conversations ..."))
        done = sum(one["mended"] for one in found)
        if options["json"]:
            self.stdout.write(json.dumps({"checked": checked, "wrong": len(found), "mended": done, "problems": found}))
        else:
            self.tell(checked, found, done)
        if found:
            sys.exit(1)

    def tell(self, checked: int, found: list[dict[str, Any]], done: int) -> None:
        if not found:
            self.stdout.write(f"{checked:,} conversations checked: all are whole.")
            return
        self.stdout.write(f"{checked:,} conversations checked: {len(found):,} things wrong, {done:,} of them mended.")
        for one in found:
            made = " (mended)" if one["mended"] else ""
            self.stdout.write(f"{one['session'] or 'all'}: {one['what']}: {one['problem']}{made}")


def strays_removed() -> list[dict[str, Any]]:
    """Files that an erased conversation left behind, where the program died before it had removed them."""
    # Read first: a conversation that is begun meanwhile has no folder among these.
    kept = list(storing.folders())
    strays = set(kept) - set(Session.objects.filter(pk__in=kept).values_list("pk", flat=True))
    for session_id in strays:
        storing.forget_all(session_id)
    problem = "its conversation is erased"
    return [{"session": "", "what": f"folder {one}", "problem": problem, "mended": True} for one in sorted(strays)]


def everything_wrong(
    only: UUID | None = None, *, tell: Callable[[int], object] = bool
) -> tuple[int, list[dict[str, Any]]]:
    """How many conversations were checked, and what was wrong with them and with the index; what follows from other
    rows is mended. `tell` hears from time to time how many there were."""
    rows = Session.objects.order_by("pk")
    found = []
    checked = 0
    for checked, session in enumerate((rows.filter(pk=only) if only else rows).iterator(), 1):
        found += [{"session": str(session.pk), **vars(problem)} for problem in problems_of(session)]
        if checked % TELL_EVERY == 0:
            tell(checked)
    if not only:
        found += strays_removed()
    index = mended(rebuild(only=only))
    if index:
        found.append({"session": "", "what": "the index", "problem": index, "mended": True})
    return checked, found
