"""Frozen messages, the state before each, and whether a turn left what a person would expect."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.scenes import add_turn, said_before
from efforts.actions.pointers import StandIn, set_pointer
from efforts.context.planning import main_branch
from efforts.context.sources import read_effort_log
from efforts.domain.effort.policy import ContextMode
from efforts.domain.effort.states import EffortStatus, SummaryState, Via
from efforts.domain.text.terms import terms_of
from efforts.log import labels
from efforts.models import Branch, Effort, EffortState, Endpoint, Message, Session, Turn, TurnLabel
from efforts.turns.recording import count

if TYPE_CHECKING:
    from django.contrib.auth.models import User

FOLDER = Path(__file__).parent
# Frozen before the first rule was written: another hash is another measure.
SHA256 = {
    "open": "241b041ac71bca7ee6cb7cc4029712cc0505754f8e488074584aee33369bfe47",
    "held_out": "84a81cc29af23a5d86430e04c0b7476437488fc4ed1990552296305f14ff3b42",
    "records": "bdbf433b13a63840a731591df65c5bf32b394868267295f23b0e6d7e2dbfa764",
}
CITED = re.compile(r"\[([^\],]+), turn")
SEARCHES = frozenset({"search_efforts", "search_messages"})


class Changed(ValueError):
    """A file is not the frozen one."""


@dataclass(frozen=True, kw_only=True)
class Case:
    """`efforts` and `ambient`: what was said before. `expect` depends on the kind, see `JUDGES`."""

    id: str
    half: str
    kind: str
    efforts: tuple[Mapping[str, Any], ...]
    ambient: tuple[tuple[str, str], ...]
    message: str
    expect: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Standing:
    """Where the efforts of a branch are: status by id, which are active, expanded, searched for and cited in the
    reply; and what kinds of things were recorded."""

    statuses: Mapping[str, str]
    active: str
    expanded: frozenset[str]
    searched: bool = False
    cited: frozenset[str] = frozenset()
    recorded: frozenset[str] = frozenset()

    @property
    def open(self) -> frozenset[str]:
        return frozenset(id_ for id_, status in self.statuses.items() if status == EffortStatus.OPEN)


def read_cases(half: str) -> tuple[Case, ...]:
    """The cases of "open", "held_out" or "records". Raises `Changed`."""
    content = (FOLDER / f"{half}.json").read_bytes()
    if (found := hashlib.sha256(content).hexdigest()) != SHA256[half]:
        raise Changed(f"{half}.json is not the frozen file: its sha256 is {found}.")
    return tuple(
        Case(
            id=row["id"],
            half=half,
            kind=row["kind"],
            efforts=tuple(row["efforts"]),
            ambient=pairs(row["ambient"]),
            message=row["message"],
            expect=row["expect"],
        )
        for row in json.loads(content)
    )


def pairs(log: list[list[str]]) -> tuple[tuple[str, str], ...]:
    """What was said, by exchange."""
    texts = [text for _, text in log]
    return tuple(zip(texts[::2], texts[1::2], strict=True))


def build(session: Session, case: Case) -> Branch:
    """The rows of the state before the message; the active effort was talked of last, before the small talk."""
    # What the model does is measured; recall would answer before it can search.
    Session.objects.filter(pk=session.pk).update(context_mode=ContextMode.OFF)
    branch = main_branch(session)
    for entry in sorted(case.efforts, key=lambda entry: (entry["status"] == "open", entry["active"])):
        add_effort(branch, entry)
    for said, reply in case.ambient:
        add_exchange(branch, said, reply)
    EffortState.objects.filter(
        branch=branch, effort__slug__in=[entry["id"] for entry in case.efforts if entry["expanded"]]
    ).update(expanded_turn=branch.head)
    if case.kind == "asks_past":
        # In sight, its note would be expanded at once: nothing would have to be searched for.
        EffortState.objects.filter(branch=branch, status=EffortStatus.CONCLUDED).update(evicted_clock=branch.clock)
    return branch


def add_effort(branch: Branch, entry: Mapping[str, Any]) -> None:
    effort = Effort.objects.create(session_id=branch.session_id, slug=entry["id"], name=entry["name"])
    state = EffortState.objects.create(branch=branch, effort=effort, opened_turn=branch.head + 1)
    for said, reply in pairs(entry["log"]):
        turn = add_exchange(branch, said, reply)
        TurnLabel.objects.create(branch=branch, turn=turn, effort=effort)
    labels.recount(branch, effort)
    labels.touch(branch, effort, branch.head)
    if entry["status"] == EffortStatus.CONCLUDED:
        conclude(branch, state, entry["headline"])
    if entry["active"]:
        Branch.objects.filter(pk=branch.pk).update(active_effort=effort)


def add_exchange(branch: Branch, said: str, reply: str) -> Turn:
    branch.head += 1
    branch.clock += 1
    add_turn(branch, branch.head, said, reply, said_before(branch))
    branch.save(update_fields=["head", "clock"])
    return Turn.objects.get(branch=branch, number=branch.head)


def conclude(branch: Branch, state: EffortState, headline: str) -> None:
    EffortState.objects.filter(pk=state.pk).update(
        status=EffortStatus.CONCLUDED, concluded_turn=branch.head, via=Via.CONTROL, summary=SummaryState.STANDS
    )
    log = read_effort_log(branch, state.effort)
    standing = StandIn(text=headline, headline=headline, tokens=count(headline))
    set_pointer(branch, state.effort, log, standing, actor=None, via=Via.CONTROL)


def standing(branch: Branch, turn: Turn | None = None) -> Standing:
    """As the rows tell it now; with a turn, also whether it searched."""
    branch = Branch.objects.select_related("active_effort").get(pk=branch.pk)
    states = EffortState.objects.filter(branch=branch).select_related("effort")
    said = list(Message.objects.filter(turn=turn)) if turn else []
    results = [message for message in said if message.tool_name]
    replies = [message.text for message in said if message.role == Message.Role.ASSISTANT]
    kept = [json.loads(message.text) for message in results if message.tool_name == "record"]
    return Standing(
        statuses={state.effort.slug: str(state.status) for state in states},
        active=branch.active_effort.slug if branch.active_effort else "",
        expanded=frozenset(state.effort.slug for state in states if state.expanded_turn is not None),
        searched=any(message.tool_name in SEARCHES for message in results),
        cited=frozenset(id_ for text in replies for id_ in CITED.findall(text)),
        recorded=frozenset(result["recorded"] for result in kept if "recorded" in result),
    )


def new_words(before: Standing, after: Standing) -> frozenset[str]:
    """The words in the name of the effort that is new and active, and their stems."""
    if after.active in before.statuses or not after.active:
        return frozenset()
    words = after.active.split("-")
    return frozenset(words) | frozenset(terms_of(" ".join(words)))


Judge = Callable[[Standing, Standing, Mapping[str, Any]], bool]
# By kind: the state before, the state after, and what is expected.
JUDGES: Mapping[str, Judge] = {
    "opens": lambda before, after, expect: bool(
        new_words(before, after) & (frozenset(expect["about"]) | frozenset(terms_of(" ".join(expect["about"]))))
    ),
    "opens_nothing": lambda before, after, expect: after.statuses == before.statuses,
    "stays": lambda before, after, expect: after.active == expect["active"],
    "must_not_close": lambda before, after, expect: frozenset(expect["open"]) <= after.open,
    "closes": lambda before, after, expect: after.statuses.get(expect["concluded"]) == EffortStatus.CONCLUDED,
    "switches": lambda before, after, expect: after.active == expect["active"],
    "expands": lambda before, after, expect: expect["expanded"] in after.expanded,
    "collapses": lambda before, after, expect: expect["collapsed"] not in after.expanded,
    "records": lambda before, after, expect: expect["recorded"] in after.recorded,
    "records_nothing": lambda before, after, expect: not after.recorded,
    # What a search finds comes with its passage: who answers from that, and cites it, need not read on.
    "asks_past": lambda before, after, expect: after.searched and expect["expanded"] in after.expanded | after.cited,
}


def answered_by(owner: User, *, model: str, base_url: str = "", timeout: int = 300) -> Endpoint | None:
    """The endpoint to ask; None for the built-in engine, and for what the environment names."""
    if not base_url:
        return None
    return Endpoint.objects.create(
        owner=owner, name="measured", base_url=base_url, model=model, timeout_seconds=timeout
    )
