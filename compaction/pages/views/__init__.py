"""The pages of compaction: guard, act, render."""
