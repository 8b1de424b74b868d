"""Compaction in the admin, to look at; what changes something asks once more and goes through the page's functions."""

from . import artifacts, checks, reviews

__all__ = ["artifacts", "checks", "reviews"]
