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

__all__ = [
    "archive_session",
    "cancel_turn",
    "configure_session",
    "create_session",
    "delete_session",
    "rename_session",
    "retry_turn",
    "send_message",
    "stop_run",
    "unarchive_session",
]
