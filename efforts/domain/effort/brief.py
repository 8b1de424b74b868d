"""What stands for an effort of next to nothing: of so little there is nothing to compact, and nothing to quote."""

from __future__ import annotations

# Characters that people and model said.
SHORT_EFFORT = 50
BRIEF = "Brief effort: {name} (too short to summarize)"
