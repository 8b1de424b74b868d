"""A small log, claims of it, and all that the gates are given: each test changes what it is about."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from compaction.domain.artifact import (
    SCHEMA_VERSION,
    Artifact,
    Claim,
    Draft,
    Kind,
    Section,
    SourceRef,
    Status,
    is_short,
    with_id,
)
from compaction.domain.check.answers import Entailment
from compaction.domain.check.result import Checked, Opinion
from compaction.domain.ledger import Entry
from compaction.domain.rendering import rendered
from compaction.domain.verdicts import Judged, Offered, Spent
from efforts.domain.effort.states import RunState
from efforts.domain.prompt.conversation import LogMessage, PastTurn
from efforts.domain.text.canonical import canonical_json
from efforts.domain.text.source_text import Source, source_of

MODEL = "reader-1"
SAID = (
    ("user", "The nightly import dies after 40 minutes. Please find out why. Never touch the production database."),
    ("assistant", "The pooler kills its idle transaction after 1800 seconds. We could raise the timeout to 3600."),
    ("user", "No, leave it at 1800. We compute the matrix outside the transaction. Jonas tests it by Friday."),
    ("assistant", "Done, the import went through on staging. The report mail for Marta is still to be written."),
)
CLAIMS: tuple[dict[str, Any], ...] = (
    {
        "id": "1",
        "section": "result",
        "status": "stated",
        "text": "The import went through on staging.",
        "cites": ["4.1"],
    },
    {
        "id": "2",
        "section": "decision",
        "status": "accepted",
        "text": "The matrix is computed outside the transaction.",
        "cites": ["3.2"],
    },
    {
        "id": "3",
        "section": "open_work",
        "status": "open",
        "text": "The report mail for Marta has to be written.",
        "cites": ["4.2"],
    },
    {
        "id": "4",
        "section": "rule",
        "status": "in_force",
        "text": "Never touch the production database.",
        "cites": ["1.3"],
    },
    {
        "id": "5",
        "section": "fact",
        "status": "stated",
        "text": "The pooler kills idle transactions after 1800 seconds.",
        "cites": ["2.1"],
    },
)


def count(text: str) -> int:
    """Words: enough for what only compares sizes."""
    return len(text.split())


def source(said: tuple[tuple[str, str], ...] = SAID) -> Source:
    turns = [
        PastTurn(
            number=number // 2 + 1,
            state=RunState.COMPLETED,
            messages=(LogMessage(id=100 + number, role=role, text=text, tokens=count(text)),),  # type: ignore[arg-type]
        )
        for number, (role, text) in enumerate(said)
    ]
    return source_of(turns)


def claim(**given: Any) -> Claim:
    base = {"id": "x", "section": "fact", "status": "stated", "text": "Something.", "cites": ["1.1"]}
    return Claim.model_validate_json(canonical_json({**base, **given}))


def claims(*changes: dict[str, Any], without: tuple[str, ...] = ()) -> tuple[Claim, ...]:
    """Those of the log; each change names the claim by its id, or adds one."""
    by_id = {one["id"]: one for one in CLAIMS if one["id"] not in without}
    for change in changes:
        by_id[change["id"]] = {**by_id.get(change["id"], {"section": "fact", "status": "stated"}), **change}
    return tuple(claim(**one) for one in by_id.values())


def artifact(told: tuple[Claim, ...], log: Source | None = None, **changes: Any) -> Artifact:
    log = log or source()
    ref = SourceRef(
        session="s",
        branch="b",
        effort="import",
        start=1,
        end=2,
        turns=(1, 2),
        source_sha256=log.sha256,
        source_tokens=count(log.said),
    )
    made = Artifact(
        schema_version=SCHEMA_VERSION,
        artifact_id="",
        kind=Kind.CONCLUSION,
        source=ref,
        claims=told,
        short=tuple(one.id for one in told if is_short(one)),
        opening="",
        title="",
        excerpts=(),
        evidence=(),
        redactions=0,
        warnings=(),
    )
    return with_id(made.model_copy(update=changes))


def checked(told: tuple[Claim, ...], *doubts: tuple[str, Entailment], **changes: Any) -> Checked:
    """Read by a model that found all entailed but for the doubts, and listed what stands in the short form."""
    said = dict(doubts)
    opinions = {
        one.content: (Opinion(verdict=said.get(one.id, Entailment.ENTAILED), by=MODEL, phrase=one.text),)
        for one in told
    }
    listed = tuple(
        Entry(
            id=f"listed-{one.id}",
            section=one.section,
            status=one.status,
            text=one.text,
            sentences=one.cites,
            listed=True,
        )
        for one in told
        if one.section in (Section.DECISION, Section.OPEN_WORK, Section.RULE)
    )
    contents = {one.id: one.content for one in told}
    mapping = {entry.id: (contents[entry.id.removeprefix("listed-")],) for entry in listed}
    found = Checked(by=MODEL, opinions=opinions, listed=listed, told=mapping, hidden=True, examined=True)
    return replace(found, **changes)


def entry(id: str, section: Section, status: Status, text: str, *sentences: str, **more: Any) -> Entry:
    return Entry(id=id, section=section, status=status, text=text, sentences=sentences, **more)


def judged(told: tuple[Claim, ...] | None = None, **changes: Any) -> Judged:
    """What a good summary is judged by, unless something is changed."""
    told = told or claims()
    log = changes.pop("source", None) or source()
    made = changes.pop("artifact", None) or artifact(told, log)
    text = rendered(made, count=count)
    draft = Draft(claims=made.claims) if made.claims else None
    base = Judged(
        offered=Offered(text=canonical_json(draft.model_dump(mode="json")), form="draft")
        if draft
        else Offered(text=made.document, form="document"),
        artifact=made,
        source=log,
        text=text,
        tokens=count(text.standing),
        body_tokens=count(text.body),
        check=changes.pop("check", checked(made.claims) if made.claims else None),
        spent=(Spent(purpose="compaction", tokens=900, cap=40_000, slowest_ms=800, timeout_ms=90_000),),
        latest=(800,),
    )
    return replace(base, **changes)
