"""Rows, by noun. Everything is reached through its session's owner (`Session.objects.owned_by`)."""

from .constraint import Constraint
from .effort import ContextPointer, Effort, EffortState, EffortWord, PointerMove, PointerTurn, PointerWord
from .endpoint import Endpoint
from .event import AccountEvent, Event
from .exclusion import Exclusion
from .file import MessageFile
from .hold import Hold
from .instructions import Instructions
from .ledger import LedgerEntry
from .passage import Frequency, Passage
from .plan import ContextPlan, Fragment
from .prompt import SavedPrompt
from .record import RetrievalItem, RetrievalSet, ToolTrace, Verdict
from .scope import ScopeDraft
from .session import Branch, Session
from .titling import Titling
from .turn import Message, Run, Thinking, Turn, TurnLabel
from .vector import PassageVector, VectorCodes, VectorIndex
