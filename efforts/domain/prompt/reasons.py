"""The closed vocabulary of why something is in a prompt, or out of it and what would bring it in."""

from __future__ import annotations

from enum import StrEnum


# Stored plans keep these words and not the sentences: sentences may be improved, the words have to stay.
class Reason(StrEnum):
    REQUIRED = "required"
    INSTRUCTION = "instruction"
    CONSTRAINT = "constraint"
    CURRENT_MESSAGE = "current_message"
    CURRENT_MESSAGE_CUT = "current_message_cut"
    FILE = "file"
    FILE_CUT = "file_cut"
    PICTURE = "picture"
    PICTURE_UNSEEN = "picture_unseen"
    TOOL_EPISODE = "tool_episode"
    AMBIENT_WINDOW = "ambient_window"
    CUT_TO_FIT = "cut_to_fit"
    WITHOUT_TOOL_CALLS = "without_tool_calls"
    TOOL_CALLS_OVER_BUDGET = "tool_calls_over_budget"
    OUTSIDE_AMBIENT_WINDOW = "outside_ambient_window"
    WINDOW_IN_BLOCKS = "window_in_blocks"
    OVER_BUDGET = "over_budget"
    BEFORE_FIRST_KEPT = "before_first_kept"
    ACTIVE_EFFORT = "active_effort"
    OPEN_EFFORT = "open_effort"
    EXPANDED_EFFORT = "expanded_effort"
    AWAITING_SUMMARY = "awaiting_summary"
    EFFORT_OVER_BUDGET = "effort_over_budget"
    HEADLINE = "headline"
    EXCERPTS = "excerpts"
    HEADLINE_OVER_BUDGET = "headline_over_budget"
    HEADLINE_EVICTED = "headline_evicted"
    BODY = "body"
    EXPANDED_BODY = "expanded_body"
    BODY_OVER_BUDGET = "body_over_budget"
    CHOSEN_HEADLINE = "chosen_headline"
    CHOSEN_EVICTED = "chosen_evicted"
    SEED_BODY = "seed_body"
    SEED_HEADLINE = "seed_headline"
    PINNED = "pinned"
    PINNED_CUT = "pinned_cut"
    PINNED_IN_PLACE = "pinned_in_place"
    PINNED_IN_PLACE_CUT = "pinned_in_place_cut"
    AMONG_PINS = "among_pins"
    PIN_OVER_CAP = "pin_over_cap"
    LEASE_OVER_BUDGET = "lease_over_budget"
    RECALLED = "recalled"
    RECALLED_FREE = "recalled_free"
    RECALL_SHOWN = "recall_shown"
    RECALL_OVER_CAP = "recall_over_cap"
    RECALLED_BEFORE = "recalled_before"
    RECALLED_BEFORE_LEFT = "recalled_before_left"
    CODE_MAP = "code_map"
    CODE_FOUND = "code_found"
    CODE_SHORT = "code_short"
    CODE_MAP_OVER_CAP = "code_map_over_cap"
    CODE_OVER_CAP = "code_over_cap"
    CODE_BEYOND = "code_beyond"
    CODE_WITHIN = "code_within"
    CODE_OFF = "code_off"
    CODE_BESIDE = "code_beside"
    LEFT_OUT = "left_out"
    LINE = "line"
    LINE_SHOWN = "line_shown"
    LINE_OVER_CAP = "line_over_cap"


SENTENCES: dict[Reason, str] = {
    Reason.REQUIRED: "Always sent.",
    Reason.INSTRUCTION: "Your own instructions: sent word for word with every request.",
    Reason.CONSTRAINT: "A rule of yours: sent word for word until you take it back.",
    Reason.CURRENT_MESSAGE: "Your message, in full.",
    Reason.CURRENT_MESSAGE_CUT: "What this turn asks, its beginning and end.",
    Reason.FILE: "You added it to this message, and it is sent whole.",
    Reason.FILE_CUT: "You added it to this message. Its beginning and end are sent; the model can read the rest.",
    Reason.PICTURE: "You added it to this message. Its tokens are estimated by its size.",
    Reason.PICTURE_UNSEEN: "You added it to this message. This model sees no pictures: it gets name and size.",
    Reason.TOOL_EPISODE: "Tools used in this turn.",
    Reason.AMBIENT_WINDOW: "Among the last {window} turns outside any effort.",
    Reason.CUT_TO_FIT: "Shown, with its long messages cut to beginning and end.",
    Reason.WITHOUT_TOOL_CALLS: "Too large to be shown whole: its oldest tool calls are left out, each with its result.",
    Reason.TOOL_CALLS_OVER_BUDGET: "Their turn alone is larger than its room, so its oldest tool calls leave it.",
    Reason.OUTSIDE_AMBIENT_WINDOW: "Older than the last {window} turns.",
    Reason.WINDOW_IN_BLOCKS: "Left the window in a block: this conversation prefers the cache.",
    Reason.OVER_BUDGET: "Does not fit the budget.",
    Reason.BEFORE_FIRST_KEPT: "Left when the budget was full, and stays out so that the prompt keeps its beginning.",
    Reason.ACTIVE_EFFORT: "The active effort is shown in full.",
    Reason.OPEN_EFFORT: "Open efforts are shown in full.",
    Reason.EXPANDED_EFFORT: "You or the model asked for its details.",
    Reason.AWAITING_SUMMARY: "Concluded, and shown in full while nothing replaces its turns.",
    Reason.EFFORT_OVER_BUDGET: "The older part of the effort does not fit the budget.",
    Reason.HEADLINE: "Concluded: a summary is sent in place of its turns.",
    Reason.EXCERPTS: "Excerpts are sent in place of its turns: quotes from them, word for word.",
    Reason.HEADLINE_OVER_BUDGET: "The summaries and excerpts of later efforts fill the room.",
    Reason.HEADLINE_EVICTED: "Nothing has mentioned them for {after} turns.",
    Reason.BODY: "Chosen turns are shown by their summary.",
    Reason.EXPANDED_BODY: "You or the model asked for the whole summary.",
    Reason.BODY_OVER_BUDGET: "The whole summary does not fit the budget: it is shown as one line.",
    Reason.CHOSEN_HEADLINE: "The short version of their summary is sent, until they are mentioned.",
    Reason.CHOSEN_EVICTED: "Nothing has mentioned them for a long time: {after} turns, and as many again.",
    Reason.SEED_BODY: "What this conversation starts from: the summary of earlier ones.",
    Reason.SEED_HEADLINE: "It stands in short, until its words are mentioned.",
    Reason.PINNED: "Pinned {until}.",
    Reason.PINNED_CUT: "Pinned {until}; its long messages are cut to beginning and end.",
    Reason.PINNED_IN_PLACE: "Pinned, so it stays. Shown where it was said.",
    Reason.PINNED_IN_PLACE_CUT: "Pinned, so it stays. Shown where it was said, its long messages cut to beginning and "
    "end.",
    Reason.AMONG_PINS: "Stands among the pins, and is not sent twice.",
    Reason.PIN_OVER_CAP: "Pinned, but pins may take a quarter of the budget, {cap} tokens, and others fill it.",
    Reason.LEASE_OVER_BUDGET: "Pinned {until}, but what comes first leaves no room for it.",
    Reason.RECALLED: "Recalled for this message, quoted. {why}",
    Reason.RECALLED_FREE: "Recalled on room that nothing else needs; leaves after this turn. {why}",
    Reason.RECALL_SHOWN: "Found for this message, and in the prompt already.",
    Reason.RECALL_OVER_CAP: "Found for this message, but better ones fill the room for recall, {cap} tokens at most, "
    "or it would add little.",
    Reason.RECALLED_BEFORE: "Passages of earlier turns that were recalled for the messages of these turns, and are "
    "kept with them.",
    Reason.RECALLED_BEFORE_LEFT: "Passages that were recalled for earlier turns leave first when the budget is full.",
    Reason.CODE_MAP: "How the attached folder is laid out, and what most of it leads to.",
    Reason.CODE_FOUND: "{why}",
    Reason.CODE_SHORT: "{why} Shown in short: its lines do not fit.",
    Reason.CODE_MAP_OVER_CAP: "Code may take {cap} tokens of this budget, too few for a map.",
    Reason.CODE_OVER_CAP: "{why} Code may take {cap} tokens of this budget, and better matches fill them.",
    Reason.CODE_BEYOND: "{why} The best {most} are shown.",
    Reason.CODE_WITHIN: "It stands within another card.",
    Reason.LEFT_OUT: "You left it out of prompts.",
    Reason.CODE_OFF: "Context is off: no code is shown by itself.",
    Reason.CODE_BESIDE: "Nothing in the message points at the code, so none of it is added.",
    Reason.LINE: "You ask what was when: {listed} of {count} efforts with their dates, in the order they were begun.",
    Reason.LINE_SHOWN: "You ask what was when, and every effort is in the prompt already.",
    Reason.LINE_OVER_CAP: "You ask what was when, but there is no room for a list of efforts.",
}

# Where the number of turns is one.
OF_ONE_TURN: dict[Reason, str] = {
    Reason.AMBIENT_WINDOW: "The last turn outside any effort.",
    Reason.OUTSIDE_AMBIENT_WINDOW: "Older than the last turn.",
    Reason.HEADLINE_EVICTED: "Nothing has mentioned them for 1 turn.",
    Reason.CHOSEN_EVICTED: "Nothing has mentioned them for a long time: 1 turn, and another.",
}
REMEDIES: dict[Reason, str] = {
    Reason.TOOL_CALLS_OVER_BUDGET: "Needs {tokens} more tokens: raise the budget in the settings.",
    Reason.OUTSIDE_AMBIENT_WINDOW: "Ask about it: a search finds it. Or raise the window in the settings.",
    Reason.WINDOW_IN_BLOCKS: 'Ask about it: a search finds it. Or take "Prefer the cache" back in the settings.',
    Reason.OVER_BUDGET: "Needs {tokens} more tokens: raise the budget in the settings.",
    Reason.BEFORE_FIRST_KEPT: "Raise the budget in the settings.",
    Reason.EFFORT_OVER_BUDGET: "Needs {tokens} more tokens: raise the budget, or ask for the turns you mean.",
    Reason.HEADLINE_OVER_BUDGET: "Ask about it: a search finds it. Or raise the budget in the settings.",
    Reason.HEADLINE_EVICTED: "The number counts their summaries or excerpts. Mention one by its name, or ask about "
    "it: a search brings it back.",
    Reason.BODY_OVER_BUDGET: "Needs {tokens} more tokens: raise the budget in the settings.",
    Reason.CHOSEN_EVICTED: "Mention one by words of its summary, or by its turns, such as turns-3-9.",
    Reason.AMONG_PINS: "Nothing is missing: see the pins.",
    Reason.PIN_OVER_CAP: "Needs {tokens} more tokens: unpin another, or raise the budget in the settings.",
    Reason.LEASE_OVER_BUDGET: "Needs {tokens} more tokens: pin it for good, or raise the budget in the settings.",
    Reason.RECALL_SHOWN: "Nothing is missing: it is not sent twice.",
    Reason.RECALL_OVER_CAP: "Needs {tokens} more tokens: raise the budget, or set the context mode to Heavy.",
    Reason.RECALLED_BEFORE_LEFT: "Ask again: it is looked for anew. Or raise the budget in the settings.",
    Reason.CODE_MAP_OVER_CAP: "Raise the budget, or choose Heavy (Alt+M).",
    Reason.CODE_OVER_CAP: "Name {name} in a message, choose Heavy (Alt+M), or raise the budget.",
    Reason.CODE_BEYOND: "Name {name} in a message, or let the model look it up.",
    Reason.CODE_WITHIN: "Nothing is missing: its lines are shown.",
    Reason.LEFT_OUT: "Choose “Put back into prompts” in the menu of its message.",
    Reason.CODE_OFF: "Choose Light or Heavy (Alt+M). The model can search the code all the same.",
    Reason.CODE_BESIDE: "Name a file or a symbol in the message, or pin it on the page of the code. The model can "
    "search the code all the same.",
    Reason.LINE_SHOWN: "Nothing is missing: it is not sent twice.",
    Reason.LINE_OVER_CAP: "Raise the budget in the settings.",
}
