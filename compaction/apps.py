"""Versioned summaries and their review."""

from django.apps import AppConfig


class CompactionConfig(AppConfig):
    name = "compaction"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from efforts import compacting, seen

        from . import standing
        from .conclusions import Compaction

        compacting.register(Compaction())
        seen.register(standing.seen, standing.drafts)
