"""Conversations of other people's played turn by turn as any conversation is, and what each prompt held."""

from .conversations import Exchange, Piece, Question, Said, Talk, moment, read_talks
from .playing import Played, Player, Settings, on_stage
from .plot import plot
from .report import Conversation, Report
from .shapes import COUNTED_DIFFERENTLY, SHAPES, recomputed, shape_talk

__all__ = [
    "COUNTED_DIFFERENTLY",
    "SHAPES",
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
    "recomputed",
    "shape_talk",
]
