"""The states of artifacts and of drafting, and what the gates make of an artifact."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from .verdicts import Gate, GateVerdict


class ArtifactState(StrEnum):
    DRAFT = "draft"
    REPLACEABLE = "replaceable"
    UNCHECKED = "unchecked"  # no gate fails, and not all could be judged: it stands only where a person says so
    ADVISORY = "advisory"
    REJECTED = "rejected"


class Ended(StrEnum):
    """How a drafter ended."""

    DRAFTED = "drafted"
    EMPTY = "empty"
    UNPARSEABLE = "unparseable"
    TRUNCATED = "truncated"
    REFUSED = "refused"
    TIMEOUT = "timeout"
    FAULT = "fault"
    OVER_CAP = "over cap"
    OVERTAKEN = "overtaken"  # it was answered, but its log had changed meanwhile, or nobody waited any more


class ClaimVerdictValue(StrEnum):
    """What a reviewer says of one claim."""

    KEPT = "kept"
    EDITED = "edited"
    STRUCK = "struck"
    NEEDS_SOURCE = "needs source"
    ADDED = "added"


# A version without these says something else: a new one is made.
CHANGING = frozenset({ClaimVerdictValue.EDITED, ClaimVerdictValue.STRUCK, ClaimVerdictValue.ADDED})


class PackageState(StrEnum):
    """Of a package that a new conversation starts from."""

    DRAFTING = "drafting"
    BLOCKED = "blocked"  # a stage does not pass, or the stages contradict each other
    READY = "ready"
    STARTED = "started"
    STOPPED = "stopped"


# What a stop reason of a model means. Of others only "stop" is an end by itself.
STOPPED_BY = {"length": Ended.TRUNCATED, "content_filter": Ended.REFUSED}

REJECTING = frozenset({Gate.RETENTION, Gate.CONTRADICTION})


def state_of(verdicts: Sequence[GateVerdict]) -> ArtifactState:
    """Seed 004's failure actions: what misses or contradicts is rejected, all else that fails can only be read."""
    if not verdicts:
        return ArtifactState.DRAFT
    failing = {verdict.gate for verdict in verdicts if verdict.failed}
    if failing & REJECTING:
        return ArtifactState.REJECTED
    if failing:
        return ArtifactState.ADVISORY
    whole = all(verdict.passed for verdict in verdicts)
    return ArtifactState.REPLACEABLE if whole else ArtifactState.UNCHECKED
