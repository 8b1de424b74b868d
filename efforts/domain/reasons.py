"""The closed vocabulary of why something is in a prompt, or out of it and what would bring it in."""

from __future__ import annotations

from enum import StrEnum


# Stored plans keep these words and not the sentences: sentences may be improved, the words have to stay.
class Reason(StrEnum):
    REQUIRED = "required"
    CURRENT_MESSAGE = "current_message"
    CURRENT_MESSAGE_CUT = "current_message_cut"
    TOOL_EPISODE = "tool_episode"
    AMBIENT_WINDOW = "ambient_window"
    CUT_TO_FIT = "cut_to_fit"
    OUTSIDE_AMBIENT_WINDOW = "outside_ambient_window"
    OVER_BUDGET = "over_budget"
    BEFORE_FIRST_KEPT = "before_first_kept"


SENTENCES: dict[Reason, str] = {
    Reason.REQUIRED: "Always sent.",
    Reason.CURRENT_MESSAGE: "What this turn asks, whole.",
    Reason.CURRENT_MESSAGE_CUT: "What this turn asks, its beginning and end.",
    Reason.TOOL_EPISODE: "Tools used in this turn.",
    Reason.AMBIENT_WINDOW: "Among the last {window} turns outside any effort.",
    Reason.CUT_TO_FIT: "Among the last {window} turns; its long messages are cut to beginning and end.",
    Reason.OUTSIDE_AMBIENT_WINDOW: "Older than the last {window} turns.",
    Reason.OVER_BUDGET: "Does not fit the budget.",
    Reason.BEFORE_FIRST_KEPT: "Left when the budget was full, and stays out so that the prompt keeps its beginning.",
}

REMEDIES: dict[Reason, str] = {
    Reason.OUTSIDE_AMBIENT_WINDOW: "Ask about it: the model can search. Or raise the window in the settings.",
    Reason.OVER_BUDGET: "Needs {tokens} more tokens: raise the budget in the settings.",
    Reason.BEFORE_FIRST_KEPT: "Raise the budget in the settings.",
}
