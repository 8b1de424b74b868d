"""Conversations of other people's played turn by turn as any conversation is, and what each prompt held."""

from .conversations import Exchange, Piece, Question, Said, Talk, moment, read_talks
from .playing import Played, Player, Settings, on_stage
from .plot import plot
from .report import Conversation, Report

__all__ = [
    "Conversation",
    "Exchange",
    "Piece",
    "Played",
    "Player",
    "Question",
    "Report",
    "Said",
    "Settings",
    "Talk",
    "moment",
    "on_stage",
    "plot",
    "read_talks",
]
