"""Every change to a conversation and its efforts: one verb, one function, one transaction.

Views, the socket, tools, commands and tests all call these. What may not be done raises `Refused` with a sentence for
the person or the model; then nothing has changed.
"""

from .branches import archive_branch, edit_turn, fork, regenerate, rename_branch, unarchive_branch
from .constraints import (
    accept_constraint,
    dismiss_constraint,
    edit_constraint,
    edit_standing_rule,
    record_constraint,
    revoke_constraint,
    revoke_standing_rule,
    set_constraint,
    set_standing_rule,
)
from .conversations import (
    archive_session,
    cancel_turn,
    configure_session,
    create_session,
    delete_session,
    rename_session,
    retry_turn,
    send_message,
    set_budget,
    set_context_mode,
    stop_run,
    unarchive_session,
)
from .efforts import (
    close_effort,
    collapse_effort,
    expand_effort,
    move_turn,
    new_work_session,
    open_effort,
    rename_effort,
    reopen_effort,
    retry_summary,
    switch_effort,
    use_summary,
)
from .holds import accept_pin, copy_holds, dismiss_pin, pin_effort, pin_turn, suggest_pin, unpin
from .places import Place, effort_here, here
from .undo import too_early, undo
from .verdicts import judge_run, take_back_verdict

__all__ = [
    "Place",
    "accept_constraint",
    "accept_pin",
    "archive_branch",
    "archive_session",
    "cancel_turn",
    "close_effort",
    "collapse_effort",
    "configure_session",
    "copy_holds",
    "create_session",
    "delete_session",
    "dismiss_constraint",
    "dismiss_pin",
    "edit_constraint",
    "edit_standing_rule",
    "edit_turn",
    "effort_here",
    "expand_effort",
    "fork",
    "here",
    "judge_run",
    "move_turn",
    "new_work_session",
    "open_effort",
    "pin_effort",
    "pin_turn",
    "record_constraint",
    "regenerate",
    "rename_branch",
    "rename_effort",
    "rename_session",
    "reopen_effort",
    "retry_summary",
    "retry_turn",
    "revoke_constraint",
    "revoke_standing_rule",
    "send_message",
    "set_budget",
    "set_constraint",
    "set_context_mode",
    "set_standing_rule",
    "stop_run",
    "suggest_pin",
    "switch_effort",
    "take_back_verdict",
    "too_early",
    "unarchive_branch",
    "unarchive_session",
    "undo",
    "unpin",
    "use_summary",
]
