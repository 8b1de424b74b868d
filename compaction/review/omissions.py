"""What must not be lost and no claim tells: to be added as a claim, or said to be not needed."""

from __future__ import annotations

from dataclasses import dataclass

from compaction.domain.artifact import Claim, Section
from compaction.domain.gates.retention import is_kept
from compaction.domain.ledger import Entry, merged
from compaction.drafting.reading import checked_of, judged_now, log_for, read_ledger
from compaction.models import Artifact, NotNeeded
from compaction.standing.accepting import checked
from efforts.domain.text.canonical import sha256

CONFIRMED = {
    Section.DECISION: "In your list as a decision: without it this summary can't stand.",
    Section.OPEN_WORK: "In your list as a to-do: without it this summary can't stand.",
    Section.RULE: "A rule of yours: without it this summary can't stand.",
}
KINDS = {Section.DECISION: "a decision", Section.OPEN_WORK: "a to-do", Section.RULE: "a rule"}
LISTED = "{by} listed it as {what} when it read the log. Add it, or say that it is not needed."


@dataclass(frozen=True, kw_only=True)
class Dropped:
    """`claim` would be added; its cites lead to the words. `key`: the entry's id; `confirmed`: of the ledger;
    `missing`: what of it no claim tells, where claims tell the rest."""

    key: str
    kind: str
    text: str
    why: str
    claim: Claim
    turn: int
    confirmed: bool
    missing: str = ""
    not_needed: bool = False
    reason: str = ""


def dropped(artifact: Artifact) -> tuple[Dropped, ...]:
    """What the gates miss, what is confirmed first; what is not needed last. Of an earlier form nothing."""
    if not artifact.is_current:
        return ()
    document = checked(artifact)
    source = log_for(artifact, document).source
    check, _ = checked_of(artifact, document, source)
    judged = judged_now(artifact, document, source, read_ledger(artifact.session, source), check)
    waived = dict(NotNeeded.objects.filter(family=artifact.family).values_list("key", "reason"))
    wanted = merged(judged.entries, check.listed if check else ())
    lost = [entry for entry in wanted if entry.id in waived or not is_kept(entry, judged)]
    by = check.listed_by if check else ""
    found = [
        Dropped(
            key=entry.id,
            kind=KINDS[entry.section].removeprefix("a "),
            text=entry.text,
            why=LISTED.format(by=by, what=KINDS[entry.section]) if entry.listed else CONFIRMED[entry.section],
            claim=claim_of(entry),
            turn=next((source.part_of(id).turn for id in entry.sentences if id in source.by_sentence), 0),
            confirmed=not entry.listed,
            missing=check.missing.get(entry.id, "") if check else "",
            not_needed=entry.id in waived,
            reason=waived.get(entry.id, ""),
        )
        for entry in lost
    ]
    return tuple(sorted(found, key=lambda one: (one.not_needed, not one.confirmed)))


def claim_of(entry: Entry) -> Claim:
    """With an id that no claim has, the same whenever it is added."""
    id = f"add-{sha256(entry.id + entry.text)[:12]}"
    return Claim(
        id=id,
        section=entry.section,
        status=entry.status,
        text=entry.text,
        cites=entry.sentences,
        ledger_ref="" if entry.listed else entry.id,
    )
