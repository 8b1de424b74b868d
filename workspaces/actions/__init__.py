"""Every change to what a conversation is attached to: one verb, one function, one transaction.

What may not be done raises `Refused` with a sentence for the person; then nothing has changed.
"""

from .attaching import attach_archive, attach_folder, cancel_index, detach, index_again
from .commands import allow_command, decline_command, propose_command, settle_lost, start_command, stop_command
from .editing import Changed, accept_edit, index_what_changed, propose_edit, reject_edit, undo_edit
from .pins import accept_code_pin, dismiss_code_pin, let_go, pin_code, suggest_code_pin, unpin_code
from .writing import Unread

__all__ = [
    "Changed",
    "Unread",
    "accept_code_pin",
    "accept_edit",
    "allow_command",
    "attach_archive",
    "attach_folder",
    "cancel_index",
    "decline_command",
    "detach",
    "dismiss_code_pin",
    "index_again",
    "index_what_changed",
    "let_go",
    "pin_code",
    "propose_command",
    "propose_edit",
    "reject_edit",
    "settle_lost",
    "start_command",
    "stop_command",
    "suggest_code_pin",
    "undo_edit",
    "unpin_code",
]
