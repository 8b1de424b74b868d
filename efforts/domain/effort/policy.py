"""The policy table: the one place for thresholds that are counted in turns or in hours, and for shares of a budget."""

from __future__ import annotations

from enum import StrEnum


class ContextMode(StrEnum):
    """How much of what was said earlier a message may bring back by itself."""

    OFF = "off"
    LIGHT = "light"
    HEAVY = "heavy"

    @property
    def label(self) -> str:
        return self.capitalize()

    @property
    def meaning(self) -> str:
        return MEANINGS[self]

    @property
    def next(self) -> ContextMode:
        """The one that the chip and its key change to."""
        modes = list(ContextMode)
        return modes[(modes.index(self) + 1) % len(modes)]


MEANINGS = {
    ContextMode.OFF: "adds nothing from earlier",
    ContextMode.LIGHT: "adds the best earlier passages, in up to a fifth of the budget, or two fifths if there is room",
    ContextMode.HEAVY: "adds whole earlier exchanges, in up to two fifths of the budget, or more if there is room",
}

# Turns that do not refer to it: then an expansion ends, and a summary leaves the prompt.
DECAY_THRESHOLD = 3
SUMMARY_EVICTION_THRESHOLD = 20
# Turns and not messages or lines, so that one long reply does not push out all others.
AMBIENT_WINDOW = 10
# What is left of a full window that is cut in blocks: 6 of 10 turns.
WINDOW_BLOCK = 0.6
# Of the effective budget: what sticky pins may take at most.
STICKY_SHARE = 0.25
# Of the effective budget: what is recalled for a message may take at most.
RECALL_SHARES = {ContextMode.OFF: 0.0, ContextMode.LIGHT: 0.2, ContextMode.HEAVY: 0.4}
# And where nothing else asks for the room: Heavy takes all that is free.
RECALL_MOST = {ContextMode.OFF: 0.0, ContextMode.LIGHT: 0.4, ContextMode.HEAVY: 1.0}
# Of the effective budget: what code of an attached folder may take at most, its map and all cards together; and so
# many cards at once.
CODE_SHARES = {ContextMode.OFF: 0.0, ContextMode.LIGHT: 0.1, ContextMode.HEAVY: 0.3}
CODE_CARDS = {ContextMode.OFF: 0, ContextMode.LIGHT: 8, ContextMode.HEAVY: 12}
# What the page offers for a while, in turns.
PIN_TURNS, PIN_UNREFERENCED = 5, 3
# An open effort without a turn for so long is offered for concluding.
QUIET_TURNS = 20
# Of silence, after which the next message begins a new work session.
WORK_SESSION_HOURS = 8
# So many salient keywords of an effort's headline in one message are a reference to it.
MIN_KEYWORD_OVERLAP = 2
# A word tells nothing of an effort that stands in more passages outside it than so many, and than this share of them;
# in a message of several passages these are shared among them.
COMMON_PASSAGES, COMMON_SHARE = 20, 0.01
# Nor one that stands in the headlines of more efforts than so many, and than this share of them.
COMMON_HEADLINES, COMMON_HEADLINE_SHARE = 5, 0.2
