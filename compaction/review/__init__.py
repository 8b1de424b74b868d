"""What reviewers do to a summary: one verb, one function, one transaction, one event.

Each asks whether the person may review the conversation. What may not be done raises `Refused`; then nothing has
changed.
"""

from compaction.review.claims import add_dropped, decide, needed_again, not_needed, pin_raw, undecide, undo_last
from compaction.review.judging import judge_again, put_back, redraft, reject, set_aside
from compaction.review.people import name_reviewer, remove_reviewer
from compaction.review.submitting import Side, conflicts, submit
