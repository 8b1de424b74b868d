"""The policy table of design section 3: one clock, one place for its thresholds (turns)."""

AMBIENT_WINDOW = 10
