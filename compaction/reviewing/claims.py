"""Verdicts on single claims, as drafts of one reviewer; and what is done about what no claim cites."""

from __future__ import annotations

from typing import TYPE_CHECKING

from compaction.accepting import CHECKPOINT, in_one_line
from compaction.domain.artifact import HEADLINE, Kind, parse_artifact
from compaction.domain.artifact import Artifact as Document
from compaction.domain.editing import claims_of, is_quoted
from compaction.domain.lifecycle import ClaimVerdictValue
from compaction.dropped import Dropped, dropped
from compaction.models import Artifact, ClaimVerdict, NotNeeded
from efforts import actions
from efforts.domain.extractive import LONGEST_SUMMARY
from efforts.domain.lifecycle import EntryKind
from efforts.errors import Refused
from efforts.models import Hold
from efforts.recording import count

from .desk import at_desk, drafts_of, place_of, tell
from .judging import judge

if TYPE_CHECKING:
    from django.contrib.auth.models import User

LONGEST_CLAIM = 2_000
LONGEST_ID = 200
UNKNOWN = "This version has no such claim. Load the page again."
LONG_NAME = (
    "The model gave this claim a name of {has:,} characters; {most:,} is the most. Have the summary drafted again."
)
QUOTED = "These are words of the log. Keep them or strike them; they cannot be edited."
ONE_HEADLINE = "A summary needs its headline. Edit it instead."
SAME = "Nothing is changed yet. Write it in other words, or keep it."
TOO_LONG = "This has {has:,} characters; {most:,} is the most. Shorten it."
LONG_HEADLINE = "This headline has {has:,} tokens; {most:,} is the most, since it stands in every prompt. Shorten it."
NOT_DROPPED = "This is in the summary by now. Load the page again."
IS_KEPT = "This is kept in the ledger, so the summary needs it. Add it here, or dismiss it in the ledger."
OWNER_ONLY = "Only the owner of the conversation pins its turns."
QUOTED_VERDICTS = (ClaimVerdictValue.KEPT, ClaimVerdictValue.STRUCK)


def decide(
    artifact: Artifact, item: str, verdict: ClaimVerdictValue, *, reviewer: User, text: str = ""
) -> ClaimVerdict:
    """A draft until it is submitted; decided anew it is replaced. `item`: an id, "headline" or `Quotation.key`."""
    with at_desk(artifact, reviewer) as row:
        document = parse_artifact(row.document)
        text = in_one_line(text) if verdict == ClaimVerdictValue.EDITED else ""
        check(document, item, verdict, text)
        return put_draft(row, reviewer, item, verdict=verdict, text=text, added=None)


def check(document: Document, item: str, verdict: ClaimVerdictValue, text: str) -> None:
    claims = claims_of(document)
    if document.kind == Kind.FALLBACK:
        raise Refused("checkpoint", CHECKPOINT)
    if item not in claims or verdict == ClaimVerdictValue.ADDED:
        raise Refused("unknown_claim", UNKNOWN)
    if len(item) > LONGEST_ID:
        raise Refused("long_id", LONG_NAME.format(has=len(item), most=LONGEST_ID))
    if is_quoted(document, item) and verdict not in QUOTED_VERDICTS:
        raise Refused("quoted", QUOTED)
    if item == HEADLINE and verdict == ClaimVerdictValue.STRUCK:
        raise Refused("headline", ONE_HEADLINE)
    if verdict == ClaimVerdictValue.EDITED:
        check_words(item, text, claims[item])


def check_words(item: str, text: str, before: str) -> None:
    if not text or text == " ".join(before.split()):
        raise Refused("same", SAME)
    if len(text) > LONGEST_CLAIM:
        raise Refused("too_long", TOO_LONG.format(has=len(text), most=LONGEST_CLAIM))
    if item == HEADLINE and count(text) > LONGEST_SUMMARY:
        raise Refused("too_long", LONG_HEADLINE.format(has=count(text), most=LONGEST_SUMMARY))


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


# What no claim cites


def add_dropped(artifact: Artifact, key: str, *, reviewer: User) -> ClaimVerdict:
    """It becomes a claim of the next version."""
    with at_desk(artifact, reviewer) as row:
        if row.kind == Kind.FALLBACK:
            raise Refused("checkpoint", CHECKPOINT)
        item = dropped_of(row, key).item
        added = item.model_dump(mode="json")
        return put_draft(row, reviewer, item.id, verdict=ClaimVerdictValue.ADDED, text="", added=added)


def not_needed(artifact: Artifact, key: str, *, actor: User) -> None:
    """In no version of it. What only sounds like a decision or open work is dismissed, and does not count any more."""
    with at_desk(artifact, actor) as row:
        one = dropped_of(row, key)
        if one.confirmed:
            raise Refused("kept", IS_KEPT)
        NotNeeded.objects.get_or_create(family=row.family, key=key, defaults={"session": row.session, "actor": actor})
        tell(row, "review.not_needed", actor, key=key, text=one.text)
        if one.entry and not one.not_needed:
            dismiss(row, one, actor)
            judge(row, actor)


def dismiss(row: Artifact, one: Dropped, actor: User) -> None:
    kind, _, number = one.entry.partition("-")
    place = place_of(row, actor)
    if kind in set(EntryKind) and number.isdecimal():
        actions.dismiss_entry(place, int(number))
    else:
        actions.dismiss_words(place, one.message, kind_of(one), one.text)


def kind_of(one: Dropped) -> EntryKind:
    return EntryKind(one.kind.replace(" ", "_"))


def needed_again(artifact: Artifact, key: str, *, actor: User) -> None:
    """What was said to be not needed is missed again."""
    with at_desk(artifact, actor) as row:
        one = dropped_of(row, key)
        if not NotNeeded.objects.filter(family=row.family, key=key).delete()[0]:
            return
        tell(row, "review.needed_again", actor, key=key, text=one.text)
        if one.entry and one.not_needed:
            actions.restore_entry(place_of(row, actor), int(one.entry.rpartition("-")[2]))
            judge(row, actor)


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
