"""The policy table: the one place for thresholds that are counted in turns or in hours, and for shares of a budget."""

# Turns and not messages or lines, so that one long reply does not push out all others.
AMBIENT_WINDOW = 10
# What is left of a full window that is cut in blocks: 6 of 10 turns.
WINDOW_BLOCK = 0.6
# Of the effective budget: what sticky pins may take at most.
STICKY_SHARE = 0.25
# What the page offers for a while, in turns.
PIN_TURNS, PIN_UNREFERENCED = 5, 3
# An open effort without a turn for so long is offered for concluding.
QUIET_TURNS = 20
# Of silence, after which the next message begins a new work session.
WORK_SESSION_HOURS = 8
