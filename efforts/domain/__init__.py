"""Plain Python: no Django, no Channels, no openai, no tiktoken, no clock, no randomness."""
