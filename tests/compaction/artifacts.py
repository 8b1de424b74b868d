"""Artifacts over turns that a test has played: made, checked and judged by the product of what the test says, and read
by a checker who knows it to be true.

    talk = LongTalk(actions.create_session(alice))
    talk.ask("It crashes.")
    accept(of_turns(talk.branch, [1], "It crashes at noon."))

No request is sent: the checker's answers are made in this process. What is drafted over a provider is in `review`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, TypeVar
from unittest.mock import patch

from compaction.domain.artifact import STATUSES, Claim, Draft, Section, Usage
from compaction.domain.gates import evaluate
from compaction.domain.lifecycle import Ended
from compaction.domain.verdicts import Offered
from compaction.drafting import checking, reading
from compaction.drafting import summaries as drafting
from compaction.drafting.reading import checked_of, log_for, read_ledger
from compaction.drafting.requesting import Answer, Request, shown
from compaction.drafting.scopes import scope_task
from compaction.drafting.storing import keep_tried
from compaction.drafting.summaries import Examined, Task, Tried
from compaction.models import Artifact
from compaction.standing import accepting
from compaction.standing.accepting import accept_compaction, rollback_compaction
from compaction.standing.conclusions import Compaction, ConclusionWork
from efforts import actions
from efforts.context.connections import ModelChoice
from efforts.context.planning import main_branch
from efforts.context.sources import read_scope_log, read_summary_log
from efforts.domain.effort.states import ScopeKind
from efforts.domain.text.canonical import canonical_json
from efforts.models import Branch, ContextPointer, EffortState, Run, Session
from efforts.standins import compacting
from efforts.turns.recording import COMPLETED, Ending, Lease
from tests.efforts.talk import Call, Talk
from tests.fakes.provider import Reply
from tests.fakes.summariser import Summariser

T = TypeVar("T")
CHECKER = ModelChoice(kind="endpoint", label="a double", model="double-1", base_url="http://double.invalid/v1")
THINGS = ("ropes", "lamps", "barrels", "nets", "sails", "anchors", "buckets")
PLACES = ("the old pier", "the lower quay", "the boat house", "the market", "the lighthouse", "the yard")


def long_reply(number: int) -> str:
    """Sentences that are said in no other turn."""
    return " ".join(
        f"The crew carried {40 * number + step} {THINGS[(number + step) % len(THINGS)]} from {place} before the tide."
        for step, place in enumerate(PLACES)
    )


def awaited(work: Coroutine[Any, Any, T]) -> T:
    """Also where a loop runs on this thread."""
    with ThreadPoolExecutor(1) as other:
        return other.submit(asyncio.run, work).result()


class LongTalk(Talk):
    """Its turns are long enough for a summary of them to be smaller."""

    def ask(self, text: str, *calls: Call, reply: str = "", ending: Ending = COMPLETED) -> list[Any]:
        return super().ask(text, *calls, reply=reply, ending=ending)

    def finish(self, lease: Lease, reply: str = "", ending: Ending = COMPLETED) -> None:
        number = Run.objects.values_list("turn__number", flat=True).get(pk=lease.run_id)
        super().finish(lease, reply or long_reply(number), ending)


# Made


def of_turns(branch: Branch, numbers: Collection[int], text: str = "Of chosen turns.", **more: Any) -> Artifact:
    """What `made_of` makes of chosen turns."""
    task = scope_task(branch, read_scope_log(branch, numbers), ScopeKind.INTENTIONAL)
    return made_of(task, text, **more)


def of_effort(talk: Talk, slug: str, text: str = "", **more: Any) -> Artifact:
    """What `made_of` makes of a concluded effort."""
    return made_of(work_on(talk, slug).task, text or f"All about {slug}.", **more)


def digest_of_turns(branch: Branch, numbers: Collection[int]) -> Artifact:
    task = scope_task(branch, read_scope_log(branch, numbers), ScopeKind.INTENTIONAL)
    return digest_made(task)


def digest_of_effort(talk: Talk, slug: str) -> Artifact:
    return digest_made(work_on(talk, slug).task)


def work_on(talk: Talk, slug: str) -> ConclusionWork:
    state = EffortState.objects.select_related("effort", "branch__session").get(
        branch=talk.branch_id, effort__slug=slug
    )
    return Compaction().work_on(state, read_summary_log(state.branch, state.effort))


def digest_made(task: Task) -> Artifact:
    tried = drafting.digest_of(task)
    assert tried is not None, "these turns are too short for a digest"
    return stored(tried)


def made_of(task: Task, text: str, *, claims: Sequence[Claim] = (), check: bool = True, doubted: str = "") -> Artifact:
    """A summary whose result is `text`, with `claims` beside it: every gate passes it.

    Without a `check` nobody has read it; claims with the words of `doubted` are found to be wrong. The same text of the
    same turns is the same artifact, judged once.
    """
    draft = Draft(claims=(result(text, task), *claims))
    document = drafting.made(task, draft)
    if kept := Artifact.objects.filter(pk=document.artifact_id).first():
        return kept
    offered = Offered(text=canonical_json(draft.model_dump(mode="json")), form="draft")
    tried = drafting.judged(Tried(task=task, drafter="model", ended=Ended.DRAFTED, offered=offered, artifact=document))
    if check:
        task = replace(task, checker=CHECKER, exam=Examined(passed=True))
        tried = drafting.judged_as_told(replace(tried, task=task, checks=checks_of(task, document.claims, doubted)))
    return stored(tried)


def result(text: str, task: Task) -> Claim:
    return claim("1", Section.RESULT, text, next(iter(task.source.by_sentence)))


def claim(id: str, section: Section, text: str, *cites: str, **more: Any) -> Claim:
    return Claim(
        id=id, section=section, status=more.pop("status", STATUSES[section][0]), text=text, cites=cites, **more
    )


def stored(tried: Tried) -> Artifact:
    assert tried.artifact is not None
    keep_tried(tried)
    return Artifact.objects.get(pk=tried.artifact.artifact_id)


def checks_of(task: Task, claims: Sequence[Claim], doubted: str = "") -> tuple[checking.CheckMade, ...]:
    """By a checker that is awake and has passed its exam."""
    model = Summariser(known={shown(one) for one in claims})
    if doubted:
        model.doubts(doubted)
    work = checking.CheckWork(
        source=task.source,
        unread=tuple(claims),
        claims=tuple(claims),
        entries=drafting.retained(task.entries),
        checker=CHECKER,
        examined=True,
        cap=task.check_cap,
    )

    async def answer(request: Request, choice: ModelChoice) -> Answer:
        said = model(request.body(model=choice.model, reply_limit="max_tokens", structured=True))
        assert isinstance(said, Reply)
        usage = Usage(input=100, cache_read=0, cache_creation=0, output=10, source="counted")
        return Answer(text=said.text, stop_reason="stop", usage=usage, elapsed_ms=1)

    with patch.object(checking, "ask", answer):
        return awaited(checking.check(work))


def judged_now(artifact: Artifact) -> list[dict[str, Any]]:
    """What the gates say of it by what is stored, without anything being stored of that."""
    document = accepting.checked(artifact)
    source = log_for(artifact, document).source
    check, _ = checked_of(artifact, document, source)
    given = reading.judged_now(artifact, document, source, read_ledger(artifact.session, source), check)
    return [verdict.as_json() for verdict in evaluate(given)]


# Accepted


def accept(artifact: Artifact, **more: Any) -> ContextPointer:
    actor = more.pop("actor", artifact.session.owner)
    scope = (artifact.session_id, artifact.source_start, artifact.source_end)
    return accept_compaction(artifact.pk, *scope, actor=actor, **more)


def rolled_back_by_its_owner(session: Session, artifact: str) -> None:
    compacting.registered().roll_back(artifact, session.owner, main_branch(session))


def roll_back(artifact: Artifact, **more: Any) -> list[ContextPointer]:
    actor = more.pop("actor", artifact.session.owner)
    return rollback_compaction(artifact.pk, actor=actor, **more)


def concluded(talk: Talk, name: str, *said: str) -> tuple[str, Artifact]:
    """A concluded effort with a summary that was accepted; its id, and the artifact."""
    slug = actions.open_effort(talk.place, name).effort.slug
    for text in said or (f"Something about {name}.",):
        talk.ask(text)
    actions.close_effort(talk.place, slug)
    artifact = of_effort(talk, slug)
    accept(artifact, via="control")
    return slug, artifact


# What stands


def standing(talk: Talk) -> list[tuple[str, list[int]]]:
    """One line of what stands in the branch, each with its turns."""
    pointers = ContextPointer.objects.filter(branch=talk.branch_id, state="active").order_by("pk")
    return [(pointer.headline, numbers(pointer)) for pointer in pointers]


def numbers(pointer: ContextPointer) -> list[int]:
    return list(pointer.scope.order_by("turn__number").values_list("turn__number", flat=True))


def summaries(talk: Talk) -> dict[str, str]:
    rows = EffortState.objects.filter(branch=talk.branch_id).order_by("pk")
    return dict(rows.values_list("effort__slug", "summary"))
