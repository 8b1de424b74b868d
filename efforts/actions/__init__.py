"""Every change to a conversation and its efforts: one verb, one function, one transaction.

Views, the socket, tools, commands and tests all call these. What may not be done raises `Refused` with a sentence for
the person or the model; then nothing has changed.
"""

from .branches import archive_branch, edit_turn, fork, regenerate, rename_branch, unarchive_branch
from .commands import Typed, check_typed, take_typed
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
    LARGEST_MESSAGE,
    archive_session,
    cancel_turn,
    configure_session,
    continue_reply,
    create_session,
    delete_session,
    erase_deleted,
    erase_session,
    put_in_folder,
    rename_session,
    retry_turn,
    see_session,
    send_message,
    set_favourite,
    set_model,
    stop_run,
    unarchive_session,
    undelete_session,
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
    stop_summary,
    summary_tokens,
    switch_effort,
    use_excerpts,
    use_summary,
)
from .exclusions import leave_out, put_back
from .files.composer import add_file, check_size, forget_unsent, names_of, put_back_files, remove_file
from .focus import end_focus, focus_effort
from .holds import accept_pin, dismiss_pin, pin_effort, pin_turn, suggest_pin, unpin
from .instructions import set_instructions
from .ledger import (
    confirm_entry,
    dismiss_entry,
    edit_entry,
    finish_entry,
    leave_open,
    note_entry,
    propose_entry,
    reopen_entry,
    resolve_entry,
    supersede_entry,
)
from .places import Place, effort_here, here
from .prompts import delete_prompt, save_prompt
from .scopes import compact_turns, look_at_turns, redraft_turns, stop_compaction
from .undo import too_early, undo
from .verdicts import judge_run, take_back_verdict
