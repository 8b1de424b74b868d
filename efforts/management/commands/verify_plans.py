"""Check that every stored plan still renders to the request that was sent (docs/decisions/0002), and on demand that
planning and retrieving again give the same."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator
from typing import Any
from uuid import UUID

from django.core.management.base import CommandError, CommandParser
from django.db.models import QuerySet

from efforts.context.plans import replay, sources_of
from efforts.context.replanning import plan_again
from efforts.domain.prompt.items import run_sha256
from efforts.domain.prompt.plan import PLANNER_VERSION
from efforts.domain.text.canonical import request_sha256, sha256
from efforts.management.base import DatabaseCommand
from efforts.models import ContextPlan, RetrievalSet, Session
from efforts.tools.again import retrieve_again

SAME = "same"
CHUNK = 200
TELL_EVERY = 1_000


class Command(DatabaseCommand):
    help = "Render every stored plan again and compare it with what was sent. Exit status 0 only when all are the same."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--session", type=UUID, help="only the plans of this session")
        parser.add_argument("--plan-again", action="store_true", help="also plan again where nothing changed since")
        parser.add_argument("--retrieve-again", action="store_true", help="also make every retrieval again")
        parser.add_argument("--json", action="store_true")

    def handle(self, *args: Any, **options: Any) -> None:
        rows = plans_of(options["session"])
        checked = other_versions = 0
        failures = []
        again = Counter[str]()
        # In chunks: plans are many and their bodies large.
        for row in rows.iterator(chunk_size=CHUNK):
            checked += 1
            other_versions += row.planner_version != PLANNER_VERSION
            problem = problem_of(row)
            if options["plan_again"] and not problem:
                problem = planned_again(row, again)
            if problem:
                failures.append({**named(row), "problem": problem})
            if checked % TELL_EVERY == 0:
                self.stderr.write(f"{checked:,} plans checked ...")
        counts = {"checked": checked, "ok": checked - len(failures), "failed": len(failures)}
        told = {"planned_again": again.pop(SAME, 0), "apart": dict(again)} if options["plan_again"] else {}
        if options["retrieve_again"]:
            told |= retrieved_again(options["session"], failures)
        found = {**counts, "other_versions": other_versions, **told, "failures": failures}
        self.tell(found, as_json=options["json"])
        if failures:
            sys.exit(1)

    def tell(self, found: dict[str, Any], *, as_json: bool) -> None:
        if as_json:
            self.stdout.write(json.dumps(found))
            return
        self.stdout.write("{checked:,} plans checked: {ok:,} hold, {failed:,} do not.".format(**found))
        if found["other_versions"]:
            self.stdout.write(
                f"{found['other_versions']:,} of them are of another planner version than {PLANNER_VERSION}: "
                "planning again may give something else, what was sent must hold."
            )
        if "apart" in found:
            self.stdout.write("{planned_again:,} planned again: the same.".format(**found))
            for reason, count in sorted(found["apart"].items()):
                self.stdout.write(f"{count:,} not planned again, {reason}.")
        if "retrieved_again" in found:
            self.stdout.write("{retrieved_again:,} retrievals made again: the same.".format(**found))
            for reason, count in sorted(found["retrievals_apart"].items()):
                self.stdout.write(f"{count:,} retrievals need not be the same, {reason}.")
        for failure in found["failures"]:
            what = (
                "plan {plan}, turn {turn}, call {call}" if "plan" in failure else "retrieval {retrieval}, turn {turn}"
            )
            self.stdout.write(f"{what.format(**failure)}: {failure['problem']}")


def plans_of(session_id: UUID | None) -> QuerySet[ContextPlan]:
    rows = ContextPlan.objects.select_related("branch", "run__turn")
    if session_id is None:
        return rows
    if not Session.objects.filter(pk=session_id).exists():
        raise CommandError(f"There is no session {session_id}.")
    return rows.filter(session=session_id)


def retrieved_again(session_id: UUID | None, failures: list[dict[str, Any]]) -> dict[str, Any]:
    """How many retrievals give the same result at their snapshot; those that must and do not are failures."""
    rows = RetrievalSet.objects.select_related("branch", "run__turn").order_by("created_at")
    again = Counter[str]()
    for row in (rows.filter(session=session_id) if session_id else rows).iterator(chunk_size=CHUNK):
        made = retrieve_again(row)
        if made.same or made.apart:
            again[made.apart or SAME] += 1
        else:
            place = {"retrieval": str(row.pk), "session": str(row.session_id), "turn": row.run.turn.number}
            failures.append({**place, "problem": "made again at its snapshot it finds something else"})
    return {"retrieved_again": again.pop(SAME, 0), "retrievals_apart": dict(again)}


def named(row: ContextPlan) -> dict[str, Any]:
    return {"plan": str(row.pk), "session": str(row.session_id), "turn": row.run.turn.number, "call": row.call}


def problem_of(row: ContextPlan) -> str:
    """Why the plan does not hold; empty where it does."""
    try:
        request = replay(row)
    except KeyError as missing:
        # Messages are asked for by number, fragments by hash.
        kind = "message" if isinstance(missing.args[0], int) else "fragment"
        return f"{kind} {missing.args[0]} is missing"
    except (AttributeError, TypeError, ValueError) as error:
        return f"the recipe cannot be read: {error}"
    if request_sha256(request) == row.request_sha256:
        return ""
    found = list(differences(row))
    return f"not what was sent: {', '.join(found) or 'the messages of the turn, or the recipe'}"


def planned_again(row: ContextPlan, tally: Counter[str]) -> str:
    """Why a plan made again is not what was stored; empty where it is, or where it cannot be made again."""
    again = plan_again(row)
    if again.apart or again.same:
        tally[again.apart or SAME] += 1
        return ""
    return "planned again from the same inputs it is another request"


def differences(row: ContextPlan) -> Iterator[str]:
    """The fragments and the runs of turns that are not what their hashes say."""
    sources, recipe = sources_of(row), row.body["recipe"]
    yield from (f"fragment {sha}" for sha, text in sources.fragments.items() if sha256(text) != sha)
    for item in row.body["items"]:
        # The others are made of fragments.
        if item["sha256"] and item["section"] in ("ambient", "expanded", "awaiting", "open", "active"):
            effort = item["values"].get("effort", "")
            if not run_sha256(effort, item["turns"], recipe, sources).startswith(item["sha256"]):
                yield item["title"].lower()
