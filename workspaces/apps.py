"""Folders of code that conversations are attached to: their index, and what of it a prompt shows."""

from django.apps import AppConfig
from django.utils.translation import pgettext_lazy


class WorkspacesConfig(AppConfig):
    name = "workspaces"
    verbose_name = pgettext_lazy("admin", "Code")
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from efforts.standins import coding
        from workspaces.indexing import forgetting  # noqa: F401  # listens from then on
        from workspaces.joining import Workspaces

        coding.register(Workspaces())
