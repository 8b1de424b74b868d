"""Reads: rows in, frozen values out. Nothing here changes anything."""

from .pages import ChatPage, PartView, TurnView, chat_page, turn_view
from .planning import RunSnapshot, branch_turns, counted_tokens, main_branch, read_run
from .plans import ItemView, PlanView, SectionView, preview, replay, stored_plan

__all__ = [
    "ChatPage",
    "ItemView",
    "PartView",
    "PlanView",
    "RunSnapshot",
    "SectionView",
    "TurnView",
    "branch_turns",
    "chat_page",
    "counted_tokens",
    "main_branch",
    "preview",
    "read_run",
    "replay",
    "stored_plan",
    "turn_view",
]
