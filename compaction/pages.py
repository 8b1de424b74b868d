"""One artifact as its page shows it: what it says, where each claim comes from, and what the gates found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from efforts.models import Message
from efforts.snapshots.sources import read_effort_log

from .actions import inputs_of
from .domain.artifact import Artifact as Document
from .domain.artifact import Item, Link, is_mere_quotation, parse_artifact
from .domain.lifecycle import ArtifactState, Ended
from .domain.rendering import MARKS, TITLES, Quotation, quotations
from .models import Artifact, GateRun
from .snapshots import read_ledger

GATES = {
    "A": ("Structure", "Is it the form that was asked for, letter by letter?"),
    "B": ("Sources", "Does every claim lead to words of the log that bear it out?"),
    "C": ("Retention", "Is every decision, all open work and every rule still there?"),
    "D": ("Contradictions", "Does nothing in it say otherwise than the log?"),
    "E": ("Cost and size", "Was it made within its limits, and is it smaller than the log?"),
}
STATES = {
    ArtifactState.DRAFT: "Not judged yet",
    ArtifactState.REPLACEABLE: "Every gate passes: it may stand in for the log",
    ArtifactState.ADVISORY: "To read only: it never stands in for the log",
    ArtifactState.REJECTED: "Rejected: it does not stand in for the log",
}
ENDS = {
    Ended.DRAFTED: "Drafted",
    Ended.EMPTY: "The model answered with nothing",
    Ended.UNPARSEABLE: "The answer was not the form that was asked for",
    Ended.TRUNCATED: "The answer was cut off",
    Ended.REFUSED: "The model refused",
    Ended.TIMEOUT: "It took too long",
    Ended.FAULT: "The model could not be asked",
    Ended.OVER_CAP: "It cost more than it may",
}


@dataclass(frozen=True, kw_only=True)
class GateView:
    letter: str
    name: str
    asks: str
    outcome: str
    says: str
    measures: tuple[dict[str, Any], ...]
    failures: tuple[dict[str, Any], ...]
    evaluator: str

    @property
    def passed(self) -> bool:
        return self.outcome == "pass"


@dataclass(frozen=True, kw_only=True)
class ClaimView:
    item: Item
    mark: str
    sources: tuple[tuple[int | None, str], ...]


@dataclass(frozen=True, kw_only=True)
class ArtifactView:
    """`stale`: the log, the ledger or the rules have changed since it was judged."""

    row: Artifact
    document: Document
    state: str
    sections: tuple[tuple[str, tuple[ClaimView, ...]], ...]
    said: tuple[Quotation, ...]
    gates: tuple[GateView, ...]
    tags: tuple[str, ...]
    stale: bool
    stands: bool
    evidence: tuple[tuple[str, str, int | None], ...]
    drafted_by: str
    ended: str

    @property
    def title(self) -> str:
        name = self.row.effort.name if self.row.effort else str(self.row.session)
        return f"Checkpoint of {name}" if self.row.kind == "fallback" else f"Summary of {name}"


def artifact_view(row: Artifact) -> ArtifactView:
    document = parse_artifact(row.document)
    judged = row.gate_runs.order_by("-pk").first()
    turns = turns_of(document)
    return ArtifactView(
        row=row,
        document=document,
        state=STATES[ArtifactState(row.state)],
        sections=tuple(sections_of(document, turns)),
        said=tuple(quotations(document.items)),
        gates=gates_of(judged) if judged else (),
        tags=tuple(tag.replace("_", " ") for tag in judged.tags) if judged else (),
        stale=judged is not None and is_stale(row, judged),
        stands=row.acceptances.filter(pointer__state="active").exists(),
        evidence=tuple((one.type, one.value, turns.get(one.link.message)) for one in document.evidence),
        drafted_by=row.run.model or "the built-in engine",
        ended=ENDS[Ended(row.run.ended)],
    )


def turns_of(document: Document) -> dict[int, int]:
    messages = {link.message for item in document.items for link in item.links}
    messages |= {one.link.message for one in document.evidence}
    return dict(Message.objects.filter(pk__in=messages).values_list("pk", "turn__number"))


def sections_of(document: Document, turns: dict[int, int]) -> list[tuple[str, tuple[ClaimView, ...]]]:
    found = []
    for section, title in TITLES.items():
        claims = tuple(
            claim_of(item, turns) for item in document.items if item.section == section and not is_mere_quotation(item)
        )
        if claims:
            found.append((title, claims))
    return found


def claim_of(item: Item, turns: dict[int, int]) -> ClaimView:
    return ClaimView(
        item=item, mark=MARKS.get(item.status, ""), sources=tuple(source_of(link, turns) for link in item.links)
    )


def source_of(link: Link, turns: dict[int, int]) -> tuple[int | None, str]:
    return turns.get(link.message), link.quote


def gates_of(run: GateRun) -> tuple[GateView, ...]:
    return tuple(
        GateView(
            letter=verdict["gate"],
            name=GATES[verdict["gate"]][0],
            asks=GATES[verdict["gate"]][1],
            outcome=verdict["outcome"],
            says=verdict["says"],
            measures=tuple({**one, "name": one["name"].replace("_", " ")} for one in verdict["measures"]),
            failures=tuple(verdict["failures"]),
            evaluator=verdict["evaluator_version"],
        )
        for verdict in run.verdicts
    )


def is_stale(row: Artifact, judged: GateRun) -> bool:
    if row.effort is None:
        return False
    source = read_effort_log(row.branch, row.effort).source
    return bool(judged.inputs != inputs_of(source, read_ledger(row.session, source)))
