"""Pages and their parts: guard, act, render. Every change goes through `efforts.actions`."""
