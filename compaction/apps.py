"""Versioned summaries and their review."""

from django.apps import AppConfig


class CompactionConfig(AppConfig):
    name = "compaction"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from efforts import compacting

        from .conclusions import Compaction

        compacting.register(Compaction())
