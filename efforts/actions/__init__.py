"""Every change to a conversation and its efforts: one verb, one function, one transaction.

Views, the socket, tools, commands and tests all call these. What may not be done raises `Refused` with a sentence for
the person or the model; then nothing has changed.
"""

from .conversations import (
    archive_session,
    cancel_turn,
    configure_session,
    create_session,
    delete_session,
    rename_session,
    retry_turn,
    send_message,
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
from .places import Place, effort_here, here
from .undo import undo

__all__ = [
    "Place",
    "archive_session",
    "cancel_turn",
    "close_effort",
    "collapse_effort",
    "configure_session",
    "create_session",
    "delete_session",
    "effort_here",
    "expand_effort",
    "here",
    "move_turn",
    "new_work_session",
    "open_effort",
    "rename_effort",
    "rename_session",
    "reopen_effort",
    "retry_summary",
    "retry_turn",
    "send_message",
    "stop_run",
    "switch_effort",
    "unarchive_session",
    "undo",
    "use_summary",
]
