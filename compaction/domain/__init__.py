"""The rules of artifacts and gates: plain Python, no Django, no clock, no randomness."""
