"""A scope of a conversation, a ledger of it, and drafts of artifacts: what gates are tried on."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from compaction.domain.artifact import (
    Artifact,
    Attempt,
    Generation,
    Kind,
    Section,
    SourceRef,
    Status,
    Usage,
    parse_draft,
)
from compaction.domain.gates import evaluate
from compaction.domain.ledger import Entry, Span
from compaction.domain.making import Frame, link_to, make, with_id
from compaction.domain.rendering import standing_text
from compaction.domain.verdicts import Gate, Judged, Offered, Verdict
from efforts.domain.conversation import Role
from efforts.domain.source_text import Part, Source, SourcePart


def said(message: int, role: Role, text: str, *, turn: int = 0, part: Part | None = None) -> SourcePart:
    part = part or (Part.RESULT if role == "tool" else Part.TEXT)
    return SourcePart(message=message, turn=turn or message, role=role, part=part, text=text)


SOURCE = Source(
    parts=(
        said(1, "user", "We need a job queue for the invoices. Never send an email twice for the same invoice."),
        said(2, "assistant", "Celery with Redis would do, or procrastinate, which needs nothing but Postgres."),
        said(3, "user", "Let's take Celery for the job queue, two of us know it already."),
        said(4, "assistant", "Then I set the timeout of the worker to 30 seconds and retry 5 times."),
        said(5, "user", "Redis goes away in March, so we take procrastinate for the job queue instead of Celery."),
        said(6, "user", "The timeout of the worker must be 60 seconds. Leave the retries at 5 attempts."),
        said(7, "assistant", "Done. I wrote the settings to src/queue/settings.py, with --concurrency left at 4."),
        said(8, "user", "I still have to ask the database people for the grant on the schema."),
        said(
            9, "assistant", "The migration of the invoices table waits for that grant. The changelog entry is written."
        ),
        said(10, "tool", "FAILED tests/test_queue.py::test_retry\n1 failed, 41 passed in 0.66s"),
    )
)
GOOD: dict[str, Any] = {
    "headline": "The invoices get a job queue: procrastinate, with a timeout of 60 seconds. The grant is still open.",
    "headline_items": ["i1", "i2", "i4"],
    "items": [
        {
            "id": "i1",
            "section": "decision",
            "status": "accepted",
            "actor": "user",
            "text": "The job queue is procrastinate, because Redis goes away in March.",
            "quotes": [
                {"message": 5, "quote": "Redis goes away in March, so we take procrastinate for the job queue"},
            ],
        },
        {
            "id": "i2",
            "section": "decision",
            "status": "accepted",
            "actor": "user",
            "text": "The worker has a timeout of 60 s.",
            "quotes": [{"message": 6, "quote": "The timeout of the worker must be 60 seconds."}],
        },
        {
            "id": "i3",
            "section": "constraint",
            "status": "in_force",
            "actor": "user",
            "text": "Never send an email twice for the same invoice.",
            "quotes": [{"message": 1, "quote": "Never send an email twice for the same invoice."}],
        },
        {
            "id": "i4",
            "section": "open_work",
            "status": "open",
            "actor": "user",
            "text": "The user asks the database people for the grant on the schema.",
            "quotes": [{"message": 8, "quote": "I still have to ask the database people for the grant on the schema."}],
        },
        {
            "id": "i5",
            "section": "open_work",
            "status": "blocked",
            "actor": "assistant",
            "text": "The migration of the invoices table, until the grant is there.",
            "quotes": [{"message": 9, "quote": "The migration of the invoices table waits for that grant."}],
        },
        {
            "id": "i6",
            "section": "changed",
            "status": "done",
            "actor": "assistant",
            "text": "The settings were written to `src/queue/settings.py`.",
            "quotes": [{"message": 7, "quote": "I wrote the settings to src/queue/settings.py"}],
        },
    ],
}


def span(message: int, quote: str) -> Span:
    link = link_to(SOURCE, message, quote)
    assert link
    return Span(message=message, part=link.part, start=link.start, end=link.end)


def entry(id: str, section: Section, status: Status, text: str, *spans: tuple[int, str]) -> Entry:
    return Entry(id=id, section=section, status=status, text=text, spans=tuple(span(*each) for each in spans))


CELERY = entry(
    "d1", Section.DECISION, Status.SUPERSEDED, "Celery is the job queue.", (3, "Let's take Celery for the job queue")
)
PROCRASTINATE = entry(
    "d2",
    Section.DECISION,
    Status.ACCEPTED,
    "procrastinate is the job queue instead of Celery.",
    (5, "so we take procrastinate for the job queue instead of Celery."),
)
TIMEOUT = entry(
    "d3",
    Section.DECISION,
    Status.ACCEPTED,
    "The timeout of the worker is 60 seconds.",
    (6, "The timeout of the worker must be 60 seconds."),
)
GRANT = entry(
    "w1",
    Section.OPEN_WORK,
    Status.OPEN,
    "Ask the database people for the grant on the schema.",
    (8, "I still have to ask the database people for the grant on the schema."),
)
MIGRATION = entry(
    "w2",
    Section.OPEN_WORK,
    Status.BLOCKED,
    "The migration of the invoices table waits for the grant.",
    (9, "The migration of the invoices table waits for that grant."),
)
CHANGELOG = entry(
    "w3", Section.OPEN_WORK, Status.DONE, "Write the changelog entry.", (9, "The changelog entry is written.")
)
RULE = entry(
    "c1",
    Section.CONSTRAINT,
    Status.IN_FORCE,
    "Never send an email twice for the same invoice.",
    (1, "Never send an email twice for the same invoice."),
)
LEDGER = (CELERY, PROCRASTINATE, TIMEOUT, GRANT, MIGRATION, CHANGELOG, RULE)


def count(text: str) -> int:
    return len(text.split())


def attempt(tokens: int = 900, **changes: Any) -> Attempt:
    usage = Usage(input=tokens - 100, cache_read=0, cache_creation=0, output=100, source="provider")
    return Attempt(**{"usage": usage, "stop_reason": "stop", "error": "", "elapsed_ms": 4000, **changes})


def generation(**changes: Any) -> Generation:
    made = {
        "purpose": "compaction",
        "drafter": "model",
        "model": "small",
        "provider": "here",
        "params": {},
        "prompt_version": "1",
        "policy_version": "1",
        "attempts": (attempt(),),
        "elapsed_ms": 4000,
        "cap": 40_000,
        "timeout_ms": 90_000,
    }
    return Generation(**{**made, **changes})


def artifact_of(draft: dict[str, Any], source: Source = SOURCE, **changes: Any) -> Artifact:
    place = SourceRef(
        session="s",
        branch="b",
        effort="invoices",
        start=1,
        end=10,
        turns=source.turns,
        source_sha256=source.sha256,
        source_tokens=count(source.text),
    )
    frame = Frame(kind=Kind.CONCLUSION, replaceable=True, source=place, generation=generation(**changes))
    return make(parse_draft(json.dumps(draft)), source, frame, count=count)


def judged(draft: dict[str, Any] = GOOD, *, source: Source = SOURCE, ledger: tuple[Entry, ...] = LEDGER) -> Judged:
    artifact = artifact_of(draft, source)
    return Judged(
        offered=Offered(text=json.dumps(draft), form="draft"),
        artifact=artifact,
        source=source,
        ledger=ledger,
        candidates=(),
        tokens=count(standing_text(artifact)),
        latest=(4000,),
    )


def with_artifact(given: Judged, **changes: Any) -> Judged:
    """Its artifact changed by hand, offered as a document."""
    assert given.artifact
    artifact = with_id(given.artifact.model_copy(update=changes))
    return replace(given, artifact=artifact, offered=Offered(text=artifact.document, form="document"))


def verdict(given: Judged, gate: Gate) -> Verdict:
    return next(each for each in evaluate(given) if each.gate == gate)


def rules(given: Judged, gate: Gate) -> list[str]:
    return [failure.rule for failure in verdict(given, gate).failures]


def item(like: str, **changes: Any) -> dict[str, Any]:
    """One of the good items, changed."""
    return {**next(each for each in GOOD["items"] if each["id"] == like), **changes}


def draft_with(*items: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """The good draft, items of the same id replaced and others added."""
    given = {each["id"]: each for each in items}
    kept = [given.pop(each["id"], each) for each in GOOD["items"]]
    return {**GOOD, "items": [*kept, *given.values()], **changes}


def draft_without(*ids: str) -> dict[str, Any]:
    kept = [each for each in GOOD["items"] if each["id"] not in ids]
    return {**GOOD, "items": kept, "headline_items": [id for id in GOOD["headline_items"] if id not in ids]}
