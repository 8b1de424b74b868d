"""Reads: rows in, frozen values out. Nothing here changes anything."""

from .constraints import ConstraintsView, ConstraintView, constraints_view, standing_view
from .efforts import EffortsView, EffortView, LeftOff, Standing, WhereView, efforts_view, where_view, words_of_turn
from .figures import (
    FigureView,
    GroupView,
    MetricsView,
    all_metrics_json,
    all_tokens_picture,
    groups_of,
    metrics_json,
    metrics_view,
)
from .health import ModelHealth, model_health
from .holds import HoldsView, HoldView, holds_view, standing_holds, with_pins
from .inspection import DifferenceView, RawRequest, compared, raw_request
from .ledger import (
    EntriesView,
    LedgerCounts,
    LedgerPage,
    LedgerView,
    entries_of,
    entries_view,
    ledger_counts,
    ledger_page,
    open_work_of,
)
from .metrics import AllMetrics, SessionMetrics, all_metrics, branch_metrics
from .notices import NoticeGroup, NoticeView
from .outcomes import OutcomeView, outcome_of
from .pages import ChatPage, PartView, TurnView, chat_page, turn_view
from .planning import RunSnapshot, counted_tokens, main_branch, read_run
from .plans import ItemView, PlanView, SectionView, preview, replay, stored_plan
from .sendings import Sendings, sendings_of
from .what_if import WhatIf, expandable, what_if

__all__ = [
    "AllMetrics",
    "ChatPage",
    "ConstraintView",
    "ConstraintsView",
    "DifferenceView",
    "EffortView",
    "EffortsView",
    "EntriesView",
    "FigureView",
    "GroupView",
    "HoldView",
    "HoldsView",
    "ItemView",
    "LedgerCounts",
    "LedgerPage",
    "LedgerView",
    "LeftOff",
    "MetricsView",
    "ModelHealth",
    "NoticeGroup",
    "NoticeView",
    "OutcomeView",
    "PartView",
    "PlanView",
    "RawRequest",
    "RunSnapshot",
    "SectionView",
    "Sendings",
    "SessionMetrics",
    "Standing",
    "TurnView",
    "WhatIf",
    "WhereView",
    "all_metrics",
    "all_metrics_json",
    "all_tokens_picture",
    "branch_metrics",
    "chat_page",
    "compared",
    "constraints_view",
    "counted_tokens",
    "efforts_view",
    "entries_of",
    "entries_view",
    "expandable",
    "groups_of",
    "holds_view",
    "ledger_counts",
    "ledger_page",
    "main_branch",
    "metrics_json",
    "metrics_view",
    "model_health",
    "open_work_of",
    "outcome_of",
    "preview",
    "raw_request",
    "read_run",
    "replay",
    "sendings_of",
    "standing_holds",
    "standing_view",
    "stored_plan",
    "turn_view",
    "what_if",
    "where_view",
    "with_pins",
    "words_of_turn",
]
