"""Verdicts on single claims, as drafts of one reviewer; and what must not be lost and no claim tells, with what is done
about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from compaction.domain.artifact import Artifact as Document
from compaction.domain.artifact import Claim, Kind, Section
from compaction.domain.check.result import Checked
from compaction.domain.gates.retention import is_kept
from compaction.domain.ledger import Entry, merged
from compaction.domain.lifecycle import ClaimVerdictValue
from compaction.drafting.reading import Basis, basis_of, checked_of, judged_now
from compaction.models import Artifact, ClaimVerdict, NotNeeded
from compaction.review.desk import at_desk, drafts_of, place_of, tell
from compaction.review.judging import judge_what_is_open
from compaction.standing.accepting import LONGEST_REASON, checked, in_one_line
from efforts import actions
from efforts.domain.errors import Refused
from efforts.domain.text.canonical import sha256
from efforts.models import Hold

if TYPE_CHECKING:
    from django.contrib.auth.models import User

LONGEST_CLAIM = 2_000
UNKNOWN = "This version has no such claim. Load the page again."
EXCERPTS = "These are excerpts of the log. There is nothing to edit in them."
RULE = "A rule stands word for word as it was said. Strike it, or keep it."
LAST_RESULT = "A summary needs its result. Edit it instead."
SAME = "Nothing is changed yet. Write it in other words, or keep it."
TOO_LONG = "This has {has:,} characters; {most:,} is the most. Shorten it."
NOT_DROPPED = "This is in the summary by now. Load the page again."
IS_KEPT = "This is in your list, so the summary needs it. Add it here, or dismiss it in the ledger."
NO_REASON = "Say in a few words why it is not needed. It is kept with your name."
OWNER_ONLY = "Only the owner of the conversation pins its turns."


def decide(
    artifact: Artifact, item: str, verdict: ClaimVerdictValue, *, reviewer: User, text: str = ""
) -> ClaimVerdict:
    """A draft until it is submitted; decided anew it is replaced. `item`: the id of a claim."""
    with at_desk(artifact, reviewer) as row:
        document = checked(row)
        text = in_one_line(text) if verdict == ClaimVerdictValue.EDITED else ""
        check(document, item, verdict, text)
        return put_draft(row, reviewer, item, verdict=verdict, text=text, added=None)


def check(document: Document, item: str, verdict: ClaimVerdictValue, text: str) -> None:
    if document.kind == Kind.DIGEST:
        raise Refused("excerpts", EXCERPTS)
    claim = document.by_id.get(item)
    if claim is None or verdict == ClaimVerdictValue.ADDED:
        raise Refused("unknown_claim", UNKNOWN)
    results = [one for one in document.claims if one.section == Section.RESULT]
    if verdict == ClaimVerdictValue.STRUCK and results == [claim]:
        raise Refused("result", LAST_RESULT)
    if verdict == ClaimVerdictValue.EDITED:
        if claim.section == Section.RULE:
            raise Refused("rule", RULE)
        if not text or text == " ".join(claim.text.split()):
            raise Refused("same", SAME)
        if len(text) > LONGEST_CLAIM:
            raise Refused("too_long", TOO_LONG.format(has=len(text), most=LONGEST_CLAIM))


def put_draft(row: Artifact, reviewer: User, item: str, **values: object) -> ClaimVerdict:
    changed = {**values, "submitted_at": None}
    made, _ = ClaimVerdict.objects.update_or_create(artifact=row, reviewer=reviewer, item=item, defaults=changed)
    tell(row, "review.decided", reviewer, item=item, verdict=str(made.verdict))
    return made


def undecide(artifact: Artifact, item: str, *, reviewer: User) -> None:
    """Take a draft back; where there is none, nothing happens."""
    with at_desk(artifact, reviewer) as row:
        if drafts_of(row, reviewer).filter(item=item).delete()[0]:
            tell(row, "review.undecided", reviewer, item=item)


def undo_last(artifact: Artifact, *, reviewer: User) -> str | None:
    """Take the last draft back; of which claim it was."""
    with at_desk(artifact, reviewer) as row:
        last = drafts_of(row, reviewer).order_by("-updated_at", "-pk").first()
        if last is None:
            return None
        last.delete()
        tell(row, "review.undecided", reviewer, item=last.item)
        return last.item


# What no claim tells


def add_dropped(artifact: Artifact, key: str, *, reviewer: User) -> ClaimVerdict:
    """It becomes a claim of the next version, with its cites."""
    with at_desk(artifact, reviewer) as row:
        claim = dropped_of(row, key).claim
        added = claim.model_dump(mode="json")
        return put_draft(row, reviewer, claim.id, verdict=ClaimVerdictValue.ADDED, text="", added=added)


def not_needed(artifact: Artifact, key: str, reason: str, *, actor: User) -> None:
    """In no version of it. What the person keeps in the ledger is needed."""
    reason = in_one_line(reason)[:LONGEST_REASON]
    if not reason:
        raise Refused("reason", NO_REASON)
    with at_desk(artifact, actor) as row:
        one = dropped_of(row, key)
        if one.confirmed:
            raise Refused("kept", IS_KEPT)
        fields = {"session": row.session, "actor": actor, "reason": reason}
        NotNeeded.objects.get_or_create(family=row.family, key=key, defaults=fields)
        tell(row, "review.not_needed", actor, key=key, text=one.text, reason=reason)
        judge_what_is_open(row, actor)


def needed_again(artifact: Artifact, key: str, *, actor: User) -> None:
    """What was said to be not needed is missed again."""
    with at_desk(artifact, actor) as row:
        one = dropped_of(row, key)
        if NotNeeded.objects.filter(family=row.family, key=key).delete()[0]:
            tell(row, "review.needed_again", actor, key=key, text=one.text)
            judge_what_is_open(row, actor)


def pin_raw(artifact: Artifact, key: str, *, actor: User) -> Hold:
    """Its turn stays in the prompt word for word, until it is unpinned."""
    with at_desk(artifact, actor) as row:
        if row.session.owner_id != actor.pk:
            raise Refused("owner_only", OWNER_ONLY)
        return actions.pin_turn(place_of(row, actor), dropped_of(row, key).turn)


def dropped_of(row: Artifact, key: str) -> Dropped:
    one = next((one for one in dropped(row) if one.key == key), None)
    if one is None:
        raise Refused("not_dropped", NOT_DROPPED)
    return one


CONFIRMED = {
    Section.DECISION: "On the list as a decision: needed until it is taken off the list.",
    Section.OPEN_WORK: "On the list as a to-do: needed until it is taken off the list.",
    Section.RULE: "A rule in force: needed until it is taken back.",
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
    basis = basis_of(artifact, document)
    return dropped_from(artifact, document, basis, checked_of(artifact, document, basis.source)[0])


def dropped_from(artifact: Artifact, document: Document, basis: Basis, check: Checked | None) -> tuple[Dropped, ...]:
    """The same of what has been read. `check`: what was found over that log."""
    source = basis.source
    judged = judged_now(artifact, document, source, basis.entries, check)
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
