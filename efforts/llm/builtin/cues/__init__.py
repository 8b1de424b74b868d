"""Phrases that the engine acts on: `talk` for ordinary talk and searches, `efforts` for the tools of efforts."""
