"""How an artifact stands, in one of six words, with one sentence of why and what to do next."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext

from compaction.domain.lifecycle import ArtifactState
from compaction.domain.verdicts import Gate
from compaction.drafting import costs
from compaction.pages.presenters.gates import RECORDED
from compaction.review.desk import ACCEPTABLE
from compaction.standing.blockers import OF_STATE, is_open, is_reopened, log_leaves_in
from compaction.standing.history import NOBODY
from efforts.context.presence import Presence
from efforts.context.words import WordView
from efforts.domain.effort.holds import turns_said
from efforts.domain.effort.states import PointerState
from efforts.models import ContextPointer
from efforts.standins.seen import Word
from efforts.templatetags.look import listed

if TYPE_CHECKING:
    from compaction.pages.presenters.artifact import ArtifactView

BACK = (
    "It is not in the prompt: {who} rolled it back on {at}. It does not come back by itself: “Use again” puts it back."
)
QUOTES_BACK = "They are not in the prompt: {who} rolled them back on {at}. “Use again” puts them back."
# Of a concluded effort whose log is sent.
AGES = "If nothing mentions the effort for {turns} from now on, excerpts take the log’s place."
SENT_NOW = "The model sees the log now."
BACK_UNKNOWN = "It is not in the prompt: it was rolled back. It does not come back by itself: “Use again” puts it back."
REPLACED = "A later summary has replaced it. It is kept to read."
CHANGED = "Its turns have changed since it came into use, so it left the prompt. Ask for a new draft."
REOPENED = (
    "Its effort was opened again, so the model sees {turns}. Conclude the effort, and its turns are replaced again."
)
WENT_ON = "Its effort was opened again after it came into use, and went on. The model sees {now} now."
STANDS = {
    Presence.SENT: (
        "The model sees {this} instead of {turns}. The log is kept. “Roll back” sends it again from the next call on; "
        "“Expand”, in the chat, sends it for a while."
    ),
    Presence.FULL: (
        "The model sees this in full instead of {turns} now. Once collapsed, it sees the short text again."
    ),
    Presence.EXPANDED: ("The model sees {turns} now. Once collapsed, it sees {this} instead of them."),
    Presence.LEFT: (
        "The model sees nothing of {turns} now but what other turns quote, as nothing has mentioned them for a while. "
        "A mention brings this back."
    ),
}
# Of what is put together for a new conversation, and of its parts.
STARTS = "Every prompt of this conversation has {this}. “Roll back” takes it out from the next call on."
TO_START = "Start the conversation on the page of its package, and every prompt there has {this}."
ONE_PART = "It is one part of what a new conversation starts from, and is used there alone."
THIS, SOME = "this text", "{sent} of its {all} claims"
UNREAD = "Nobody has checked it."
UNREAD_QUOTES = "No model has looked for what matters in the log. What was left out is listed, for you to look through."
ITS_AUTHOR = "The model that wrote it has also checked it, and nobody has approved it."
REJECTED = "It was rejected. “Judge again” takes it up once more."
STALE = "Changed since it was judged: {changed}. Judge it again."
PASSED = "It passes every gate."
PASSED_RECORDED = (
    "No gate fails, but the answers of its check were recorded for the example, so read what matters to you."
)
PASSED_ITS_AUTHOR = "It passes every gate, but the checker is the model that wrote it, so read what matters to you."
AT_ONCE = "Accept it, and the model sees {this} instead of {now}. You can roll it back at any time."
INTO_NOTHING = (
    "Accept it, and the model sees {this}; of these turns it sees nothing now. You can roll it back at any time."
)
# By how it would be in the prompt, where it is not sent at once.
LATER = {
    Presence.LEFT: (
        "Accept it, and the model sees {this} once a message mentions the effort. You can roll it back at any time."
    ),
    Presence.EXPANDED: (
        "Accept it, and the model sees {this} once the effort is collapsed. You can roll it back at any time."
    ),
}
EXCERPTS = (
    "These are quotes, word for word. Accept them, and the model sees them instead of {now}. You can roll them back at "
    "any time."
)
NO_EXCERPTS = (
    "No sentence of these turns is quoted: each was too long. Accept them, and the model sees only their heading "
    "instead of {now}. You can roll them back at any time."
)
NOT_JUDGED = "No gate has judged it yet."
READ_IT = "{why} Read every claim yourself, choose another checker, or accept it unchecked."
READ_BY = (
    "{why} Every claim was read by {who}, but no checker has listed what must not be lost. Choose another checker, or "
    "accept it unchecked."
)
# What is made for a package, which uses nothing unchecked.
MADE_AGAIN = (
    "{why} It cannot be used until it is checked. Choose another checker, then make it again on the page of its "
    "package."
)
MISSING_ONE = "1 thing that must not be lost is missing: add it, or say why it is not needed."
MISSING = "{count} things that must not be lost are missing: add each, or say why it is not needed."
LISTED_ONE = "1 thing on the list is missing: add it, or take it off the list."
LISTED = "{count} things on the list are missing: add each, or take it off the list."
NO_CHECK = "No model has checked it."
# Where findings of these gates are set aside, and with which control.
AT_SOURCES = "open gate B above and choose “The log does say it…”"
AT_CONTRADICTIONS = "open gate D above and choose “This is not a contradiction…”"
AT_BOTH = "open gate B or D above and choose “The log does say it…” or “This is not a contradiction…”"


@dataclass(frozen=True, kw_only=True)
class StateView(WordView):
    """`says` is why, and what to do next."""

    says: str


def state_of(view: ArtifactView) -> StateView:
    state = ArtifactState(view.row.state)
    if view.stands:
        unread = UNREAD if view.unchecked else ITS_AUTHOR if view.is_its_authors else ""
        presence = view.presence or Presence.SENT
        turns = view.replaced if presence in (Presence.SENT, Presence.FULL) else view.span
        words = STARTS if view.is_seed and presence == Presence.SENT else STANDS[presence]
        says = words.format(this=this(view), turns=turns)
        unread = UNREAD_QUOTES if view.is_digest else unread
        says = f"{says} {unread}" if unread else says
        return StateView(word=Word.STANDS, says=says, presence=presence, quotes=view.is_digest)
    if view.pointer:
        return gone(view, view.pointer)
    if view.is_turned_down:
        return StateView(word=Word.BLOCKED, says=REJECTED)
    if view.stale and state in ACCEPTABLE:
        return StateView(word=Word.NOT_CHECKED, says=STALE.format(changed=" and ".join(view.changed)))
    return StateView(word=OF_STATE[state], says=" ".join(filter(None, (why_of(view, state), ages(view)))))


def ages(view: ArtifactView) -> str:
    """When excerpts take the place of its concluded effort's log; empty where none do."""
    left = log_leaves_in(view.row, view.row.branch, view.place)
    return AGES.format(turns=turns_said(left)) if left else ""


def gone(view: ArtifactView, pointer: ContextPointer) -> StateView:
    """Of what has stood in the prompt, and does not any more."""
    match PointerState(pointer.state):
        case PointerState.ROLLED_BACK:
            return StateView(word=Word.ROLLED_BACK, says=rolled_back(view))
        case PointerState.SUPERSEDED:
            return StateView(word=Word.ENDED, says=REPLACED)
    says = CHANGED
    if is_reopened(pointer):
        says = REOPENED.format(turns=view.span) if is_open(pointer) else WENT_ON.format(now=seen_now(view))
    return StateView(word=Word.ENDED, says=says)


def why_of(view: ArtifactView, state: ArtifactState) -> str:
    if state == ArtifactState.REPLACEABLE:
        return passed(view)
    if state == ArtifactState.UNCHECKED:
        why = why_unchecked(view)
        if view.is_stage or view.is_seed:
            return MADE_AGAIN.format(why=why)
        return READ_BY.format(why=why, who=listed(view.readers)) if view.readers else READ_IT.format(why=why)
    if state == ArtifactState.DRAFT:
        return NOT_JUDGED
    return " ".join(blocks(view)) or STALE.format(changed=" and ".join(view.changed))


def passed(view: ArtifactView) -> str:
    if view.is_digest:
        return (NO_EXCERPTS if view.document.quotes_nothing else EXCERPTS).format(now=seen_now(view))
    why = PASSED_ITS_AUTHOR if view.is_its_authors else PASSED
    then = LATER.get(view.place.then, INTO_NOTHING if view.is_out else AT_ONCE)
    then = TO_START if view.is_seed else ONE_PART if view.is_stage else then
    then = then.format(this=this(view), now=seen_now(view))
    return f"{PASSED_RECORDED if view.unread == RECORDED else why} {then}"


def this(view: ArtifactView) -> str:
    """What of it the model is sent."""
    return SOME.format(sent=view.claims_sent, all=len(view.then.claims)) if view.kept_back else THIS


def seen_now(view: ArtifactView) -> str:
    """What accepting takes out of the prompt."""
    names = [one.name for one in view.place.instead]
    if not names and not view.place.log:
        return "nothing of its turns"
    turns = view.replaced
    log = f"the log of {turns}" if view.pinned else "the log"
    return str(listed([*names, "the log of the other turns"] if view.place.log and names else names or [log]))


def rolled_back(view: ArtifactView) -> str:
    last = view.rolled_back
    if last is None:
        return BACK_UNKNOWN
    who = "you" if last.actor_id == view.user.pk else last.actor.get_username() if last.actor else NOBODY
    words = QUOTES_BACK if view.is_digest else BACK
    back = words.format(who=who, at=date_format(timezone.localtime(last.created_at), gettext("j M Y, H:i e")))
    then = ages(view)
    return f"{back} {SENT_NOW} {then}" if then else back


def why_unchecked(view: ArtifactView) -> str:
    last = view.checks[-1] if view.checks else None
    if last is None:
        return costs.why_not_asked(view.row.session) or NO_CHECK
    if last.void:
        return f"The check by {last.model} does not count. {last.void}"
    if last.exam and not last.exam.passed:
        score = f"{last.exam.score} of {last.exam.wrong + last.exam.true}"
        return f"{last.model} has failed its exam ({score}), so its check does not count."
    return f"The check by {last.model} is not enough by itself."


def blocks(view: ArtifactView) -> Iterator[str]:
    """What fails, and what mends it: doubts first, then what is missing, then whatever else a gate says."""
    failing = {gate.letter for gate in view.gates if gate.failed}
    doubted = [claim for claim in view.claims.all if claim.is_doubted]
    at = failing & {Gate.TRACEABILITY, Gate.CONTRADICTION}
    if doubted and at:
        by = ", ".join(dict.fromkeys(one.by for claim in doubted for one in claim.opinions if one.counts))
        number, aside = len(doubted), AT_BOTH
        if len(at) == 1:
            aside = AT_SOURCES if Gate.TRACEABILITY in at else AT_CONTRADICTIONS
        them = "1 claim: edit it, strike it" if number == 1 else f"{number} claims: edit them, strike them"
        yield f"{by} doubts {them}, or {aside}."
        failing -= at
    if Gate.RETENTION in failing and view.missed:
        # What a person has put on the list is needed as long as it is there.
        kept = all(entry.confirmed for entry, *_ in view.dropped if not entry.not_needed)
        one, more = (LISTED_ONE, LISTED) if kept else (MISSING_ONE, MISSING)
        yield one if view.missed == 1 else more.format(count=view.missed)
        failing -= {Gate.RETENTION}
    for gate in view.gates:
        if gate.letter in failing:
            yield f"Gate {gate.letter}: {gate.says}"
