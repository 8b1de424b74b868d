"""From a scope to an artifact that the gates have judged: by a model, else of the log's own sentences."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from efforts.connections import ModelChoice
from efforts.domain.conversation import MESSAGE_OVERHEAD
from efforts.domain.source_text import POLICY_VERSION, Source
from efforts.recording import count
from efforts.threads import read

from .asking import Answer, ask, request_tokens
from .domain.artifact import (
    Artifact,
    Draft,
    Generation,
    Kind,
    Malformed,
    SourceRef,
    Warned,
    parse_draft,
)
from .domain.evidence import evidence_in
from .domain.extractive import extract
from .domain.gates import evaluate
from .domain.ledger import Entry
from .domain.lifecycle import STOPPED_BY, Ended
from .domain.limits import TOLD_AGAIN, Limits, Purpose, limits, reply_limit
from .domain.making import Frame, make, with_id
from .domain.rendering import standing_text
from .domain.verdicts import Finding, Gate, Judged, Offered, Verdict
from .judging import Asked, ask_judge
from .prompts import draft_text, prompt_version

PURPOSE: str = Purpose.COMPACTION
REQUEST = "The piece of work: {name}\n\n[Log]\n{log}\n[End of log]\n{kept}\nWrite the JSON object."
LEDGER = "\nLedger:\n{entries}\n"
CANDIDATES = "\nSentences that sound like decisions or open work; keep those that are:\n{entries}\n"
AGAIN = "It is not accepted:\n{failures}\nWrite the whole JSON object again, with all of this put right."
# Told to a model that drafts again, and to people.
MOST_FAILURES, MOST_NAMED = 12, 2
TOO_LARGE = (
    "Its log has {tokens:,} tokens. Within {cap:,} tokens a draft {window}a model can be made of {alone:,} at most, "
    "so none was asked. Conclude in smaller pieces, or choose a model with a larger window."
)
Progress = Callable[[str], Awaitable[None]]


@dataclass(frozen=True, kw_only=True)
class Task:
    """What is drafted, by which model (None: by none; `note` says why, if one was meant), within which limits.

    `latest` are the milliseconds of earlier runs of the model, as gate E counts them. `judge`, if any, is asked about
    a draft that passes, if that costs no more than `judge_cap`. `most` is what all of it may cost.
    """

    name: str
    kind: Kind
    source: Source
    ref: SourceRef
    ledger: tuple[Entry, ...] = ()
    candidates: tuple[Entry, ...] = ()
    rest: tuple[str, ...] = ()
    choice: ModelChoice | None = None
    note: str = ""
    cap: int
    timeout_ms: int
    latest: tuple[int | None, ...] = ()
    judge: ModelChoice | None = None
    judge_cap: int = 0
    most: int = 0
    purpose: str = PURPOSE


@dataclass(frozen=True, kw_only=True)
class Tried:
    """One drafter's work, judged. `artifact` is None where its bytes are no draft."""

    source: Source
    drafter: str
    model: str
    prompt_version: str
    ended: Ended
    offered: Offered
    answers: tuple[Answer, ...]
    artifact: Artifact | None
    verdicts: tuple[Verdict, ...]
    asked: Asked | None = None

    @property
    def passed(self) -> bool:
        return all(verdict.passed for verdict in self.verdicts)

    @property
    def failing(self) -> tuple[Verdict, ...]:
        return tuple(verdict for verdict in self.verdicts if not verdict.passed)

    @property
    def tokens(self) -> int | None:
        used = [answer.usage for answer in self.answers]
        return None if None in used else sum(usage.total for usage in used if usage)

    @property
    def elapsed_ms(self) -> int | None:
        unfinished = {Ended.TIMEOUT, Ended.FAULT}
        return None if self.ended in unfinished else sum(answer.elapsed_ms for answer in self.answers)

    @property
    def why(self) -> str:
        """Why it does not stand, in a sentence."""
        if error := next((answer.error for answer in self.answers if answer.error), ""):
            return error
        return " ".join(reason(verdict) for verdict in self.failing)


def reason(verdict: Verdict) -> str:
    named = "; ".join(failure.text for failure in verdict.failures[:MOST_NAMED])
    return f"Gate {verdict.gate}: {verdict.says}" + (f" {named}." if named and named not in verdict.says else "")


@dataclass(frozen=True, kw_only=True)
class Drafted:
    """All that was tried, and which of it passed every gate. `fallback` is what can be read where a model failed."""

    tried: tuple[Tried, ...]
    chosen: Tried | None
    fallback: Artifact | None
    note: str


async def draft(task: Task, progress: Progress) -> Drafted:
    """By the model, once more with what fails; else extractive, judged by the same gates; else the log stays."""
    tried: list[Tried] = []
    note = task.note
    if task.choice:
        room = limits_of(task, task.choice)
        if task.ref.source_tokens > room.alone:
            note = too_large(task, task.choice, room)
        else:
            by_model = await draft_by_model(task, task.choice, progress)
            if task.judge and by_model.passed:
                by_model = await judged_by_model(task, by_model, task.judge, progress)
            tried.append(by_model)
            note = "" if by_model.passed else by_model.why
    if not tried or not tried[-1].passed:
        await progress("extractive")
        tried.append(await read(draft_extractively, task))
    return await read(outcome, task, tuple(tried), note)


def draft_now(task: Task) -> Drafted:
    """Without a model, and without waiting."""
    return outcome(task, (draft_extractively(task),), task.note)


def outcome(task: Task, tried: tuple[Tried, ...], note: str) -> Drafted:
    last = tried[-1]
    failed = next((one for one in tried if not one.passed), None)
    fallback = fallback_of(last.artifact, failed) if failed and last.artifact else None
    return Drafted(tried=tried, chosen=last if last.passed else None, fallback=fallback, note=note)


# By a model


async def draft_by_model(task: Task, choice: ModelChoice, progress: Progress) -> Tried:
    answers: list[Answer] = []
    request = await read(request_of, task, choice)
    deadline = time.monotonic() + task.timeout_ms / 1000
    await progress("model")
    while True:
        answers.append(await ask(request, choice, deadline - time.monotonic()))
        tried = await read(judge_answers, task, choice, tuple(answers))
        again = None if tried.passed else await read(request_again, task, choice, request, tried)
        if again is None:
            return await read(with_candidates, task, tried)
        request = again
        await progress("redraft")


def request_of(task: Task, choice: ModelChoice) -> dict[str, Any]:
    user = REQUEST.format(name=task.name, log=task.source.text, kept=kept_of(task.ledger, task.candidates))
    return {
        "model": choice.model,
        "stream": True,
        "stream_options": {"include_usage": True},
        choice.reply_limit: reply_limit(task.ref.source_tokens),
        "messages": [{"role": "system", "content": draft_text()}, {"role": "user", "content": user}],
    }


def kept_of(confirmed: Iterable[Entry], candidates: Iterable[Entry]) -> str:
    ledger = "\n".join(f"- {entry.id} ({entry.section}, {entry.status}): {entry.text}" for entry in confirmed)
    cues = "\n".join(f"- message {entry.spans[0].message}: {entry.text}" for entry in candidates if entry.spans)
    told = LEDGER.format(entries=ledger) if ledger else ""
    return told + (CANDIDATES.format(entries=cues) if cues else "")


def request_again(task: Task, choice: ModelChoice, request: dict[str, Any], tried: Tried) -> dict[str, Any] | None:
    """The request with what fails; None where it was asked twice, has nothing to go by, or would cost too much."""
    last = tried.answers[-1]
    if len(tried.answers) > 1 or last.error or task.ref.source_tokens > limits_of(task, choice).with_redraft:
        return None
    told = told_again([failure.text for verdict in tried.failing for failure in verdict.failures])
    if not told:
        return None
    said = [{"role": "assistant", "content": last.text or "(nothing)"}]
    again = {**request, "messages": [*request["messages"], *said, {"role": "user", "content": told}]}
    used = last.usage.total if last.usage else 0
    needed = request_tokens(again) + reply_limit(task.ref.source_tokens)
    fits = used + needed <= task.cap and needed <= (choice.context_window or needed)
    return again if fits else None


def told_again(failures: Iterable[str]) -> str:
    """What fails, as far as there is room to tell it; empty where nothing can be told."""
    said, room = "", TOLD_AGAIN - 2 * MESSAGE_OVERHEAD
    for failure in list(failures)[:MOST_FAILURES]:
        wider = f"{said}\n- {failure}".strip()
        if count(AGAIN.format(failures=wider)) <= room:
            said = wider
    return AGAIN.format(failures=said) if said else ""


def judge_answers(task: Task, choice: ModelChoice, answers: tuple[Answer, ...]) -> Tried:
    """The last answer, judged as it is."""
    answer, parsed = answers[-1], parsed_or_none(answers[-1])
    offered = Offered(text=answer.text, form="draft", stop_reason=answer.stop_reason)
    artifact = made(task, parsed, generation_of(task, "model", choice, answers)) if parsed else None
    verdicts = judged(task, offered, artifact, latest_of(task, answers))
    return Tried(
        source=task.source,
        drafter="model",
        model=choice.model,
        prompt_version=prompt_version(),
        ended=ended_of(answer, verdicts),
        offered=offered,
        answers=answers,
        artifact=artifact,
        verdicts=verdicts,
    )


def latest_of(task: Task, answers: Sequence[Answer]) -> tuple[int | None, ...]:
    took = None if answers[-1].error else sum(answer.elapsed_ms for answer in answers)
    return (*task.latest, took)


def with_candidates(task: Task, tried: Tried) -> Tried:
    """What no other draft will bring is appended, and judged with it."""
    parsed = parsed_or_none(tried.answers[-1])
    missing = missed_candidates(task, tried.verdicts)
    if tried.artifact is None or parsed is None or not missing:
        return tried
    artifact = made(task, parsed, tried.artifact.generation, appended=missing)
    verdicts = judged(task, tried.offered, artifact, latest_of(task, tried.answers))
    return replace(tried, artifact=artifact, verdicts=verdicts, ended=ended_of(tried.answers[-1], verdicts))


async def judged_by_model(task: Task, tried: Tried, judge: ModelChoice, progress: Progress) -> Tried:
    """The same draft with what the judge has found; a judge that fails finds nothing, and says so."""
    assert tried.artifact is not None
    await progress("judge")
    asked = await ask_judge(tried.artifact, task.source, judge, task.timeout_ms / 1000, cap=task.judge_cap)
    latest = latest_of(task, tried.answers)
    verdicts = await read(judged, task, tried.offered, tried.artifact, latest, asked.findings)
    return replace(tried, verdicts=verdicts, asked=asked)


def parsed_or_none(answer: Answer) -> Draft | None:
    try:
        return parse_draft(answer.text)
    except Malformed:
        return None


def ended_of(answer: Answer, verdicts: Sequence[Verdict]) -> Ended:
    failing = {verdict.gate for verdict in verdicts if not verdict.passed}
    if answer.stop_reason == "timeout":
        return Ended.TIMEOUT
    if answer.stop_reason in STOPPED_BY:
        return STOPPED_BY[answer.stop_reason]
    if answer.error:
        return Ended.FAULT
    if not answer.text:
        return Ended.EMPTY
    if Gate.STRUCTURE in failing:
        return Ended.UNPARSEABLE
    return Ended.OVER_CAP if over_cap(verdicts) else Ended.DRAFTED


def over_cap(verdicts: Sequence[Verdict]) -> bool:
    rules = {failure.rule for verdict in verdicts if verdict.gate == Gate.COST for failure in verdict.failures}
    return "over_cap" in rules


def limits_of(task: Task, choice: ModelChoice) -> Limits:
    bare = replace(task, source=Source(parts=()))
    return limits(cap=task.cap, window=choice.context_window, overhead=request_tokens(request_of(bare, choice)))


def too_large(task: Task, choice: ModelChoice, room: Limits) -> str:
    window = f"and a window of {choice.context_window:,} " if choice.context_window else ""
    return TOO_LARGE.format(
        tokens=task.ref.source_tokens, cap=task.cap, window=f"{window}by " if window else "by ", alone=room.alone
    )


# Without a model


def draft_extractively(task: Task) -> Tried:
    found = extracted(task)
    generation = generation_of(task, "extractive", None, ())
    artifact = made(task, found, generation)
    verdicts = judged(task, document_of(artifact), artifact, (0,))
    if missing := missed_candidates(task, verdicts):
        artifact = made(task, found, generation, appended=missing)
        verdicts = judged(task, document_of(artifact), artifact, (0,))
    return Tried(
        source=task.source,
        drafter="extractive",
        model="",
        prompt_version="",
        ended=Ended.DRAFTED,
        offered=document_of(artifact),
        answers=(),
        artifact=artifact,
        verdicts=verdicts,
    )


def extracted(task: Task) -> Draft:
    return extract(
        task.source,
        name=task.name,
        count=count,
        ledger=task.ledger,
        rest=task.rest,
        long_headline=task.kind == Kind.CONCLUSION,
    )


def document_of(artifact: Artifact) -> Offered:
    return Offered(text=artifact.document, form="document")


def fallback_of(extractive: Artifact, failed: Tried) -> Artifact:
    """What can be read where a draft failed: the log's own words, never replacing anything, with the reason."""
    code = failed.ended if failed.ended != Ended.DRAFTED else "gates"
    attempts = {
        "attempts": tuple(answer.attempt for answer in failed.answers),
        "elapsed_ms": sum(answer.elapsed_ms for answer in failed.answers),
    }
    changed = {
        "kind": Kind.FALLBACK,
        "replaceable": False,
        "generation": extractive.generation.model_copy(update=attempts),
        "warnings": (Warned(code=str(code), message=failed.why),),
    }
    return with_id(extractive.model_copy(update=changed))


# Both


def generation_of(task: Task, drafter: Any, choice: ModelChoice | None, answers: Sequence[Answer]) -> Generation:
    return Generation(
        purpose=task.purpose,
        drafter=drafter,
        model=choice.model if choice else "",
        provider=choice.label if choice else "",
        params={choice.reply_limit: reply_limit(task.ref.source_tokens)} if choice else {},
        prompt_version=prompt_version() if choice else "",
        policy_version=POLICY_VERSION,
        attempts=tuple(answer.attempt for answer in answers),
        elapsed_ms=sum(answer.elapsed_ms for answer in answers),
        cap=task.cap,
        timeout_ms=task.timeout_ms,
    )


def made(task: Task, draft: Draft, generation: Generation, *, appended: Sequence[Entry] = ()) -> Artifact:
    frame = Frame(
        kind=task.kind, replaceable=True, source=task.ref, generation=generation, evidence=evidence_in(task.source)
    )
    return make(draft, task.source, frame, count=count, appended=appended)


def judged(
    task: Task,
    offered: Offered,
    artifact: Artifact | None,
    latest: tuple[int | None, ...],
    findings: tuple[Finding, ...] = (),
) -> tuple[Verdict, ...]:
    return evaluate(
        Judged(
            offered=offered,
            artifact=artifact,
            source=task.source,
            ledger=task.ledger,
            candidates=task.candidates,
            tokens=count(standing_text(artifact)) if artifact else 0,
            latest=latest,
            findings=findings,
        )
    )


def missed_candidates(task: Task, verdicts: Sequence[Verdict]) -> tuple[Entry, ...]:
    """Those that gate C names."""
    of_retention = (verdict for verdict in verdicts if verdict.gate == Gate.RETENTION)
    missed = {failure.about for verdict in of_retention for failure in verdict.failures}
    return tuple(entry for entry in task.candidates if entry.id in missed)


def source_tokens(source: Source) -> int:
    return count(source.text)
