"""The rules of code, plain Python without Django, clock or files."""
