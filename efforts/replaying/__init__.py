"""Conversations of other people's played call by call, and how much of each prompt stays as it was."""

from .conversations import Exchange, Talk, read_talks
from .playing import Call, Settings, play
from .report import Report, replayed

__all__ = ["Call", "Exchange", "Report", "Settings", "Talk", "play", "read_talks", "replayed"]
