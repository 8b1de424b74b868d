"""How a summary stands, in one of six words, with one sentence of why and what to do next."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from compaction.domain.gates.judging import counted
from compaction.domain.lifecycle import ArtifactState
from compaction.domain.verdicts import Gate
from compaction.drafting import costs
from compaction.review.desk import ACCEPTABLE
from compaction.standing.blockers import OF_STATE, in_its_place, is_open, is_reopened
from compaction.standing.presence import Presence
from efforts.context.words import WordView
from efforts.domain.effort.states import PointerState
from efforts.standins.seen import Word
from efforts.templatetags.look import listed

if TYPE_CHECKING:
    from compaction.pages.presenters.artifact import ArtifactView
    from efforts.models import ContextPointer


BACK = "It is not in the prompt: somebody rolled it back. “Accept again” puts it there again."
REPLACED = "A later summary has replaced it. It is kept to read."
CHANGED = "Its turns have changed since it came into use, so it left the prompt. Ask for a new draft."
REOPENED = (
    "Its effort was opened again, so the model sees {turns}. Conclude the effort, and its turns are replaced again."
)
WENT_ON = (
    "Its effort was opened again after it came into use, and went on. What replaces its turns now has its own page."
)
STANDS = {
    Presence.SENT: (
        "The model sees {this} instead of {turns}. The log is kept: “Roll back” brings it back from the next call on."
    ),
    Presence.FULL: (
        "Expanded now: the model sees this in full instead of {turns}. Once collapsed, it sees the short text again."
    ),
    Presence.EXPANDED: (
        "Expanded now: the model sees {turns}. Once collapsed, it sees {this} instead of them, until you roll it back."
    ),
    Presence.LEFT: (
        "It replaces {turns}, but is not in the prompt now: nothing has mentioned it for a while. A mention brings it "
        "back."
    ),
}
THIS, SOME = "this text", "{sent} of its {all} claims"
UNREAD = " Nobody has checked it."
REJECTED = "It was rejected. “Judge again” takes it up once more."
STALE = "The log, your list or the rules of the gates have changed since it was judged. Judge it again."
PASSED = "Every gate passes. Accept it, and the model sees {this} instead of {now}, until you roll it back."
EXCERPTS = (
    "These are quotes, word for word. Accept them, and the model sees them instead of {now}, until you roll back."
)
NOT_JUDGED = "No gate has judged it yet."
READ_IT = "{why} Read every claim yourself, choose another checker, or accept it unchecked."
MISSING_ONE = "1 thing that must not be lost is missing: add it, or say why it is not needed."
MISSING = "{count} things that must not be lost are missing: add each, or say why it is not needed."
NO_CHECK = "No model has checked it."
# Of each gate the control with which a finding of it is set aside.
ASIDES = {Gate.TRACEABILITY: "The log does say it…", Gate.CONTRADICTION: "This is no contradiction…"}


@dataclass(frozen=True, kw_only=True)
class StateView(WordView):
    """`says` is why, and what to do next."""

    says: str


def state_of(view: ArtifactView) -> StateView:
    state = ArtifactState(view.row.state)
    if view.stands:
        unread = UNREAD if view.stands_unchecked else ""
        says = STANDS[view.presence or Presence.SENT].format(this=this(view), turns=view.row.span)
        return StateView(word=Word.STANDS, says=says + unread, quotes=view.is_digest)
    if view.pointer:
        return gone(view, view.pointer)
    if view.is_turned_down:
        return StateView(word=Word.BLOCKED, says=REJECTED)
    if view.stale and state in ACCEPTABLE:
        return StateView(word=Word.NOT_CHECKED, says=STALE)
    return StateView(word=OF_STATE[state], says=why_of(view, state))


def gone(view: ArtifactView, pointer: ContextPointer) -> StateView:
    """Of what has stood in the prompt, and does not any more."""
    match PointerState(pointer.state):
        case PointerState.ROLLED_BACK:
            return StateView(word=Word.ROLLED_BACK, says=BACK)
        case PointerState.SUPERSEDED:
            return StateView(word=Word.ENDED, says=REPLACED)
    says = CHANGED
    if is_reopened(pointer):
        says = REOPENED.format(turns=view.row.span) if is_open(pointer) else WENT_ON
    return StateView(word=Word.ENDED, says=says)


def why_of(view: ArtifactView, state: ArtifactState) -> str:
    if state == ArtifactState.REPLACEABLE:
        return (EXCERPTS if view.is_digest else PASSED).format(this=this(view), now=seen_now(view))
    if state == ArtifactState.UNCHECKED:
        return READ_IT.format(why=why_unchecked(view))
    if state == ArtifactState.DRAFT:
        return NOT_JUDGED
    return " ".join(blocks(view)) or STALE


def this(view: ArtifactView) -> str:
    """What of it the model is sent."""
    every = len(view.then.claims)
    return SOME.format(sent=every - len(view.kept_back), all=every) if view.kept_back else THIS


def seen_now(view: ArtifactView) -> str:
    """What accepting takes out of the prompt."""
    instead, log = in_its_place(view.row, view.row.branch)
    names = [one.name for one in instead]
    return str(listed([*names, "the log of the other turns"] if log and names else names or ["the log"]))


def why_unchecked(view: ArtifactView) -> str:
    last = view.checks[-1] if view.checks else None
    if last is None:
        return costs.why_not_asked(view.row.session) or NO_CHECK
    if last.void:
        return f"The check by {last.model} proves nothing. {last.void}"
    if last.exam and not last.exam.passed:
        score = f"{last.exam.score} of {last.exam.wrong + last.exam.true}"
        return f"{last.model} has failed its exam ({score}), so its check does not count."
    return f"The check by {last.model} is not enough by itself."


def blocks(view: ArtifactView) -> Iterator[str]:
    """What fails, and what mends it: doubts first, then what is missing, then whatever else a gate says."""
    failing = {gate.letter for gate in view.gates if gate.failed}
    doubted = [claim for claim in view.claims.all if any(one.doubts for one in claim.opinions)]
    if doubted and failing & ASIDES.keys():
        by = ", ".join(dict.fromkeys(one.by for claim in doubted for one in claim.opinions if one.doubts))
        them = "it" if len(doubted) == 1 else "them"
        at = sorted(failing & ASIDES.keys())
        gates = " or ".join(f"gate {letter}" for letter in at)
        asides = "” or “".join(ASIDES[Gate(letter)] for letter in at)
        what = counted(len(doubted), "claim")
        yield f"{by} doubts {what}: edit {them}, strike {them}, or open {gates} and say “{asides}”."
        failing -= set(at)
    if Gate.RETENTION in failing and view.missed:
        yield MISSING_ONE if view.missed == 1 else MISSING.format(count=view.missed)
        failing -= {Gate.RETENTION}
    for gate in view.gates:
        if gate.letter in failing:
            yield f"Gate {gate.letter}: {gate.says}"
