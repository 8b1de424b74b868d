"""The exam: whether a model tells wrong claims from true ones, before its checks let anything stand by itself."""

from __future__ import annotations

import asyncio
import json
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from django.db import transaction

from compaction.domain.artifact import Claim
from compaction.domain.check.answers import Entailment, HalfAnswer, Void, answered, check_numbers
from compaction.domain.check.notes import Half, Note, Role
from compaction.domain.limits import HALF_REPLY
from compaction.drafting.prompts import check_version, exam_text
from compaction.drafting.requesting import CUT, Answer, Request, ask, half, most_tokens, with_room_to_think
from compaction.models import Exam, ModelRequest
from efforts.context.connections import ModelChoice
from efforts.domain.effort.states import RunState
from efforts.domain.prompt.conversation import LogMessage, PastTurn
from efforts.domain.text.source_text import Source, source_of
from efforts.models.threads import patiently, read, write

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.db.models import QuerySet

# Of the wrong claims so many are to be caught, and of the true ones at most so many doubted.
CAUGHT, DOUBTED = 0.95, 0.05
# Of an owner, an address and a model, while this process lives.
under_way: dict[tuple[int, str, str], asyncio.Task[Exam]] = {}


@dataclass(frozen=True, kw_only=True)
class Paper:
    """One log of the exam with its claims; `wrong` are the numbers of those that are."""

    source: Source
    notes: Half
    wrong: frozenset[int]

    @property
    def request(self) -> Request:
        return with_room_to_think(half(self.source, self.notes, HALF_REPLY))


# A row that is not stored yet, and the answers that it was made of.
Result = tuple[Exam, tuple[Answer, ...]]


@cache
def papers() -> tuple[Paper, ...]:
    return tuple(paper(log) for log in json.loads(exam_text())["logs"])


def paper(log: dict[str, Any]) -> Paper:
    source = source_of(turns_of(log["messages"]), {m["number"]: m["date"] for m in log["messages"]})
    claims = [claim_of(number, given, source) for number, given in enumerate(log["claims"], start=1)]
    wrong = {number for number, given in enumerate(log["claims"], start=1) if given["verdict"] != Entailment.ENTAILED}
    notes = tuple(
        Note(number=number, role=Role.CLAIM, claim=claim, kind=str(given["kind"]))
        for number, (claim, given) in enumerate(zip(claims, log["claims"], strict=True), start=1)
    )
    return Paper(source=source, notes=notes, wrong=frozenset(wrong))


def turns_of(messages: Sequence[dict[str, Any]]) -> list[PastTurn]:
    turns: dict[int, list[LogMessage]] = {}
    for given in messages:
        speaker, text = str(given["speaker"]), str(given["text"])
        words = f"{speaker}: {text}" if speaker else text
        said = LogMessage(id=given["number"], role=given["role"], text=words, tokens=0)
        turns.setdefault(given["turn"], []).append(said)
    return [PastTurn(number=number, state=RunState.COMPLETED, messages=tuple(said)) for number, said in turns.items()]


def claim_of(number: int, given: dict[str, Any], source: Source) -> Claim:
    cites = tuple(place_of(message, words, source) for message, words in given["cites"])
    fields = {name: given[name] for name in ("section", "status", "text", "owner", "due")}
    return Claim.model_validate_json(json.dumps({"id": str(number), **fields, "cites": cites}))


def place_of(message: int, words: str, source: Source) -> str:
    """The id of the sentence of that message that has the words."""
    return next(
        id
        for id, sentence in source.by_sentence.items()
        if sentence.message == message and words in " ".join(sentence.text.split())
    )


def price() -> int:
    """Tokens, at most."""
    return sum(most_tokens(one.request) for one in papers())


async def take_exam(owner: User, choice: ModelChoice) -> Exam:
    """Once, however many drafts wait for it, and stored whatever becomes of them."""
    key = (owner.pk, choice.base_url, choice.model)
    if key not in under_way:
        under_way[key] = asyncio.create_task(examined_and_kept(owner, choice))
        under_way[key].add_done_callback(lambda _: under_way.pop(key))
    return await asyncio.shield(under_way[key])


async def examined_and_kept(owner: User, choice: ModelChoice) -> Exam:
    if taken := await read(exam_of, owner, choice):
        return taken
    result = await examine(choice)
    return await patiently(partial(write, keep_exam, owner, choice, result))


async def examine(choice: ModelChoice) -> Result:
    answers = await asyncio.gather(*(ask(one.request, choice) for one in papers()))
    return marked(answers)


def marked(answers: Sequence[Answer]) -> Result:
    """Passed by the thresholds of design.md section 8. Where an answer could not be read nothing counts as caught."""
    wrong = sum(len(one.wrong) for one in papers())
    true = sum(len(one.notes) for one in papers()) - wrong
    exam = Exam(caught=0, wrong=wrong, doubted=0, true=true, passed=False)
    try:
        for one, answer in zip(papers(), answers, strict=True):
            verdicts = verdicts_of(one, answer)
            doubts = {number for number, verdict in verdicts.items() if verdict != Entailment.ENTAILED}
            exam.caught += len(doubts & one.wrong)
            exam.doubted += len(doubts - one.wrong)
        exam.passed = exam.caught >= CAUGHT * wrong and exam.doubted <= DOUBTED * true
    except Void as error:
        exam.caught, exam.doubted, exam.why = 0, 0, str(error)[:500]
    return exam, tuple(answers)


def verdicts_of(one: Paper, answer: Answer) -> dict[int, Entailment]:
    """Raises `Void`."""
    if answer.error or answer.stop_reason == CUT:
        raise Void(answer.error or "Its answer was cut at its limit.")
    found = answered(HalfAnswer, answer.text).verdicts
    check_numbers([verdict.note for verdict in found], [note.number for note in one.notes])
    return {verdict.note: verdict.verdict for verdict in found}


@transaction.atomic
def keep_exam(owner: User, choice: ModelChoice, result: Result) -> Exam:
    exam, answers = result
    exam.owner, exam.provider, exam.model, exam.version = owner, choice.base_url, choice.model, check_version()
    exam.tokens = sum(answer.usage.total for answer in answers)
    exam.save()
    for place, (one, answer) in enumerate(zip(papers(), answers, strict=True)):
        ModelRequest.objects.create(exam=exam, **kept(place, "exam", one.request, answer))
    return exam


def kept(place: int, step: str, request: Request, answer: Answer) -> dict[str, Any]:
    """The columns of a request and its answer."""
    return {
        "place": place,
        "step": step,
        "key": request.key,
        "packed": zlib.compress(json.dumps(list(request.messages), ensure_ascii=False).encode(), 9),
        "answer": answer.text,
        "stop_reason": answer.stop_reason[:20],
        "structured": answer.structured,
        "limit": answer.limit,
        "usage": answer.usage.model_dump(mode="json"),
        "elapsed_ms": answer.elapsed_ms,
        "error": answer.error,
    }


def exam_of(owner: User, choice: ModelChoice) -> Exam | None:
    """The newest of this model at this address, by these prompts; one that was not answered is none."""
    return exams_of(owner, choice).exclude(requests__error__gt="").first()


def exams_of(owner: User, choice: ModelChoice) -> QuerySet[Exam]:
    """All, the newest first."""
    same = {"provider": choice.base_url, "model": choice.model, "version": check_version()}
    return Exam.objects.filter(owner=owner, **same).order_by("-pk")
