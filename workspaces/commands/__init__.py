"""Commands of the operator's list: what they are, and the process in which one runs within its limits."""
