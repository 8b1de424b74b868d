"""SQLite as Django knows it, but for letters in another case."""
