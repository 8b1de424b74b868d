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
from efforts.context.replanning import CoursePass, plan_again
from efforts.domain.effort.states import UNFINISHED
from efforts.domain.prompt.items import run_sha256
from efforts.domain.prompt.plan import PLANNER_VERSION
from efforts.domain.seals import Sealed, broken, said_sha256
from efforts.domain.text.canonical import request_sha256, sha256
from efforts.log.timelines import said_in, seal_at
from efforts.management.base import DatabaseCommand
from efforts.models import Branch, ContextPlan, Event, RetrievalSet, Run, Session
from efforts.tools.again import retrieve_again

SAME = "same"
CHUNK = 200
TELL_EVERY = 1_000


class Command(DatabaseCommand):
    help = "Render every stored plan again and compare it with what was sent. Exit status 0 only when all are the same."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--session", type=UUID, help="only the plans of this session")
        parser.add_argument("--plan-again", action="store_true", help="also plan each again from its inputs")
        parser.add_argument("--retrieve-again", action="store_true", help="also make every retrieval again")
        parser.add_argument("--json", action="store_true")

    def handle(self, *args: Any, **options: Any) -> None:
        rows = plans_of(options["session"])
        checked = other_versions = 0
        failures = []
        again = Counter[str]()
        told: CoursePass | None = None
        chains: dict[UUID, list[Sealed]] = {}
        # In chunks: plans are many and their bodies large.
        for row in rows.iterator(chunk_size=CHUNK):
            checked += 1
            other_versions += row.planner_version != PLANNER_VERSION
            problem = problem_of(row)
            if options["plan_again"] and not problem:
                told = told if told and told.branch == row.branch else CoursePass(row.branch)
                problem = planned_again(row, told, again)
            chain = chains.setdefault(row.branch_id, [])
            chain.append(Sealed.of(str(row.pk), row.seal_before, row.seal, row.sealed_content))
            if problem:
                failures.append({**named(row), "problem": problem})
            if checked % TELL_EVERY == 0:
                self.stderr.write(f"{checked:,} plans checked ...")
        unsealed = sum(not one.seal for chain in chains.values() for one in chain)
        failures += broken_chains(options["session"], chains)
        # A plan of which two things are wrong is one.
        wrong = {failure["plan"] for failure in failures if "plan" in failure}
        counts = {"checked": checked, "ok": checked - len(wrong), "failed": len(wrong), "unsealed": unsealed}
        failures += changed_turns(options["session"])
        made = {"planned_again": again.pop(SAME, 0), "apart": dict(again)} if options["plan_again"] else {}
        if options["retrieve_again"]:
            made |= retrieved_again(options["session"], failures)
        found = {**counts, "other_versions": other_versions, **made, "failures": failures}
        self.tell(found, as_json=options["json"])
        # What was asked for and not done once proves nothing.
        if failures or 0 in (made.get("planned_again"), made.get("retrieved_again")):
            sys.exit(1)

    def tell(self, found: dict[str, Any], *, as_json: bool) -> None:
        if as_json:
            self.stdout.write(json.dumps(found))
            return
        for line in lines_of(found):
            self.stdout.write(line)


# What is told where it is not 0, or was asked for.
SAID = {
    "checked": "{checked:,} plans checked: {ok:,} hold, {failed:,} do not.",
    "other_versions": "{other_versions:,} of them are of another planner version than "
    f"{PLANNER_VERSION}: planning again may give something else, what was sent must hold.",
    "unsealed": "{unsealed:,} of them are from before there were seals.",
    "planned_again": "{planned_again:,} planned again: the same.",
    "retrieved_again": "{retrieved_again:,} retrievals made again: the same.",
}
ALWAYS = ("checked", "planned_again", "retrieved_again")
APART = {"apart": "{:,} not planned again, {}.", "retrievals_apart": "{:,} retrievals need not be the same, {}."}


def lines_of(found: dict[str, Any]) -> Iterator[str]:
    yield from (line.format(**found) for key, line in SAID.items() if key in found and (found[key] or key in ALWAYS))
    for key, line in APART.items():
        yield from (line.format(count, reason) for reason, count in sorted(found.get(key, {}).items()))
    yield from (f"{place_of(failure)}: {failure['problem']}" for failure in found["failures"])


PLACES = {
    "call": "plan {plan}, turn {turn}, call {call}",
    "plan": "plan {plan}",
    "retrieval": "retrieval {retrieval}, turn {turn}",
    "turn": "turn {turn}",
    "branch": "plans of branch {branch}",
}


def place_of(failure: dict[str, Any]) -> str:
    return next(place for key, place in PLACES.items() if key in failure).format(**failure)


def broken_chains(session_id: UUID | None, chains: dict[UUID, list[Sealed]]) -> Iterator[dict[str, Any]]:
    """What was changed, taken away, added or moved among the plans of each branch, by their seals."""
    branches = Branch.objects.select_related("parent")
    for branch in branches.filter(session=session_id) if session_id else branches.all():
        first = seal_at(branch.parent, branch.fork_turn or 0) if branch.parent else ""
        for plan, problem in broken(chains.get(branch.pk, []), first=first, head=branch.plan_seal):
            place = {"plan": plan} if plan else {"branch": str(branch.pk)}
            yield {**place, "session": str(branch.session_id), "problem": problem}


def changed_turns(session_id: UUID | None) -> Iterator[dict[str, Any]]:
    """Turns of which something was changed, taken away or added since they ended, also where no plan has sent them."""
    told = Event.objects.filter(kind="run.ended", data__said__isnull=False).order_by("session", "seq")
    rows = (told.filter(session=session_id) if session_id else told).values_list("session", "data", "pk")
    # Of a reply that was cut off and went on the last end counts.
    last = {data["run"]: pk for _, data, pk in rows.iterator(chunk_size=CHUNK)}
    for session, data, pk in rows.iterator(chunk_size=CHUNK):
        if last[data["run"]] != pk:
            continue
        run = Run.objects.filter(pk=data["run"]).first()
        goes_on = run is not None and run.state in UNFINISHED
        if not goes_on and (run is None or said_sha256(said_in(run)) != data["said"]):
            problem = "what was said in it is not what it ended with"
            yield {"turn": data["turn"], "session": str(session), "problem": problem}


def plans_of(session_id: UUID | None) -> QuerySet[ContextPlan]:
    # Branch by branch: the events of each are gone through once for all of its plans.
    rows = ContextPlan.objects.select_related("branch", "run__turn").order_by("session", "branch", "created_at")
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


def planned_again(row: ContextPlan, told: CoursePass, tally: Counter[str]) -> str:
    """Why a plan made again is not what was stored; empty where it is, or where that is not promised."""
    again = plan_again(row, told)
    if not again.problem:
        tally[again.apart or SAME] += 1
    return again.problem


def differences(row: ContextPlan) -> Iterator[str]:
    """The fragments and the runs of turns that are not what their hashes say."""
    sources, recipe = sources_of(row), row.body["recipe"]
    yield from (f"fragment {sha}" for sha, text in sources.fragments.items() if sha256(text) != sha)
    for item in row.body["items"]:
        # The others are made of fragments.
        if item["sha256"] and item["section"] in ("ambient", "expanded", "awaiting", "open", "active"):
            whose = item["values"].get("effort") or item["values"].get("chosen", "")
            if not run_sha256(whose, item["turns"], recipe, sources).startswith(item["sha256"]):
                yield item["title"].lower()
