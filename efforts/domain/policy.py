"""The policy table: the one place for thresholds that are counted in turns."""

# Turns and not messages or lines, so that one long reply does not push out all others.
AMBIENT_WINDOW = 10
