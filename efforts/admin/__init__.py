"""Inspection: every table of the app, searchable, linked, and read-only. Changes go through the page."""

from . import conversations, efforts, logs, records

__all__ = ["conversations", "efforts", "logs", "records"]
