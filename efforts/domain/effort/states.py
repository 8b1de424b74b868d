"""The state machines: all legal moves, each in one table."""

from collections.abc import Mapping
from enum import StrEnum
from typing import TypeAlias, TypeVar

S = TypeVar("S", bound=StrEnum)
Moves: TypeAlias = Mapping[S, frozenset[S]]


def machine(states: type[S], **moves: str) -> Moves[S]:
    """Where each state leads, by name. Nothing leads out of one that `moves` leaves out: it is an end."""
    named = {states[name.upper()]: {states[to.upper()] for to in words.split()} for name, words in moves.items()}
    return {state: frozenset(named.get(state, ())) for state in states}


class RunState(StrEnum):
    QUEUED = "queued"
    RUNNING = "running"
    COMPLETED = "completed"
    STOPPED = "stopped"
    FAILED = "failed"
    INTERRUPTED = "interrupted"
    CANCELLED = "cancelled"
    NOTED = "noted"  # the person wrote something down: no model was asked

    @property
    def label(self) -> str:
        return RUN_LABELS[self]


RUN_LABELS = {
    RunState.QUEUED: "Waiting",
    RunState.RUNNING: "Running",
    RunState.COMPLETED: "Done",
    RunState.STOPPED: "Stopped",
    RunState.FAILED: "Failed",
    RunState.INTERRUPTED: "Interrupted",
    RunState.CANCELLED: "Cancelled",
    RunState.NOTED: "Noted",
}

# Retry is a new run of the same turn, so that no attempt is overwritten. A reply that was cut off goes on in its own
# run: nothing that it said is said again.
RUN_MOVES = machine(
    RunState,
    queued="running cancelled completed",
    running="completed stopped failed interrupted noted",
    completed="queued",
)

# What a provider says where a reply has reached a limit of its length.
CUT_OFF = "length"


def is_cut_off(state: str, finish_reason: str) -> bool:
    """Whether the reply of a run in that state ends where a limit cut it off, and can go on."""
    return state == RunState.COMPLETED and finish_reason == CUT_OFF


# A finished turn can be tried again where it did not end as the person wanted.
RETRYABLE = frozenset({RunState.STOPPED, RunState.FAILED, RunState.INTERRUPTED})
UNFINISHED = frozenset({RunState.QUEUED, RunState.RUNNING})


# Nothing else is a status: which effort is active is the branch's to say.
class EffortStatus(StrEnum):
    OPEN = "open"
    CONCLUDED = "concluded"


EFFORT_MOVES = machine(EffortStatus, open="concluded", concluded="open")


class Via(StrEnum):
    """Who concluded an effort: the person's control, the offer the person took, or the model's tool."""

    CONTROL = "control"
    OFFER = "offer"
    MODEL = "model"


class SummaryState(StrEnum):
    """On the way to the pointer of a concluded effort."""

    NONE = "none"
    DUE = "due"
    DRAFTING = "drafting"
    WAITING = "waiting"  # for the person's yes
    STANDS = "stands"
    DIGEST = "digest"  # quotations stand; a draft may wait beside them
    FAILED = "failed"
    ROLLED_BACK = "rolled back"  # by a person: it is not drafted again by itself
    COVERED = "covered"  # the summary of chosen turns stands for all of its turns


class ScopeKind(StrEnum):
    """What turns were chosen for: by a person, by age, or as one stage of a package for a new conversation."""

    INTENTIONAL = "intentional"
    ROLLING = "rolling"
    STAGE = "stage"


class ScopeState(StrEnum):
    """On the way to an artifact over chosen turns."""

    DUE = "due"
    DRAFTING = "drafting"
    READY = "ready"  # to be reviewed
    FAILED = "failed"
    STOPPED = "stopped"


TO_BE_DRAFTED = (ScopeState.DUE, ScopeState.DRAFTING)
SCOPE_MOVES = machine(
    ScopeState,
    due="drafting stopped",
    # Due again: whoever drafted it is gone, or the log has changed meanwhile.
    drafting="due ready failed stopped",
    # By a review of what was drafted.
    ready="due failed",
    failed="due ready",
    stopped="due",
)


class ReviewMode(StrEnum):
    """Of a conversation: a summary stands by itself when it is checked, or also when nobody has checked it; or each is
    reviewed first; or none is drafted."""

    AUTOMATIC = "automatic"
    TAKE = "take"
    ALWAYS = "always"
    NEVER = "never"

    @property
    def meaning(self) -> str:
        return REVIEW_MEANINGS[self]


REVIEW_MEANINGS = {
    ReviewMode.AUTOMATIC: "Use summaries that pass every check",
    ReviewMode.TAKE: "Also use summaries that nobody has checked, marked as such",
    ReviewMode.ALWAYS: "Always ask me",
    ReviewMode.NEVER: "Never draft",
}


class ConstraintState(StrEnum):
    SUGGESTED = "suggested"
    IN_FORCE = "in force"
    REVOKED = "revoked"


# What was taken back is stated anew where it shall hold again, so that each time it held is a row of its own.
CONSTRAINT_MOVES = machine(ConstraintState, suggested="in_force revoked", in_force="revoked")


class ConstraintBy(StrEnum):
    """Who came up with a rule: the person, or the model by its tool."""

    PERSON = "person"
    MODEL = "model"


class EntryKind(StrEnum):
    """What the ledger keeps beside rules."""

    DECISION = "decision"
    OPEN_WORK = "open_work"

    @property
    def label(self) -> str:
        return str(self).replace("_", " ")


class EntryState(StrEnum):
    PROPOSED = "proposed"
    CONFIRMED = "confirmed"
    SUPERSEDED = "superseded"
    DONE = "done"
    DISMISSED = "dismissed"


# A decision gives way to another one, work gets done; what was dismissed is noted anew where it shall stand again.
ENTRY_MOVES = {
    EntryKind.DECISION: machine(EntryState, proposed="confirmed dismissed", confirmed="superseded dismissed"),
    EntryKind.OPEN_WORK: machine(
        EntryState, proposed="confirmed dismissed", confirmed="done dismissed", done="confirmed"
    ),
}
LIVE_ENTRIES = frozenset({EntryState.PROPOSED, EntryState.CONFIRMED})


class EntryBy(StrEnum):
    """Who came up with a decision or open work: the person, or the model by its tool."""

    PERSON = "person"
    MODEL = "model"


class HoldKind(StrEnum):
    STICKY = "sticky"
    LEASE = "lease"
    EPHEMERAL = "ephemeral"


class HoldScope(StrEnum):
    """For good, for one turn, until the active effort is concluded, for n turns, or until n turns do not mention it."""

    ALWAYS = "always"
    TURN = "turn"
    EFFORT = "effort"
    TURNS = "turns"
    UNREFERENCED = "unreferenced"


class HoldState(StrEnum):
    """Of a pin, whatever is pinned."""

    SUGGESTED = "suggested"
    STANDING = "standing"
    ENDED = "ended"
    DISMISSED = "dismissed"


# What is pinned again is a row of its own, so that each time it stood is on record.
HOLD_MOVES = machine(HoldState, suggested="standing dismissed", standing="ended")


class HoldEnd(StrEnum):
    """How a hold ended: taken back, by its age, with its effort, or for a new hold on the same."""

    RELEASED = "released"
    AGED = "aged"
    CONCLUDED = "concluded"
    REPLACED = "replaced"


class HoldBy(StrEnum):
    """Who came up with a hold."""

    PERSON = "person"
    MODEL = "model"


class PointerState(StrEnum):
    ACTIVE = "active"
    SUPERSEDED = "superseded"
    ROLLED_BACK = "rolled back"
    INVALIDATED = "invalidated"


# What was rolled back is accepted anew where it shall stand again, so that each time it stood is a row of its own.
POINTER_MOVES = machine(
    PointerState, active="superseded rolled_back invalidated", superseded="active", invalidated="active"
)


class PointerMoveKind(StrEnum):
    """What came to stand or stands no longer, in the history of a branch."""

    ACCEPTED = "accepted"
    ROLLED_BACK = "rolled back"
    INVALIDATED = "invalidated"
    RESTORED = "restored"
    COPIED = "copied"


class VerdictValue(StrEnum):
    GOOD = "good"
    BAD = "bad"


class Trigger(StrEnum):
    """What asked for a retrieval: the model by its tool, or the planner by itself."""

    TOOL = "tool"
    AUTO = "auto"
