"""Conversations of other people's played call by call, and how much of each prompt stays as it was."""

from .conversations import Exchange, Piece, Question, Said, Talk, read_talks
from .playing import Call, Settings, play
from .report import Report, replayed

__all__ = [
    "Call",
    "Exchange",
    "Piece",
    "Question",
    "Report",
    "Said",
    "Settings",
    "Talk",
    "play",
    "read_talks",
    "replayed",
]
