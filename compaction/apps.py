"""Versioned summaries and their review."""

from django.apps import AppConfig
from django.utils.translation import pgettext_lazy


class CompactionConfig(AppConfig):
    name = "compaction"
    verbose_name = pgettext_lazy("admin", "Summaries")
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from compaction.review.rechecking import RECHECKS
        from compaction.standing import blockers
        from compaction.standing.conclusions import Compaction
        from efforts.standins import compacting, seen
        from efforts.turns import drafts

        compacting.register(Compaction())
        seen.register(blockers.seen, blockers.drafts, blockers.shortened)
        drafts.register(RECHECKS)
