"""Rows, by noun. Everything is reached through its session's owner (`Session.objects.owned_by`)."""

from .constraint import Constraint
from .effort import ContextPointer, Effort, EffortState, EffortWord, PointerMove, PointerTurn, PointerWord
from .endpoint import Endpoint
from .event import AccountEvent, Event
from .hold import Hold
from .ledger import LedgerEntry
from .passage import Frequency, Passage
from .plan import ContextPlan, Fragment
from .record import RetrievalItem, RetrievalSet, ToolTrace, Verdict
from .scope import ScopeDraft
from .session import Branch, Session
from .turn import Message, Run, Turn, TurnLabel

__all__ = [
    "AccountEvent",
    "Branch",
    "Constraint",
    "ContextPlan",
    "ContextPointer",
    "Effort",
    "EffortState",
    "EffortWord",
    "Endpoint",
    "Event",
    "Fragment",
    "Frequency",
    "Hold",
    "LedgerEntry",
    "Message",
    "Passage",
    "PointerMove",
    "PointerTurn",
    "PointerWord",
    "RetrievalItem",
    "RetrievalSet",
    "Run",
    "ScopeDraft",
    "Session",
    "ToolTrace",
    "Turn",
    "TurnLabel",
    "Verdict",
]
